"""The posterior draw: exact factors, the law N(θ*, s²Λ⁻¹), no rounding in doubt; and the two statistics behind it."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior import factor as factors
from objpert_core.learning.posterior.draw import PosteriorDraw, Ridge, posterior_spacing
from objpert_core.learning.posterior.factor import ExactFactor, least_eigenvalue
from objpert_core.learning.posterior.noisy_sums import NoisySums, SumNoise, noisy_sums
from objpert_core.learning.posterior.statistics import EIGENVALUE_SENSITIVITY, Statistics
from objpert_core.learning.posterior.sums import regression_sums
from tests.learning.posterior.fixed import Fixed

rng = np.random.default_rng(1)


def whole(n, d, tilt=0.0):
    rows = rng.integers(-(2**20), 2**20, size=(n, d)).astype(object)
    rows[:, 1:] += (tilt * rows[:, :1]).astype(int)
    return rows.T @ rows


def plain(sums):
    """X̃ᵀX̃ and X̃ᵀỹ in doubles."""
    return (sums.gram * sums.unit**2).astype(float), (sums.moment * sums.unit * sums.step).astype(float)


def some_sums(n=60, d=3, bound=1.0, seed=0):
    one = np.random.default_rng(seed)
    X = one.normal(size=(n, d)) / 2
    return regression_sums(X, bound * (X @ np.arange(1.0, d + 1) / d + 0.1 * one.normal(size=n)), target_bound=bound)


# Factors


@pytest.mark.parametrize("spare", [0, 48])
@pytest.mark.parametrize(("n", "d", "least"), [(1, 1, 1), (0, 3, 7), (1, 4, 1), (50, 6, 2**40), (3, 5, 10**25)])
def test_a_factor_is_exact_and_its_remainder_diagonally_dominant(monkeypatch, spare, n, d, least):
    monkeypatch.setattr(factors, "_SPARE_DIGITS", spare)
    A = whole(n, d) + least * np.eye(d, dtype=int).astype(object)
    factor = ExactFactor(A, least)
    assert (factor.lower @ factor.lower.T + factor.remainder == A * 4**factor.digits).all()
    assert (np.triu(factor.lower, 1) == 0).all()
    away = np.abs(factor.remainder).sum(axis=1) - np.abs(factor.remainder.diagonal())
    assert (factor.remainder.diagonal() >= away).all()
    assert float(factor.condition_digits) >= np.log2(np.linalg.cond(A.astype(float))) - 1e-6
    v = np.array([10**30 + 7 * j for j in range(d)], dtype=object)
    x, error = factor.solved(v, np.zeros(d, dtype=object))
    left = [Fraction(int(one)) for one in v - A @ x]  # ‖x − A⁻¹v‖ ≤ ‖Ax − v‖/least
    assert sum(one**2 for one in left) <= (error * least) ** 2
    assert error <= 2 + 2 ** (2 * factor.condition_digits)
    with pytest.raises(ValueError, match="matrix must be at least 5 times the identity"):
        ExactFactor(np.array([[1, 2], [2, 1]], dtype=object), 5)


@pytest.mark.parametrize(("n", "d"), [(0, 2), (1, 1), (2, 4), (30, 5)])
@pytest.mark.parametrize("wrong", [0.0, 1e9, -1e9])
def test_the_least_eigenvalue_is_proved_whatever_doubles_say(monkeypatch, n, d, wrong):
    A, margin = whole(n, d), 2**17
    true = max(float(np.linalg.eigvalsh(A.astype(float))[0]), 0.0)
    computed = np.linalg.eigvalsh
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda matrix: computed(matrix) + wrong * margin)
    found = least_eigenvalue(A, margin)
    assert found % margin == 0
    assert abs(found - true) <= 2 * margin


# The law


def drawn_with(ridge, scale, normals, spacing):
    """θ by these normal numbers, in units of the spacing, to 40 digits at least."""
    cells = (np.asarray(normals) * 2.0**50).astype(np.int64)
    source = SimpleNamespace(rounded_normal=lambda ratio, size: cells)
    low, high = PosteriorDraw(source, ridge, scale).interval(spacing)
    assert all(0 <= b - a < 2.0**-20 for a, b in zip(low, high, strict=True))
    return np.array([float((a + b) / 2) for a, b in zip(low, high, strict=True)])


@pytest.mark.parametrize("spare", [0, 48])  # without spare digits the remainder is a good part of all
@pytest.mark.parametrize("bound", [1.0, 3e4])
def test_normal_numbers_become_a_draw_with_mean_and_covariance_of_the_posterior(monkeypatch, spare, bound):
    monkeypatch.setattr(factors, "_SPARE_DIGITS", spare)
    sums, lam, s, d = some_sums(bound=bound), 0.7, 0.3, 3
    G, b = plain(sums)
    ridge, h = Ridge(sums, lam), 2.0**-20
    count = 2 * d + d * (d - 1) // 2
    mean = drawn_with(ridge, s, np.zeros(count), h)
    np.testing.assert_allclose(mean * h, np.linalg.solve(G + lam * np.eye(d), b), rtol=1e-10)
    weights = np.array([drawn_with(ridge, s, row, h) - mean for row in np.eye(count)]).T * h
    if spare == 0:
        assert np.abs(weights[:, d:]).max() > 1e-5 * np.abs(weights).max()
    np.testing.assert_allclose(weights @ weights.T, s**2 * np.linalg.inv(G + lam * np.eye(d)), rtol=1e-8, atol=1e-12)


def test_draws_have_the_law_on_a_lattice_that_is_fine_and_known_before():
    for scale, lam in ((0.3, 1.0), (20.0, 1e-3), (1e-5, 1e9)):
        assert 2.0**-13 < posterior_spacing(scale, lam) / (scale / np.sqrt(lam + 2.0**20)) <= 2.0**-12
    sums, lam, s = some_sums(), 0.7, 0.3
    G, b = plain(sums)
    ridge, source = Ridge(sums, lam), noise_source(3)
    precision = G + lam * np.eye(3)
    drawn = np.array([PosteriorDraw(source, ridge, s).rounded(2.0**-20) for _ in range(200)])
    normal = (drawn - np.linalg.solve(precision, b)) @ np.linalg.cholesky(precision) / s
    assert stats.kstest(normal.ravel(), stats.norm.cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(normal.T) - np.eye(3)).max() < 0.25


# Roundings


def test_digits_drawn_first_are_no_more_than_doubles_hold():
    ridge = Ridge(some_sums(5, 1), 1.0)
    assert PosteriorDraw(noise_source(0), ridge, 0.5, digits=52).refinements == 0
    for digits, most in ((0, ">= 1"), (53, "from 1 to 52")):
        with pytest.raises(ValueError, match=f"digits must be a whole number {most}, got {digits}"):
            PosteriorDraw(noise_source(0), ridge, 0.5, digits=digits)


@pytest.mark.parametrize("digits", [50, 12, 2])
@pytest.mark.parametrize("spare", [0, 48])
@pytest.mark.parametrize(("n", "d", "lam"), [(60, 1, 1.0), (60, 3, 1e-3), (2, 5, 0.1)])
def test_every_rounding_is_the_one_that_more_digits_confirm(monkeypatch, n, d, lam, spare, digits):
    monkeypatch.setattr(factors, "_SPARE_DIGITS", spare)
    ridge = Ridge(some_sums(n, d, seed=digits), lam)
    one = PosteriorDraw(noise_source(d), ridge, 0.5, digits=digits)
    spacing = posterior_spacing(0.5, lam)
    given = one.rounded(spacing)
    assert digits == 50 or one.refinements > 0
    before = one.interval(spacing)
    for _ in range(2):
        one.refine()
    low, high = one.interval(spacing)
    for j in range(d):
        assert before[0][j] <= low[j] <= high[j] <= before[1][j]
        assert high[j] - low[j] < 2.0**-60
        assert given[j] == round(low[j]) * spacing


# Sums


def test_what_a_row_gives_depends_on_that_row_alone():
    X, y = np.random.default_rng(2).normal(size=(50, 4)) * 3, np.linspace(-2, 2, 50)
    whole_, less, one = (regression_sums(*data) for data in ((X, y), (X[:-1], y[:-1]), (X[-1:], y[-1:])))
    assert (whole_.gram - less.gram == one.gram).all()
    assert (whole_.moment - less.moment == one.moment).all()
    assert one.gram.trace() * one.unit**2 <= 1
    assert (regression_sums(X[::-1], y[::-1]).gram == whole_.gram).all()


def test_targets_are_clipped_to_their_bound():
    sums = regression_sums(np.eye(2), np.array([9.0, -0.25]), target_bound=0.5)
    np.testing.assert_allclose(plain(sums)[1], [0.5, -0.25], rtol=1e-5)
    with pytest.raises(ValueError, match="target_bound must be a number from 1e-50 to 1e\\+50, got 1e-60"):
        regression_sums(np.eye(2), np.ones(2), target_bound=1e-60)


# The two statistics behind a draw


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


# AdaSSP's release: what noise each sum gets, and what is solved from it


X = np.random.default_rng(4).normal(size=(500, 3)) / 2
Y = X @ np.array([0.4, 0.0, -0.5]) + 0.1 * np.random.default_rng(5).normal(size=500)
NOISE = SumNoise(5.0, 7.0, 3.0, 6.0)


@pytest.mark.parametrize(("constant", "bound"), [(0.0, 1.0), (0.3, 40.0), (2.0, 1e-3)])
def test_noise_is_in_units_of_what_a_row_gives(constant, bound):
    sums = regression_sums(X, bound * Y, target_bound=bound, intercept_scaling=constant)
    gram, moment = plain(sums)
    d, square = len(moment), 1 + constant**2
    count = d * (d + 1) // 2
    quiet = noisy_sums(sums, NOISE, Fixed())
    np.testing.assert_allclose(quiet.gram, gram, atol=square * 2.0**-20)
    np.testing.assert_allclose(quiet.moment, moment, atol=math.sqrt(square) * bound * 2.0**-20)
    least = np.linalg.eigvalsh(gram)[0]
    assert quiet.eigenvalue == pytest.approx(max(least - 6 * square, 0), abs=1e-4 * square)
    one = noisy_sums(sums, NOISE, Fixed(*np.ones(count + d), 2.0))
    np.testing.assert_allclose(one.gram - quiet.gram, 5 * square, rtol=1e-5)
    np.testing.assert_allclose(one.moment - quiet.moment, 7 * math.sqrt(square) * bound, rtol=1e-5)
    assert one.eigenvalue == pytest.approx(max(least, 0), abs=1e-4 * square)
    assert (one.gram - quiet.gram)[0, 0] >= 5 * square  # rounded up, for what rounding brings apart
    assert not np.fmod(one.gram, one.spacing).any()
    assert one.spacing * math.sqrt(count) <= 2.0**-20 * square
    assert one.noise == pytest.approx(5 * square)
    np.testing.assert_array_equal(one.gram, one.gram.T)


def test_a_row_moves_the_sums_by_no_more_than_its_noise_is_for():
    quiet = [noisy_sums(regression_sums(X[:n], Y[:n]), NOISE, Fixed()) for n in (99, 100)]
    rows, columns = np.tril_indices(3)
    moved = (quiet[1].gram - quiet[0].gram)[rows, columns]
    assert np.linalg.norm(moved) <= 1 + 2.0**-20
    assert np.linalg.norm(quiet[1].moment - quiet[0].moment) <= 1 + 2.0**-20


def test_the_ridge_makes_up_for_what_the_eigenvalue_leaves_wanting():
    gram, moment = np.diag([30.0, 9.0]), np.array([3.0, 1.8])
    wanted = 0.5 * math.sqrt(2 * math.log(8 / 0.05))
    for eigenvalue, ridge in ((0.0, wanted), (1.0, wanted - 1.0), (9.0, 0.0)):
        solved = NoisySums(gram, moment, eigenvalue, 0.5, 1.0).solution()
        np.testing.assert_allclose(solved, moment / (np.diag(gram) + ridge), rtol=1e-12)
