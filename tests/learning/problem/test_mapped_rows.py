"""Objectives behind several maps of the same rows, by products with the rows as given and with those of the first."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows
from objpert_core.learning.problem.losses import HuberLoss
from objpert_core.learning.problem.mapped_rows import Images
from objpert_core.learning.problem.single_precision import rough
from objpert_core.learning.solvers import solve_family
from objpert_core.learning.steps.standardisation import RowMap
from tests.learning.problem.exact import exact_gradient, exact_norm

RNG = np.random.default_rng(3)
N, D, DRAWS = 900, 8, 4
U = RNG.normal(size=(N, D)) * 0.8 ** np.arange(D) + 0.5
U /= np.linalg.norm(U, axis=1, keepdims=True)
SIGNS = np.where(U[:, 0] - U[:, 1] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)
CENTERS = U.mean(axis=0) + 0.05 * RNG.normal(size=(DRAWS, D))
SCALES = np.exp(0.2 * RNG.normal(size=(DRAWS, D)))
LOSS = LogisticLoss(1.5)


def behind_maps(constant=0.3, sparse=False, centers=CENTERS, lam=2.0):
    """Objectives, each on rows of its own, and the same as images of the first."""
    X = np.where(np.abs(U) > 0.3, U, 0.0) if sparse else U
    centers = np.zeros_like(centers) if sparse else centers
    linears = 5.0 * np.random.default_rng(1).normal(size=(DRAWS, D + (constant > 0)))
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    mapped = [scale * (X - center) for center, scale in zip(centers, SCALES, strict=True)]
    rows = [Rows(sp.csr_array(W) if sparse else W, "normalize", constant) for W in mapped]
    objectives = [PerturbedObjective(own, SIGNS, lam, b, LOSS) for own, b in zip(rows, linears, strict=True)]
    return objectives, Images(
        objectives[0], Rows(sp.csr_array(X) if sparse else X, "normalize", constant), centers, SCALES, linears
    )


def gradients(images, problem, thetas, which):
    return sum(images.gradients(part, thetas, which) for part in problem.parts(256))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_gradients_are_those_of_every_objective_on_its_own_rows(constant, sparse):
    objectives, images = behind_maps(constant, sparse)
    which = np.array([3, 0, 2])
    thetas = RNG.normal(size=(3, D + (constant > 0)))
    found = gradients(images, images.base, thetas, which)
    own = [replace(objectives[k], linear=0 * theta).gradient(theta)[0] for k, theta in zip(which, thetas, strict=True)]
    np.testing.assert_allclose(found + 2.0 * thetas, own, rtol=0, atol=1e-10)
    if not sparse:
        single = gradients(images, rough(images.base), thetas, which)
        np.testing.assert_allclose(single, found, rtol=0, atol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_models_have_the_scores_and_the_curvature_of_the_first(constant, sparse):
    objectives, images = behind_maps(constant, sparse, CENTERS[:1] + 0 * CENTERS)
    centre = 0.3 * RNG.normal(size=D + (constant > 0))
    _, hessians = images.models(images.base, centre)
    _, curvature = images.base.gradient(centre)
    own = [np.triu(objective.hessian(curvature)) for objective in objectives]
    np.testing.assert_allclose(np.triu(hessians[0]), own[0], rtol=0, atol=1e-9)
    for found, exact in zip(hessians, own, strict=True):  # but for the lengths that maps give to rows
        ratios = eigvalsh(*(np.triu(one) + np.triu(one, 1).T for one in (found, exact)))
        assert 0.3 < ratios.min() <= ratios.max() < 3
    again = images.hessians(images.base, np.tile(centre, (DRAWS, 1)))  # at scores of their own
    np.testing.assert_allclose(np.triu(again[0]), own[0], rtol=0.3, atol=1.0)
    none = replace(images.base, lam=1e-9)
    starts, _ = Images(none, images.exact.rows, CENTERS, SCALES, images.linears).models(none, centre)
    np.testing.assert_allclose(starts[0], centre, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_hessians_are_of_rows_that_are_as_long_as_the_first_map_made_them(constant, sparse):
    """To nine digits, for every map, wherever its centre is."""
    _, images = behind_maps(constant, sparse)
    rows, given = images.base.rows, images.exact.rows
    units = (given.matrix.toarray() if sparse else given.matrix) * given.factors[:, None]
    centers = np.zeros_like(CENTERS) if sparse else CENTERS
    centre = 0.3 * RNG.normal(size=rows.dimension)
    _, curvature = images.base.gradient(centre)
    for hessian, scale, center in zip(images.models(images.base, centre)[1], SCALES, centers, strict=True):
        z = rows.factors[:, None] * scale * (units - center)
        z = np.column_stack([z, np.full(N, constant)]) if constant else z
        exact = z.T @ (curvature[:, None] * z) + 2.0 * np.eye(rows.dimension)
        np.testing.assert_allclose(np.triu(hessian), np.triu(exact), rtol=0, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lam", [1e-3, 2.0])
def test_each_comes_to_its_own_minimum(lam, sparse):
    objectives, images = behind_maps(sparse=sparse, lam=lam)
    for objective, result in zip(objectives, solve_family(images, tau=1e-7, max_iter=200), strict=True):
        assert result.converged
        assert np.linalg.norm(objective.gradient(result.theta)[0]) <= 2e-7


def test_a_row_that_is_the_centre_is_none_for_that_map_alone():
    X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    centers = np.array([[1.0, 0.0], [0.6, 0.8]])
    targets = np.array([1.0, -1.0, 1.0])
    one = PerturbedObjective(Rows(X - centers[0], "normalize", 0.3), targets, 1.0, np.zeros(3))
    images = Images(one, Rows(X, "normalize", 0.3), centers, np.ones((2, 2)), np.zeros((2, 3)))
    theta = np.array([[0.4, -0.2, 0.3]])
    own = one.gradient(theta[0])[0]
    np.testing.assert_allclose(gradients(images, one, theta, np.array([0]))[0] + theta[0], own, rtol=1e-9)
    assert np.isfinite(gradients(images, one, theta, np.array([1]))).all()


def looked_at(X, centers, scales, constant, theta, targets=None, loss=LOSS, size=7):
    """Each map's own rows, what b makes their gradient at θ nothing, as it is seen, and what a look says of it."""
    given = Rows(X, "normalize", constant)
    if targets is None:
        targets = np.where(np.random.default_rng(0).random(X.shape[0]) < 0.5, 1.0, -1.0)
    several = [RowMap(*pair).seen(given) for pair in zip(centers, scales, strict=True)]
    first = PerturbedObjective(several[0], targets, 0.5, np.zeros(given.dimension), loss)
    maps = np.array([0 * a if center is None else center for center, a in zip(centers, scales, strict=True)])
    points, which = np.tile(theta, (len(several), 1)), np.arange(len(several))[::-1]

    def looks(linears):
        return Images(first, given, maps, np.array(scales), linears).looks(points, which, size)

    linears = -np.array([look.gradient for look in looks(np.zeros_like(points))])[::-1]
    found = looks(linears)
    return targets, several, linears, {int(k): look for k, look in zip(which, found, strict=True)}


