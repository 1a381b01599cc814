"""The minimiser's law in a few dimensions: against the one-dimensional law, integrals, simulation and the bounds."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

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


# The one-dimensional law: against integrals, simulation, the definition of its minimiser, and the bounds


DATA = ([0.9, -0.4, 0.7, -1.0, 0.2], [1, 1, -1, -1, 1])


@pytest.mark.parametrize(("sigma", "lam"), [(0.3, 0.05), (1.0, 1.0), (5.0, 20.0), (40.0, 0.5)])
def test_density_integrates_to_one_and_is_the_derivative_of_the_cdf(sigma, lam):
    law = OneDimensionalLogistic(*DATA, sigma=sigma, lam=lam)
    grid = np.linspace(*law.interval(1e-14), 40_001)
    density = law.density(grid)
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-6)
    cumulated = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))))
    np.testing.assert_allclose(law.cdf(grid), cumulated, atol=1e-6)


@pytest.mark.slow
def test_minimisers_of_random_tilts_follow_the_law():
    law = OneDimensionalLogistic(*DATA, sigma=2.0, lam=0.4)
    draws = law.minimiser(np.random.default_rng(7).normal(0.0, 2.0, 20_000))
    assert kstest(draws, law.cdf).pvalue > 0.01
    wrong = OneDimensionalLogistic(*DATA, sigma=2.2, lam=0.4)
    assert kstest(draws, wrong.cdf).pvalue < 1e-6


@pytest.mark.parametrize("lam", [1e-3, 0.3, 50.0])
def test_minimiser_has_zero_slope_and_lies_below_its_neighbours(lam):
    law = OneDimensionalLogistic(*DATA, sigma=1.0, lam=lam)
    tilts = np.array([-30.0, -1.0, 0.0, 0.01, 2.5, 400.0])
    theta = law.minimiser(tilts)
    np.testing.assert_allclose(law.slope(theta), -tilts, rtol=1e-12, atol=1e-12)
    for t, b in zip(theta, tilts, strict=True):
        step = 1e-3 * max(1.0, abs(t))
        assert law.objective(t, b) < min(law.objective(t - step, b), law.objective(t + step, b))
    assert isinstance(law.minimiser(1.0), float)


def test_slope_and_curvature_are_derivatives():
    law = OneDimensionalLogistic(*DATA, sigma=1.0, lam=0.7)
    theta, h = np.linspace(-6, 6, 41), 1e-5
    numeric = (law.objective(theta + h) - law.objective(theta - h)) / (2 * h)
    np.testing.assert_allclose(law.slope(theta), numeric, atol=1e-8)
    np.testing.assert_allclose(law.curvature(theta), (law.slope(theta + h) - law.slope(theta - h)) / (2 * h), atol=1e-8)


def test_interval_holds_all_but_the_stated_probability():
    law = OneDimensionalLogistic(*DATA, sigma=3.0, lam=0.2)
    low, high = law.interval(0.02)
    assert law.cdf(high) - law.cdf(low) == pytest.approx(0.98, abs=1e-12)


def test_no_rows_is_the_gaussian_itself():
    law = OneDimensionalLogistic([], [], sigma=3.0, lam=2.0)
    theta = np.linspace(-4, 4, 9)
    expected = np.exp(-((theta / 1.5) ** 2) / 2) / (1.5 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(law.density(theta), expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_hockey_stick_matches_quadrature_and_stays_below_the_bound(label, epsilon, margin):
    without = OneDimensionalLogistic(*DATA, sigma=1.5, lam=0.5, margin=margin)
    with_person = without.add(1.0, label)
    bound = acc.ObjectivePerturbation(sigma=1.5, lam=0.5, lipschitz=1.0).delta(epsilon)
    grid = np.linspace(*without.interval(1e-14), 200_001)
    for first, second in ((without, with_person), (with_person, without)):
        exact = first.hockey_stick(second, epsilon)
        gain = np.maximum(first.density(grid) - np.exp(epsilon) * second.density(grid), 0.0)
        assert exact == pytest.approx(np.trapezoid(gain, grid), rel=1e-3, abs=1e-9)
        assert exact <= bound


@pytest.mark.slow
def test_hockey_stick_nearly_reaches_the_tight_bound_on_its_worst_case():
    without = OneDimensionalLogistic([1.0] * 4000, [-1] * 4000, sigma=1.5, lam=0.5)
    with_person = without.add(1.0, 1)
    bound = acc.ObjectivePerturbation(sigma=1.5, lam=0.5).delta(2.0)
    exact = max(with_person.hockey_stick(without, 2.0), without.hockey_stick(with_person, 2.0))
    assert 0.95 * bound < exact <= bound


@pytest.mark.thorough
def test_an_ordinary_row_pays_for_a_margin_under_one_certificate():
    """T2: .502 without a margin, .756 with one, .926 certified for both."""
    certified = acc.ObjectivePerturbation(4.0, 1.0).epsilon(1e-5)
    found = []
    for margin in (0.0, 1.5, 5.0):
        without = OneDimensionalLogistic([1.0] * 80, [1] * 48 + [-1] * 32, sigma=4.0, lam=1.0, margin=margin)
        pair = without, without.add(1.0, 1)
        found.append(pair[0].pair_epsilon(pair[1], 1e-5))
        assert pair[1].pair_epsilon(pair[0], 1e-5) == pytest.approx(found[-1], rel=1e-9)
        for epsilon, sign in ((found[-1] * (1 - 1e-9), 1), (found[-1] * (1 + 1e-9), -1)):
            worse = max(pair[0].hockey_stick(pair[1], epsilon), pair[1].hockey_stick(pair[0], epsilon))
            assert sign * (worse - 1e-5) > -1e-14
    np.testing.assert_allclose(found[:2], [0.5017, 0.7560], atol=1e-4)
    assert found[0] < found[1] < found[2] < certified < 0.927


def test_pair_epsilon_of_equal_and_of_distant_laws():
    law = OneDimensionalLogistic(*DATA, sigma=2.0, lam=1.0)
    assert law.pair_epsilon(law, 1e-5) == 0.0
    other = law.add(1.0, 1)
    epsilon = law.pair_epsilon(other, 1e-5, cells=200)
    assert max(law.hockey_stick(other, epsilon), other.hockey_stick(law, epsilon)) >= 1e-5 * (1 - 1e-9)
    assert 0 < epsilon <= law.pair_epsilon(other, 1e-5)
    assert law.pair_epsilon(OneDimensionalLogistic([], [], sigma=1e-3, lam=1.0), 1e-5, cells=200) == np.inf
    gaussian = OneDimensionalLogistic([], [], sigma=1.0, lam=1.0)
    with pytest.raises(ValueError, match="delta"):
        gaussian.pair_epsilon(law, 0.0)
