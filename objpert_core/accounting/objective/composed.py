"""A fit composed with what is released beside it, once or several times, and what is left of ε for one fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from objpert_core._validation import choice, in_open_unit, positive, positive_integer, within
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian, log_target
from objpert_core.accounting.gaussian.mechanism import Gaussian, GaussianNoise
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, Mechanism, a_mechanism
from objpert_core.accounting.mechanisms.composition import compose
from objpert_core.accounting.mechanisms.group import group
from objpert_core.accounting.mechanisms.renyi import via_rdp
from objpert_core.accounting.numerics.safe_root import root_between
from objpert_core.accounting.objective.bounds import ACCOUNTANTS
from objpert_core.accounting.objective.mechanism import ApproximateMinima
from objpert_core.accounting.objective.one_vs_rest import SHORTEST_REST, one_vs_rest

_TOLERANCE = 1e-10  # of the Gaussian mechanism's squared ratio: what may be left unused
_GRID_TOLERANCE = 5e-4  # the same for a composition by convolution, whose grid is not much finer
_CHAIN_TOLERANCE = 5e-3  # the same for several links of a chain, each of whose calibrations takes seconds
_CHAIN_ALLOWANCE = 2e-3  # of what is left; the discretised pair of a chain costs some 4e-4 more than its profile
_CHAIN_EXCESS = {0.02: 0.056, 0.1: 0.079, 0.3: 0.108, 1.0: 0.158, 2.0: 0.141, 4.0: 0.11, 8.0: 0.076, 20.0: 0.025}
"""By how much a chain has to stay below what Gaussian mechanisms leave, relatively, for what these take of μ², in units
of what they leave; as found at some ε. It says where to begin, no more."""
_SLOPES = (0.25, 8.0)  # the least and the largest that is believed
_SECANTS = 8  # then bisection goes on
_MOST_STEPS = 60


Calibrated = TypeVar("Calibrated", bound=Mechanism)


def composed_fit(
    mechanism: Mechanism,
    before: tuple[Gaussian, ...] = (),
    *,
    copies: int = 1,
    rest_weight: float = 1.0,
    rows_per_person: int = 1,
    accountant: str = "profile",
) -> Mechanism:
    """The whole of a standardised fit: what was released before it, and the fit, once or several times.

    One fit alone is `mechanism` itself, for all rows of one person; one fit of Algorithm 1 gets the noise released
    before it as wider output noise (T6); otherwise the composition. `ValueError` if the bound has neither a privacy
    loss to add nor a Rényi curve.

    Parameters
    ----------
    mechanism, before : Mechanism, tuple of Gaussian
        One fit, and what is released beside it (`Step.mechanisms`), both about one row.
    copies : int >= 1
        How many fits by this mechanism there are.
    rest_weight : float from 0.001 to 1
        How long a row is in all fits but one (`one_vs_rest`); 1 where a person has several rows.
    rows_per_person : int >= 1
        How many rows of one person the whole is about.
    accountant : {"profile", "rdp"}

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian, ObjectivePerturbation
    >>> fit = ApproximateMinima(ObjectivePerturbation(5.0, 2.0), 1e-6, 0.1)
    >>> whole, parts = composed_fit(fit, (Gaussian(20.0),)), compose(fit, Gaussian(20.0))
    >>> 0 <= parts.delta(1.0) / whole.delta(1.0) - 1 < 1e-3
    True
    """
    count, rows = positive_integer("copies", copies), positive_integer("rows_per_person", rows_per_person)
    by_curve = choice("accountant", accountant, ACCOUNTANTS) == "rdp"
    a_mechanism("mechanism", mechanism)
    if count == 1 and not before:
        whole = group(mechanism, rows)
    elif not (mechanism.has_losses or mechanism.has_rdp):
        raise ValueError(f"mechanism must have a privacy loss or a Rényi curve to be composed, got {mechanism!r}")
    elif count == 1 and rows == 1 and (wider := _with_wider_output(mechanism, before)) is not None:
        whole = wider
    else:
        if rest_weight != 1.0 and rows > 1:
            raise ValueError(f"rest_weight must be 1.0 for several rows of one person, got {rest_weight!r}")
        by_pairs = not by_curve and not isinstance(mechanism, GaussianNoise)  # whose pair is symmetric as it is
        fits = one_vs_rest(group(mechanism, rows), count, rest_weight, by_symmetric_pairs=by_pairs)
        whole = compose(*(group(part, rows) for part in before), fits)
    return via_rdp(whole) if by_curve else whole


def _with_wider_output(mechanism: Mechanism, before: tuple[Gaussian, ...]) -> ApproximateMinima | None:
    """Algorithm 1 with output noise that costs as much as its own and all of `before`; None where that says less, as
    for replaced rows, whose links pay for it twice.
    """
    if not isinstance(mechanism, ApproximateMinima):
        return None
    alike = all(part.adjacency == mechanism.adjacency == ADD_REMOVE for part in before)
    if not alike or mechanism.objective.law is None:
        return None
    ratio = math.hypot(mechanism.output.a, *(part.a for part in before)) * (1 + 2.0**-50)
    own = mechanism.output
    return ApproximateMinima(mechanism.objective, mechanism.tau, own.sensitivity / ratio)


def remaining_epsilon(
    epsilon: float,
    delta: float,
    before: tuple[Gaussian, ...] = (),
    *,
    copies: int = 1,
    rest_weight: float = 1.0,
    rows_per_person: int = 1,
) -> float:
    """What is left of ε for one fit, as if every fit were a Gaussian mechanism: for the rules for λ and the margin.

    ε' <= ε is that of √((μ² − Σμ_i²)/k) at δ, with μ the ratio of sensitivity to noise that (ε, δ) allows, μ_i those of
    `before`, and k = 1 + (copies − 1)·rest_weight². `calibrate_remaining` finds what is left exactly; it has the same
    arguments. `ValueError` if nothing is left.

    >>> round(remaining_epsilon(1.0, 1e-5, (Gaussian(12.0), Gaussian(17.0))), 3)
    0.918
    """
    eps, count = positive("epsilon", epsilon), positive_integer("copies", copies)
    rows = positive_integer("rows_per_person", rows_per_person)
    weight = within("rest_weight", rest_weight, SHORTEST_REST, 1.0)
    in_open_unit("delta", delta)
    if count == 1 and not before:
        return eps
    allowed = calibrate_gaussian(eps, delta).sigma ** -2.0
    return _epsilon_of(_left(allowed, before, rows, eps) / _full_fits(count, weight), delta)


def _full_fits(count: int, rest_weight: float) -> float:
    """How many fits in which a row has its full length cost as much, as Gaussian mechanisms."""
    return 1 + (count - 1) * rest_weight**2


def _left(allowed: float, before: tuple[Gaussian, ...], rows: int, epsilon: float) -> float:
    left = allowed - math.fsum((rows * part.a) ** 2 for part in before)
    if not left > 0:
        raise ValueError(f"before must leave something of epsilon for the fit, got {before!r} for epsilon={epsilon!r}")
    return left


@lru_cache(maxsize=4096)
def _epsilon_of(squared: float, delta: float, by_curve: bool = False) -> float:
    """ε at δ of the Gaussian mechanism with this μ²; with `by_curve` by its Rényi curve alone."""
    gaussian = Gaussian(squared**-0.5)
    return float((via_rdp(gaussian) if by_curve else gaussian).epsilon(delta))


def calibrate_remaining(
    epsilon: float,
    delta: float,
    calibrate: Callable[[float], Calibrated],
    before: tuple[Gaussian, ...] = (),
    *,
    copies: int = 1,
    rest_weight: float = 1.0,
    rows_per_person: int = 1,
    accountant: str = "profile",
) -> Calibrated:
    """One fit's mechanism, so that the fits and what was released before them are together (ε, δ)-DP.

    ``composed_fit(result, before, …).delta(epsilon) <= delta`` holds, nearly with equality: the result is that of
    `calibrate` at the largest ε' for which it does, to some 1e-10 of μ², or 5e-4 where a convolution answers, or 5e-3
    where a row is replaced or a person has several. `ValueError` if nothing is left for the fit, or the composition is
    not known (see `composed_fit`).

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    calibrate : callable
        One fit's mechanism for an ε' > 0 at the same δ, about one row; ``group(calibrate(ε'), rows_per_person)`` should
        be near (ε', δ). The less ε', the more private the mechanism is.
    before, copies, rest_weight, rows_per_person, accountant
        As in `composed_fit`.

    Examples
    --------
    >>> from objpert_core.accounting import calibrate_gaussian
    >>> before = (Gaussian(12.0),)
    >>> fit = calibrate_remaining(1.0, 1e-5, lambda left: calibrate_gaussian(left, 1e-5), before, copies=3)
    >>> composed_fit(fit, before, copies=3).delta(1.0) <= 1e-5, round(fit.sigma, 3)
    (True, 6.799)
    """
    eps, target = positive("epsilon", epsilon), in_open_unit("delta", delta)
    count, rows = positive_integer("copies", copies), positive_integer("rows_per_person", rows_per_person)
    weight = within("rest_weight", rest_weight, SHORTEST_REST, 1.0)
    if count == 1 and not before:
        return calibrate(eps)
    by_curve = choice("accountant", accountant, ACCOUNTANTS) == "rdp"
    allowed = _squared_ratio(eps, math.log(target), by_curve)
    left, full = _left(allowed, before, rows, eps), _full_fits(count, weight)
    in_chain = rows > 1 or any(part.adjacency != ADD_REMOVE for part in before)

    low, high = 0.0, math.inf
    best: Calibrated | None = None
    squared = left / full
    if in_chain:
        beside = float(np.interp(math.log(eps), np.log(list(_CHAIN_EXCESS)), list(_CHAIN_EXCESS.values())))
        squared *= max(0.5, 1 - _CHAIN_ALLOWANCE - beside * (allowed - left) / left)
    points: list[tuple[float, float]] = []
    for _ in range(_MOST_STEPS):
        fit = calibrate(_epsilon_of(squared, target, by_curve))
        whole = composed_fit(
            fit, before, copies=count, rest_weight=rest_weight, rows_per_person=rows, accountant=accountant
        )
        log_delta = _log_delta(whole, eps)
        excess = (_squared_ratio(eps, log_delta, by_curve) - allowed) / full
        by_grid = whole.by_convolution and whole.gaussian_ratio is None
        coarse = in_chain and whole.gaussian_ratio is None
        slack = (_CHAIN_TOLERANCE if coarse else _GRID_TOLERANCE if by_grid else _TOLERANCE) * squared
        if log_delta <= log_target(target):
            low, best = squared, fit
            if -excess <= slack:
                break
        else:
            high = squared
        if high - low <= slack / 2:
            break
        points.append((squared, excess + slack / 2))
        squared = _next(points, low, high, 2 * slack)
    if best is None:
        raise ValueError(f"calibrate must allow for a fit beside {before!r}, got none for epsilon={eps!r}")
    return best


def _next(points: list[tuple[float, float]], low: float, high: float, far: float) -> float:
    """Where to try next: a secant, of slope 1 until two points lie `far` apart, then a curve as soon as three do."""
    (*before, (squared, excess)) = points
    slope, curve = 1.0, 0.0
    if apart := [point for point in reversed(before) if abs(squared - point[0]) > far]:
        (other, at_other), *earlier = apart
        slope = min(max((excess - at_other) / (squared - other), _SLOPES[0]), _SLOPES[1])
        thirds = (point for point in earlier if abs(other - point[0]) > far and point[1] not in (at_other, excess))
        if (point := next(thirds, None)) is not None:
            third, at_third = point
            bend = (1 / slope - (other - third) / (at_other - at_third)) / (excess - at_third)
            curve = excess * at_other * bend
    guess = squared - excess / slope
    if abs(curve) < abs(guess - squared):
        guess += curve
    if low < guess < high and len(points) < _SECANTS:
        return guess
    return (low + high) / 2 if high < math.inf else 2 * low


@lru_cache(maxsize=4096)
def _log_delta(mechanism: Mechanism, epsilon: float) -> float:
    return float(mechanism.log_delta(epsilon))


@lru_cache(maxsize=4096)
def _squared_ratio(epsilon: float, log_delta: float, by_curve: bool = False) -> float:
    """μ² of the Gaussian mechanism with this δ at ε; with `by_curve` by its Rényi curve alone."""
    wanted = min(max(log_delta, -700.0), -1e-9)
    squared = calibrate_gaussian(epsilon, math.exp(wanted)).sigma ** -2.0
    if not by_curve:
        return squared

    def gap(log_sigma: float) -> float:
        return float(via_rdp(Gaussian(math.exp(log_sigma))).log_delta(epsilon)) - wanted

    low = -math.log(squared) / 2
    high = low + 1.0
    while gap(high) > 0:
        high += 1.0
    return math.exp(-2 * root_between(gap, low, high, 1e-13))
