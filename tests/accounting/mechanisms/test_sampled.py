"""Batches of a fixed size: against enumeration of small data sets, exact pairs, and Rényi curves in 25 digits."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

import objpert_core.accounting as acc

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
    "full",
    [acc.SampledWithoutReplacement(3.0, 5, 5, 4), acc.SampledWithReplacement(15.0, 5, 1, 4)],
    ids=lambda full: type(full).__name__,
)
def test_a_row_that_is_drawn_for_certain_is_the_gaussian_mechanism(full):
    assert full.adjacency == acc.REPLACE_ONE
    assert full.gaussian_ratio == pytest.approx(4 / 3, rel=1e-15)
    assert full.epsilon(1e-5) == pytest.approx(acc.Gaussian(0.75).epsilon(1e-5), rel=1e-9)
    np.testing.assert_allclose(full.rdp([1.0, 7.0]), acc.Gaussian(0.75).rdp([1.0, 7.0]), rtol=1e-12)


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


@pytest.mark.covered
@pytest.mark.slow
@pytest.mark.parametrize("kind", [KINDS[0], pytest.param(KINDS[1], marks=pytest.mark.exhaustive)])
def test_more_noise_fewer_rows_and_fewer_steps_hide_more(kind):
    base = kind(4.0, 30, 1000, 20).epsilon(1e-6)
    assert kind(4.4, 30, 1000, 20).epsilon(1e-6) < base
    assert kind(4.0, 27, 1000, 20).epsilon(1e-6) < base
    assert kind(4.0, 30, 1000, 18).epsilon(1e-6) < base
    together = acc.compose(kind(4.0, 30, 1000, 10), kind(4.0, 30, 1000, 10))
    assert together.epsilon(1e-6) == pytest.approx(base, rel=1e-6)


def test_a_batch_of_different_rows_has_no_more_than_there_are():
    with pytest.raises(ValueError, match=r"^batch_size must be at most rows = 10 .*got 11$"):
        acc.SampledWithoutReplacement(1.0, 11, 10, 1)
