"""The tuning page, run without a browser: its numbers are the core's, presets are exact, nonsense does no harm."""

from functools import partial

import pytest

import objpert_core.accounting as acc
from pages.tuning import afford
from pages.tuning.price import Price
from tests.pages.apps import open_app, tables, written

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/tuning/page.py")

PAPER = Price()


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
