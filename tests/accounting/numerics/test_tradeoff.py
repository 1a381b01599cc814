"""Trade-off functions: the Gaussian's closed form, everything a profile says, and nothing more."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import objpert_core.accounting as acc


def test_sensitivity_counts():
    assert acc.Gaussian(10.0, 2.0).tradeoff(0.1) == acc.Gaussian(5.0).tradeoff(0.1)


SHAPES = [
    acc.Gaussian(2.0),
    acc.HalfNormal(5.0),
    acc.ObjectivePerturbation(5.0, 0.5),
    acc.ObjectivePerturbation(5.0, 20.0),
    acc.ObjectivePerturbation(5.0, 0.5, bound="monotone"),
    acc.ObjectivePerturbation(5.0, 0.5, bound="glm"),
    acc.ObjectivePerturbation(20.0, 5.0, bound="kifer2012"),
    acc.ApproximateMinima(acc.ObjectivePerturbation(5.0, 2.0), 1e-3, 0.01),
    acc.via_rdp(acc.ObjectivePerturbation(5.0, 0.5, bound="glm")),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SHAPES, ids=repr)
def test_shape(mechanism):
    """From 1 to 0, decreasing, convex, below 1 − x, its own inverse."""
    x = np.linspace(0, 1, 101)
    f = mechanism.tradeoff(x)
    assert (f[0], f[-1]) == (1.0, 0.0)
    assert (f <= 1 - x).all()
    assert (np.diff(f) <= 1e-12).all()
    assert (np.diff(f, 2) >= -4e-9).all()
    back = mechanism.tradeoff(f)
    np.testing.assert_allclose(back, x, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SHAPES, ids=repr)
def test_says_all_that_the_profile_says_and_no_more(mechanism):
    """Against the supremum over very many values of ε, by brute force: the lines of the profile lie below."""
    fine = 801 if isinstance(mechanism, acc.ApproximateMinima) else 4_001  # whose δ is an integral for every ε
    epsilon = np.concatenate((np.linspace(0, 4, fine), np.linspace(4, 60, 100)))
    delta = mechanism.delta(epsilon)
    x = np.array([1e-9, 0.001, 0.05, 0.2, 0.41, 0.5, 0.77, 0.95, 0.9999])[:, None]
    lines = np.maximum(1 - delta - np.exp(epsilon) * x, np.exp(-epsilon) * (1 - delta - x))
    best = np.maximum(lines.max(axis=1), 0.0)
    found = mechanism.tradeoff(x[:, 0])
    assert (found >= best - 1e-7).all()
    np.testing.assert_allclose(found, best, atol=3e-4)  # the brute grid is the coarser of the two


def test_corner_and_jump_are_found():
    """The monotone law has an atom at its shift, Kifer's bound starts with a jump: there the best ε stands still."""
    monotone = acc.ObjectivePerturbation(5.0, 0.5, bound="monotone")
    shift = math.log1p(0.25 / 0.5)
    atom = monotone.delta(shift)
    for x in (0.31, 0.34, 0.36):
        f = 1 - atom - math.exp(shift) * x
        assert monotone.tradeoff(x) == pytest.approx(f, abs=1e-9)
        assert monotone.tradeoff(f) == pytest.approx(x, abs=1e-9)
    kifer = acc.ObjectivePerturbation(50.0, 5.0, smoothness=1.0, bound="kifer2012")
    start = kifer.epsilon(0.9)
    assert start == 0.4
    assert kifer.tradeoff(0.2) == pytest.approx(1 - kifer.delta(start) - math.exp(start) * 0.2, abs=1e-9)


