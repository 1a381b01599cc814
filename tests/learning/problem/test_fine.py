"""Scores with twice a double's digits, and the bound they give, against exact arithmetic on hostile data."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows
from objpert_core.learning.problem import fine as fines
from objpert_core.learning.problem.fine import FineRows, fine, score_error, two_sum
from objpert_core.learning.problem.losses import HuberLoss
from objpert_core.learning.problem.rounding import gradient_norm_bound
from objpert_core.learning.problem.rows import row_radius
from tests.learning.problem.exact import exact_gradient, exact_norm


def exact_score(x, factor, constant, theta):
    total = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, theta[: len(x)], strict=True)), Fraction(0))
    return total * Fraction(float(factor)) + (Fraction(constant) * Fraction(float(theta[-1])) if constant else 0)


def hostile(kind, d, seed):
    """Rows and a θ, which the last but one coordinate makes nearly orthogonal to every row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, d))
    theta = rng.normal(size=d + 1) * 10.0 ** rng.uniform(-3, 6)
    if kind == "one large entry":
        X[:, rng.integers(d)] = 1e9
    elif kind == "of norm exactly 1":
        X = np.zeros((6, d))
        X[:, :2] = [0.6, 0.8]
        X[3:, :] = np.sign(rng.normal(size=(3, d))) / 2 ** np.ceil(np.log2(d) / 2)
    elif kind == "enormous and tiny rows":
        X *= 10.0 ** np.array([[-140], [-12], [0], [5], [140], [148]])
    elif kind == "all alike":
        X = np.full((6, d), 1 / 3)
    elif kind == "large coefficients":
        theta *= 10.0 ** rng.uniform(-8, 8, d + 1)
    X[:2, -1] = -(X[:2, :-1] @ theta[: d - 1]) / theta[d - 1]
    return X, theta


KINDS = (
    "ordinary", "one large entry", "of norm exactly 1", "enormous and tiny rows", "all alike", "large coefficients",
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("row_norm", ["normalize", "clip"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "constant"), [(2, 0.0), (5, 0.3), (300, 7.0)])
def test_a_score_has_twice_the_digits(kind, make, row_norm, d, constant):
    X, theta = hostile(kind, d, seed=d)
    theta = theta if constant else theta[:-1]
    rows = FineRows(Rows(make(X), row_norm, constant))
    high, low = rows.score_pairs(theta)
    allowed = score_error(rows.dimension, row_radius(constant), float(np.linalg.norm(theta)))
    plain = 0.0
    for x, factor, a, b, rough in zip(X, rows.factors, high, low, rows.margins(theta), strict=True):
        exact = exact_score(x, factor, constant, theta)
        assert abs(Fraction(float(a)) + Fraction(float(b)) - exact) <= Fraction(allowed)
        assert abs(b) <= 2.0**-53 * abs(a)
        plain = max(plain, abs(float(Fraction(float(rough)) - exact)))
    if kind == "ordinary" and d == 300:
        assert plain > 100 * allowed  # the scores that solvers use would not do


def wrong_products(d, monkeypatch, more):
    """How many products of slices are not exact, with so many digits more; on data that use all there are.

    Every coefficient and entry is near the middle of two multiples that a first slice may have, on the same side.
    """
    monkeypatch.setattr(fines, "_digits", lambda dimension, digits=fines._digits: digits(dimension) + more)
    rng = np.random.default_rng(0)
    step = 2.0 ** -(26 - int(np.ceil(np.log2(d) / 2)))  # θ and rows are near 1 in every coordinate: their norms near √d
    theta, X = ((np.rint(rng.uniform(0.9, 0.99, size) / step) + 0.49) * step for size in (d, (4, d)))
    theta, X = theta + rng.uniform(0, 0.005, d) * step, X + rng.uniform(0, 0.005, (4, d)) * step
    rows = FineRows(Rows(X, "normalize"))
    power, powers = (np.ldexp(1.0, np.frexp(size)[1]) for size in (np.linalg.norm(theta), 1 / rows.factors))
    exact, _ = rows._products(theta, powers)
    first, leading = fines._slice(theta, power), fines._slice(X, powers[:, None])
    finer = 2.0 ** -fines._digits(d)
    pairs = (
        (leading, first),
        (leading, fines._slice(theta - first, power * finer)),
        (fines._slice(X - leading, powers[:, None] * finer), first),
    )
    monkeypatch.undo()
    return [
        sum(exact_score(x, 1.0, 0.0, cut) != Fraction(float(value)) for x, value in zip(slices, found, strict=True))
        for (slices, cut), found in zip(pairs, exact, strict=True)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("d", [60, 1000, 3000])
def test_the_products_of_leading_slices_are_exact(d, monkeypatch):
    """Held against fractions; with a few digits more they would not be."""
    assert wrong_products(d, monkeypatch, 0) == [0, 0, 0]
    first, *others = wrong_products(d, monkeypatch, 3)
    assert first == 0  # it has no second slice
    assert all(others)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 5000])
