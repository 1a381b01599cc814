"""The noise that rules choose for steps, and what is made of noisy counts."""

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting.steps.class_counts import COUNT_SHARE, balanced_weights, recommended_counts

DELTA = 1e-5


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
