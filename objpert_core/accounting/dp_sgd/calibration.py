"""From a privacy target (ε, δ) to the noise multiplier of DP-SGD that meets it, with or without the cost of tuning."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from objpert_core._validation import choice, in_open_unit, positive, positive_integer, rate
from objpert_core.accounting.dp_sgd.allocation import RandomAllocation
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.dp_sgd.sampled import SampledWithoutReplacement, SampledWithReplacement
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES, REPLACE_ONE, Mechanism
from objpert_core.accounting.mechanisms.composition import ByConvolution
from objpert_core.accounting.mechanisms.renyi import ViaRDP, via_rdp
from objpert_core.accounting.numerics.safe_root import NoRootError, log_ratio, nudged, root_within, within_reach
from objpert_core.accounting.selection.mechanism import PrivateSelection

ACCOUNTANTS = ("pld", "rdp")

_TOLERANCE = {"pld": 1e-5, "rdp": 1e-7}  # of ε, on the safe side; δ(ε) and ε(δ) by convolution differ by less
_GUESS_TOLERANCE = 1e-3


def calibrate_dpsgd(
    epsilon: float,
    delta: float,
    sample_rate: float,
    steps: int,
    accountant: str = "pld",
    mean_runs: float | None = None,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> DPSGD | PrivateSelection:
    """DP-SGD with the smallest noise multiplier that is (ε, δ)-DP, or whose tuning is.

    Redberg et al. (2023), Section 5, calls the first "dishonest" DP-SGD and the second "honest". `ValueError` if no
    noise multiplier that can be accounted for reaches the target. The target is met both ways,
    `delta(epsilon) <= delta` and `epsilon(delta) <= epsilon`, by the accountant asked for, and ε at `delta` is within
    1e-5 (relative; 1e-7 for "rdp") of it.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    sample_rate, steps
        As in `DPSGD`.
    accountant : {"pld", "rdp"}
        "pld": the privacy profile of `DPSGD` meets the target. "rdp": the Rényi curve alone meets it, as in the paper's
        experiments; `via_rdp(result)` gives the ε that was calibrated, which is above the result's own.
    mean_runs : float > 0, optional
        If given, the best of K ~ Poisson(mean_runs) runs meets the target (`PrivateSelection`), by Rényi curves; the
        accountant says where the profile of one run comes from.
    adjacency : {"add/remove one row", "replace one row"}
    rows_per_person : int >= 1
        How many rows one person has at most: the result's `group_size`.

    Examples
    --------
    >>> run = calibrate_dpsgd(1.0, 1e-5, sample_rate=0.01, steps=500)
    >>> run.epsilon(1e-5) <= 1.0
    True
    """
    return _calibrate(
        positive("epsilon", epsilon),
        in_open_unit("delta", delta),
        rate("sample_rate", sample_rate),
        positive_integer("steps", steps),
        choice("accountant", accountant, ACCOUNTANTS),
        None if mean_runs is None else positive("mean_runs", mean_runs),
        choice("adjacency", adjacency, ADJACENCIES),
        positive_integer("rows_per_person", rows_per_person),
    )


@lru_cache(maxsize=1024)
def _calibrate(
    epsilon: float,
    delta: float,
    sample_rate: float,
    steps: int,
    accountant: str,
    mean_runs: float | None,
    adjacency: str,
    rows: int,
) -> DPSGD | PrivateSelection:
    def run(log_noise: float) -> DPSGD:
        return DPSGD(math.exp(log_noise), sample_rate, steps, adjacency=adjacency, group_size=rows)

    tuned = "" if mean_runs is None else f" and {mean_runs:g} runs on average"
    named = f"sample_rate = {sample_rate:g}, steps = {steps}{tuned}"
    log_noise = _log_noise(run, run, epsilon, delta, accountant, mean_runs, named=named)
    return run(log_noise) if mean_runs is None else PrivateSelection(run(log_noise), mean_runs)


def calibrate_sampled(
    epsilon: float,
    delta: float,
    batch_size: int,
    rows: int,
    steps: int,
    *,
    replacement: bool = False,
    accountant: str = "pld",
) -> SampledWithoutReplacement | SampledWithReplacement:
    """Noisy sums of batches of a fixed size with the smallest noise multiplier that is (ε, δ)-DP.

    Parameters
    ----------
    epsilon, delta, accountant
        As in `calibrate_dpsgd`, with its errors.
    batch_size, rows, steps
        As in `SampledWithoutReplacement`; neighbours differ in a row that is replaced.
    replacement : bool, default=False
        Whether a row may be in one batch several times.

    Examples
    --------
    >>> found = calibrate_sampled(1.0, 1e-6, batch_size=142, rows=10_000, steps=1250)
    >>> round(found.noise_multiplier / (0.03717 * 142), 3)  # over the noise that Bassily et al. (2019) publish
    0.956
    """
    kind = SampledWithReplacement if replacement else SampledWithoutReplacement
    return _calibrate_sampled(
        positive("epsilon", epsilon),
        in_open_unit("delta", delta),
        choice("accountant", accountant, ACCOUNTANTS),
        kind(1.0, batch_size, rows, steps),
    )


@lru_cache(maxsize=1024)
def _calibrate_sampled(
    epsilon: float, delta: float, accountant: str, one: SampledWithoutReplacement | SampledWithReplacement
) -> SampledWithoutReplacement | SampledWithReplacement:
    def run(log_noise: float) -> SampledWithoutReplacement | SampledWithReplacement:
        return replace(one, noise_multiplier=math.exp(log_noise))

    def poisson(log_noise: float) -> DPSGD:
        share = min(one.batch_size / one.rows, 1.0)
        return DPSGD(math.exp(log_noise), share, one.steps, adjacency=REPLACE_ONE)

    named = f"batch_size = {one.batch_size}, rows = {one.rows}, steps = {one.steps}"
    return run(_log_noise(run, poisson, epsilon, delta, accountant, named=named))


def calibrate_allocation(
    epsilon: float, delta: float, steps: int, selections: int = 1, epochs: int = 1
) -> RandomAllocation:
    """Random allocation with the smallest noise multiplier that is (ε, δ)-DP; errors as from `calibrate_dpsgd`.

    `delta(epsilon) <= delta` and `epsilon(delta) <= epsilon` hold; ε at `delta` is within 1e-3 (relative) of `epsilon`.

    Beyond about 1e-13 times the number of steps, a row counts for a smaller δ as being in every step. `steps`,
    `selections` and `epochs` are those of `RandomAllocation`; ε > 0, and δ lies strictly between 0 and 1.

    >>> found = calibrate_allocation(1.0, 1e-5, steps=20)
    >>> 0.999 < found.epsilon(1e-5) <= 1.0
    True
    """
    return _calibrate_allocation(
        positive("epsilon", epsilon),
        in_open_unit("delta", delta),
        RandomAllocation(1.0, steps, selections, epochs),
    )


@lru_cache(maxsize=1024)
def _calibrate_allocation(epsilon: float, delta: float, one: RandomAllocation) -> RandomAllocation:
    def run(log_noise: float) -> RandomAllocation:
        return replace(one, noise_multiplier=math.exp(log_noise))

    def poisson(log_noise: float) -> DPSGD:
        return DPSGD(math.exp(log_noise), one.selections / one.steps, one.steps * one.epochs)

    named = f"steps = {one.steps}, selections = {one.selections}, epochs = {one.epochs}"
    return run(_log_noise(run, poisson, epsilon, delta, "pld", named=named, tolerance=1e-4))


def _log_noise(
    run: Callable[[float], ByConvolution],
    like: Callable[[float], DPSGD],
    epsilon: float,
    delta: float,
    accountant: str,
    mean_runs: float | None = None,
    *,
    named: str,
    tolerance: float | None = None,
) -> float:
    """The log of the smallest noise multiplier of `run`; `like` is a run that costs about as much."""

    def accounted(log_noise: float) -> Mechanism:
        base: Mechanism = run(log_noise) if accountant == "pld" else via_rdp(run(log_noise))
        return base if mean_runs is None else PrivateSelection(base, mean_runs)

    try:
        start, slope = _guess(epsilon, delta, like, mean_runs)
        return _smallest(accounted, epsilon, delta, start, slope, tolerance or _TOLERANCE[accountant])
    except NoRootError:
        raise ValueError(
            f"epsilon and delta must be larger for {named}: "
            f"no noise multiplier reaches ({epsilon:g}, {delta:g}) under accountant {accountant!r}"
        ) from None


def _guess(epsilon: float, delta: float, run: Callable[[float], DPSGD], mean_runs: float | None) -> tuple[float, float]:
    """(log of a noise multiplier near the answer, d log ε/d log noise there)."""
    log_sigma = math.log(calibrate_gaussian(epsilon, delta).sigma)
    if mean_runs is not None:

        def tuned(x: float) -> float:
            return log_ratio(PrivateSelection(Gaussian(math.exp(x)), mean_runs).epsilon(delta), epsilon)

        log_sigma, _ = root_within(tuned, log_sigma + 0.5, -1.0, _GUESS_TOLERANCE)
    one = run(0.0)
    moves = one.group_size * (1 if one.adjacency == ADD_REMOVE else 2)
    start = max(log_sigma + math.log(one.sample_rate * moves) + 0.5 * math.log(one.steps), -1.0)
    target = ViaRDP(Gaussian(math.exp(log_sigma))).epsilon(delta)
    if target == 0:  # a δ so large that the curve's ε drops to 0
        return start, -1.0
    return root_within(lambda x: log_ratio(ViaRDP(run(x)).epsilon(delta), target), start, -1.0, _GUESS_TOLERANCE)


def _smallest(
    accounted: Callable[[float], Mechanism],
    epsilon: float,
    delta: float,
    start: float,
    slope: float,
    tolerance: float,
) -> float:
    """The log of the smallest noise multiplier that meets the target both ways, up to the tolerance."""
    known: dict[float, tuple[Mechanism, float]] = {}

    def reached(x: float) -> float:
        if x not in known:
            mechanism = accounted(x)
            # `epsilon` also brings ε and δ into line, at the cost of another grid: for the answer, not on the way to it
            on_the_way = mechanism.epsilon_above if isinstance(mechanism, ByConvolution) else mechanism.epsilon
            known[x] = mechanism, float(on_the_way(delta))
        return known[x][1]

    def holds(x: float) -> bool:
        if reached(within_reach(x)) > epsilon:
            return False
        mechanism = known[x][0]
        return bool(mechanism.log_delta(epsilon) <= math.log(delta) and mechanism.epsilon(delta) <= epsilon)

    x, _ = root_within(lambda x: log_ratio(reached(x), epsilon), start, slope, tolerance)
    return nudged(holds, lambda m: x + m, tolerance / 8)
