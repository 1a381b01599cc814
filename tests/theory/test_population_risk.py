"""Bounds on population risk and stability: the printed constants, limits, and methods that are run and stay below."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from objpert_core.accounting import calibrate_gaussian
from objpert_core.accounting.population.published import (
    corrected_objective_noise,
    published_objective_lam,
    published_objective_noise,
    published_sgd_schedule,
)
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning import LogisticLoss, PerturbedObjective, Rows, solve
from objpert_core.theory.population_risk import (
    METHODS,
    PUBLISHED,
    LinearHardInstance,
    LogisticOnSphere,
    MeanEstimation,
    excess_population_bound,
    hard_bias,
    measured_stability,
    stability_bound,
)


def parts(n, d, epsilon, delta):
    a = math.sqrt(d * math.log(1 / delta)) / (epsilon * n)
    return a, max(a, 1 / math.sqrt(n)), calibrate_gaussian(epsilon, delta).sigma


def project(w, radius):
    norm = np.linalg.norm(w)
    return w * min(1.0, radius / norm) if norm > 0 else w


# Methods in a few lines, for losses that are not private here: only their risk and stability are looked at


def noisy_sgd(X, y, seed, gradient, plan, radius):
    """Algorithm 1 from 0, the mean of w₀ … w_{T−1}; `gradient` is of the mean loss of a batch."""
    rng = np.random.default_rng(seed)
    w = total = np.zeros(X.shape[1])
    for _ in range(plan.steps):
        total = total + w
        batch = rng.integers(len(X), size=plan.batch_size)
        noise = plan.noise * rng.normal(size=X.shape[1])
        w = project(w - plan.step_size * (gradient(w, X[batch], y[batch]) + noise), radius)
    return total / plan.steps


def logistic_gradient(w, X, y):
    return -(y / (1 + np.exp(y * (X @ w)))) @ X / len(X)


def linear_gradient(w, X, y):
    return -X.mean(axis=0)


def objective_perturbation(X, y, seed, sigma, lam, radius):
    b = sigma * np.random.default_rng(seed).normal(size=X.shape[1])
    objective = PerturbedObjective(Rows(X, "clip"), y, lam, b, LogisticLoss())
    result = solve(objective, tau=1e-7, radius=radius)
    assert result.converged
    return result.theta


# Formulas


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(("n", "d"), [(100, 10), (1000, 3), (10_000, 50), (10_000, 10_000)])
def test_what_is_published_is_what_the_paper_prints(n, d, epsilon):
    a, b, _ = parts(n, d, epsilon, 1 / n**2)
    printed = {"sgd": 10 * b, "prox": 24 * b, "objective": 2 * math.sqrt(2 / n + 4 * a**2)}
    for method, value in printed.items():
        found = excess_population_bound(method, n, d, epsilon, 1 / n**2, radius=3.0, lipschitz=0.5, published=True)
        assert found == pytest.approx(1.5 * value, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("d", [1, 10, 1000, 100_000])
@pytest.mark.parametrize("n", [8, 100, 10_000, 10**6])
def test_the_printed_bound_of_algorithm_1_holds_from_the_origin(n, d, epsilon):
    """10·ML·B follows from the proof's own terms with w₀ = 0, rounded T included: the worst is about 8."""
    ours = excess_population_bound("sgd", n, d, epsilon, 1 / n**2)
    assert ours <= 8.5 * parts(n, d, epsilon, 1 / n**2)[1]
    prox = excess_population_bound("prox", n, d, epsilon, 1 / n**2)
    assert prox <= 12.5 * parts(n, d, epsilon, 1 / n**2)[1]  # 14 where the paper says 24
    far = 2 / math.sqrt(published_sgd_schedule(Sizes(n, d, epsilon, 1 / n**2)).steps)
    if n == 10_000 and d == 1000:  # from a start at the ball's other end: more than is printed
        assert far > 1.9 * excess_population_bound("sgd", n, d, epsilon, 1 / n**2) / 2
    assert ours <= excess_population_bound("sgd", n, d, epsilon, 1 / n**2, published=True)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(("n", "d"), [(1000, 10), (10_000, 500), (10**6, 3)])
