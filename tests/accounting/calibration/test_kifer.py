"""Theorem 2.8 of Kifer et al. (2012) with an approximate minimiser: simple composition with the output noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.estimators import ObjPertLogisticRegression

targets = {"epsilon": st.floats(-3, 2).map(lambda x: 10.0**x), "delta": st.floats(-11, -0.7).map(lambda x: 10.0**x)}


def minima(sigma, lam, tau, sigma_out, bound="kifer2012", lipschitz=1.0):
    return acc.ApproximateMinima(acc.ObjectivePerturbation(sigma, lam, lipschitz, bound=bound), tau, sigma_out)


def test_the_profile_is_the_best_split_of_the_two_theorems():
    """Against every one of 20,000 splits."""
    mechanism = minima(30.0, 1.5, 0.01, 0.15)
    for epsilon in (0.34, 0.4, 0.6, 1.0, 2.0):
        first = np.linspace(mechanism.objective.kifer_epsilon, epsilon, 20_001)
        best = (mechanism.objective.delta(first) + mechanism.output.delta(epsilon - first)).min()
        assert mechanism.delta(epsilon) == pytest.approx(best, rel=1e-5)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(sigma=st.floats(0.5, 100), lam=st.floats(0.05, 50), tau=st.floats(1e-7, 1.0), sigma_out=st.floats(1e-4, 3.0))
def test_it_never_undercuts_the_exact_minimiser_the_output_noise_or_what_is_true(sigma, lam, tau, sigma_out):
    mechanism = minima(sigma, lam, tau, sigma_out)
    epsilons = np.concatenate(
        [[0.0], np.geomspace(1e-3, 200, 60), mechanism.objective.kifer_epsilon * np.array([1, 2])]
    )
    epsilons.sort()
    delta = mechanism.delta(epsilons)
    assert (delta >= mechanism.objective.delta(epsilons)).all()
    assert (delta >= mechanism.output.delta(epsilons)).all()
    # Our theorem with the same output noise: valid for the logistic loss, and exact on the Gaussian's part
    assert (delta >= minima(sigma, lam, tau, sigma_out, "logistic").delta(epsilons) * (1 - 1e-9)).all()
    assert (np.diff(delta) <= 1e-9 * delta[:-1]).all()
    assert (delta[epsilons < mechanism.objective.kifer_epsilon] == 1).all()
    for target in (1e-9, 1e-3, 0.2):
        epsilon = mechanism.epsilon(target)
        assert epsilon >= mechanism.objective.epsilon(target)
        assert mechanism.delta(epsilon) <= target
        if epsilon > mechanism.objective.kifer_epsilon * (1 + 1e-6):
            assert mechanism.delta(epsilon * (1 - 1e-6)) > target * (1 - 1e-9)


def test_with_hardly_any_output_noise_needed_it_is_theorem_2_8():
    exact = acc.ObjectivePerturbation(30.0, 2.0, bound="kifer2012")
    epsilons = np.array([0.3, 0.5, 1.0])
    released = acc.ApproximateMinima(exact, 1e-12, 10.0)
    np.testing.assert_allclose(released.delta(epsilons), exact.delta(epsilons), rtol=1e-6)


# Calibration


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(**targets, lipschitz=st.sampled_from([1.0, 0.3, 2**0.5]), tau=st.sampled_from([1e-6, 1e-3]))
def test_calibration_meets_the_target_and_wastes_next_to_nothing(epsilon, delta, lipschitz, tau):
    exact = acc.calibrate_objective_perturbation(epsilon, delta, lipschitz, bound="kifer2012")
    result = acc.calibrate_objective_perturbation(epsilon, delta, lipschitz, bound="kifer2012", tau=tau)
    assert isinstance(result, acc.ApproximateMinima)
    assert result.delta(epsilon) <= delta
    assert result.epsilon(delta) <= epsilon
    assert exact.sigma <= result.objective.sigma <= 1.02 * exact.sigma
    assert exact.lam <= result.objective.lam <= 1.02 * exact.lam
    if result.objective.lam > 1.0001 * exact.lam:
        assert result.delta(epsilon) >= delta * (1 - 1e-6)


def test_it_says_why_it_proves_nothing_and_what_it_has_not():
    mechanism = minima(30.0, 0.25, 1e-3, 0.1)
    assert "Theorem 2.8 needs λ ≥ 2β/ε" in mechanism.explain(1.0)
    assert mechanism.explain(3.0) is None
    assert "no privacy loss distribution" in mechanism.no_losses()
    with pytest.raises(NotImplementedError, match="bounds δ at ε only"):
        mechanism.pld()


# The estimator's preset


@pytest.mark.thorough
def test_the_preset_needs_far_more_noise_and_any_parameter_may_be_replaced():
    X = np.random.default_rng(0).normal(size=(300, 3))
    kifer = ObjPertLogisticRegression.kifer2012(classes=[False, True]).fit(X, X[:, 0] > 0).privacy_
    tight = ObjPertLogisticRegression(classes=[False, True]).fit(X, X[:, 0] > 0).privacy_
    assert kifer.sigma > 2 * tight.sigma
    assert ObjPertLogisticRegression.kifer2012(tau=1e-3, intercept_scaling=1.0).get_params()["tau"] == 1e-3
