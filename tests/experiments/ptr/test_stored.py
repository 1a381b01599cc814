"""Files of results: written piece by piece, continued, read, and made by a command."""

import re

import pytest

from objpert_core import DataUnavailableError
from objpert_core.experiments.__main__ import main
from objpert_core.experiments.ptr import pca, regression, stored


def test_a_file_is_continued_piece_by_piece(tmp_path):
    assert stored.make("voting", {"command": "first"}, tmp_path, most=1) == 1
    first = stored.path_of("voting", tmp_path).read_text()
    assert stored.make("voting", {"command": "second"}, tmp_path, most=1) == 1
    whole = stored.path_of("voting", tmp_path).read_text()
    assert whole.startswith(first)
    assert stored.load("voting", tmp_path).notes["command"] == "second"
    assert "# command: first" in whole


def test_the_command_makes_and_reports(tmp_path, capsys):
    given = ["ptr", "voting", "--out", str(tmp_path)]
    assert main([*given, "--pieces", "1"]) == 0
    told = capsys.readouterr().out
    assert "voting: 1 pieces added" in told
    assert re.search(r"\na +10\.0 +1 +pure +9\.3939\n", told)
    found = stored.load("voting", tmp_path)
    assert found.notes["command"] == "python -m objpert_core.experiments ptr voting"
    assert found.notes["seeds"] == "none: nothing is random"
    assert main([*given, "--report"]) == 0
    assert capsys.readouterr().out in told
    assert main(["ptr", "lasso", "--out", str(tmp_path)]) == 2
    assert "name must be one of 'voting', 'pate', 'regression', 'glm', 'pca', got 'lasso'" in capsys.readouterr().err


def test_missing_results_name_the_command(tmp_path):
    with pytest.raises(DataUnavailableError, match="experiments ptr glm"):
        stored.load("glm", tmp_path)


@pytest.mark.parametrize("name", stored.EXPERIMENTS)
def test_stored_files_are_whole_and_say_how_they_were_made(name):
    found, experiment = stored.load(name), stored.EXPERIMENTS[name]
    held = {tuple(row[column] for column in experiment.names) for row in found.rows}
    assert held >= {tuple(map(str, piece)) for piece in experiment.pieces if "california" not in piece}
    assert found.notes["command"] == f"python -m objpert_core.experiments ptr {name}"
    assert not found.notes["commit"].endswith("+")
    assert found.notes["seeds"]
    assert name in stored.names()


@pytest.mark.thorough
def test_other_columns_are_read_and_hidden_from_reports():
    found = stored.load("pca")
    at = {"n": 10_000, "spread": 3.0, "method": "gram"}
    assert found.interval("gap", **at).mean > 1000 > found.interval(**at).mean
    assert len(found.values("gap", **at)) == len(pca.SEEDS)
    assert "gap " not in stored.report(found).partition("\n")[2]
    assert "refused" not in stored.report(stored.load("regression"))
    assert found.cells("method") == tuple(pca.LABELS)
    assert regression.FREE in map(float, stored.load("regression").cells("epsilon"))
