"""Batches of a fixed size: against enumeration of small data sets, exact pairs, and Rényi curves in 25 digits."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import objpert_core.accounting as acc
from objpert_core.accounting import Gaussian, RandomAllocation, compose

EPSILONS = np.array([0.0, 1e-6, 0.01, 0.2, 1.0, 3.0])
KINDS = [acc.SampledWithoutReplacement, acc.SampledWithReplacement]
both = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
U = np.linspace(-16.0, 16.0, 8001)


def law_of_the_sum(gradients, batch_size, noise, replacement):
    """Density on `U` of the noisy sum, over every batch there is."""
    rows = range(len(gradients))
    drawn = itertools.product(rows, repeat=batch_size) if replacement else itertools.combinations(rows, batch_size)
    centres = [sum(gradients[i] for i in batch) for batch in drawn]
    density = np.exp(-0.5 * ((U[:, None] - np.array(centres)) / noise) ** 2)
    return density.mean(axis=1) / (noise * math.sqrt(2 * math.pi))


def hockey_sticks(first, second):
    gain = np.maximum(first - np.exp(EPSILONS)[:, None] * second, 0.0)
    return gain.sum(axis=1) * (U[1] - U[0])


@both
@pytest.mark.parametrize(
    ("rows", "batch_size", "noise"), [(3, 2, 1.0), (3, 1, 0.7), pytest.param(4, 3, 2.0, marks=pytest.mark.slow)]
)
def test_no_batch_of_any_small_data_set_tells_more(kind, rows, batch_size, noise):
    """One row turns round, or moves to the middle; all others are any of three values. Some nearly attain it."""
    allowed = kind(noise, batch_size, rows, 1).delta(EPSILONS)
    most = np.zeros(EPSILONS.size)
    for others in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), rows - 1):
        for before, after in ((1.0, -1.0), (-1.0, 1.0), (1.0, 0.0), (0.0, 1.0)):
            laws = [law_of_the_sum((end, *others), batch_size, noise, kind.replacement) for end in (before, after)]
            most = np.maximum(most, hockey_sticks(*laws))
    assert (most <= allowed * (1 + 1e-5)).all()  # what the grid of the sum is off by
    assert (most[:4] >= (0.7 if kind.replacement else 0.9999) * allowed[:4]).all()


def test_copies_that_all_point_one_way_are_not_the_worst():
    step = acc.SampledWithReplacement(1.0, 2, 3, 1)
    shifted, still = (law_of_the_sum((end, -1.0, -1.0), 2, 1.0, True) for end in (1.0, -1.0))
    assert hockey_sticks(shifted, still)[0] == pytest.approx(0.3982, abs=1e-4)
    turned = [law_of_the_sum((end, 0.0, 0.0), 2, 1.0, True) for end in (1.0, -1.0)]
    assert hockey_sticks(*turned)[0] == pytest.approx(0.4095, abs=1e-4)
    assert step.delta(0.0) == pytest.approx(0.4095, abs=1e-4)


@pytest.mark.covered
@pytest.mark.slow
def test_composed_steps_lie_above_the_pair_that_is_attained():
    """Rows that all point the other way leave the pair of rows that are added, at half the noise."""
    fixed = acc.SampledWithoutReplacement(4.0, 142, 10_000, 1250)
    attained = acc.DPSGD(2.0, 0.0142, 1250)
    low, high = fixed.epsilon_bounds(1e-6)
    assert attained.epsilon_bounds(1e-6)[0] < low < high < 1.2 * attained.epsilon(1e-6)
    assert high == pytest.approx(fixed.epsilon(1e-6), rel=1e-6)
    assert fixed.epsilon(1e-6) <= acc.via_rdp(fixed).epsilon(1e-6) < 1.15 * fixed.epsilon(1e-6)


@pytest.mark.slow
def test_noise_over_the_published_noise():
    """The published σ at n = 10⁴, d = 50, ε = 1, δ = 1e-6 is 0.03717 a row of the mean: T = 1250, m = 142."""
    published = 0.03717 * 142
    for kind, ratio in ((acc.SampledWithoutReplacement, 0.956), (acc.SampledWithReplacement, 0.971)):
        assert kind(1.001 * ratio * published, 142, 10_000, 1250).epsilon_bounds(1e-6)[1] < 1.0
        assert kind(0.999 * ratio * published, 142, 10_000, 1250).epsilon_bounds(1e-6)[0] > 1.0


@pytest.mark.parametrize(
    "noise",
    [0.085, *(pytest.param(noise, marks=pytest.mark.exhaustive) for noise in (0.05, 0.06, 0.07, 0.08, 0.09, 0.12))],
)
def test_steps_with_hardly_any_noise_tell_who_was_drawn(noise):
    """The event that the sum of one of 20 steps is beyond halfway, which hardly any noise leads to."""
    u, steps = 1 / noise, 20
    least = 1 - (1 - ndtr(u) / 1000) ** steps - math.e * steps * ndtr(-u)
    mechanism = acc.SampledWithoutReplacement(noise, 1, 1000, steps)
    assert least <= mechanism.delta(1.0) < 1.5 * least
    assert mechanism.epsilon(least * (1 - 1e-9)) >= 1.0


@pytest.mark.thorough
def test_where_one_draw_tells_all_the_divergence_is_no_constant():
    mechanism = acc.SampledWithReplacement(1.0, 100, 2, 2)
    assert mechanism.delta(100.0) >= mechanism.attained_delta(100.0)
    assert acc.SampledWithoutReplacement(0.049, 500, 1000, 1).rdp(1.0) == pytest.approx(416.15, abs=0.01)


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
