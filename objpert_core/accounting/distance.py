"""How far a bound is from what any proof could show: its ε over that of the Gaussian mechanism underneath.

For a heat map over (σ, λ) very many mechanisms are done at once. Every law there is ω = ω(v) for v ~ N(0, 1) with
survival function S(t) = P(ω > t), and

    δ(ε) = ∫ over t ≥ ε of e^{ε−t}·S(t) dt,   hence   δ(ε) = e^{ε−η}·δ(η) + ∫ from ε to η of e^{ε−t}·S(t) dt,

a sum of positive terms that runs down from a point where δ is known. For the loss of our theorem the maximiser's
parameter r (see `logistic_law`) makes t, S and dt elementary, so that no equation has to be solved on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri_exp

from objpert_core._validation import (
    FloatArray,
    choice,
    epsilon_array,
    in_open_unit,
    like_input,
    positive,
    positive_array,
)
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import SQRT_HALF, unit_legendre
from objpert_core.accounting.numerics.search import smallest_epsilon_of_each

_ROOT = 1e-14


def over_lower_bound(epsilon: ArrayLike, lower: ArrayLike) -> FloatArray:
    """epsilon/lower, at least 1; where `lower` is 0: 1 if both are, else inf. Nearly equal ends count as equal."""
    epsilon, lower = np.asarray(epsilon, dtype=float), np.asarray(lower, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(lower > 0, epsilon / lower, np.where(epsilon > 0, np.inf, 1.0))
    return np.where(ratio <= 1 + _ROOT, 1.0, ratio)


def distance_to_optimality(mechanism: Mechanism, delta: Any) -> Any:
    """ε of the bound divided by ε of the Gaussian lower bound at the same δ: 1.0 where no proof can do better.

    Redberg et al. (2023), Corollary 3.5. The logistic loss comes as close to a linear one as one likes
    (docs/theorems.md, T1), so the lower bound is the logistic loss's, too. `ValueError` for a mechanism without a
    Gaussian lower bound. δ is a float or an array of floats strictly between 0 and 1. `math.inf` where the bound proves
    nothing.

    >>> from objpert_core.accounting import ObjectivePerturbation
    >>> round(distance_to_optimality(ObjectivePerturbation(sigma=5, lam=20, smoothness=1.0, bound="glm"), 1e-5), 3)
    1.118
    """
    lower = mechanism.lower_bound if isinstance(mechanism, Mechanism) else None
    if lower is None:
        raise ValueError(
            "mechanism must be objective perturbation, Gaussian, half-normal, or one of them through its Rényi curve, "
            f"got {mechanism!r}"
        )
    ratio = over_lower_bound(mechanism.epsilon(delta), lower.epsilon(delta))
    return like_input(delta, ratio)


def optimal_lam(epsilon: Any, sigma: Any, lipschitz: Any = 1.0) -> Any:
    """The λ = R²/(ε + R²/(2σ²)) from which on the bound "logistic" is the Gaussian profile at this ε and above.

    This λ solves ε = ε* for the bound's threshold ε* = R²/λ − R²/(2σ²) (docs/theorems.md, T1). Arrays are broadcast.

    ε is >= 0, σ and `lipschitz` are > 0; the latter bounds the norm of one row's gradient, for the logistic loss R.

    >>> from objpert_core.accounting import Gaussian, ObjectivePerturbation
    >>> lam = optimal_lam(epsilon=1.0, sigma=5.0)
    >>> exact, tilted = Gaussian(5.0).delta(1.0), ObjectivePerturbation(sigma=5.0, lam=lam).delta(1.0)
    >>> round(tilted / exact, 12)
    1.0
    """
    squared = np.square(positive_array("lipschitz", lipschitz))
    lam = squared / (epsilon_array(epsilon) + squared / (2 * np.square(positive_array("sigma", sigma))))
    return float(lam) if np.ndim(lam) == 0 else lam


_ROOTS, _ROOT_WEIGHTS = unit_legendre(20)
_NODES, _WEIGHTS = _ROOTS**2, 2 * _ROOTS * _ROOT_WEIGHTS  # crowded where e^{ε−t} is largest
_UPPER = np.linspace(0.0, 1.0, 17)  # panels for G >= 0, from the last down to G = 0
_LOWER = np.linspace(0.0, 1.0, 13)  # panels for G < 0, in the bulk of v and again beyond it
_BULK = 12.0  # Φ(−12) ≈ 2e-33
_NEGLIGIBLE = 50.0  # δ may be replaced by S where S is e^{-50} of the target
_STEPS = 60
_QUADRATURE = 2e-8  # relative; results are rounded up by it
_ROUNDING = 1e-12


def distance_map(
    sigma: Any,
    lam: Any,
    delta: float,
    *,
    lipschitz: float = 1.0,
    smoothness: float | None = None,
    bound: str = "logistic",
) -> FloatArray:
    """`distance_to_optimality` of objective perturbation for every σ and λ, with the bounds of `ObjectivePerturbation`.

    Redberg et al. (2023), Appendix I. The result has shape (n, m) and is rounded up by less than 1e-7; `math.inf` where
    the bound proves nothing.

    σ is an array of n floats > 0, λ one of m floats > 0, and `bound` "logistic" or "glm". `smoothness` is
    ``lipschitz**2 / 4``, the logistic loss, unless given.

    >>> distance_map([5.0, 10.0], [0.5, 20.0], 1e-5).round(2).tolist()
    [[1.17, 1.0], [1.73, 1.0]]
    """
    sigmas, lams = np.atleast_1d(positive_array("sigma", sigma)), np.atleast_1d(positive_array("lam", lam))
    for name, values in (("sigma", sigmas), ("lam", lams)):
        if values.ndim != 1:
            raise ValueError(f"{name} must be 1-d, got an array of shape {values.shape}")
    target = float(np.log(in_open_unit("delta", delta)))
    length = positive("lipschitz", lipschitz)
    curvature = positive("smoothness", length**2 / 4 if smoothness is None else smoothness)
    choice("bound", bound, tuple(_MAPS))
    a = length / sigmas
    lower = _gaussian_epsilons(a, target)[:, None]
    return over_lower_bound(_MAPS[bound](length, a, lams, curvature, target, lower), lower)


def boundary_lam(sigma: Any, delta: float, *, lipschitz: float = 1.0) -> FloatArray:
    """The λ (`optimal_lam` at the Gaussian mechanism's ε) from which on the distance of the bound "logistic" at δ is 1.

    One λ for every σ; arguments and errors as in `distance_map`. `lipschitz` is the largest row norm R.

    >>> boundary_lam([5.0, 10.0], 1e-5).round(2).tolist()
    [1.34, 2.89]
    """
    sigmas = np.atleast_1d(positive_array("sigma", sigma))
    target, length = float(np.log(in_open_unit("delta", delta))), positive("lipschitz", lipschitz)
    lam: FloatArray = optimal_lam(_gaussian_epsilons(length / sigmas, target), sigmas, length)
    return lam


def _gaussian_epsilons(a: FloatArray, log_delta: float) -> FloatArray:
    return smallest_epsilon_of_each(
        lambda epsilon, row: gauss.log_profile(epsilon, a[row]), np.full(a.shape, log_delta)
    )


def _glm_epsilons(
    length: float, a: FloatArray, lams: FloatArray, curvature: float, log_delta: float, lower: FloatArray
) -> FloatArray:
    """ε(δ) of Theorem 3.1 for every a and λ: the shift plus the half-normal law's, which is known in closed form."""
    far = _gaussian_epsilons(a, log_delta - np.log(2))
    near = a**2 / 2 + np.log(-np.expm1(log_delta)) - np.log(erfcx(a * SQRT_HALF))
    centred = np.where(far >= a**2 / 2, far, near)[:, None]
    works = lams > curvature
    shift = np.where(works, -np.log1p(-curvature / np.where(works, lams, 2 * curvature)), np.inf)
    return np.maximum((centred + shift) * (1 + _ROUNDING), 0.0)


class _LogisticLaws:
    """T for many (a, κ) with κ > a²/2, as functions of the parameter r and the sign of G; arrays of n rows."""

    def __init__(self, a: FloatArray, kappa: FloatArray) -> None:
        self.a, self.kappa = a[:, None], kappa[:, None]
        self.scale = np.sqrt(0.25 + 1 / self.kappa)
        # G = 0 at the smallest r, q = 1/2 and so T = max(0, G) from the largest on
        self.first = np.arccosh(np.sqrt(np.maximum(self.a**2 * self.scale**2 / 2, 1.0)))
        self.last = 0.5 * np.arcsinh(self.kappa * self.scale)

    def reach(self, size: FloatArray) -> FloatArray:
        """An r at which |G| is at least `size`, or the last one."""
        return np.clip(0.5 * np.arcsinh(self.scale * (size + self.a**2 / 2)), self.first, self.last)

    def at(self, r: FloatArray, sign: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """T, S(T) = P(ω > T) and |dT/dr|."""
        tanh = np.tanh(r)
        q = np.minimum(self.scale * tanh, 0.5)
        gap = np.sinh(2 * r) / self.scale - self.a**2 * self.scale * tanh
        slope = 2 * np.cosh(2 * r) / self.scale - self.a**2 * self.scale * (1 - tanh**2)
        gaussian = sign * gap
        p, w = 0.5 + sign * q, (0.5 - q) * (0.5 + q)
        loss = p * gaussian + np.log1p(self.kappa * w) - 0.5 * self.a**2 * w
        return loss, ndtr(self.a / 2 - gaussian / self.a), p * slope

    def down(self, start: FloatArray, end: FloatArray, delta: FloatArray, sign: FloatArray) -> FloatArray:
        """δ at the r of `end`, from `delta` at the r of `start`, where ω is larger; columns of n rows."""
        low, _, _ = self.at(end, sign)
        high, _, _ = self.at(start, sign)
        loss, survival, slope = self.at(end + (start - end) * _NODES, sign)
        gained = (np.exp(low - loss) * survival * slope) @ _WEIGHTS * np.abs(start - end)[:, 0]
        return np.exp(low - high) * delta + gained[:, None]


def _tight_epsilons(
    length: float, a: FloatArray, lams: FloatArray, curvature: float, log_delta: float, lower: FloatArray
) -> FloatArray:
    """ε(δ) of our theorem (bound "logistic") for every a and λ: the lower bound's from `optimal_lam` on."""
    epsilon = np.broadcast_to(lower, (a.size, lams.size)).copy()
    above = lams < optimal_lam(lower, length / a[:, None], length)
    rows, columns = np.nonzero(above)
    epsilon[above] = np.maximum(_logistic_epsilons(a[rows], length**2 / lams[columns], log_delta), epsilon[above])
    return epsilon


def _logistic_epsilons(a: FloatArray, kappa: FloatArray, log_delta: float) -> FloatArray:
    """ε(δ) of our theorem (bound "logistic") for pairs of a and κ for which it is below the threshold ε* = κ − a²/2."""
    if not a.size:
        return np.empty(0)
    laws = _LogisticLaws(a, kappa)
    top = laws.reach(laws.a * (laws.a / 2 - float(ndtri_exp(log_delta - _NEGLIGIBLE))))
    bulk = laws.reach(np.maximum(laws.a * (_BULK - laws.a / 2), 0.0))
    ends = [laws.first + (top - laws.first) * share for share in _UPPER[::-1]]
    signs = [1.0] * (len(ends) - 1)
    ends += [laws.first + (bulk - laws.first) * share for share in _LOWER[1:]]
    ends += [bulk + (laws.last - bulk) * share for share in _LOWER[1:]]
    signs += [-1.0] * (len(ends) - 1 - len(signs))
    at_last = np.exp(gauss.log_profile(laws.kappa - laws.a**2 / 2, laws.a))
    delta = np.where(top >= laws.last, at_last, laws.at(top, np.ones_like(top))[1])  # δ ≤ S, which is negligible here
    high, low, known, side = ends[0].copy(), ends[-1].copy(), delta.copy(), np.full_like(delta, -1.0)
    found = delta > np.exp(log_delta)
    low[found], side[found] = high[found], 1.0
    for start, end, sign in zip(ends[:-1], ends[1:], signs, strict=True):
        if found.all():
            break
        below = laws.down(start, end, delta, np.full_like(delta, sign))
        crossing = ~found & (below > np.exp(log_delta))
        for to, value in ((high, start), (low, end), (known, delta), (side, np.full_like(delta, sign))):
            to[crossing] = value[crossing]
        found |= crossing
        delta = below
    r = _solve(laws, high, low, known, side, log_delta)
    return np.where(found, laws.at(r, side)[0], 0.0)[:, 0] * (1 + _QUADRATURE)


def _solve(
    laws: _LogisticLaws, high: FloatArray, low: FloatArray, known: FloatArray, side: FloatArray, log_delta: float
) -> FloatArray:
    """r between `high`, where δ is `known`, and `low`, where it is larger than the target: Newton's method on log δ.
    dδ/dε = δ − S; a step that leaves the bracket becomes a bisection."""
    start, r = high, 0.5 * (high + low)
    for _ in range(_STEPS):
        delta = laws.down(start, r, known, side)
        gap = np.log(delta) - log_delta
        high, low = np.where(gap > 0, high, r), np.where(gap > 0, r, low)
        _, survival, slope = laws.at(r, side)
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = r - side * gap * delta / ((delta - survival) * slope)
        inside = (guess - high) * (guess - low) < 0
        step = np.where(inside, guess, 0.5 * (high + low)) - r
        r = r + step
        if not (np.abs(step) > 1e-13 * r).any():
            break
    return r


# The bounds that a map is known for: (L, a of each row, λ of each column, β, log δ, the lower bound's ε) to ε
_MAPS = {"logistic": _tight_epsilons, "glm": _glm_epsilons}
