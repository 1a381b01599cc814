"""The pictures' own numbers: bowls and their minima in a disc, eigenvalues, the box-constrained lasso."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from benchmarks.experiments.quadratic import box_lasso
from objpert_core.accounting import Gaussian, calibrate_quadratic_perturbation, calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import Disagreement, ScaledChiSquare, divergence, tilted_delta
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


# The true δ of two data sets that differ in a label: against a sum, the exact theorem, and draws


LAWS = [
    ((0.0, 1.0), (2.0, 1.0), 10),
    ((2.0, 1.0), (0.0, 1.0), 10),
    ((0.0, 1.0), (0.0, 1.6), 7),
    ((0.0, 1.6), (0.0, 1.0), 7),
    ((10.0, 0.3), (11.0, 0.33), 4),
    ((11.0, 0.33), (10.0, 0.3), 5),
    ((0.0, 1.0), (-3.0, 1.3), 30),
    ((5.0, 0.5), (0.0, 2.0), 12),
    ((0.0, 1.0), (0.5, 0.9), 3),
]


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize(("first", "second", "m"), LAWS)
def test_divergences_agree_with_a_sum_over_many_cells(first, second, m, epsilon):
    """Of the positive parts of P − e^ε·Q of every cell: never more than the divergence, and nearly as much."""
    laws = [ScaledChiSquare(*law, m) for law in (first, second)]
    out = np.concatenate([np.geomspace(1e-9, 0.1, 20_000), np.linspace(0.1, m + 60 * m**0.5, 40_000)])
    u = np.unique(np.concatenate([law.start + law.scale * np.concatenate([[0.0], out]) for law in laws]))
    p, q = (np.diff(chi2.cdf((u - law.start) / law.scale, m)) for law in laws)
    expected = np.maximum(p - np.exp(epsilon) * q, 0.0).sum()
    found = divergence(*laws, epsilon)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert found >= expected * (1 - 1e-12) - 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 1e-5), (3.0, 1e-9)])
def test_a_replaced_record_without_disagreement_attains_the_exact_theorem(epsilon, delta):
    """x = 1 against x = 0: B moves by 1, and nothing is lost in θ."""
    bend = calibrate_quadratic_perturbation(epsilon, delta, 1)
    laws = [ScaledChiSquare(start, bend.scale, bend.degrees_of_freedom) for start in (4.0, 5.0)]
    attained = max(divergence(*laws, epsilon), divergence(*laws[::-1], epsilon))
    assert attained == pytest.approx(delta, rel=1e-6)
    assert attained <= bend.delta(epsilon) * (1 + 1e-9)


def test_the_law_of_a_release_is_that_of_drawn_minima():
    data = Disagreement(scale=3.0, degrees_of_freedom=8, rows=20, penalty=5.0)
    generator = np.random.default_rng(0)
    draws = 1 - (5.0 - 0.4) / (20 + 3.0 * generator.chisquare(8, size=50_000))
    law = data.law(0.4)
    for quantile in (0.05, 0.3, 0.7, 0.95):
        at = np.quantile(1 / (1 - draws), quantile)
        assert law.between(law.start, at) == pytest.approx(quantile, abs=0.01)
    # a stationary point of the bent objective: B(θ − 1) + ω − e = 0, e the label's displacement
    B, theta = 31.0, 1 - (5.0 - 0.4) / 31.0
    assert B * (theta - 1) + 5.0 == pytest.approx(0.4, abs=1e-12)


def test_a_label_that_is_off_breaks_the_promise_and_a_tilt_mends_it():
    epsilon, delta = 1.0, 1e-5
    bend = calibrate_quadratic_perturbation(epsilon, delta, 1)
    data = Disagreement(bend.scale, bend.degrees_of_freedom, rows=1000, penalty=10.0)
    deltas = [data.delta(off, epsilon) for off in (0.0, 0.001, 0.02, 0.2)]
    assert deltas[0] == 0.0
    assert deltas == sorted(deltas)
    assert deltas[1] < delta < deltas[2]
    both = calibrate_tilt_and_bend(epsilon, delta, 1, residual_bound=1.0)
    for off in (0.001, 0.3, 1.0, 5.0):
        assert tilted_delta(off, epsilon, 1.0, both.sigma) <= both.delta(epsilon) <= delta
    assert tilted_delta(0.5, epsilon, 1.0, both.sigma) == Gaussian(both.sigma, 1.0).delta(epsilon)
    assert tilted_delta(0.0, epsilon, 1.0, both.sigma) == 0.0
