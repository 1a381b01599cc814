"""Trade-off functions: the Gaussian's closed form, everything a profile says, and nothing more."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import objpert_core.accounting as acc
from objpert_core.accounting.numerics.tail import log_tail_of_profile
from objpert_core.theory.one_dimensional import OneDimensionalLogistic


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


BOUNDS = ("logistic", "monotone", "two-signed", "glm")


def test_output_perturbation_has_the_gaussian_mechanisms_tail() -> None:
    assert acc.OutputPerturbation(2.0, 0.5).tail(0.7) == acc.Gaussian(2.0, 0.5).tail(0.7)


@pytest.mark.parametrize(("epsilon", "delta", "times"), [(1.0, 1e-5, 16.12), (2.0, 1e-6, 11.34), (1.0, 1e-6, 20.11)])
def test_delta_is_not_the_probability_that_the_loss_exceeds_epsilon(epsilon: float, delta: float, times: float) -> None:
    mechanism = acc.calibrate_gaussian(epsilon, delta)
    assert mechanism.tail(mechanism.epsilon(delta)) / delta == pytest.approx(times, abs=0.01)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("sigma", "lam"), [(10.0, 5.0), (10.0, 1.2), (2.5, 1.5), (1.0, 3.0), (0.6, 1.3)])
def test_the_tail_of_a_law_is_the_tangent_of_its_profile(bound: str, sigma: float, lam: float) -> None:
    """Pr[ω > ε] = δ(ε) − δ'(ε), as the derivative of E[1 − e^{ε−ω}]₊ is −E[e^{ε−ω}; ω > ε]."""
    mechanism, step = acc.ObjectivePerturbation(sigma, lam, smoothness=1.0, bound=bound), 1e-5
    for epsilon in (0.1, 0.4, 0.9, 1.7, 2.9):
        low, middle, high = mechanism.delta(np.array([epsilon - step, epsilon, epsilon + step]))
        expected = middle - (high - low) / (2 * step)
        if middle > 1e-12:
            assert mechanism.tail(epsilon) == pytest.approx(expected, rel=3e-4)


def test_under_the_tight_bound_the_tail_is_the_gaussian_mechanisms_from_the_threshold_on() -> None:
    mechanism = acc.ObjectivePerturbation(sigma=10, lam=5)
    from_here = 1 / 5 - 1 / 200
    assert mechanism.tail(from_here) == pytest.approx(acc.Gaussian(10).tail(from_here), rel=1e-7)
    assert mechanism.tail(0.34) == acc.Gaussian(10).tail(0.34)
    assert mechanism.tail(0.1) > 1.2 * acc.Gaussian(10).tail(0.1)


def exact_tail(first: OneDimensionalLogistic, second: OneDimensionalLogistic, epsilon: float) -> float:
    """Pr[log p₁(θ)/p₂(θ) > ε] under the first law, from below: cells at both of whose ends the loss exceeds ε."""
    spans = np.array([first.interval(1e-13), second.interval(1e-13)])
    edges = np.linspace(spans.min(), spans.max(), 8001)
    above = first.log_density(edges) - second.log_density(edges) > epsilon
    masses = np.diff(first.cdf(edges))
    return float(masses[above[1:] & above[:-1]].sum())


@pytest.mark.slow
def test_exact_pairs_in_one_dimension_stay_below() -> None:
    rng = np.random.default_rng(22)
    largest = 0.0
    for _ in range(25):
        sigma, lam = np.exp(rng.uniform(np.log(0.4), np.log(8), 2))
        rows, margin = int(rng.integers(0, 12)), float(rng.choice([0.0, 1.5]))
        labels = rng.choice([-1, 1], rows)
        without = OneDimensionalLogistic(rng.uniform(-1, 1, rows), labels, sigma=sigma, lam=lam, margin=margin)
        pair = without, without.add(1.0, int(rng.choice([-1, 1])))
        mechanism = acc.ObjectivePerturbation(sigma, lam)
        for epsilon in (0.02, 0.2, 0.6, 1.5):
            exact = max(exact_tail(*pair, epsilon), exact_tail(*pair[::-1], epsilon))
            assert exact <= mechanism.tail(epsilon) * (1 + 1e-9)
            largest = max(largest, exact / mechanism.tail(epsilon))
    assert largest > 0.5


@pytest.mark.thorough
def test_the_tail_of_the_tight_bound_is_attained() -> None:
    """Many short rows on the wrong side push θ so far out that one more row sees a straight line."""
    crowd = OneDimensionalLogistic(np.full(200, 5e-2), np.full(200, -1), sigma=2.0, lam=1.0)
    pair = crowd, crowd.add(1.0, 1)
    mechanism, epsilon = acc.ObjectivePerturbation(2.0, 1.0), 1.2
    exact = max(exact_tail(*pair, epsilon), exact_tail(*pair[::-1], epsilon))
    assert 0.99 * mechanism.tail(epsilon) < exact <= mechanism.tail(epsilon)


def test_the_bound_from_a_profile_holds_for_every_pair_and_is_attained() -> None:
    rng = np.random.default_rng(5)
    grid = np.array([0.05, 0.3, 1.0, 2.0])
    for _ in range(200):
        p, q = rng.dirichlet(np.full(6, 0.5), 2)
        loss = np.log(p / q)

        def log_profile(epsilon: np.ndarray, p: np.ndarray = p, loss: np.ndarray = loss) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log(np.maximum(1 - np.exp(epsilon[:, None] - loss), 0) @ p)

        tail = (loss > grid[:, None]) @ p
        assert (np.exp(log_tail_of_profile(log_profile, grid)) >= tail * (1 - 1e-12)).all()

    def one_atom(epsilon: np.ndarray) -> np.ndarray:  # a mass of 0.01 at a loss of 1, the rest at 0
        with np.errstate(divide="ignore"):
            return np.log(0.01 * np.maximum(1 - np.exp(epsilon - 1.0), 0))

    found = np.exp(log_tail_of_profile(one_atom, np.array([1 - 1e-9])))[0]
    assert 0.01 * (1 - 1e-9) <= found < 0.0101  # one per cent less would be refuted
