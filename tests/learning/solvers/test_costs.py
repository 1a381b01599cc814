"""What solvers cost, by counts and without clocks: Appendix F's growth in n, and that nothing goes uncounted."""

import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.experiments.studies.solver_costs import Case, growth
from objpert_core.learning import SOLVERS, PerturbedObjective, Rows, loss_named, solve
from objpert_core.learning.problem.losses import ClippedLoss, MarginLoss
from objpert_core.learning.solvers.finite_sum import batch_size
from objpert_core.learning.solvers.first_order import greatest_curvature
from objpert_core.learning.solvers.progress import CountedProblem


class Watched(PerturbedObjective):
    """Counts the rows whose loss was really differentiated, and the Hessians and products made of them."""

    def __init__(self, base):
        super().__init__(base.rows, base.targets, base.lam, base.linear, base.loss)
        object.__setattr__(self, "loss", Spy(base.loss))
        object.__setattr__(self, "extra", [0])

    def hessian(self, curvature, stride=1):
        self.extra[0] += len(curvature[::stride])
        return super().hessian(curvature, stride)

    def hessian_product(self, curvature, vector):
        self.extra[0] += self.n_rows
        return super().hessian_product(curvature, vector)

    def parts(self, size):
        parts = super().parts(size)
        self.extra[0] += self.n_rows  # each part is asked for its curvature once
        return parts


class Spy:
    """A loss that counts the scores it sees."""

    def __init__(self, loss):
        self.inner, self.seen, self.smoothness = loss, 0, loss.smoothness
        self.smoothness_of_rows = loss.smoothness_of_rows

    def part(self, where):
        return self  # which counts for all parts

    def value(self, scores, targets):
        return self.inner.value(scores, targets)

    def derivatives(self, scores, targets):
        self.seen += len(scores)
        return self.inner.derivatives(scores, targets)

    def slopes(self, scores, targets):
        self.seen += len(scores)
        return self.inner.slopes(scores, targets)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_visit_to_a_row_is_counted(solver):
    watched = Watched(Case(700, features=10).objective())
    result = solve(watched, tau=1e-6, solver=solver)
    assert result.converged
    assert result.gradient_evaluations == watched.loss.seen + watched.extra[0]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_trace_counts_up_to_the_last_check(solver):
    n = 600
    result = solve(Case(n, features=10).objective(), tau=1e-6, solver=solver)
    evaluations, norms = np.array(result.trace).T
    assert len(norms) == result.iterations + 1
    assert evaluations[0] == n
    assert (np.diff(evaluations) > 0).all()
    assert result.gradient_evaluations == evaluations[-1] + n
    assert norms[-1] == pytest.approx(result.gradient_norm, rel=1e-6)
    assert not result.exhausted


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sag", "svrg"])
def test_finite_sum_solvers_check_after_about_n_evaluations_and_pay_for_it(solver):
    n = 2000
    trace = np.array(solve(Case(n).objective(), tau=1e-5, solver=solver).trace)
    between = np.diff(trace[1:, 0])
    np.testing.assert_allclose(between, 2 * n, rtol=0.05)  # n of the pass, n of the check; batches of unequal size


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_problem_is_solved_in_the_same_way_every_time(solver):
    first, again = (solve(Case(300).objective(), tau=1e-6, solver=solver) for _ in range(2))
    np.testing.assert_array_equal(first.theta, again.theta)
    assert first.trace == again.trace


def fitted(solver, sizes):
    cases = [Case(n, features=20) for n in sizes]
    results = [solve(case.objective(), tau=1 / case.n, solver=solver) for case in cases]
    assert all(result.converged for result in results)
    return growth([case.n for case in cases], [result.gradient_evaluations for result in results]).exponent


@pytest.mark.slow
def test_gradient_descent_costs_n_squared():
    assert fitted("gradient-descent", (300, 1000, 3000)) == pytest.approx(2.0, abs=0.15)


