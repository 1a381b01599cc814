"""Local sensitivities against minimisers, eigenvectors and rows that were looked for: never exceeded, and reached."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit

from objpert_core.theory.local_sensitivity import (
    GAP_SENSITIVITY,
    curvature_sensitivity,
    minimiser_sensitivity,
    projector_sensitivity,
)

# --- minimisers --------------------------------------------------------------------------------------------------


def fitted(X, y, lam):
    """The regularised logistic minimiser, by Newton's method with halved steps, and its Hessian."""

    def value(theta):
        return np.logaddexp(0, -y * (X @ theta)).sum() + lam * theta @ theta / 2

    theta = np.zeros(X.shape[1])
    for _ in range(200):
        p = expit(-y * (X @ theta))
        gradient = lam * theta - X.T @ (y * p)
        hessian = (X.T * (p * (1 - p))) @ X + lam * np.eye(len(theta))
        if np.linalg.norm(gradient) < 1e-12:
            break
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while value(theta - size * step) > value(theta) + 1e-12:
            size /= 2
        theta = theta - size * step
    return theta, hessian


@pytest.mark.parametrize("seed", range(12))
def test_no_row_moves_a_logistic_minimiser_farther(seed):
    """Rows that are removed, and rows added along every axis: distances and curvatures of both data sets."""
    generator = np.random.default_rng(seed)
    n, d, lam = int(generator.integers(3, 60)), int(generator.integers(1, 4)), float(generator.choice([0.3, 1.5, 4.0]))
    X = generator.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] + 0.3 * generator.standard_normal(n) > 0, 1.0, -1.0)
    theta, hessian = fitted(X, y, lam)
    c = np.linalg.eigvalsh(hessian)[0]
    neighbours = [(np.delete(X, 0, axis=0), y[1:])]
    for x in [*np.eye(d), -theta / max(np.linalg.norm(theta), 1e-9)]:
        neighbours += [(np.vstack([X, x]), np.append(y, label)) for label in (1.0, -1.0)]
    for rows, labels in neighbours:
        other, its = fitted(rows, labels, lam)
        assert np.linalg.norm(other - theta) <= minimiser_sensitivity(c) + 1e-9
        change = np.linalg.eigvalsh(its)[0] - c
        assert abs(change) <= curvature_sensitivity() + 1e-9
        if len(rows) > n:
            assert change >= -1.0 - 1e-9


@pytest.mark.parametrize("concordance", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_the_bound_on_a_minimiser_is_reached(concordance, share):
    """F″ = c·e^(−Rθ) has its minimum at 0; a row of slope −L moves it, whether it was added or another was removed."""
    c, r = 2.0, concordance
    slope = share * c / r
    moved = brentq(lambda theta: c * (1 - math.exp(-r * theta)) / r - slope, 0, 100)
    assert minimiser_sensitivity(c, lipschitz=slope, concordance=r) == pytest.approx(moved, rel=1e-9)
    assert minimiser_sensitivity(c, lipschitz=1.01 * slope, concordance=r) > 1.005 * moved


def test_without_a_third_derivative_it_is_the_quadratic_bound():
    assert 0.25 < minimiser_sensitivity(4.0, concordance=0.0) < 0.25 * (1 + 1e-13)  # rounded up
    assert minimiser_sensitivity(4.0, concordance=1e-9) == pytest.approx(0.25, rel=1e-8)


def test_the_curvature_of_a_flat_objective_changes_by_nearly_its_bound():
    """One row at a minimiser far out, its pull against a Hessian that decays: more than RL alone, as β must count."""
    worst = 0.0
    for lam in (1e-3, 1e-2, 0.1):
        for copies in (5, 20, 80):
            X, y = np.ones((copies, 1)), np.ones(copies)
            _, without = fitted(X, y, lam)
            _, with_row = fitted(np.vstack([X, [[1.0]]]), np.append(y, -1.0), lam)
            worst = max(worst, float(abs(with_row - without)[0, 0]))
    assert 0.5 < worst <= curvature_sensitivity()


# --- eigenvectors ------------------------------------------------------------------------------------------------


def top(gram):
    values, vectors = np.linalg.eigh(gram)
    return values[-1] - values[-2], np.outer(vectors[:, -1], vectors[:, -1])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("gap", [1.05, 1.5, 3.0, 20.0])
def test_the_projectors_bound_is_the_most_that_a_search_finds(gap, sign):
    """Over rows of a space of three dimensions, added or removed."""
    gram = np.diag([gap + 5.0, 5.0, 3.0])
    _, before = top(gram)

    def moved(x):
        x = x / max(np.linalg.norm(x), 1.0)
        return np.linalg.norm(top(gram + sign * np.outer(x, x))[1] - before)

    generator = np.random.default_rng(0)
    starts = generator.standard_normal((4, 3))
    found = max(-minimize(lambda x: -moved(x), s, method="Nelder-Mead", options={"maxiter": 300}).fun for s in starts)
    assert found == pytest.approx(projector_sensitivity(gap), rel=1e-5)
    assert found <= projector_sensitivity(gap) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_no_row_moves_a_projector_farther_or_the_gap_by_more_than_one(seed):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((30, 5)) * [3.0, 1.5, 1.0, 1.0, 0.5]
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1.0)
    gap, before = top(A.T @ A)
    rows = generator.standard_normal((200, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    grams = [A.T @ A + np.outer(x, x) for x in rows] + [A.T @ A - np.outer(x, x) for x in A]
    for gram in grams:
        other, after = top(gram)
        assert abs(other - gap) <= GAP_SENSITIVITY + 1e-12
        assert np.linalg.norm(after - before) <= projector_sensitivity(gap) + 1e-12


def test_a_gap_of_one_or_less_promises_nothing():
    for gap in (0.3, 1.0):
        assert math.sqrt(2) <= projector_sensitivity(gap) < 1.4143
    assert projector_sensitivity(1 + 1e-12) == pytest.approx(1.0, abs=1e-5)
    assert projector_sensitivity(1e9) == pytest.approx(1 / (math.sqrt(2) * 1e9), rel=1e-9)  # no digits lost
    for gap in (1.2, 4.0):
        assert projector_sensitivity(gap) == pytest.approx(math.sqrt(1 - math.sqrt(1 - 1 / gap**2)), rel=1e-12)


def test_near_its_pole_and_far_from_it_a_sensitivity_is_rounded_up():
    c, slope, r = 0.020824297789045314, 0.061459734319072395, 0.33882830799323915  # the truth is 109.27
    assert minimiser_sensitivity(c, lipschitz=slope, concordance=r) >= 109.27
    assert minimiser_sensitivity(1.0, lipschitz=1e-200, concordance=1e-200) >= 1e-200
    assert minimiser_sensitivity(10.0, concordance=5e-324) >= 0.1
