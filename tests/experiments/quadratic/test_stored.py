"""Files of results: written piece by piece, continued, read, and made by a command."""

import re

import pytest

from objpert_core import DataUnavailableError
from objpert_core.experiments.__main__ import main
from objpert_core.experiments.quadratic import matter, stored


def test_a_file_is_continued_piece_by_piece(tmp_path):
    assert stored.make("matter", {"command": "first", "seeds": "some"}, tmp_path, most=1) == 1
    first = stored.path_of("matter", tmp_path).read_text()
    assert stored.make("matter", {"command": "second", "seeds": "some"}, tmp_path, most=1) == 1
    whole = stored.path_of("matter", tmp_path).read_text()
    assert whole.startswith(first)
    found = stored.load("matter", tmp_path)
    assert found.cells("seed") == ("0", "1")
    assert found.notes["command"] == "second"
    assert "# command: first" in whole
    assert len(found.rows) == 2 * len(matter.ROWS) * len(matter.LABELS)
    interval = found.interval(n=1000, method="exact")
    assert interval.count == 2
    assert interval.mean == pytest.approx(sum(found.values(n=1000, method="exact")) / 2)
    assert found.interval(n=1000, method="nothing") is None


def test_the_command_makes_and_reports(tmp_path, capsys):
    given = ["quadratic", "figure1", "--out", str(tmp_path)]
    assert main([*given, "--pieces", "2"]) == 0
    told = capsys.readouterr().out
    assert "figure1: 2 pieces added" in told
    assert re.search(r"\nexact +published +0\.1 +1e-06 +4968\.6\n", told)
    found = stored.load("figure1", tmp_path)
    assert found.notes["command"] == "python -m objpert_core.experiments quadratic figure1"
    assert found.notes["seeds"] == "none: nothing is random"
    assert main([*given, "--report"]) == 0
    assert capsys.readouterr().out in told
    assert main(["quadratic", "figure3", "--out", str(tmp_path)]) == 2
    assert "name must be one of 'figure1', 'figure2', 'matter', 'regression'" in capsys.readouterr().err


def test_missing_results_name_the_command(tmp_path):
    with pytest.raises(DataUnavailableError, match="experiments quadratic figure2"):
        stored.load("figure2", tmp_path)


@pytest.mark.parametrize("name", stored.EXPERIMENTS)
def test_stored_files_are_whole_and_say_how_they_were_made(name):
    found, experiment = stored.load(name), stored.EXPERIMENTS[name]
    held = {tuple(row[column] for column in experiment.names) for row in found.rows}
    assert held == {tuple(map(str, piece)) for piece in experiment.pieces}
    assert found.notes["command"] == f"python -m objpert_core.experiments quadratic {name}"
    assert found.notes["commit"]
    assert found.notes["seeds"]
    assert name in stored.names()
