"""From a privacy target (ε, δ) to the noise and the regularisation that meet it, and never miss it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from objpert_core._validation import (
    choice,
    in_open_unit,
    length,
    nonnegative,
    positive_integer,
    square,
    within,
)
from objpert_core.accounting.gaussian.calibration import SIGMA_MARGIN
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.accounting.numerics.safe_root import NoRootError, nudged, root_between, smallest_above
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUNDS, ClosedForm
from objpert_core.accounting.objective.defaults import default_noise_ratio
from objpert_core.accounting.objective.kifer import calibrate_closed_form
from objpert_core.accounting.objective.mechanism import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.objective.target import OUTPUT_SHARE, Calibrated, Target, objective_of

EPSILONS = (1e-30, 1e30)
"""The least and the largest ε that is calibrated for."""
_LEAST_LAM = 1e-70  # times L²: where ε is so large that any λ will do
_LEAST_GUESS = 1e-6  # times β
_ROUNDS = 12
_SETTLED = 1e-6  # relative, of λ: what the next round gains is of the order of the square
_SHORT_STEP = 1e-11
_VAST = 1e12  # times a λ: the Gaussian mechanism, as good as


def calibrate_objective_perturbation(
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    smoothness: float | None = None,
    bound: str = "logistic",
    noise_ratio: float | None = None,
    tau: float | None = None,
    sigma_out: float | None = None,
    *,
    accountant: str = "profile",
    dimension: int | None = None,
    lam: float = 0.0,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> ObjectivePerturbation | ApproximateMinima:
    """The noise σ and the smallest regularisation λ with which objective perturbation is (ε, δ)-DP.

    σ is `noise_ratio` times that of the analytic Gaussian mechanism of sensitivity `lipschitz`: more noise buys a
    smaller λ (Redberg et al. 2023, Section 5). `ValueError` if no λ meets the target at this `noise_ratio`. ε lies from
    1e-30 to 1e30, `lipschitz` from 1e-50 to 1e50, `smoothness`, `tau` and `sigma_out` from 1e-110 to 1e110 (squares are
    doubles). The result's ε at `delta` does not exceed `epsilon` and is within 1e-6 (relative) of it, but for three
    cases. The bound allows no smaller λ: ``"kifer2012"`` needs λ >= 2β/ε, and "glm" and "non-glm" need a λ > β that is
    a double. λ is 1e-70·L²: no smaller one is tried. Or `lam` asked for more.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    lipschitz, smoothness, bound, dimension
        As in `ObjectivePerturbation`.
    noise_ratio : float >= 1, optional
        f in σ = f·σ_Gauss; by default `default_noise_ratio` (at least 1.02 where ε < 1000·δ), and for ``"kifer2012"``
        the σ of Theorem 2.8.
    tau : float > 0, optional
        Gradient norm at which the solver may stop; the result is then an `ApproximateMinima`.
    sigma_out : float > 0, optional
        Standard deviation of the output noise; by default so much that it takes 1 % of the Gaussian mechanism's
        sensitivity-to-noise ratio, which costs 0.005 % in σ (about 2 % with ``"kifer2012"``). Needs `tau`.
    accountant : {"profile", "rdp"}
        Account by the bound's privacy profile, or only through its Rényi curve as the paper's experiments do.
    lam : float >= 0
        A regularisation not to go below. Where it is more than privacy needs, the result has this λ, and unless
        `noise_ratio` is given the smallest σ that this λ allows. See `recommended_lam`.
    adjacency : {"add/remove one row", "replace one row"}
        Which data sets count as neighbours. σ_Gauss is for twice the sensitivity where a row is replaced.
    rows_per_person : int >= 1
        How many rows one person has at most. `group(result, rows_per_person)` then meets the target; the result
        itself is still about one row.

    Examples
    --------
    >>> mechanism = calibrate_objective_perturbation(1.0, 1e-5, lipschitz=2**0.5)
    >>> mechanism.epsilon(1e-5) <= 1.0
    True
    """
    radius = length("lipschitz", lipschitz)
    target = Target(
        epsilon=within("epsilon", epsilon, *EPSILONS),
        delta=in_open_unit("delta", delta),
        lipschitz=radius,
        smoothness=square("smoothness", radius**2 / 4 if smoothness is None else smoothness),
        bound=choice("bound", bound, BOUNDS),
        noise_ratio=None if noise_ratio is None else within("noise_ratio", noise_ratio, 1e-50, 1e50),
        tau=None if tau is None else square("tau", tau),
        sigma_out=None if sigma_out is None else square("sigma_out", sigma_out),
        accountant=choice("accountant", accountant, ACCOUNTANTS),
        dimension=None if dimension is None else positive_integer("dimension", dimension),
        adjacency=choice("adjacency", adjacency, ADJACENCIES),
        rows_per_person=positive_integer("rows_per_person", rows_per_person),
    )
    wanted = nonnegative("lam", lam)
    if sigma_out is not None and tau is None:
        raise ValueError(
            f"sigma_out needs tau, the gradient norm that sigma_out covers; got sigma_out={sigma_out!r} and tau=None"
        )
    if noise_ratio is not None and noise_ratio < 1:
        raise ValueError(f"noise_ratio must be a finite number >= 1, got {noise_ratio!r}")
    entry = target.entry
    if not entry.has_rdp and accountant == "rdp":
        raise ValueError(f"bound {bound!r} has a profile only, which does not allow accountant='rdp'")
    if (not entry.has_profile and accountant != "rdp") or (entry.needs_dimension and dimension is None):
        raise ValueError(f"bound {bound!r} has a Rényi curve only, which needs accountant='rdp' and dimension")
    mechanism = _calibrate(target)
    return mechanism if wanted <= objective_of(mechanism).lam else _regularised(target, wanted)


def calibrate_published(
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    smoothness: float | None = None,
    tau: float | None = None,
    sigma_out: float | None = None,
) -> ObjectivePerturbation | ApproximateMinima:
    """The calibration of the paper's experiments: σ = 1.3·σ_Gauss and the smallest λ by the "glm" bound via Rényi.

    Redberg et al. 2023, Section 5, where tau = 0.01 and sigma_out = 0.15; otherwise as in
    `calibrate_objective_perturbation`.

    >>> round(calibrate_published(1.0, 1e-5, lipschitz=2**0.5).lam, 2)
    3.71
    """
    return calibrate_objective_perturbation(
        epsilon, delta, lipschitz, smoothness, "glm", 1.3, tau, sigma_out, accountant="rdp"
    )


@lru_cache(maxsize=4096)
def _calibrate(target: Target) -> Calibrated:
    entry = target.entry
    if entry.closed_form is not None:
        return _by_closed_form(target, entry.closed_form)
    ratio = target.noise_ratio
    if ratio is None:
        ratio = default_noise_ratio(target.bound, target.epsilon, target.accountant)
        if (
            target.epsilon < 1e3 * target.delta
        ):  # around ε = δ output noise costs its share of σ, not the square of that
            ratio = max(ratio, 1 + 2 * OUTPUT_SHARE)
    sigma = target.sigma_gauss * ratio

    def gap(lam: float) -> float:
        return target.gap(target.build(sigma, lam))

    guess = _lam_of_the_closed_form(target, sigma) * (1 + SIGMA_MARGIN)
    if "smoothness" not in entry.ignores:
        guess = max(guess, _LEAST_GUESS * target.smoothness)
    by_profile_alone = target.tau is None and target.accountant == "profile"
    if entry.reaches_gaussian and ratio == 1 and by_profile_alone and gap(guess) <= 0:
        return target.build(sigma, guess)  # the closed form: from here on the bound is the Gaussian profile
    try:
        floor = target.smoothness if entry.needs_lam_above_smoothness else 0.0
        least = _LEAST_LAM * (target.lipschitz**2 if "smoothness" in entry.ignores else target.smoothness)
        lam = _smallest_lam(target, sigma, guess, floor, least)
    except NoRootError:
        raise ValueError(
            f"noise_ratio must be larger for bound {target.bound!r} and accountant {target.accountant!r}: with "
            f"sigma = {sigma:.6g} ({ratio:.6g} times the Gaussian mechanism's) no lam gives "
            f"({target.epsilon:g}, {target.delta:g})-DP"
        ) from None
    return target.build(sigma, lam)


def _lam_of_the_closed_form(target: Target, sigma: float) -> float:
    """The λ from which on our theorem is the Gaussian mechanism's at ε: T1, and T18 for several links."""
    squared, links = (target.lipschitz / sigma) ** 2, target.links
    return target.lipschitz**2 / max(target.epsilon / links + squared * (1 - links / 2), squared / 2)


