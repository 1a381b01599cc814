"""The logistic loss of one class against all others, whose rows are shorter ones."""

import numpy as np
import pytest

from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rest import RestWeighted

SCORES = np.linspace(-9.0, 9.0, 37)
CASES = [RestWeighted(margin, weight) for margin in (0.0, 2.5) for weight in (1.0, 1 / 3, 0.001)]
SIDES = (np.ones(37), -np.ones(37))


@pytest.mark.parametrize("loss", CASES, ids=str)
def test_a_row_of_another_class_is_one_that_is_shorter(loss):
    plain, (_, rest) = LogisticLoss(loss.margin), SIDES
    np.testing.assert_array_equal(loss.value(SCORES, rest), plain.value(loss.weight * SCORES, rest))
    slopes, curvature = loss.derivatives(SCORES, rest)
    assert (np.abs(slopes) <= loss.weight).all()
    assert (curvature <= loss.weight**2 / 4).all()
    np.testing.assert_array_equal(slopes, loss.slopes(SCORES, rest))
    np.testing.assert_array_equal(loss.value(SCORES, SIDES[0]), plain.value(SCORES, SIDES[0]))


@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_with_full_weight_it_is_the_logistic_loss_bit_by_bit(margin):
    loss, plain = RestWeighted(margin), LogisticLoss(margin)
    np.testing.assert_array_equal(loss.log_odds(SCORES), plain.log_odds(SCORES))
    for targets in SIDES:
        np.testing.assert_array_equal(loss.derivatives(SCORES, targets), plain.derivatives(SCORES, targets))


@pytest.mark.parametrize("loss", CASES, ids=str)
def test_log_odds_rise_with_the_score_and_stay_finite(loss):
    odds = loss.log_odds(np.array([-1e300, *SCORES, 1e300]))
    assert np.isfinite(odds).all()
    assert (np.diff(odds) > 0).all()


def test_single_precision_stays_single():
    scores, targets = SCORES.astype(np.float32), SIDES[1].astype(np.float32)
    assert RestWeighted(1.5, 0.3).slopes(scores, targets).dtype == np.float32


@pytest.mark.parametrize("weight", [0.0, 1.01, -0.5, np.nan])
def test_a_weight_out_of_range_is_refused(weight):
    with pytest.raises(ValueError, match="weight must be"):
        RestWeighted(weight=weight)
