"""Objective perturbation in one dimension, with no theory: both densities explicit, divergences by quadrature.

θ solves J'(θ) + b = 0 with b ~ N(0, σ²) and J' increasing, so M(Z) has the density φ_σ(J'(θ))·J''(θ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from tests.second_opinion.definition import Pair

Array = np.ndarray
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


@dataclass(frozen=True)
class Loss:
    """f(t; y) by its derivatives in t = xθ; |f'| <= 1 and f'' <= smoothness."""

    first: Callable[[Array, Array], Array]
    second: Callable[[Array, Array], Array]
    smoothness: float


def logistic(margin: float = 0.0) -> Loss:
    """log(1 + e^{margin − yt})."""
    return Loss(
        first=lambda t, y: -y * expit(margin - y * t),
        second=lambda t, y: expit(y * t - margin) * expit(margin - y * t),
        smoothness=0.25,
    )


LOGISTIC = logistic()


def softened_hinge(width: float) -> Loss:
    """The hinge with its corner replaced by a parabola of the given width: f' = −y·clip((1 − yt)/width, 0, 1)."""
    return Loss(
        first=lambda t, y: -y * np.clip((1 - y * t) / width, 0.0, 1.0),
        second=lambda t, y: np.where((1 - y * t > 0) & (1 - y * t < width), 1.0 / width, 0.0),
        smoothness=1 / width,
    )


def log_cosh(smoothness: float) -> Loss:
    """A robust regression loss: f' = tanh(β(t − y)), which changes sign."""
    return Loss(
        first=lambda t, y: np.tanh(smoothness * (t - y)),
        second=lambda t, y: smoothness / np.square(np.cosh(np.clip(smoothness * (t - y), -300, 300))),
        smoothness=smoothness,
    )


@dataclass(frozen=True)
class Release:
    """M(Z) for rows (x, y), each `copies` times."""

    loss: Loss
    sigma: float
    lam: float
    x: Array
    y: Array
    copies: Array

    @staticmethod
    def of(loss: Loss, sigma: float, lam: float, rows: list[tuple[float, float, float]]) -> Release:
        x, y, copies = (
            (np.array(column, dtype=float) for column in zip(*rows, strict=True)) if rows else (np.empty(0),) * 3
        )
        return Release(loss, sigma, lam, x, y, copies)

    def with_row(self, x: float, y: float) -> Release:
        return Release(
            self.loss, self.sigma, self.lam, np.append(self.x, x), np.append(self.y, y), np.append(self.copies, 1.0)
        )

    def slope(self, theta: Array) -> Array:
        """J'(θ)."""
        t = np.asarray(theta)[..., None]
        return self.lam * theta + (self.copies * self.x * self.loss.first(self.x * t, self.y)).sum(-1)

    def curvature(self, theta: Array) -> Array:
        """J''(θ)."""
        t = np.asarray(theta)[..., None]
        return self.lam + (self.copies * self.x**2 * self.loss.second(self.x * t, self.y)).sum(-1)

    def log_density(self, theta: Array) -> Array:
        noise = self.slope(theta) / self.sigma
        return np.log(self.curvature(theta)) - noise**2 / 2 - np.log(self.sigma * np.sqrt(2 * np.pi))

    def solve(self, noise: Array) -> Array:
        """θ with J'(θ) + b = 0, by bisection."""
        spread = (np.abs(noise).max() + (self.copies * np.abs(self.x)).sum()) / self.lam + 1e-12
        low, high = np.full(noise.shape, -spread), np.full(noise.shape, spread)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.slope(middle) + noise < 0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    def grid(self, reach: float = 12.0, panels: int = 400) -> Array:
        """Break points in θ, evenly spaced in the noise."""
        return np.sort(self.solve(self.sigma * np.linspace(-reach, reach, panels + 1)))


def pair(first: Release, second: Release) -> Pair:
    """Both densities, for the quadrature of the second opinion."""

    def loss(theta: Array) -> Array:
        return first.log_density(theta) - second.log_density(theta)

    # a million copies of a row leave densities eight digits
    return Pair(first.log_density, loss, tuple(first.grid(panels=48)), tolerance=1e-8)


def hockey_stick(first: Release, second: Release, epsilons: Array) -> Array:
    """∫ (p − e^ε·q)₊ for the densities p, q of two releases."""
    return np.exp([pair(first, second).log_delta(epsilon)[0] for epsilon in epsilons])


def renyi(first: Release, second: Release, alphas: Array) -> Array:
    """Rényi divergence of the two densities."""
    return np.array([pair(first, second).renyi(alpha)[0] for alpha in alphas])


def hockey_stick_with_output_noise(
    first: Release, second: Release, offsets: tuple[float, float], sigma_out: float, epsilons: Array
) -> Array:
    """The same after Algorithm 1: each release is moved by its offset (a solver that stops early), then noised."""
    edges = [release.grid(reach=11.0, panels=120) for release in (first, second)]
    low = min(edge[0] for edge in edges) - 10 * sigma_out
    high = max(edge[-1] for edge in edges) + 10 * sigma_out
    out = np.linspace(low, high, 12001)
    densities = []
    for release, offset, edge in zip((first, second), offsets, edges, strict=True):
        half = np.diff(edge)[:, None] / 2
        theta = ((edge[1:] + edge[:-1])[:, None] / 2 + half * _NODES).ravel()
        mass = (half * _WEIGHTS).ravel() * np.exp(release.log_density(theta))
        z = (out[:, None] - theta - offset) / sigma_out
        densities.append(np.exp(-0.5 * z * z) @ mass / (sigma_out * np.sqrt(2 * np.pi)))
    p, q = densities
    return np.array([np.trapezoid(np.maximum(p - np.exp(e) * q, 0.0), out) for e in epsilons])
