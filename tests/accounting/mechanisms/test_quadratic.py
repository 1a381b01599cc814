"""Quadratic objective perturbation as a mechanism: attained bounds, the order of the bounds, compositions, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import objpert_core.accounting as acc
from objpert_core.accounting import (
    ADD_REMOVE,
    REPLACE_ONE,
    Gaussian,
    QuadraticPerturbation,
    compose,
    repeat,
)
from objpert_core.accounting.quadratic.published_calibration import published_scale

BOUNDS = ("exact", "sharpened", "published")


def _bend(scale=1.0, m=9, d=4, adjacency=ADD_REMOVE, **others):
    return QuadraticPerturbation(scale, m, d, adjacency=adjacency, **others)


# What is released, integrated


def _wishart(k, w):
    """The density of a 1 × 1 Wishart matrix with m = 2k + 2."""
    return np.where(w > 0, chi2.pdf(w, 2 * k + 2), 0.0)


@pytest.mark.parametrize(("m", "epsilon"), [(2, 0.1), (5, 0.3), (9, 0.2)])
def test_in_one_dimension_the_released_number_attains_the_bound(m, epsilon):
    """θ = θ* − g/(x² + σ²W) for a linear regulariser gθ: densities of θ itself, whose divergence is integrated."""
    scale, square, slope, k = 0.8, 1.0, 2.0, (m - 2) / 2
    ends = np.concatenate((np.geomspace(1e-12, 0.9, 700), np.linspace(0.91, 40.0, 2000), [1e3]))
    b = np.union1d(ends, [square, square * (1 + 1e-9)])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    theta = np.sort(-slope / b)
    half = 0.5 * np.diff(theta)
    at, weight = (theta[:-1] + half)[:, None] + half[:, None] * nodes, half[:, None] * weights
    matrix = -slope / at
    jacobian = slope / np.square(at)
    without = _wishart(k, matrix / scale) / scale * jacobian
    having = _wishart(k, (matrix - square) / scale) / scale * jacobian
    truth = max(
        float((np.maximum(p - math.exp(epsilon) * q, 0.0) * weight).sum())
        for p, q in ((without, having), (having, without))
    )
    for adjacency in (ADD_REMOVE, REPLACE_ONE):
        found = _bend(scale, m, 1, adjacency).delta(epsilon)
        assert found == pytest.approx(truth, rel=1e-4)


@pytest.mark.thorough
def test_in_two_dimensions_the_released_point_alone_attains_the_bound():
    """d = 2, m = 4, r(θ) = gᵀθ, so that θ − θ* = −B⁻¹g: two numbers of a matrix that has three. With the row along g
    what the row moves, 1/(gᵀB⁻¹g), is a function of θ."""
    random = np.random.default_rng(3)
    s, epsilon, m = 1.0, 0.2, 4
    half = random.standard_normal((400_000, m, 2))
    w = np.swapaxes(half, 1, 2) @ half
    y = 1 / np.linalg.inv(w)[:, 0, 0]  # of θ: −g/θ₁ for g along the first axis
    k = (m - 3) / 2
    least = s / -math.expm1(-(epsilon + s / 2) / k)  # the best set, where P lacks the row
    inside = (y <= least) - math.exp(epsilon) * (y + s <= least)
    bound = _bend(1.0, m, 2).delta(epsilon)
    assert abs(inside.mean() - bound) < 5 * inside.std() / math.sqrt(inside.size)


# Losses of xᵀθ


def _glm_pairs(count, seed):
    """Divergences, exact by integration, of one-dimensional releases with and without one more loss.

    The loss is f(t) = c·(√(1 + (t/w)²) − 1)·w² of curvature at most c <= L, the others are ½·b·t², the regulariser
    ½·a·(t − u)²: then the minimiser is a monotone function of W, known by its inverse.
    """
    random = np.random.default_rng(seed)
    for _ in range(count):
        m, scale = int(random.integers(2, 9)), math.exp(random.uniform(-1.5, 1.5))
        c, width = random.uniform(0.3, 1.0), math.exp(random.uniform(-3, 2))
        a, b, u = math.exp(random.uniform(-3, 1)), random.uniform(0, 1), math.exp(random.uniform(-2, 2))
        theta = u * a / (a + b) * (1 - np.geomspace(1, 1e-7, 2001)[::-1])[1:-1]
        theta = np.unique(np.concatenate((theta, u * a / (a + b) * np.geomspace(1e-6, 1, 1500)[:-1])))
        densities = []
        for curved in (0.0, c):
            slope = curved * theta / np.sqrt(1 + np.square(theta / width))
            w = (a * (u - theta) - b * theta - slope) / theta / scale
            bent = curved / (1 + np.square(theta / width)) ** 1.5
            steepness = -(a + b + bent) / theta / scale - w / theta
            densities.append(np.where(w > 0, chi2.pdf(np.maximum(w, 0), m), 0.0) * np.abs(steepness))
        cells = np.diff(theta)
        mass = [float((0.5 * (p[1:] + p[:-1]) * cells).sum()) for p in densities]
        if max(abs(each - 1) for each in mass) > 2e-3:
            continue
        for epsilon in (0.05, 0.5, 1.5):
            for p, q in (densities, densities[::-1]):
                gain = np.maximum(p - math.exp(epsilon) * q, 0.0)
                yield m, scale, epsilon, float((0.5 * (gain[1:] + gain[:-1]) * cells).sum())


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "seed"), [(60, 0), pytest.param(500, 1, marks=pytest.mark.slow)])
def test_no_smooth_convex_loss_of_one_number_exceeds_the_bound_for_them(count, seed):
    tried = 0
    for m, scale, epsilon, truth in _glm_pairs(count, seed):
        bound = _bend(scale, m, 1, bound="glm").delta(epsilon)
        assert truth <= bound + 5e-3 * truth + 1e-4, (m, scale, epsilon, truth, bound)
        tried += 1
    assert tried > count


# The bounds beside each other


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.1, 1000), st.floats(0.0, 20.0))
def test_exact_is_below_sharpened_is_below_published(d, extra, scale, epsilon):
    deltas = [QuadraticPerturbation(scale, d + extra, d, bound=bound).delta(epsilon) for bound in BOUNDS]
    assert deltas[0] <= deltas[1] * (1 + 1e-9)
    assert deltas[1] <= deltas[2] * (1 + 1e-9)


@pytest.mark.parametrize(("d", "m", "digits"), [(1, 10, 5), (12, 24, 10), (100, 200, 64)])
def test_what_the_published_noise_delivers_is_many_powers_of_ten_below_its_promise(d, m, digits):
    bend = QuadraticPerturbation(published_scale(0.5, 1e-6, d, m), m, d)
    assert (math.log(1e-6) - bend.log_delta(0.5)) / math.log(10) > digits


def test_what_the_published_noise_of_the_second_figure_delivers():
    bend = QuadraticPerturbation(published_scale(0.5, 0.01, 100, 200, 2500.0), 200, 100, 2500.0)
    assert bend.log_delta(0.5) / math.log(10) == pytest.approx(-66.96, abs=0.01)


def test_an_inexact_solver_costs_more_and_more_output_noise_brings_it_back():
    def bend(bound, **inexact):
        return QuadraticPerturbation(200.0, 40, 10, bound=bound, **inexact)

    for bound in ("sharpened", "published"):
        exact = bend(bound).delta(1.0)
        deltas = [
            bend(bound, tolerance=1e-3, anchor_error=1e-3, sigma_out=sigma).delta(1.0) for sigma in (1.0, 10.0, 1e4)
        ]
        assert deltas[0] >= deltas[1] >= deltas[2] >= exact
        assert deltas[2] <= 1.2 * exact + 1e-12


# No Rényi curve, and compositions


def test_no_divergence_is_finite_and_it_says_why():
    bend = _bend()
    assert bend.rdp(2.0) == math.inf
    assert np.all(np.isinf(bend.rdp(np.array([1.0, 1.5, 64.0]))))
    assert bend.mu() == bend.rho() == math.inf
    assert not bend.has_rdp
    assert "no Rényi divergence" in bend.no_rdp()


@pytest.mark.parametrize(("m", "d", "scale"), [(9, 4, 1.0), (2, 1, 2.0), (5, 4, 0.5)])
def test_the_floor_is_the_mass_at_infinity_and_no_epsilon_gets_below_it(m, d, scale):
    bend = _bend(scale, m, d)
    floor = chi2.cdf(1 / scale, m - d + 1)
    assert bend.floor == pytest.approx(floor, rel=1e-9)
    assert bend.pld(direction="add").infinite_mass == pytest.approx(floor, rel=1e-9)
    assert bend.epsilon(floor * 0.999) == math.inf
    assert math.isfinite(bend.epsilon(floor * 1.001))
    assert bend.delta(1e6) >= floor


@pytest.mark.parametrize("scale", [2.0, 20.0])
def test_where_the_loss_has_one_finite_value_compositions_are_exact(scale):
    bend, count = _bend(scale, 3, 2), 5  # k = 0
    whole, shift = repeat(bend, count), bend.shift
    for epsilon in (0.0, 0.1, 0.9 * count * shift / 2, 3.0):
        removed, added = -math.expm1(min(epsilon - count * shift / 2, 0.0)), -math.expm1(-count * shift / 2)
        assert whole.delta(epsilon) == pytest.approx(max(removed, added), rel=1e-7)
        assert whole.delta(epsilon) >= max(removed, added)
    assert whole.epsilon(-math.expm1(-count * shift / 2) * 0.999) == math.inf


@pytest.mark.slow
def test_a_little_normal_noise_beside_it_changes_little_even_where_delta_is_tiny():
    bend = _bend(20.0, 30, 10)
    assert bend.delta(0.3) <= compose(bend, Gaussian(1e6)).delta(0.3) <= 1.05 * bend.delta(0.3)


# Refusals, equality


def test_a_published_bound_that_proves_nothing_says_so():
    bend = QuadraticPerturbation(1e-6, 9, 4, bound="published")
    assert bend.delta(1.0) == 1.0
    assert bend.epsilon(0.1) == math.inf
    assert "larger σ²" in bend.explain()


def test_sizes_far_out_give_numbers_without_a_warning():
    epsilon = np.array([0.0, 1e-8, 1.0, 700.0, 1e5])
    for scale in (1e-100, 1e-3, 1e10, 1e100):
        for m, d in ((2, 1), (3, 2), (100_001, 100_000)):
            for bound, adjacency in (("exact", REPLACE_ONE), ("glm", ADD_REMOVE), ("published", REPLACE_ONE)):
                deltas = QuadraticPerturbation(scale, m, d, 1.0, adjacency, bound).delta(epsilon)
                assert np.all((deltas >= 0) & (deltas <= 1)), (scale, m, d, bound)
                assert np.all(np.diff(deltas) <= 1e-9), (scale, m, d, bound)


@pytest.mark.parametrize("bound", ["sharpened", "published"])
def test_the_best_split_is_found_at_large_epsilon_too(bound):
    bend = QuadraticPerturbation(
        627.5, 35, 10, 0.04168, bound=bound, tolerance=2.3e-7, anchor_error=5.6e-4, sigma_out=3.16
    )
    at = np.geomspace(1e-2, 1e4, 25)
    log_delta = np.array([bend.log_delta(epsilon) for epsilon in at])
    assert log_delta[-1] < -75  # the search over equal shares of ε went up to 0 here
    assert (np.diff(log_delta) <= 1e-9 * -log_delta[1:] + 1e-12).all()


def test_a_tilt_without_noise_hides_nothing_and_one_that_is_all_noise_costs_nothing():
    bend = _bend()
    assert acc.TiltAndBend(bend, 1e-300, 1e300).delta(1.0) == 1.0
    assert acc.TiltAndBend(bend, 1e300, 1e-300).delta(1.0) == pytest.approx(bend.delta(1.0), rel=1e-4)


def test_no_renyi_curve_and_the_adjacency_is_the_bends():
    for adjacency in (acc.ADD_REMOVE, acc.REPLACE_ONE):
        both = acc.TiltAndBend(_bend(adjacency=adjacency), 1.0, 1.0)
        assert both.adjacency == adjacency
        assert both.rdp(2.0) == both.mu() == both.rho() == math.inf
        assert both.no_rdp() == both.bend.no_rdp()
        assert both == acc.TiltAndBend(_bend(1, adjacency=adjacency), 1, 1)
