"""What the Solvers page computes and says: the core's counts, limits, every case of the sentences, the snippet."""

from dataclasses import replace

import numpy as np
import pytest

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.store import write
from objpert_core.experiments.studies import solver_costs as sc
from objpert_core.learning import SOLVERS, solve
from pages.solvers import charts
from pages.solvers import numbers as sr
from pages.solvers import words as text
from tests.pages.apps import execute

SMALL = sr.Setting(n=100, lam=1.0, sigma=4.0, columns="redundant", seed=0, tau=1e-6)


def made(total, converged=True, reached=1e-7):
    return sr.Run(np.array([100.0, total]), np.array([1.0, reached]), total, 1, reached, converged)


UNFINISHED = {"newton": made(150), "sag": made(5000, False, 0.123)}


def test_every_solver_of_the_page_is_in_the_registry_and_has_a_look():
    from ui.figures import ROLES

    assert set(sr.NAMES) <= set(SOLVERS)
    assert set(sr.NAMES) <= set(ROLES)
    assert set(sr.COLUMNS) == set(sc.COLUMNS)


@pytest.mark.slow
@pytest.mark.parametrize("solver", sr.NAMES)
def test_runs_are_the_cores(solver):
    found = sr.run(solver, SMALL)
    case = sc.Case(n=100, lam=1.0, sigma=4.0, columns="redundant", seed=0)
    result = solve(case.objective(), tau=1e-6, solver=solver, max_iter=sr.limit(solver, 100))
    assert found.converged
    assert (found.total, found.reached) == (result.gradient_evaluations, result.gradient_norm)
    assert found.iterations == result.iterations
    np.testing.assert_array_equal(np.column_stack([found.evaluations, found.norms]), np.array(result.trace))


@pytest.mark.thorough
def test_no_setting_of_the_page_takes_long():
    for n in (100, 1000):
        hard = sr.Setting(n=n, lam=0.01, sigma=0.1, columns="redundant", seed=0, tau=1e-9)
        found = sr.run("gradient-descent", hard)
        assert not found.converged
        assert found.iterations == 1000
        for solver in sr.FINITE_SUM:
            assert sr.limit(solver, n) * n <= 45_000


def test_long_curves_are_thinned_and_keep_their_ends():
    long = sr.Run(np.arange(1.0, 2001.0), np.geomspace(1, 1e-6, 2000), 2000, 1999, 1e-6, True)
    x, y = sr.curve(long)
    assert len(x) <= sr.POINTS
    assert (x[0], x[-1]) == (1.0, 2000.0)
    assert (y[0], y[-1]) == (1.0, pytest.approx(1e-6))
    short = sr.run("newton", SMALL)
    np.testing.assert_array_equal(sr.curve(short)[1], short.norms)


def test_the_frame_has_every_check():
    frame = sr.frame(("newton", "sag"), SMALL)
    assert len(frame) == sum(len(sr.run(solver, SMALL).norms) for solver in ("newton", "sag"))
    assert sr.frame((), SMALL).empty


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ({"sag": made(5000), "newton": made(1500)}, "Newton’s method visits each row 15 times, SAG 50."),
        (UNFINISHED, "Newton’s method visits each row 1.5 times; one solver stops un"),
        ({"sag": made(5000, False, 0.1)}, "None of these solvers reaches ‖∇J‖ ≤ 10⁻⁶ within"),
        ({}, "Pick a solver to see what it costs."),
    ],
)
def test_the_answer_ranks_those_that_arrived(runs, sentence):
    assert text.answer(SMALL, runs).startswith(sentence)


