"""Objective perturbation over a ball, for the population risk: from public numbers to σ, λ and the loss's smoothing.

A ball costs no privacy and asks for none (docs/theorems.md, T26). A bound that is not the logistic
one depends on λ through β/λ alone, so the smoothing goes with λ: β = κλ.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from objpert_core._validation import choice, nonnegative, positive
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.mechanisms.group import group
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY
from objpert_core.accounting.objective.calibration import calibrate_objective_perturbation
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.objective.target import OUTPUT_SHARE, objective_of
from objpert_core.accounting.population.published import SCHEDULES, corrected_objective_noise, published_objective_lam
from objpert_core.accounting.population.sizes import Sizes

_SMOOTHING = 1 / 24  # κ/ε: a loss is smoothed until one row's curvature is this share of λ
_ROW_WEIGHT = 4  # of λ = 4σ²d/n; chosen on generated logistic data
_MORE_LAM = 2  # times √d·σ/M, which makes the bound least: 1.1 to 1.5 times better on generated rows, and never worse
_ENOUGH = 1.05  # times the least risk of even rows
_MOST_OF_WORST = 3  # times the λ that is best for the worst rows
_MORE = tuple(6e-5 * 4.0**k for k in range(10))  # what σ grows by for the output noise; as a rule the first will do
_BOUNDS = tuple(key for key, entry in BOUND_REGISTRY.items() if entry.has_profile and entry.closed_form is None)


class ObjectivePlan(NamedTuple):
    """What is fitted, but for the data."""

    mechanism: ApproximateMinima  # about one row
    envelope: float | None  # β of the Moreau envelope that takes the loss's place, in θ; None: the loss itself


class _Asked(NamedTuple):
    """The public numbers of a plan, in range."""

    sizes: Sizes
    smoothness: float
    bound: str
    tau: float
    sigma_out: float | None


def objective_plan(
    schedule: str,
    sizes: Sizes,
    *,
    smoothness: float,
    bound: str,
    tau: float,
    sigma_out: float | None = None,
    lam: float | None = None,
    strict: bool = True,
) -> ObjectivePlan:
    """Choose noise, regularisation and smoothing by public numbers. "tight" takes the least σ: for the
    logistic loss λ of `recommended_ball_lam` and, where a row is replaced, σ = 2Lσ_G (T17), σ_G the analytic Gaussian
    mechanism's noise; for other losses λ = 2√d·σ/M, and β = ελ/24 for those of more curvature. A given `lam` is a least
    λ in place of the rule's; with 0 it is the least that privacy allows.
    """
    check_lam(choice("schedule", schedule, SCHEDULES), lam, smoothness)
    asked = _Asked(
        sizes,
        math.inf if smoothness == math.inf else nonnegative("smoothness", smoothness),
        choice("bound", bound, _BOUNDS),
        positive("tau", tau),
        None if sigma_out is None else positive("sigma_out", sigma_out),
    )
    if schedule == "tight":
        if lam is not None:  # neither counts then: one plan for all
            asked = asked._replace(sizes=replace(sizes, n=1, d=1, radius=1.0))
        return _tight(asked, None if lam is None else float(lam))
    return _published(asked, bool(strict))


def recommended_ball_lam(sizes: Sizes) -> float:
    """Choose λ for logistic regression in a ball by public numbers: max(2R²/ε, 4σ²d/n), or more where d is large; R²/ε
    in place of 2R²/ε where no row is replaced, and k times as much for k rows of one person.

    For even rows of norm R, H = nR²/(4d) is the Hessian's share of each direction, gradients and noise have the
    variance V = dσ² + nR²/4, and the excess risk goes with (λ²M² + V)/(H + λ)², least at λ = V/(M²H). That takes the
    place of 4σ²d/n where this has over 5 % more excess risk, but at most three times λ* = √(8nR² + dσ²)/M, which is
    best for the worst rows (docs/theorems.md, T24). The 4 was chosen on logistic data with d = 10.
    """
    n, d, epsilon, delta, radius, lipschitz = sizes.numbers
    moved = sizes.swing * sizes.rows_per_person
    variance = calibrate_gaussian(epsilon, delta, moved * lipschitz).sigma ** 2
    lam = max(moved * lipschitz**2 / epsilon, _ROW_WEIGHT * variance * d / n)
    share, spread = n * lipschitz**2 / (4 * d), d * variance + n * lipschitz**2 / 4
    least_risk = radius**2 * spread / (spread + (radius * share) ** 2)
    if (lam * radius) ** 2 + spread <= _ENOUGH * least_risk * (share + lam) ** 2:
        return lam
    most = _MOST_OF_WORST * math.sqrt(8 * n * lipschitz**2 + d * variance) / radius
    return max(lam, min(spread / (radius**2 * share), most))


def check_lam(schedule: str, lam: float | None, smoothness: float) -> None:
    """Refuse with a `ValueError` a λ that `objective_plan` does not take."""
    if lam is None:
        return
    if schedule != "tight":
        raise ValueError(f"lam must be None for schedule={schedule!r}, which has its own, got {lam!r}")
    if nonnegative("lam", lam) == 0 and math.isinf(smoothness):
        raise ValueError(
            f"lam must be a number > 0 for a loss with corners, which is smoothed as lam says, got {lam!r}"
        )


@lru_cache(maxsize=1024)
def _tight(asked: _Asked, lam: float | None) -> ObjectivePlan:
    exact, envelope = (_logistic(asked, lam), None) if asked.bound == "logistic" else _smoothed(asked, lam)
    for more in _MORE:
        mechanism = _solved(replace(exact, sigma=exact.sigma * (1 + more)), asked)
        if group(mechanism, asked.sizes.rows_per_person).delta(asked.sizes.epsilon) <= asked.sizes.delta:
            return ObjectivePlan(mechanism, envelope)
    raise ValueError(
        f"sigma_out must be larger for tau={asked.tau!r} and lam = {exact.lam:g}: with {mechanism.sigma_out:g} there "
        f"is no noise on the objective that is ({asked.sizes.epsilon:g}, {asked.sizes.delta:g})-DP"
    )


def _logistic(asked: _Asked, lam: float | None) -> ObjectivePerturbation:
    """The Gaussian mechanism's noise where λ ≥ 2R²/ε, or R²/ε where no row is replaced (T17 (b), T1); else more."""
    sizes = asked.sizes
    if lam is None:
        lam = recommended_ball_lam(sizes)
    if sizes.rows_per_person == 1 and lam >= sizes.swing * sizes.lipschitz**2 / sizes.epsilon:
        sigma = calibrate_gaussian(sizes.epsilon, sizes.delta, sizes.swing * sizes.lipschitz).sigma
        return ObjectivePerturbation(sigma, lam, sizes.lipschitz, bound="logistic", adjacency=sizes.adjacency)
    return _calibrated(sizes, lam)


