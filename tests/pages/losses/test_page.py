"""The page Losses, without a browser: the core's numbers, exact presets, nonsense does no harm."""

from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies import clipping
from objpert_core.learning import ClippedLoss, LogisticLoss
from pages.losses import dimension
from tests.pages.apps import curves, open_app, said, spec, tables, tells, written
from tests.plotted import decode
from ui import bounds

FIT, DIMENSION = "The fit", "Without GLM structure"


pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/losses/page.py")


def test_the_loss_follows_threshold_norm_and_loss():
    app = open_page(losses_loss="logistic", losses_C="0.3", losses_norm="0.5")
    x, y = curves(app)[0]["f clipped at C"]
    np.testing.assert_array_equal(y, ClippedLoss(LogisticLoss(), 0.6).value(x))
    app.select_slider(key="losses_C").set_value(1.0).run()
    shown, ghosts = curves(app)
    assert ghosts == ["f clipped, before"]
    np.testing.assert_array_equal(shown["f"][1], shown["f clipped at C"][1])
    app.selectbox(key="losses_loss").set_value("huber").run()
    assert curves(app)[1] == []  # a margin's curve is no ghost of a residual's
    app.toggle(key="losses_ghost").set_value(False).run()
    assert curves(app)[1] == []


def test_the_axis_goes_beyond_where_the_loss_becomes_straight_unless_it_is_held():
    def end(app):
        return spec(app)["layout"]["xaxis"]["range"][1]

    assert [end(open_page(losses_C=C)) for C in ("0.01", "1", "2", "10")] == [4.0, 4.0, 4.0, 16.0]
    assert end(open_page(losses_C="10", losses_norm="0.1")) == 256.0
    app = open_page(losses_C="10", losses_view="8")
    assert end(app) == 8.0
    app.button(key="losses_view_fit").click().run()
    assert end(app) == 16.0
    nothing_clipped = open_page(losses_loss="logistic", losses_view="8")
    nothing_clipped.button(key="losses_view_fit").click().run()
    assert end(nothing_clipped) == 4.0


def test_the_margin_moves_the_logistic_loss():
    app = open_page(losses_loss="logistic", losses_margin="1.5")
    x, y = curves(app)[0]["f"]
    np.testing.assert_array_equal(y, LogisticLoss(1.5).value(x))
    x, y = curves(app)[0]["f at k = 0"]
    np.testing.assert_array_equal(y, LogisticLoss().value(x))
    assert "pulls with 82 %" in said(app)
    assert "0.502 without a margin and 0.756 with k = 1.5" in written(app)
    assert "certified for every row" in curves(app, 2)[0]


def test_the_fit_draws_private_fits_and_names_their_promise():
    app = open_page(losses_show=FIT, losses_C="0.2", losses_epsilon="0.5", losses_delta="1e-6", losses_draws="3")
    setting = clipping.Setting("squared", 0.5, 0.2, 0.1, 0.5, 1e-6, 0)
    drawn = [trace for trace in spec(app)["data"] if trace["name"] == "private fits"]
    assert len(drawn) == 3
    slope, intercept = clipping.private(setting, 0)
    np.testing.assert_allclose(decode(drawn[0]["y"]), slope * decode(drawn[0]["x"]) + intercept)
    tells(said(app), "ε = 0.5, with slack δ = 10⁻⁶", "accounted by the privacy profile of the 2023 theorem")
    tells(said(app), "add or remove one row", " helps: ")
    shown, _ = curves(app, 1)
    np.testing.assert_array_equal(shown["private, mean of 4"][1], clipping.errors(setting)["private"])
    app.select_slider(key="losses_C").set_value(1.0).run()
    assert curves(app)[1] == ["clipped, before"]
    assert curves(app, 1)[1] == []  # the errors at every threshold are the same
    assert len(tables(app)) == 1


def test_a_classifier_is_shown_in_the_plane():
    app = open_page(losses_show=FIT, losses_loss="logistic", losses_C="0.5", losses_draws="0")
    shown, _ = curves(app)
    assert {"rows of class +1", "rows of class −1", "not clipped, no noise", "clipped at C, no noise"} <= set(shown)
    assert "private fits" not in shown
    x, y = shown["clipped at C, no noise"]
    theta = clipping.without_privacy(clipping.Setting("logistic", 0.0, 0.5, 0.1, 1.0, 1e-5, 0), 0.5)
    np.testing.assert_allclose(theta[0] * x + theta[1] * y + theta[2], 0.0, atol=1e-9)


def test_the_dimension_view_draws_theorem_g2_and_the_bounds_without_dimension():
    app = open_page(losses_show=DIMENSION, losses_sigma="10", losses_d="50")
    setting = bounds.Setting(10.0, 20.0, 1.0, 1.0)
    shown, _ = curves(app)
    assert list(shown) == [dimension.NAMES[bound] for bound in ("lower", "glm", "rdp", "non-glm")]
    np.testing.assert_array_equal(shown[dimension.NAMES["non-glm"]][1], dimension.curve(setting, 1e-5))
    glm = acc.ObjectivePerturbation(10.0, 20.0, 1.0, 1.0, "glm").epsilon(1e-5)
    assert set(shown[dimension.NAMES["glm"]][1]) == {glm}
    app.select_slider(key="losses_lambda").set_value(1.0).run()
    assert "Neither theorem proves a finite ε" in said(app)
    assert "λ = 1 is not above β = 1" in " ".join(block.value for block in app.info)


def test_controls_that_do_not_matter_are_out_of_sight_and_keep_their_values():
    app = open_page(losses_show=FIT, losses_outliers="0.3", losses_margin="2")
    for show in ("The loss", DIMENSION, FIT):
        app.radio(key="losses_show").set_value(show).run()
        assert app.session_state["losses_outliers"] == 0.3
        assert app.session_state["losses_margin"] == 2.0
