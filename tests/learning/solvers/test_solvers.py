import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.learning import SOLVERS, ClippedLoss, PerturbedObjective, Rows, solve
from objpert_core.learning.problem import losses
from objpert_core.learning.solvers import second_order
from objpert_core.learning.solvers.finite_sum import batch_size
from objpert_core.learning.solvers.progress import CountedProblem
from tests.learning.solvers.test_every_solver import problem
from tests.learning.taking import peak_of


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_newton_makes_the_gradient_norm_fall_at_every_step(solver):
    norms = solve(problem(lam=1e-5), tau=1e-7, solver=solver).gradient_norms
    assert np.all(np.diff(norms) < 0)


def test_a_solver_that_only_claims_to_have_converged_is_found_out(monkeypatch):
    def boastful(problem, theta, progress):
        progress.report(1.0)
        progress.report(0.0)
        return theta

    monkeypatch.setitem(SOLVERS, "boastful", boastful)
    result = solve(problem(), tau=1e-6, solver="boastful")
    assert not result.converged
    assert result.gradient_norm > 1e-6


@pytest.mark.parametrize(("share", "converged"), [(1.0, True), (1 - 1e-9, False)])
def test_the_gradient_norm_may_be_tau_and_nothing_more(monkeypatch, share, converged):
    objective = problem()
    start = float(np.linalg.norm(objective.gradient(np.zeros(objective.dimension))[0]))
    monkeypatch.setitem(SOLVERS, "idle", lambda problem, theta, progress: theta)
    assert solve(objective, tau=share * start, solver="idle").converged is converged


def test_lbfgs_is_finished_by_newton_where_its_line_search_gives_up(monkeypatch):
    finished = []
    original = second_order.newton_cg

    def watched(problem, theta, progress):
        finished.append(progress.norms[-1])
        return original(problem, theta, progress)

    monkeypatch.setattr(second_order, "newton_cg", watched)
    assert solve(problem(n=3000, lam=1e-4), tau=1e-11, solver="lbfgs").converged
    assert finished
    assert finished[0] > 1e-11


def test_a_hessian_sampled_from_misleading_rows_is_given_up():
    # Every tenth row, and only those, is on the first axis: a strided sample sees that axis alone.
    n = 4000
    X = np.zeros((n, 2))
    X[:, 1] = 1.0
    X[::10] = [1.0, 0.0]
    targets = np.where(np.arange(n) % 7 == 0, -1.0, 1.0)
    objective = PerturbedObjective(Rows(X, "normalize"), targets, 1e-3, np.zeros(2))
    assert second_order.CholeskyDirections(objective).stride % 10 == 0
    result = solve(objective, tau=1e-9, max_iter=60)
    assert result.converged


def test_a_regularisation_lost_to_rounding_does_not_stop_cholesky():
    X = np.repeat(np.random.default_rng(0).normal(size=(500, 2)), 2, axis=1)  # every column twice: singular
    targets = np.tile([1.0, -1.0], 250)
    objective = PerturbedObjective(Rows(X, "normalize"), targets, 1e-18, np.zeros(4))
    assert solve(objective, tau=1e-6, solver="newton-cholesky").converged


def test_many_sparse_features_need_no_square_matrix():
    d = second_order.MAX_CHOLESKY_DIMENSION + 1000
    X = sp.random_array((200, d), density=0.01, format="csr", random_state=np.random.default_rng(0))
    targets = np.tile([1.0, -1.0], 100)
    objective = PerturbedObjective(Rows(X, "normalize", 0.3), targets, 0.5, np.zeros(d + 1))
    result = solve(objective, tau=1e-6)
    assert peak_of(lambda: solve(objective, tau=1e-6)) < 3e6  # a dense X would take 8 MB, a Hessian 208 MB
    assert result.converged
    np.testing.assert_allclose(result.theta, solve(objective, tau=1e-6, solver="lbfgs").theta, atol=1e-5)


