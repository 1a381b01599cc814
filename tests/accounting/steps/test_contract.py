"""What every step keeps to: public numbers, and sensitivities that no row exceeds and some row comes near."""

import dataclasses
import math
import pickle
from itertools import product

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting.steps.base import Step, asked
from objpert_core.accounting.steps.class_counts import COUNT_SHARE, ClassCounts, balanced_weights, recommended_counts
from objpert_core.accounting.terms import Terms

DELTA = 1e-5
_OF_ALL = acc.RangeNoise(60.0, 30.0, 3), acc.Standardisation(40.0, 50.0), acc.IntervalNoise(12.0, 9.0)
STEPS = (ClassCounts(15.0), *_OF_ALL)
HALVES = (acc.RangeNoise(60.0, None, 3), acc.Standardisation(None, 50.0), acc.IntervalNoise(12.0))
_TURN = np.linspace(0, 2 * math.pi, 9)[:, None]
ARROWS = np.hstack([np.cos(_TURN), np.sin(_TURN)])
BINS = [np.concatenate(one) for one in product(np.eye(2), repeat=3)]
MATRICES = [np.outer(one, one).ravel() for one in ARROWS]
ROWS = {  # what one row can add to each sum, in units of the most that it adds to one number where that is not 1
    "class_counts": (np.eye(3),),
    "ranges": (BINS, BINS),
    "standardisation": (ARROWS, np.abs(ARROWS)),
    "curvature": (MATRICES, MATRICES),
}


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("adjacency", [acc.ADD_REMOVE, acc.REPLACE_ONE])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_rows_of_one_person_move_each_sum_as_far_as_is_said(step, adjacency, rows):
    for part, contributions in zip(step.mechanisms(adjacency, rows), ROWS[step.name], strict=True):
        others = [np.zeros_like(contributions[0])] if adjacency == acc.ADD_REMOVE else contributions
        moved = rows * max(float(np.linalg.norm(one - other)) for one in contributions for other in others)
        assert part.adjacency == adjacency
        assert moved * (1 - 1e-12) <= part.sensitivity <= moved * (1 + 1e-12)


@pytest.mark.parametrize("step", [*STEPS, *HALVES], ids=repr)
def test_a_step_is_public_numbers(step):
    noises = [value for name, value in dataclasses.asdict(step).items() if name != "columns" and value is not None]
    assert [part.sigma for part in step.mechanisms()] == noises
    assert hash(pickle.loads(pickle.dumps(step))) == hash(step)
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.noise = 1.0


def test_terms_pay_for_the_steps_that_release_something_and_those_after_the_fit_come_last():
    counts, ranges, _, sums = STEPS
    terms = Terms(1.0, DELTA, steps=(counts, sums, acc.Standardisation(None, None), ranges))
    assert terms.steps == (counts, ranges, sums)
    assert (terms.step(acc.RangeNoise), terms.step(acc.Standardisation)) == (ranges, None)
    assert terms.beside(2) == tuple(part for step in terms.steps for part in step.mechanisms(acc.ADD_REMOVE, 2))
    fit = Terms(1.0, DELTA, steps=STEPS).calibrate(lambda left: acc.calibrate_gaussian(left, DELTA))
    parts = [part for step in STEPS for part in step.mechanisms()]
    assert acc.compose(fit, *parts).delta(1.0) <= DELTA * (1 + 1e-9)
    for left_out in STEPS:
        others = tuple(step for step in STEPS if step is not left_out)
        forgetful = Terms(1.0, DELTA, steps=others).calibrate(lambda left: acc.calibrate_gaussian(left, DELTA))
        assert acc.compose(forgetful, *parts).delta(1.0) > DELTA * 1.01


@pytest.mark.parametrize(
    ("wrong", "said"),
    [((STEPS[0], ClassCounts(9.0)), "different kinds"), ((acc.Gaussian(1.0),), "steps must be steps such as")],
)
def test_two_steps_of_one_kind_and_what_is_no_step_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        asked(*wrong)
    with pytest.raises(ValueError, match=said):
        Terms(1.0, DELTA, steps=wrong)


def test_a_step_says_what_it_costs():
    with pytest.raises(TypeError, match="mechanisms"):
        type("Silent", (Step,), {"name": "silent"})()


# The noise that rules choose for steps, and what is made of noisy counts


@pytest.mark.parametrize("adjacency", [acc.ADD_REMOVE, acc.REPLACE_ONE])
@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("rows", [1, 100, 10**6])
def test_the_full_plan_takes_its_shares_and_no_more(adjacency, people, rows):
    options = {"adjacency": adjacency, "rows_per_person": people}
    parts = acc.full_standardisation(0.7, DELTA, rows, 50, **options).mechanisms(adjacency, people)
    allowed = acc.calibrate_gaussian(0.7, DELTA).sigma ** -2
    assert all(part.a**2 <= share * allowed * (1 + 1e-12) for part, share in zip(parts, (0.1, 0.05), strict=True))
    if rows == 1:
        assert sum(part.a**2 for part in parts) == pytest.approx(0.15 * allowed)


@pytest.mark.parametrize("adjacency", [acc.ADD_REMOVE, acc.REPLACE_ONE])
def test_counts_of_classes_take_their_share(adjacency):
    (part,) = recommended_counts(1.0, DELTA, adjacency=adjacency, rows_per_person=3).mechanisms(adjacency, 3)
    assert part.a**2 == pytest.approx(COUNT_SHARE * acc.calibrate_gaussian(1.0, DELTA).sigma ** -2)


def test_balanced_weights_give_every_class_the_same_sum():
    counts = np.array([980.0, 20.0, 400.0])
    weights = balanced_weights(counts, 1.0)
    np.testing.assert_allclose(weights * counts, 20.0)
    assert weights.max() == 1.0
    assert balanced_weights(np.array([-50.0, -60.0]), 3.0).tolist() == [1.0, 1.0]
    assert balanced_weights(np.array([1.0, 10.0]), 0.01).tolist() == [1.0, 0.1]
