"""Every experiment with a file: stored results are whole and computed again, files are made and continued."""

import re

import pytest

from objpert_core import DataUnavailableError, _provenance
from objpert_core.experiments import results, store
from objpert_core.experiments.__main__ import main
from objpert_core.experiments.intervals import coverage
from objpert_core.experiments.intervals import stored as intervals
from objpert_core.experiments.population import promises
from objpert_core.experiments.population import stored as population
from objpert_core.experiments.ptr import pate, pca, regression
from objpert_core.experiments.ptr import stored as ptr
from objpert_core.experiments.quadratic import figure1, figure2, matter
from objpert_core.experiments.quadratic import regression as bend_and_tilt
from objpert_core.experiments.quadratic import stored as quadratic
from objpert_core.experiments.results import Run
from objpert_core.experiments.store import write
from objpert_core.experiments.studies.solver_costs import Measurement

PIECEWISE = {one.file: one for stored in (ptr, quadratic, intervals) for one in stored.EXPERIMENTS.values()}
SWEPT = {one.file: one for one in population.EXPERIMENTS.values()}
EVERY = PIECEWISE | SWEPT | {"population_promises": promises.EXPERIMENT}
KINDS = {name: one.row for name, one in EVERY.items()} | {f"figure2_{name}": Run for name in results.stored()}
KINDS |= {"solvers": Measurement}
PROGRAM = "python -m objpert_core.experiments"
BY_SEVERAL_ROWS = ["ptr_voting", "quadratic_matter"]
"""Experiments whose pieces are quick and have several rows each."""


@pytest.mark.parametrize("name", KINDS)
def test_a_stored_file_says_what_made_it_and_is_written_again_byte_for_byte(name):
    path = results.folder() / f"{name}.csv"
    found = results.read(path, KINDS[name])
    lines = [line for line in path.read_text().splitlines(keepends=True) if not line.startswith("#")]
    columns, *cells = (_provenance.row_line(row) for row in [results.columns_of(KINDS[name]), *map(as_row, found.runs)])
    assert [columns, *cells] == lines
    made_by = found.sessions or (found.notes,)
    assert all(session["commit"] and session["versions"] for session in made_by)
    if name in EVERY:
        assert made_by[0]["command"].startswith(f"{PROGRAM} {EVERY[name].command.partition(' --')[0]}")


def as_row(run):
    return run.as_row()


@pytest.mark.parametrize("name", PIECEWISE)
def test_a_stored_file_has_every_piece_and_comes_from_a_commit(name):
    experiment = PIECEWISE[name]
    found = experiment.results()
    fetched = {piece for piece in pieces_of(experiment, found) if "california" in piece}  # by whoever has the file
    assert pieces_of(experiment, found) - fetched == {piece for piece in experiment.pieces if "california" not in piece}
    assert found.notes["command"] == f"{PROGRAM} {experiment.command}"
    assert not found.notes["commit"].endswith("+")
    assert found.notes["seeds"] == experiment.seeds


def pieces_of(experiment, found):
    return {tuple(getattr(run, column) for column in experiment.by or run.KEYS) for run in found.runs}


@pytest.mark.parametrize("name", EVERY)
def test_missing_results_name_the_command(name, tmp_path):
    with pytest.raises(DataUnavailableError, match=f"no stored .*{PROGRAM} {EVERY[name].command}"):
        EVERY[name].results(tmp_path)


# --- a file on its way --------------------------------------------------------------------------------------------


def made(name, folder, command="first", most=1):
    return EVERY[name].make({"command": command, "seeds": "some"}, folder, most=most)


@pytest.mark.parametrize("name", BY_SEVERAL_ROWS)
def test_a_file_is_continued_piece_by_piece(name, tmp_path):
    experiment = EVERY[name]
    assert made(name, tmp_path, most=0) == 0
    assert not experiment.path(tmp_path).exists()
    assert made(name, tmp_path) == 1
    first = experiment.path(tmp_path).read_text()
    assert made(name, tmp_path, "second") == 1
    whole = experiment.path(tmp_path).read_text()
    assert whole.startswith(first)
    assert "# command: first" in whole
    found = experiment.results(tmp_path)
    assert found.notes["command"] == "second"
    assert pieces_of(experiment, found) == {*experiment.pieces[:2]}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BY_SEVERAL_ROWS)
def test_a_piece_that_was_cut_off_is_made_again_as_a_whole(name, tmp_path):
    path = EVERY[name].path(tmp_path)
    made(name, tmp_path)
    first = len(path.read_bytes())
    made(name, tmp_path)
    whole = path.read_bytes()
    for cut, left in ((len(whole) - 2, 1), (first + 3, 2), (first - 2, 2), (3, 2)):  # in rows and in notes
        path.write_bytes(whole[:cut])
        assert made(name, tmp_path, most=left) == left
        assert rows_in(path.read_bytes()) == rows_in(whole), cut


def rows_in(content):
    return [line for line in content.splitlines() if not line.startswith(b"#")]


