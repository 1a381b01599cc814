"""The page Distance to optimality, without a browser: the core's numbers, exact presets, nonsense does no harm."""

from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from tests.pages.apps import charts, curves, open_app, said, tables, written
from tests.plotted import decode

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/distance/page.py")

KEYS = ("distance_sigma", "distance_lambda", "distance_beta", "distance_L")
PANELS = {
    "Figure 4a": (10.0, 100.0, 1.0, 1.0),
    "Figure 4b": (10.0, 2.0, 1.0, 1.0),
    "Figure 4c": (1.0, 100.0, 1.0, 1.0),
    "Figure 4d": (1.0, 2.0, 1.0, 1.0),
}


def mechanisms(sigma, lam, beta, lipschitz):
    return {
        "Gaussian lower bound": acc.Gaussian(sigma, lipschitz),
        "Half-normal (λ → ∞)": acc.HalfNormal(sigma, lipschitz),
        "2023 theorem": acc.ObjectivePerturbation(sigma, lam, lipschitz, beta, "glm"),
        "Our theorem": acc.ObjectivePerturbation(sigma, lam, lipschitz, beta),
    }


def cells(app, chart):
    heat = charts(app)[chart]["data"][0]
    return decode(heat["z"]).reshape([int(n) for n in heat["z"]["shape"].split(",")])


@pytest.mark.parametrize("name", PANELS)
def test_presets_set_exactly_their_values(name):
    app = open_page(distance_sigma="100", distance_lambda="0.5", distance_beta="0.1", distance_L="2")
    app.button(key=f"distance_preset_{name}").click().run()
    assert tuple(app.session_state[key] for key in KEYS) == PANELS[name]
    shown, _ = curves(app)
    for label, mechanism in mechanisms(*PANELS[name]).items():
        np.testing.assert_array_equal(shown[label][1], mechanism.rdp(shown[label][0]))


def test_the_profile_view_draws_the_profiles():
    app = open_page(distance_show="Privacy profiles", distance_eps_view="5")
    shown, _ = curves(app)
    for name, mechanism in mechanisms(10.0, 2.0, 1.0, 1.0).items():
        x, y = shown[name]
        np.testing.assert_array_equal(y, mechanism.delta(x))
        assert x[-1] == 5.0
    assert app.select_slider(key="distance_view").disabled
    assert app.select_slider(key="distance_alpha").disabled
    assert not app.select_slider(key="distance_eps_view").disabled


def test_the_answer_names_everything_and_follows_the_controls():
    app = open_page()
    text = said(app)
    published = mechanisms(10.0, 2.0, 0.25, 1.0)["2023 theorem"]  # of the same loss, whatever the slider β says
    assert "certifies ε = 0.349, 1.03× the least possible; the 2023 theorem certifies 1.45× the least." in text
    assert 1.44 < acc.distance_to_optimality(published, 1e-5) <= 1.45
    assert "For β = 1 the 2023 theorem’s ε has three parts" in written(app)
    assert 1.02 < acc.distance_to_optimality(acc.ObjectivePerturbation(10.0, 2.0), 1e-5) <= 1.03
    assert "ε = 0.349, with slack δ = 10⁻⁵; add or remove one row; accounted by the privacy profile" in text
    assert "would be exact from λ = 2.9 on" in written(app)
    app.select_slider(key="distance_lambda").set_value(100.0).run()
    least = "Our theorem certifies ε = 0.341, the least possible; the 2023 theorem certifies 1.06× the least."
    assert least in said(app)
    assert "λ 2 → 100: ε falls from 0.349 to 0.341" in said(app)
    assert "theorem is exact from λ" in written(app)


def test_a_silent_bound_says_why():
    app = open_page()
    app.button(key="distance_preset_One proof falls silent").click().run()
    assert "the 2023 theorem certifies nothing" in said(app)
    assert "λ = 0.2 is not above β = 0.25" in " ".join(block.value for block in app.info)
    assert tables(app)[0].iloc[2].tolist()[1] == "nothing proved"
    assert not any("whose own β" in caption.value for caption in app.caption)


def test_maps_follow_delta_and_not_sigma_and_beta_moves_the_published_one_alone():
    app = open_page()
    before = {chart: cells(app, chart) for chart in (1, 2)}
    marks = [t for t in charts(app)[1]["data"] if t.get("mode") == "markers"]
    assert [decode(marks[0][axis]).tolist() for axis in "xy"] == [[10.0], [2.0]]
    app.select_slider(key="distance_sigma").set_value(1.0).run()
    for chart, old in before.items():
        np.testing.assert_array_equal(cells(app, chart), old)
    marks = [t for t in charts(app)[1]["data"] if t.get("mode") == "markers"]
    assert [decode(t["x"]).tolist() for t in marks] == [[10.0], [1.0]]  # the ghost, and this setting
    app.select_slider(key="distance_beta").set_value(0.1).run()
    assert (cells(app, 1) != before[1]).any()
    np.testing.assert_array_equal(cells(app, 2), before[2])
    app.select_slider(key="distance_delta").set_value(1e-2).run()
    for chart, old in before.items():
        assert (cells(app, chart) != old).any()


def test_the_prediction_is_true():
    for lam in (1e2, 1e6, 1e12):
        assert acc.distance_to_optimality(acc.ObjectivePerturbation(10.0, lam, 1.0, 1.0, "glm"), 1e-5) > 1.05
    assert acc.distance_to_optimality(acc.ObjectivePerturbation(10.0, 3.0), 1e-5) == 1.0
