"""What solvers cost, by counts and without clocks: Appendix F's growth in n, and that nothing goes uncounted."""

import numpy as np
import pytest

from objpert_core.experiments.studies.solver_costs import Case, growth
from objpert_core.learning import solve
from objpert_core.learning.solvers.finite_sum import batch_size
from objpert_core.learning.solvers.first_order import greatest_curvature
from objpert_core.learning.solvers.progress import CountedProblem


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sag", "svrg"])
def test_finite_sum_solvers_check_after_about_n_evaluations_and_pay_for_it(solver):
    n = 2000
    trace = np.array(solve(Case(n).objective(), tau=1e-5, solver=solver).trace)
    between = np.diff(trace[1:, 0])
    np.testing.assert_allclose(between, 2 * n, rtol=0.05)  # n of the pass, n of the check; batches of unequal size


def fitted(solver, sizes):
    cases = [Case(n, features=20) for n in sizes]
    results = [solve(case.objective(), tau=1 / case.n, solver=solver) for case in cases]
    assert all(result.converged for result in results)
    return growth([case.n for case in cases], [result.gradient_evaluations for result in results]).exponent


GROWTH = [
    ("gradient-descent", (300, 1000, 3000), 2.0, 0.15),
    ("accelerated", (1000, 5000, 30_000), 1.5, 0.12),
    ("sag", (1000, 5000, 30_000), 1.0, 0.12),
    ("svrg", (1000, 5000, 30_000), 1.0, 0.12),
]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "sizes", "exponent", "off"), GROWTH)
def test_visits_to_rows_grow_with_their_number_as_the_paper_says(solver, sizes, exponent, off):
    assert fitted(solver, sizes) == pytest.approx(exponent, abs=off)


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
