import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from objpert_core.learning import SOLVERS, PerturbedObjective, Rows, solve
from objpert_core.learning.solvers import CHEAP_STEPS, quasi_newton, second_order


def problem(n=400, d=6, lam=1.0, noise=0.0, constant=0.3, seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 3, size=d)
    targets = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    rows = Rows(sp.csr_array(X) if sparse else X, "normalize", constant)
    return PerturbedObjective(rows, targets, lam, noise * rng.normal(size=rows.dimension))


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_without_noise_the_minimiser_is_scikit_learns(solver, sparse):
    objective = problem(lam=0.25, sparse=sparse)
    X = objective.rows.matrix.toarray() if sparse else objective.rows.matrix
    explicit = np.column_stack([X * objective.rows.factors[:, None], np.full(len(X), 0.3)])
    peer = LogisticRegression(C=1 / 0.25, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    peer.fit(explicit, objective.targets)
    result = solve(objective, tau=1e-9, solver=solver)
    assert result.converged
    np.testing.assert_allclose(result.theta, peer.coef_[0], atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("lam", "noise"), [(20.0, 50.0), (0.05, 0.8), (1e-4, 0.01)])
def test_all_solvers_reach_tau_and_the_same_minimiser(solver, lam, noise):
    objective = problem(lam=lam, noise=noise)
    reference = solve(objective, tau=1e-10, solver="newton-cholesky")
    result = solve(objective, tau=1e-8, solver=solver, max_iter=5000)
    assert result.converged
    assert result.gradient_norm <= 1e-8
    assert result.gradient_norm == np.linalg.norm(objective.gradient(result.theta)[0])
    # strong convexity: both are within (their gradient norm)/λ of the minimiser
    assert np.linalg.norm(result.theta - reference.theta) <= 1.02e-8 / lam


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_trace_and_callback_tell_the_same_story(solver):
    heard = []
    result = solve(problem(), tau=1e-6, solver=solver, callback=lambda *news: heard.append(news))
    assert heard == list(enumerate(result.gradient_norms))
    assert result.iterations == len(heard) - 1 > 0
    assert result.gradient_norms[-1] == pytest.approx(result.gradient_norm, rel=1e-6)
    assert result.gradient_norms[-2] > 1e-6 >= result.gradient_norms[-1]  # stops as soon as it may
    assert result.solver == solver


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_newton_makes_the_gradient_norm_fall_at_every_step(solver):
    norms = solve(problem(lam=1e-5), tau=1e-7, solver=solver).gradient_norms
    assert np.all(np.diff(norms) < 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_exception_in_the_callback_stops_the_run(solver):
    class StopPressed(Exception):  # noqa: N818
        pass

    def stop(iteration, norm):
        if iteration == 2:
            raise StopPressed

    with pytest.raises(StopPressed):
        solve(problem(), tau=1e-9, solver=solver, callback=stop)


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_iterations_are_reported_not_hidden(solver):
    result = solve(problem(lam=1e-5, noise=0.01), tau=1e-9, solver=solver, max_iter=1)
    assert not result.converged
    assert result.exhausted
    assert result.iterations == CHEAP_STEPS.get(solver, 1)
    assert result.gradient_norm > 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tau_below_rounding_ends_unconverged_instead_of_looping(solver):
    result = solve(problem(n=1000, lam=20.0), tau=1e-30, solver=solver, max_iter=500)
    assert not result.converged
    assert not result.exhausted
    assert result.gradient_norm < 1e-10  # it still got as far as doubles go
    assert result.iterations < 500


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_that_is_good_enough_takes_no_iteration(solver):
    result = solve(problem(), tau=1e6, solver=solver)
    assert (result.converged, result.iterations) == (True, 0)
    np.testing.assert_array_equal(result.theta, 0.0)


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
    original = quasi_newton.newton_cg

    def watched(problem, theta, progress):
        finished.append(progress.norms[-1])
        return original(problem, theta, progress)

    monkeypatch.setattr(quasi_newton, "newton_cg", watched)
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
    tracemalloc.start()
    result = solve(objective, tau=1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.converged
    assert peak < 3e6  # a dense X would take 8 MB, a Hessian 208 MB
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "adam"}, "solver must be one of 'newton'.*got 'adam'"),
        ({"tau": 0.0}, "tau must be a finite number > 0, got 0.0"),
        ({"tau": np.nan}, "tau must be a finite number > 0, got nan"),
        ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(problem(), **({"tau": 1e-6} | arguments))