def test_the_half_of_theorem_5_3_and_its_own_proof(n, d, epsilon):
    """1.25 for the printed σ by the lemmas' halves; 4 by its own; the printed 2 lies between."""
    a, _, _ = parts(n, d, epsilon, 1 / n**2)
    spread, lam = math.sqrt(2 / n + 4 * a**2), published_objective_lam(Sizes(n, d, epsilon, 1 / n**2))
    sigma = published_objective_noise(epsilon, 1 / n**2)
    ours = d * sigma**2 / (4 * lam * n) + lam / (4 * n) + 2 / lam
    assert ours <= 1.25 * spread
    paper = lam / (2 * n)
    assert 8 / paper * (2 * a**2 + 1 / n) + paper == pytest.approx(4 * spread)  # the last lines of the paper's proof
    # and with a σ that is private
    found = excess_population_bound("objective", n, d, epsilon, 1 / n**2)
    wanted = d * corrected_objective_noise(epsilon, 1 / n**2) ** 2 / (4 * lam * n) + lam / (4 * n) + 2 / lam
    assert found == pytest.approx(min(wanted, 2.0))
    assert wanted > ours


@pytest.mark.parametrize(("n", "d", "epsilon"), [(1000, 10, 0.5), (10_000, 500, 2.0), (10**6, 50, 0.1)])
def test_the_best_constants_are_the_closed_forms(n, d, epsilon):
    delta = 1 / n**2
    noise = parts(n, d, epsilon, delta)[2]
    found = {
        method: excess_population_bound(method, n, d, epsilon, delta, radius=0.3, lipschitz=2.0) / 0.6
        for method in METHODS
    }
    assert found["objective-tight"] == pytest.approx(math.sqrt(2 / n + d * (noise / n) ** 2), rel=1e-9)
    assert found["gd"] == pytest.approx(math.sqrt(2 / n + 4 * d * (noise / n) ** 2), rel=1e-9)
    assert found["gd-prox"] == pytest.approx(found["gd"], rel=1e-9)
    assert found["no-privacy"] == pytest.approx(math.sqrt(2 / n), rel=1e-9)
    assert found["phased"] == pytest.approx(math.sqrt(32 / (3 * n) + 256 * d * (noise / n) ** 2), rel=0.05)
    assert found["zero"] == 1.0
    rivals = [found[method] for method in METHODS if method not in ("no-privacy", "zero", "objective-tight")]
    assert found["no-privacy"] < found["objective-tight"] < min(rivals)


@pytest.mark.parametrize("method", ["gd", "gd-prox"])
def test_steps_and_their_length_are_what_makes_the_bound_least(method):
    n, d, epsilon, delta = 2000, 20, 0.7, 1e-6

    def bound(**own):
        return excess_population_bound(method, n, d, epsilon, delta, **own)

    best = minimize_scalar(lambda log: bound(step_scale=math.exp(log)), bounds=(-2, 2), method="bounded").x
    assert best == pytest.approx(0.0, abs=1e-3)
    many = [bound(steps=steps) for steps in (10, 100, 10_000, 10**8)]
    assert many == sorted(many, reverse=True)
    assert many[-1] == pytest.approx(bound(), rel=1e-4)
    if method == "gd":
        assert bound(steps=100, smoothness=0.25) > bound(steps=100)


def test_lam_may_be_chosen_and_is_best_left_alone():
    arguments = ("objective-tight", 10_000, 10, 0.5, 1e-8)
    best = excess_population_bound(*arguments)
    noise = 2 * calibrate_gaussian(0.5, 1e-8).sigma
    lam = math.sqrt(8 * 10_000 + 10 * noise**2)
    assert excess_population_bound(*arguments, lam=lam) == pytest.approx(best, rel=1e-12)
    assert min(excess_population_bound(*arguments, lam=factor * lam) for factor in (0.8, 1.25)) > best
    with pytest.raises(ValueError, match=r"^lam must be at least 2L²/ε = 4 for this noise, got 3\.9"):
        excess_population_bound(*arguments, lam=3.9)


