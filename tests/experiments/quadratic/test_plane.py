"""The pictures' own numbers: bowls and their minima in a disc, eigenvalues, the box-constrained lasso."""

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks.experiments.quadratic import box_lasso
from objpert_core.experiments.quadratic.plane import KINDS, THETA, Plane, least_in_ball
from objpert_core.experiments.quadratic.spectrum import Spectrum


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("radius", [0.3, 1.0, 100.0])
def test_the_least_point_of_a_disc_is_a_solvers(seed, radius):
    generator = np.random.default_rng(seed)
    root = generator.standard_normal((3, 3))
    hessian, linear = root @ root.T + 0.1 * np.eye(3), generator.standard_normal(3)
    found = least_in_ball(hessian, linear, radius)
    assert np.linalg.norm(found) <= radius * (1 + 1e-12)
    other = minimize(
        lambda theta: theta @ hessian @ theta / 2 - linear @ theta,
        np.zeros(3),
        jac=lambda theta: hessian @ theta - linear,
        constraints={"type": "ineq", "fun": lambda theta: radius**2 - theta @ theta},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found, other.x, atol=2e-5 * max(np.linalg.norm(found), 1))


def test_level_curves_are_at_their_height_and_minima_are_least():
    plane = Plane(rows=200, seed=3)
    turn = np.linspace(0, 2 * np.pi, 50)
    edge = np.column_stack([np.cos(turn), np.sin(turn)])
    for bowl in plane.bowls().values():

        def value(theta, bowl=bowl):
            moved = theta - bowl.centre
            return np.einsum("...i,ij,...j", moved, bowl.hessian, moved) / 2

        np.testing.assert_allclose(value(bowl.level(7.0)), 7.0, rtol=1e-9)
        assert (value(edge) >= value(bowl.minimum) - 1e-9).all()
    assert set(plane.bowls()) == set(KINDS)


def test_a_bend_leaves_the_anchor_where_it_is_least():
    """Without the penalty's pull the bent minimum is θ*: its gradient there is the penalty's alone."""
    plane = Plane(rows=500, seed=1)
    bent, plain = plane.bowls()["bend"], plane.bowls()["plain"]
    pulls = [bowl.hessian @ (np.array(THETA) - bowl.centre) for bowl in (bent, plain)]
    np.testing.assert_allclose(*pulls, rtol=1e-9)


def test_draws_repeat_and_differ():
    plane = Plane(rows=100, seed=2)
    first, again = plane.bowls(), Plane(rows=100, seed=2).bowls()
    np.testing.assert_array_equal(first["tilt"].minimum, again["tilt"].minimum)
    others = plane.others(5)
    assert others["bend"].shape == (5, 2)
    assert not (others["tilt"] == first["tilt"].minimum).all(axis=1).any()
    assert plane.excess(first["plain"].minimum) == pytest.approx(0.0, abs=1e-12)
    assert plane.excess(first["tilt"].minimum) > 0


@pytest.mark.parametrize(("d", "m"), [(1, 5), (12, 24), (12, 60)])
def test_eigenvalues_stay_between_alpha_and_beta(d, m):
    spectrum = Spectrum(d, m, 1e-2, draws=400)
    values = spectrum.eigenvalues()
    assert values.shape == (400, d)
    assert (np.diff(values, axis=1) >= 0).all()
    assert (values[:, 0] < spectrum.alpha).mean() <= 0.01
    assert (values[:, -1] > spectrum.beta).mean() <= 0.01
    assert values.mean() == pytest.approx(m, rel=0.1)


@pytest.mark.parametrize("bound", [0.05, 0.5, np.inf])
def test_box_lasso_meets_the_conditions_of_a_minimum(bound):
    generator = np.random.default_rng(0)
    root = generator.standard_normal((20, 40))
    gram, linear = root @ root.T, 30 * generator.standard_normal(20)
    theta = box_lasso(gram, linear, 15.0, bound)
    slope = gram @ theta - linear
    assert (np.abs(theta) <= bound).all()
    zero, inside = theta == 0, (theta != 0) & (np.abs(theta) < bound)
    assert (np.abs(slope[zero]) <= 15.0 + 1e-8).all()
    np.testing.assert_allclose(slope[inside], -15.0 * np.sign(theta[inside]), atol=1e-7)
    at_bound = np.abs(theta) == bound
    assert (slope[at_bound] * np.sign(theta[at_bound]) <= -15.0 + 1e-8).all()
