"""What has to hold for every composition: algebra, order, the safe side, extremes, refusals.

Certified bounds are compared as intervals: two that bound the same number must meet, and of two ordered numbers the
lower bound of the smaller cannot exceed the upper bound of the larger.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting import DPSGD, ApproximateMinima, Gaussian, ObjectivePerturbation, compose, repeat, via_rdp
from tests.second_opinion.batches import added
from tests.second_opinion.gaussian import exact_log_delta

GLM = ObjectivePerturbation(8.0, 10.0, smoothness=1.0, bound="glm")
LOGISTIC = ObjectivePerturbation(5.0, 2.0)
MONOTONE = ObjectivePerturbation(6.0, 3.0, bound="monotone")
NOISE = Gaussian(4.0)
RUN = DPSGD(1.2, 0.02, 50)
ALGORITHM = ApproximateMinima(LOGISTIC, tau=0.01, sigma_out=0.1)
ALL = [GLM, LOGISTIC, MONOTONE, NOISE, RUN, ALGORITHM]
DELTAS = np.array([1e-2, 1e-5])
EPSILONS = np.array([0.0, 0.5, 2.0])
ULP = 1e-12


def slow(*values, **named):
    return pytest.param(*values, marks=[pytest.mark.slow, pytest.mark.no_cover], **named)


def meet(first, second):
    """Whether intervals (arrays of lower ends, of upper ends) have points in common."""
    (low, high), (other_low, other_high) = np.array(first), np.array(second)
    return bool(((low <= other_high * (1 + ULP)) & (other_low <= high * (1 + ULP))).all())


# --- closed forms --------------------------------------------------------------------------------------------------


def test_different_gaussians_add_their_squares():
    parts = compose(Gaussian(2.0), repeat(Gaussian(9.0, sensitivity=3.0), 5), DPSGD(4.0, 1.0, 3))
    together = Gaussian(1 / math.sqrt(1 / 4 + 5 / 9 + 3 / 16))
    epsilons = np.array([0.0, 0.1, 1.0, 5.0, 30.0])
    np.testing.assert_allclose(parts.log_delta(epsilons), together.log_delta(epsilons), rtol=1e-9)
    np.testing.assert_allclose(parts.rdp(epsilons + 1), together.rdp(epsilons + 1), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("log_delta", [slow(-700.0), -900.0, slow(-3000.0)])
def test_logarithms_of_what_doubles_cannot_hold(log_delta):
    """The smallest of the valid bounds: never below the truth, and of the same order."""
    noise, k = 3.0, 12
    a = math.sqrt(k) / noise
    epsilon = a * (a / 2 + math.sqrt(-2 * log_delta))
    exact = exact_log_delta(epsilon, a)
    for mechanism in (repeat(Gaussian(noise), k), DPSGD(noise, 1 - 2.0**-53, k)):
        assert exact * (1 + 1e-9) <= mechanism.log_delta(epsilon) <= 0.97 * exact


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "rate", "steps"), [(50.0, 1e-3, 10), slow(200.0, 0.01, 1000), slow(20.0, 0.5, 1)])
def test_tiny_epsilon(noise, rate, steps):
    """Around δ(0), where ε is far smaller than the losses."""
    run = DPSGD(noise, rate, steps)
    largest, of_one_step = run.delta(0.0), math.exp(added(1 / noise, rate)[0].log_delta(0.0)[0])
    assert of_one_step * (1 - 1e-9) <= largest <= steps * of_one_step * (1 + 1e-3)
    low, high = run.epsilon_bounds(np.array([1.01, 0.9, 0.5]) * largest)
    assert low[0] == 0
    assert high[0] == 0
    assert (low[1:] > 0).all()
    assert (high[1:] - low[1:] <= 0.05 * high[1:]).all()


# --- the safe side -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("width", [1e-2, slow(1e-4)])
def test_the_width_that_is_asked_for(width):
    for mechanism in (repeat(GLM, 10), RUN, compose(*ALL)):
        low, high = mechanism.epsilon_bounds(1e-5, relative_width=width)
        assert 0 < high - low <= 2.5 * width * high
        assert meet((low, high), mechanism.epsilon_bounds(1e-5))


# --- extremes ----------------------------------------------------------------------------------------------------

EXTREMES = {
    "DP-SGD with next to no noise": DPSGD(1e-3, 0.5, 10),
    "DP-SGD with a great deal": DPSGD(1e5, 0.1, 10),
    "a tiny rate": DPSGD(1.0, 1e-9, 10**6),
    "a tiny rate, little noise": DPSGD(0.3, 1e-6, 10**4),
    "a rate of nearly 1": DPSGD(2.0, 1 - 1e-12, 1000),
    "n² steps at 1/n": DPSGD(5.0, 1e-3, 10**6),
    "a milliard steps": DPSGD(50.0, 1e-4, 10**9),
    "a million fits": repeat(ObjectivePerturbation(1e4, 1e7, bound="glm"), 10**6),
    "a milliard fits": repeat(ObjectivePerturbation(1e5, 1e10), 10**9),
    "fits with next to no noise": repeat(ObjectivePerturbation(1e-3, 5.0, bound="monotone"), 3),
    "fits with a great deal": repeat(ObjectivePerturbation(1e5, 5.0), 3),
    "λ just above β": repeat(ObjectivePerturbation(3.0, 0.25 * (1 + 1e-12), bound="glm"), 2),
    "λ next to nothing": repeat(ObjectivePerturbation(3.0, 1e-9), 2),
    "very different scales": compose(Gaussian(1e5), ObjectivePerturbation(0.05, 1.0), DPSGD(30.0, 1e-4, 5)),
}

QUICK = ("fits with next to no noise", "λ just above β", "a rate of nearly 1", "a milliard fits")


def gaussian_ratio(mechanism):
    """Σ a² of the Gaussian mechanisms that the objective perturbations and Gaussians in it cannot beat."""
    if isinstance(mechanism, Gaussian):
        return (mechanism.sensitivity / mechanism.sigma) ** 2
    if isinstance(mechanism, ObjectivePerturbation):
        return (mechanism.lipschitz / mechanism.sigma) ** 2
    if isinstance(mechanism, acc.Composition):
        return sum(count * gaussian_ratio(part) for part, count in mechanism.parts)
    return 0.0


def least_log_delta(mechanism, epsilon):
    """log of a δ that the mechanism certainly has: that of the Gaussians in it, or of one step of DP-SGD."""
    parts = mechanism.parts if isinstance(mechanism, acc.Composition) else ((mechanism, 1),)
    known = [-math.inf]
    if (square := gaussian_ratio(mechanism)) > 0:
        known.append(exact_log_delta(epsilon, math.sqrt(square)))
    for part, _ in parts:
        if isinstance(part, DPSGD):
            # removal at ε is the Gaussian mechanism at log(1 + (e^ε − 1)/q), times q (Li, Qardaji and Su 2012)
            q = part.sample_rate
            moved = epsilon - math.log(q) if epsilon > 500 else math.log1p(math.expm1(epsilon) / q)
            known.append(math.log(q) + exact_log_delta(moved, 1 / part.noise_multiplier))
    return max(known)


FAR = [pytest.param(n, marks=[pytest.mark.slow, pytest.mark.exhaustive]) for n in EXTREMES if n not in QUICK]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUICK, *FAR])
def test_extremes(name):
    """No NaN, no wrong 0, upper >= lower, not below what is certainly lost, and in finite time."""
    mechanism = EXTREMES[name]
    for delta in (0.5, 1e-5, 1e-30):
        low, high = mechanism.epsilon_bounds(delta)
        assert 0 <= low <= high
        if math.isfinite(high):
            assert least_log_delta(mechanism, high) <= math.log(delta) * (1 - 1e-9) + 1e-9
        else:
            assert not math.isfinite(via_rdp(mechanism).epsilon(delta))
    for epsilon in (0.0, 1e-6, 0.3, 5.0, 200.0):
        low, high = mechanism.delta_bounds(epsilon)
        assert 0 <= low <= high <= 1
        log_delta = mechanism.log_delta(epsilon)
        assert -math.inf < log_delta <= 0
        assert log_delta >= least_log_delta(mechanism, epsilon) * (1 + 1e-9) - 1e-9


# --- any mix -----------------------------------------------------------------------------------------------------

sigmas = st.floats(-0.5, 2.5).map(lambda x: 10.0**x)
counts = st.integers(0, 12).map(lambda x: int(2**x))
gaussians = st.builds(Gaussian, sigmas)
tight_fits = st.builds(
    ObjectivePerturbation,
    sigmas,
    st.floats(-2, 4).map(lambda x: 10.0**x),
    bound=st.sampled_from(["logistic", "monotone"]),
)
glm_fits = st.builds(ObjectivePerturbation, sigmas, st.floats(-0.5, 4).map(lambda x: 10.0**x), bound=st.just("glm"))
runs = st.builds(DPSGD, st.floats(-0.2, 1.5).map(lambda x: 10.0**x), st.floats(-4, 0).map(lambda x: 10.0**x), counts)
parts = st.builds(repeat, st.one_of(gaussians, tight_fits, glm_fits, runs), st.integers(1, 40))
mixes = st.lists(parts, min_size=1, max_size=3).map(lambda some: compose(*some))


a_mix = given(mix=mixes, log10_delta=st.floats(-20, -0.5), extra=gaussians, share=st.floats(0.05, 1.5))


@pytest.mark.slow
@settings(max_examples=3)
@a_mix
def test_any_mix(mix, log10_delta, extra, share):
    """Bounds of ε lie about it, below the Rényi curve's, and within what those of δ, of the same profile, say."""
    delta = 10.0**log10_delta
    low, high = mix.epsilon_bounds(delta)
    assert 0 <= low <= high < math.inf
    assert high <= via_rdp(mix).epsilon(delta) * (1 + 1e-9)
    assert least_log_delta(mix, high) <= math.log(delta) * (1 - 1e-9)
    assert compose(mix, extra).epsilon_bounds(delta)[1] >= low * (1 - ULP)
    assert high - low <= 1e-2 * high or high < 1e-3
    at_high = mix.delta_bounds(high)
    assert at_high[0] <= delta * (1 + 1e-9)
    assert low == 0 or mix.log_delta(low) >= math.log(delta) * (1 + 1e-9)
    below, above = mix.delta_bounds(share * high)
    assert below <= above
    assert above <= delta * (1 + 1e-9) or share <= 1 or above <= at_high[1] * (1 + 1e-2)


