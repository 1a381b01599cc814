"""What has to hold for every composition: algebra, order, the safe side, extremes, refusals.

Certified bounds are compared as intervals: two that bound the same number must meet, and of two ordered numbers the
lower bound of the smaller cannot exceed the upper bound of the larger.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting import DPSGD, ApproximateMinima, Gaussian, ObjectivePerturbation, compose, repeat, via_rdp
from tests.accounting import composition_oracle as oracle

GLM = ObjectivePerturbation(8.0, 10.0, smoothness=1.0, bound="glm")
LOGISTIC = ObjectivePerturbation(5.0, 2.0)
MONOTONE = ObjectivePerturbation(6.0, 3.0, bound="monotone")
NOISE = Gaussian(4.0)
RUN = DPSGD(1.2, 0.02, 50)
ALGORITHM = ApproximateMinima(LOGISTIC, tau=0.01, sigma_out=0.1)
ALL = [GLM, LOGISTIC, MONOTONE, NOISE, RUN, ALGORITHM]
NAMES = ["glm", "logistic", "monotone", "Gaussian", "DP-SGD", "Algorithm 1"]
DELTAS = np.array([1e-2, 1e-5])
EPSILONS = np.array([0.0, 0.5, 2.0])
ULP = 1e-12


def slow(*values, **named):
    return pytest.param(*values, marks=[pytest.mark.slow, pytest.mark.no_cover], **named)


each = pytest.mark.parametrize("mechanism", ALL, ids=NAMES)
one_of_each = pytest.mark.parametrize(
    "mechanism", [m if n in ("glm", "DP-SGD") else slow(m) for m, n in zip(ALL, NAMES, strict=True)], ids=NAMES
)
SOME = [repeat(GLM, 10), *map(slow, (RUN, repeat(LOGISTIC, 7), repeat(MONOTONE, 3)))]


def meet(first, second):
    """Whether intervals (arrays of lower ends, of upper ends) have points in common."""
    (low, high), (other_low, other_high) = np.array(first), np.array(second)
    return bool(((low <= other_high * (1 + ULP)) & (other_low <= high * (1 + ULP))).all())


def same(first, second):
    """Both bounds of ε and of δ meet, and the upper ends differ by no more than the intervals are wide."""
    for ask, at in (("epsilon_bounds", DELTAS), ("delta_bounds", EPSILONS)):
        one, two = getattr(first, ask)(at), getattr(second, ask)(at)
        if not meet(one, two):
            return False
    upper = first.epsilon(DELTAS), second.epsilon(DELTAS)
    return bool(np.allclose(*upper, rtol=2e-3, atol=1e-9))


# --- algebra -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@one_of_each
def test_repeat_is_k_fold_compose(mechanism):
    assert same(repeat(mechanism, 4), compose(mechanism, mechanism, mechanism, mechanism))
    assert same(repeat(repeat(mechanism, 2), 2), repeat(mechanism, 4))
    np.testing.assert_allclose(repeat(mechanism, 4).rdp(np.array([1.0, 2.0, 7.5])), 4 * mechanism.rdp([1.0, 2.0, 7.5]))


@pytest.mark.slow
def test_steps_of_dp_sgd_are_repeats():
    assert same(DPSGD(1.2, 0.02, 60), repeat(DPSGD(1.2, 0.02, 20), 3))
    assert same(DPSGD(1.2, 0.02, 60), compose(DPSGD(1.2, 0.02, 59), DPSGD(1.2, 0.02, 1)))


@pytest.mark.slow
def test_algorithm_1_is_its_two_parts():
    assert same(repeat(ALGORITHM, 3), compose(repeat(LOGISTIC, 3), repeat(ALGORITHM.output, 3)))


@pytest.mark.slow
@each
def test_once_is_the_mechanism_itself(mechanism):
    np.testing.assert_allclose(repeat(mechanism, 1).epsilon(DELTAS), mechanism.epsilon(DELTAS), rtol=2e-3)
    low, high = repeat(mechanism, 1).delta_bounds(EPSILONS)
    own = mechanism.delta(EPSILONS)
    # DP-SGD's own δ is already an upper bound, not the truth
    assert (low <= own * (1 + ULP)).all()
    assert (high >= (mechanism.delta_bounds(EPSILONS)[0] if mechanism is RUN else own) * (1 - ULP)).all()


@pytest.mark.no_cover
@pytest.mark.slow
def test_neither_order_nor_groups_matter():
    assert same(compose(GLM, NOISE, LOGISTIC, NOISE), compose(compose(LOGISTIC, NOISE), compose(NOISE, GLM)))
    assert same(repeat(compose(GLM, NOISE), 3), compose(repeat(GLM, 3), repeat(NOISE, 3)))


@pytest.mark.slow
@one_of_each
@pytest.mark.parametrize("free", [Gaussian(1e7), slow(DPSGD(2.0, 1e-10, 1))], ids=["Gaussian", "DP-SGD"])
def test_a_nearly_free_release_costs_nearly_nothing(mechanism, free):
    alone, more = (
        repeat(mechanism, 2).epsilon_bounds(DELTAS),
        compose(repeat(mechanism, 2), free).epsilon_bounds(DELTAS),
    )
    assert (more[1] >= alone[0] * (1 - ULP)).all()
    assert (more[1] <= alone[1] * (1 + 3e-3)).all()
    assert (more[0] >= alone[0] * (1 - 3e-3)).all()


# --- order -------------------------------------------------------------------------------------------------------


def increases(mechanisms):
    """The certified ε and δ of a list from most to least private."""
    for ask, at in (("epsilon_bounds", DELTAS), ("delta_bounds", EPSILONS[1:])):
        bounds = [getattr(mechanism, ask)(at) for mechanism in mechanisms]
        for before, after in itertools.combinations(bounds, 2):
            assert (before[0] <= after[1] * (1 + ULP)).all()
        assert (bounds[0][1] < bounds[-1][0])[-1], "the ends do not differ enough to say so"


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [GLM, *map(slow, ALL[1:])], ids=NAMES)
def test_more_releases_cost_more(mechanism):
    increases([repeat(mechanism, k) for k in (1, 2, 3, 10, 100)])


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["glm", slow("logistic"), slow("monotone")])
def test_more_noise_and_regularisation_cost_less(bound):
    increases([repeat(ObjectivePerturbation(sigma, 10.0, bound=bound), 5) for sigma in (20.0, 10.0, 9.9, 5.0)])
    increases([repeat(ObjectivePerturbation(10.0, lam, bound=bound), 5) for lam in (300.0, 30.0, 29.0, 0.5)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [
        slow([DPSGD(noise, 0.02, 100) for noise in (8.0, 1.99, 0.6)]),
        slow([DPSGD(1.0, rate, 100) for rate in (1e-4, 1e-3, 1.01e-3, 0.1, 1.0)]),
        slow([DPSGD(1.0, 0.02, steps) for steps in (1, 2, 1000)]),
    ],
)
def test_dp_sgd_is_monotone_in_everything(runs):
    increases(runs)


# --- the safe side -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SOME)  # `test_any_mix` has mixtures
def test_never_above_the_renyi_bound(mechanism):
    """And at everyday δ clearly below it."""
    for delta in (0.05, 1e-12, 1e-300):
        assert mechanism.epsilon(delta) <= via_rdp(mechanism).epsilon(delta) * (1 + 1e-9)
    assert mechanism.epsilon(1e-5) < 0.97 * via_rdp(mechanism).epsilon(1e-5)
    epsilons = np.array([0.0, 0.5, 2.0, 10.0, 60.0])
    assert (mechanism.log_delta(epsilons) <= via_rdp(mechanism).log_delta(epsilons) + 1e-9).all()


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
        known.append(oracle.gaussian_log_delta(epsilon, math.sqrt(square)))
    for part, _ in parts:
        if isinstance(part, DPSGD):
            # removal at ε is the Gaussian mechanism at log(1 + (e^ε − 1)/q), times q (Li, Qardaji and Su 2012)
            q = part.sample_rate
            moved = epsilon - math.log(q) if epsilon > 500 else math.log1p(math.expm1(epsilon) / q)
            known.append(math.log(q) + oracle.gaussian_log_delta(moved, 1 / part.noise_multiplier))
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


def check_mix(mix, log10_delta, extra, share):
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


a_mix = given(mix=mixes, log10_delta=st.floats(-20, -0.5), extra=gaussians, share=st.floats(0.05, 1.5))


@pytest.mark.slow
@settings(max_examples=3)
@a_mix
def test_any_mix(mix, log10_delta, extra, share):
    check_mix(mix, log10_delta, extra, share)


@pytest.mark.no_cover
@pytest.mark.exhaustive
@settings(max_examples=300)
@a_mix
def test_any_mix_thoroughly(mix, log10_delta, extra, share):
    check_mix(mix, log10_delta, extra, share)


# --- objects and refusals ----------------------------------------------------------------------------------------


def test_a_bound_that_proves_nothing_proves_nothing_in_company():
    silent = ObjectivePerturbation(5.0, 0.5, smoothness=1.0, bound="glm")
    for mechanism in (repeat(silent, 2), compose(GLM, silent)):
        assert mechanism.delta(1.0) == 1.0
        assert mechanism.epsilon(1e-5) == math.inf
        assert mechanism.epsilon_bounds(1e-5)[1] == math.inf
        assert "λ > β" in mechanism.explain()
    assert compose(GLM, NOISE).explain() is None


def test_a_bound_with_only_a_renyi_curve_composes_through_it():
    non_glm = ObjectivePerturbation(20.0, 30.0, smoothness=1.0, bound="non-glm", dimension=3)
    mix = compose(non_glm, repeat(GLM, 2))
    assert 1 - 1e-9 <= mix.epsilon(1e-5) / via_rdp(mix).epsilon(1e-5) <= 1 + 1e-5
    assert mix.epsilon_bounds(1e-5)[0] == 0
    np.testing.assert_allclose(mix.rdp([2.0, 9.0]), non_glm.rdp([2.0, 9.0]) + 2 * GLM.rdp([2.0, 9.0]))


def test_a_sample_rate_is_at_most_one():
    with pytest.raises(ValueError, match=r"^sample_rate must be"):
        DPSGD(1.0, 1.1, 1)


def test_what_cannot_be_composed():
    with pytest.raises(ValueError, match="at least one mechanism"):
        compose()
    with pytest.raises(ValueError, match="mechanism must be one of this package's mechanisms"):
        compose(GLM, 3.0)
    for attempt in (compose, lambda m: repeat(m, 2), lambda m: compose(GLM, m)):
        with pytest.raises(NotImplementedError, match="Kifer"):
            attempt(ObjectivePerturbation(5.0, 2.0, bound="kifer2012"))


@pytest.mark.parametrize("ask", ["epsilon_bounds", "delta_bounds"])
@pytest.mark.parametrize("width", [0.0, -1.0, math.nan, "narrow"])
def test_the_width_must_be_positive(ask, width):
    with pytest.raises(ValueError, match="relative_width must be a finite number > 0"):
        getattr(repeat(GLM, 2), ask)(0.5, relative_width=width)


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
