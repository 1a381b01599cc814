"""The figure: accuracy against ε."""

import numpy as np
import pytest

from objpert_core.experiments import indexed, paper
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.methods import METHODS
from pages.accuracy import controls, figure
from pages.accuracy.figure import HOLLOW, Figure2
from pages.accuracy.reading import LABELS
from tests.pages.accuracy.runs import made
from tests.plotted import decode

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
