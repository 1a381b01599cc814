"""Populations: excess risks against other quadratures, Monte Carlo and reference values."""

import math

import numpy as np
import pytest
import scipy.special
from scipy.integrate import dblquad, quad
from scipy.special import expit

from objpert_core.theory.populations import (
    AbsoluteWithLaplace,
    LinearHardInstance,
    LogisticOnSphere,
    MeanEstimation,
    hard_bias,
    unit_jacobi,
)

EVERY = [
    LogisticOnSphere(1),
    LogisticOnSphere(2),
    LogisticOnSphere(3, 2.0),
    LogisticOnSphere(10),
    AbsoluteWithLaplace(1),
    AbsoluteWithLaplace(2),
    AbsoluteWithLaplace(10),
    LinearHardInstance(20, 0.3),
    MeanEstimation(20, 0.3),
]
every = pytest.mark.parametrize("population", EVERY, ids=repr)


def bregman(a, b):
    """KL divergence of Bernoulli laws with log odds a and b."""
    return np.logaddexp(0, b) - np.logaddexp(0, a) - expit(a) * (b - a)


def near(population, k=6, size=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return population.minimiser + size * rng.normal(size=(k, population.dimension)) / math.sqrt(population.dimension)


@pytest.mark.thorough
@every
def test_excess_is_what_samples_say(population):
    X, y = population.sample(200_000, 0)
    thetas = near(population, 4)
    differences = population.losses(thetas, X, y) - population.losses(population.minimiser, X, y)
    error = differences.std(axis=1) / math.sqrt(len(y))
    assert np.all(np.abs(differences.mean(axis=1) - population.excess(thetas)) <= 4.5 * error + 1e-12)
    losses = population.losses(population.minimiser, X, y)
    assert abs(losses.mean() - population.least_risk) <= 4.5 * losses.std() / math.sqrt(len(y)) + 1e-12


@every
def test_the_minimiser_is_one_and_nothing_in_the_ball_is_better(population):
    assert np.linalg.norm(population.minimiser) <= population.radius * (1 + 1e-15)
    assert abs(population.excess(population.minimiser)) < 1e-14
    thetas = near(population, 50, 2.0)
    thetas *= np.minimum(1, population.radius / np.linalg.norm(thetas, axis=1))[:, None]
    apart = np.linalg.norm(thetas - population.minimiser, axis=1) > 1e-9  # on a line the ball's end is θ*
    assert apart.sum() >= 15
    assert np.all(population.excess(thetas)[apart] > 0)
    assert np.all(population.excess(thetas) > -1e-14)


@every
def test_one_model_or_many_and_nothing_else(population):
    thetas = near(population)
    found = population.excess(thetas)
    assert found.shape == (6,)
    assert isinstance(population.excess(thetas[0]), float)
    np.testing.assert_allclose([population.excess(theta) for theta in thetas], found, rtol=1e-9)
    np.testing.assert_allclose(population.risk(thetas), found + population.least_risk)
    with pytest.raises(ValueError, match=rf"^theta must hold {population.dimension} finite numbers, got shape \(40,\)"):
        population.excess(np.zeros(40))
    with pytest.raises(ValueError, match=r"^theta must hold"):
        population.excess(np.full(population.dimension, math.nan))


@every
def test_samples_are_the_seeds_own_and_rows_have_norm_one(population):
    X, y = population.sample(50, 7)
    again, _ = population.sample(50, 7)
    np.testing.assert_array_equal(X, again)
    assert X.shape == (50, population.dimension)
    assert y.shape == (50,)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    assert not np.array_equal(X, population.sample(50, 8)[0])


@every
def test_no_gradient_is_longer_than_lipschitz_and_opposite_rows_pull_the_other_way(population):
    X, y = population.sample(400, 1)
    thetas = near(population, 2, 0.5)
    thetas *= np.minimum(1, population.radius / np.linalg.norm(thetas, axis=1))[:, None]
    along, step = thetas[1] - thetas[0], 1e-6
    along /= np.linalg.norm(along)
    steep = (population.losses(thetas[0] + step * along, X, y) - population.losses(thetas[0], X, y)) / step
    assert np.abs(steep).max() <= population.lipschitz + 1e-6
    other = population.opposite(X, y)
    assert other[0].shape == X.shape
    steep_other = population.losses(thetas[0] + step * along, *other) - population.losses(thetas[0], *other)
    if population.loss == "squared distance":
        np.testing.assert_array_equal(population.opposite(*other)[0], X)
    else:
        assert np.mean(steep * steep_other <= 0) > 0.5
    if population.loss in ("logistic", "linear"):
        assert np.all(steep * steep_other <= 0)


@pytest.mark.parametrize("size", [0.3, 3.0, 30.0, 150.0])
def test_one_and_two_dimensions_have_integrals_of_their_own(size):
    line, circle = LogisticOnSphere(1, 2.0), LogisticOnSphere(2, 2.0)
    assert line.excess(np.array([size])) == pytest.approx(float(bregman(2.0, size)), rel=1e-12)
    theta = size * np.array([math.cos(0.7), math.sin(0.7)])

    def along(angle):
        x = np.array([math.cos(angle), math.sin(angle)])
        return bregman(x @ circle.minimiser, x @ theta) / math.pi

    turn = np.linspace(0, math.pi, 200)
    wanted = quad(along, 0, math.pi, points=turn[1:-1], limit=2000, epsabs=1e-12, epsrel=1e-12)[0]
    assert circle.excess(theta) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "size"), [(3, 1.0), (3, 20.0), (5, 1.0), (5, 20.0), (40, 6.0)])