def _calibrated(
    sizes: Sizes, lam: float, smoothness: float | None = None, bound: str = "logistic"
) -> ObjectivePerturbation:
    found = calibrate_objective_perturbation(
        sizes.epsilon,
        sizes.delta,
        sizes.lipschitz,
        smoothness,
        bound,
        lam=lam,
        adjacency=sizes.adjacency,
        rows_per_person=sizes.rows_per_person,
    )
    return objective_of(found)


def _smoothed(asked: _Asked, lam: float | None) -> tuple[ObjectivePerturbation, float | None]:
    """Noise and λ for a loss that is smoothed to β = κλ, unless its curvature is no larger."""
    sizes, smoothness, bound = asked.sizes, asked.smoothness, asked.bound
    if lam == 0:
        return _calibrated(sizes, 0.0, smoothness, bound), None
    scale = sizes.lipschitz**2  # any would do: σ depends on β/λ
    smoothed = _calibrated(sizes, scale, sizes.epsilon * _SMOOTHING * scale, bound)
    wanted = _MORE_LAM * math.sqrt(sizes.d) * smoothed.sigma / sizes.radius if lam is None else lam
    envelope = smoothed.smoothness / smoothed.lam * wanted
    if smoothness <= envelope:
        return _calibrated(sizes, wanted, smoothness, bound), None
    return replace(smoothed, lam=wanted, smoothness=envelope), envelope


@lru_cache(maxsize=1024)
def _published(asked: _Asked, strict: bool) -> ObjectivePlan:
    n, _, epsilon, delta, radius, lipschitz = asked.sizes.numbers
    smoothness, bound = asked.smoothness, asked.bound
    lam = published_objective_lam(asked.sizes, strict=strict)
    envelope = epsilon * _SMOOTHING * lam if math.isinf(smoothness) else None
    most = epsilon * lam / 2
    if envelope is None and not smoothness <= most:
        raise ValueError(
            f"smoothness must be at most epsilon*lam/2 = {most:g} for what is published (lam = {lam:g} for n = {n} and "
            f"radius = {radius:g}), got {smoothness!r}"
        )
    sigma = corrected_objective_noise(epsilon, delta, lipschitz)
    curved = smoothness if envelope is None else envelope
    exact = ObjectivePerturbation(sigma, lam, lipschitz, curved, bound, adjacency=asked.sizes.adjacency)
    mechanism = _solved(exact, asked)
    if mechanism.delta(epsilon) > delta:
        raise ValueError(
            f"epsilon must be at least {mechanism.epsilon(delta):.6g}, what the accountant finds for what is "
            f"published at delta = {delta:g}, got {epsilon!r}"
        )
    return ObjectivePlan(mechanism, envelope)


def _solved(exact: ObjectivePerturbation, asked: _Asked) -> ApproximateMinima:
    """The mechanism with output noise; unless told otherwise it takes a hundredth of the Gaussian mechanism's ratio."""
    sigma_out = asked.sigma_out
    if sigma_out is None:
        sizes = asked.sizes
        moved = sizes.swing * sizes.rows_per_person * exact.lipschitz
        gauss = calibrate_gaussian(sizes.epsilon, sizes.delta, moved)
        sigma_out = 2 * asked.tau / exact.lam / (OUTPUT_SHARE * exact.lipschitz / gauss.sigma)
    return ApproximateMinima(exact, asked.tau, sigma_out)
