"""Profiles of sums of two or three privacy losses by nested Gauss quadrature, from the definitions.

Nothing of the package is used. A law is a set of atoms and of pieces, each with a loss that increases along a parameter
s and a density in s. δ(ε) = E[1 − e^{ε−Σω}]₊ is integrated from where the integrand becomes positive (by bisection), so
that only positive numbers are added and δ keeps its digits however small it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from mpmath import mp, mpf

Array = np.ndarray
ACCURACY = 2e-5  # relative, of the δ below: what a comparison has to allow for
LOWEST = -14.0  # standard deviations; what is below has a mass of 8e-45
_LOG_2PI = np.log(2 * np.pi)


@dataclass(frozen=True)
class Piece:
    """A part of a law: s in [low, high], loss(s) increasing, log_density(s)."""

    loss: Callable[[Array], Array]
    log_density: Callable[[Array], Array]
    low: float
    high: float

    def start(self, epsilon: Array) -> Array:
        """s from where the loss is above ε, by bisection."""
        low, high = np.full(epsilon.shape, self.low), np.full(epsilon.shape, self.high)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.loss(middle) < epsilon
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low


@dataclass(frozen=True)
class Law:
    """The law of one privacy loss."""

    pieces: tuple[Piece, ...]
    turn: float  # the loss where the profile is not smooth, or turns fastest
    scale: float  # of losses around it
    atoms: tuple[tuple[float, float], ...] = ()  # (loss, log of its mass)


def _normal(v: Array) -> Array:
    return -0.5 * v * v - 0.5 * _LOG_2PI


# --- the laws ------------------------------------------------------------------------------------------------------


def gaussian(a: float) -> Law:
    """ω = a²/2 + a·v."""
    return Law((Piece(lambda v: a * a / 2 + a * v, _normal, LOWEST, 38.0 + a),), a * a / 2, a)


def half_normal(a: float, beta: float, lam: float) -> Law:
    """Redberg et al. (2023), Lemma D.6: ω = −log(1 − β/λ) + a²/2 + a·|v|."""
    shift = -np.log1p(-beta / lam)
    return Law(
        (Piece(lambda v: shift + a * a / 2 + a * v, lambda v: _normal(v) + np.log(2), 0.0, 38.0),), shift + a * a / 2, a
    )


def positive_gaussian(a: float, beta: float, lam: float) -> Law:
    """log(1 + β/λ) + max(0, a²/2 + a·v)."""
    shift = float(np.log1p(beta / lam))
    atom = (shift, float(mp.log(mp.ncdf(-mpf(a) / 2))))
    return Law((Piece(lambda v: shift + a * a / 2 + a * v, _normal, -a / 2, 38.0),), shift, a, (atom,))


def tight_logistic(a: float, kappa: float) -> Law:
    """T(v) = max over p of a²p²/2 + a·p·v + log(1 + κp(1−p)), over t = logit of the maximising p.

    The condition for the maximum is linear in v, so v, T and dv/dt are explicit in t; see `oracles.TightLaw`.
    """
    if kappa <= a * a / 2:
        return positive_gaussian(a, 0.0, 1.0)

    def chances(t: Array) -> tuple[Array, Array]:
        return 1 / (1 + np.exp(-t)), 1 / (1 + np.exp(t))

    def v_of(t: Array) -> Array:
        p, rest = chances(t)
        return (kappa * (p - rest) / (1 + kappa * p * rest) - a * a * p) / a

    def loss(t: Array) -> Array:
        p, rest = chances(t)
        return a * a * p * p / 2 + a * p * v_of(t) + np.log1p(kappa * p * rest)

    def log_density(t: Array) -> Array:
        p, rest = chances(t)
        k = 1 + kappa * p * rest
        slope = ((2 * kappa * k + (kappa * (p - rest)) ** 2) / k**2 - a * a) / a * p * rest
        with np.errstate(divide="ignore", invalid="ignore"):
            return _normal(v_of(t)) + np.log(np.maximum(slope, 0.0))

    square = (1 + kappa / 4 - 2 * kappa / a**2) / kappa  # of q, if p jumps from 1/2 − q to 1/2 + q
    q = np.sqrt(square) if square > 0 else 0.0
    split = float(np.log((0.5 + q) / (0.5 - q)))
    line = Piece(lambda v: a * a / 2 + a * v, _normal, kappa / a - a, kappa / a + 38.0)
    atom = (0.0, float(mp.log(mp.ncdf(-mpf(kappa) / mpf(a)))))
    return Law((Piece(loss, log_density, -33.0, -split), Piece(loss, log_density, split, 33.0), line), 0.0, a, (atom,))


def symmetric(law: Law) -> Law:
    """The least symmetric pair's law above one that dominates both directions: the law above a threshold, its mirror
    image (weight e^{−ω} at −ω) and the rest of the mass at 0; for laws of one piece."""
    (piece,) = law.pieces

    def weight_from(start: float) -> float:
        s = np.linspace(start, piece.high, 400_001)
        return float(np.trapezoid(np.exp(piece.log_density(s)) * (1 + np.exp(-piece.loss(s))), s))

    low, high = max(piece.low, float(piece.start(np.zeros(1))[0])), piece.high
    if weight_from(low) > 1:
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if weight_from(middle) > 1 else (low, middle)
    upper = Piece(piece.loss, piece.log_density, low, piece.high)
    mirror = Piece(lambda s: -piece.loss(-s), lambda s: piece.log_density(-s) - piece.loss(-s), -piece.high, -low)
    rest = 1 - weight_from(low)
    return Law((mirror, upper), 0.0, law.scale, ((0.0, float(np.log(rest))),) if rest > 1e-9 else ())


def subsampled(noise_multiplier: float, q: float, direction: str) -> Law:
    """One step of the Poisson-subsampled Gaussian: log dP/dQ under P (remove) or log dQ/dP under Q (add)."""
    a = 1 / noise_multiplier

    def ratio(u: Array) -> Array:
        y = a * u - a * a / 2
        small = np.log1p(q * np.expm1(np.minimum(y, 1.0)))
        return np.where(y > 1, np.logaddexp(np.log1p(-q), np.log(q) + y), small)

    if direction == "add":
        return Law((Piece(lambda s: -ratio(-s), _normal, LOWEST, 38.0),), 0.0, a)

    def mixture(u: Array) -> Array:
        return np.logaddexp(np.log1p(-q) + _normal(u), np.log(q) + _normal(u - a))

    return Law((Piece(ratio, mixture, LOWEST, a + 38.0),), 0.0, a)


# --- the integrals --------------------------------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_PANEL = 0.8
_NEGLIGIBLE = -110.0  # log of densities that no δ here can see
# panels from the point where the integrand begins, finer there
_REACH = np.concatenate(([0.0], np.geomspace(0.1, 1.0, 3), np.arange(1.5, 67.0, 0.6)))
_NEAR = np.array([-1, -0.3, -0.1, -0.03, -0.01, -0.003, 0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1])


def profile(laws: tuple[Law, ...], epsilon: Array) -> Array:
    """E[1 − e^{ε−Σω}]₊ of the sum of independent laws for a 1-d array of real ε; narrow laws first."""
    if len(laws) == 1:
        return _single(laws[0], epsilon)
    law, rest = laws[0], laws[1:]
    turns = sum(other.turn for other in rest) + max(other.scale for other in rest) * _NEAR
    result = np.zeros(epsilon.size)
    for loss, log_mass in law.atoms:
        result += np.exp(log_mass) * profile(rest, epsilon - loss)
    for piece in law.pieces:
        base = np.append(np.arange(piece.low, piece.high, _PANEL), piece.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.flatnonzero(~(piece.log_density(base) < _NEGLIGIBLE))
        base = base[max(seen[0] - 1, 0) : seen[-1] + 2]
        kink = piece.start(epsilon[:, None] - turns)
        edges = np.sort(np.hstack((np.broadcast_to(base, (epsilon.size, base.size)), kink)), axis=1)
        edges = np.clip(edges, base[0], base[-1])
        half = np.diff(edges)[..., None] / 2
        s = edges[:, :-1, None] + half * (_NODES + 1)
        with np.errstate(divide="ignore"):
            weight = half * _WEIGHTS * np.exp(piece.log_density(s))
        inner = np.zeros(s.shape)
        counts = weight > 0
        inner[counts] = profile(rest, (epsilon[:, None, None] - piece.loss(s))[counts])
        result += (weight * inner).sum(axis=(1, 2))
    return result


def _single(law: Law, epsilon: Array) -> Array:
    result = np.zeros(epsilon.size)
    for loss, log_mass in law.atoms:
        result += np.exp(log_mass) * -np.expm1(np.minimum(epsilon - loss, 0.0))
    for piece in law.pieces:
        first = piece.start(epsilon)
        scale = np.where(first < 0, 1.0, np.minimum(1.0, 3.0 / (1.0 + np.abs(first))))  # of the normal's tail
        for left, right in pairwise(_REACH):
            start = np.minimum(first + left * scale, piece.high)
            width = np.minimum(first + right * scale, piece.high) - start
            if not (width > 0).any():
                break
            s = start[:, None] + width[:, None] * (_NODES + 1) / 2
            gain = -np.expm1(np.minimum(epsilon[:, None] - piece.loss(s), 0.0))
            with np.errstate(divide="ignore"):
                result += 0.5 * width * ((gain * np.exp(piece.log_density(s))) @ _WEIGHTS)
    return result


def delta(laws: tuple[Law, ...], epsilon: float) -> float:
    """The profile at one ε."""
    return float(profile(laws, np.array([float(epsilon)]))[0])


# --- closed forms ---------------------------------------------------------------------------------------------------


def gaussian_log_delta(epsilon: float, a: float) -> float:
    """log δ of the Gaussian mechanism of sensitivity/σ = a, however small (Balle and Wang 2018, Theorem 8)."""
    with mp.workdps(100):
        e, a = mpf(epsilon), mpf(a)
        return float(mp.log(mp.ncdf(a / 2 - e / a) - mp.exp(e) * mp.ncdf(-a / 2 - e / a)))


def subsampled_delta(noise_multiplier: float, q: float, epsilon: float) -> float:
    """One step of the Poisson-subsampled Gaussian mechanism in closed form, the larger of both directions."""
    with mp.workdps(60):
        a, rate, e = 1 / mpf(noise_multiplier), mpf(q), mpf(epsilon)

        def below(ratio: mpf) -> mpf:  # the u with 1 − q + q·e^{au − a²/2} = ratio
            return mp.log1p((ratio - 1) / rate) / a + a / 2

        start = below(mp.exp(e))
        remove = (1 - rate - mp.exp(e)) * mp.ncdf(-start) + rate * mp.ncdf(a - start)
        if mp.exp(-e) <= 1 - rate:
            return float(remove)
        end = below(mp.exp(-e))
        add = mp.ncdf(end) - mp.exp(e) * ((1 - rate) * mp.ncdf(end) + rate * mp.ncdf(end - a))
        return float(max(remove, add))
