"""The posterior draw: exact factors, the law N(θ*, s²Λ⁻¹), and no rounding in doubt."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior import factor as factors
from objpert_core.learning.posterior.draw import PosteriorDraw, Ridge, posterior_spacing
from objpert_core.learning.posterior.factor import ExactFactor, least_eigenvalue
from objpert_core.learning.posterior.sums import regression_sums

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