def logistic(u, t):
    return -t / (1 + mpmath.exp(t * u - mpmath.mpf(1.5)))


def norm_on_own_rows(targets, rows, theta, b, slope=logistic):
    entries = rows.matrix.toarray() if rows.sparse else rows.matrix
    with mpmath.workdps(60):
        return exact_norm(exact_gradient(entries, targets, rows, theta, 0.5, slope), b)


@pytest.mark.parametrize("constant", [0.0, 0.3, 40.0])
@pytest.mark.parametrize("kind", ["centred", "scaled", "sparse"])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_the_rows_that_a_map_makes_against_exact_arithmetic(kind, constant, seed):
    """Nothing is left of the gradient but rounding (docs/theorems.md, T52)."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(40, 6)) + 3 * rng.normal(size=6)) * 10.0 ** rng.integers(-3, 4, size=(40, 1))
    X[3] = 0.0
    scales = list(10.0 ** rng.uniform(-2, 1, size=(3, 6)))
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    mean = (X / np.where(lengths > 0, lengths, 1.0)).mean(axis=0)
    centers = [mean + 0.1 * rng.normal(size=6) for _ in scales] if kind == "centred" else [None] * 3
    theta = rng.normal(size=6 + (constant > 0)) * 10 ** rng.uniform(-1, 2)
    if kind == "sparse":
        X = sp.csr_array(np.where(rng.random(X.shape) < 0.5, X, 0.0))
    targets, several, linears, found = looked_at(X, centers, scales, constant, theta)
    for k, rows in enumerate(several):
        exact = norm_on_own_rows(targets, rows, theta, linears[k])
        assert exact <= found[k].bound < 1e-11 * 40 * (1 + constant) * (1 + constant * np.linalg.norm(theta))


def test_a_row_next_to_the_centre_has_no_bound_where_its_norm_has_too_few_digits():
    X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    theta = np.array([0.4, -0.2, 0.3])
    for distance, known in ((0.1, True), (2.0**-8, True), (2.0**-10, False), (1e-8, False), (0.0, False)):
        centers = [np.array([1.0, distance]), np.array([0.3, 0.3])]
        targets, several, linears, found = looked_at(X, centers, [np.ones(2)] * 2, 0.3, theta)
        assert math.isfinite(found[0].bound) == known
        for k, look in found.items():
            assert norm_on_own_rows(targets, several[k], theta, linears[k]) <= look.bound
        assert found[1].bound < 1e-12


def test_a_row_near_the_centre_makes_the_bound_of_the_others_no_wild_guess():
    """Each row pays for its own norm's digits."""
    rng = np.random.default_rng(0)
    X, near = rng.normal(size=(999, 8)), np.array([[1.0, 0.01] + 6 * [0.0]])
    theta, centers, scales = 0.3 * rng.normal(size=9), [np.eye(8)[0]] * 2, [np.ones(8)] * 2
    (_, _, _, one), (_, _, _, none) = (
        looked_at(rows, centers, scales, 0.3, theta) for rows in (np.concatenate([X, near]), X)
    )
    assert none[0].bound < one[0].bound < 30 * none[0].bound


