"""The tuning page's numbers are the core's, whatever is remembered; its snippet gives the same ones."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import objpert_core.accounting as acc
from objpert_core import datasets
from objpert_core.experiments.studies.searches import searched
from pages.tuning import afford
from pages.tuning.numbers import FAMILIES, GENERAL, GRID, OBJECTIVE, WAYS
from pages.tuning.price import MOST_BARS, Price, probabilities
from pages.tuning.searched import Searched

PAPER = Price()
SMALL = Price(by="its parameters", noise_multiplier=2.0, sample_rate=0.02, steps=100)
LOGARITHMIC = {"family": "logarithmic", "more": 0.5, "renyi": False}
SETTINGS = {
    "paper": PAPER,
    "geometric": Price(family="geometric", more=0.5),
    "η = 2": replace(SMALL, delta=1e-6, family=GENERAL, more=0.75, eta=2.0),
    "by distributions": replace(SMALL, renyi=False),
    "objective perturbation": Price(OBJECTIVE, "its parameters", sigma=5.0, lam=2.0, **LOGARITHMIC),
    "objective perturbation by ε": Price(OBJECTIVE, epsilon=0.5),
}
RARER = ["η = 2", "by distributions", "objective perturbation", "objective perturbation by ε"]


def exact(price):
    """The four ways from the core, without any table; the law of K from scipy's formulas."""
    one_run, delta = price.one_run, price.delta
    composed = acc.repeat(acc.symmetrised(one_run), price.settings)
    geometric_mean = 1 / (1 - price.more ** (1 / price.settings))
    return {
        "free": one_run.epsilon(delta),
        "composed": (acc.via_rdp(composed) if price.renyi else composed).epsilon(delta),
        "selection": acc.PrivateSelection(one_run, price.mean_runs, price.law_eta).epsilon(delta),
        "liu_talwar": acc.liu_talwar_epsilon(one_run, delta, geometric_mean),
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["paper", "geometric", *(pytest.param(n, marks=pytest.mark.slow) for n in RARER)])
@pytest.mark.parametrize("settings", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_ways_are_the_cores(name, settings):
    price = replace(SETTINGS[name], settings=settings)
    ways, expected = price.ways(), exact(price)
    assert list(ways) == list(WAYS)
    for way in WAYS:
        assert ways[way] == pytest.approx(expected[way], rel=2e-3), way
        assert ways[way] >= expected[way] * (1 - 1e-3), way


def test_the_papers_setting():
    run = PAPER.one_run.base
    assert (run.sample_rate, run.steps) == (0.0071, 8520)
    assert 0.999 < PAPER.one_run.epsilon(1e-5) <= 1.0
    assert PAPER.mean_runs == pytest.approx(15.4066, abs=1e-4)
    assert 2.9 < PAPER.price("selection") < 3.0
    assert PAPER.cheapest == "selection"
    assert replace(PAPER, settings=3).cheapest == "composed"


@pytest.mark.thorough
def test_curves_pass_through_what_is_marked():
    for way in WAYS:
        values = PAPER.curve(way)
        assert values.shape == (len(GRID),)
        for settings in (1, 10, 100):
            assert values[GRID.index(settings)] == replace(PAPER, settings=settings).ways()[way]
    assert (PAPER.curve("free") == PAPER.one_run.epsilon(1e-5)).all()
    for way in ("composed", "selection", "liu_talwar"):
        assert (np.diff(PAPER.curve(way)) > 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_law_of_k(family):
    price = replace(SMALL, family=family, more=0.5, eta=3.0)
    heights, mean = probabilities(price), price.mean_runs
    assert 1 - heights[:11].sum() == pytest.approx(0.5, abs=1e-7)
    if family == "Poisson":
        np.testing.assert_allclose(heights, stats.poisson(mean).pmf(np.arange(heights.size)), rtol=1e-9)
    else:
        assert heights[0] == 0.0
        assert mean > 10 * 0.5
    assert 20 < heights.size <= MOST_BARS + 1
    with pytest.raises(ValueError, match="read-only"):
        heights[0] = 1


@pytest.mark.thorough
@pytest.mark.parametrize(("family", "more"), list(itertools.product(FAMILIES, (0.1, 0.99))))
def test_every_offered_law_can_be_had(family, more):
    assert np.isfinite(replace(SMALL, family=family, more=more).price("selection"))
    for settings in (1, 100):
        price = replace(SMALL, family=family, more=more, eta=0.25, settings=settings)
        assert np.isfinite([price.mean_runs, *probabilities(price)]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "geometric", "η = 2"])
def test_what_is_afforded_costs_the_target(name):
    price = SETTINGS[name]
    target, needs = price.price("free"), afford.needed(price)
    assert list(needs) == list(WAYS)
    for way, need in needs.items():
        run = replace(price, by="its parameters", noise_multiplier=need.noise_multiplier)
        assert target * 0.999 <= run.price(way) <= target * 1.001, way
        own = acc.via_rdp(acc.DPSGD(need.noise_multiplier, price.sample_rate, price.steps))
        assert need.epsilon == own.epsilon(price.delta)
    assert needs["free"].noise_multiplier < needs["selection"].noise_multiplier


@pytest.mark.thorough
def test_what_cannot_be_afforded_is_none(monkeypatch):
    def refuse(*_, **__):
        raise ValueError("epsilon and delta must be larger")

    monkeypatch.setattr(acc, "calibrate_dpsgd", refuse)
    needs = afford.needed(replace(SMALL, delta=1e-7, more=0.8, settings=5))
    assert needs["composed"] is needs["selection"] is None
    assert needs["free"].noise_multiplier == 2.0


# The picture of one private search: its numbers are the study's, and it says who wins


NOW = Searched("breast-cancer", 1.0, 1e-5, 0)


@pytest.mark.thorough
def test_the_picture_shows_the_search_and_marks_the_winner():
    found = searched(datasets.load("breast-cancer"), 1.0, 1e-5, 0)
    assert NOW.found == found
    rows = NOW.table()
    assert [row["Setting"] for row in rows] == [
        "margin 0, raw",
        "margin 0, scaled",
        "margin 1, raw",
        "→ margin 1, scaled",
        "no search",
    ]
    assert NOW.frame()["released"].tolist() == [one is found.best for one in found.candidates]
    assert "The winner is margin 1, scaled" in NOW.shows()
    assert NOW.answer().startswith("The search leaves ε = 0.462 for each of its four fits; unpaid")
    _, score, worth, unpaid = NOW.chart(None).data
    assert score["error_x"]["array"].tolist() == [one.score.high - one.score.value for one in found.candidates]
    assert [*worth["x"]] == [one.worth for one in found.candidates]
    assert [*unpaid["x"]] == [one.unpaid for one in found.candidates]
