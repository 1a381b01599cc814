"""Rows as codes: the sums over the rows that their map makes, and the errors that T54 says."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp
from threadpoolctl import threadpool_limits

from objpert_core.learning.problem.codes import CarefulCodes, CodedRows
from objpert_core.learning.problem.derived import WeightedLoss
from objpert_core.learning.problem.fine import fine
from objpert_core.learning.problem.lanes import all_cores
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rounding import gamma, gradient_norm_bound
from objpert_core.learning.problem.rows import each_row_by_itself
from objpert_core.learning.problem.single_precision import bears_roughness
from objpert_core.learning.solvers import SOLVERS, solve, solve_together
from tests.learning.problem.exact import exact_gradient, exact_norm

SIZES = (5, 1, 17, 3, 40)


def some_rows(n=400, seed=0, constant=0.3, scale=0.18):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in SIZES], dtype=np.uint8)
    return CodedRows(codes, [scale * rng.normal(size=(size, max(1, size // 2))) for size in SIZES], constant)


def a_problem(rows, seed=1):
    rng = np.random.default_rng(seed)
    targets = rng.choice([-1.0, 1.0], rows.n_rows)
    return PerturbedObjective(rows, targets, 0.7, 2 * rng.normal(size=rows.dimension), LogisticLoss(1.0))


@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_products_equal_those_of_the_rows_that_the_map_makes(constant):
    rows = some_rows(constant=constant)
    made, rng = rows.made(), np.random.default_rng(1)
    assert np.array_equal(rows.factors, made.factors) or np.allclose(rows.factors, made.factors, rtol=1e-14)
    assert 0 < (rows.factors < 1).sum() < rows.n_rows
    several, weights = rng.normal(size=(3, rows.dimension)), rng.random((3, rows.n_rows))
    for theta, one in ((several, weights), (several[0], weights[0])):
        np.testing.assert_allclose(rows.margins(theta), made.margins(theta), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rows.combine(one), made.combine(one), rtol=1e-12, atol=1e-12)
    for stride in (1, 3):
        found, expected = rows.gram(weights[0], stride), made.gram(weights[0], stride)
        np.testing.assert_allclose(np.triu(found), np.triu(expected), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(rows.norms(), made.norms(), rtol=1e-13)
    assert rows.every(3).n_rows == len(range(0, rows.n_rows, 3))
    few = rows.part(slice(7, 30))
    assert few.squared_norm() >= np.linalg.norm(few.made().margins(np.eye(rows.dimension)), 2) ** 2 * (1 - 1e-9)
    assert np.array_equal(pickle.loads(pickle.dumps(few)).margins(several), rows.margins(several)[:, 7:30])


def test_sums_have_the_same_digits_on_several_threads():
    rows, rng = some_rows(n=20_000), np.random.default_rng(8)
    theta, weights = rng.normal(size=rows.dimension), rng.random(rows.n_rows)
    alone = rows.margins(theta), rows.combine(weights), rows.gram(weights)
    with threadpool_limits(2, user_api="blas"), all_cores():
        together = rows.margins(theta), rows.combine(weights), rows.gram(weights)
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_a_score_and_a_factor_depend_on_their_row_alone():
    rows, rng = some_rows(), np.random.default_rng(2)
    order, theta = rng.permutation(rows.n_rows)[:77], rng.normal(size=rows.dimension)
    others = CodedRows(np.asfortranarray(rows.codes[:, order].astype(np.int64)), rows.maps, rows.constant)
    assert np.array_equal(others.factors, rows.factors[order])
    with each_row_by_itself():
        assert np.array_equal(others.margins(theta), rows.margins(theta)[order])


def test_no_row_is_longer_than_1_in_exact_arithmetic():
    rng = np.random.default_rng(3)
    for scale in (0.2, 0.4472135954999579, 1.0, 1e5):
        codes = np.array([rng.integers(0, size, 60) for size in SIZES])
        maps = [scale * np.eye(size) + 1e-9 * rng.normal(size=(size, size)) for size in SIZES]
        rows = CodedRows(codes, maps)
        for x, factor in zip(rows.matrix[:], rows.factors, strict=True):
            assert Fraction(float(factor)) ** 2 * sum(Fraction(float(value)) ** 2 for value in x) <= 1
        longest = max(float(norm) for norm in rows.norms())
        assert longest > (1 - 1e-12) * min(1.0, scale * len(SIZES) ** 0.5)


@pytest.mark.parametrize("careful", [False, True])
def test_the_bound_holds_against_exact_arithmetic(careful):
    rows = some_rows(n=150, seed=4)
    problem, rng = a_problem(rows), np.random.default_rng(5)
    slope = lambda u, t: -t / (1 + mp.exp(t * u - 1))  # noqa: E731
    for theta in (solve(problem, tau=1e-10).theta, 30 * rng.normal(size=rows.dimension)):
        exact = exact_norm(
            exact_gradient(rows.matrix[:], problem.targets, rows, theta, problem.lam, slope), problem.linear
        )
        bound = gradient_norm_bound(fine(problem) if careful else problem, theta)
        assert exact <= bound <= float(exact) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("careful", "block"), [(False, 2**12), (True, 2**8)])
def test_a_sum_is_off_by_no_more_than_the_additions_of_its_blocks_and_of_a_column_s_pieces_allow(careful, block):
    rows, rng = some_rows(n=9000, seed=6), np.random.default_rng(9)
    rows = CarefulCodes(rows) if careful else rows
    assert rows.additions(10**6) == block + -(-(10**6) // block) + 40 * 5 < rows.made().additions(10**6)
    weights = rng.normal(size=rows.n_rows)
    entries = np.column_stack([rows.factors[:, None] * rows.matrix[:][:, :3], np.full(rows.n_rows, rows.constant)])
    found = rows.combine(weights)[[0, 1, 2, -1]]
    for one, column in zip(found, entries.T, strict=True):
        terms = [Fraction(weight) * Fraction(entry) for weight, entry in zip(weights, column, strict=True)]
        allowed = gamma(rows.additions(rows.n_rows) + 4) * float(sum(map(abs, terms)))
        assert abs(Fraction(float(one)) - sum(terms)) <= allowed


@pytest.mark.parametrize("scale", [0.2, 0.6, 30.0])
def test_a_careful_score_is_off_by_no_more_than_it_says_in_exact_arithmetic(scale):
    """The last θ has almost no effect on the first row: products as BLAS sums them are off by more than that."""
    rows, rng = some_rows(n=60, seed=11, scale=scale), np.random.default_rng(12)
    codes = rows.codes.copy()
    codes[:, 0] = 0
    rows, thetas = CarefulCodes(CodedRows(codes, rows.maps, rows.constant)), 100 * rng.normal(size=(3, rows.dimension))
    thetas[2, -1] = 0.0
    for place, one in zip(rows.places, rows.maps, strict=True):
        thetas[2, place] -= one[0] * (thetas[2, place] @ one[0]) / (one[0] @ one[0])
    for theta, scores, off in zip(thetas, *rows.scores(thetas), strict=True):
        exact = [Fraction(one) for one in theta]
        for x, factor, score, most in zip(rows.matrix[:], rows.factors, scores, off, strict=True):
            own = sum(Fraction(float(one)) * value for one, value in zip(x, exact, strict=False))
            own = own * Fraction(float(factor)) + Fraction(rows.constant) * exact[-1]
            assert abs(Fraction(float(score)) - own) <= Fraction(float(most))
        assert off.max() < gamma(rows.dimension + 4) * np.linalg.norm(theta)
    assert off[0] < 2.0**-53 * np.linalg.norm(theta) / 100


def test_every_solver_finds_the_minimum_of_the_rows_that_the_map_makes():
    rows = some_rows()
    problem = a_problem(rows)
    there = replace(problem, rows=rows.made())
    expected = solve(there, tau=1e-10).theta
    for solver in SOLVERS:
        found = solve(problem, tau=1e-6, solver=solver)
        assert found.converged, solver
        np.testing.assert_allclose(found.theta, expected, atol=1e-5)
    assert solve(fine(problem), tau=1e-8).converged
    assert bears_roughness(there)
    assert not bears_roughness(problem)
    weighted = replace(problem, loss=WeightedLoss(problem.loss, np.linspace(0.1, 1.0, rows.n_rows)))
    np.testing.assert_allclose(
        solve(weighted, tau=1e-9).theta, solve(replace(weighted, rows=rows.made()), tau=1e-9).theta, atol=1e-7
    )
    quadratic = np.diag(np.linspace(0.7, 9.0, rows.dimension))
    assert solve(replace(problem, lam=quadratic), tau=1e-8).converged
    together = solve_together([problem, replace(problem, linear=-problem.linear)], tau=1e-7, max_iter=100)
    np.testing.assert_allclose(together[0].theta, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("codes", "maps", "said"),
    [
        (np.zeros((1, 3)), [np.eye(2)], "codes must be integers"),
        (np.zeros((2, 3), dtype=int), [np.eye(2)], "codes must be integers, one line for each of 1 columns"),
        (np.array([[0, 2]]), [np.eye(2)], "codes of column 0 must be from 0 to 1, got 2"),
        (np.array([[0, -1]]), [np.eye(2)], "codes of column 0 must be from 0 to 1, got -1"),
        (np.array([[0, 1]]), [np.array([[1.0], [np.nan]])], "maps must be tables of finite numbers"),
    ],
)
def test_codes_that_no_map_has_and_maps_that_are_none_are_refused(codes, maps, said):
    with pytest.raises(ValueError, match=said):
        CodedRows(codes, maps)
