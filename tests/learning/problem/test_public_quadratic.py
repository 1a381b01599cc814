"""A public quadratic in place of λI (docs/theorems.md, T53): the loss at every outcome, by the densities themselves."""

import numpy as np
from scipy.special import expit

SIGMA, LEAST = 1.5, 0.4
GRID = np.linspace(0, 1, 20_001)


def largest(v, lam, norm=1.0):
    """T(v) of T1, for a row of this norm."""
    a, kappa = norm / SIGMA, norm**2 / lam
    return float(np.max(a**2 * GRID**2 / 2 + a * GRID * v + np.log1p(kappa * GRID * (1 - GRID))))


def losses(X, y, x, label, quadratic, linear, theta):
    """The log ratio of the densities of θ with the row (x, label) and without, and both b that lead to θ."""
    pull = lambda rows, labels: -labels * expit(-labels * (rows @ theta))  # noqa: E731
    bend = lambda rows: (w := expit(rows @ theta) * expit(-rows @ theta), rows.T @ (w[:, None] * rows))[1]  # noqa: E731
    b = -(pull(X, y) @ X + quadratic @ theta + linear)
    gradient = pull(x[None], np.array([label]))[0] * x
    without = bend(X) + quadratic
    ratio = np.linalg.slogdet(without + bend(x[None]))[1] - np.linalg.slogdet(without)[1]
    ratio += (b @ b - (b - gradient) @ (b - gradient)) / (2 * SIGMA**2)
    return ratio, b, b - gradient


def a_quadratic(rng):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return turn @ np.diag([LEAST, 5.0, 80.0]) @ turn.T, turn[:, 0]


def test_no_loss_exceeds_the_bound_of_the_least_curvature_and_that_of_more_is_too_small():
    rng = np.random.default_rng(0)
    for trial in range(300):
        quadratic, along = a_quadratic(rng)
        X, y = rng.normal(size=(trial % 4, 3)), rng.choice([-1.0, 1.0], trial % 4)
        x = along if trial % 2 else rng.normal(size=3)
        norm, label = float(np.linalg.norm(x)), rng.choice([-1.0, 1.0])
        theta, linear = 2 * rng.normal(size=3), 3 * rng.normal(size=3)
        ratio, b, other = losses(X, y, x, label, quadratic, linear, theta)
        unit = label * x / (SIGMA * norm)
        assert ratio <= largest(-unit @ other, LEAST, norm) + 1e-7  # θ from the data with the row
        assert -ratio <= largest(unit @ b, LEAST, norm) + 1e-7
    # One row alone, along the least curvature; a public linear term keeps θ = 0 where its curvature is largest.
    quadratic, x = a_quadratic(rng)
    other = x / 2  # v = −a/2, where the largest curvature is the worst
    linear = -other + x / 2
    ratio, _, found = losses(np.empty((0, 3)), np.empty(0), x, 1.0, quadratic, linear, np.zeros(3))
    np.testing.assert_allclose(found, other, atol=1e-12)
    v = -x @ other / SIGMA
    assert ratio <= largest(v, LEAST) + 1e-7
    assert ratio > largest(v, 1.01 * LEAST) + 1e-4
