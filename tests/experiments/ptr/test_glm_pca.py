"""Curvature and eigengap asked first: how the budget is split, what the noise is, and where it pays."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.experiments import ptr
from objpert_core.accounting import Gaussian, compose
from objpert_core.experiments.ptr import stored
from objpert_core.experiments.ptr.stored import Accuracy, Lost
from objpert_core.theory.local_sensitivity import minimiser_sensitivity, projector_sensitivity

# --- the budget --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "share"), [(0.3, 0.25), (1.0, 0.1), (5.0, 0.5)])
def test_both_parts_cost_the_whole(epsilon, share):
    parts = ptr.split(epsilon, 1e-5, share)
    both = compose(Gaussian(1 / parts.test_mu), Gaussian(1 / parts.release_mu))
    assert both.delta(epsilon) + parts.failure == pytest.approx(1e-5, rel=1e-6)
    assert parts.test_mu**2 / (parts.test_mu**2 + parts.release_mu**2) == pytest.approx(share)
    assert ptr.whole(epsilon, 1e-5) > parts.release_mu


@pytest.mark.thorough
def test_a_lower_bound_fails_as_seldom_as_it_says():
    parts = ptr.Asked(0.5, 1.0, 0.02)
    generator = np.random.default_rng(0)
    below = np.array([parts.below(7.0, 1.25, generator) for _ in range(40_000)])
    assert (below > 7.0).mean() == pytest.approx(0.02, abs=0.003)
    assert below.std() == pytest.approx(2.5, rel=0.02)
    assert below.mean() == pytest.approx(7.0 + 2.5 * norm.ppf(0.02), rel=0.02)


# --- logistic regression -----------------------------------------------------------------------------------------


def test_noise_follows_what_is_asked():
    generator = np.random.default_rng(0)
    worst = ptr.noise_of("output", 500.0, 10.0, 1.0, generator)
    free = ptr.noise_of("free", 500.0, 10.0, 1.0, generator)
    assert worst == pytest.approx(1 / 10 / ptr.whole(1.0, Accuracy.DELTA))
    assert free == pytest.approx(minimiser_sensitivity(500.0) / ptr.whole(1.0, Accuracy.DELTA))
    found = [ptr.noise_of("ptr", 500.0, 10.0, 1.0, generator) for _ in range(50)]
    assert free < min(found) < max(found) < worst
    lost = ptr.noise_of("ptr", 12.0, 10.0, 0.1, generator)  # a bound that says nothing: λ stands in
    assert lost == pytest.approx(1 / 10 / ptr.split(0.1, Accuracy.DELTA, ptr.CURVATURE_SHARE).release_mu)


def test_the_minimum_and_its_curvature_are_those_of_the_objective():
    generator = np.random.default_rng(3)
    X = generator.standard_normal((80, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(generator.random(80) < 0.5, 1.0, -1.0)
    theta, curvature = ptr.minimum(X, y, 2.0)

    def gradient(at):
        return 2.0 * at - X.T @ (y / (1 + np.exp(y * (X @ at))))

    assert np.linalg.norm(gradient(theta)) < 1e-7
    hessian = np.array([(gradient(theta + 1e-5 * e) - gradient(theta - 1e-5 * e)) / 2e-5 for e in np.eye(3)])
    assert curvature == pytest.approx(np.linalg.eigvalsh((hessian + hessian.T) / 2)[0], rel=1e-6)


def test_a_split_gives_every_method_a_row():
    rows = list(ptr.accuracies(0, [1.0], [100.0]))
    assert [(row.method, row.lam) for row in rows] == [
        (Accuracy.OBJECTIVE, 0.0),
        *((m, 100.0) for m in list(Accuracy.LABELS)[1:]),
    ]
    assert min(row.accuracy for row in rows) > 0.8
    (kept,) = stored.load("glm").values(epsilon=1.0, method="ptr", lam=100.0, seed=0)
    assert kept == pytest.approx(next(row.accuracy for row in rows if row.method == "ptr"), abs=0.03)


# --- principal directions ----------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_noise_is_isotropic_among_symmetric_matrices():
    generator = np.random.default_rng(0)
    draws = np.array([ptr.symmetric_noise(4, generator) for _ in range(20_000)])
    np.testing.assert_array_equal(draws, draws.transpose(0, 2, 1))
    variance = draws.var(axis=0)
    assert np.diag(variance) == pytest.approx(1.0, rel=0.05)
    assert variance[~np.eye(4, dtype=bool)] == pytest.approx(0.5, rel=0.05)
    # along every direction of norm 1 the inner product is standard normal: what the Gaussian mechanism is about
    x = np.array([0.6, 0.0, 0.0, 0.8])
    assert np.einsum("nij,i,j", draws, x, x).var() == pytest.approx(1.0, rel=0.05)


def test_a_wide_gap_pays_and_a_narrow_one_does_not():
    found = stored.load("pca")
    wide, narrow = {"n": 10_000, "spread": 3.0}, {"n": 1000, "spread": 1.5}
    assert found.interval("gap", method="ptr", **wide).mean > 1000
    assert found.interval(method="ptr", **wide).mean < 0.75 * found.interval(method="gram", **wide).mean
    assert found.interval(method="ptr", **narrow).mean > 5 * found.interval(method="gram", **narrow).mean
    for n in Lost.ROWS:
        assert found.interval(n=n, spread=3.0, method="worst").mean > 0.8


def test_a_direction_is_that_of_the_data_where_epsilon_is_large():
    gram = np.diag([5000.0, 100.0, 50.0])
    for method in ("gram", "ptr", "free"):
        found = ptr.released(method, gram, 100.0, np.random.default_rng(0))
        assert abs(found[0]) > 0.999, method


@pytest.mark.thorough
def test_directions_turn_by_the_noise_that_the_gap_calls_for():
    """To first order the tangent of the angle is the noise beside the diagonal, N(0, σ²/2) for each other column."""
    gram = np.diag([5000.0, *19 * (100.0,)])
    turned = [1 - ptr.released("free", gram, 1.0, np.random.default_rng(seed))[0] ** 2 for seed in range(300)]
    sigma = projector_sensitivity(4900.0) / ptr.whole(1.0, Lost.DELTA)
    assert np.mean(turned) == pytest.approx(19 * sigma**2 / 2, rel=0.1)
    whole = [1 - ptr.released("gram", gram, 1.0, np.random.default_rng(seed))[0] ** 2 for seed in range(300)]
    assert np.mean(whole) == pytest.approx(19 / (2 * (4900 * ptr.whole(1.0, Lost.DELTA)) ** 2), rel=0.1)