def test_it_says_why_the_visits_moved_and_gives_no_reason_that_does_not_hold():
    def moved(new, **changes):
        return text.moved(SMALL, replace(SMALL, **changes), {"sag": made(5000)}, {"sag": made(new)})

    told = "λ 1 → 10: SAG needs fewer visits, 50 → 10 a row: where the data are flat, only λ curves."
    assert moved(1000, lam=10.0) == told
    assert moved(1000, lam=0.1) == "λ 1 → 0.1: SAG needs fewer visits, 50 → 10 a row."
    assert moved(9000, tau=1e-9).endswith("50 → 90 a row: every digit of the gradient costs about the same.")
    flat = "where the data are flat, a wide tilt moves the solution far."
    assert moved(9000, columns="redundant", sigma=8.0) == f"σ 4 → 8: SAG needs more visits, 50 → 90 a row: {flat}"
    assert moved(1000, columns="diverse").startswith("columns redundant → diverse: SAG needs fewer visits")
    assert moved(5001, seed=1) == "seed 0 → 1: the number of visits hardly moves."
    assert moved(9000, n=50, lam=2.0) == "λ 1 → 2, n 100 → 50: SAG needs more visits, 50 → 180 a row."
    assert moved(9000) == text.moved(SMALL, replace(SMALL, lam=2.0), {"sag": made(9, False)}, {"sag": made(9)}) == ""


def test_a_norm_above_tau_is_marked_in_the_table():
    newton, sag = sorted(text.table_rows(SMALL, UNFINISHED), key=lambda row: row["Solver"])
    assert list(newton) == ["Solver", "Gradient evaluations", "Visits per row", "Iterations", "‖∇J‖ reached"]
    assert list(newton.values()) == ["Newton", "150", "1.5", "1", "10⁻⁷"]
    assert sag["‖∇J‖ reached"] == "0.13 (above τ)"


def test_the_alt_text_carries_the_counts():
    alt = text.alt(SMALL, {"sag": made(5000), "newton": made(1500), "svrg": made(9, False)})
    assert "Newton 1,500; SAG 5,000; SVRG not within the limit." in alt


def test_growths_name_measured_interval_and_proof():
    fit = sc.Cost((1000, 3000, 10_000), (1, 2, 3), sc.Growth(1.47, 1.44, 1.5, 7.0))
    said = text.growths({"accelerated": fit, "newton": fit})
    assert "n\u00a0=\u00a01,000" in said
    assert said.replace("\u00a0", " ") == (
        "Measured from n = 1,000 on, the cost grows as $n^{1.47}\\log n$ for accelerated descent (up to n = 10,000; "
        "95 %: 1.44 to 1.50; proved: at most $n^{1.5}\\log n$)."
    )
    assert "No solver" in text.growths({"newton": fit})
    assert "proved: at most $n\\log n$" in text.growths({"sag": fit})
    assert text.growth_alt({"newton": fit}).startswith("Gradient evaluations against the number of rows")
    assert text.growth_alt({"newton": fit}, relative=True).startswith("Gradient evaluations divided by n log n against")
    rows = text.growth_rows({"accelerated": fit, "newton": fit})
    assert [row["Proved (Appendix F)"] for row in rows] == ["at most 1.5", "–"]


def test_seconds_are_told_at_the_largest_n_of_all():
    growth = sc.Growth(1.0, 1.0, 1.0, 1.0)
    short = sc.Cost((10, 10, 1000), (1, 1, 2), growth, (1.0, 3.0, 0.5))
    costs = {"newton": short, "sag": sc.Cost((10, 1000, 3000), (1, 2, 3), growth, (1.0, 0.123, 9.0))}
    told = "Visits are not seconds. Processor time of the stored runs on 1,000 rows: SAG 0.12 s; Newton 0.5 s."
    assert text.seconds(costs) == told
    assert text.seconds({"newton": sc.Cost((10, 1000), (1, 2), growth)}) is None
    assert short.seconds_at(10) == 2.0
    stored = sc.costs(tuple(sr.NAMES), "redundant")
    assert "on 10,000 rows: Newton 0.0" in text.seconds(stored)


def test_the_snippet_gives_the_plotted_numbers():
    names, printed = execute(text.snippet(SMALL, tuple(sr.NAMES)))
    for solver in sr.NAMES:
        assert names["results"][solver].gradient_evaluations == sr.run(solver, SMALL).total
        assert names["results"][solver].gradient_norm == sr.run(solver, SMALL).reached
    assert str(sr.run("sag", SMALL).total) in printed


