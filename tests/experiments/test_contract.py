"""Every experiment with a file: stored results are whole and computed again, files are made and continued."""

import re

import pytest

from benchmarks.experiments import intervals, population, ptr, quadratic, regressions, store, votes
from benchmarks.experiments.__main__ import FAMILIES, main
from benchmarks.experiments.store import write
from objpert_core import DataUnavailableError, _provenance
from objpert_core.experiments import results
from objpert_core.experiments.population.stored import Promise
from objpert_core.experiments.ptr.stored import Error, Lost
from objpert_core.experiments.quadratic import figure1
from objpert_core.experiments.quadratic.stored import Excess, NewError
from objpert_core.experiments.results import Run
from objpert_core.experiments.studies.solver_costs import Measurement

EVERY = {(family, name): one for family, makers in FAMILIES.items() for name, one in makers.experiments.items()}
KINDS = {"_".join(name): one.row for name, one in EVERY.items()} | {f"figure2_{name}": Run for name in results.stored()}
KINDS |= {"solvers": Measurement}
PROGRAM = "python -m benchmarks.experiments"
FORMERLY = "python -m objpert_core.experiments"
BY_SEVERAL_ROWS = [("ptr", "voting"), ("quadratic", "matter")]
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
    if name != "solvers":
        family = "promises" if name == "population_promises" else name.partition("_")[0]
        assert made_by[0]["command"].startswith((f"{PROGRAM} {family}", f"{FORMERLY} {family}"))


def as_row(run):
    return run.as_row()


def results_of(name, where=None):
    family, experiment = name
    return FAMILIES[family].family.load(experiment, where)


def path_of(name, where):
    family, experiment = name
    return FAMILIES[family].family.path(experiment, where)


@pytest.mark.parametrize("name", EVERY, ids="_".join)
def test_a_stored_file_has_every_piece_and_comes_from_a_commit(name):
    experiment, found = EVERY[name], results_of(name)
    fetched = {piece for piece in pieces_of(experiment, found) if "california" in piece}  # by whoever has the file
    assert pieces_of(experiment, found) - fetched == {piece for piece in experiment.pieces if "california" not in piece}
    for made_by in found.sessions or (found.notes,):
        assert not made_by["commit"].endswith("+")
    assert found.sessions or found.notes["seeds"] == experiment.seeds


def pieces_of(experiment, found):
    return {tuple(getattr(run, column) for column in experiment.by or run.KEYS) for run in found.runs}


@pytest.mark.parametrize("name", EVERY, ids="_".join)
def test_missing_results_name_the_command(name, tmp_path):
    with pytest.raises(DataUnavailableError, match=f"no stored results of .*{PROGRAM} {' '.join(name)}"):
        results_of(name, tmp_path)


# --- a file on its way --------------------------------------------------------------------------------------------


def made(name, folder, command="first", most=1):
    assert not EVERY[name].make(path_of(name, folder), {"command": command}, most=most)
    return path_of(name, folder)


@pytest.mark.parametrize("name", BY_SEVERAL_ROWS)
def test_a_file_is_continued_piece_by_piece(name, tmp_path):
    experiment = EVERY[name]
    assert not made(name, tmp_path, most=0).exists()
    first = made(name, tmp_path).read_text()
    whole = made(name, tmp_path, "second").read_text()
    assert whole.startswith(first)
    assert "# command: first" in whole
    found = results_of(name, tmp_path)
    assert found.notes["command"] == "second"
    assert pieces_of(experiment, found) == {*experiment.pieces[:2]}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BY_SEVERAL_ROWS)
def test_a_piece_that_was_cut_off_is_made_again_as_a_whole(name, tmp_path):
    first = len(made(name, tmp_path).read_bytes())
    path = made(name, tmp_path)
    whole = path.read_bytes()
    for cut, left in ((len(whole) - 2, 1), (first + 3, 2), (first - 2, 2), (3, 2)):  # in rows and in notes
        path.write_bytes(whole[:cut])
        made(name, tmp_path, most=left)
        assert rows_in(path.read_bytes()) == rows_in(whole), cut


def rows_in(content):
    return [line for line in content.splitlines() if not line.startswith(b"#")]


@pytest.mark.skipif(store.fcntl is None, reason="no file locks on this system")
@pytest.mark.parametrize("name", [("ptr", "voting"), ("population", "hard")])
def test_two_runs_cannot_write_one_file(name, tmp_path):
    with (
        EVERY[name].store(path_of(name, tmp_path), {"command": "first"}),
        pytest.raises(OSError, match="written by another run"),
    ):
        made(name, tmp_path)


