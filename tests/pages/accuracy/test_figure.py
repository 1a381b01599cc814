"""The figure: accuracy against ε."""

import math
from dataclasses import replace

import numpy as np
import pytest

from objpert_core.experiments import indexed, paper, results, tables
from objpert_core.experiments.figure2 import EPSILONS, Piece, noise_seed
from objpert_core.experiments.methods import METHODS, Parameters
from pages.accuracy import ahead, controls, figure
from pages.accuracy.again import Point
from pages.accuracy.figure import HOLLOW, Figure2
from pages.accuracy.reading import LABELS, Reading
from tests.pages.accuracy.runs import made, point_of, write
from tests.pages.apps import execute
from tests.plotted import decode
from ui.words import ends, signed

ALL = tuple(METHODS)
pytestmark = pytest.mark.usefixtures("stored_here")


def drawn(chart):
    return {trace.name: trace for trace in chart.data if trace.name and not trace.meta["ghost"] and not trace.fill}


def test_the_curves_are_the_means_with_their_intervals(adult):
    curves = drawn(Figure2(adult, 1.0, ALL, paper=False).chart())
    assert list(curves) == [LABELS[method] for method in ALL]
    for method in ALL[1:]:
        trace = curves[LABELS[method]]
        points = [adult.point(method, epsilon).accuracy for epsilon in EPSILONS]
        np.testing.assert_array_equal(decode(trace.x), EPSILONS)
        np.testing.assert_array_equal(decode(trace.y), [point.mean for point in points])
        np.testing.assert_allclose(decode(trace.error_y.array), [point.half_width for point in points], rtol=1e-9)
    level = curves["no privacy"]
    assert set(decode(level.y)) == {adult.point("non-private", 1.0).accuracy.mean}
    assert level.mode == "lines"


def test_only_the_chosen_methods_and_the_rival_are_drawn_and_none_is_fine(adult):
    label, another = LABELS[adult.rival(1.0)], "dpsgd-dishonest-rdp"
    assert list(drawn(Figure2(adult, 1.0, ("tight",), paper=False).chart())) == ["Algorithm 1 with our theorem"]
    curves = drawn(Figure2(adult, 1.0, ("tight", another), paper=False).chart())
    assert set(curves) == {"Algorithm 1 with our theorem", LABELS[another], "best unpaid DP-SGD at ε = 1"}
    rival, point = curves["best unpaid DP-SGD at ε = 1"], adult.point(adult.rival(1.0), 1.0)
    assert (list(decode(rival.x)), list(decode(rival.y))) == ([1.0], [point.accuracy.mean])
    both = drawn(Figure2(adult, 1.0, ("tight", adult.rival(1.0)), paper=False).chart())
    assert set(both) == {label, "Algorithm 1 with our theorem"}
    out_of_view = Figure2(adult, 1.0, (another,), paper=False, view=figure.SMALL).chart()
    assert list(drawn(out_of_view)) == [LABELS[another]]
    assert not drawn(Figure2(adult, 1.0, (), paper=False).chart())
    not_stored = Figure2(made(methods=("tight",)), 1.0, ("tight", "dpsgd-honest"), paper=False).chart()
    assert "DP-SGD paid" not in drawn(not_stored)


@pytest.mark.parametrize(("dataset", "epsilon"), [("adult", 0.1), ("synthetic-l", 8.0)])
def test_the_papers_numbers_are_hollow_marks_named_paper(dataset, epsilon):
    curves = drawn(Figure2(indexed.load(dataset), 1.0, controls.PAPERS).chart())
    marks = {name: trace for name, trace in curves.items() if name.startswith("paper: ")}
    assert list(marks) == ["paper: DP-SGD unpaid", "paper: DP-SGD paid", "paper: Algorithm 1 with the 2023 theorem"]
    trace = marks["paper: Algorithm 1 with the 2023 theorem"]
    assert trace.mode == "markers"
    at = list(decode(trace.x)).index(epsilon)
    assert decode(trace.y)[at] == paper.printed(dataset, "published")[epsilon]
    assert trace.marker.color == "rgba(0,0,0,0)"
    assert not trace.showlegend
    assert curves[HOLLOW].marker.color == trace.marker.color  # one entry of the legend for all of them


@pytest.mark.parametrize("view", figure.VIEWS)
def test_views_are_ranges_around_what_they_show(adult, view):
    chart = Figure2(adult, 1.0, ALL, view=view).chart()
    left, right = (10**edge for edge in chart.layout.xaxis.range)
    shown = [e for e in EPSILONS if left < e < right]
    least, most = figure.VIEWS[view]
    assert shown == [e for e in EPSILONS if least <= e <= most]
    low, high = chart.layout.yaxis.range
    ends = [adult.point(m, e).accuracy.within() for m in ALL for e in shown]
    assert high >= max(end for _, end in ends)
    if view == figure.TOP:
        assert high - low < 0.04
    else:
        assert low <= min(end for end, _ in ends)
    assert list(chart.layout.xaxis.ticktext) == [f"{e:g}" for e in shown]


def test_the_ghost_is_the_other_data_set(adult):
    chart = Figure2(adult, 1.0, ("tight", "non-private"), ghost=indexed.load("adult-synthetic")).chart()
    ghosts = [trace for trace in chart.data if trace.meta["ghost"]]
    assert len(ghosts) == 2
    assert ghosts[0].name == "Algorithm 1 with our theorem, adult-synthetic (stand-in for adult)"
    other = indexed.load("adult-synthetic")
    means = [other.point("tight", epsilon).accuracy.mean for epsilon in EPSILONS]
    np.testing.assert_array_equal(decode(ghosts[0].y), means)


@pytest.mark.parametrize("trials", [1, 2])
def test_few_trials_are_dots_without_bars(trials):
    stored = made(trials=trials)
    chart = Figure2(stored, 1.0, ("non-private", "tight"), paper=False).chart()
    curves = drawn(chart)
    assert not decode(curves["Algorithm 1 with our theorem"].error_y.array).any()
    assert not any(trace.fill for trace in chart.data)
    dots = curves["Algorithm 1 with our theorem, single trials"]
    assert list(decode(dots.y)) == [run.accuracy for e in EPSILONS for run in stored.runs("tight", e)]
    assert (dots.mode, dots.showlegend) == ("markers", False)
    low, high = chart.layout.yaxis.range
    assert low < min(decode(dots.y)) <= max(decode(dots.y)) < high
    assert high - low < 0.2  # the interval of two trials would need far more


# Files of results as the page reads them, its tables, their file, and their lines of Python


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
