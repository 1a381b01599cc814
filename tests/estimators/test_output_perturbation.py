"""Output perturbation: the sensitivity of a solver that stops early, the noise that follows, and what it learns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import objpert_core.learning as learn
from objpert_core.accounting import Gaussian, OutputPerturbation, calibrate_gaussian, repeat
from objpert_core.estimators import OutputPerturbationLogisticRegression
from objpert_core.learning import output_sensitivity, recommended_output_lam, solve_and_perturb
from objpert_core.learning.output_perturbation import NEIGHBOURS
from tests.estimators.rows import labelled
from tests.learning.test_objective_perturbation import DELTA, data

# Sensitivity


def test_the_two_sensitivities():
    assert learn.output_sensitivity(4.0, 1.5, 0.25) == 0.5
    assert learn.output_sensitivity(4.0, 1.5, 0.25, "replace") == 0.875


def stopped_early(X, targets, lam, tau, jitter):
    """A point whose gradient norm is just below τ, in a direction that an adversarial solver chooses."""
    objective = learn.PerturbedObjective(learn.Rows(X, "clip"), targets, lam, np.zeros(X.shape[1]))
    theta = learn.solve(objective, tau=1e-10).theta
    direction = np.random.default_rng(jitter).normal(size=X.shape[1])
    direction /= np.linalg.norm(direction)
    low, high = 0.0, 2 * tau / lam
    for _ in range(60):
        middle = (low + high) / 2
        near = np.linalg.norm(objective.gradient(theta + middle * direction)[0]) <= tau
        low, high = (middle, high) if near else (low, middle)
    return theta + low * direction


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(0, 6),
    lam=st.floats(1e-3, 50),
    tau=st.floats(1e-6, 0.5),
    adjacency=st.sampled_from(["add/remove", "replace"]),
)
def test_no_pair_of_neighbours_moves_the_solution_further(seed, n, lam, tau, adjacency):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 2, 2))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    targets = rng.choice([-1.0, 1.0], n + 2)
    first = stopped_early(X[:-1], targets[:-1], lam, tau, seed)
    other = slice(None) if adjacency == "add/remove" else [*range(n), n + 1]
    second = stopped_early(X[other], targets[other], lam, tau, seed + 1)
    assert np.linalg.norm(first - second) <= learn.output_sensitivity(lam, 1.0, tau, adjacency) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add/remove", "replace"])
def test_the_sensitivity_is_nearly_attained(adjacency):
    lam, n, sine = 2.0, 150_000, 0.4
    X = np.zeros((n + 1, 2))
    X[:n, 0] = 1.0  # pull far out along the first axis

    def minimiser(rows):
        return learn.solve(
            learn.PerturbedObjective(learn.Rows(rows, "clip"), np.ones(len(rows)), lam, np.zeros(2)), tau=1e-8
        ).theta

    ends = []
    for side in (1, -1):  # a row that is misclassified, nearly across
        X[n] = -sine, side * math.sqrt(1 - sine**2)
        ends.append(minimiser(X))
    before = minimiser(X[:n]) if adjacency == "add/remove" else ends[1]
    moved = np.linalg.norm(ends[0] - before)
    bound = learn.output_sensitivity(lam, 1.0, 1e-8, adjacency)
    assert 0.85 * bound < moved <= bound


# Privacy


def test_the_certificate_says_that_n_is_public_where_the_rule_chose():
    spent = OutputPerturbationLogisticRegression(standardize=False).fit(*labelled(n=321)).privacy_
    assert spent.public_rows == 321
    assert "lam was chosen for 321 rows: their number is treated as public" in repr(spent)
    told = OutputPerturbationLogisticRegression(public_rows=500, standardize=False).fit(*labelled(n=321)).privacy_
    assert told.public_rows == 500
    assert told.lam == learn.recommended_output_lam(1.0, 1e-5, 500, told.radius)
    assert "public" not in repr(OutputPerturbationLogisticRegression(lam=1.0).fit(*labelled()).privacy_)


@pytest.mark.parametrize("adjacency", ["add/remove", "replace"])
def test_the_release_is_the_solution_plus_exactly_this_noise(adjacency):
    X, y = labelled(n=200, d=4)
    targets = np.where(y == 1, 1.0, -1.0)
    options = {"epsilon": 0.7, "delta": 1e-6, "lam": 2.0, "tau": 1e-9, "adjacency": adjacency}
    release = learn.solve_and_perturb(X, targets, **options, random_state=11)
    solution = learn.solve(
        learn.PerturbedObjective(learn.Rows(X, "normalize", 0.3), targets, 2.0, np.zeros(5)), tau=1e-12
    ).theta
    sensitivity = learn.output_sensitivity(2.0, math.hypot(1, 0.3), 1e-9, adjacency)
    sigma, spacing = calibrate_gaussian(0.7, 1e-6, sensitivity).sigma, release.certificate.lattice
    points = np.rint(solution / spacing) + learn.noise_source(11).rounded_normal(sigma / spacing, 5)
    np.testing.assert_allclose(release.theta, points * spacing, atol=1.01 * spacing)  # two solutions may round apart


# Behaviour


def test_a_huge_epsilon_gives_the_model_without_privacy():
    X, y = labelled()
    model = OutputPerturbationLogisticRegression(1e8, lam=1.0, fit_intercept=False).fit(X, y)
    peer = LogisticRegression(fit_intercept=False, tol=1e-10)
    peer.fit(X / np.linalg.norm(X, axis=1, keepdims=True), y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)


def test_the_function_refuses_bad_rows_and_targets():
    X, y = labelled(n=20)
    targets = np.where(y == 1, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"targets must be -1\.0 or 1\.0"):
        learn.solve_and_perturb(X, y.astype(float), epsilon=1.0, delta=1e-5)
    with pytest.raises(ValueError, match="X must hold finite numbers"):
        learn.solve_and_perturb(np.full_like(X, np.nan), targets, epsilon=1.0, delta=1e-5)
    with pytest.raises(ValueError, match="targets must be one number for each"):
        learn.solve_and_perturb(X, targets[:-1], epsilon=1.0, delta=1e-5)


# The rule


def test_the_rule_follows_noise_and_rows():
    at = learn.recommended_output_lam
    assert at(0.1, 1e-5, 1000) > at(1.0, 1e-5, 1000) > at(1.0, 1e-5, 100)
    assert at(1.0, 1e-5, 1000, adjacency="replace") == pytest.approx(2 ** (2 / 3) * at(1.0, 1e-5, 1000))
    with pytest.raises(ValueError, match="n_rows must be a whole number >= 1, got 0"):
        at(1.0, 1e-5, 0)


# The mechanism


SHORT = ("add/remove", "replace")


def fitted(adjacency, **options):
    return solve_and_perturb(*data(), epsilon=1.0, delta=DELTA, adjacency=adjacency, **options).certificate


@pytest.mark.parametrize("adjacency", SHORT)
def test_the_certificate_rebuilds_the_mechanism_with_its_neighbours(adjacency):
    certificate = fitted(adjacency, lam=3.0, tau=0.01)
    mechanism = certificate.rebuild()
    sensitivity = output_sensitivity(3.0, math.hypot(1, 0.3), 0.01, adjacency)
    assert mechanism == OutputPerturbation(certificate.sigma, sensitivity, adjacency=NEIGHBOURS[adjacency])
    assert certificate.adjacency == mechanism.adjacency == f"{adjacency} one row"
    assert mechanism.delta(1.0) == Gaussian(certificate.sigma, sensitivity).delta(1.0) <= DELTA
    assert Gaussian(certificate.sigma * (1 - 1e-9), sensitivity).delta(1.0) > DELTA  # and no less noise would do
    assert repeat(mechanism, 4).epsilon(DELTA) == pytest.approx(
        Gaussian(certificate.sigma / 2, sensitivity).epsilon(DELTA), rel=1e-4
    )


@pytest.mark.parametrize("function", [output_sensitivity, recommended_output_lam])
def test_an_unknown_adjacency_is_named(function):
    with pytest.raises(ValueError, match=r"adjacency must be one of .*'add/remove one row'.*, got 'swap'"):
        function(1.0, 1e-5, 10, adjacency="swap")
