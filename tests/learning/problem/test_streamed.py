"""Gradients of rows that are walked: their bound, against exact arithmetic (docs/theorems.md, T51)."""

from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from objpert_core.learning import PerturbedObjective, Rows
from objpert_core.learning.problem import rounding
from objpert_core.learning.problem.fine import two_sum
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.streamed import Compensated, StreamedObjective, losses_on
from objpert_core.learning.solvers import batched_newton
from tests.learning.problem.exact import exact_gradient, exact_norm

LOSS = LogisticLoss()


def slope(u, t):
    return -t / (1 + mpmath.exp(t * u))


def streamed(rows, targets, lam, b, ends):
    edges = [0, *ends, rows.n_rows]

    def each(work):
        for start, end in pairwise(edges):
            yield work(losses_on(rows.part(slice(start, end)), targets[start:end], LOSS))

    sample = PerturbedObjective(rows, targets, lam, b, LOSS)
    return StreamedObjective(each, rows.n_rows, lam, b, sample, 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("ends", [(), (1,), (20, 33), range(1, 40)])
def test_the_bound_of_the_whole_holds_against_exact_arithmetic(ends, monkeypatch):
    """Where b cancels all but the last digits, nothing is left of the gradient but its rounding."""
    monkeypatch.setattr(rounding, "_BLOCK", 3)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 6)) * 10.0 ** rng.integers(-3, 4, size=6)
        rows, targets = Rows(X, "normalize", 0.3), np.where(rng.random(40) < 0.5, 1.0, -1.0)
        theta, lam = rng.normal(size=7) * 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-3, 2)
        b = -PerturbedObjective(rows, targets, lam, np.zeros(7), LOSS).gradient(theta)[0]
        objective = streamed(rows, targets, lam, b, ends)
        exact = exact_norm(exact_gradient(X, targets, rows, theta, lam, slope), b)
        quick, fine, most = (
            rounding.gradient_norm_bounds([objective], theta[None])[0],
            rounding.fine_norm_bound(objective, theta),
            rounding.looks([objective], theta[None], 3)[0].bound,
        )
        whole = PerturbedObjective(rows, targets, lam, b, LOSS)
        size = 40 * (1 + np.linalg.norm(theta)) + np.linalg.norm(b)
        assert exact <= min(quick, fine)
        assert max(quick, fine) < 1e-13 * size
        assert quick <= most < 1e-12 * size
        assert quick == pytest.approx(rounding.gradient_norm_bound(whole, theta), rel=0.9)


def test_a_sum_of_parts_is_off_by_no_more_than_the_theorem_says():
    """Parts that cancel: the sum is small, and plain addition loses it."""
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(500, 3)) * 10.0 ** rng.integers(0, 12, size=(500, 1))
    parts = np.concatenate([parts, -parts[:-1]])[rng.permutation(999)]
    sums, plain = Compensated(), np.zeros(3)
    for part in parts:
        sums.add(part)
        plain = plain + part
    with mpmath.workdps(60):
        exact = [mpmath.fsum(map(float, column)) for column in parts.T]
        off = mpmath.sqrt(sum((mpmath.mpf(float(a)) - b) ** 2 for a, b in zip(sums.total, exact, strict=True)))
    lengths = float(np.linalg.norm(parts, axis=1).sum())
    assert off <= (rounding.UNIT + rounding.gamma(999) ** 2) * lengths
    assert off < np.linalg.norm(plain - sums.total) / 10  # plain addition is not as good
    high, low = two_sum(np.array([1e16]), np.array([1.0]))
    assert (high + low)[0] == 1e16
    assert low[0] == 1.0


def test_a_row_goes_through_the_additions_of_a_part_those_of_the_longest_block_and_three_more():
    rows, targets = Rows(np.ones((9, 1)), "clip"), np.ones(9)
    total, additions = streamed(rows, targets, 1.0, np.zeros(1), (1, 7)).summed(lambda part: part.targets.sum(), 2)
    assert (total, additions) == (9.0, 2 + 3 + 3)


def test_a_hessian_is_that_of_all_rows():
    rng = np.random.default_rng(1)
    rows, targets = Rows(rng.normal(size=(50, 4)), "clip", 0.3), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    theta, whole = rng.normal(size=5), PerturbedObjective(rows, targets, 0.7, np.zeros(5), LOSS)
    objective, hessian = streamed(rows, targets, 0.7, np.zeros(5), (7, 30)).with_hessian(theta)
    np.testing.assert_allclose(objective.gradient(theta)[0], whole.gradient(theta)[0], rtol=1e-12)  # by one walk
    np.testing.assert_allclose(np.triu(hessian), np.triu(whole.hessian(whole.gradient(theta)[1])), rtol=1e-12)


@pytest.mark.parametrize(
    ("lam", "small", "walks"), [(5.0, 400, range(3, 7)), (5.0, 0, range(8, 20)), (1e-3, 400, range(4, 40))]
)
def test_the_hessian_of_all_rows_saves_walks_and_ends_a_search_that_few_rows_led_astray(lam, small, walks, monkeypatch):
    monkeypatch.setattr(batched_newton, "_SMALL", small)
    rng = np.random.default_rng(1)
    rows, targets = Rows(rng.normal(size=(2000, 4)), "clip", 0.3), np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    whole, made = streamed(rows, targets, lam, 0.1 * rng.normal(size=5), range(100, 2000, 100)), []
    few = rows.part(slice(0, 50))
    sample = PerturbedObjective(few, targets[:50], lam / 40, whole.linear / 40, LOSS)
    objective = replace(whole, each=lambda work: made.append(0) or whole.each(work), sample=sample, scale=40.0)
    result = batched_newton.solve_streamed(objective, tau=1e-9, max_iter=100)
    assert result.converged
    assert len(made) in walks
    assert np.linalg.norm(whole.gradient(result.theta)[0]) <= result.bound(objective) < 1e-8