def _gap_at_what_is_best(target: Target, mechanism: Calibrated) -> Callable[[Calibrated], float] | None:
    """`gap` of other candidates at the Rényi order or split that is best for this one, which costs a hundredth of the
    best of all; None where the bound has neither.
    """
    if target.accountant == "rdp":
        alpha = target.best_order(mechanism)
        return lambda candidate: target.gap_at_order(candidate, alpha)
    if target.chain(mechanism) is None:
        return None
    split = target.best_split(mechanism)
    return lambda candidate: target.gap_at_split(candidate, split)


def _smallest_lam(target: Target, sigma: float, guess: float, floor: float, least: float) -> float:
    def build(lam: float) -> Calibrated:
        return target.build(sigma, lam)

    lam, found = guess, False
    without_output = target.tau is not None  # what is best without the output noise is nearly so, and found soon
    for _ in range(_ROUNDS):
        gap = _gap_at_what_is_best(target, objective_of(build(lam)) if without_output else build(lam))
        if gap is None:
            break
        before = lam
        try:
            lam, found = smallest_above(partial(_of, gap, build), lam, floor, least), True
        except NoRootError:  # not at what is best for a guess that is too small, if there is one at all
            if target.gap(build(floor + _VAST * max(lam - floor, 1e-3 * lam))) > 0:
                raise
            lam = floor + 4 * max(lam - floor, 1e-3 * lam)
        if abs(lam - before) <= _SETTLED * (lam - floor):
            if not without_output:
                break
            without_output = False
    if not found:
        return smallest_above(partial(_of, target.gap, build), guess, floor, least)
    return nudged(lambda x: target.gap(build(x)) <= 0, lambda m: lam + (lam - floor) * m, _SHORT_STEP)