@pytest.mark.no_cover
@pytest.mark.exhaustive
def test_any_mix_thoroughly():
    settings(max_examples=300)(a_mix(test_any_mix.hypothesis.inner_test))()


# --- objects and refusals ----------------------------------------------------------------------------------------


def test_a_bound_with_only_a_renyi_curve_composes_through_it():
    non_glm = ObjectivePerturbation(20.0, 30.0, smoothness=1.0, bound="non-glm", dimension=3)
    mix = compose(non_glm, repeat(GLM, 2))
    assert 1 - 1e-9 <= mix.epsilon(1e-5) / via_rdp(mix).epsilon(1e-5) <= 1 + 1e-5
    assert mix.epsilon_bounds(1e-5)[0] == 0
    np.testing.assert_allclose(mix.rdp([2.0, 9.0]), non_glm.rdp([2.0, 9.0]) + 2 * GLM.rdp([2.0, 9.0]))


@pytest.mark.parametrize("mechanism", [GLM, MONOTONE, NOISE], ids=["glm", "monotone", "Gaussian"])
def test_a_single_release_has_a_margin_on_both_sides(mechanism):
    """Its own δ may be off either way; δ and ε themselves stay the mechanism's own."""
    once, own = repeat(mechanism, 1), mechanism.log_delta(EPSILONS)
    low, high = np.log(once.delta_bounds(EPSILONS))
    np.testing.assert_allclose(high - own, own - low, rtol=1e-4)
    assert (high > own).all()
    assert (once.epsilon(DELTAS) == mechanism.epsilon(DELTAS)).all()
    least, most = once.epsilon_bounds(DELTAS)
    assert ((least < once.epsilon(DELTAS)) & (once.epsilon(DELTAS) < most)).all()
    assert (once.delta_bounds(most)[1] <= DELTAS).all()
    assert (once.delta_bounds(least)[0] >= DELTAS).all()
