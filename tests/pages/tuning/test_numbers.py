"""The tuning page's numbers are the core's, whatever is remembered; its snippet gives the same ones."""

import itertools

import numpy as np
import pytest
from scipy import stats

import objpert_core.accounting as acc
from pages.tuning import charts as charts
from pages.tuning import numbers as tc
from pages.tuning.snippets import tuning
from pages.tuning.words import WAYS, Need
from tests.pages.apps import execute
from ui.svg import decode, to_svg

PAPER = tc.Setting(tc.Base(), 1e-5, tc.Law(), renyi=True)
SMALL = tc.Base(epsilon=None, noise_multiplier=2.0, sample_rate=0.02, steps=100)
OBJECTIVE = tc.Base(kind="objective", epsilon=None, sigma=5.0, lam=2.0)
SETTINGS = {
    "paper": PAPER,
    "geometric": tc.Setting(tc.Base(), 1e-5, tc.Law("geometric", 0.5), renyi=True),
    "η = 2": tc.Setting(SMALL, 1e-6, tc.Law(tc.GENERAL, 0.75, 2.0), renyi=True),
    "by distributions": tc.Setting(SMALL, 1e-5, tc.Law(), renyi=False),
    "objective perturbation": tc.Setting(OBJECTIVE, 1e-5, tc.Law("logarithmic", 0.5), renyi=False),
    "objective perturbation by ε": tc.Setting(tc.Base(kind="objective", epsilon=0.5), 1e-5, tc.Law(), renyi=True),
}


RARER = ["η = 2", "by distributions", "objective perturbation", "objective perturbation by ε"]


def exact(setting, settings):
    """The four ways from the core, without any table; the law of K from scipy's formulas."""
    one_run, delta, law = setting.one_run, setting.delta, setting.law
    composed = acc.repeat(acc.symmetrised(one_run), settings)
    geometric_mean = 1 / (1 - law.more ** (1 / settings))
    mean = law.mean(settings)
    return {
        "free": one_run.epsilon(delta),
        "composed": (acc.via_rdp(composed) if setting.renyi else composed).epsilon(delta),
        "selection": acc.PrivateSelection(one_run, mean, law.eta).epsilon(delta),
        "liu_talwar": acc.liu_talwar_epsilon(one_run, delta, geometric_mean),
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["paper", "geometric", *(pytest.param(n, marks=pytest.mark.slow) for n in RARER)])
@pytest.mark.parametrize("settings", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_ways_are_the_cores(name, settings):
    setting = SETTINGS[name]
    found, expected = tc.ways(setting, settings), exact(setting, settings)
    assert list(found) == list(WAYS)
    for way in WAYS:
        assert found[way] == pytest.approx(expected[way], rel=2e-3), way
        assert found[way] >= expected[way] * (1 - 1e-3), way


def test_the_papers_setting():
    run = PAPER.one_run.base
    assert (run.sample_rate, run.steps) == (0.0071, 8520)
    assert 0.999 < PAPER.one_run.epsilon(1e-5) <= 1.0
    assert tc.runs(PAPER, 10).mean == pytest.approx(15.4066, abs=1e-4)
    found = tc.ways(PAPER, 10)
    assert 2.9 < found["selection"] < 3.0
    assert found["selection"] < found["composed"]
    assert tc.ways(PAPER, 3)["composed"] < tc.ways(PAPER, 3)["selection"]


@pytest.mark.thorough
def test_curves_pass_through_what_is_marked():
    for way in WAYS:
        values = tc.curve(way, PAPER)
        assert values.shape == (len(tc.GRID),)
        for settings in (1, 10, 100):
            assert values[tc.GRID.index(settings)] == tc.ways(PAPER, settings)[way]
    assert (tc.curve("free", PAPER) == PAPER.one_run.epsilon(1e-5)).all()
    for way in ("composed", "selection", "liu_talwar"):
        assert (np.diff(tc.curve(way, PAPER)) > 0).all()


@pytest.mark.thorough
def test_memory_does_not_mix_settings_up():
    by_law = {law: tc.ways(tc.Setting(SMALL, 1e-5, law, True), 10) for law in (tc.Law(), tc.Law(more=0.5))}
    first, second = by_law.values()
    assert first["composed"] == second["composed"]
    assert first["selection"] > second["selection"]
    assert first["liu_talwar"] > second["liu_talwar"]
    shapes = [tc.ways(tc.Setting(SMALL, 1e-5, tc.Law(tc.GENERAL, 0.5, eta), True), 10) for eta in (0.5, 5.0)]
    assert shapes[0]["selection"] != shapes[1]["selection"]
    same = [tc.Law("Poisson", 0.9, eta).relevant() for eta in (0.5, 5.0)]
    assert same[0] == same[1]
    tight = tc.ways(tc.Setting(SMALL, 1e-5, tc.Law(), False), 10)
    assert all(tight[way] < first[way] for way in WAYS)


@pytest.mark.parametrize("family", tc.FAMILIES)
def test_the_law_of_k(family):
    law = tc.Law(family, 0.5, 3.0)
    runs = tc.runs(tc.Setting(SMALL, 1e-5, law, True), 10)
    assert 1 - runs.probability[:11].sum() == pytest.approx(0.5, abs=1e-7)
    if family == "Poisson":
        np.testing.assert_allclose(runs.probability, stats.poisson(runs.mean).pmf(runs.k), rtol=1e-9)
        assert runs.none == pytest.approx(np.exp(-runs.mean))
    else:
        assert runs.none == 0.0
        assert runs.mean > 10 * 0.5
    assert 20 <= runs.k[-1] <= tc.MOST_BARS
    assert runs.more == 0.5
    with pytest.raises(ValueError, match="read-only"):
        runs.probability[0] = 1


@pytest.mark.thorough
def test_every_offered_law_can_be_had():
    for family, more in itertools.product(tc.FAMILIES, (0.1, 0.99)):
        assert np.isfinite(tc.epsilon("selection", tc.Setting(SMALL, 1e-5, tc.Law(family, more), True), 10))
        for settings in (1, 100):
            assert np.isfinite(tc.runs(tc.Setting(SMALL, 1e-5, tc.Law(family, more, 0.25), True), settings).mean)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "geometric", "η = 2"])