def test_more_dimensions_against_an_integral_over_the_disc(d, size):
    population = LogisticOnSphere(d)
    direction = np.zeros(d)
    direction[0] = 1.0
    theta = size * direction
    cosine = population.minimiser[0] / 4.0
    sine = math.sqrt(1 - cosine**2)

    def integrand(angle, lift):  # 1 − r² = lift²: no singularity at the rim for d = 3
        r2 = 1 - lift**2
        r = math.sqrt(r2)
        a = 4.0 * r * math.cos(angle)
        b = size * r * (cosine * math.cos(angle) + sine * math.sin(angle))
        return bregman(a, b) * lift ** (d - 3) * (d - 2) / (2 * math.pi)

    wanted = dblquad(integrand, 0, 1, 0, 2 * math.pi, epsabs=1e-10, epsrel=1e-10)[0]
    assert population.excess(theta) == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("d", [2, 3, 10, 1000])
def test_the_absolute_losss_integral(d):
    population = AbsoluteWithLaplace(d)
    mass = scipy.special.beta(0.5, (d - 1) / 2)
    for off in (1e-6, 0.1, 3.0, 100.0):
        theta = population.minimiser + off * np.eye(d)[0]

        def integrand(angle, off=off):
            v = off * math.sin(angle)
            return (v + 0.5 * math.expm1(-v / 0.5)) * math.cos(angle) ** (d - 2) * 2 / mass

        top = min(math.pi / 2, 14 / math.sqrt(max(d - 2, 1)))
        edges = np.minimum(top, np.array([1e-3, 1e-2, 0.1, 0.4]) / max(1, off / 3))
        wanted = quad(integrand, 0, top, points=edges, epsabs=0, epsrel=1e-11, limit=500)[0]
        assert population.excess(theta) == pytest.approx(wanted, rel=1e-5 if off < 1e-3 else 1e-9)
    # far away it is the mean size of the error, and near it a parabola
    far, close = population.minimiser + 1e6 * np.eye(d)[0], population.minimiser + 1e-7 * np.eye(d)[0]
    assert population.excess(far) == pytest.approx(2e6 / (mass * (d - 1)) - 0.5, rel=1e-9)
    assert population.excess(close) == pytest.approx(1e-14 / d, rel=1e-5)


def test_dimensions_in_the_thousands_are_no_trouble():
    population = LogisticOnSphere(5000, 4.0)  # a = x·θ* is nearly normal, and the excess is E[a²/8 − a⁴/64 + …]
    variance = 16 / 5000
    wanted = variance / 8 - 3 * variance**2 / 64
    assert population.excess(np.zeros(5000)) == pytest.approx(wanted, rel=1e-5)
    assert population.least_risk == pytest.approx(math.log(2) - wanted, rel=1e-8)


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 1.5, 48.0, 400.0])
def test_nodes_are_those_of_gauss_and_jacobi(exponent):
    nodes, weights = unit_jacobi(12, exponent)
    theirs, masses = scipy.special.roots_jacobi(12, exponent, 0.0)
    np.testing.assert_allclose(nodes, (1 + theirs) / 2, rtol=1e-8)
    np.testing.assert_allclose(weights, masses / masses.sum(), rtol=1e-6, atol=1e-14)
    for power in (0, 1, 5, 23):  # E q^k of the beta law
        wanted = math.exp(math.lgamma(power + 1) + math.lgamma(exponent + 2) - math.lgamma(power + exponent + 2))
        assert weights @ nodes**power == pytest.approx(wanted, rel=1e-9)


def test_the_hard_instance_is_hard_where_learning_starts():
    assert hard_bias(100, 1, 1.0, 1e-4) == 0.1
    assert hard_bias(10, 5000, 0.1, 1e-4) == 1.0
    assert hard_bias(1000, 500, 0.5, 1e-6) > 1 / math.sqrt(1000)
