"""The words, charts, table and snippet of the price of tuning in accuracy."""

from dataclasses import replace
from functools import partial
from itertools import cycle

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.experiments.studies.tuning_runs import Settings, tuning_runs
from objpert_core.experiments.summary import mean_interval
from pages.tuning.accuracies import WAYS, Accuracies
from pages.tuning.result import Curse, WhatKDid
from pages.tuning.trained import Request
from tests.pages import apps
from tests.pages.apps import answer, charts, execute, said, texts, words_of
from ui.words import plus_minus

SETTINGS = Settings(epochs=2, draws=2, mean_runs=4.0, judges=30, epsilon=2.0, learning_rates=(1e-4, 0.1))


@pytest.fixture(scope="module")
def last():
    *_, last = tuning_runs(load("breast-cancer"), SETTINGS)
    return last


@pytest.fixture(scope="module")
def empty():
    *_, last = tuning_runs(load("breast-cancer"), replace(SETTINGS, mean_runs=0.01, draws=1))
    return last


def made_up(last, fresh, honest, judges=0.9):
    draws = []
    for draw, a, b in zip(cycle(last.draws), fresh, honest, strict=False):
        judged, rows = draw.judged.copy(), draw.fresh.copy()
        judged[draw.chosen], rows[draw.chosen] = judges, a
        draws.append(replace(draw, judged=judged, fresh=rows, honest=b, curse=np.full(40, judges - a)))
    return replace(last, draws=tuple(draws))


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((0.6228,), "62.28 %"),
        ((0.47, 0.77), "62.00 % (two draws: too few for ±)"),
        ((0.0, 1.0, 0.9, 0.7, 0.2), "56.00 % (1.45 to 100.00 %)"),
        ((0.62, 0.63, 0.64, 0.62, 0.64), "63.00 % ± 1.24"),
    ],
)
def test_a_mean_has_plus_minus_from_five_draws_on_and_within_0_and_100(values, shown):
    assert plus_minus(mean_interval(values)) == shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fresh", "honest", "expected"),
    [
        ((0.9,) * 5, (0.8,) * 5, "At ε = 2 paying for the choice costs 10.0 points:"),
        ((0.9,) * 5, (0.9,) * 5, "At ε = 2 paying for the choice costs no visible accuracy:"),
        ((0.9, 0.8) * 3, (0.8, 0.85) * 3, "At ε = 2 the cost of paying for the choice is within the noise:"),
        ((0.8,) * 5, (0.9,) * 5, "At ε = 2 paying for the choice gains 10.0 points:"),
        ((0.9, 0.8), (0.8, 0.85), "At ε = 2 paying for the choice costs 2.5 points:"),
        ((0.9,), (0.8,), "At ε = 2 paying for the choice costs 10.0 points:"),
    ],
)
def test_the_answer_follows_the_sign_and_has_an_interval_from_five_draws_on(last, fresh, honest, expected):
    result = made_up(last, fresh, honest)
    found = Accuracies(result).answer().replace("\xa0", " ")
    assert found.startswith(expected)
    assert words_of(found) <= 18
    right = [sum(values) / len(values) for values in (honest, fresh)]
    few = {1: " (one draw)", 2: " (two draws)"}.get(len(fresh), "")
    assert found.endswith(f"{100 * right[0]:.2f} % right instead of {100 * right[1]:.2f} %{few}.")
    assert ("What paying costs:" in Accuracies(result).caption()) == (len(fresh) >= 5)


@pytest.mark.slow
def test_k_of_zero_is_said_and_drawn(empty):
    assert WhatKDid(empty).answer().startswith("**K was 0**")
    assert WhatKDid(empty).alt() == "No run was made: K was 0."
    drawn = WhatKDid(empty).chart()
    assert [trace.name for trace in drawn.data] == ["θ = 0, released"]
    assert WhatKDid(empty).frame().empty
    assert Accuracies(empty).table()[-1]["paid"] == "none"


@pytest.mark.thorough
def test_the_charts_show_the_results(last):
    names = [trace.name for trace in Accuracies(last).chart().data if trace.name]
    assert [name.rsplit(" ", 2)[0] for name in names] == list(WAYS.values())
    draw = last.draws[0]
    drawn = {trace.name: trace for trace in WhatKDid(last).chart().data}
    assert drawn["private score, noise included"].y.tolist() == draw.scores.tolist()
    assert drawn["on fresh rows"].y.tolist() == draw.accuracy.tolist()
    for trace in Curse(last).chart().data[1:]:
        assert trace.y[1:-1:2].sum() == pytest.approx(1)


def test_a_former_result_on_the_same_data_is_a_ghost(last):
    ghosts = [trace for trace in Accuracies(last, before=last).chart().data if trace.meta["ghost"]]
    assert len(ghosts) == 4
    assert all(trace.marker.symbol.endswith("-open") and "before" in trace.hovertemplate for trace in ghosts)
    assert "the run before" in Accuracies(last, before=last).caption()
    assert "the run before" not in Accuracies(last).caption()
    other = replace(last, data=replace(last.data, name="another"))
    assert not [trace for trace in Accuracies(last, before=other).chart().data if trace.meta["ghost"]]


@pytest.mark.slow
def test_the_snippet_prints_what_is_shown(last):
    names, printed = execute(Accuracies(last).code())
    found = names["last"]
    for way in WAYS:
        assert found.mean(way).mean == last.mean(way).mean
        assert repr(last.mean(way).mean) in printed


def test_only_small_work_starts_by_itself():
    assert Request("synthetic-l", 0, SETTINGS).light
    assert not Request("adult", 0, SETTINGS).light
    assert not Request("synthetic-l", 0, replace(SETTINGS, draws=50, epochs=60, mean_runs=15.4)).light


# The price of tuning in accuracy, in Streamlit's own test driver: no browser, but real threads and real trainings


opened = partial(apps.open_app, "pages/tuning/page.py", tuning_show="In accuracy")
finished = partial(apps.finished, run="honest__run")
SMALL = {"honest_data": "breast-cancer", "honest_draws": "2", "honest_epochs": "1"}
SMALL |= {"honest_runs": "3", "honest_rates": "five"}


def job(at):
    return at.session_state["honest__run"].job


@pytest.mark.slow
@pytest.mark.usefixtures("own_runner")
def test_it_starts_by_itself_and_shows_the_runners_own_numbers():
    at = finished(opened(**SMALL, honest_epsilon="1"))
    *_, expected = tuning_runs(
        load("breast-cancer"),
        Settings(epsilon=1.0, learning_rates=(0.003, 0.01, 0.03, 0.1, 0.3), mean_runs=3.0, epochs=1, draws=2),
    )
    shown = job(at).view().latest
    assert [draw.honest for draw in shown.draws] == [draw.honest for draw in expected.draws]
    assert answer(at).startswith("At ε = 1 ")
    assert f"{100 * expected.mean('honest').mean:.2f} % right" in answer(at)
    assert len(charts(at)) == 3
    assert f"**K was {len(expected.draws[0].runs)}** with noise seed 0" in texts(at)
    shown = said(at)
    assert "NOT covered" in shown
    assert "the runs and the choice among them" in shown
    assert "winner’s curse" in " ".join(element.value for element in at.header)
