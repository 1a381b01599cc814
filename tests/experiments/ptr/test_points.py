"""A few points behind a test: every number against all data sets there are, on a grid."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from objpert_core.experiments.ptr.points import Points, log_above, side_epsilon

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
EVERY = list(itertools.combinations_with_replacement(GRID, 5))
"""All data sets of five values of the grid; 0 and 1, where one person may go, are among them."""


def median(values):
    return sorted(values)[(len(values) + 1) // 2 - 1]


def changed(first, second):
    """How many people have other values."""
    return len(first) - sum((Counter(first) & Counter(second)).values())


def chances(values, scale):
    p = math.exp(log_above(median(values), scale))
    return p, 1 - p


def own_epsilon(values, setting):
    """ε(X) against every neighbour, from the laws themselves."""
    worst = 0.0
    for other in EVERY:
        if changed(values, other) != 1:
            continue
        if setting.published == "number":
            worst = max(worst, abs(median(values) - median(other)) / setting.scale)
            continue
        for p, q in zip(chances(values, setting.scale), chances(other, setting.scale), strict=True):
            for more, less in ((p, q), (q, p)):
                worst = max(worst, math.log((more - setting.delta) / less) if more > setting.delta else 0.0)
    return worst


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("published", "bound", "epsilon", "delta"),
    [("number", 0.25, 1.0, 1e-5), ("number", 0.5, 2.0, 1e-5), ("side", 0.3, 2.0, 0.05), ("side", 0.2, 3.0, 0.01)],
)
def test_local_sensitivity_epsilon_and_distance_are_those_of_all_data_sets(published, bound, epsilon, delta):
    own = {values: own_epsilon(values, Points(values, 1, bound, epsilon, delta, published)) for values in EVERY}
    wrong = [values for values in EVERY if own[values] > epsilon * (1 + 1e-9)]
    assert 0 < len(wrong) < len(EVERY)
    for values in EVERY[::3]:
        points = Points(values, 1, bound, epsilon, delta, published)
        assert points.median == median(values)
        assert points.own_epsilon == pytest.approx(own[values], rel=1e-9, abs=1e-9)
        assert points.distance == min(changed(values, other) for other in wrong)
        moves = (abs(median(values) - median(other)) for other in EVERY if changed(values, other) == 1)
        assert points.local_sensitivity == max(moves)


def test_people_who_share_a_value_count_one_by_one():
    few = (0.1, 0.4, 0.45, 0.8)
    points = Points(few, 3, 0.2, 1.0, 1e-3)
    alone = Points(tuple(np.repeat(few, 3)), 1, 0.2, 1.0, 1e-3)
    assert (points.median, points.distance) == (alone.median, alone.distance)
    assert points.own_epsilon == alone.own_epsilon


@pytest.mark.parametrize("people", [1, 4])
def test_the_side_never_costs_more_than_the_number(people):
    values = (0.12, 0.3, 0.34, 0.37, 0.39, 0.4, 0.42, 0.44, 0.47, 0.5, 0.71, 0.9)
    for bound, delta in itertools.product((0.05, 0.1, 0.3), (1e-6, 1e-2)):
        number, side = (Points(values, people, bound, 1.0, delta, published) for published in ("number", "side"))
        assert side.own_epsilon <= number.own_epsilon == number.local_epsilon
        assert side.distance >= number.distance


def test_the_test_errs_with_probability_delta_at_most_and_is_private():
    """Where the proposal is wrong it passes that rarely; one person less changes the chances by e^ε at most."""
    wrong = Points((0.0, 0.2, 0.9), 1, 0.3, 0.7, 1e-4)
    assert wrong.distance == 0
    assert 1e-4 / math.exp(0.7) < wrong.pass_probability <= 1e-4
    near, far = (Points((0.0, 0.2, 0.2, 0.3, 0.9), people, 0.3, 0.7, 1e-4) for people in (4, 5))
    assert far.distance == near.distance + 1
    ratio = far.pass_probability / near.pass_probability
    assert 1 < ratio <= math.exp(0.7) * (1 + 1e-9)
    places, chance = near.test_law()
    assert chance.sum() == pytest.approx(1, abs=3e-3)
    assert chance[places >= near.threshold].sum() == pytest.approx(near.pass_probability, abs=2e-3)


def test_no_data_contradict_a_side_that_is_noisy_enough():
    points = Points((0.1, 0.2, 0.9), 1, 0.9, 1.0, 1e-5, "side")
    assert math.isinf(points.distance)
    assert points.pass_probability == 1
    assert points.run(0).passed
    assert points.test_law()[0].size == 0


def test_runs_pass_and_publish_as_often_as_they_say():
    points = Points((0.3, 0.4, 0.45, 0.6), 4, 0.3, 1.0, 1e-2, "side")
    runs = [points.run(seed) for seed in range(600)]
    passed = [run for run in runs if run.passed]
    assert len(passed) / 600 == pytest.approx(points.pass_probability, abs=0.06)
    assert np.mean([run.value for run in passed]) == pytest.approx(points.above, abs=0.07)
    assert {run.value for run in runs if not run.passed} <= {0.0, 1.0}
    assert all(points.run(seed, fallback=False).value is None for seed, run in enumerate(runs) if not run.passed)


def test_a_number_that_passes_has_the_narrow_noise():
    points = Points((0.48, 0.49, 0.5, 0.51), 20, 0.02, 1.0, 1e-2)
    values = [run.value for run in map(points.run, range(300)) if run.passed]
    assert np.mean(np.abs(np.array(values) - points.median)) == pytest.approx(points.scale, rel=0.2)


def test_side_epsilon_is_nothing_where_both_answers_are_sure():
    assert side_epsilon(0.1, 0.11, 0.01, 1e-6) == 0.0
    assert side_epsilon(0.4, 0.5, 0.1, 1e-300) == pytest.approx(1.0)  # on one side only the distance counts
    across = side_epsilon(0.45, 0.55, 0.1, 1e-300)
    assert across == pytest.approx(math.log(2 * math.exp(0.5) - 1))
