"""Composition against independent truth: quadrature from the definitions, closed forms, and another library.

At each δ the certified interval of ε must contain the truth, which is checked where it is cheap: the true δ at its
lower end is at least δ, and at its upper end at most δ. Intervals are narrower than 0.1 %, so a bound that were 1 % too
small would fail every test here (the last one says so explicitly).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import DPSGD, ApproximateMinima, Gaussian, ObjectivePerturbation, compose, repeat
from tests.accounting import composition_oracle as oracle

WIDTH = 1e-3  # the largest certified width, relative to ε
DELTAS = (1e-2, 1e-5, 1e-12, 1e-30)
CLOSED = 1e-7  # relative, of δ: more than closed forms and their logarithms lose

GLM = ObjectivePerturbation(5.0, 2.0, bound="glm")
GLM_LAW = oracle.half_normal(0.2, 0.25, 2.0)
WIDE = ObjectivePerturbation(0.8, 3.0, smoothness=1.5, bound="glm")
WIDE_LAW = oracle.half_normal(1.25, 1.5, 3.0)
MONOTONE = ObjectivePerturbation(2.0, 4.0, smoothness=1.0, bound="monotone")
MONOTONE_LAW = oracle.positive_gaussian(0.5, 1.0, 4.0)
TIGHT = ObjectivePerturbation(3.0, 1.5)
TIGHT_LAW = oracle.tight_logistic(1 / 3, 1 / 1.5)
JUMPING = ObjectivePerturbation(0.4, 0.3)  # the maximiser p jumps
JUMPING_LAW = oracle.tight_logistic(2.5, 1 / 0.3)
STRONG = ObjectivePerturbation(2.0, 10.0)  # λ > 2σ²: T = max(0, G)
STRONG_LAW = oracle.tight_logistic(0.5, 0.1)
NOISE = Gaussian(4.0)
NOISE_LAW = oracle.gaussian(0.25)
ALGORITHM = ApproximateMinima(TIGHT, tau=0.05, sigma_out=0.3)
OUTPUT_LAW = oracle.gaussian(2 * 0.05 / 1.5 / 0.3)
REMOVE, ADD = (oracle.subsampled(1.5, 0.1, side) for side in ("remove", "add"))

TWO = {
    "2 glm": (repeat(GLM, 2), [(GLM_LAW,) * 2]),
    "2 wide glm": (repeat(WIDE, 2), [(WIDE_LAW,) * 2]),
    "2 monotone": (repeat(MONOTONE, 2), [(MONOTONE_LAW,) * 2]),
    "2 logistic": (repeat(TIGHT, 2), [(TIGHT_LAW,) * 2]),
    "2 logistic, jumping": (repeat(JUMPING, 2), [(JUMPING_LAW,) * 2]),
    "2 logistic, strong": (repeat(STRONG, 2), [(STRONG_LAW,) * 2]),
    "glm + monotone": (compose(GLM, MONOTONE), [(GLM_LAW, MONOTONE_LAW)]),
    "glm + logistic": (compose(TIGHT, GLM), [(GLM_LAW, TIGHT_LAW)]),
    "glm + Gaussian": (compose(GLM, NOISE), [(GLM_LAW, NOISE_LAW)]),
    "logistic + Gaussian": (compose(NOISE, TIGHT), [(NOISE_LAW, TIGHT_LAW)]),
    "Algorithm 1 + Gaussian": (
        compose(ALGORITHM, NOISE),
        [(oracle.gaussian(math.hypot(0.25, 2 * 0.05 / 1.5 / 0.3)), TIGHT_LAW)],
    ),
    "glm + DP-SGD": (compose(DPSGD(1.5, 0.1, 1), GLM), [(REMOVE, GLM_LAW), (ADD, GLM_LAW)]),
    "Gaussian + DP-SGD": (compose(DPSGD(1.5, 0.1, 1), NOISE), [(REMOVE, NOISE_LAW), (ADD, NOISE_LAW)]),
}
THREE = {
    "3 glm": (repeat(GLM, 3), [(GLM_LAW,) * 3]),
    "2 glm + Gaussian": (compose(repeat(GLM, 2), NOISE), [(GLM_LAW, GLM_LAW, NOISE_LAW)]),
    "glm + 2 DP-SGD": (compose(GLM, DPSGD(1.5, 0.1, 2)), [(REMOVE, REMOVE, GLM_LAW), (ADD, ADD, GLM_LAW)]),
}
RUNS = [(1.0, 0.0071), (0.8, 0.3), (2.0, 1e-3), (0.5, 0.02), (5.0, 0.9)]
for noise, rate in RUNS:
    both = [(oracle.subsampled(noise, rate, side),) * 2 for side in ("remove", "add")]
    TWO[f"2 steps of DP-SGD, {noise:g}, {rate:g}"] = (DPSGD(noise, rate, 2), both)
QUICK = ("2 glm", "2 monotone", "2 logistic", "glm + DP-SGD")


def slow(*values):
    return pytest.param(*values, marks=[pytest.mark.slow, pytest.mark.no_cover])


some_of_two = pytest.mark.parametrize("name", [name if name in QUICK else slow(name) for name in TWO])


def true_delta(sides, epsilon):
    """The largest over the directions of adjacency, for an array of ε."""
    return np.max([oracle.profile(laws, np.asarray(epsilon, dtype=float)) for laws in sides], axis=0)


def check_epsilon_bounds(mechanism, truth, deltas=DELTAS):
    """The interval contains the truth and is narrow; returns the upper ends."""
    low, high = mechanism.epsilon_bounds(np.array(deltas))
    assert np.isfinite(high).all()
    assert (low <= high).all()
    at_low, at_high = truth(low), truth(high)
    for i, delta in enumerate(deltas):
        assert at_high[i] <= delta * (1 + oracle.ACCURACY), f"δ = {delta}: ε <= {high[i]} is too small"
        assert low[i] == 0 or at_low[i] >= delta * (1 - oracle.ACCURACY), f"δ = {delta}: ε >= {low[i]} is too large"
    assert (high - low <= WIDTH * high).all(), (low, high)
    return high


def check_delta_bounds(mechanism, truth, epsilons):
    """The interval contains the truth and is about as narrow as one of ε is: the δ of ε·(1 ± 0.2 %)."""
    low, high = mechanism.delta_bounds(epsilons)
    exact = truth(epsilons)
    assert (low <= exact * (1 + oracle.ACCURACY)).all(), (low, exact)
    assert (high >= exact * (1 - oracle.ACCURACY)).all(), (high, exact)
    np.testing.assert_allclose(mechanism.delta(epsilons), high, rtol=1e-6)
    moved = 2 * WIDTH * np.maximum(epsilons, epsilons.max() / 10)
    assert (high <= truth(np.maximum(epsilons - moved, 0.0)) * (1 + 0.01)).all(), (exact, high)
    assert (low >= truth(epsilons + moved) * (1 - 0.01)).all(), (low, exact)


# --- quadrature --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@some_of_two
def test_two_releases(name):
    mechanism, sides = TWO[name]

    def truth(epsilon):
        return true_delta(sides, epsilon)

    (largest,) = truth([0.0])
    high = check_epsilon_bounds(mechanism, truth, [delta for delta in DELTAS if delta < 0.9 * largest])
    check_delta_bounds(mechanism, truth, np.array([0.3, 0.6, 1.0]) * high[min(1, len(high) - 1)])


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", THREE)
def test_three_releases(name):
    mechanism, sides = THREE[name]
    check_epsilon_bounds(mechanism, lambda epsilon: true_delta(sides, epsilon), (1e-3, 1e-12))


@pytest.mark.slow
def test_addition_of_a_row_can_decide():
    """With a loss that is never small, the subsampled one also matters where it is negative, and there addition loses
    more than removal: a bound from removal alone would be wrong."""
    run, epsilon = DPSGD(0.8, 0.3, 1), 1.0
    remove, add = (oracle.delta((oracle.subsampled(0.8, 0.3, side), WIDE_LAW), epsilon) for side in ("remove", "add"))
    low, high = compose(run, WIDE).delta_bounds(epsilon)
    assert add > 1.001 * remove
    assert low <= add * (1 + oracle.ACCURACY)
    assert high >= add * (1 - oracle.ACCURACY)


# --- closed forms ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("delta", [slow(0.3), 1e-5, slow(1e-30), 1e-100, slow(1e-300)])
@pytest.mark.parametrize(("sigma", "k"), [(1.0, 2), (30.0, 1000), (1e-3, 7), (1e5, 10**9), (0.1, 10**6)])
def test_gaussians_are_one_gaussian(sigma, k, delta):
    low, high = repeat(Gaussian(sigma), k).epsilon_bounds(delta)
    a = math.sqrt(k) / sigma
    assert oracle.gaussian_log_delta(high, a) <= math.log(delta) * (1 - CLOSED)
    assert low == 0 or oracle.gaussian_log_delta(low, a) >= math.log(delta) * (1 + CLOSED)
    assert high - low <= 1e-6 * high


def test_different_gaussians_add_their_squares():
    parts = compose(Gaussian(2.0), repeat(Gaussian(9.0, sensitivity=3.0), 5), DPSGD(4.0, 1.0, 3))
    together = Gaussian(1 / math.sqrt(1 / 4 + 5 / 9 + 3 / 16))
    epsilons = np.array([0.0, 0.1, 1.0, 5.0, 30.0])
    np.testing.assert_allclose(parts.log_delta(epsilons), together.log_delta(epsilons), rtol=1e-9)
    np.testing.assert_allclose(parts.rdp(epsilons + 1), together.rdp(epsilons + 1), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [slow(0.1), 1e-5, slow(1e-30), 1e-100])
@pytest.mark.parametrize(
    ("noise", "k"), [slow(0.7, 1), slow(2.0, 2), (10.0, 100), slow(100.0, 5000), slow(300.0, 10**6)]
)
def test_the_convolution_of_gaussians(noise, k, delta):
    """A rate of 1 − 2⁻⁵³ has no closed form, and is as good as 1."""
    low, high = DPSGD(noise, 1 - 2.0**-53, k).epsilon_bounds(delta)
    a = math.sqrt(k) / noise
    if oracle.gaussian_log_delta(0.0, a) < math.log(delta):
        assert low == 0 <= high < 0.01 * a
        return
    assert oracle.gaussian_log_delta(high, a) <= math.log(delta) * (1 - CLOSED)
    assert low == 0 or oracle.gaussian_log_delta(low, a) >= math.log(delta) * (1 + CLOSED)
    assert high - low <= WIDTH * high


@pytest.mark.slow
@pytest.mark.parametrize("log_delta", [slow(-700.0), -900.0, slow(-3000.0)])
def test_logarithms_of_what_doubles_cannot_hold(log_delta):
    """The smallest of the valid bounds: never below the truth, and of the same order."""
    noise, k = 3.0, 12
    a = math.sqrt(k) / noise
    epsilon = a * (a / 2 + math.sqrt(-2 * log_delta))
    exact = oracle.gaussian_log_delta(epsilon, a)
    for mechanism in (repeat(Gaussian(noise), k), DPSGD(noise, 1 - 2.0**-53, k)):
        assert exact * (1 + 1e-9) <= mechanism.log_delta(epsilon) <= 0.97 * exact


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "rate", "steps"), [(50.0, 1e-3, 10), slow(200.0, 0.01, 1000), slow(20.0, 0.5, 1)])
def test_tiny_epsilon(noise, rate, steps):
    """Around δ(0), where ε is far smaller than the losses."""
    run = DPSGD(noise, rate, steps)
    largest = run.delta(0.0)
    if steps == 1:
        assert 1 <= largest / oracle.subsampled_delta(noise, rate, 0.0) <= 1 + 1e-3
    # the total variation is at most that of one step, times their number, and at least that of one
    assert oracle.subsampled_delta(noise, rate, 0.0) * (1 - 1e-9) <= largest
    assert largest <= steps * oracle.subsampled_delta(noise, rate, 0.0) * (1 + 1e-3)
    low, high = run.epsilon_bounds(np.array([1.01, 0.9, 0.5]) * largest)
    assert low[0] == 0
    assert high[0] == 0
    assert (low[1:] > 0).all()
    assert (high[1:] - low[1:] <= 0.05 * high[1:]).all()


# --- the symmetric pair ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "law"), [(GLM, GLM_LAW), slow(WIDE, WIDE_LAW)])
def test_two_symmetrised_fits(mechanism, law):
    fits = repeat(acc.symmetrised(mechanism), 2)
    deltas = (1e-2, 1e-5, 1e-12)
    high = check_epsilon_bounds(fits, lambda epsilon: true_delta([(oracle.symmetric(law),) * 2], epsilon), deltas)
    assert (high <= repeat(mechanism, 2).epsilon(np.array(deltas)) * (1 + WIDTH)).all()


# --- another library ---------------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [
        (1.0, 0.0071, 8520),
        (4.0, 0.2, 1000),
        pytest.param(0.7, 0.01, 100, marks=pytest.mark.exhaustive),
        pytest.param(1.0, 0.9, 10, marks=pytest.mark.exhaustive),
    ],
)
def test_dp_accounting_brackets(noise, rate, steps):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    optimistic, pessimistic = (
        pld.from_gaussian_mechanism(
            noise, sampling_prob=rate, pessimistic_estimate=side, use_connect_dots=side
        ).self_compose(steps)
        for side in (False, True)
    )
    for delta in (1e-3, 1e-5, 1e-8):
        low, high = DPSGD(noise, rate, steps).epsilon_bounds(delta)
        assert optimistic.get_epsilon_for_delta(delta) <= high
        assert low <= pessimistic.get_epsilon_for_delta(delta) * (1 + 1e-9)
        assert high <= pessimistic.get_epsilon_for_delta(delta) * (1 + WIDTH)


# --- the oracle --------------------------------------------------------------------------------------------------


# --- would these tests notice? -----------------------------------------------------------------------------------
