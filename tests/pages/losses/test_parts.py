"""What the page Losses shows: numbers, words, charts, snippets."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies import clipping
from objpert_core.learning import SquaredHingeLoss
from pages.losses import dimension, ordinary
from pages.losses.controls import CLIPPED, NAMES, PLAIN
from pages.losses.dimension import Dimension
from pages.losses.fit import Fit
from pages.losses.loss import Clipped
from tests.pages.apps import execute, open_app
from tests.plotted import decode

OPENS = Clipped("squared", 0.5, 1.0, 1.0)
OUTLIERS = Fit("squared", 0.5, 0.2, 0.1, 1.0, 1e-5, 0)
LABELS = Fit("squared-hinge", 0.5, 0.5, 0.2, 1.0, 1e-5, 0)
FIGURE_1 = Dimension(5.0, 20.0, 1.0, 1.0)


# --- the loss -------------------------------------------------------------------------------------------------------


def test_a_long_row_is_clipped_first_and_a_hinge_on_the_wrong_side_only():
    assert replace(OPENS, norm=0.5).kinks == (-2.0, 2.0)
    hinge = Clipped("squared-hinge", 0.5, 1.0, 2.0)
    assert hinge.kinks == (0.5, math.inf)
    drawn = hinge.curves()
    np.testing.assert_array_equal(drawn["f"], SquaredHingeLoss().value(drawn["score"]))


@pytest.mark.parametrize(("margin", "share"), [(0.0, "50 %"), (1.5, "82 %"), (5.0, "99 %")])
def test_a_margin_is_told_by_the_pull_of_a_row_at_zero(margin, share):
    setting = Clipped("logistic", margin, 1.0, 1.0)
    assert f"{100 / (1 + math.exp(-margin)):.0f} %" == share
    assert f"A row at m = 0 pulls with {share} of its largest force." in setting.about_pull()
    assert (f"pulls with {share} of its largest force instead of 50 %." in setting.answer()) == bool(margin)


def test_a_margin_is_drawn_beside_k_0():
    moved, plain = Clipped("logistic", 1.5, 1.0, 1.0), Clipped("logistic", 0.0, 1.0, 1.0)
    drawn, without = moved.curves(), plain.curves()
    np.testing.assert_array_equal(drawn["f_k0"], without["f"])
    np.testing.assert_array_equal(drawn["slope_f_k0"], without["slope_f"])
    assert list(moved.frame())[-2:] == ["f_k0", "slope_f_k0"]
    for make, name in ((Clipped.chart, "f at k = 0"), (Clipped.slopes, "f′ at k = 0")):
        assert [name in {trace.name for trace in make(view, None).data} for view in (moved, plain)] == [True, False]
    assert ("k = 0" in moved.alt(), "k = 0" in plain.alt()) == (True, False)
    rows = moved.table()
    assert [row["Loss"] for row in rows] == ["f", "f, clipped at C", "f at k = 0"]
    assert [row["|f′| at m = 0"] for row in rows] == ["0.818", "0.818", "0.5"]
    assert len({(row["Largest |f′|"], row["Curvature ≤"]) for row in rows}) == 1


@pytest.mark.slow
def test_an_ordinary_row_comes_closer_to_the_certificate_that_every_margin_has():
    assert (ordinary.exact("agrees", 0.0), ordinary.exact("agrees", 1.5)) == pytest.approx((0.5017, 0.7560), abs=1e-4)
    assert ordinary.certified() == acc.ObjectivePerturbation(4.0, 1.0).epsilon(1e-5)
    for row in ordinary.ROWS:
        assert (np.diff(ordinary.curve(row)) > 0).all()
        assert ordinary.curve(row)[-1] < ordinary.certified()
    assert "0.502 without a margin and 0.756 with k = 1.5" in ordinary.price(1.5)
    names, printed = execute(ordinary.code(1.5))
    assert names["exact"] == {k: ordinary.exact("agrees", k) for k in (0.0, 1.5)}
    assert str(ordinary.certified()) in printed
    drawn = {trace.name: decode(trace.y) for trace in ordinary.chart(1.5).data}
    np.testing.assert_array_equal(drawn["agrees with most rows"], ordinary.frame()["epsilon_agrees"])
    np.testing.assert_array_equal(drawn["certified for every row"], ordinary.frame()["epsilon_certified"])


# --- the fit --------------------------------------------------------------------------------------------------------


def test_clipping_helps_where_there_are_outliers_and_hurts_where_it_is_too_strong():
    for setting in (OUTLIERS, LABELS):
        plain, clipped = setting.fits.values()
        assert clipped < plain / 2
        assert " helps: the fit " in setting.answer()
    hurts = replace(OUTLIERS, clip=0.02, outliers=0.0)
    plain, clipped = hurts.fits.values()
    assert plain == clipping.error(hurts, clipping.without_privacy(hurts, None))
    assert clipped == clipping.error(hurts, clipping.without_privacy(hurts, 0.02)) > 3 * plain
    assert " hurts: the fit " in hurts.answer()


def test_a_classifiers_line_is_where_its_score_is_0_and_no_ghost_of_a_line_through_points():
    view = Fit("logistic", 0.0, 0.5, 0.1, 1.0, 1e-5, 0, draws=0)
    drawn = {trace.name: trace for trace in view.chart(OUTLIERS).data}
    assert not {"private fits", "clipped, before"} & set(drawn)
    theta = clipping.without_privacy(view, 0.5)
    x, y = (np.asarray(drawn[CLIPPED][axis]) for axis in "xy")
    np.testing.assert_allclose(theta[0] * x + theta[1] * y + theta[2], 0.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_fit_can_be_drawn_and_its_snippet_gives_the_first_private_fit(name):
    setting = Fit(name, 0.4, 0.3, 0.1, 1.5, 1e-6, 3)
    chart = replace(setting, draws=2).chart(replace(setting, clip=1.0))
    drawn = {trace.name for trace in chart.data}
    assert {"private fits", PLAIN, CLIPPED, "clipped at C/4", "clipped at 4C", "clipped, before"} <= drawn
    names, printed = execute(setting.code())
    np.testing.assert_allclose(names["theta"], clipping.private(setting, 0), rtol=1e-5, atol=1e-7)
    assert "(1.5, 1e-6)-differential privacy" in printed
    np.testing.assert_array_equal(names["X"], clipping.data(setting)[0])


# --- without GLM structure ------------------------------------------------------------------------------------------


def test_the_curve_is_a_valid_bound_close_to_the_best_and_grows():
    curve = dimension.curve(FIGURE_1, 1e-5)
    assert (np.diff(curve) > 0).all()
    for d in (1, 100, 10_000):
        best = replace(FIGURE_1, dimension=d).found["non-glm"]
        assert best <= curve[dimension.DIMENSIONS.index(d)] <= 1.01 * best
    assert curve[-1] > 10_000 * FIGURE_1.price
    with pytest.raises(ValueError, match="read-only"):
        curve[0] = 0.0


def test_other_bounds_do_not_know_the_dimension_and_one_dimension_is_a_glm():
    few, many = (replace(FIGURE_1, dimension=d).found for d in (1, 10_000))
    assert {b: v for b, v in few.items() if b != "non-glm"} == {b: v for b, v in many.items() if b != "non-glm"}
    assert few["non-glm"] == pytest.approx(few["rdp"], rel=1e-9)
    assert few["lower"] < few["glm"] < few["rdp"]


def test_where_lambda_is_not_above_beta_nothing_is_proved_and_said_so():
    silent = replace(FIGURE_1, lam=1.0, dimension=10)
    assert np.isinf(dimension.curve(silent, 1e-5)).all()
    assert silent.answer() == "Neither theorem proves a finite ε here: both need λ > β."
    assert "infinite" in silent.note()
    assert silent.table()[0]["ε with 10 parameters"] == "nothing proved"
    assert silent.chart(FIGURE_1).data


def test_snippets_print_the_numbers_on_the_screen():
    setting = replace(FIGURE_1, delta=1e-6, dimension=50)
    names, printed = execute(setting.code())
    assert {bound: curve.epsilon(1e-6) for bound, curve in names["curves"].items()} == setting.found
    assert str(setting.found["non-glm"]) in printed
    for setting in (OPENS, Clipped("huberised-hinge", 0.3, 2**0.5, 2.0)):
        names, printed = execute(setting.code())
        printed_one, own = (loss.value(names["scores"], setting.target) for loss in (names["clipped"], setting.clipped))
        np.testing.assert_array_equal(printed_one, own)
        assert f"kinks: {setting.kinks[0]!s}" in printed


# The page Losses, without a browser: the core's numbers, exact presets, nonsense does no harm


FIT, DIMENSION = "The fit", "Without GLM structure"


open_page = partial(open_app, "pages/losses/page.py")


@pytest.mark.slow
def test_controls_that_do_not_matter_are_out_of_sight_and_keep_their_values():
    app = open_page(losses_show=FIT, losses_outliers="0.3", losses_margin="2")
    for show in ("The loss", DIMENSION, FIT):
        app.radio(key="losses_show").set_value(show).run()
        assert app.session_state["losses_outliers"] == 0.3
        assert app.session_state["losses_margin"] == 2.0
