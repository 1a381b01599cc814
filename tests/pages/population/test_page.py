"""The page "Population risk", run without a browser: what it shows is what is stored, or what the core says."""

from dataclasses import replace
from functools import partial

import pytest

from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import LABELS, Setting
from objpert_core.theory.population_risk import descent_parts
from pages.population import controls, numbers
from pages.population.learning import LEGEND
from pages.population.methods import Methods
from pages.population.proved import Passes
from pages.population.rows import Gap
from tests.pages.apps import finished, open_app, said, spec
from tests.plotted import decode
from ui import sentences

open_page = partial(open_app, "pages/population/page.py")


def traces(app, chart=0):
    return {trace["name"]: trace for trace in spec(app, chart)["data"] if trace.get("name")}


@pytest.mark.thorough
def test_steps_and_stability():
    app = open_page(population_view="Steps and stability", population_T="1000")
    parts = descent_parts(10_000, 10, 0.5, 1e-8, 1000, radius=4.0, smoothness=0.25)
    shown = traces(app)
    at = list(controls.T_VALUES).index(1000)
    assert decode(shown["too many passes"]["y"])[at] == parts.stability
    assert decode(shown["too few steps"]["y"])[at] == parts.optimisation
    assert "T = 1,000 is nearly the best" in said(app)
    app.select_slider(key="population_T").set_value(1).run()
    assert f"T 1,000 → 1: the bound rises from {sentences.number(parts.total, up=True)} to" in said(app)
    assert "times its minimum: too few steps. T = 1,000 is best." in said(app)


@pytest.mark.thorough
def test_each_dot_is_its_methods_stored_mean_and_the_table_says_what_promises_too_much():
    found, view = stored.load("logistic"), Methods(10_000, 0.5, 10, "logistic")
    drawn = {trace.name: trace for trace in view.chart(None).data}
    for name in ("sgd", "objective", "gd", "phased", "objective-tight"):
        assert list(drawn[LABELS[name]].x) == [found.point(10_000, 10, 0.5, name).excess.mean]
    few = {row["Method"]: row for row in replace(view, n=300).table()}
    assert few["Noisy SGD, published"]["ε by the accountant"].endswith(" > target")


def test_who_wins_where():
    app = open_page(population_view="Who wins where", population_epsilon="2")
    found = stored.load("logistic")
    labels = tuple(LEGEND.values())
    squares = sum(len(decode(trace["x"])) for name, trace in traces(app).items() if name.endswith(labels))
    assert squares == len(found.rows) * len(found.dimensions)
    assert "settings; in" in said(app)


@pytest.mark.slow
def test_what_is_not_stored_is_near_or_too_much():
    app = open_page(population_view="Who wins where", population_epsilon="8", population_d="300", population_M="1")
    assert app.info[0].value == "Not stored for d = 300, ε = 8 and M = 1; shown: d = 100, ε = 2 and M = 4."
    app = open_page(population_n="100000", population_epsilon="1")
    assert "the page draws at most 30,000 rows" in app.info[0].value


@pytest.mark.slow
def test_a_setting_that_is_not_stored_is_drawn_now():
    app = finished(open_page(population_n="100", population_d="2", population_epsilon="5"), "population__run")
    assert any("ten draws, drawn now" in block.value for block in app.caption)
    setting = Setting("logistic", 100, 2, 5.0)
    *_, risks = numbers.draw(setting, 10, lambda: False)
    assert decode(traces(app)[LABELS["gd"]]["x"]).tolist() == [risks.excess["gd"].mean]


def test_a_measured_gap_is_below_what_stability_proves():
    view = Gap(10_000, 0.5, 10, "logistic", bounds=True)
    proved = [numbers.stability("gd", replace(view.shown, n=int(n))) for n in view.curve("gd").places]
    assert (view.curve("gd").means < proved).all()


def test_a_draw_can_be_stopped():
    setting = Setting("hard", 100, 2, 5.0)
    assert list(numbers.draw(setting, 10, lambda: True)) == []


def test_curves_of_a_setting_before_stay_where_only_steps_were_moved():
    passes = Passes(1000, 0.5, 10, "logistic", steps=200)
    assert all(not trace.meta["ghost"] for trace in passes.chart(passes).data)
    ghosts = [trace for trace in passes.chart(replace(passes, ghost=passes.setting)).data if trace.meta["ghost"]]
    assert [trace.name for trace in ghosts] == ["too few steps", "noise of privacy", "too many passes", "their sum"]


@pytest.mark.slow
def test_the_prediction_is_true():
    risks = Methods(100, 0.5, 100, "logistic").risks
    assert risks.excess["objective-tight"].mean < 1.01 * risks.zero
    assert min(risks.excess[name].mean for name in ("gd", "objective-least", "no-privacy")) > 1.2 * risks.zero
