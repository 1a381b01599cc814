"""What the tuning page says and draws: rounded to the safe side, and right in the odd cases."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pages.tuning.afford import Left, Need
from pages.tuning.numbers import GRID, OBJECTIVE, WAYS
from pages.tuning.price import Price, crossing
from tests.pages.apps import tells
from tests.pages.tuning.test_numbers import PAPER, SETTINGS, SMALL
from tests.plotted import decode

COSTS = {"free": 1.0, "composed": 3.551, "selection": 2.951, "liu_talwar": 2.242}
DEAR, CHEAP = COSTS | {"selection": 3.5}, COSTS | {"composed": 1.0}


def costing(costs=COSTS, **fields):
    """A tuning of which every way costs what is said."""
    price = Price(**fields)
    object.__setattr__(price, "ways", lambda: costs)
    return price


@pytest.mark.parametrize(
    ("costs", "fields", "told"),
    [
        (COSTS, {}, "If you ignore the choice among ten settings, you report ε = 1; Papernot and Steinke prove 2.96."),
        (COSTS | {"composed": 1.82}, {"settings": 3}, "composing every run costs 1.82."),
        (COSTS, {"settings": 1}, "fixed in advance costs ε = 1: nothing is chosen, so nothing is added."),
        (
            dict.fromkeys(WAYS, math.inf),
            {},
            "Not even one run has a finite ε at δ = 10⁻⁵, and several runs cost more.",
        ),
        (dict.fromkeys(WAYS, math.inf) | {"free": 1.0}, {}, "no finite cost is proved."),
        (dict.fromkeys(WAYS, 0.0), {"delta": 0.5}, "The choice among ten settings costs no more than one run: ε = 0."),
    ],
)
def test_the_answer_names_the_cheaper_of_composing_and_selection(costs, fields, told):
    assert costing(costs, **fields).answer().endswith(told)


def test_composing_is_named_where_both_cost_the_same():
    assert costing(COSTS | {"composed": 2.951}).cheapest == "composed"


def test_changes_leave_out_what_another_change_undid():
    found = Price(family="geometric", more=0.5, settings=20).changed(PAPER)
    assert found == [("s", 10, 20), ("K", "Poisson", "geometric"), ("Pr[K > s]", 0.9, 0.5)]
    assert Price(OBJECTIVE, steps=1).changed(PAPER) == [("each run", "DP-SGD", "objective perturbation")]
    assert Price(by="its parameters", epsilon=2.0, steps=100).changed(PAPER) == [("steps", 8520, 100)]


@pytest.mark.parametrize(("renyi", "one", "through"), [(True, "Rényi curve", "Rényi"), (False, "profile", "losses")])
def test_the_accountant_is_the_answers_own(renyi, one, through):
    assert costing(renyi=renyi).proof() == "Papernot and Steinke (2022), K Poisson of mean 15.4"
    tells(costing(CHEAP, renyi=renyi).proof(), "composing ten runs", through)
    tells(costing(renyi=renyi, settings=1).proof(), one, "of one run")


@pytest.mark.parametrize(
    ("composed", "selection", "told"),
    [
        ((1.4, 1.8, 2.5, 4), (1.7, 1.9, 2.2, 3), "up to s = 3; from s = 5 on, a random number of runs is cheaper."),
        ((2, 3, 4, 5), (1, 1, 1, 1), "never cheaper here than a random number of runs."),
        ((1, 1, 1, 1), (2, 3, 4, 5), "at least up to s = 10."),
        ((2, 1, 1, 5), (1, 2, 2, 1), "Composing every run is cheaper at s = 3, 5."),
        ((math.inf,) * 4, (math.inf,) * 4, ""),
    ],
)
def test_crossing_tells_the_cases_apart(composed, selection, told):
    text = crossing((2, 3, 5, 10), composed, selection)
    assert text.endswith(told)
    assert bool(text) == bool(told)


def test_rows_of_the_ways():
    rows = costing(COSTS | {"composed": math.inf}).table()
    assert [row["Runs"] for row in rows] == ["10", "10", "15.4 on average", "95.4 on average"]
    assert "wrong" in rows[0]["Accounted for"]
    assert rows[1]["ε at δ = 10⁻⁵"] == "nothing proved"
    assert list(rows[2].values())[2:] == ["2.96", "2.96×", "19.3\u00a0:\u00a01"]


NEEDS = {"free": Need(2.7629, 1.0), "composed": Need(8.4196, 0.2889)}
NEEDS |= {"selection": Need(7.4981, 0.3278), "liu_talwar": None}
LEFT = Left(SMALL, NEEDS)
LEFT.__dict__["target"] = 1.0


def test_what_each_run_must_be():
    rows = LEFT.table()
    assert list(rows[0].values())[1:3] == ["2.763", "1×"]
    assert list(rows[2].values())[2:] == ["2.72×", "0.328"]
    assert rows[3]["Noise multiplier"] == "none is enough"
    told = "Each run needs 2.72 times the noise: a noise multiplier of 7.5 instead of 2.77."
    tells(LEFT.answer(), told, "the choice among 10 settings costs ε = 1 in all.")
    assert "Papernot and Steinke 2022 0.328, Liu and Talwar 2019 nothing" in LEFT.alt()


def ghosts(chart):
    return [trace for trace in chart.data if (trace.meta or {}).get("ghost")]


@pytest.mark.slow
def test_the_price_chart():
    chart = PAPER.chart(SETTINGS["geometric"])
    shown = [trace for trace in chart.data if trace.showlegend is not False]
    assert [trace.name for trace in shown] == list(WAYS.values())
    for trace, way in zip(shown, WAYS, strict=True):
        np.testing.assert_array_equal(decode(trace.y), PAPER.curve(way))
        assert int(np.argmax(trace.marker.size)) == GRID.index(10)
    assert len(ghosts(chart)) == len(WAYS)
    low, high = (10.0**v for v in chart.layout.yaxis.range)
    values = np.concatenate([PAPER.curve(way) for way in WAYS])
    assert low < values.min() < values.max() < high
    assert not ghosts(PAPER.chart(replace(PAPER, settings=3)))


@pytest.mark.slow
def test_a_chart_of_infinities_is_empty_and_not_broken():
    nothing = Price(OBJECTIVE, "its parameters", sigma=0.1, lam=0.01, delta=1e-12)
    assert all(np.isfinite(nothing.chart(None).layout.yaxis.range))
