"""The Rényi page, run without a browser: its curves are the core's, matching keeps promises, nonsense does no harm."""

from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.renyi.landmarks import transition
from pages.renyi.promises import WIDTH
from pages.renyi.setting import BOUNDS, rounds
from tests.pages.apps import curves, open_app, said, spec, tables, tells, written
from tests.plotted import decode

pytestmark = pytest.mark.slow
open_page = partial(open_app, "pages/renyi/page.py")

FIGURE_5 = {"renyi_sigma": 2.5, "renyi_lambda": 20.0, "renyi_beta": 1.0, "renyi_bound": "2023 theorem"}
FIGURE_5 |= {"renyi_noise": 2.5, "renyi_q": 0.01, "renyi_steps": 10_000.0}
RELATIVE = "ε(α) over the Gaussian’s"


def mechanisms(state):
    smooth = {"smoothness": state["renyi_beta"]} if state["renyi_bound"] == "2023 theorem" else {}
    bound = BOUNDS[state["renyi_bound"]]
    return {
        "One fit": acc.ObjectivePerturbation(state["renyi_sigma"], state["renyi_lambda"], bound=bound, **smooth),
        "Gaussian": acc.Gaussian(state["renyi_sigma"]),
        "DP-SGD": acc.DPSGD(state["renyi_noise"], state["renyi_q"], int(state["renyi_steps"])),
    }


def mark(app, name):
    trace = next(trace for trace in spec(app)["data"] if trace["name"] == name)
    return decode(trace["x"]), decode(trace["y"])


def press(app, name):
    app.button(key=f"renyi_preset_{name}").click().run()
    return {key: app.session_state[key] for key in FIGURE_5}


