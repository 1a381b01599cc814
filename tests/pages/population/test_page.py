"""The page "Will it generalise?", run without a browser: what it shows is what is stored, or what the core says."""

import itertools
from functools import partial

import numpy as np
import pytest

from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import LABELS, Setting
from objpert_core.theory.population_risk import descent_parts
from pages.population import charts, numbers, words
from tests.pages.apps import execute, finished, open_app, said, spec, tables, words_of
from ui import sentences
from ui.svg import decode

open_page = partial(open_app, "pages/population/page.py")


def traces(app, chart=0):
    return {trace["name"]: trace for trace in spec(app, chart)["data"] if trace.get("name")}


@pytest.mark.thorough
def test_opens_on_stored_risks_side_by_side():
    app = open_page()
    found = stored.load("logistic")
    shown = traces(app)
    for name in ("sgd", "objective", "gd", "phased", "objective-tight"):
        point = found.point(10_000, 10, 0.5, name)
        assert decode(shown[LABELS[name]]["x"]).tolist() == [point.excess.mean]
    table = tables(app)[0].set_index("Method")
    assert table.loc["Noisy SGD, published", "Printed in the paper"] == "0.4"
    assert "Tight objective perturbation: excess risk 0.0" in said(app)
    assert len(tables(app)[0]) == 7
    assert any("20 draws, stored, 95\u00a0% intervals" in block.value for block in app.caption)
    promised = "ε by the accountant"
    assert table.loc["Noisy SGD, published", promised] == "0.449"
    few = tables(open_page(population_n="300"))[0].set_index("Method")
    assert few.loc["Noisy SGD, published", promised].endswith(" > target")
    app.toggle(key="population_every").set_value(True).run()
    assert len(tables(app)[0]) == len(found.methods) + 1


@pytest.mark.thorough
def test_against_the_number_of_rows():
    app = open_page(population_view="Against the number of rows", population_epsilon="2", population_bounds="true")
    found = stored.load("logistic")
    n, points = found.curve(10, 2.0, "gd")
    point = found.point(10_000, 10, 2.0, "sgd")
    shown = traces(app)["Gradient descent"]
    np.testing.assert_array_equal(decode(shown["x"]), n)
    np.testing.assert_array_equal(decode(shown["y"]), [point.excess.mean for point in points])
    assert "Gradient descent, bound" in traces(app)
    assert f"Published SGD is proved to lose at most 0.128 at n = 10,000; it loses {point.excess.mean:.3g}" in said(app)
    app.toggle(key="population_bounds").set_value(False).run()
    assert "Ten times the rows divide tight objective perturbation’s excess risk by" in said(app)
    assert tables(app)[0].set_index("Method").loc["Noisy gradient descent", "n = 100"] == (
        f"{points[0].excess.mean:.3g}"
    )


@pytest.mark.slow
def test_the_generalisation_gap_is_within_stability():
    app = open_page(population_view="Generalisation gap", population_bounds="true")
    shown = traces(app)
    gap, bound = (decode(shown[name]["y"]) for name in ("Gradient descent", "Gradient descent, bound"))
    there = np.isfinite(gap)  # an axis of logarithms has no other
    assert there.any()
    assert (gap[there] < bound[there]).all()
    assert "On its own rows tight objective perturbation looks" in said(app)


@pytest.mark.thorough
def test_steps_and_stability():
    app = open_page(population_view="Steps and stability", population_T="1000")
    parts = descent_parts(10_000, 10, 0.5, 1e-8, 1000, radius=4.0, smoothness=0.25)
    shown = traces(app)
    at = list(numbers.STEPS).index(1000)
    assert decode(shown["too many looks"]["y"])[at] == parts.stability
    assert decode(shown["too few steps"]["y"])[at] == parts.optimisation
    assert "T = 1,000 is about the best" in said(app)
    app.select_slider(key="population_T").set_value(1).run()
    assert f"T 1,000 → 1: the bound rises from {sentences.number(parts.total, up=True)} to" in said(app)
    assert "times its least: too few steps. T = 1,000 is best." in said(app)


