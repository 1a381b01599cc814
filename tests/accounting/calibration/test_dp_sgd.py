"""Calibrating DP-SGD: the target is met from the safe side, by the accountant asked for, tuned or not."""

import math

import pytest
from dp_accounting.dp_event import GaussianDpEvent, PoissonSampledDpEvent, RepeatAndSelectDpEvent, SelfComposedDpEvent
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import (
    DPSGD,
    PrivateSelection,
    calibrate_allocation,
    calibrate_dpsgd,
    calibrate_gaussian,
    calibrate_sampled,
    via_rdp,
)

ADULT = {"sample_rate": 256 / 32561, "steps": 7631}  # 60 epochs in batches of 256 on average
PAPER = 15.406641171976514


def accounted(result, accountant: str):
    """What was calibrated."""
    if accountant == "pld":
        return result
    if isinstance(result, PrivateSelection):
        return PrivateSelection(via_rdp(result.base), result.mean_runs)
    return via_rdp(result)


def check(result, epsilon: float, delta: float, accountant: str) -> None:
    """(ε, δ) both ways: never over the target, and ε short of it by less than is promised."""
    mechanism = accounted(result, accountant)
    assert mechanism.delta(epsilon) <= delta
    reached = mechanism.epsilon(delta)
    assert reached <= epsilon
    if reached == 0 and accountant == "rdp":  # one δ from 0 to beyond ε: all that noise can do is bring it below
        assert mechanism.delta(epsilon) >= delta * (1 - 1e-4)
    else:
        assert reached >= epsilon * (1 - (3e-5 if accountant == "pld" else 3e-7))


@pytest.mark.slow
@pytest.mark.parametrize(
    "epsilon", [0.025, *(pytest.param(epsilon, marks=pytest.mark.exhaustive) for epsilon in (0.1, 1.0)), 8.0]
)
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
@pytest.mark.parametrize("mean_runs", [None, PAPER])
def test_the_papers_experiments(epsilon, accountant, mean_runs):
    """Section 5 on Adult: meets the target, and 0.1 % less noise would not."""
    result = calibrate_dpsgd(epsilon, 1e-5, **ADULT, accountant=accountant, mean_runs=mean_runs)
    check(result, epsilon, 1e-5, accountant)
    assert result.epsilon(1e-5) <= epsilon  # whichever accountant: that of the result is the tighter one
    assert isinstance(result, DPSGD if mean_runs is None else PrivateSelection)
    run = result if mean_runs is None else result.base
    less = DPSGD(run.noise_multiplier * 0.999, **ADULT)
    less = less if mean_runs is None else PrivateSelection(less, mean_runs)
    assert accounted(less, accountant).epsilon(1e-5) > epsilon


targets = {
    "log_epsilon": st.floats(-2, 1.0),
    "log_delta": st.floats(-12, -1.5),
    "mean_runs": st.sampled_from([None, 0.3, 5.0, 200.0]),
}


@pytest.mark.slow
@given(**targets, log_rate=st.floats(-4, 0), log_steps=st.floats(0, 5))
@settings(deadline=None, max_examples=6)
def test_never_over_the_target_by_renyi(log_epsilon, log_delta, log_rate, log_steps, mean_runs):
    epsilon, delta = 10.0**log_epsilon, 10.0**log_delta
    result = calibrate_dpsgd(epsilon, delta, 10.0**log_rate, round(10.0**log_steps), "rdp", mean_runs)
    check(result, epsilon, delta, "rdp")