@pytest.mark.parametrize("method", METHODS)
def test_stability_is_a_part_of_the_bound_and_what_is_printed_is_no_less(method):
    arguments = (method, 4000, 20, 0.5, 1e-8)
    ours = stability_bound(*arguments, radius=2.0, lipschitz=0.7)
    assert ours <= excess_population_bound(*arguments, radius=2.0, lipschitz=0.7)
    if method in PUBLISHED:
        assert ours < stability_bound(*arguments, radius=2.0, lipschitz=0.7, published=True)


def test_reference_values_of_stability():
    for method, ours, printed in (("objective", 0.0615, 0.1231), ("sgd", 0.0626, 0.0653)):
        arguments = (method, 300, 10, 1.0, 1 / 300**2)
        assert stability_bound(*arguments, radius=4.0) == pytest.approx(ours, abs=6e-5)
        assert stability_bound(*arguments, radius=4.0, published=True) == pytest.approx(printed, abs=6e-5)


# Methods that are run


@pytest.mark.slow
def test_reference_values_of_the_hard_instance_and_every_bound_above_them():
    """ε = 0.5, δ = 1/n², d = 500, n = 10⁴, M = 1; a linear loss has its minima in closed form."""
    n, d, epsilon, delta = 10_000, 500, 0.5, 1e-8
    noise = calibrate_gaussian(epsilon, delta).sigma
    population = LinearHardInstance(d, hard_bias(n, d, epsilon, delta))
    rng = np.random.default_rng(0)

    def regularised(sigma, lam):
        return lambda total: project((total - sigma * rng.normal(size=d)) / lam, 1.0)

    lam = math.sqrt(8 * n + d * (2 * noise) ** 2)
    methods = {
        "objective-tight": (regularised(2 * noise, lam), 0.0126),
        "objective": (
            regularised(
                published_objective_noise(epsilon, delta), published_objective_lam(Sizes(n, d, epsilon, delta))
            ),
            0.0191,
        ),
    }
    for method, (learn, reference) in methods.items():
        found = []
        for _ in range(400):
            ups = rng.binomial(n, (1 + population.bias) / 2, size=d)
            found.append(population.excess(learn((2 * ups - n) / math.sqrt(d))))
        error = np.std(found, ddof=1) / 20
        assert np.mean(found) == pytest.approx(reference, abs=4 * math.hypot(error, 1e-4) + 0.03 * reference)
        assert np.mean(found) < excess_population_bound(method, n, d, epsilon, delta)


def check_on_the_sphere(learn, runs, reference, error):
    """The mean excess on the sphere, n = 10³, d = 10, M = 4; returned."""
    population, found = LogisticOnSphere(10), []
    for seed in range(runs):
        X, y = population.sample(1000, seed)
        found.append(population.excess(learn(X, y, seed)))
    own = np.std(found, ddof=1) / math.sqrt(runs)
    assert np.mean(found) == pytest.approx(reference, abs=4 * math.hypot(own, error) + 0.03 * reference)
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "rule", "reference", "error"),
    [(0.5, "privacy", 477e-4, 31e-4), (0.5, "best", 584e-4, 29e-4), (2.0, "privacy", 105e-4, 7e-4)],
)
def test_reference_values_of_objective_perturbation_on_the_sphere(epsilon, rule, reference, error):
    """δ = 1/n² and σ = 2σ_G, on the ball."""
    sigma = 2 * calibrate_gaussian(epsilon, 1e-6).sigma
    lam = 2 / epsilon if rule == "privacy" else math.sqrt(8 * 1000 + 10 * sigma**2) / 4

    def learn(X, y, seed):
        return objective_perturbation(X, y, 1000 + seed, sigma, lam, 4.0)

    excess = check_on_the_sphere(learn, 80, reference, error)
    assert excess < excess_population_bound("objective-tight", 1000, 10, epsilon, 1e-6, radius=4.0, lam=lam)