def test_crossing_and_leap_are_marked_and_the_second_chart_has_both_mechanisms_under_both_accountants():
    found, app = mechanisms(FIGURE_5), open_page()
    run = found["DP-SGD"]
    for name in ("crossing, α = 12.9", "leap, α = 57.6"):
        (alpha,), (height,) = mark(app, name)
        assert height == pytest.approx(run.rdp(alpha), rel=1e-3)
    shown, _ = curves(app, chart=1)
    for name in ("One fit", "DP-SGD"):
        x, renyi = shown[f"{name}, Rényi"]
        np.testing.assert_array_equal(x, [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
        np.testing.assert_array_equal(renyi, acc.via_rdp(found[name]).epsilon(x))
        exact = shown[name][1]
        assert (exact < renyi).all()
        np.testing.assert_allclose(exact, found[name].epsilon(x), rtol=2 * WIDTH)
    app.select_slider(key="renyi_q").set_value(1.0).run()
    assert not any(trace["name"].startswith("leap") for trace in spec(app)["data"])
    assert "q 0.01 → 1: ε of DP-SGD rises from 1.64 to" in said(app)
    assert said(app).count("more of the batches.") == 1


@pytest.mark.parametrize(("name", "n"), [("Figure 5", 100), ("Ten times the rows", 1000)])
def test_presets_of_n_squared_rounds(name, n):
    values = press(open_page(renyi_q="1", renyi_steps="1", renyi_noise="1"), name)
    assert values["renyi_q"] == 1 / n
    assert values["renyi_steps"] == n * n
    assert values["renyi_noise"] == values["renyi_sigma"]


def test_the_logistic_preset_changes_the_proof_only():
    app = open_page()
    values = press(app, "Our theorem: no price")
    assert values == FIGURE_5 | {"renyi_bound": "our theorem"}
    assert app.select_slider(key="renyi_beta").disabled
    x, y = curves(app)[0]["One fit"]
    np.testing.assert_array_equal(y, acc.ObjectivePerturbation(2.5, 20.0).rdp(x))


@pytest.mark.parametrize(
    ("name", "epsilon", "q", "steps"),
    [("Adult at ε = 1", 1.0, 0.0071, 8520), ("Little noise, early leap", 2.0, 0.01, 1000)],
)
def test_matched_presets_keep_their_promise(name, epsilon, q, steps):
    app = open_page()
    values = press(app, name)
    assert (values["renyi_q"], values["renyi_steps"]) == (q, steps)
    found = mechanisms(values)
    for mechanism in ("One fit", "DP-SGD"):
        assert 0.97 * epsilon < found[mechanism].epsilon(1e-5) <= epsilon
    assert "about the same" in said(app)


def test_match_moves_the_sliders_to_the_safe_side():
    app = open_page(renyi_epsilon="0.5", renyi_delta="1e-6", renyi_steps="1000")
    assert app.button(key="renyi_match").label == "Match both at ε = 0.5, δ = 10⁻⁶"
    app.button(key="renyi_match").click().run()
    assert not app.error
    values = {key: app.session_state[key] for key in FIGURE_5}
    assert values["renyi_sigma"] != 2.5
    assert values["renyi_noise"] != 2.5
    assert (values["renyi_q"], values["renyi_steps"], values["renyi_beta"]) == (0.01, 1000.0, 1.0)
    found = mechanisms(values)
    for mechanism in ("One fit", "DP-SGD"):
        assert 0.97 * 0.5 < found[mechanism].epsilon(1e-6) <= 0.5
    assert curves(app)[1]  # the setting before stays as a ghost


def test_a_match_beyond_the_sliders_says_so_and_moves_nothing():
    app = open_page(renyi_epsilon="0.1", renyi_delta="1e-12", renyi_steps="10000", renyi_q="1")
    app.button(key="renyi_match").click().run()
    (error,) = app.error
    assert "noise_multiplier would have to be" in error.value
    assert app.session_state["renyi_noise"] == 2.5
    app.select_slider(key="renyi_q").set_value(0.01).run()
    assert not app.error


def test_random_allocation_joins_the_second_chart_when_it_is_asked_for_or_says_why_not():
    name = "Random allocation"
    app = open_page(renyi_noise="2", renyi_q="0.1", renyi_steps="20")
    assert name not in curves(app, chart=1)[0]
    app.toggle(key="renyi_allocation").set_value(True).run()
    shown, _ = curves(app, chart=1)
    deltas, values = shown[name]
    mechanism = acc.RandomAllocation(2.0, 10, epochs=2)
    np.testing.assert_allclose(values[:4], mechanism.epsilon(deltas[:4]), rtol=2 * WIDTH)
    assert (values[:4] < shown["DP-SGD"][1][:4]).all()
    assert "in each of 2 epochs every row is in one of 10 steps" in written(app)
    assert "Random allocation from" in app.get("plotly_chart")[1].proto.alt
    assert tables(app)[0].iloc[-1, 0] == name
    app = open_page(renyi_allocation="true", renyi_q="0.0071", renyi_steps="8520")
    assert app.toggle(key="renyi_allocation").value is True
    assert "left out: an epoch would have 1/q = 140.8 steps" in written(app)
    assert name not in curves(app, chart=1)[0]


def test_a_bound_that_proves_nothing_says_why_and_stays():
    app = open_page(renyi_lambda="0.91")
    tells(said(app), "nothing is proved for the fit, and ε = 1.64 for DP-SGD", "λ = 0.91 is not above β = 1")
    assert np.isnan(curves(app)[0]["One fit"][1]).all()
    assert tables(app)[0].iloc[0, 1] == "nothing proved"
    assert not np.isnan(curves(app, chart=1)[0]["DP-SGD, Rényi"][1]).any()


def test_relative_curves_and_the_view():
    app = open_page(renyi_show=RELATIVE, renyi_view="1000")
    shown, _ = curves(app)
    np.testing.assert_allclose(shown["Gaussian"][1], 1.0, rtol=1e-14)
    x, y = shown["DP-SGD"]
    assert x[-1] <= 1000
    np.testing.assert_allclose(y, mechanisms(FIGURE_5)["DP-SGD"].rdp(x) / (x / 12.5), rtol=1e-14)
    assert spec(app)["layout"]["xaxis"]["range"] == [0, 3]
    assert mark(app, "crossing, α = 12.9")[1] == pytest.approx(np.interp(12.9, x, y), rel=0.02)


def test_the_prediction_is_true_and_quotes_the_leaps():
    app = open_page()
    app.radio(key="renyi__try").set_value(app.radio(key="renyi__try").options[2]).run()
    few, many = acc.DPSGD(5.0, 0.01, 10_000), acc.DPSGD(5.0, 0.001, 1_000_000)
    assert many.rdp(50.0) == pytest.approx(few.rdp(50.0), rel=0.02)
    assert many.rdp(300) < 0.1 * few.rdp(300)
    assert many.rdp(1e4) == pytest.approx(100 * few.rdp(1e4), rel=0.02)
    starts = [transition(rounds(n, 5.0, 20.0).run).start for n in (100, 1000)]
    assert f"from α = {starts[0]:.0f} to {starts[1]:.0f}" in written(app)