@pytest.mark.skipif(store.fcntl is None, reason="no file locks on this system")
def test_a_file_is_written_anew_as_a_whole_or_not_at_all(tmp_path):
    name = ("population", "promises")
    path = path_of(name, tmp_path)
    for epsilon in (3.0, 4.0):
        write(path, [Promise("sgd", 100, 3, 2.0, epsilon)], {"command": "some"})
        assert [run.epsilon for run in results_of(name, tmp_path).runs] == [epsilon]
    before = path.read_bytes()
    with pytest.raises(ValueError, match="NaN"):
        write(path, [Promise("sgd", 100, 3, 2.0, float("nan"))], {})
    with EVERY[name].store(path, {}), pytest.raises(OSError, match="written by another run"):
        write(path, [Promise("sgd", 100, 3, 2.0, 5.0)], {})
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
    said = capsys.readouterr()
    told = said.out
    assert said.err.startswith(f"{family}_{name}: 2 of ")
    assert re.search(rf"\n{row}\n", told)
    found = results_of((family, name), tmp_path)
    assert found.notes["command"] == f"{PROGRAM} {family} {name}"
    assert found.notes["seeds"] == "none: nothing is random"
    assert main([*given, "--report"]) == 0
    assert capsys.readouterr().out == told
    assert main([family, "lasso", "--out", str(tmp_path)]) == 2
    assert f"name must be one of {names}" in capsys.readouterr().err


# --- what is stored -----------------------------------------------------------------------------------------------


def test_an_interval_is_the_mean_over_the_rows_that_are_asked_for():
    found = results_of(("quadratic", "matter"))
    assert found.cells("seed") == tuple(map(str, Excess.SEEDS))
    interval, values = found.interval(n=1000, method="exact"), found.values(n=1000, method="exact")
    assert interval.count == len(values) == len(Excess.SEEDS)
    assert interval.mean == pytest.approx(sum(values) / len(values))
    assert found.interval(n=1000, method="nothing") is None


@pytest.mark.thorough
def test_other_columns_are_read_and_hidden_from_reports():
    found = results_of(("ptr", "pca"))
    at = {"n": 10_000, "spread": 3.0, "method": "gram"}
    assert found.interval("gap", **at).mean > 1000 > found.interval(**at).mean
    assert len(found.values("gap", **at)) == len(Lost.SEEDS)
    assert "gap " not in EVERY["ptr", "pca"].report(found).partition("\n")[2]
    assert "refused" not in EVERY["ptr", "regression"].report(results_of(("ptr", "regression")))
    assert found.cells("method") == tuple(Lost.LABELS)
    assert Error.FREE in map(float, results_of(("ptr", "regression")).cells("epsilon"))


AGAIN = {  # some rows of each experiment, computed again, and how exactly they are the stored ones
    ("ptr", "voting"): (lambda: votes.costs("b", 0.3), 1e-9),
    ("ptr", "regression"): (lambda: regressions.errors("diabetes", 3, []), 1e-9),
    ("ptr", "pate"): (lambda: votes.prices("low", 20.0), 1e-9),
    ("ptr", "pca"): (lambda: ptr.losses(1, [300], [2.0]), 1e-3),
    ("intervals", "coverage"): (lambda: intervals.coverage("even", 1_000, 2, 1.0, 3), 1e-6),
    ("population", "promises"): (
        lambda: [population.accounted(method, 100, d, 2.0)[0] for method in ("sgd", "objective") for d in (3, 10)],
        1e-9,
    ),
    ("quadratic", "figure1"): (
        lambda: [figure1.cell("exact", proof, 0.5, 1e-3) for proof in figure1.PANELS["exact"]],
        1e-6,
    ),
    ("quadratic", "figure2"): (lambda: quadratic.risks(3, (0.1, 100.0)), 1e-8),
    ("quadratic", "matter"): (lambda: quadratic.excesses(1, (1000, 10_000)), 1e-4),
    ("quadratic", "regression"): (lambda: quadratic.new_errors(4, [NewError.CASES[1]]), 1e-4),
}
_QUICK = (("ptr", "regression"), ("ptr", "pca"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, id="_".join(name), marks=[] if name in _QUICK else pytest.mark.slow) for name in AGAIN]
)
def test_stored_numbers_are_computed_again(name):
    compute, rel = AGAIN[name]
    kept, rows = {run.key: run for run in results_of(name).runs}, list(compute())
    assert len(rows) >= 3
    for row in rows:
        for column in set(results.columns_of(type(row))) - {*row.KEYS}:
            assert getattr(kept[row.key], column) == pytest.approx(getattr(row, column), rel=rel), row.key
        assert name != ("quadratic", "matter") or row.excess > 0
