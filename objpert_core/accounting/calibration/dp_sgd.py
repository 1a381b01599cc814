"""From a privacy target (ε, δ) to the noise multiplier of DP-SGD that meets it, with or without the cost of tuning."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from objpert_core._validation import choice, in_open_unit, positive, positive_integer, rate
from objpert_core.accounting.calibration.objective import calibrate_gaussian
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.mechanisms.dp_sgd import DPSGD
from objpert_core.accounting.mechanisms.gaussian import Gaussian
from objpert_core.accounting.mechanisms.renyi import ViaRDP, via_rdp
from objpert_core.accounting.mechanisms.selection import PrivateSelection

ACCOUNTANTS = ("pld", "rdp")

_TOLERANCE = {"pld": 1e-5, "rdp": 1e-7}  # of ε, on the safe side; δ(ε) and ε(δ) by convolution differ by less
_GUESS_TOLERANCE = 1e-3
_EVALUATIONS = 200
_FARTHEST = 60.0  # log of the noise multiplier, either way: no doubles to compute with beyond
_LARGEST_STEP = 3.0


def calibrate_dpsgd(
    epsilon: float,
    delta: float,
    sample_rate: float,
    steps: int,
    accountant: str = "pld",
    mean_runs: float | None = None,
) -> DPSGD | PrivateSelection:
    """DP-SGD with the smallest noise multiplier that is (ε, δ)-DP, or whose tuning is.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    sample_rate, steps
        As in `DPSGD`.
    accountant : {"pld", "rdp"}
        "pld": the target is met by the privacy profile of `DPSGD`, from privacy loss distributions. "rdp": it is met
        by the Rényi curve alone, as in the paper's experiments; the result's own ε, where it is by privacy loss
        distributions, is then below the target, and `via_rdp(result)` gives the ε that was calibrated.
    mean_runs : float > 0, optional
        If given, the best of K ~ Poisson(mean_runs) runs meets the target, not a single one. Selection is accounted
        for by Rényi curves under either accountant, which then says where the base's profile comes from
        (`PrivateSelection`); with "rdp", `PrivateSelection(via_rdp(result.base), mean_runs)` is what was calibrated.

    Returns
    -------
    DPSGD, or PrivateSelection of one if `mean_runs` is given
        `delta(epsilon) <= delta` and `epsilon(delta) <= epsilon`, by the accountant asked for, and ε at `delta` within
        1e-5 (relative; 1e-7 for "rdp") of the target.

    Raises
    ------
    ValueError
        If an argument is out of range, or no noise multiplier that can be accounted for reaches the target.

    Notes
    -----
    Redberg et al. (2023), Section 5, calls the first "dishonest" DP-SGD and the second "honest".

    Examples
    --------
    >>> run = calibrate_dpsgd(1.0, 1e-5, sample_rate=0.01, steps=500)
    >>> run.epsilon(1e-5) <= 1.0
    True
    >>> tuned = calibrate_dpsgd(1.0, 1e-5, sample_rate=0.01, steps=500, mean_runs=15.4)
    >>> tuned.base.noise_multiplier > run.noise_multiplier
    True
    """
    return _calibrate(
        positive("epsilon", epsilon),
        in_open_unit("delta", delta),
        rate("sample_rate", sample_rate),
        positive_integer("steps", steps),
        choice("accountant", accountant, ACCOUNTANTS),
        None if mean_runs is None else positive("mean_runs", mean_runs),
    )


@lru_cache(maxsize=1024)
def _calibrate(
    epsilon: float, delta: float, sample_rate: float, steps: int, accountant: str, mean_runs: float | None
) -> DPSGD | PrivateSelection:
    def run(log_noise: float) -> DPSGD:
        return DPSGD(math.exp(log_noise), sample_rate, steps)

    def accounted(log_noise: float) -> Mechanism:
        base: Mechanism = run(log_noise) if accountant == "pld" else via_rdp(run(log_noise))
        return base if mean_runs is None else PrivateSelection(base, mean_runs)

    try:
        start, slope = _guess(epsilon, delta, run, mean_runs)
        log_noise = _smallest(accounted, epsilon, delta, start, slope, _TOLERANCE[accountant])
    except ValueError:
        tuned = "" if mean_runs is None else f" and {mean_runs:g} runs on average"
        raise ValueError(
            f"epsilon and delta must be larger for sample_rate = {sample_rate:g}, steps = {steps}{tuned}: "
            f"no noise multiplier reaches ({epsilon:g}, {delta:g}) under accountant {accountant!r}"
        ) from None
    return run(log_noise) if mean_runs is None else PrivateSelection(run(log_noise), mean_runs)


def _guess(epsilon: float, delta: float, run: Callable[[float], DPSGD], mean_runs: float | None) -> tuple[float, float]:
    """(log of a noise multiplier near the answer, d log ε/d log noise there).

    Many steps are nearly a Gaussian mechanism: the one that meets the target is known quickly, and DP-SGD's Rényi
    curve is then brought to give the ε that its curve gives.
    """
    log_sigma = math.log(calibrate_gaussian(epsilon, delta).sigma)
    if mean_runs is not None:

        def tuned(x: float) -> float:
            return _log_ratio(PrivateSelection(Gaussian(math.exp(x)), mean_runs).epsilon(delta), epsilon)

        log_sigma, _ = _root(tuned, log_sigma + 0.5, -1.0, _GUESS_TOLERANCE)
    one = run(0.0)
    start = max(log_sigma + math.log(one.sample_rate) + 0.5 * math.log(one.steps), -1.0)
    target = ViaRDP(Gaussian(math.exp(log_sigma))).epsilon(delta)
    if target == 0:  # a δ so large that the curve's ε drops to 0
        return start, -1.0
    return _root(lambda x: _log_ratio(ViaRDP(run(x)).epsilon(delta), target), start, -1.0, _GUESS_TOLERANCE)


def _log_ratio(value: float, target: float) -> float:
    """log(value/target), within what a search can use."""
    return float(np.clip(np.log(value / target), -50.0, 50.0)) if value > 0 and target > 0 else -50.0


def _root(gap: Callable[[float], float], start: float, slope: float, tolerance: float) -> tuple[float, float]:
    """(x, slope) with −tolerance <= gap(x) <= 0 for a gap that decreases in x; ValueError if there is none.

    Secants, aimed at the middle of what is accepted, inside a bracket that grows until there is one and is halved where
    secants do not shrink it. Where the gap jumps over what is accepted, the end of the bracket on the safe side.
    """
    low, high, x, slow = -math.inf, math.inf, start, 0
    before: tuple[float, float] | None = None
    for _ in range(_EVALUATIONS):
        value, width = gap(x), high - low
        if -tolerance <= value <= 0:
            return x, slope
        low, high = (x, high) if value > 0 else (low, x)
        if high - low <= 1e-13 * max(1.0, abs(x)):
            return high, slope
        slow = slow + 1 if high - low > 0.5 * width and math.isfinite(width) else 0
        if before is not None:
            measured = (value - before[1]) / (x - before[0])
            slope = measured if -50 < measured < -1e-3 else slope
        before = x, value
        x += float(np.clip(-(value + tolerance / 2) / slope, -_LARGEST_STEP, _LARGEST_STEP))
        if slow >= 2 or not low < x < high:
            x, slow = 0.5 * (low + high), 0
        if abs(x) > _FARTHEST:
            break
    raise ValueError("no root")


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
            on_the_way = mechanism.epsilon_bounds if isinstance(mechanism, DPSGD) else mechanism.epsilon
            known[x] = mechanism, np.max(on_the_way(delta))
        return known[x][1]

    x, _ = _root(lambda x: _log_ratio(reached(x), epsilon), start, slope, tolerance)
    margin = tolerance / 8
    while True:
        if reached(x) <= epsilon:
            mechanism = known[x][0]
            if mechanism.log_delta(epsilon) <= math.log(delta) and mechanism.epsilon(delta) <= epsilon:
                return x
        x, margin = x + margin, 2 * margin
        if x > _FARTHEST:
            raise ValueError("no root")
