"""What every solver promises of every objective: it arrives, counts its work, tells what it did, and ends."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import objpert_core.learning as learn
from objpert_core.experiments.studies.solver_costs import Case, growth
from objpert_core.learning import solve
from objpert_core.learning.problem.losses import MarginLoss
from objpert_core.learning.solvers import CHEAP_STEPS
from objpert_core.learning.solvers.finite_sum import batch_size
from objpert_core.learning.solvers.first_order import greatest_curvature
from objpert_core.learning.solvers.progress import CountedProblem

every_solver = pytest.mark.parametrize("solver", learn.SOLVERS)


def problem(n=400, d=6, lam=1.0, noise=0.0, constant=0.3, seed=0, sparse=False, single=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 3, size=d)
    targets = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    rows = learn.Rows(sp.csr_array(X) if sparse else X.astype(np.float32) if single else X, "normalize", constant)
    return learn.PerturbedObjective(rows, targets, lam, noise * rng.normal(size=rows.dimension))


def of_loss(loss, clip=None, sparse=False, step=None):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 5)) * (rng.random((200, 5)) < 0.7)
    rows = learn.Rows(sp.csr_array(X) if sparse else X, "clip", 0.3)
    targets = X @ rng.normal(size=5) + rng.normal(size=200)
    targets = np.where(targets > 0, 1.0, -1.0) if isinstance(loss, MarginLoss) else targets
    loss = loss if step is None else learn.MoreauEnvelope(loss, learn.envelope_steps(rows, step))
    loss = loss if clip is None else learn.ClippedLoss(loss, rows.slopes_of_norm(clip))
    return learn.PerturbedObjective(rows, targets, 0.5 if step is None else 3.0, rng.normal(size=6), loss)


def bent(sparse):
    root = np.random.default_rng(2).normal(size=(7, 7))
    plain = problem(60, noise=1.0, sparse=sparse)
    return learn.PerturbedObjective(plain.rows, plain.targets, root @ root.T + 0.1 * np.eye(7), plain.linear)


CLIPS = {"logistic": None, "squared-hinge": 0.7, "huberised-hinge": None, "squared": 0.5, "huber": 0.8}
QUICK = {  # and the radius of a ball
    "rows of zeros": (
        learn.PerturbedObjective(learn.Rows(np.zeros((50, 2)), "clip"), np.ones(50), 0.5, np.array([1, -2.0])),
        None,
    )
}
THOROUGH = {name: (of_loss(learn.loss_named(name), clip), None) for name, clip in CLIPS.items()}
SLOW = {
    **{f"{name}, sparse": (of_loss(learn.loss_named(name), clip, sparse=True), None) for name, clip in CLIPS.items()},
    **{f"lam {lam}": (problem(lam=lam, noise=noise), None) for lam, noise in ((20.0, 50.0), (0.05, 0.8), (1e-4, 0.01))},
    **{f"sparse {sparse}": (problem(lam=0.25, sparse=sparse), None) for sparse in (False, True)},
    **{f"a matrix, sparse {sparse}": (bent(sparse), None) for sparse in (False, True)},
    **{
        f"{loss} {clip}": (of_loss(loss, clip, step=2.0), None)
        for loss in (learn.HingeLoss(), learn.PinballLoss(0.3), learn.LogisticLoss())
        for clip in (None, 0.2)
    },
    **{f"ball {radius}": (problem(300, 5, lam=2.0, noise=3.0), radius) for radius in (0.2, 2.0, 100.0)},
    **{f"{n} rows": (Case(n, features=4, lam=0.3).objective(), None) for n in (1, 2, 17)},
    "single precision": (problem(300, 4, lam=0.5, noise=1.0, single=True), None),
}


@every_solver
@pytest.mark.parametrize(
    ("objective", "radius"),
    [
        pytest.param(*case, id=name, marks=marks)
        for cases, marks in ((QUICK, []), (THOROUGH, [pytest.mark.thorough]), (SLOW, [pytest.mark.slow]))
        for name, case in cases.items()
    ],
)
def test_it_finds_the_minimum(solver, objective, radius):
    reference = learn.solve(objective, tau=1e-10, solver="newton-cholesky", radius=radius)
    result = learn.solve(objective, tau=1e-8, solver=solver, radius=radius, max_iter=5000)
    assert reference.converged
    assert result.converged
    assert result.solver == solver
    assert result.gradient_norm <= 1e-8
    if radius is None:
        assert result.gradient_norm == np.linalg.norm(objective.gradient(result.theta)[0])
    else:
        assert np.linalg.norm(result.theta) <= radius
    # strong convexity: both are within (their gradient norm)/λ of the minimiser
    assert np.linalg.norm(result.theta - reference.theta) <= 1.02e-8 / objective.strong_convexity


@pytest.mark.parametrize("sparse", [False, True])
def test_without_noise_the_minimiser_is_scikit_learns(sparse):
    objective = problem(lam=0.25, sparse=sparse)
    X = objective.rows.matrix.toarray() if sparse else objective.rows.matrix
    explicit = np.column_stack([X * objective.rows.factors[:, None], np.full(len(X), 0.3)])
    peer = LogisticRegression(C=1 / 0.25, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    peer.fit(explicit, objective.targets)
    np.testing.assert_allclose(learn.solve(objective, tau=1e-9).theta, peer.coef_[0], atol=1e-8)


class Watched(learn.PerturbedObjective):
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
@every_solver
def test_every_visit_to_a_row_is_counted_and_told_and_the_next_run_is_the_same(solver):
    n, heard = 700, []
    watched = Watched(Case(n, features=10).objective())
    result = learn.solve(watched, tau=1e-6, solver=solver, callback=lambda *news: heard.append(news))
    assert result.converged
    assert not result.exhausted
    assert result.gradient_evaluations == watched.loss.seen + watched.extra[0]
    evaluations, norms = np.array(result.trace).T
    assert evaluations[0] == n
    assert (np.diff(evaluations) > 0).all()
    assert result.gradient_evaluations == evaluations[-1] + n  # up to the last check
    assert heard == list(enumerate(result.gradient_norms)) == list(enumerate(norms))
    assert result.iterations == len(heard) - 1 > 0
    assert norms[-1] == pytest.approx(result.gradient_norm, rel=1e-6)
    assert norms[-2] > 1e-6 >= norms[-1]  # stops as soon as it may
    again = learn.solve(Case(n, features=10).objective(), tau=1e-6, solver=solver)
    np.testing.assert_array_equal(result.theta, again.theta)
    assert result.trace == again.trace


@every_solver
def test_an_exception_in_the_callback_stops_the_run(solver):
    class StopPressed(Exception):  # noqa: N818
        pass

    def stop(iteration, norm):
        if iteration == 2:
            raise StopPressed

    with pytest.raises(StopPressed):
        learn.solve(problem(), tau=1e-9, solver=solver, callback=stop)


@every_solver
def test_too_few_iterations_are_reported_not_hidden(solver):
    result = learn.solve(problem(lam=1e-5, noise=0.01), tau=1e-9, solver=solver, max_iter=1)
    assert not result.converged
    assert result.exhausted
    assert result.iterations == CHEAP_STEPS.get(solver, 1)
    assert result.gradient_norm > 1e-9


@pytest.mark.slow
@every_solver
def test_a_tau_below_rounding_ends_unconverged_instead_of_looping(solver):
    result = learn.solve(problem(n=1000, lam=20.0), tau=1e-30, solver=solver, max_iter=500)
    assert not result.converged
    assert not result.exhausted
    assert result.gradient_norm < 1e-10  # it still got as far as doubles go
    assert result.iterations < 500


@every_solver
def test_a_start_that_is_good_enough_takes_no_iteration(solver):
    result = learn.solve(problem(), tau=1e6, solver=solver)
    assert (result.converged, result.iterations) == (True, 0)
    np.testing.assert_array_equal(result.theta, 0.0)


# What solvers cost


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
