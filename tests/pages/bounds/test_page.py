"""The Bounds page, run without a browser: its curves are the core's, presets are exact, nonsense does no harm."""

import math
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from tests.pages.apps import answer, curves, infos, open_app, said, spec, tables, tells, written
from ui import sentences

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/bounds/page.py")

LEFT = {"bounds_sigma": 5.0, "bounds_lambda": 20.0, "bounds_beta": 1.0, "bounds_L": 1.0}
RIGHT = {"bounds_sigma": 10.0, "bounds_lambda": 5.0, "bounds_beta": 1.0, "bounds_L": 1.0}


def mechanisms(sigma, lam, beta, lipschitz):
    def bound(name):
        return acc.ObjectivePerturbation(sigma, lam, lipschitz, beta, bound=name)

    return {
        "2012 theorem": bound("kifer2012"),
        "2023 theorem, Rényi": acc.via_rdp(bound("glm")),
        "2023 theorem": bound("glm"),
        "Our theorem": bound("logistic"),
        "Gaussian lower bound": acc.Gaussian(sigma, lipschitz),
    }


@pytest.mark.parametrize(("name", "values"), [("Figure 1, left", LEFT), ("Figure 1, right", RIGHT)])
def test_presets_of_the_figure_set_exactly_its_values(name, values):
    app = open_page(bounds_sigma="100", bounds_lambda="100", bounds_beta="0.1", bounds_L="2")
    assert app.session_state["bounds_sigma"] == 100.0
    app.button(key=f"bounds_preset_{name}").click().run()
    assert {key: app.session_state[key] for key in values} == values
    shown, _ = curves(app)
    for label, mechanism in mechanisms(*values.values()).items():
        np.testing.assert_array_equal(shown[label][1], mechanism.delta(shown[label][0]))


def test_calibration_presets_keep_their_promise():
    app = open_page()
    app.button(key="bounds_preset_Our theorem at ε = 1").click().run()
    ours = acc.ObjectivePerturbation(app.session_state["bounds_sigma"], app.session_state["bounds_lambda"])
    assert 0.999 < ours.epsilon(1e-5) <= 1.0
    app.button(key="bounds_preset_2023 theorem at ε = 1").click().run()
    recipe = acc.ObjectivePerturbation(
        app.session_state["bounds_sigma"], app.session_state["bounds_lambda"], bound="glm"
    )
    assert 0.999 < acc.via_rdp(recipe).epsilon(1e-5) <= 1.0
    assert recipe.lam > ours.lam
    assert recipe.sigma > ours.sigma


def test_a_bound_that_proves_nothing_says_why_in_both_views_and_stays():
    app = open_page()
    app.button(key="bounds_preset_Silent proofs").click().run()
    text = infos(app)
    tells(text, "2023 theorem, Rényi and 2023 theorem", "λ = 0.9 is not above β = 1", "λ ≥ 2β/ε")
    shown, _ = curves(app)
    assert (shown["2023 theorem"][1] == 1.0).all()
    assert shown["Our theorem"][1][-1] < 1e-6
    assert tables(app)[0].iloc[1, 1] == "nothing proved"
    app.radio(key="bounds_show").set_value(ERRORS).run()
    assert "λ = 0.9 is not above β = 1" in infos(app)
    assert (curves(app)[0]["2023 theorem"][1] == 0.0).all()
    assert tables(app)[0].iloc[2, 1] == "nothing proved"
    assert "proves nothing" in app.get("plotly_chart")[0].proto.alt


def test_read_outs_are_the_cores_and_rounded_up():
    app = open_page(bounds_delta="1e-6", bounds_epsilon="0.3")
    rows = tables(app)[0]
    lower = acc.Gaussian(5.0)
    for row, mechanism in zip(rows.itertuples(index=False), mechanisms(5.0, 20.0, 1.0, 1.0).values(), strict=True):
        epsilon = mechanism.epsilon(1e-6)
        assert epsilon <= float(row[1]) <= epsilon * 1.01
        assert float(row[2].rstrip("×")) == pytest.approx(epsilon / lower.epsilon(1e-6), rel=0.01)
        if mechanism.delta(0.3) < 1 and row[4].endswith("×"):
            assert float(row[4].rstrip("×")) == pytest.approx(mechanism.delta(0.3) / lower.delta(0.3), rel=0.01)
    assert "δ at ε = 0.3" in rows.columns
    assert "ε at δ = 10⁻⁶" in rows.columns


