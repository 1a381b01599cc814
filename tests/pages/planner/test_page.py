"""The Planner page, run without a browser: its curves are the core's, presets are exact, nonsense does no harm."""

import math
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies import noise_ratios as nr
from objpert_core.theory.excess_risk import excess_risk_bound
from pages.planner import sampling
from tests.pages.apps import curves, finished, open_app, tables, written

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_runner")]
open_page = partial(open_app, "pages/planner/page.py")

PAPER = {"planner_epsilon": 1.0, "planner_delta": 1e-5, "planner_f": 1.3, "planner_bound": "rdp"}
PAPER |= {"planner_scaling": 1.0, "planner_rows": 45_222, "planner_features": 105, "planner_norm": 50.0}
ROOT2 = math.sqrt(2)


def calibrated(bound, f, epsilon=1.0, radius=ROOT2):
    name, accountant = ("glm", "rdp") if bound == "2023 theorem, Rényi" else (bound, "profile")
    return acc.calibrate_objective_perturbation(epsilon, 1e-5, radius, bound=name, noise_ratio=f, accountant=accountant)


def sampled(app):
    app.button(key="planner_sample").click().run()
    return finished(app, "planner__run")


def small(**more):
    query = {"planner_rows": "700", "planner_features": "5", "planner_bound": "Our theorem", "planner_draws": "3"}
    return open_page(**(query | more))


def test_sampling_puts_the_fits_next_to_the_theorem_until_the_setting_is_another():
    app = small(planner_scaling="0.3", planner_columns="uneven", planner_seed="4")
    sampled(app)
    plan = nr.Plan(1.0, 1e-5, "logistic", 700, 5, 0.3, "uneven", 3, 4)
    *_, expected = nr.sample(plan)
    shown, _ = curves(app, 1)
    x, y = shown["sampled, Our theorem"]
    np.testing.assert_array_equal(x, [p.recipe.noise_ratio for p in expected.along()])
    np.testing.assert_array_equal(y, [p.mean_excess.mean for p in expected.along()])
    x, y = shown["Theorem H.1 for the sampled rows"]
    assert (np.interp(shown["sampled, Our theorem"][0], x, y) > shown["sampled, Our theorem"][1]).all()
    assert sampling.sampled(expected) in written(app)
    assert tables(app)[1].shape == (len(expected.points), 5)
    app.select_slider(key="planner_f").set_value(1.2).run()  # the point may move, the sample stays
    assert "sampled, Our theorem" in curves(app, 1)[0]
    app.select_slider(key="planner_epsilon").set_value(2.0).run()
    assert "sampled, Our theorem" not in curves(app, 1)[0]
    assert any("another setting" in block.value for block in app.info)


def test_the_prediction_is_true():
    losses = {
        f: excess_risk_bound(calibrated("logistic", f), 45_222, 106, 50.0) for f in (1.0, 1.02, 1.03, 1.1, 1.3, 2.0)
    }
    assert min(losses, key=losses.get) in (1.02, 1.03)
    lams = [calibrated("logistic", f).lam for f in (1.0, 1.03)]
    assert 0.6 < lams[1] / lams[0] < 0.7  # "takes a third off it"
