"""Calibrating DP-SGD: the target is met from the safe side, by the accountant asked for, tuned or not."""

import math

import pytest
from dp_accounting.dp_event import GaussianDpEvent, PoissonSampledDpEvent, RepeatAndSelectDpEvent, SelfComposedDpEvent
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

from objpert_core.accounting import calibrate_dpsgd, calibrate_gaussian, calibrate_sampled
from tests.accounting.calibration.test_contract import ADULT, PAPER


@pytest.mark.slow
def test_order_among_the_four():
    """Rényi accounting asks for more noise than privacy loss distributions, and honesty for more than dishonesty."""
    noise = {}
    for accountant in ("pld", "rdp"):
        for mean_runs in (None, PAPER):
            result = calibrate_dpsgd(1.0, 1e-5, **ADULT, accountant=accountant, mean_runs=mean_runs)
            noise[accountant, mean_runs is not None] = getattr(result, "base", result).noise_multiplier
    assert noise["pld", False] < noise["rdp", False] < noise["pld", True] < noise["rdp", True]
    assert noise["pld", True] > 2 * noise["pld", False]


def test_one_full_step_is_the_gaussian_mechanism():
    """Without sampling the answer is known in closed form."""
    result = calibrate_dpsgd(0.7, 1e-6, 1.0, 1)
    assert result.noise_multiplier == pytest.approx(calibrate_gaussian(0.7, 1e-6).sigma, rel=2e-5)
    assert result.noise_multiplier >= calibrate_gaussian(0.7, 1e-6).sigma * (1 - 1e-9)
    many = calibrate_dpsgd(0.7, 1e-6, 1.0, 100)
    assert many.noise_multiplier == pytest.approx(10 * calibrate_gaussian(0.7, 1e-6).sigma, rel=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mean_runs", [None, PAPER])
def test_dp_accounting_agrees_that_it_is_private(mean_runs):
    """Their ε of our noise, from integer orders and with the published theorem, is a little above the target."""
    result = calibrate_dpsgd(1.0, 1e-5, **ADULT, accountant="rdp", mean_runs=mean_runs)
    run = result if mean_runs is None else result.base
    step = PoissonSampledDpEvent(ADULT["sample_rate"], GaussianDpEvent(run.noise_multiplier))
    event = SelfComposedDpEvent(step, ADULT["steps"])
    accountant = RdpAccountant(range(2, 200))
    accountant.compose(event if mean_runs is None else RepeatAndSelectDpEvent(event, mean_runs, math.inf))
    assert 1.0 - 1e-6 < accountant.get_epsilon(1e-5) < 1.02


@pytest.mark.slow
def test_the_same_question_is_answered_once():
    assert calibrate_dpsgd(1.0, 1e-5, 0.01, 500) is calibrate_dpsgd(1, 1e-5, 0.01, 500, "pld", None)


def test_a_batch_of_all_rows_needs_the_gaussian_mechanisms_noise():
    found = calibrate_sampled(1.0, 1e-6, 50, 50, 16)
    assert found.noise_multiplier == pytest.approx(8 * calibrate_gaussian(1.0, 1e-6).sigma, rel=1e-5)
