"""Random allocation: against integrals for few steps, an independent library, and what holds for any number."""

import numpy as np
import pytest

from objpert_core.accounting import DPSGD, Gaussian, RandomAllocation, compose, via_rdp


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "steps", "epochs"), [(1.0, 100, 5), (3.0, 1000, 1), (0.6, 50, 2)])
def test_the_bounds_are_close_and_inside_the_likelihoods_moments(noise, steps, epochs):
    mechanism = RandomAllocation(noise, steps, epochs=epochs)
    low, high = mechanism.epsilon_bounds(1e-5)
    assert 0.998 * high < low < high <= mechanism.epsilon(1e-5)
    assert mechanism.delta(mechanism.epsilon(1e-5)) <= 1e-5
    # the second moment of S/t is 1 + (e^{a²} − 1)/t, and D_2 bounds δ from above only: no ε by it may be smaller
    second = epochs * np.log1p(np.expm1(1 / noise**2) / steps)
    assert low <= second - np.log(1e-5)
    assert high < Gaussian(noise / np.sqrt(epochs)).epsilon(1e-5)


@pytest.mark.slow
def test_it_hides_more_than_poisson_sampling_at_the_same_rate():
    for noise, steps, epochs in ((1.0, 100, 5), (2.0, 1000, 1)):
        poisson = DPSGD(noise, 1 / steps, steps * epochs)
        assert RandomAllocation(noise, steps, epochs=epochs).epsilon(1e-5) < poisson.epsilon_bounds(1e-5)[0]


@pytest.mark.exhaustive
def test_an_independent_library_has_bounds_on_both_sides_of_ours():
    peer = pytest.importorskip("PLD_accounting", reason="pld-accounting is not installed")
    high, low = peer.gaussian_allocation_epsilon_range(
        delta=1e-6, sigma=1.0, num_steps=100, num_selected=1, num_epochs=5
    )
    below, above = RandomAllocation(1.0, 100, epochs=5).epsilon_bounds(1e-6)
    assert low < below < above < high


def test_every_step_is_the_gaussian_mechanism():
    full = RandomAllocation(3.0, 4, selections=4, epochs=9)
    assert full.gaussian_ratio == pytest.approx(2.0, rel=1e-15)
    assert full.epsilon(1e-5) == pytest.approx(Gaussian(0.5).epsilon(1e-5), rel=1e-9)
    assert full.mu() == pytest.approx(2.0, rel=1e-12)
    assert full.delta_bounds(1.0)[0] > 0.99 * full.delta(1.0)


@pytest.mark.slow
def test_selections_are_releases_of_one_from_parts_of_the_steps():
    """Seven steps, three selections: two of two steps and one of three."""
    together = RandomAllocation(2.0, 7, selections=3).epsilon(1e-4)
    parts = compose(RandomAllocation(2.0, 2, epochs=2), RandomAllocation(2.0, 3)).epsilon(1e-4)
    assert together == pytest.approx(parts, rel=1e-9)
    assert RandomAllocation(2.0, 7, selections=3).epsilon_bounds(1e-4)[0] == 0.0  # a bound from above only
    assert together < RandomAllocation(2.0, 7, selections=7).epsilon(1e-4)


@pytest.mark.thorough
def test_there_is_a_bound_from_below_for_one_selection_and_none_for_several():
    assert RandomAllocation(2.0, 5).delta_bounds(0.5)[0] > 0
    assert RandomAllocation(2.0, 5, selections=2).delta_bounds(0.5)[0] == 0


def test_where_no_grid_is_fine_enough_it_is_the_gaussian_mechanism():
    for mechanism in (RandomAllocation(0.01, 100), RandomAllocation(1e-3, 10, epochs=2)):
        gaussian = Gaussian(mechanism.noise_multiplier / np.sqrt(mechanism.epochs))
        assert mechanism.epsilon(1e-5) == pytest.approx(gaussian.epsilon(1e-5), rel=1e-6)
        assert mechanism.delta_bounds(1.0)[0] == 0.0


@pytest.mark.slow
def test_delta_stays_where_it_was_once_no_grid_resolves_it():
    """Alone, the Rényi curve of the Gaussian mechanism would have .018 at ε = 1."""
    mechanism = RandomAllocation(2.0, 1000)
    low, high = mechanism.delta_bounds(1.0)
    assert 0 <= low < high == mechanism.delta(1.0) < 1.001e-9
    assert mechanism.delta(30.0) < 1e-100
    one_by_one = [mechanism.delta(epsilon) for epsilon in np.geomspace(0.01, 30, 8)]
    assert (np.diff(one_by_one) <= 1.001e-9).all()  # a grid may tell a little more than that
    assert mechanism.delta(mechanism.epsilon(1e-11)) <= 1e-11


@pytest.mark.slow
def test_the_renyi_curve_is_a_bound():
    mechanism = RandomAllocation(1.0, 50)
    np.testing.assert_allclose(mechanism.rdp([1.0, 2.0, 9.0]), Gaussian(1.0).rdp([1.0, 2.0, 9.0]), rtol=1e-12)
    assert np.log1p(np.expm1(1.0) / 50) <= mechanism.rdp(2.0)  # D_2 of the pair
    assert via_rdp(mechanism).epsilon(1e-5) > mechanism.epsilon(1e-5)


def test_no_more_steps_are_selected_than_there_are():
    with pytest.raises(ValueError, match=r"^selections must be at most steps = 10, got 11$"):
        RandomAllocation(1.0, 10, 11)