def test_what_is_afforded_costs_the_target(name):
    setting = SETTINGS[name]
    target = tc.ways(setting, 10)["free"]
    needs = tc.afford(setting, 10)
    assert list(needs) == list(WAYS)
    for way, need in needs.items():
        base = setting.base
        run = tc.Base("dpsgd", None, need.noise_multiplier, base.sample_rate, base.steps)
        total = tc.epsilon(way, tc.Setting(run, setting.delta, setting.law, setting.renyi), 10)
        assert target * 0.999 <= total <= target * 1.001, way
        own = acc.via_rdp(acc.DPSGD(need.noise_multiplier, base.sample_rate, base.steps))
        assert need.epsilon == own.epsilon(setting.delta)
    assert needs["free"].noise_multiplier < needs["selection"].noise_multiplier


@pytest.mark.thorough
def test_what_cannot_be_afforded_is_none(monkeypatch):
    def refuse(*_, **__):
        raise ValueError("epsilon and delta must be larger")

    monkeypatch.setattr(acc, "calibrate_dpsgd", refuse)
    needs = tc.afford(tc.Setting(SMALL, 1e-7, tc.Law(more=0.8), True), 5)
    assert needs["composed"] is None
    assert needs["selection"] is None
    assert needs["free"].noise_multiplier == 2.0


def test_impossible_values_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^noise_multiplier must be"):
        tc.ways(tc.Setting(tc.Base(epsilon=None, noise_multiplier=-1.0), 1e-5, tc.Law(), True), 10)
    with pytest.raises(ValueError, match=r"^probability must be"):
        tc.ways(tc.Setting(SMALL, 1e-5, tc.Law(more=1.5), True), 10)


def test_frames_hold_every_plotted_number():
    frame = tc.frame(PAPER)
    assert list(frame.columns) == ["settings", "mean_runs", *(f"epsilon_{way}" for way in WAYS)]
    np.testing.assert_array_equal(frame["epsilon_selection"], tc.curve("selection", PAPER))
    assert frame["mean_runs"][tc.GRID.index(10)] == pytest.approx(15.4066, abs=1e-4)


def test_base_says_what_it_is():
    assert str(tc.Base()) == "DP-SGD with ε = 1, q = 0.0071, 8,520 steps"
    assert str(SMALL) == "DP-SGD with noise 2, q = 0.02, 100 steps"
    assert str(OBJECTIVE) == "objective perturbation with σ = 5, λ = 2"
    assert (tc.Base().noun, OBJECTIVE.noun) == ("learning rates", "settings")


