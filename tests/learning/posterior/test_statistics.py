"""The two statistics behind a draw: what noise they get, and that they are on the safe side as often as they should."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior.draw import Ridge
from objpert_core.learning.posterior.statistics import EIGENVALUE_SENSITIVITY, Statistics
from objpert_core.learning.posterior.sums import regression_sums
from tests.learning.posterior.fixed import Fixed

OWN = Statistics.failing(0.2, 0.1, 1e-4)
SIGMA = EIGENVALUE_SENSITIVITY / 0.2


def one_direction(n, y=1.0, **options):
    """n rows (1, y) in one dimension."""
    return regression_sums(np.ones((n, 1)), np.full(n, y), row_norm="normalize", on_error="release", **options)


@pytest.mark.parametrize("z", [0.0, 1.5, -2.0])
def test_the_eigenvalue_is_moved_down_by_its_tail_and_its_sensitivity(z):
    found = OWN.least_eigenvalue(one_direction(80), Fixed(z))
    assert found == pytest.approx(80 + (z - OWN.tail) * SIGMA - 1, abs=2e-4)
    assert 2 * stats.norm.sf(OWN.tail) == pytest.approx(1e-4, rel=1e-9)  # shared evenly
    assert 2 * stats.norm.sf(OWN.tail) <= 1e-4
    plain = Statistics(0.2, 0.1, 3.0, shifted=False)  # the tail alone
    assert plain.least_eigenvalue(one_direction(80), Fixed(z)) == pytest.approx(80 + (z - 3) * SIGMA, abs=2e-4)


@pytest.mark.parametrize("constant", [0.0, 0.3, 2.0])
def test_the_eigenvalue_counts_rows_as_rows_of_norm_1(constant):
    X = np.repeat(np.vstack([np.eye(2), -np.eye(2)]), 200, axis=0)
    sums = regression_sums(X, np.zeros(800), intercept_scaling=constant)
    gram = (sums.gram * sums.unit**2).astype(float)
    found = OWN.least_eigenvalue(sums, Fixed(OWN.tail))
    assert found == pytest.approx(np.linalg.eigvalsh(gram)[0] / (1 + constant**2) - 1, abs=1e-3)


def test_the_eigenvalue_is_safe_for_neighbours_too_up_to_the_tail():
    for z, safe in ((OWN.tail * 0.9999, True), (OWN.tail * 1.001, False)):
        found = OWN.least_eigenvalue(one_direction(80), Fixed(z))
        assert (found <= 79) is safe
    assert OWN.least_eigenvalue(one_direction(0), Fixed(OWN.tail)) == 0.0  # never negative


def neighbours(lam):
    """Data that one row moves the slope of the most: nothing, and a row (1, 1)."""
    return Ridge(one_direction(0), lam), Ridge(one_direction(1), lam)


@pytest.mark.parametrize("lam", [0.7, 30.0, 1e4])
def test_the_slope_is_safe_for_neighbours_too_up_to_the_tail(lam):
    h = 1 / lam
    without, with_row = neighbours(lam)
    exact = math.log1p(1 / (1 + lam))
    assert exact < math.log1p(h)
    sigma = math.log1p(h) / 0.1
    for ridge, value in ((without, 0.0), (with_row, exact)):
        for z in (0.0, -1.0, -OWN.tail):
            found = OWN.log_slope(ridge, h, Fixed(z))
            expected = value + (z + OWN.tail) * sigma + math.log1p(h)
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-5 * sigma)
        assert OWN.log_slope(ridge, h, Fixed(-OWN.tail * 0.9999)) >= exact
    assert OWN.log_slope(without, h, Fixed(-1.2 * OWN.tail)) < exact


def test_the_slope_is_relative_to_the_bound_of_the_targets_and_0_without_rows():
    assert Ridge(one_direction(0), 0.7).log_slope() == 0
    for bound in (1e-6, 1e6):
        ridge = Ridge(one_direction(50, 0.5 * bound, target_bound=bound), 10.0)
        found = OWN.log_slope(ridge, 0.1, Fixed(-OWN.tail))
        assert found == pytest.approx(math.log1p(0.5 * 50 / 60) + math.log1p(0.1), rel=1e-5)


@pytest.mark.parametrize("constant", [0.0, 0.3, 1e7, 1e20, 1e35, 1e50])
@pytest.mark.parametrize("lam", [1e-6, 1.0, 1e12])
@pytest.mark.parametrize("bound", [1e-50, 1.0, 1e50])
def test_the_slope_is_exact_whatever_the_constant(constant, lam, bound):
    """Against the solution in fractions: what one row moves is all that the noise has to hide."""
    X = np.array([[0.6, 0.1], [-0.2, 0.9], [0.3, 0.3]])
    ridge = Ridge(regression_sums(X, np.array([0.9, -0.4, 0.7]) * bound, target_bound=bound,
                                  intercept_scaling=constant), lam)  # fmt: skip
    matrix = [[Fraction(int(entry)) for entry in row] for row in ridge.factor.matrix]
    theta = solved(matrix, [Fraction(int(entry)) for entry in ridge.sums.moment])
    square = sum(entry**2 for entry in theta) * (Fraction(ridge.sums.step) / Fraction(ridge.sums.unit)) ** 2
    with mp.workdps(60):
        norm = mp.sqrt(mp.mpf(square.numerator) / square.denominator) / mp.mpf(bound)
        exact = mp.log(1 + mp.sqrt(1 + mp.mpf(ridge.sums.constant) ** 2) * norm)
        found = ridge.log_slope()
        assert abs(mp.mpf(found.numerator) / found.denominator - exact) < mp.mpf(2) ** -47


def solved(matrix, target):
    """Gauss–Jordan in fractions."""
    rows = [[*row, value] for row, value in zip(matrix, target, strict=True)]
    for i, pivot in enumerate(rows):
        for j, row in enumerate(rows):
            if j != i:
                share = row[i] / pivot[i]
                rows[j] = [a - share * b for a, b in zip(row, pivot, strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


@pytest.mark.slow
def test_statistics_fail_as_seldom_as_they_should_under_both_neighbours():
    often, source = Statistics.failing(0.5, 0.5, 0.2), noise_source(5)
    for n in (60, 61):
        sums = one_direction(n)
        failed = np.mean([often.least_eigenvalue(sums, source) > 60 for _ in range(400)])
        assert failed < 0.1 + 4 * math.sqrt(0.09 / 400)
    without, with_row = neighbours(2.0)
    worst = math.log1p(1 / 3)
    failed = [np.mean([often.log_slope(one, 0.5, source) < worst for _ in range(400)]) for one in (without, with_row)]
    assert max(failed) < 0.1 + 4 * math.sqrt(0.09 / 400)
    assert failed[0] > 0.01  # the data without the row come close