@pytest.mark.slow
def test_the_published_sgd_on_the_sphere():
    plan = published_sgd_schedule(Sizes(1000, 10, 0.5, 1e-6, radius=4.0))
    check_on_the_sphere(lambda X, y, seed: noisy_sgd(X, y, seed + 99, logistic_gradient, plan, 4.0), 60, 839e-4, 30e-4)


@pytest.mark.slow
def test_a_linear_loss_attains_the_stability_of_noisy_sgd():
    """Without a ball in the way it is L²η(T − 1)/n exactly; the logistic loss changes by a quarter of that."""
    n, d = 300, 10
    plan = published_sgd_schedule(Sizes(n, d, 1.0, 1 / n**2, radius=4.0))
    bound = stability_bound("sgd", n, d, 1.0, 1 / n**2, radius=4.0)

    def learner(gradient):
        return lambda X, y, seed: noisy_sgd(X, y, seed, gradient, plan, 1e9)

    linear = measured_stability(learner(linear_gradient), LinearHardInstance(d, 0.2, 4.0), n, pairs=8, repeats=40)
    assert linear.distance == pytest.approx(bound, abs=5 * linear.distance_error)
    assert linear.distance_error < 0.05 * bound
    logistic = measured_stability(learner(logistic_gradient), LogisticOnSphere(d), n, pairs=1, repeats=400)
    assert logistic.change == pytest.approx(0.0158, abs=4 * logistic.change_error)
    assert logistic.change_error < 0.1 * logistic.change
    assert logistic.change <= logistic.distance + 5 * logistic.distance_error < bound
    for found in (linear, logistic):
        assert found.gap <= bound + 5 * found.gap_error


@pytest.mark.slow
def test_objective_perturbation_is_as_stable_as_its_bound_says():
    n, d = 300, 10
    lam = published_objective_lam(Sizes(n, d, 1.0, 1 / n**2, radius=4.0))
    sigma = published_objective_noise(1.0, 1 / n**2)
    bound = stability_bound("objective", n, d, 1.0, 1 / n**2, radius=4.0)

    def learn(X, y, seed):
        return objective_perturbation(X, y, seed, sigma, lam, 4.0)

    found = measured_stability(learn, LogisticOnSphere(d), n, pairs=4, repeats=30)
    assert found.change == pytest.approx(0.0156, abs=4 * found.change_error + 0.03 * 0.0156)
    assert found.change_error < 0.05 * found.change
    assert found.change <= found.distance + 5 * found.distance_error < bound
    assert 0 < found.gap <= bound

    def linear(X, y, seed):  # no ball, no losses' curvature: attained
        return (X.sum(axis=0) - sigma * np.random.default_rng(seed).normal(size=d)) / lam

    assert measured_stability(linear, LinearHardInstance(d, 0.2, 4.0), n).distance == pytest.approx(bound, rel=1e-9)


@pytest.mark.slow
def test_what_is_measured_is_what_it_says():
    population, n = MeanEstimation(4, 0.6), 50

    def mean(X, y, seed):
        return X.mean(axis=0) + 1e-3 * np.random.default_rng(seed).normal(size=4)

    found = measured_stability(mean, population, n, pairs=200, repeats=2, probes=50)
    assert found.distance == pytest.approx(population.lipschitz * 2 / n)  # common noise leaves only the row
    assert found.distance_error < 1e-12
    assert found.gap == pytest.approx(population.least_risk * 2 / n, abs=4 * found.gap_error)  # variance/n twice over
    assert found.change <= found.distance
    assert found.runs == 400
    fresh = measured_stability(mean, population, n, pairs=50, repeats=2, opposite=False)
    assert 0 < fresh.distance < found.distance


def test_the_seed_decides_what_is_measured():
    few = {"population": MeanEstimation(4, 0.6), "n": 50, "pairs": 2, "probes": 5}

    def measured(**changes):
        return measured_stability(lambda X, y, seed: X.mean(axis=0), **few | {"repeats": 2} | changes)

    assert measured() == measured() != measured(seed=1)
    assert measured().distance == pytest.approx(few["population"].lipschitz * 2 / 50)
    with pytest.raises(ValueError, match=r"^repeats must be a whole number >= 2, got 1"):
        measured(repeats=1)