def test_sums_in_blocks_are_sums_and_those_of_two_lose_nothing(size):
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, 50)) * 10.0 ** rng.uniform(-20, 20, (2, 50))
    for x, y, total, rest in zip(a, b, *two_sum(a, b), strict=True):
        assert Fraction(total) + Fraction(rest) == Fraction(x) + Fraction(y)
    X, weights = rng.normal(size=(size, 3)), rng.normal(size=size)
    for make in (np.asarray, sp.csr_array, lambda values: values.astype(np.float32)):
        rows = Rows(make(X), "normalize", 0.3)
        np.testing.assert_allclose(FineRows(rows).combine(weights), rows.combine(weights), rtol=0, atol=1e-12)


def logistic_slope(score, target):
    return -target / (1 + mpmath.exp(target * score))


def huber_slope(score, target):
    return max(min(score - target, mpmath.mpf(1)), mpmath.mpf(-1))


def repeated(loss, times, theta, lam, targets):
    """Objectives of three rows, each many times, and the exact norms of their gradients.

    Their b leaves of the gradient what an ordinary gradient is off by, and what a double is off by.
    """
    X = np.array([[0.6, 0.8], [-1.0, 1e-3], [1 / 3, -0.9]])
    rows = Rows(np.repeat(X, times, axis=0), "normalize", 0.3)
    near = rows.margins(theta)[::times] + np.array([0.25, -0.4, 0.1])  # in the bend, where a slope feels the score
    targets = near if targets is None else targets
    plain = PerturbedObjective(rows, np.repeat(targets, times), lam, np.zeros(3), loss)
    slope = logistic_slope if loss.takes_margins else huber_slope
    total = exact_gradient(X, targets, rows, theta, lam, slope, times)
    for b in (-plain.gradient(theta)[0], np.array([-float(a) for a in total])):
        yield replace(plain, linear=b), float(exact_norm(total, b))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("loss", "targets"),
    [(LogisticLoss(), [1.0, -1.0, 1.0]), (HuberLoss(1.0), [40.0, -30.5, 1e6]), (HuberLoss(1.0), None)],
)
@pytest.mark.parametrize("size", [1.0, 1e3, 1e8])
@pytest.mark.parametrize("times", [1, 100_000])
def test_the_bound_holds_however_many_rows_there_are_and_hardly_grows_with_them(loss, targets, size, times):
    theta = np.array([1.0, -2.0, 0.7]) * size
    lam = 0.7 / size
    for objective, exact in repeated(loss, times, theta, lam, targets):
        bound = gradient_norm_bound(fine(objective), theta)
        assert exact <= bound
        assert bound - exact <= 4e-14 * (3 * times + lam * np.linalg.norm(theta))  # 360 roundings, whatever n and ‖θ‖


@pytest.mark.thorough
def test_cancelling_rows_leave_no_error_unbounded():
    """Rows and their negatives: the sum of gradients is far smaller than what is summed."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 4)) * 10.0 ** rng.integers(-6, 6, size=(500, 1))
    X, targets = np.vstack([X, -X]), np.ones(1000)
    theta = rng.normal(size=4) * 1e-9
    rows = Rows(X, "normalize")
    objective = PerturbedObjective(rows, targets, 1e-3, np.zeros(4), LogisticLoss())
    exact = exact_norm(exact_gradient(X, targets, rows, theta, 1e-3, logistic_slope), np.zeros(4))
    assert exact <= gradient_norm_bound(fine(objective), theta) <= exact + 2e-11