def huber(width):
    return HuberLoss(width), lambda u, t: max(min(u - t, mpmath.mpf(width)), -mpmath.mpf(width))


def test_scores_that_the_constant_makes_long_are_paid_for():
    """Targets that are the scores themselves: what is left of a slope is the score's rounding."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, theta = np.tile(rng.normal(size=3), (5, 1)), rng.normal(size=4) * 1e6
        rows = RowMap(None, np.ones(3)).seen(Rows(X, "normalize", 1e4))
        loss, slope = huber(1.0)
        targets, several, linears, found = looked_at(X, [None], [np.ones(3)], 1e4, theta, rows.margins(theta), loss)
        assert norm_on_own_rows(targets, several[0], theta, linears[0], slope) <= found[0].bound


def test_rows_near_the_centre_are_paid_for_where_slopes_are_at_their_end():
    """One row whose slope has no error: what is left is the row's."""
    worst, (loss, slope) = 0.0, huber(1e6)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        center, step = rng.normal(size=(2, 3))
        center /= np.linalg.norm(center)
        X, scale = (center + step / np.linalg.norm(step) / 200)[None], [10.0 ** rng.uniform(-0.1, 0.1, size=3)]
        *rest, found = looked_at(X, [center], scale, 0.0, 1e-9 * step, np.array([1e12]), loss)
        targets, several, linears = rest
        exact = norm_on_own_rows(targets, several[0], 1e-9 * step, linears[0], slope)
        assert exact <= found[0].bound
        worst = max(worst, exact / found[0].bound)
    assert worst > 0.01  # the bound is about this error


def test_every_row_of_a_block_is_paid_for():
    """Equal rows are off by the same. Blocks of 7 and one block say about the same, and much more than for one row."""
    X, theta = np.tile([[0.3, -0.7, 0.2]], (30, 1)), np.array([0.4, -0.2, 0.3])
    said = [
        looked_at(rows, [np.array([0.3, -0.7, 0.1])], [np.ones(3)], 0.0, theta, size=size)[3][0]
        for rows, size in ((X, 2048), (X, 7), (X[:1], 7))
    ]
    off = [look.bound - np.linalg.norm(look.gradient) for look in said]
    assert 0.5 < off[0] / off[1] < 2
    assert off[0] > 20 * off[2]


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e-7, 1e-10, 1e-13, 1e-30])
def test_squares_that_are_lost_by_underflow_leave_no_bound(scale, centred):
    """Rows at the least norm that counts, behind maps whose noise made them small; longer ones have a bound."""
    X, theta = 1.1e-150 * np.tile([[0.6, 0.8]], (20, 1)), np.array([0.3, -0.2])
    centers = [np.array([-0.3, -0.1]) if centred else None]
    loss = LogisticLoss(0.0)
    targets, several, linears, found = looked_at(
        X, centers, [scale * np.array([1.0, 1.37])], 0.0, theta, np.ones(20), loss
    )
    exact = norm_on_own_rows(targets, several[0], theta, linears[0], lambda u, t: -t / (1 + mpmath.exp(t * u)))
    assert exact <= found[0].bound
    assert math.isinf(found[0].bound)
    *_, longer = looked_at(1e20 * X, centers, [np.array([scale, scale])], 0.0, theta, np.ones(20), loss)
    assert math.isfinite(longer[0].bound) == (scale >= 1e-10)
