"""The page "How sure is a model?", run without a browser: the estimator's intervals, and the scores of `evaluate`."""

from functools import partial

import numpy as np
import pytest

from objpert_core import datasets
from pages.sure.coefficients import Coefficients
from pages.sure.people import Z, scored
from pages.sure.repeats import Repeats
from pages.sure.scores import Scores
from tests.pages.apps import answer, curves, execute, open_app, said, spec, tables
from tests.plotted import decode

open_page = partial(open_app, "pages/sure/page.py")


def test_intervals_are_those_of_the_lines_of_python_and_widen_with_less_budget():
    app = open_page(sure_d="2", sure_n="2000")
    view = Coefficients(1.0, 2000, "even", 2, 1e-6, 0)
    ends = execute(view.code())[0]["intervals"]
    drawn = next(trace for trace in spec(app)["data"] if trace["name"] == "private")
    for end, name, side in zip(np.transpose(ends), ("arrayminus", "array"), (-1, 1), strict=True):
        np.testing.assert_allclose(decode(drawn["x"]) + view.truth + side * decode(drawn["error_x"][name]), end)
    held = [(one.low <= view.truth) & (view.truth <= one.high) for one in view.methods.values()]
    assert [view.missed(name) for name in view.methods] == [int((~one).sum()) for one in held]
    app.select_slider(key="sure_epsilon").set_value(0.5).run()
    assert "ε 1 → 0.5: the width divided by the width without privacy rises from" in said(app)
    assert curves(app)[1] == ["private, before"]


def test_too_few_people_are_refused_in_one_sentence():
    app = open_page(sure_epsilon="0.1", sure_n="1000", sure_d="10")
    assert [block.value.partition(" for ")[0] for block in app.error] == ["Intervals must be False"]


@pytest.mark.thorough
def test_of_strong_effects_the_note_says_that_an_end_is_rough_and_long_bars_are_cut():
    app = open_page(sure_data="strong effects", sure_n="5000", sure_d="5")
    view = Coefficients(1.0, 5000, "steep", 5, 1e-6, 0)
    assert any("Effects are strong for this much noise" in one.value for one in app.caption)
    private, public = view.methods["interval"], view.methods["public"]
    drawn = next(trace for trace in spec(app)["data"] if trace["name"] == "private")["error_x"]
    most = 15 * public.widths.max()
    assert private.widths.max() > 2 * most
    assert max(decode(drawn["array"]).max(), decode(drawn["arrayminus"]).max()) <= most * 1.000001
    assert "Effects are strong" not in Coefficients(1.0, 10_000, "even", 5, 1e-6, 0).note()


@pytest.mark.thorough
def test_of_a_hundred_draws_those_are_counted_and_thick_that_miss():
    app = open_page(sure_view="A hundred draws", sure_epsilon="0.3", sure_people="1000", sure_d="2")
    view = Repeats(0.3, 1000, "even", 2, 0)
    held = {name: int(((one.low <= 0) & (one.high >= 0)).sum()) for name, one in view.methods.items()}
    assert answer(app).endswith(f"{held['naive']} if they forget the noise; {held['public']} without privacy.")
    assert execute(view.code())[0]["held"] == held
    thick = [np.isfinite(decode(trace["x"])).sum() // 2 for trace in spec(app)["data"] if trace["line"]["width"] > 3]
    assert thick == [100 - one for one in held.values()]
    assert all((np.diff(one.coefficients) >= 0).all() for one in view.methods.values())


@pytest.mark.thorough
def test_of_adult_nobody_knows_the_truth_and_lines_of_python_take_the_same_people():
    app = open_page(sure_data="Adult, ten columns", sure_n="5000", sure_d="3")
    view = Coefficients(1.0, 5000, "adult", 3, 1e-6, 0)
    one = view.methods["interval"]
    apart = int(((one.low > 0) | (one.high < 0)).sum())
    assert answer(app).endswith(f"{apart} of 3 coefficients differ from 0.")
    assert "True" not in tables(app)[0].columns
    ends = execute(view.code())[0]["intervals"]
    np.testing.assert_allclose(np.column_stack([one.low, one.high]), ends, rtol=1e-12)
    label = datasets.load(datasets.default_name()).label
    for name, code in (
        ("Coefficients", view.code()),
        ("Scores", Scores(1.0, 5000, "adult", "roc", 0.3, 1e-6, 0).code()),
    ):
        shown = spec(open_page(sure_view=name, sure_data="Adult, ten columns", sure_n="5000"))
        assert shown["layout"]["xaxis"]["title"]["text"].endswith(f"on {label}")
        assert "load('adult" in code


@pytest.mark.slow
def test_scores_are_those_of_the_noisy_counts_beside_those_of_the_test_people():
    app = open_page(sure_view="Scores", sure_data="a rare class", sure_n="5000")
    one = scored(1.0, 1e-6, "rare", 5000, 0.3, 0)
    table = tables(app)[0].set_index("Score")
    assert table.loc["accuracy", "Published"] == f"{one.noisy.accuracy().value:.3f}"
    right = (one.scores > 0) == one.labels
    assert table.loc["accuracy", "Without noise"] == f"{right.mean():.3f}"
    wins = (one.scores[one.labels == 1][:, None] > one.scores[one.labels == 0]).mean()
    assert one.auc == pytest.approx(wins)
    assert one.counts.sum() == len(right)
    assert one.half_width == pytest.approx(Z * np.sqrt(right.var() / len(right)))
    assert one.epsilon == 1.0
    drawn = curves(app)[0]
    assert set(drawn) == {"without noise", "as published"}
    app.radio(key="sure_curve").set_value("calibration").run()
    x, y = curves(app)[0]["without noise"]
    assert np.isfinite(y).all()
    assert ((x > 0) & (x < 1)).all()