def test_who_wins_where():
    app = open_page(population_view="Who wins where", population_epsilon="2")
    found = stored.load("logistic")
    labels = tuple(charts.LEGEND.values())
    squares = sum(len(decode(trace["x"])) for name, trace in traces(app).items() if name.endswith(labels))
    assert squares == len(found.rows) * len(found.dimensions)
    assert "settings clearly; in" in said(app)


@pytest.mark.slow
def test_one_published_step_leaks():
    app = open_page()
    app.button(key="population_preset_With replacement leaks").click().run()
    assert "One step as published claims δ = 10⁻⁸ and has 3.5×10⁻⁵, 3,540 times that." in said(app)
    assert max(decode(traces(app)["exactly, on data made for it"]["y"])) > 3540
    assert "with slack δ = 9.2×10⁻⁴; one row replaced" in said(app)


"""What the answer or the line under it says."""


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


@pytest.mark.slow
def test_without_stored_results_pictures_of_them_say_so(monkeypatch):
    monkeypatch.setattr(numbers, "file_of", lambda population: None)
    for view in ("Against the number of rows", "Who wins where", "Generalisation gap"):
        app = open_page(population_view=view)
        assert "This picture needs stored results, and there are none for logistic regression yet." in app.info[0].value


def test_a_draw_can_be_stopped():
    setting = Setting("hard", 100, 2, 5.0)
    assert list(numbers.draw(setting, 10, lambda: True)) == []


@pytest.mark.slow
def test_the_snippets_give_the_numbers_shown():
    setting = Setting("hard", 100, 10, 2.0)
    risks = numbers.stored_risks(setting)
    scope, _ = execute(words.snippet(risks))
    best = risks.best if risks.best != "zero" else words.TIGHT
    assert scope["mean"] == pytest.approx(risks.excess[best].mean, rel=1e-9)
    scope, _ = execute(words.passes_snippet(setting, 50))
    assert scope["parts"] == numbers.parts(setting, 50)
    found = stored.load("hard")
    scope, _ = execute(words.rows_snippet(found, setting))
    assert scope["means"] == [point.excess.mean for point in found.curve(10, 2.0, words.TIGHT)[1]]
    scope, _ = execute(words.map_snippet(found, 2.0))
    assert scope["winners"][100, 10] == found.winner(100, 10, 2.0)
    scope, _ = execute(words.leak_snippet(Setting("logistic", 1000, 10, 0.5)))
    assert scope["attained"] == numbers.single_step(1000, 10, 0.5).attained


@pytest.mark.slow
def test_answers_have_at_most_eighteen_words():
    for population in stored.names():
        found = stored.load(population)
        for n, d, epsilon in itertools.product(found.rows, found.dimensions, found.epsilons):
            setting = Setting(population, n, d, epsilon)
            here, best = numbers.parts(setting, 200), words.answer(numbers.stored_risks(setting))
            told = [best, words.so_far(best), words.bound_answer(setting, 0.0123, 0.123)]
            told += [words.rows_answer(found, setting), words.gap_answer(found, setting)]
            told.append(words.passes_answer(setting, 200, here, (200, here.total / 3)))
            told.append(words.map_answer(numbers.winners(found, epsilon)))
            assert max(map(words_of, told)) <= 18, told


def test_why_the_risk_moved():
    """What was changed and which way the risk went; nothing at first, and nothing across populations."""
    here, few, other = (
        numbers.stored_risks(Setting(*asked))
        for asked in (("logistic", 10_000, 10, 0.5), ("logistic", 1000, 10, 0.5), ("hard", 10_000, 10, 0.5))
    )
    assert words.moved(None, here) == words.moved(here, here) == words.moved(other, here) == ""
    best = " to ".join(sentences.number(risks.excess[risks.best].mean) for risks in (here, few))
    why = "the noise stays, fewer rows say less."
    assert words.moved(here, few) == f"n 10,000 → 1,000: the least excess risk rises from {best}: {why}"


@pytest.mark.slow
def test_the_prediction_is_true():
    risks = numbers.stored_risks(Setting("logistic", 100, 100, 0.5))
    assert risks.excess["objective-tight"].mean < 1.01 * risks.zero
    assert min(risks.excess[name].mean for name in ("gd", "objective-least", "no-privacy")) > 1.2 * risks.zero
