"""What the Solvers page computes and says: the core's counts, limits, every case of the sentences, the snippet."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.studies import solver_costs
from objpert_core.experiments.studies import solver_costs as stored_costs
from objpert_core.experiments.studies.solver_costs import Case, Cost
from objpert_core.experiments.studies.solver_costs import Growth as Fit
from objpert_core.learning import SOLVERS, solve
from pages.solvers.controls import COLUMNS, NAMES
from pages.solvers.descent import FINITE_SUM, POINTS, Descent, Run, limit, run
from pages.solvers.growth import Growth
from tests.pages.apps import curves, open_app, tells
from ui.figures import ROLES

ALL = tuple(NAMES)
SMALL = replace(Descent.now(), rows=100)
CASE = Case(n=100, lam=1.0, sigma=4.0, columns="redundant", seed=0)


def made(total, converged=True, reached=1e-7):
    return Run(np.array([100.0, total]), np.array([1.0, reached]), total, 1, reached, converged)


def with_runs(monkeypatch, runs, **changes):
    """A view of which every solver's run is given; those of other settings are `made(5000)`."""
    view = replace(SMALL, solvers=tuple(runs), **changes)
    monkeypatch.setattr(Descent, "runs", lambda self: runs if self == view else dict.fromkeys(runs, made(5000)))
    return view


UNFINISHED = {"newton": made(150), "sag": made(5000, False, 0.123)}


def test_every_solver_of_the_page_is_in_the_registry_and_has_a_look():
    assert set(NAMES) <= set(SOLVERS)
    assert set(NAMES) <= set(ROLES)
    assert set(COLUMNS) == set(stored_costs.COLUMNS)


@pytest.mark.thorough
@pytest.mark.parametrize("solver", NAMES)
def test_runs_are_the_cores(solver):
    found = run(solver, CASE, 1e-6)
    result = solve(CASE.objective(), tau=1e-6, solver=solver, max_iter=limit(solver, 100))
    assert found.converged
    assert (found.total, found.reached) == (result.gradient_evaluations, result.gradient_norm)
    assert found.iterations == result.iterations
    np.testing.assert_array_equal(np.column_stack([found.evaluations, found.norms]), np.array(result.trace))


@pytest.mark.thorough
@pytest.mark.parametrize("n", [100, 1000])
def test_no_setting_of_the_page_takes_long(n):
    hard = run("gradient-descent", Case(n, 0.01, 0.1), 1e-9)
    assert not hard.converged
    assert hard.iterations == 1000
    assert max(limit(solver, n) * n for solver in FINITE_SUM) <= 45_000


def test_long_curves_are_thinned_and_keep_their_ends():
    x, y = Run(np.arange(1.0, 2001.0), np.geomspace(1, 1e-6, 2000), 2000, 1999, 1e-6, True).curve()
    assert len(x) <= POINTS
    assert (x[0], x[-1]) == (1.0, 2000.0)
    assert (y[0], y[-1]) == (1.0, pytest.approx(1e-6))
    short = run("newton", CASE, 1e-6)
    np.testing.assert_array_equal(short.curve()[1], short.norms)


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ({"sag": made(5000), "newton": made(1500)}, "Newton’s method visits each row 15 times, SAG 50."),
        (UNFINISHED, "Newton’s method visits each row 1.5 times; one solver stops un"),
        ({"sag": made(5000, False, 0.1)}, "None of these solvers reaches ‖∇J‖ ≤ 10⁻⁶ within"),
        ({}, "Pick a solver to see what it costs."),
    ],
)
def test_the_answer_ranks_those_that_arrived(monkeypatch, runs, sentence):
    assert with_runs(monkeypatch, runs).answer().startswith(sentence)


def test_a_norm_above_tau_is_marked_in_the_table(monkeypatch):
    newton, sag = with_runs(monkeypatch, UNFINISHED).table()
    assert list(newton) == ["Solver", "Gradient evaluations", "Visits per row", "Iterations", "‖∇J‖ reached"]
    assert list(newton.values()) == ["Newton", "150", "1.5", "1", "10⁻⁷"]
    assert sag["‖∇J‖ reached"] == "0.13 (above τ)"


def test_growths_name_measured_interval_and_proof():
    fit = Cost((1000, 3000, 10_000), (1, 2, 3), Fit(1.47, 1.44, 1.5, 7.0))
    growth, newton = Growth({"accelerated": fit, "newton": fit}, "redundant"), Growth({"newton": fit}, "redundant")
    tells(growth.answer().replace("\u00a0", " "), "$n^{1.47}\\log n$", "95 %: 1.44 to 1.50; proved: at most $n^{1.5}")
    assert "No solver" in newton.answer()
    assert "divided by n log n" in replace(newton, relative=True).alt()
    assert [row["Proved (Appendix F)"] for row in growth.table()] == ["at most 1.5", "–"]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("relative", [False, True])