@pytest.mark.slow
@given(**targets, log_rate=st.floats(-2, 0), log_steps=st.floats(2, 4.5))
@settings(deadline=None, max_examples=6)
def test_never_over_the_target_by_privacy_losses(log_epsilon, log_delta, log_rate, log_steps, mean_runs):
    epsilon, delta = 10.0**log_epsilon, 10.0**log_delta
    result = calibrate_dpsgd(epsilon, delta, 10.0**log_rate, round(10.0**log_steps), mean_runs=mean_runs)
    check(result, epsilon, delta, "pld")


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
def test_monotone():
    noise = [calibrate_dpsgd(1.0, 1e-5, 0.01, steps, "rdp").noise_multiplier for steps in (10, 100, 1000)]
    assert noise == sorted(noise)
    noise = [calibrate_dpsgd(eps, 1e-5, 0.01, 100, "rdp").noise_multiplier for eps in (4.0, 1.0, 0.1)]
    assert noise == sorted(noise)
    noise = [calibrate_dpsgd(1.0, 1e-5, 0.01, 100, "rdp", mean).base.noise_multiplier for mean in (0.1, 1.0, 50.0)]
    assert noise == sorted(noise)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "mean_runs"),
    [
        (1e-6, 0.3, None),
        (1e-3, 1e-5, None),
        (60.0, 1e-5, None),
        (1.0, 1e-30, None),
        (0.5, 0.9, None),
        (0.04, 0.026, 5.0),  # where the mechanism is (0, δ)-DP at hardly more noise: ε drops to 0
        (1e-3, 1e-9, 1e6),
    ],
)
def test_at_the_edges(epsilon, delta, mean_runs):
    result = calibrate_dpsgd(epsilon, delta, 0.3, 50, "rdp", mean_runs)
    mechanism = accounted(result, "rdp")
    assert mechanism.delta(epsilon) <= delta
    assert mechanism.epsilon(delta) <= epsilon
    run = result if mean_runs is None else result.base
    less = DPSGD(run.noise_multiplier * 0.99, run.sample_rate, run.steps)
    assert accounted(less if mean_runs is None else PrivateSelection(less, mean_runs), "rdp").epsilon(delta) > epsilon


def test_what_no_noise_reaches():
    with pytest.raises(ValueError, match=r"epsilon and delta must be larger for sample_rate = 1, .*steps = 1000"):
        calibrate_dpsgd(1e-40, 1e-80, 1.0, 1000, "rdp")


@pytest.mark.slow
def test_the_same_question_is_answered_once():
    assert calibrate_dpsgd(1.0, 1e-5, 0.01, 500) is calibrate_dpsgd(1, 1e-5, 0.01, 500, "pld", None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrate_dpsgd(1.0, 1e-5, 1.5, 100), "sample_rate must be a number above 0 and at most 1, got 1.5"),
        (lambda: calibrate_sampled(1.0, 1e-6, 11, 10, 3), "batch_size must be at most rows"),
        (lambda: calibrate_allocation(1.0, 1e-5, 3, 4), "selections must be at most steps"),
    ],
)
def test_no_more_is_drawn_than_there_is(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacement", "accountant"), [(False, "pld"), (False, "rdp"), (True, "pld")], ids=["without", "rdp", "with"]
)
def test_batches_of_a_fixed_size_meet_the_target(replacement, accountant):
    found = calibrate_sampled(2.0, 1e-6, 20, 1000, 100, replacement=replacement, accountant=accountant)
    counted = via_rdp(found) if accountant == "rdp" else found
    assert counted.epsilon(1e-6) <= 2.0
    assert counted.delta(2.0) <= 1e-6
    assert counted.epsilon(1e-6) > 2.0 * (1 - 3e-5)


def test_a_batch_of_all_rows_needs_the_gaussian_mechanisms_noise():
    found = calibrate_sampled(1.0, 1e-6, 50, 50, 16)
    assert found.noise_multiplier == pytest.approx(8 * calibrate_gaussian(1.0, 1e-6).sigma, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "selections", "epochs"), [(12, 1, 3), (10, 2, 1), (1, 1, 4)])
def test_random_allocation_meets_the_target(steps, selections, epochs):
    found = calibrate_allocation(1.5, 1e-5, steps, selections, epochs)
    assert found.epsilon(1e-5) <= 1.5
    assert found.delta(1.5) <= 1e-5
    assert found.epsilon(1e-5) > 1.5 * 0.999
    if steps > 1:
        assert found.noise_multiplier < calibrate_dpsgd(1.5, 1e-5, selections / steps, steps * epochs).noise_multiplier