@pytest.mark.parametrize("wrong", [0.0, -1.0, -1e6, np.nan, np.inf, 1e300])
def test_whatever_the_hessian_holds_a_search_gets_a_factor(wrong):
    hessian = np.diag([wrong, 1.0, wrong])
    factor, lower = second_order.factorised(hessian.copy())
    assert not lower
    assert np.isfinite(factor).all()
    assert (np.diag(factor) > 0).all()
    hessian[0, 1] = np.nan
    assert np.isfinite(second_order.factorised(hessian)[0]).all()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_a_hessian_that_rounding_has_made_indefinite_gets_a_factor_of_one_near_it(size):
    hessian = size * np.diag([1.0, -1e-14, 1.0])
    factor, _ = second_order.factorised(hessian.copy())
    np.testing.assert_allclose(factor.T @ factor, hessian, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("solver", ["sag", "svrg"])
def test_a_step_of_the_only_batch_is_one_of_gradient_descent_by_the_inverse_of_its_curvature(solver):
    objective = problem(n=100, lam=100.0, noise=50.0)
    counted, start = CountedProblem(objective), np.zeros(objective.dimension)
    (batch,) = objective.parts(batch_size(counted))
    expected = -objective.gradient(start)[0] / (batch.smoothness() + objective.tilt_smoothness)
    np.testing.assert_allclose(solve(objective, tau=1e-9, solver=solver, max_iter=1).theta, expected, rtol=1e-12)


OUT_OF_RANGE = [
    ({"solver": "adam"}, "solver must be one of 'newton'.*got 'adam'"),
    ({"tau": 0.0}, "tau must be a finite number > 0, got 0.0"),
    ({"tau": np.nan}, "tau must be a finite number > 0, got nan"),
    ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
]


@pytest.mark.parametrize(("arguments", "message"), OUT_OF_RANGE)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(problem(), **({"tau": 1e-6} | arguments))


# Objectives whose Hessian jumps


def random_problem(seed, least_lam):
    """1 to 1,000 rows of 1 to 30 features; outliers, ties, separable classes, heavy clipping, λ up to 100."""
    rng = np.random.default_rng(seed)
    n, d = int(10 ** rng.uniform(0, 3)), int(10 ** rng.uniform(0, 1.5))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-2, 1)
    X = np.round(X) if rng.random() < 0.3 else X
    y = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    y[rng.random(n) < rng.choice([0.0, 0.2])] += 10 ** rng.uniform(0, 4)
    width = 10 ** rng.uniform(-3, 1)
    kinds = losses.SquaredLoss(), losses.HuberLoss(width), losses.SquaredHingeLoss(), losses.HuberisedHingeLoss(width)
    loss = kinds[rng.integers(4)]
    rows = Rows(X, "clip" if rng.random() < 0.5 else "normalize", 0.3)
    clip, lam = 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(np.log10(least_lam), 2)
    noise = 10 ** rng.uniform(-2, 1.5) * min(clip, 1.0) * rng.standard_normal(rows.dimension)
    targets = np.where(y > 0, 1.0, -1.0) if loss.monotone else y
    return PerturbedObjective(rows, targets, lam, noise, ClippedLoss(loss, clip / rows.norms()))


def past_kinks(result):
    """Whether the steps by the gradient's norm got stuck: they alone never let it grow."""
    return bool((np.diff(result.gradient_norms) > 0).any())


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["newton", "newton-cg"])
def test_every_problem_with_a_lambda_in_use_is_solved(solver):
    results = [solve(random_problem(seed, 1e-2), tau=1e-6, solver=solver) for seed in range(150)]
    assert all(result.converged for result in results)
    assert np.median([result.iterations for result in results]) <= 6


@pytest.mark.slow
def test_a_tiny_lambda_takes_steps_past_kinks_and_nearly_always_arrives():
    results = [solve(random_problem(seed, 1e-8), tau=1e-6) for seed in range(60)]
    assert sum(past_kinks(result) for result in results) >= 5
    assert sum(result.converged for result in results) >= 58
    stuck = [result for result in results if past_kinks(result) and result.converged]
    assert len(stuck) >= 4


def test_it_arrives_where_another_method_does():
    for seed in range(20):
        problem = random_problem(seed, 1e-1)
        newton, other = (solve(problem, tau=1e-8, solver=name) for name in ("newton", "lbfgs"))
        assert newton.converged
        assert other.converged
        np.testing.assert_allclose(newton.theta, other.theta, atol=2e-8 / problem.lam)  # λ-strong convexity


def test_what_rounding_forbids_ends_soon_and_says_so():
    rng = np.random.default_rng(0)
    X, targets = rng.standard_normal((500, 8)), rng.choice([-1.0, 1.0], 500)
    for loss in (losses.LogisticLoss(), ClippedLoss(losses.SquaredHingeLoss(), 0.3)):
        problem = PerturbedObjective(Rows(X, "clip", 0.3), targets, 0.5, rng.standard_normal(9), loss)
        result = solve(problem, tau=1e-18)
        assert not result.converged
        assert result.iterations < 150
        assert result.gradient_norm < 1e-12
        assert result.gradient_norm == pytest.approx(min(result.gradient_norms), rel=1e-6)


@pytest.mark.slow
def test_iterations_are_limited_past_kinks_too():
    seed = next(s for s in range(60) if past_kinks(solve(random_problem(s, 1e-8), tau=1e-6)))
    problem = random_problem(seed, 1e-8)
    rising = int(np.argmax(np.diff(solve(problem, tau=1e-6).gradient_norms) > 0)) + 1
    result = solve(problem, tau=1e-6, max_iter=rising)
    assert not result.converged
    assert result.iterations == rising