@pytest.mark.slow
def test_accelerated_costs_n_to_the_one_and_a_half():
    assert fitted("accelerated", (1000, 5000, 30_000)) == pytest.approx(1.5, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sag", "svrg"])
def test_finite_sum_solvers_cost_n(solver):
    assert fitted(solver, (1000, 5000, 30_000)) == pytest.approx(1.0, abs=0.12)


def test_a_newton_step_costs_n_and_their_number_hardly_grows():
    assert fitted("newton", (1000, 5000, 30_000)) < 1.0


@pytest.mark.slow
def test_with_a_large_lambda_larger_batches_cost_no_more():
    case = Case(5000, lam=50.0)
    assert batch_size(CountedProblem(case.objective())) == 256
    for solver in ("sag", "svrg"):
        assert solve(case.objective(), tau=1e-6, solver=solver).gradient_evaluations < 100 * case.n


@pytest.mark.parametrize("columns", ["redundant", "diverse"])
def test_the_computed_curvature_is_above_the_true_one_and_below_the_paper_s(columns):
    objective = Case(800, columns=columns).objective()
    exact = np.linalg.eigvalsh(objective.hessian(np.full(800, 0.25)), UPLO="U")[-1]
    counted = CountedProblem(objective)
    found = greatest_curvature(counted)
    assert 0.97 * exact <= found <= min(1.1 * exact, 800 * 0.25 + 1.0) * (1 + 1e-9)
    assert 0 < counted.evaluations <= 20 * 800


def test_a_curvature_that_came_out_too_small_is_noticed(monkeypatch):
    from objpert_core.learning.solvers import first_order

    monkeypatch.setattr(first_order, "greatest_curvature", lambda problem: 0.05 * greatest_curvature(problem))
    for solver in ("gradient-descent", "accelerated"):
        assert solve(Case(300).objective(), tau=1e-6, solver=solver).converged


SMOOTH = [("logistic", None), ("squared-hinge", 0.7), ("huberised-hinge", None), ("squared", 0.5), ("huber", 0.8)]


@pytest.mark.thorough
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("name", "clip"), SMOOTH)
@pytest.mark.parametrize("sparse", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_solver_solves_every_loss(solver, name, clip, sparse):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.7)
    rows = Rows(sp.csr_array(X) if sparse else X, "clip", 0.3)
    loss = loss_named(name)
    targets = X @ rng.normal(size=5) + rng.normal(size=200)
    targets = np.where(targets > 0, 1.0, -1.0) if isinstance(loss, MarginLoss) else targets
    if clip is not None:
        loss = ClippedLoss(loss, clip / rows.norms())
    objective = PerturbedObjective(rows, targets, 0.5, rng.normal(size=6), loss)
    result = solve(objective, tau=1e-7, solver=solver)
    assert result.converged
    reference = solve(objective, tau=1e-10)
    assert reference.converged
    assert np.linalg.norm(result.theta - reference.theta) <= 1.01e-7 / 0.5


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [1, 2, 17])
def test_a_handful_of_rows_is_enough(solver, n):
    result = solve(Case(n, features=4, lam=0.3).objective(), tau=1e-8, solver=solver)
    assert result.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_of_zeros_leave_the_minimiser_of_the_tilt(solver):
    linear = np.array([1.0, -2.0])
    objective = PerturbedObjective(Rows(np.zeros((50, 2)), "clip"), np.ones(50), 0.5, linear)
    result = solve(objective, tau=1e-9, solver=solver)
    assert result.converged
    np.testing.assert_allclose(result.theta, -linear / 0.5, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sag", "svrg"])
def test_single_precision_rows_are_solved_in_double(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    objective = PerturbedObjective(Rows(X, "normalize"), np.tile([1.0, -1.0], 150), 0.5, rng.normal(size=4))
    assert solve(objective, tau=1e-9, solver=solver).converged
