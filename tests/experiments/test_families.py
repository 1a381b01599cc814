"""Every family's stored results: written piece by piece, continued, made by a command, whole, and computed again."""

import re

import pytest

from objpert_core import DataUnavailableError
from objpert_core.experiments.__main__ import main
from objpert_core.experiments.population import promises
from objpert_core.experiments.population import stored as population
from objpert_core.experiments.ptr import pate, pca, regression
from objpert_core.experiments.ptr import stored as ptr
from objpert_core.experiments.quadratic import figure1, figure2, matter
from objpert_core.experiments.quadratic import regression as bend_and_tilt
from objpert_core.experiments.quadratic import stored as quadratic

FAMILIES = {"ptr": ptr, "quadratic": quadratic}
EVERY = [(family, name) for family, stored in FAMILIES.items() for name in stored.EXPERIMENTS]


@pytest.mark.parametrize(("family", "name"), [("ptr", "voting"), ("quadratic", "matter")])
def test_a_file_is_continued_piece_by_piece(family, name, tmp_path):
    stored, experiment = FAMILIES[family], FAMILIES[family].EXPERIMENTS[name]
    assert stored.make(name, {"command": "first", "seeds": "some"}, tmp_path, most=1) == 1
    first = stored.path_of(name, tmp_path).read_text()
    assert stored.make(name, {"command": "second", "seeds": "some"}, tmp_path, most=1) == 1
    whole = stored.path_of(name, tmp_path).read_text()
    assert whole.startswith(first)
    assert "# command: first" in whole
    found = stored.load(name, tmp_path)
    assert found.notes["command"] == "second"
    assert pieces_of(found, experiment) == {tuple(map(str, piece)) for piece in experiment.pieces[:2]}


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
    found = FAMILIES[family].load(name, tmp_path)
    assert found.notes["command"] == f"python -m objpert_core.experiments {family} {name}"
    assert found.notes["seeds"] == "none: nothing is random"
    assert main([*given, "--report"]) == 0
    assert capsys.readouterr().out in told
    assert main([family, "lasso", "--out", str(tmp_path)]) == 2
    assert f"name must be one of {names}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("load", "command"),
    [
        (lambda folder: ptr.load("glm", folder), "ptr glm"),
        (lambda folder: quadratic.load("figure2", folder), "quadratic figure2"),
        (lambda folder: population.load("hard", folder), "population --populations hard"),
        (promises.load, "promises"),
    ],
    ids=["ptr", "quadratic", "population", "promises"],
)
def test_missing_results_name_the_command(load, command, tmp_path):
    with pytest.raises(DataUnavailableError, match=f"python -m objpert_core.experiments {command}"):
        load(tmp_path)


def pieces_of(found, experiment):
    return {tuple(row[column] for column in experiment.names) for row in found.rows}


@pytest.mark.parametrize(("family", "name"), EVERY)
def test_stored_files_are_whole_and_say_how_they_were_made(family, name):
    stored, experiment = FAMILIES[family], FAMILIES[family].EXPERIMENTS[name]
    found = stored.load(name)
    fetched = {piece for piece in pieces_of(found, experiment) if "california" in piece}  # by whoever has the file
    assert pieces_of(found, experiment) - fetched == {
        tuple(map(str, piece)) for piece in experiment.pieces if "california" not in piece
    }
    assert found.notes["command"] == f"python -m objpert_core.experiments {family} {name}"
    assert found.notes["commit"]
    assert not found.notes["commit"].endswith("+")
    assert found.notes["seeds"]
    assert name in stored.names()


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
    assert "gap " not in ptr.report(found).partition("\n")[2]
    assert "refused" not in ptr.report(ptr.load("regression"))
    assert found.cells("method") == tuple(pca.LABELS)
    assert regression.FREE in map(float, ptr.load("regression").cells("epsilon"))


@pytest.mark.parametrize(
    ("family", "name", "make", "names", "rel"),
    [
        ("ptr", "regression", lambda: regression.errors("diabetes", 3, []), "dataset epsilon method seed", 1e-9),
        *(
            pytest.param(*case, marks=pytest.mark.slow, id=f"{case[0]}-{case[1]}")
            for case in (
                ("ptr", "pate", lambda: pate.prices("low", 20.0), "source sigma method", 1e-9),
                (
                    "quadratic",
                    "figure1",
                    lambda: [figure1.cell("exact", proof, 0.5, 1e-3) for proof in figure1.PANELS["exact"]],
                    "panel proof epsilon delta",
                    1e-6,
                ),
                ("quadratic", "figure2", lambda: figure2.risks(3, (0.1, 100.0)), "kappa method seed", 1e-8),
                ("quadratic", "matter", lambda: matter.losses(1, (1000, 10_000)), "n method seed", 1e-4),
                (
                    "quadratic",
                    "regression",
                    lambda: bend_and_tilt.losses(4, [bend_and_tilt.CASES[1]]),
                    "n d epsilon method seed",
                    1e-4,
                ),
            )
        ),
    ],
)
def test_stored_numbers_are_computed_again(family, name, make, names, rel):
    stored, experiment = FAMILIES[family].load(name), FAMILIES[family].EXPERIMENTS[name]
    rows = list(make())
    assert len(rows) >= 3
    for row in rows:
        at = {column: getattr(row, column) for column in names.split()}
        for column in (experiment.value, *experiment.beside):
            (kept,) = stored.values(column, **at)
            assert kept == pytest.approx(getattr(row, column), rel=rel), at
        assert name != "matter" or row.excess > 0