@pytest.mark.skipif(store.fcntl is None, reason="no file locks on this system")
@pytest.mark.parametrize("name", ["ptr_voting", "population_hard"])
def test_two_runs_cannot_write_one_file(name, tmp_path):
    with EVERY[name].store({"command": "first"}, tmp_path):
        with pytest.raises(OSError, match="written by another run"):
            EVERY[name].store({"command": "second"}, tmp_path)
        with pytest.raises(OSError, match="written by another run"):
            made(name, tmp_path)


@pytest.mark.skipif(store.fcntl is None, reason="no file locks on this system")
def test_a_file_is_written_anew_as_a_whole_or_not_at_all(tmp_path):
    path = promises.EXPERIMENT.path(tmp_path)
    for epsilon in (3.0, 4.0):
        write(path, [promises.Promise("sgd", 100, 3, 2.0, epsilon)], {"command": "some"})
        assert [run.epsilon for run in promises.load(tmp_path).runs] == [epsilon]
    before = path.read_bytes()
    with pytest.raises(ValueError, match="NaN"):
        write(path, [promises.Promise("sgd", 100, 3, 2.0, float("nan"))], {})
    with promises.EXPERIMENT.store({}, tmp_path), pytest.raises(OSError, match="written by another run"):
        write(path, [promises.Promise("sgd", 100, 3, 2.0, 5.0)], {})
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(path.name, before)]


@pytest.mark.parametrize(
    ("family", "name", "row", "names"),
    [
        ("ptr", "voting", "a +10.0 +1 +pure +9.3939", "'voting', 'pate', 'regression', 'glm', 'pca', got 'lasso'"),
        (
            "quadratic",
            "figure1",
            "exact +published +0.1 +1e-06 +4968.6",
            "'figure1', 'figure2', 'matter', 'regression'",
        ),
    ],
)
def test_the_command_makes_and_reports(family, name, row, names, tmp_path, capsys):
    given = [family, name, "--out", str(tmp_path)]
    assert main([*given, "--pieces", "2"]) == 0
    told = capsys.readouterr().out
    assert f"{name}: 2 pieces added" in told
    assert re.search(rf"\n{row}\n", told)
    found = EVERY[f"{family}_{name}"].results(tmp_path)
    assert found.notes["command"] == f"{PROGRAM} {family} {name}"
    assert found.notes["seeds"] == "none: nothing is random"
    assert main([*given, "--report"]) == 0
    assert capsys.readouterr().out in told
    assert main([family, "lasso", "--out", str(tmp_path)]) == 2
    assert f"name must be one of {names}" in capsys.readouterr().err


# --- what is stored -----------------------------------------------------------------------------------------------


def test_an_interval_is_the_mean_over_the_rows_that_are_asked_for():
    found = quadratic.load("matter")
    assert found.cells("seed") == tuple(map(str, matter.SEEDS))
    interval, values = found.interval(n=1000, method="exact"), found.values(n=1000, method="exact")
    assert interval.count == len(values) == len(matter.SEEDS)
    assert interval.mean == pytest.approx(sum(values) / len(values))
    assert found.interval(n=1000, method="nothing") is None


@pytest.mark.thorough
def test_other_columns_are_read_and_hidden_from_reports():
    found = ptr.load("pca")
    at = {"n": 10_000, "spread": 3.0, "method": "gram"}
    assert found.interval("gap", **at).mean > 1000 > found.interval(**at).mean
    assert len(found.values("gap", **at)) == len(pca.SEEDS)
    assert "gap " not in EVERY["ptr_pca"].report(found).partition("\n")[2]
    assert "refused" not in EVERY["ptr_regression"].report(ptr.load("regression"))
    assert found.cells("method") == tuple(pca.LABELS)
    assert regression.FREE in map(float, ptr.load("regression").cells("epsilon"))


AGAIN = {  # some rows of each experiment, computed again, and how exactly they are the stored ones
    "ptr_regression": (lambda: regression.errors("diabetes", 3, []), 1e-9),
    "intervals_coverage": (lambda: coverage.coverage("even", 1_000, 2, 1.0, 3), 1e-6),
    "ptr_pate": (lambda: pate.prices("low", 20.0), 1e-9),
    "quadratic_figure1": (
        lambda: [figure1.cell("exact", proof, 0.5, 1e-3) for proof in figure1.PANELS["exact"]],
        1e-6,
    ),
    "quadratic_figure2": (lambda: figure2.risks(3, (0.1, 100.0)), 1e-8),
    "quadratic_matter": (lambda: matter.losses(1, (1000, 10_000)), 1e-4),
    "quadratic_regression": (lambda: bend_and_tilt.losses(4, [bend_and_tilt.CASES[1]]), 1e-4),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name != "ptr_regression" else []) for name in AGAIN]
)
def test_stored_numbers_are_computed_again(name):
    compute, rel = AGAIN[name]
    kept, rows = {run.key: run for run in EVERY[name].results().runs}, list(compute())
    assert len(rows) >= 3
    for row in rows:
        for column in set(results.columns_of(type(row))) - {*row.KEYS}:
            assert getattr(kept[row.key], column) == pytest.approx(getattr(row, column), rel=rel), row.key
        assert name != "quadratic_matter" or row.excess > 0