@pytest.mark.parametrize("columns", sr.COLUMNS)
def test_charts_draw_what_was_measured(columns):
    for relative in (False, True):
        figure = charts.growth(columns, tuple(sr.NAMES), relative=relative)
        points = {trace.name: trace for trace in figure.data if trace.mode == "markers"}
        for solver, cost in sc.costs(tuple(sr.NAMES), columns).items():
            n, y = np.array(points[sr.NAMES[solver]].x), np.array(points[sr.NAMES[solver]].y)
            np.testing.assert_array_equal(n, cost.n)
            np.testing.assert_allclose(y * (n * np.log(n) if relative else 1), cost.evaluations)
            low, high = figure.layout.yaxis.range
            assert (np.log10(y) >= low).all()
            assert (np.log10(y) <= high).all()
    assert charts.growth(columns, ()).data == ()


# --- what is stored -------------------------------------------------------------------------------------------------


def test_the_stored_costs_bear_out_appendix_f():
    costs = sc.costs(tuple(sr.NAMES), "redundant")
    assert set(costs) == set(sr.NAMES)
    for solver, exponent in sc.PROVED.items():
        assert costs[solver].growth.low <= exponent + 0.02
        assert costs[solver].growth.exponent == pytest.approx(exponent, abs=0.12)
        assert costs[solver].growth.high - costs[solver].growth.low < 0.25
    assert {"command", "seeds", "commit", "versions"} <= set(sc.load().notes)


@pytest.mark.slow
@pytest.mark.parametrize("solver", sr.NAMES)
def test_stored_counts_are_those_of_the_code(solver):
    row = sc.reached(sc.load(), solver, "redundant")[0]
    again, _ = sc.measure(sc.Case(row.n, row.lam, row.sigma, row.features, row.columns, row.seed), solver, row.tau)
    assert again.evaluations == pytest.approx(row.evaluations, rel=0.1)  # equal up to rounding on another machine


def test_saving_and_loading_is_a_round_trip(tmp_path):
    row, _ = sc.measure(sc.Case(50, features=5), "newton", 1e-3)
    write(tmp_path / "costs.csv", [row], {"command": "x: y", "commit": "abc"})
    stored = sc.load(tmp_path / "costs.csv")
    assert stored.notes == {"command": "x: y", "commit": "abc"}
    assert stored.runs[0].evaluations == row.evaluations
    assert stored.runs[0].converged
    assert sc.reached(stored, "newton", "redundant") == stored.runs


def test_a_missing_or_broken_file_is_one_sentence(tmp_path):
    with pytest.raises(DataUnavailableError, match=r"nowhere\.csv"):
        sc.load(tmp_path / "nowhere.csv")
    (tmp_path / "broken.csv").write_text("# command: x\nsolver,n\nnewton,banana\n")
    with pytest.raises(DataUnavailableError, match=r"broken\.csv"):
        sc.load(tmp_path / "broken.csv")


def test_growth_has_an_interval_that_covers_and_needs_three_sizes():
    rng = np.random.default_rng(0)
    sizes = np.repeat([1000, 3000, 10_000, 30_000], 3)
    covered = 0
    for _ in range(200):
        evaluations = 5 * sizes**1.5 * np.log(sizes) * np.exp(0.05 * rng.standard_normal(sizes.size))
        fit = sc.growth(sizes.tolist(), evaluations.tolist())
        covered += fit.low <= 1.5 <= fit.high
    assert 180 <= covered <= 198
    with pytest.raises(ValueError, match="at least three sizes"):
        sc.growth([10, 10, 10], [1, 2, 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n must be a whole number >= 1, got 0"),
        ({"lam": 0.0}, "lam must be a finite number > 0, got 0.0"),
        ({"sigma": -1.0}, "sigma must be"),
        ({"columns": "purple"}, "columns must be one of 'redundant', 'diverse', got 'purple'"),
    ],
)
def test_bad_cases_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        sc.Case(**({"n": 10} | change)).objective()
