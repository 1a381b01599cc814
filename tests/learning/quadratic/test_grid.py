"""Rows on a grid: what a row gives depends on that row alone, and sums are exact."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import Rows
from objpert_core.learning.quadratic import grid
from objpert_core.learning.quadratic.grid import residual_unit, row_unit, whole_sums

rng = np.random.default_rng(7)
X = rng.normal(size=(60, 5)) * 10.0 ** rng.uniform(-9, 9, size=(60, 1))
X[3] = 0.0
X[X > 1e8] = 0.0
X[4] = [1e140, -1e140, 1.0, 0.0, 0.0]
X[5] = 1e-155
Y = rng.normal(size=60) * 10.0 ** rng.uniform(-3, 300, size=60)
ANCHOR = np.array([0.5, -1e3, 0.0, 1.0, 2e-7])
BOUND = 0.7


def sums(X, y, row_norm="clip", constant=0.0):
    step = residual_unit(BOUND, 3.0, constant)
    anchor = np.append(ANCHOR, 0.0) if constant else ANCHOR
    return whole_sums(Rows(X, row_norm, constant), y, anchor=anchor, bound=BOUND, step=step)


CONSTANTS = (0.0, 0.3, 100.0)


@pytest.mark.parametrize("row_norm", ["clip", "normalize"])
@pytest.mark.parametrize("constant", CONSTANTS)
def test_sums_are_those_of_rows_each_of_which_gives_no_more_than_its_norm_and_its_residual_allow(row_norm, constant):
    unit, step = Fraction(row_unit(constant)), Fraction(residual_unit(BOUND, 3.0, constant))
    most, longest, whole = 1 + Fraction(constant) ** 2, 0, sums(X, Y, row_norm, constant)
    total = sums(X[:0], Y[:0], row_norm, constant)
    gram, tilt = total.gram, total.tilt
    assert not gram.any()
    assert not tilt.any()
    for i in range(len(X)):
        one = sums(X[i : i + 1], Y[i : i + 1], row_norm, constant)
        gram, tilt = gram + one.gram, tilt + one.tilt
        squared = sum(int(entry) for entry in np.diagonal(one.gram)) * unit**2
        assert squared <= most
        longest = max(longest, squared / most)
        assert sum(int(entry) ** 2 for entry in one.tilt) * (unit * step) ** 2 <= most * Fraction(BOUND) ** 2
    np.testing.assert_array_equal(whole.gram, gram)
    np.testing.assert_array_equal(whole.tilt, tilt)
    assert longest > 1 - Fraction(1, 10**5)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_rows_on_the_grid_are_the_rows_but_for_its_width(constant):
    rows = Rows(X, "clip", constant)
    enforced = np.array([[rows.margins(axis)[i] for axis in np.eye(rows.dimension)] for i in range(len(X))])
    whole, unit = sums(X, Y, constant=constant), row_unit(constant)
    assert whole.constant == pytest.approx(constant, abs=unit)
    residuals = np.clip(enforced[:, :5] @ ANCHOR - Y, -BOUND, BOUND)
    near = 4 * len(X) * np.sqrt(1 + constant**2) * unit
    np.testing.assert_allclose(whole.gram * unit**2, enforced.T @ enforced, atol=near, rtol=1e-12)
    tilt = whole.tilt * (unit * residual_unit(BOUND, 3.0, constant))
    np.testing.assert_allclose(tilt, residuals @ enforced, atol=near + 1e3 * len(X) * unit)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_neither_order_nor_container_of_the_rows_matters(constant):
    whole = sums(X, Y, constant=constant)
    shuffled = np.random.default_rng(0).permutation(len(X))
    for other, y in (
        (X[shuffled], Y[shuffled]),
        (np.asfortranarray(X), Y),
        (X[::-1], Y[::-1]),
        (sp.csr_array(X), Y),
        (sp.csr_array(X[shuffled]), Y[shuffled]),
    ):
        found = sums(other, y, constant=constant)
        np.testing.assert_array_equal(found.gram, whole.gram)
        np.testing.assert_array_equal(found.tilt, whole.tilt)


def test_single_precision_is_taken_as_it_is():
    single = np.clip(X, -1e3, 1e3).astype(np.float32)
    np.testing.assert_array_equal(sums(single, Y).gram, sums(single.astype(np.float64), Y).gram)


def test_blocks_and_the_width_of_integers_do_not_matter(monkeypatch):
    whole = sums(X, Y, constant=0.3)
    monkeypatch.setattr(grid, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(grid, "_EXACT_ROWS", 10)
    found = sums(X, Y, constant=0.3)
    assert found.gram.dtype == object
    assert found.gram.tolist() == whole.gram.tolist()
    assert found.tilt.tolist() == whole.tilt.tolist()


def test_sums_of_many_equal_rows_are_exact():
    rows = np.tile([[0.6, -0.8]], (5000, 1))
    one = whole_sums(Rows(rows[:1], "clip", 1.7), np.full(1, 9.0), bound=1.9, step=2.0**-20)
    many = whole_sums(Rows(rows, "clip", 1.7), np.full(5000, 9.0), bound=1.9, step=2.0**-20)
    assert many.gram.tolist() == (5000 * one.gram).tolist()
    assert many.tilt.tolist() == (5000 * one.tilt).tolist()


def test_wide_noise_makes_the_residuals_grid_wider():
    assert residual_unit(1.0, 5.0, 0.0) == 2.0**-20
    for sigma, bound, constant in ((1e9, 1.0, 0.0), (1e30, 1e-20, 0.3), (1e45, 1.0, 1e40), (1e-30, 1e-40, 0.0)):
        points = sigma / (row_unit(constant) * residual_unit(bound, sigma, constant))
        assert 2.0**-20 <= points <= 2.0**52