def test_changes_leave_out_what_another_change_undid():
    law = tc.Setting(tc.Base(), 1e-5, tc.Law("geometric", 0.5), True)
    assert tc.changes(PAPER, 10, PAPER, 10) == []
    found = tc.changes(PAPER, 10, law, 20)
    assert found == [("s", 10, 20), ("K", "Poisson", "geometric"), ("Pr[K > s]", 0.9, 0.5)]
    objective = tc.Setting(OBJECTIVE, 1e-5, tc.Law(), True)
    assert tc.changes(PAPER, 10, objective, 10) == [("each run", "DP-SGD", "objective perturbation")]
    by_noise = tc.Setting(tc.Base(epsilon=None, steps=100), 1e-5, tc.Law(), True)
    assert tc.changes(PAPER, 10, by_noise, 10) == [("steps", 8520, 100)]


def test_the_bars_of_what_is_left():
    needs = {"free": Need(2.7, 1.0), "composed": Need(8.4, 0.29), "selection": Need(7.5, 0.33), "liu_talwar": None}
    total, bars, told = charts.left(needs, 1.0).data
    assert set(decode(total.y)) == {1.0}
    assert decode(bars.y).tolist() == [1.0, 0.29, 0.33, 0.0]
    assert list(told.text) == ["noise 2.7", "noise 8.4", "noise 7.5", "none"]
    assert "<svg" in to_svg(charts.left(needs, 1.0), title="t")


@pytest.mark.slow
@pytest.mark.parametrize("settings", [1, 10])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_snippet_prints_the_pages_numbers(setting, settings):
    names, printed = execute(tuning(setting, settings))
    assert names["ways"] == tc.ways(setting, settings)
    lines = dict(line.split() for line in printed.splitlines()[:4])
    assert {way: float(value) for way, value in lines.items()} == names["ways"]
    runs = tc.runs(setting, settings)
    k = min(len(names["pmf"]), len(runs.probability))
    np.testing.assert_array_equal(names["pmf"][:k], runs.probability[:k])
    assert names["selection"].mean_runs == runs.mean


@pytest.mark.slow
def test_the_price_chart():
    before = SETTINGS["geometric"]
    chart = charts.price(PAPER, 10, before)
    shown = [trace for trace in chart.data if trace.showlegend is not False]
    assert [trace.name for trace in shown] == list(WAYS.values())
    for trace, way in zip(shown, WAYS, strict=True):
        np.testing.assert_array_equal(decode(trace.y), tc.curve(way, PAPER))
        assert int(np.argmax(trace.marker.size)) == tc.GRID.index(10)
    ghosts = [trace for trace in chart.data if (trace.meta or {}).get("ghost")]
    assert len(ghosts) == len(WAYS)
    low, high = (10.0**v for v in chart.layout.yaxis.range)
    values = np.concatenate([tc.curve(way, PAPER) for way in WAYS])
    assert low < values.min() < values.max() < high
    assert not [t for t in charts.price(PAPER, 10, PAPER).data if (t.meta or {}).get("ghost")]
    assert "<svg" in to_svg(chart, title="t")


@pytest.mark.slow
def test_a_chart_of_infinities_is_empty_and_not_broken():
    nothing = tc.Setting(tc.Base("objective", None, sigma=0.1, lam=0.01), 1e-12, tc.Law(), True)
    chart = charts.price(nothing, 10)
    assert all(np.isfinite(chart.layout.yaxis.range))


def test_the_chart_of_k_splits_at_the_grid():
    runs = tc.runs(PAPER, 10)
    chart = charts.number_of_runs(runs, 10, tc.runs(SETTINGS["geometric"], 10))
    bars = chart.data[0]
    np.testing.assert_array_equal(decode(bars.y), runs.probability)
    colors = list(bars.marker.color)
    assert len(set(colors[:11])) == 1
    assert len(set(colors[11:])) == 1
    assert colors[10] != colors[11]
    assert any("mean 15.4" in (trace.name or "") for trace in chart.data)
    assert any((trace.meta or {}).get("ghost") for trace in chart.data)
    assert "<svg" in to_svg(chart, title="t")
    huge = tc.runs(tc.Setting(tc.Base(), 1e-5, tc.Law("logarithmic", 0.9), True), 10)
    assert not any("mean" in (trace.name or "") for trace in charts.number_of_runs(huge, 10).data)