def _smallest_sigma(target: Target, build: Callable[[float], Calibrated], least: float, most: float) -> float:
    """The smallest σ between two of which the larger one is enough."""
    sigma = most
    for _ in range(_ROUNDS):
        at_best = _gap_at_what_is_best(target, build(sigma))
        gap = partial(_of, at_best or target.gap, build)
        before = sigma
        if gap(least) <= 0:
            sigma = least
        elif gap(sigma) <= 0:  # not where the last root is off by a rounding
            sigma = root_between(gap, least, sigma, 1e-13 * least)
        if at_best is None or sigma == least or before - sigma <= _SETTLED * sigma:
            break
    return min(nudged(lambda x: target.gap(build(x)) <= 0, lambda m: sigma * (1 + m), SIGMA_MARGIN), most)


def _of(gap: Callable[[Calibrated], float], build: Callable[[float], Calibrated], x: float) -> float:
    return gap(build(x))


def _by_closed_form(target: Target, form: ClosedForm) -> Calibrated:
    """The theorem's own numbers; for k links of a chain (T18) those at ε/k, whose δs add up to Σ e^{iε/k}·δ₁."""
    links = target.links
    if links == 1:
        return calibrate_closed_form(target, form)
    share = target.epsilon / links * (1 - 2.0**-50)
    farthest = (links - 1) * share
    delta = target.delta / sum(math.exp(i * share) for i in range(links)) * (1 - 1e-12) if farthest < 700 else 0.0
    if not delta > 0:
        wanted = f"epsilon must be smaller for bound {target.bound!r} and {links} rows one after the other"
        raise ValueError(f"{wanted}, got {target.epsilon!r}")
    one = replace(target, epsilon=share, delta=delta, adjacency=ADD_REMOVE, rows_per_person=1)
    if target.noise_ratio is not None:
        one = replace(one, noise_ratio=target.noise_ratio * target.sigma_gauss / one.sigma_gauss)
    found = calibrate_closed_form(one, form)
    changed = replace(objective_of(found), adjacency=target.adjacency)
    return replace(found, objective=changed) if isinstance(found, ApproximateMinima) else changed


@lru_cache(maxsize=4096)
def _regularised(target: Target, lam: float) -> Calibrated:
    """The calibrated mechanism with a larger λ and, unless σ was asked for, as little noise as that allows."""
    mechanism = _calibrate(target)
    objective = objective_of(mechanism)

    def build(sigma: float) -> Calibrated:
        changed = replace(objective, sigma=sigma, lam=lam)
        if not isinstance(mechanism, ApproximateMinima):
            return changed
        share = objective.lam / lam if target.sigma_out is None else 1.0
        return replace(mechanism, objective=changed, sigma_out=mechanism.sigma_out * share)

    least, most = target.sigma_gauss, objective.sigma
    fixed = target.noise_ratio is not None or target.entry.closed_form is not None  # its σ does not depend on λ
    return build(most if fixed or least >= most else _smallest_sigma(target, build, least, most))