@pytest.mark.slow
@given(st.floats(-1, 4), st.sampled_from(["logistic", "monotone", "glm"]), st.floats(1e-9, 1 - 1e-9))
@settings(max_examples=12)
def test_never_above_what_the_profile_allows(log_sigma, bound, x):
    """The search is rounded down: δ ≥ 1 − f(x) − e^ε·x at every ε, the other way round too."""
    mechanism = acc.ObjectivePerturbation(10**log_sigma, 0.7, bound=bound)
    f, epsilon = mechanism.tradeoff(x), np.concatenate(([0.0], np.geomspace(1e-6, 300, 4000)))
    delta, odds = mechanism.delta(epsilon), np.exp(epsilon)
    allowed = np.maximum(1 - delta - odds * x, (1 - delta - x) / odds).max()
    # δ is convex in e^ε, so between neighbouring ε nothing exceeds the larger end by more than the chord's slope does
    slack = max(x, f) * np.diff(odds)[odds[:-1] * x < 2].max(initial=0.0)
    assert f <= max(allowed, 0.0) + slack + 1e-12


def test_hardly_any_noise_promises_hardly_any_error():
    weak = acc.ObjectivePerturbation(1e-3, 0.5)
    assert (weak.tradeoff([0.01, 0.5, 0.99]) < 1e-200).all()
    assert weak.tradeoff(0.0) == 1.0


def test_few_calls_of_the_profile():
    """Compositions take 20 ms a call: three calls for a smooth profile, however many rates."""

    class Counted(acc.Gaussian):
        calls = 0

        def _log_delta(self, epsilon):
            Counted.calls += 1
            return super()._log_delta(epsilon)

    Counted(2.0).tradeoff(np.linspace(0, 1, 300))
    assert Counted.calls == 3


# --- odds and posteriors --------------------------------------------------------------------------------------------


def test_odds_are_e_to_the_epsilon_rounded_up():
    mechanism = acc.ObjectivePerturbation(5.0, 20.0)
    deltas = np.array([1e-12, 1e-5, 0.01])
    for delta, odds in zip(deltas, mechanism.odds(deltas), strict=True):
        exact = mp.exp(mpf(mechanism.epsilon(delta)))
        assert exact <= mpf(float(odds)) <= exact * (1 + mpf(10) ** -15)
    assert type(mechanism.odds(1e-5)) is float
    assert acc.Gaussian(10.0).odds(0.5) == 1.0
    assert acc.Gaussian(1e-3).odds(1e-5) == math.inf
    with pytest.raises(ValueError, match="delta must be"):
        mechanism.odds(0.0)


def test_posterior_at_the_ends_and_of_arrays():
    assert acc.posterior(0.0, math.inf) == 0.0
    assert acc.posterior(1e-9, math.inf) == 1.0
    assert acc.posterior(0.25, 0.0) == 0.25
    assert acc.posterior(1.0, 3.0) == 1.0
    assert acc.posterior([0.5, 0.1], [[0.0], [1.0]]).shape == (2, 2)
    assert (np.diff(acc.posterior(0.3, np.linspace(0, 5, 50))) > 0).all()


# --- guesses --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SHAPES, ids=repr)
def test_the_best_guess_is_where_the_trade_off_curve_is_nearest_to_the_origin(mechanism):
    """Wrong (x + f(x))/2 of the time; f is its own inverse, so the least is where x = f(x)."""
    found = acc.best_guess(mechanism)
    assert type(found) is float
    fixed = 1 - found
    x = np.linspace(0, 2 * fixed, 101)
    wrong = (x + mechanism.tradeoff(x)) / 2
    assert wrong.min() == pytest.approx(wrong[50], abs=1e-8)
    assert mechanism.tradeoff(fixed) == pytest.approx(fixed, abs=1e-8)


def test_best_guess_of_the_gaussian_of_nothing_and_of_a_jump():
    for sigma in (0.3, 1.0, 20.0, 1e4):
        exact = mp.ncdf(mpf(1) / (2 * mpf(sigma)))
        assert 0 <= mpf(acc.best_guess(acc.Gaussian(sigma))) - exact < 1e-14
    kifer = acc.ObjectivePerturbation(50.0, 5.0, smoothness=1.0, bound="kifer2012")
    assert kifer.delta(0.0) == 1.0
    assert acc.best_guess(kifer) == pytest.approx(1 - (1 - kifer.delta(0.4)) / (1 + math.exp(0.4)), abs=1e-8)
