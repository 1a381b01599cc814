"""Files of results as the page reads them, its tables, their file, and their lines of Python."""

import math
from dataclasses import replace

import pytest

from objpert_core.experiments import indexed, results, tables
from objpert_core.experiments.figure2 import EPSILONS, Piece, noise_seed
from objpert_core.experiments.methods import METHODS, Parameters
from pages.accuracy import ahead, controls
from pages.accuracy.again import Point
from pages.accuracy.figure import Figure2
from pages.accuracy.reading import LABELS, Reading
from tests.pages.accuracy.runs import made, point_of, write
from tests.pages.apps import execute
from tests.plotted import decode
from ui.words import ends, signed

ALL = tuple(METHODS)
pytestmark = pytest.mark.usefixtures("stored_here")


def test_are_listed_as_the_catalogue_lists_data_sets_variants_last():
    assert controls.files() == ("adult", "adult-synthetic", "synthetic-l", "adult-scaling-1")
    assert controls.default_key(controls.files()) == "adult"
    assert controls.default_key(("synthetic-l",)) == "synthetic-l"


def test_a_changed_file_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    write(tmp_path, "adult", trials=2, methods=("tight",))
    assert indexed.load("adult").counts(("tight",)) == (2, 2)
    write(tmp_path, "adult", trials=3, methods=("tight",))
    assert indexed.load("adult").counts(("tight",)) == (3, 3)


def test_a_damaged_or_missing_file_is_one_sentence_and_spoils_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    write(tmp_path, "adult", trials=1, epsilons=(0.3, 1.0))
    (tmp_path / "figure2_synthetic-l.csv").write_text("rubbish\n")
    with pytest.raises(ValueError, match="line 1"):
        indexed.load("synthetic-l")
    with pytest.raises(ValueError, match="the stored results of 'gisette' cannot be read"):
        indexed.load("gisette")
    assert controls.epsilons(controls.files()) == (*EPSILONS[:4], 0.3, *EPSILONS[4:])


def test_the_table_is_the_points_at_the_epsilon(adult):
    rows = Figure2(adult, 1.0, controls.COMPARED).table()
    names = [row["Method"].replace("\u00a0", " ").replace("\u2011", "-") for row in rows]
    marked = {adult.rival(1.0): " (the rival)"}
    assert names == [LABELS[m] + marked.get(m, "") for m in controls.COMPARED]
    assert list(rows[0])[:3] == [
        "Method",
        "Ours minus the method, points",
        "Accuracy",
    ]  # a telephone shows no more
    by = dict(zip(controls.COMPARED, rows, strict=True))
    difference = adult.difference("tight", "published", 1.0)
    assert by["published"]["Accuracy"] == f"{100 * adult.point('published', 1.0).accuracy.mean:.2f}\u00a0%"
    assert by["published"]["Paper"] == "83.18\u00a0%"
    assert by["published"]["Ours minus the method, points"].startswith(signed(difference.mean) + "\u00a0(")
    assert by["tight"]["Ours minus the method, points"] == "–"
    assert "Paper" not in Figure2(adult, 0.25, controls.COMPARED).table()[0]
    assert "Paper" not in Figure2(indexed.load("adult-synthetic"), 1.0, controls.COMPARED).table()[0]


def test_the_rival_has_a_row_whatever_is_picked(adult):
    rows = Figure2(adult, 1.0, ("tight",)).table()
    assert len(rows) == 2
    assert rows[0]["Method"].endswith(" (the\u00a0rival)")
    assert not Figure2(adult, 1.0, ()).table()
    assert "Paper" not in Figure2(adult, 1.0, ("tight",)).table()[0]  # none of what is shown


def test_the_claim_at_every_epsilon(adult):
    rows = ahead.table(adult)
    assert [float(row["ε"]) for row in rows] == list(EPSILONS)
    assert all(row["Rival’s time / ours"].endswith("×") for row in rows)
    nothing = ahead.table(made(methods=("output",)))
    assert {row["Ours minus best unpaid, points"] for row in nothing} == {"–"}


def test_csv_holds_the_plotted_numbers(adult):
    frame = Figure2(adult, 1.0, ("non-private", "tight", "published")).frame()
    assert len(frame) == 1 + 2 * len(EPSILONS)
    own = frame[(frame.method == "tight") & (frame.epsilon == 0.1)].iloc[0]
    assert own.accuracy == adult.point("tight", 0.1).accuracy.mean
    assert own.low == adult.point("tight", 0.1).accuracy.low
    published = frame[(frame.method == "published") & (frame.epsilon == 1.0)].iloc[0]
    assert published.tight_minus_it == adult.difference("tight", "published", 1.0).mean
    assert published.paper == 0.8318


def test_the_two_runs_of_a_point_side_by_side(adult):
    before = adult.run("tight", 1.0, 0)
    rows = {row[""]: row for row in point_of(adult).table(replace(before, accuracy=0.5))}
    assert rows["test accuracy"]["made now"] == "50.000 %"
    assert rows["noise seed"]["stored"] == str(noise_seed("adult", "tight", 1.0, 0))
    assert "learning rate" not in rows  # neither has one
    assert "stored" not in point_of(adult, trial=9).table(before)[0]


def test_the_snippet_gives_the_plotted_numbers_and_the_claim(adult):
    names, printed = execute(Figure2(adult, 0.25).code())
    chart = Figure2(adult, 0.25, ALL, paper=False).chart()
    plotted = {trace.name: dict(zip(decode(trace.x), decode(trace.y), strict=True)) for trace in chart.data}
    assert len(names["points"]) == len(METHODS)
    for point in names["points"]:
        if point.method != "non-private":
            assert plotted[LABELS[point.method]][0.25] == point.accuracy.mean
    claim = names["claims"][0.25]
    assert ends(claim.difference) in ahead.verdict(Reading(adult, 0.25))
    assert tables.verdict(names["claims"].values()) in printed


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["tight", "non-private"])
def test_the_snippet_of_a_point_fits_it_as_the_sweep_did(tmp_path, monkeypatch, method):
    monkeypatch.setattr(results, "folder", lambda: tmp_path)
    write(tmp_path, "breast-cancer", trials=2, methods=("non-private", "tight"), epsilons=(2.0,))
    target = math.inf if method == "non-private" else 2.0
    piece = Piece("breast-cancer", method, target, 1, Parameters())
    names, _ = execute(Point(indexed.load("breast-cancer"), piece).code())
    assert names["before"] == indexed.load("breast-cancer").run(method, 2.0, 1)
    assert (names["again"].seed, names["again"].split_seed) == (piece.seed, 1)
    assert names["again"].accuracy > 0.8
