"""What tuning asks for: how many runs cover a grid, and how much noise makes each run affordable."""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import above, choice, in_open_unit, nonnegative_integer, positive
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS, calibrate_dpsgd
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.mechanisms.renyi import via_rdp
from objpert_core.accounting.mechanisms.tabulated import tabulated
from objpert_core.accounting.numerics.safe_root import NoRootError, log_ratio, root_within
from objpert_core.accounting.selection import run_counts
from objpert_core.accounting.selection.mechanism import PrivateSelection, liu_talwar_epsilon, poisson_mean

_LEAST_LOG_GAMMA = -690.0  # γ stays a normal double, as in `run_counts`
_MOST = 100_000  # terms are summed
_TOLERANCE = 1e-4  # of ε, on the safe side
PROOFS = ("selection", "liu_talwar")


def mean_runs(more_than: int, probability: float, eta: float | None = None) -> float:
    """The mean of K with Pr[K > more_than] = probability, to be given to `PrivateSelection`.

    Redberg et al. (2023), Section 5, ask for Pr[K > 10] = 0.9. `more_than` is from 0 to 100,000, the probability
    strictly between 0 and 1, and `eta` as in `PrivateSelection`. `ValueError` if no mean reaches the probability, as
    for some η <= 0.

    >>> round(mean_runs(10, 0.9), 1), round(mean_runs(10, 0.9, eta=1), 1)
    (15.4, 95.4)
    """
    if eta is None:
        return poisson_mean(more_than, probability)
    runs, chance = nonnegative_integer("more_than", more_than), in_open_unit("probability", probability)
    shape = above("eta", eta, -1)
    if not 1 <= runs <= _MOST:
        raise ValueError(f"more_than must be from 1 to {_MOST} where eta is given (K is never 0), got {runs}")

    def excess(log_gamma: float) -> float:
        return 1 - chance - _at_most(runs, shape, math.exp(log_gamma))

    if excess(_LEAST_LOG_GAMMA) < 0:
        most = 1 - _at_most(runs, shape, math.exp(_LEAST_LOG_GAMMA))
        raise ValueError(
            f"probability must be at most {most:.3g} for more_than = {runs} and eta = {shape:g}, got {chance!r}"
        )
    from scipy.optimize import brentq  # slow to import

    log_gamma = float(brentq(excess, _LEAST_LOG_GAMMA, 0.0, xtol=1e-14, rtol=1e-14))
    return math.exp(run_counts.log_mean(shape, math.exp(log_gamma)))


def _at_most(runs: int, eta: float, gamma: float) -> float:
    """Pr[1 <= K <= runs]."""
    return math.fsum(run_counts.negative_binomial_pmf(np.arange(1.0, runs + 1), eta, gamma))


def calibrate_tuning(
    epsilon: float,
    delta: float,
    sample_rate: float,
    steps: int,
    mean_runs: float,
    eta: float | None = None,
    accountant: str = "pld",
    proof: str = "selection",
) -> DPSGD:
    """One run of DP-SGD with the smallest noise multiplier such that choosing the best of K runs is (ε, δ)-DP.

    Like `calibrate_dpsgd` with `mean_runs`, for every law of K and for both proofs. ε of the choice, from the run's
    `tabulated` curves, is at most `epsilon` and within 0.01 % of it.

    Parameters
    ----------
    epsilon, delta, sample_rate, steps, accountant
        As in `calibrate_dpsgd`, with its errors; the accountant says where the curves of one run come from.
    mean_runs, eta
        The law of K, as in `PrivateSelection`.
    proof : {"selection", "liu_talwar"}
        `PrivateSelection`, or `liu_talwar_epsilon` (K geometric, whatever `eta` says).

    Examples
    --------
    >>> tuned = calibrate_tuning(1.0, 1e-5, sample_rate=0.01, steps=500, mean_runs=15.4, eta=1, accountant="rdp")
    >>> tuned.noise_multiplier > calibrate_dpsgd(1.0, 1e-5, 0.01, 500).noise_multiplier
    True
    """
    target, failure = positive("epsilon", epsilon), in_open_unit("delta", delta)
    by_renyi = choice("accountant", accountant, ACCOUNTANTS) == "rdp"
    by_densities = choice("proof", proof, PROOFS) == "liu_talwar"

    def run(log_noise: float) -> DPSGD:
        return DPSGD(math.exp(log_noise), sample_rate, steps)

    def excess(log_noise: float) -> float:
        one_run: Mechanism = tabulated(via_rdp(run(log_noise)) if by_renyi else run(log_noise))
        if by_densities:
            return log_ratio(liu_talwar_epsilon(one_run, failure, mean_runs), target)
        return log_ratio(PrivateSelection(one_run, mean_runs, eta).epsilon(failure), target)

    unpaid = calibrate_dpsgd(target, failure, sample_rate, steps, "rdp")
    assert isinstance(unpaid, DPSGD)
    start = math.log(unpaid.noise_multiplier) + 0.5
    try:
        return run(root_within(excess, start, -1.0, _TOLERANCE)[0])
    except NoRootError:
        raise ValueError(
            f"epsilon and delta must be larger for sample_rate = {sample_rate:g}, steps = {steps} and {mean_runs:g} "
            f"runs on average: no noise multiplier reaches ({target:g}, {failure:g})"
        ) from None
