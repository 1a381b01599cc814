"""The one-dimensional law: against integrals, simulation, the definition of its minimiser, and the bounds."""

import numpy as np
import pytest
from scipy.stats import kstest

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic

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
