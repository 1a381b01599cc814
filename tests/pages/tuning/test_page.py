"""The tuning page, run without a browser: its numbers are the core's, presets are exact, nonsense does no harm."""

from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.tuning import afford
from pages.tuning.numbers import GRID, WAYS
from pages.tuning.price import Price
from tests.pages.apps import curves, open_app, said, tables, written

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/tuning/page.py")

PAPER = Price()
QUICK = {"tuning_by": "its parameters", "tuning_noise": "2", "tuning_rate": "0.02", "tuning_steps": "100"}
QUICK_RUN = {"by": "its parameters", "noise_multiplier": 2.0, "sample_rate": 0.02, "steps": 100}


def assert_shows(app, price):
    shown, _ = curves(app)
    assert list(shown) == list(WAYS.values())
    for way, name in WAYS.items():
        np.testing.assert_array_equal(shown[name][0], GRID)
        np.testing.assert_array_equal(shown[name][1], price.curve(way))


def test_only_the_controls_that_matter_are_shown():
    app = open_page()
    keys = {slider.key for slider in app.select_slider}
    assert {"tuning_epsilon", "tuning_rate", "tuning_steps"} <= keys
    assert not {"tuning_noise", "tuning_sigma", "tuning_lambda", "tuning_eta"} & keys
    app.radio(key="tuning_by").set_value("its parameters").run()
    app.selectbox(key="tuning_k").set_value("negative binomial").run()
    keys = {slider.key for slider in app.select_slider}
    assert {"tuning_noise", "tuning_eta"} <= keys
    assert "tuning_epsilon" not in keys
    app.radio(key="tuning_run").set_value("objective perturbation").run()
    keys = {slider.key for slider in app.select_slider}
    assert {"tuning_sigma", "tuning_lambda"} <= keys
    assert not {"tuning_noise", "tuning_rate", "tuning_steps"} & keys


def test_every_control_changes_the_curves_but_s_and_the_setting_before_stays_as_a_ghost():
    app = open_page(**QUICK)
    app.select_slider(key="tuning_settings").set_value(20).run()
    assert_shows(app, Price(**QUICK_RUN))
    assert curves(app)[1] == []
    app.select_slider(key="tuning_more").set_value(0.5).run()
    assert curves(app)[1] == [f"{name}, before" for name in WAYS.values()]
    app.toggle(key="tuning_ghost").set_value(False).run()
    assert curves(app)[1] == []
    assert_shows(app, Price(**QUICK_RUN, more=0.5))
    app.selectbox(key="tuning_k").set_value("geometric").run()
    assert_shows(app, Price(**QUICK_RUN, more=0.5, family="geometric"))
    app.select_slider(key="tuning_delta").set_value(1e-7).run()
    assert_shows(app, Price(**QUICK_RUN, more=0.5, family="geometric", delta=1e-7))
    app.toggle(key="tuning_renyi").set_value(False).run()
    assert_shows(app, Price(**QUICK_RUN, more=0.5, family="geometric", delta=1e-7, renyi=False))


def test_what_each_run_must_be_is_calibrated_only_when_asked(monkeypatch):
    asked = []
    needed = afford.needed
    monkeypatch.setattr(afford, "needed", lambda *args: asked.append(args) or needed(*args))
    assert len(tables(open_page())) == 1
    assert not asked
    app = open_page(tuning_afford="true")
    assert len(tables(app)) == 2
    assert "a noise multiplier of 7.5" in written(app)
    shown = tables(app)[1]
    calibrated = acc.calibrate_dpsgd(1.0, 1e-5, 0.0071, 8520, "rdp", acc.poisson_mean(10, 0.9)).base.noise_multiplier
    assert calibrated <= float(shown["Noise multiplier"][2]) <= calibrated * 1.001
    app = open_page(tuning_afford="true", tuning_run="objective perturbation")
    assert len(tables(app)) == 1


def test_the_prediction_is_true():
    three, four, hundred = (Price(settings=settings).ways() for settings in (3, 4, 100))
    assert three["composed"] < three["selection"]
    assert three["composed"] == pytest.approx(3**0.5, rel=0.06)
    assert Price(settings=3).mean_runs == pytest.approx(6.7, abs=0.05)
    assert four["selection"] < four["composed"]
    assert hundred["selection"] < 0.6 * hundred["composed"]


@pytest.mark.parametrize(
    "query",
    [
        {"epsilon": "20", "delta": "1e-12", "steps": "1", "rate": "1", "more": "0.99"},
        {"epsilon": "0.01", "rate": "0.0001", "steps": "100000", "settings": "100"},
        {"by": "its parameters", "noise": "0.3", "rate": "1", "steps": "100000", "delta": "0.01"},
        {"by": "its parameters", "noise": "30", "rate": "0.0001", "steps": "1", "delta": "0.01"},
        {"by": "its parameters", "k": "logarithmic", "more": "0.99", "settings": "100", "delta": "1e-12"},
        {"by": "its parameters", "k": "negative binomial", "eta": "0.25", "more": "0.99"},
        {"by": "its parameters", "run": "objective perturbation", "sigma": "0.1", "lambda": "0.01"},
        {"by": "its parameters", "run": "objective perturbation", "sigma": "1000", "lambda": "10000"},
    ],
)
def test_the_ends_of_the_sliders_have_an_answer(query):
    quick = QUICK if "by" in query else {}
    app = open_page(**quick | {f"tuning_{key}": value for key, value in query.items()})
    assert not app.error
    assert "slack δ" in said(app)
    for _, y in curves(app)[0].values():
        assert not (y < 0).any()
    assert "nan" not in written(app).lower().replace("tenant", "")
    assert "nan" not in tables(app)[0].to_string()
