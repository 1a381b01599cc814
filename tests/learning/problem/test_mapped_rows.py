"""Objectives behind several maps of the same rows, by products with the rows of the first."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows
from objpert_core.learning.problem.mapped_rows import Images
from objpert_core.learning.problem.single_precision import rough
from objpert_core.learning.solvers import solve_family

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
    mapped = [scale * (X - center) for center, scale in zip(centers, SCALES, strict=True)]
    rows = [Rows(sp.csr_array(W) if sparse else W, "normalize", constant) for W in mapped]
    objectives = [PerturbedObjective(own, SIGNS, lam, b, LOSS) for own, b in zip(rows, linears, strict=True)]
    return objectives, Images(objectives[0], centers, SCALES, linears)


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
    for objective, hessian in zip(objectives, hessians, strict=True):
        np.testing.assert_allclose(np.triu(hessian), np.triu(objective.hessian(curvature)), rtol=0, atol=1e-9)
    none = replace(images.base, lam=1e-9)
    starts, _ = Images(none, CENTERS, SCALES, images.linears).models(none, centre)
    np.testing.assert_allclose(starts[0], centre, atol=1e-5)


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
    images = Images(one, centers, np.ones((2, 2)), np.zeros((2, 3)))
    theta = np.array([[0.4, -0.2, 0.3]])
    own = one.gradient(theta[0])[0]
    np.testing.assert_allclose(gradients(images, one, theta, np.array([0]))[0] + theta[0], own, rtol=1e-9)
    assert np.isfinite(gradients(images, one, theta, np.array([1]))).all()
