"""A random quadratic form in front of the data: the noisy Gram matrix, by the laws of one row's privacy loss.

A row moves W ~ Wishart_d(m) by s = L/σ² along one direction; the loss looks at Y = 1/(x̂ᵀW⁻¹x̂) ~ χ² with
ν = m − d + 1 = 2k + 2 degrees of freedom alone, whose density is y^k·e^{−y/2} up to a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tests.second_opinion.case import Case
from tests.second_opinion.definition import Array, Bracket, Definition, Known, Pair, log_integral

ADD_REMOVE, REPLACE_ONE = "add/remove one row", "replace one row"
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)
_INFINITE = Known(renyi_at=lambda alpha: (math.inf, math.inf))
"""With a probability above 0 a release is impossible without the row."""


def _log_chi(k: float) -> Callable[[Array], Array]:
    """log of the density of u = log(Y/ν)."""

    def shape(u: Array) -> Array:
        return (k + 1) * (u - np.expm1(u))

    total = log_integral(shape, _around(k))
    return lambda u: shape(u) - total


def _around(k: float, *more: float) -> tuple[float, ...]:
    width = 1 / math.sqrt(k + 1)
    return (*(width * np.array([-30.0, -8.0, -3.0, 0.0, 3.0, 8.0, 30.0])), *more)


def _log_rest(x: Array) -> Array:
    """log(1 − e^x) for x < 0."""
    with np.errstate(all="ignore"):
        return np.where(x > -0.7, np.log(-np.expm1(np.fmin(x, -1e-320))), np.log1p(-np.exp(np.fmin(x, 0))))


@lru_cache(maxsize=64)
def one_row(s: float, k: float) -> tuple[Pair, Pair]:
    """The row is in P's data, and in Q's."""
    nu, log_p = 2 * k + 2, _log_chi(k)
    edge = math.log(s / nu)

    def removed(u: Array) -> Array:
        return s / 2 - k * np.log1p(s / nu * np.exp(-u)) if k else np.full(u.shape, s / 2)

    def added(u: Array) -> Array:
        return np.where(u > edge, -k * _log_rest(edge - u) - s / 2, np.inf)

    near = _around(k, edge)
    return Pair(log_p, removed, near, whole=False), Pair(log_p, added, near, whole=False)


@lru_cache(maxsize=64)
def any_loss(s: float, k: float) -> tuple[Pair, Pair]:
    """The largest losses of any smooth convex loss of one number per row, as functions of Y."""
    nu, log_p = 2 * k + 2, _log_chi(k)
    edge = math.log(s / nu)

    def removed(u: Array) -> Array:
        one = np.log1p(s / nu * np.exp(-u))
        return np.maximum(one, s / 2 - k * one)

    def added(u: Array) -> Array:
        return np.where(u > edge, np.maximum(-(k + 1) * _log_rest(edge - u) - s / 2, 0), np.inf)

    near = _around(k, edge)
    return Pair(log_p, removed, near, whole=False), Pair(log_p, added, near, whole=False)


@dataclass(frozen=True, eq=False)
class Swap(Definition):
    """One row is replaced by another at right angles: W against W + s·(e₁e₂ᵀ + e₂e₁ᵀ) in two dimensions.

    The diagonal of W is independent χ² with ν + 1 degrees of freedom, and the correlation u ~ (1 − u²)^k beside it. The
    shift moves u by z = s/g, g the geometric mean of the diagonal.
    """

    s: float
    k: float

    def renyi(self, alpha: float) -> Bracket:
        return math.inf, math.inf

    def log_delta(self, epsilon: float) -> Bracket:
        n = 2 * self.k + 3
        points = tuple(0.5 / math.sqrt(n) * np.array([-30.0, -8.0, -3.0, 0.0, 3.0, 8.0, 30.0])) + (
            math.log(self.s / 2 / n),
        )
        total = log_integral(lambda v: _log_geometric(v, n), points)
        found = log_integral(lambda v: _log_geometric(v, n) + self._moved(v, n, epsilon), points, 1e-11) - total
        return found, found

    def _moved(self, v: Array, n: float, epsilon: float) -> Array:
        """log of the divergence of the correlation from its translate, where g = n·e^v."""
        k, z = self.k, self.s / n * np.exp(-v)[:, None]
        low = np.clip(z - 1, -1.0, 1.0)  # below P has mass and Q none
        # the two densities cross where 1 − u² = c·(1 − (u − z)²), c = e^{ε/k}
        with np.errstate(all="ignore"):
            more = np.expm1(epsilon / k) if k else math.inf
            c = more + 1
            # more·u² − 2czu + (c·z² − more) = 0, the smaller root, which lies in (z − 1, 1)
            root = (c * z * z - more) / (c * z + np.sqrt(np.fmax(c * z * z * (c - more) + more * more, 0)))
        end = np.clip(root if k and math.isfinite(c) else low, low, 1.0)
        certain = _correlation(np.full(z.shape, -1.0), low, k, lambda u: np.zeros(u.shape))
        partly = _correlation(low, end, k, lambda u: self._shortfall(u, z, epsilon))
        return np.logaddexp(certain, partly) - _correlation(np.array([[-1.0]]), np.array([[1.0]]), k, np.zeros_like)

    def _shortfall(self, u: Array, z: Array, epsilon: float) -> Array:
        with np.errstate(all="ignore"):
            loss = self.k * np.log1p(z * (z - 2 * u) / (1 - (u - z) ** 2))
            return np.log(np.fmax(-np.expm1(epsilon - loss), 0))


def _log_geometric(v: Array, n: float) -> Array:
    """log of the density of v = log(g/n), up to a constant: two χ² with n degrees of freedom, their ratio summed out."""
    t = np.linspace(-12, 12, 1201) / math.sqrt(math.sqrt(n))
    t = np.sinh(np.linspace(-1, 1, 1201) * math.asinh(9 / math.sqrt(n) + 3))
    step = np.gradient(t)
    g = n * np.exp(v)[:, None]
    inner = np.log((np.exp(-2 * g * np.sinh(t / 2) ** 2) * step).sum(axis=1))
    return n * v - g[:, 0] + n + inner


def _correlation(low: Array, high: Array, k: float, log_f: Callable[[Array], Array]) -> Array:
    """log ∫ (1 − u²)^k·f(u) du from low to high, which are columns; nodes crowd at both ends."""
    x = np.sin(np.pi / 2 * _NODES) * 0.5 + 0.5
    x = x * x * (3 - 2 * x)
    slope = 6 * (x0 := np.sin(np.pi / 2 * _NODES) * 0.5 + 0.5) * (1 - x0) * np.pi / 4 * np.cos(np.pi / 2 * _NODES)
    u = low + (high - low) * x
    with np.errstate(all="ignore"):
        value = k * np.log1p(-u * u) + log_f(u) + np.log(slope * _WEIGHTS)
        top = value.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        return (top + np.log(np.exp(value - top).sum(axis=1, keepdims=True)) + np.log(high - low))[:, 0]
