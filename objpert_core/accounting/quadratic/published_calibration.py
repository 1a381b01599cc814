"""What Cortild and Cartis (2026) plot: the best bound that their theorems allow, and linear objective perturbation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from objpert_core._validation import (
    FloatArray,
    IntArray,
    boolean,
    choice,
    in_open_unit,
    integer_up_to,
    nonnegative,
    positive,
    positive_integer,
    within,
)
from objpert_core.accounting.quadratic import wishart_spectrum as spectrum
from objpert_core.accounting.quadratic.calibration import (
    EPSILONS,
    MOST_DIMENSIONS,
    best_integer,
    calibrate_quadratic_perturbation,
)
from objpert_core.accounting.quadratic.mechanism import QuadraticPerturbation

_BOUNDS = ("published", "sharpened", "exact")
_RESTARTS = 4
_STARTS = (-3.0, 0.0)  # of the logarithms of shares
_SETTINGS: dict[str, Any] = {"xatol": 1e-4, "fatol": 1e-7, "maxiter": 1000}


def published_scale(
    epsilon: float,
    delta: float,
    dimension: int,
    degrees_of_freedom: int,
    smoothness: float = 1.0,
    rank: int = 1,
    share: float = 0.5,
    bound: str = "published",
) -> float:
    """σ² of Theorem 3.1 for an exact solver, where a share of δ goes to the smallest eigenvalue: δ₃ = share·δ.

    Cortild and Cartis (2026), Theorem 3.1 and Lemma D.4; docs/theorems.md, T33.

    `share`, strictly between 0 and 1, is δ₃/δ, one half in the paper's Figure 2; the rest is δ₁. `bound` is "published"
    or "sharpened"; other arguments are those of `calibrate_quadratic_perturbation`.

    >>> round(published_scale(0.5, 0.01, dimension=100, degrees_of_freedom=200, smoothness=2500.0), 3)
    117470.166
    """
    within("epsilon", epsilon, *EPSILONS), in_open_unit("delta", delta), in_open_unit("share", share)
    choice("bound", bound, _BOUNDS[:2])
    QuadraticPerturbation(1.0, degrees_of_freedom, dimension, smoothness, bound=bound, rank=rank)
    log_third, log_first = math.log(delta) + math.log(share), math.log(delta) + math.log1p(-share)
    return float(_scale(epsilon, log_third, log_first, dimension, degrees_of_freedom, smoothness, rank, bound)[0])


def _scale(
    epsilon: float,
    log_third: float,
    log_first: float,
    dimension: int,
    m: int,
    smoothness: float,
    rank: int,
    bound: str,
) -> tuple[float, float]:
    """(σ², α) by the theorem's two conditions."""
    alpha = float(spectrum.smallest_eigenvalue(dimension, m, np.array([log_third]))[0])
    k = (m - dimension - 1) / 2
    rest = math.log1p(-math.exp(log_third))
    reached = np.logaddexp(log_first + rest, log_third)
    width = float(spectrum.smallest_eigenvalue(dimension, m, np.array([reached]))[0]) - alpha
    if not (math.isfinite(alpha) and width > 0):
        return math.inf, alpha
    if bound == "published":
        terms = 2 * smoothness / epsilon * (2 * k / alpha + 1 + (4 * rank + 4) / alpha), 2 * smoothness / width
    else:
        terms = smoothness / epsilon * (max(k / alpha, 0.5) + (rank + 1) / alpha), smoothness / width
    return max(terms), alpha


def optimal_published_bound(
    epsilon: float,
    delta: float,
    dimension: int,
    *,
    rows: int = 10,
    smoothness: float = 1.0,
    rank: int = 1,
    subgradient: float = 1.0,
    distance: float = 1.0,
    tolerance: float = 0.0,
    anchor_error: float = 0.0,
    bound: str = "published",
) -> tuple[float, int]:
    """The least excess risk that the published theorems promise at (ε, δ), over all of their free parameters.

    Figure 1 of Cortild and Cartis (2026). Where τ = η = 0 the minimum is where the two conditions on σ² meet; otherwise
    it is found by the Nelder–Mead method. The value is that of Corollary 3.4, or of Theorem 3.3 where τ or η is not 0,
    and beside it stands the m that it needs. The anchor itself, which needs no data, has an excess of at most G·D.

    Parameters
    ----------
    epsilon, delta, dimension, rank
        As in `calibrate_quadratic_perturbation`.
    smoothness : float L > 0
    rows : int >= 1
        n; matters where the solver or the anchor is not exact.
    subgradient, distance : float >= 0, and > 0
        G, the largest subgradient of the regulariser, and D, how far the minimiser without privacy is from the anchor.
    tolerance, anchor_error : float >= 0
        τ and η, as in `QuadraticPerturbation`.
    bound : {"published", "sharpened", "exact"}
        The privacy theorem. "exact" needs no output noise, whatever the solver: then the value is mσ²(D + η)²/2 + τ,
        which is Theorem 3.3 sharpened.

    Examples
    --------
    >>> value, m = optimal_published_bound(1.0, 1e-2, 12)
    >>> round(value, 3), m
    (333.027, 47)
    """
    within("epsilon", epsilon, *EPSILONS), in_open_unit("delta", delta)
    integer_up_to("dimension", dimension, MOST_DIMENSIONS)
    positive_integer("rows", rows), positive_integer("rank", rank)
    positive("smoothness", smoothness), nonnegative("subgradient", subgradient), positive("distance", distance)
    nonnegative("tolerance", tolerance), nonnegative("anchor_error", anchor_error), choice("bound", bound, _BOUNDS)
    if bound == "exact" or not (tolerance or anchor_error):
        found = calibrate_quadratic_perturbation(epsilon, delta, dimension, smoothness, bound=bound, rank=rank)
        value = found.degrees_of_freedom * found.scale * (distance + anchor_error) ** 2 / 2
        return value + tolerance, found.degrees_of_freedom
    inexact = _Inexact(
        epsilon, delta, dimension, rows, smoothness, rank, subgradient, distance, tolerance, anchor_error, bound
    )
    m = best_integer(inexact.values, dimension + 1)
    return inexact.value(m), m