def test_the_answer_its_promise_and_why_follow_the_controls():
    app = open_page()
    assert answer(app) == (
        "One logistic fit costs ε = 0.726 (odds 2.07 : 1); the 2023 theorem can only guarantee ε = 0.773."
    )
    assert sentences.promise(0.726, 1e-5, sentences.TIGHT) in said(app)
    tells(app.get("plotly_chart")[0].proto.alt, "δ = 10⁻⁵: Our theorem 0.726", "2012 theorem 2.06")
    assert "loss has β = L²/4 = 0.25" in written(app)
    assert "loss has β" not in written(open_page(bounds_beta="0.25"))
    app.select_slider(key="bounds_sigma").set_value(10.0).run()
    assert "ε = 0.341" in answer(app)
    assert "σ 5 → 10: ε falls from 0.726 to 0.341" in said(app)
    app.select_slider(key="bounds_beta").set_value(2.0).run()
    assert "β 1 → 2: ε stays at 0.341" in said(app)
    app.selectbox(key="bounds_neighbours").set_value("replace one row").run()
    assert "neighbours: add or remove one row → replace one row: ε rises from 0.341 to " in said(app)


def test_the_view_sets_the_axes_and_the_monotone_curve_is_optional():
    app = open_page(bounds_view="5", bounds_floor="1e-20")
    layout = spec(app)["layout"]
    assert layout["xaxis"]["range"] == [0, 5]
    assert layout["yaxis"]["range"] == pytest.approx([-20, math.log10(2)])
    app.toggle(key="bounds_monotone").set_value(True).run()
    x, y = curves(app)[0]["Our theorem, one-signed slope"]
    np.testing.assert_array_equal(y, acc.ObjectivePerturbation(5.0, 20.0, 1.0, 1.0, bound="monotone").delta(x))


def test_the_prediction_is_true():
    found = mechanisms(10.0, 0.9, 1.0, 2.0)
    silent = {name for name, mechanism in found.items() if math.isinf(mechanism.epsilon(1e-5))}
    assert silent == {"2023 theorem, Rényi", "2023 theorem"}
    assert found["2012 theorem"].delta(2.2) == 1.0 > found["2012 theorem"].delta(2.2223)


# --- the attacker's errors ------------------------------------------------------------------------------------------

ERRORS = "Attacker’s errors"


def test_the_trade_off_view_draws_the_cores_curves_and_the_diagonal_and_its_answer_follows_the_controls():
    app = open_page(bounds_show=ERRORS)
    shown, ghosts = curves(app)
    assert not ghosts
    x, diagonal = shown.pop("Perfect privacy (guessing)")
    np.testing.assert_array_equal(diagonal, 1 - x)
    expected = mechanisms(5.0, 20.0, 1.0, 1.0)
    assert list(shown) == list(expected)
    for name, mechanism in expected.items():
        np.testing.assert_array_equal(shown[name][1], mechanism.tradeoff(shown[name][0]))
        assert (shown[name][1] <= diagonal).all()
    layout = spec(app)["layout"]
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [0, 1]
    missed = acc.ObjectivePerturbation(5.0, 20.0).tradeoff(0.05)
    told = (
        f"who wrongly accuses 5 % of outsiders misses at least {math.floor(1000 * missed) / 10:.1f} % of participants"
    )
    tells(said(app), told, sentences.promise(0.726, 1e-5, sentences.TIGHT))
    assert "No proof can promise more." in written(app)
    app.select_slider(key="bounds_accused").set_value(0.2).run()
    assert f"at least {math.floor(1000 * acc.ObjectivePerturbation(5.0, 20.0).tradeoff(0.2)) / 10:.1f} %" in said(app)
    rows = tables(app)[0]
    assert "Misses at 20 % false accusations" in rows.columns
    assert len(rows) == 5


def test_switching_the_view_keeps_the_setting_and_its_ghost():
    app = open_page(bounds_epsilon="0.3", bounds_view="5")
    app.select_slider(key="bounds_sigma").set_value(10.0).run()
    app.radio(key="bounds_show").set_value(ERRORS).run()
    shown, ghosts = curves(app)
    assert ghosts == [f"{name}, before" for name in shown if not name.startswith("Perfect")]
    assert app.session_state["bounds_sigma"] == 10.0
    assert app.select_slider(key="bounds_view").disabled
    assert not app.select_slider(key="bounds_accused").disabled
    app.radio(key="bounds_show").set_value("Privacy profile").run()
    assert app.session_state["bounds_epsilon"] == 0.3
    assert app.session_state["bounds_view"] == 5.0
    assert "ε = 0.341" in said(app)
