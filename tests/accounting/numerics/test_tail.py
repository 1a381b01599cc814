"""`Mechanism.tail` (docs/theorems.md, T22): against 40 digits, exact pairs of laws, and the pairs that attain it."""

from __future__ import annotations

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting.numerics.tail import log_tail_of_profile
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

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
