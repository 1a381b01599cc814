"""The noisy Gram matrix: what is released, what it costs, and what it does not tell."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from objpert_core.accounting import QuadraticPerturbation
from objpert_core.learning.noise import noise_source
from objpert_core.learning.quadratic.certificate import gram_spacing
from objpert_core.learning.quadratic.grid import residual_unit, row_unit
from objpert_core.learning.quadratic.release import noisy_gram
from objpert_core.learning.quadratic.wishart import ExactWishart
from tests.learning.certificates.quadratic import BEND, BOTH, SPENT, X, Y, bent, tilted


def clipped(X):
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)


def test_a_certificate_says_which_neighbours_it_is_about_and_whether_labels_were_used():
    of_bend, of_both = bent().certificate, tilted().certificate
    assert (of_bend.epsilon, of_bend.delta, of_bend.adjacency) == (5.0, 1e-3, "replace one row")
    assert "labels were not used" in repr(of_bend)
    assert of_both.adjacency == "add/remove one row"
    assert "residuals clipped to 1" in repr(of_both)


def test_on_one_seed_data_move_the_matrix_by_their_gram_matrix():
    spacing = gram_spacing(BEND.scale)
    none, some = (bent(rows, Y[: len(rows)]).gram for rows in (np.zeros((1, 3)), X))
    assert not np.fmod(some, spacing).any()
    enforced = clipped(X)
    np.testing.assert_allclose(some - none, enforced.T @ enforced, atol=spacing + 1e-3)
    np.testing.assert_array_equal(some, some.T)


def test_on_one_seed_data_move_the_tilt_by_their_clipped_residuals():
    anchor = np.array([2.0, 0.0, -3.0])
    none = tilted(np.zeros((1, 3)), np.zeros(1), anchor=anchor).tilt
    some = tilted(anchor=anchor)
    residuals = np.clip(clipped(X) @ anchor - Y, -1, 1)
    assert (np.abs(residuals) == 1).any()
    np.testing.assert_allclose(some.tilt - none, residuals @ clipped(X), atol=2e-3)
    assert not np.fmod(some.tilt, row_unit(0.0) * residual_unit(1.0, 9.0, 0.0)).any()
    assert some.anchor.tolist() == anchor.tolist()


@pytest.mark.thorough
def test_the_matrix_has_the_wishart_law_and_the_tilt_the_normal_one():
    source = np.random.RandomState(0)
    drawn = [tilted(np.zeros((1, 3)), np.zeros(1), random_state=source) for _ in range(300)]
    grams, tilts = np.array([one.gram for one in drawn]) / 1.5, np.array([one.tilt for one in drawn]) / 9.0
    assert stats.kstest(grams[:, 2, 2], stats.chi2(12).cdf).pvalue > 1e-4
    assert stats.kstest(tilts.ravel(), stats.norm.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(grams[:, 0, 0], tilts[:, 0])[0, 1]) < 0.25


def test_a_matrix_that_rounding_made_indefinite_is_mended():
    three = np.full(3, np.inf)
    released = bent()
    spacing = gram_spacing(BEND.scale)
    broken = dataclasses.replace(released, gram=released.gram - 40 * np.eye(3) * np.linalg.eigvalsh(released.gram)[0])
    assert np.linalg.eigvalsh(broken.gram)[0] < 0
    assert np.linalg.eigvalsh(broken.problem(0 / three, -three, three).curvature)[0] == pytest.approx(spacing, rel=1e-6)
    assert released.problem(0 / three, -three, three).curvature is released.gram


UNPROVED = [
    (BEND, {"residual_bound": 1.0}, "residual_bound must be 0 for a mechanism without a tilt, got 1.0"),
    (BOTH, {"residual_bound": 0.0}, "residual_bound must be a number > 0 for a mechanism with a tilt, got 0.0"),
    (BOTH, {"residual_bound": 1.01}, "sensitivity must be at least 1.01, got 1.0"),
    (BOTH, {"residual_bound": -1.0}, "residual_bound must be a finite number >= 0"),
    (BOTH, {"residual_bound": 1e-60}, "residual_bound must be a number from 1e-50 to 1e\\+50"),
    (BEND, {"intercept_scaling": 0.3}, "smoothness must be at least 1.09"),
    (BEND, {"epsilon": 1e-3}, "epsilon must be at least"),
    (BEND, {"epsilon": 0.0}, "epsilon must be a finite number > 0"),
    (BEND, {"anchor": np.zeros(2)}, r"anchor must hold 3 numbers, one a feature, got shape \(2,\)"),
    (BEND, {"anchor": np.full(3, np.nan)}, "anchor must hold numbers of size at most 1e\\+50"),
    (BEND, {"row_norm": "l2"}, "row_norm must be one of"),
    (BEND, {"on_error": "ignore"}, "on_error must be one of"),
    (dataclasses.replace(BEND, dimension=4), {}, "mechanism's dimension must be 3 for these rows, got 4"),
    (dataclasses.replace(BEND, bound="sharpened"), {}, "bound must be 'exact'"),
]


@pytest.mark.parametrize(("mechanism", "changes", "message"), UNPROVED, ids=str)
def test_what_the_proof_is_not_about_is_refused(mechanism, changes, message):
    told = ({"residual_bound": 1.0} if mechanism is BOTH else {}) | SPENT | changes
    with pytest.raises(ValueError, match=message):
        noisy_gram(X, Y, mechanism, **told)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="X must have at least one row, got 0"):
        noisy_gram(X[:0], Y[:0], BEND, **SPENT)


def test_tiny_entries_do_not_tell_where_numpy_raises_for_what_underflows():
    tilted(X[:1], Y[:1])  # accounting is done by now
    tiny = np.array([[1e-170, 5e-324, 1.0]])
    with np.errstate(all="raise"):
        release = tilted(tiny, np.array([5e-324]), anchor=np.array([1e50, 1e-290, 0.0]), on_error="release")
    np.testing.assert_array_equal(release.gram, tilted(np.array([[0.0, 0.0, 1.0]]), np.zeros(1)).gram)


# Under attack


@pytest.mark.thorough
@pytest.mark.parametrize("dimension", [1, 2])
def test_low_bits_tell_nothing(dimension):
    """In doubles a sum with a row shows other low bits than one without; on the lattice all are equally likely."""
    row = np.full((1, dimension), 0.7 / math.sqrt(dimension))
    for data in (row, np.zeros((1, dimension))):
        whole = np.array([[int(one) for one in np.ravel(release(data, dimension))] for _ in range(250)])
        for bits in (2, 8):
            counts = np.bincount(whole[:, 0] % bits, minlength=bits)
            assert stats.chisquare(counts).pvalue > 1e-4


SOURCE = noise_source(11)


def release(data, dimension):
    """The released matrix in units of its lattice."""
    whole = np.trunc(data * 2.0**20)
    drawn = ExactWishart(SOURCE, dimension, dimension + 3)
    return drawn.rounded((whole.T @ whole).astype(np.int64), -40, 3.0, gram_spacing(3.0)) / gram_spacing(3.0)


def test_added_rows_are_another_promise():
    added = QuadraticPerturbation(1.0, 8, 3, adjacency="add/remove one row")  # where swapped rows tell more
    spent = noisy_gram(X, Y, added, epsilon=0.3, delta=0.0828).certificate
    assert (spent.adjacency, spent.verify()) == ("add/remove one row", True)
    assert not dataclasses.replace(spent, adjacency="replace one row").verify()
