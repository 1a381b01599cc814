"""A Monte-Carlo audit of `evaluate` through the real code: what two evaluations that differ by one row tell."""

import numpy as np
import pytest
from scipy.special import logit

from objpert_core.evaluation import evaluate
from objpert_core.evaluation.classes import BINS
from objpert_core.learning import NoiseSource
from tests.learning.test_audit import lower_bound

EPSILON, DELTA = 0.5, 0.05
DRAWS = 200_000
MIDDLES = logit((np.arange(BINS) + 0.5) / BINS) * 2  # a score in the middle of each bin


class Public:
    """A model of two classes that scores a row by its first column."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


def drawn(rows):
    """`DRAWS` counts of a cell with so many rows: every cell of an evaluation is one, and a row is in one cell."""
    X = np.tile(np.repeat(MIDDLES, rows), 2)[:, None]
    y = np.repeat([0, 1], BINS * rows)
    state = np.random.RandomState(rows)
    made = [evaluate(Public(), X, y, EPSILON, DELTA, random_state=state).counts for _ in range(DRAWS // (2 * BINS))]
    return np.ravel(made).astype(float)


@pytest.mark.slow
@pytest.mark.no_cover
def test_an_evaluation_tells_what_its_certificate_says_and_no_more():
    found = lower_bound(drawn(9), drawn(8), DELTA)
    assert 0.9 * EPSILON < found <= EPSILON


@pytest.mark.slow
@pytest.mark.no_cover
def test_half_the_noise_is_convicted(monkeypatch):
    whole = NoiseSource.rounded_normal
    monkeypatch.setattr(NoiseSource, "rounded_normal", lambda self, ratio, size: whole(self, ratio / 2, size))
    assert lower_bound(drawn(9), drawn(8), DELTA) > 1.2 * EPSILON