@dataclass
class _Inexact:
    """Theorem 3.3 as a function of m, minimised over the splits of ε and δ."""

    epsilon: float
    delta: float
    dimension: int
    rows: int
    smoothness: float
    rank: int
    subgradient: float
    distance: float
    tolerance: float
    anchor_error: float
    bound: str

    def __post_init__(self) -> None:
        self._found: dict[int, tuple[float, FloatArray]] = {}

    def values(self, m: IntArray) -> FloatArray:
        return np.array([self.value(int(each)) for each in m])

    def value(self, m: int) -> float:
        """The minimum for one m; the search starts at the best split of the m nearest by."""
        if m not in self._found:
            starts = [np.array([start, 0.0, start, start]) for start in _STARTS]
            if self._found:
                starts = [self._found[min(self._found, key=lambda known: abs(known - m))][1]]
            tried = [self._search(start, m) for start in starts]
            self._found[m] = min(tried, key=lambda pair: pair[0])
        return self._found[m][0]

    def _search(self, start: FloatArray, m: int) -> tuple[float, FloatArray]:
        """The Nelder–Mead method, which begins anew from where it stops until that gains next to nothing."""
        from scipy import optimize  # slow to import

        minimize: Any = optimize.minimize  # its stubs know no partial functions
        best = math.inf
        for _ in range(_RESTARTS):
            found = minimize(partial(self._risk, m), start, method="Nelder-Mead", options=_SETTINGS)
            gained, best, start = best - found.fun, float(found.fun), found.x
            if gained < 1e-5 * best:
                break
        return best, start

    def _risk(self, m: int, x: FloatArray) -> float:
        """The right-hand side of Theorem 3.3 at a split of ε (one number) and of δ (three), as log odds."""
        weights = np.exp(np.clip(np.array([0.0, *x[1:]]), -60, 60))
        log_first, log_second, log_third, log_fourth = np.log(self.delta * weights / weights.sum())
        first = self.epsilon / (1 + math.exp(float(np.clip(x[0], -60, 60))))
        second = self.epsilon - first
        if not (first > 0 and second > 0):
            return math.inf
        d, off = self.dimension, 0.0
        scale, alpha = _scale(first, log_third, log_first, d, m, self.smoothness, self.rank, self.bound)
        if not math.isfinite(scale):
            return 1e300
        if self.tolerance:
            off += math.sqrt(2 * self.tolerance / (alpha * scale))
        if self.anchor_error:
            rest = math.log1p(-math.exp(log_third))
            beta = float(spectrum.largest_eigenvalue(d, m, np.array([log_fourth + rest]))[0])
            if self.bound == "sharpened":
                beta += 2 * self.smoothness / scale
            off += beta * self.anchor_error / alpha
        if self.bound == "sharpened":
            sigma = 2 * off / _gaussian_ratio(second, float(log_second))
        else:
            sigma = 2 * off / second * math.sqrt(2 * (math.log(1.25) - log_second))
        quadratic = m * scale * (self.distance**2 + self.anchor_error**2)
        noise = self.rows * d * self.smoothness * sigma**2 / 2 + self.subgradient * math.sqrt(d) * sigma
        return noise + self.tolerance + quadratic


def _gaussian_ratio(epsilon: float, log_delta: float) -> float:
    """Sensitivity over σ of the Gaussian mechanism at (ε, δ), to some seven digits: for a search, not for a promise."""

    def gap(log_a: float) -> float:
        a = math.exp(log_a)
        log_p, log_q = log_ndtr(a / 2 - epsilon / a), epsilon + log_ndtr(-a / 2 - epsilon / a)
        return float(log_p + math.log(-math.expm1(min(log_q - log_p, -1e-15)))) - log_delta

    from scipy.optimize import brentq  # slow to import

    return math.exp(brentq(gap, math.log(epsilon) - 9, math.log(epsilon + 1) + 5, xtol=1e-7))


def linear_objective_noise(
    epsilon: float, delta: float, gradient_bound: float, smoothness: float, corrected: bool = False
) -> tuple[float, float]:
    """(variance of the tilt, λ) of linear objective perturbation as Cortild and Cartis (2026) compare with it.

    σ² = ζ²·(8·log(2/δ) + 4ε)/ε², and λ = 2L/ε is the coefficient of ½‖θ‖²: Theorem 5.1 there, after Kifer, Smith and
    Thakurta (2012).

    ζ = `gradient_bound` > 0 is the largest gradient of one record's loss. `corrected` puts 2ζ in its place: where a
    record is replaced the gradient moves by 2ζ, and the printed theorem is for one that is added or removed.

    >>> variance, lam = linear_objective_noise(0.5, 0.01, gradient_bound=1.0, smoothness=1.0)
    >>> round(variance, 4), lam
    (177.5462, 4.0)
    """
    within("epsilon", epsilon, *EPSILONS), in_open_unit("delta", delta)
    zeta = positive("gradient_bound", gradient_bound) * (2 if boolean("corrected", corrected) else 1)
    variance = zeta**2 * (8 * math.log(2 / delta) + 4 * epsilon) / epsilon**2
    return variance, 2 * positive("smoothness", smoothness) / epsilon
