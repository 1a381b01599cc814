"""The minimiser's law in a few dimensions: against the one-dimensional law, integrals, simulation and the bounds."""

import numpy as np
import pytest
from scipy.stats import beta

import objpert_core.accounting as acc
from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds, sampled_success, success_allowed
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

ROWS = np.array([[0.6, 0.2], [0.1, 0.9], [-0.7, -0.3], [0.4, -0.6], [-0.2, 0.5]])
LABELS = [1, 1, -1, -1, 1]


def neighbours(sigma, lam):
    left = MinimiserLaw(ROWS, LABELS, sigma=sigma, lam=lam)
    return left.add([-0.6, 0.8], -1), left


def integrated_success(joined, left, side):
    """Half of 1 plus the total variation, by a sum over a fine grid on which both densities add up to 1."""
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    first, second = (np.exp(law.log_density(grid)) * (side[1] - side[0]) ** 2 for law in (joined, left))
    assert first.sum() == pytest.approx(1.0, abs=1e-5)
    assert second.sum() == pytest.approx(1.0, abs=1e-5)
    return float(np.maximum(first, second).sum() / 2)


def test_in_one_dimension_it_is_the_one_dimensional_law():
    x, y = [0.9, -0.4, 0.7, -1.0], [1, 1, -1, -1]
    theta = np.linspace(-3, 3, 13)
    other = OneDimensionalLogistic(x, y, sigma=2.0, lam=0.4)
    law = MinimiserLaw(np.array(x)[:, None], y, sigma=2.0, lam=0.4)
    np.testing.assert_allclose(law.log_density(theta[:, None]), other.log_density(theta), rtol=1e-12)
    np.testing.assert_allclose(law.minimiser(theta[:, None])[:, 0], other.minimiser(theta), rtol=1e-12)


@pytest.mark.parametrize(("sigma", "lam"), [(0.3, 0.1), (4.0, 1.0), (150.0, 0.1), (30.0, 50.0)])
def test_minimisers_have_a_gradient_of_zero_and_do_not_depend_on_their_company(sigma, lam):
    joined, _ = neighbours(sigma, lam)
    tilts = sigma * np.random.default_rng(3).standard_normal((100, 2))
    theta = joined.minimiser(tilts)
    np.testing.assert_allclose(joined.gradient(theta), -tilts, atol=1e-13 * (1 + sigma))
    for place in (0, 41, 99):
        np.testing.assert_array_equal(joined.minimiser(tilts[place]), theta[place])


def test_gradient_and_density_fit_finite_differences():
    law, h = neighbours(2.0, 0.7)[0], 1e-5
    theta = np.array([0.3, -0.8])
    columns = [(law.gradient(theta + step) - law.gradient(theta - step)) / (2 * h) for step in h * np.eye(2)]
    expected = np.log(np.linalg.det(columns)) - np.square(law.gradient(theta) / 2.0).sum() / 2 - np.log(8 * np.pi)
    assert law.log_density(theta) == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "lam", "reach"), [(1.0, 0.5, 11.0), (4.0, 2.0, 13.0), (0.3, 1.0, 4.0)])
def test_the_interval_of_the_sampled_success_holds_the_integral(sigma, lam, reach):
    joined, left = neighbours(sigma, lam)
    exact = integrated_success(joined, left, np.linspace(-reach, reach, 801))
    narrow = sampled_success(joined, left, draws=30_000, seed=1)
    assert narrow.low <= exact <= narrow.high
    assert narrow.high - narrow.low < 0.01
    wide = [sampled_success(joined, left, draws=500, seed=seed) for seed in range(60)]
    assert sum(one.low <= exact <= one.high for one in wide) >= 57
    assert exact <= acc.best_guess(acc.ObjectivePerturbation(sigma, lam))


def test_the_best_attackers_hits_are_as_many_as_the_sampled_success_says():
    joined, left = neighbours(1.0, 0.5)
    random = np.random.default_rng(5)
    hits = sum(
        int((log_odds(joined, left, law.releases(2000, random)) * way > 0).sum())
        for law, way in ((joined, 1), (left, -1))
    )
    low, high = beta.ppf([5e-7, 1 - 5e-7], [hits, hits + 1], [4001 - hits, 4000 - hits])
    found = sampled_success(joined, left)
    assert low < found.value < high
    assert found.value > 0.6


def test_what_epsilon_allows_is_rounded_up_and_met_by_randomised_response():
    for epsilon in (0.0, 0.1, 1.0, 8.0):
        assert 0 <= success_allowed(epsilon, 0.0) - np.exp(epsilon) / (1 + np.exp(epsilon)) < 1e-15
    assert success_allowed(1.0, 0.25) == pytest.approx((np.e + 0.25) / (1 + np.e), abs=1e-15)
    assert success_allowed(np.inf, 0.0) == success_allowed(0.0, 1.0) == success_allowed(800.0, 0.0) == 1.0
    mechanism = acc.ObjectivePerturbation(2.0, 1.0)
    for delta in (1e-5, 1e-2, 0.3):  # a whole profile allows no more than one of its points
        assert acc.best_guess(mechanism) <= success_allowed(mechanism.epsilon(delta), delta) + 1e-12