def test_charts_draw_what_was_measured(columns, relative):
    costs = stored_costs.costs(ALL, columns)
    figure = Growth(costs, columns, relative).chart()
    points = {trace.name: trace for trace in figure.data if trace.mode == "markers"}
    for solver, cost in costs.items():
        n, y = np.array(points[NAMES[solver]].x), np.array(points[NAMES[solver]].y)
        np.testing.assert_array_equal(n, cost.n)
        np.testing.assert_allclose(y * (n * np.log(n) if relative else 1), cost.evaluations)
        low, high = figure.layout.yaxis.range
        assert (np.log10(y) >= low).all()
        assert (np.log10(y) <= high).all()
    assert Growth({}, columns, relative).chart().data == ()


# --- what is stored -------------------------------------------------------------------------------------------------


def test_the_stored_costs_bear_out_appendix_f():
    costs = stored_costs.costs(ALL, "redundant")
    assert set(costs) == set(NAMES)
    for solver, exponent in stored_costs.PROVED.items():
        assert costs[solver].growth.low <= exponent + 0.02
        assert costs[solver].growth.exponent == pytest.approx(exponent, abs=0.12)
        assert costs[solver].growth.high - costs[solver].growth.low < 0.25
    assert {"command", "seeds", "commit", "versions"} <= set(stored_costs.load().notes)


@pytest.mark.slow
@pytest.mark.parametrize("solver", NAMES)
def test_stored_counts_are_those_of_the_code(solver):
    row = stored_costs.reached(stored_costs.load(), solver, "redundant")[0]
    case = stored_costs.Case(row.n, row.lam, row.sigma, row.features, row.columns, row.seed)
    again = solve(case.objective(), tau=row.tau, solver=solver, max_iter=1000)
    assert again.gradient_evaluations == pytest.approx(
        row.evaluations, rel=0.1
    )  # equal up to rounding on another machine


def test_a_missing_or_broken_file_is_one_sentence(tmp_path):
    with pytest.raises(DataUnavailableError, match=r"nowhere\.csv"):
        stored_costs.load(tmp_path / "nowhere.csv")
    (tmp_path / "broken.csv").write_text("# command: x\nsolver,n\nnewton,banana\n")
    with pytest.raises(DataUnavailableError, match=r"broken\.csv"):
        stored_costs.load(tmp_path / "broken.csv")


def test_growth_has_an_interval_that_covers_and_needs_three_sizes():
    rng = np.random.default_rng(0)
    sizes = np.repeat([1000, 3000, 10_000, 30_000], 3)
    covered = 0
    for _ in range(200):
        evaluations = 5 * sizes**1.5 * np.log(sizes) * np.exp(0.05 * rng.standard_normal(sizes.size))
        fit = stored_costs.growth(sizes.tolist(), evaluations.tolist())
        covered += fit.low <= 1.5 <= fit.high
    assert 180 <= covered <= 198
    with pytest.raises(ValueError, match="at least three sizes"):
        stored_costs.growth([10, 10, 10], [1, 2, 3])


# The Solvers page, run without a browser: its curves are the core's, presets are exact, nonsense does no harm


open_page = partial(open_app, "pages/solvers/page.py")


@pytest.mark.slow
def test_the_stored_costs_are_labelled_with_command_and_commit():
    app = open_page()
    captions = " ".join(block.value for block in app.caption)
    assert "python -m benchmarks.solvers" in captions
    assert f"commit {solver_costs.load().notes['commit']}" in captions
    shown, _ = curves(app, 1)
    cost = solver_costs.cost("sag", "redundant")
    np.testing.assert_array_equal(shown["SAG"][1], cost.evaluations)
    assert any("proved: at most $n^{1.5}" in block.value for block in app.markdown)


@pytest.mark.slow
def test_without_stored_results_the_page_says_so(monkeypatch):
    def missing(*_):
        raise DataUnavailableError("solvers.csv cannot be read")

    monkeypatch.setattr(solver_costs, "costs", missing)
    app = open_page()
    assert [block.value for block in app.info] == ["solvers.csv cannot be read"]
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.slow
def test_the_prediction_is_true():
    cost = solver_costs.cost("accelerated", "redundant")
    means = {n: np.mean([e for m, e in zip(cost.n, cost.evaluations, strict=True) if m == n]) for n in set(cost.n)}
    assert 30 < means[10_000] / means[1000] < 50
