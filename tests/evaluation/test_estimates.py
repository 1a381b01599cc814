"""Values and intervals from counts: without noise those of the textbooks, with it they cover what they promise."""

import math

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from benchmarks.evaluation import coverage
from objpert_core.evaluation import Estimate, evaluate
from objpert_core.evaluation.classes import BINS
from objpert_core.evaluation.estimates import area, average, mean_of, part, proportion, variance_of_rounded
from objpert_core.learning import NoiseSource
from tests.learning.test_audit import lower_bound


@pytest.mark.parametrize(("yes", "no"), [(90, 10), (3, 997), (0, 50), (50, 0)])
def test_a_proportion_without_noise_has_wilsons_interval(yes, no):
    found = proportion(part(np.array([yes])), part(np.array([no])), 0.0, 0.95)
    wilson = binomtest(yes, yes + no).proportion_ci(0.95, method="wilson")
    assert found.value == yes / (yes + no)
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_a_proportion_of_nothing_says_nothing():
    for rows in (0.0, -3.0, 2.0):
        found = proportion(part(np.array([rows])), part(np.zeros(4)), 100.0, 0.95)
        assert (found.low, found.high) == (0.0, 1.0)


def test_an_area_without_noise_is_that_of_the_rows():
    """In a bin of its own each, scores have the area that scikit-learn finds, and DeLong's standard error."""
    rng = np.random.default_rng(0)
    negatives, positives = (np.bincount(rng.binomial(31, p, 4000), minlength=32) for p in (0.4, 0.6))
    y = np.repeat([0, 1], 4000)
    scores = np.concatenate([np.repeat(np.arange(32), counts) for counts in (negatives, positives)])
    found = area(negatives.astype(float), positives.astype(float), 0.0, 0.95)
    above, below = np.cumsum(negatives) - negatives / 2, np.cumsum(positives[::-1])[::-1] - positives / 2
    exact = roc_auc_score(y, scores)
    assert found.value == pytest.approx(exact, abs=0.006)  # scores that are equal are taken for close ones
    spread = positives @ (above / 4000 - exact) ** 2 + negatives @ (below / 4000 - exact) ** 2
    assert found.high - found.low == pytest.approx(2 * 1.96 * math.sqrt(spread) / 4000, rel=0.1)


def test_an_area_lost_in_noise_says_so():
    rng = np.random.default_rng(1)
    for _ in range(50):
        found = area(rng.normal(0, 50, 32), rng.normal(0, 50, 32), 2500.0, 0.95)
        assert 0 <= found.low <= found.high <= 1
        assert not math.isnan(found.value)


def test_a_mean_of_shares_is_between_the_ends_of_its_parts():
    sure, vague = Estimate(0.8, 0.75, 0.85), Estimate(0.5, 0.0, 1.0)
    both = mean_of([sure, sure])
    assert both.value == pytest.approx(0.8)
    assert both.high - both.low == pytest.approx(0.1 / math.sqrt(2))
    assert (mean_of([sure, vague]).low, mean_of([sure, vague]).high) == pytest.approx((0.375, 0.925))


def test_an_average_without_noise_is_the_mean_and_a_normal_interval():
    values, counts = np.array([0.0, 1.0, 4.0]), np.array([500.0, 300.0, 200.0])
    found = average(values, counts, 0.0, 0.95)
    rows = np.repeat(values, counts.astype(int))
    assert found.value == pytest.approx(rows.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * rows.std() / math.sqrt(len(rows)), rel=0.01)


@pytest.mark.thorough
def test_rounding_adds_its_variance():
    for sigma in (0.1, 0.4, 1.0, 3.9, 4.0, 20.0):
        drawn = np.rint(np.random.default_rng(0).normal(0, sigma, 400_000))
        assert variance_of_rounded(sigma) == pytest.approx(drawn.var(), rel=0.02, abs=1e-4)


def test_an_estimate_shows_as_many_digits_as_it_has():
    assert str(Estimate(0.84215, 0.83044, 0.85391)) == "0.842 (0.830 to 0.854)"
    assert str(Estimate(0.842151, 0.841044, 0.843391)) == "0.8422 (0.8410 to 0.8434)"


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("share", "auc", "rows", "epsilon"),
    [(0.5, 0.75, 2000, 1.0), (0.02, 0.9, 20_000, 0.5), (0.02, 0.6, 100_000, 4.0), (0.5, 0.98, 200, 4.0)],
)
def test_intervals_cover_what_they_promise(share, auc, rows, epsilon):
    """0.95 in 1,000 repetitions, within four of their standard deviations, and where bins are widest."""
    found = coverage(share, auc, rows, epsilon, repetitions=1000)
    for name, one in found.items():
        assert 0.92 <= one.covered <= 0.985, (name, one)


# A Monte-Carlo audit of `evaluate` through the real code: what two evaluations that differ by one row tell


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
