"""The page "Several releases": curves and totals are the core's, answers are on the safe side, a list is edited."""

import math
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_file
from pages.composition import totals as ledger_totals
from pages.composition.fits import Fits, Reading, grid, renyi_profile
from pages.composition.listed import Listed, about_events
from tests.pages.apps import open_app, tables

FIGURE_3 = {"composition_sigma": 8.0, "composition_lambda": 10.0, "composition_beta": 1.0, "composition_L": 1.0}
FIT = acc.ObjectivePerturbation(8.0, 10.0, 1.0, 1.0, "glm")
CHEAP = "gauss:20,1@A;gauss:10,1@B"
LEDGER = "composition_ledger"


def open_page(**query):
    return open_app("pages/composition/page.py", **{LEDGER: CHEAP} | query)


def entry_of(app):
    return app.session_state[LEDGER]


def fill(app, **fields):
    for key, value in fields.items():
        app.number_input(key=f"composition__{key}").set_value(value)


@pytest.mark.slow
def test_adding_editing_moving_and_removing_and_a_name_that_is_none_loses_nothing():
    app = open_page()
    app.selectbox(key="composition__kind").select("dpsgd").run()
    fill(app, dpsgd_noise_multiplier=2.0, dpsgd_sample_rate=0.05, dpsgd_steps=20, count=2)
    app.text_input(key="composition__name").set_value("Nightly")
    app.button(key="composition_save").click().run()
    assert entry_of(app) == f"{CHEAP};dpsgd*2:2,0.05,20@Nightly"
    assert app.success[0].value == "Entry 3 added: Nightly."
    app.selectbox(key="composition__which").select(2).run()
    assert app.number_input(key="composition__dpsgd_noise_multiplier").value == 2.0
    assert app.number_input(key="composition__count").value == 2
    fill(app, count=1)
    app.button(key="composition_save").click().run()
    assert entry_of(app) == f"{CHEAP};dpsgd:2,0.05,20@Nightly"
    app.button(key="composition_move_up").click().run()
    app.button(key="composition_move_up").click().run()
    assert entry_of(app) == f"dpsgd:2,0.05,20@Nightly;{CHEAP}"
    assert app.selectbox(key="composition__which").value == 0
    app.button(key="composition_move_down").click().run()
    assert entry_of(app) == "gauss:20,1@A;dpsgd:2,0.05,20@Nightly;gauss:10,1@B"
    app.button(key="composition_remove").click().run()
    assert entry_of(app) == CHEAP
    assert app.selectbox(key="composition__which").value == "new"
    assert app.button(key="composition_remove").disabled
    assert list(tables(app)[1]["Times"]) == ["1", "1"]
    app.text_input(key="composition__name").set_value("[x](http://a.example)")
    app.button(key="composition_save").click().run()
    assert entry_of(app) == CHEAP
    assert app.error[0].value.startswith("Name must be letters")


def saved(text, delta=1e-6, target=5.0):
    return Listed(lg.parse(text), delta, target).to_json()


@pytest.mark.slow
def test_a_ledger_is_opened_again_from_a_file_or_pasted_or_refused():
    app = open_page()
    app.file_uploader[0].upload("ledger.json", saved("gauss*3:30,1@Kept").encode(), "application/json").run()
    assert entry_of(app) == "gauss*3:30,1@Kept"
    assert app.session_state["composition_list_delta"] == 1e-6
    assert app.session_state["composition_target"] == 5.0
    assert app.success[0].value == "One entry opened."
    app.text_area(key="composition__pasted").set_value(saved("gauss*3:30,1", delta=2e-6))
    app.button(key="composition_open").click().run()
    assert entry_of(app) == "gauss*3:30,1"
    assert app.session_state["composition_list_delta"] == 1e-6
    assert "δ for the whole list = 2×10⁻⁶ is not offered here" in app.success[0].value
    app.text_area(key="composition__pasted").set_value("{nonsense")
    app.button(key="composition_open").click().run()
    assert "complete JSON" in app.error[0].value
    assert entry_of(app) == "gauss*3:30,1"


@pytest.mark.slow
def test_the_prediction_is_true():
    assert FIT.epsilon(1e-5) == pytest.approx(0.562, abs=5e-4)
    assert acc.repeat(FIT, 100).epsilon(1e-5) == pytest.approx(24.35, abs=0.05)
    assert acc.repeat(acc.ObjectivePerturbation(8, 10), 100).epsilon(1e-5) == pytest.approx(8.9, abs=0.05)
    pair = acc.symmetrised(acc.ObjectivePerturbation(8, 10))
    assert acc.repeat(pair, 100).epsilon(1e-5) == pytest.approx(5.73, abs=0.005)
    least = -math.log(0.9) + 1 / 128
    assert least == pytest.approx(0.113, abs=5e-4)
    assert least + math.sqrt(2 / math.pi) / 8 == pytest.approx(0.213, abs=5e-4)


@pytest.mark.slow
def test_the_list_goes_out_as_events_of_dp_accounting_and_comes_back():
    app = open_page(**{LEDGER: "gauss:20,1@A;fit*2:8,10,1@B"})
    app.session_state["ledger_events"] = True
    app.run()
    ledger = lg.parse(entry_of(app))
    there = ledger_totals.epsilon_of_events(ledger, 1e-5)
    here = ledger_totals.totals(ledger, 1e-5)[-1].total
    assert here < there < 1.2 * here
    (told,) = [block.value for block in app.markdown if "ADD_OR_REMOVE_ONE" in block.value]
    assert told.endswith(about_events((2,), there, here))
    assert "Entry 2 has no event: Gaussian noise that covers this entry is written instead" in told
    app.text_area(key="composition__pasted").set_value(ledger_file.write_events(ledger))
    app.button(key="composition_open").click().run()
    assert entry_of(app).startswith("gauss:20,1;gauss*2:7.67")
    app.text_area(key="composition__pasted").set_value('{"format": "dp_accounting events 1", "event": {}}')
    app.button(key="composition_open").click().run()
    assert "neighboring_relation" in app.error[0].value


# --- the fits, without the page ---------------------------------------------------------------------------------------

TEN = Fits((1, 10), sigma=8.0, proof="2023 theorem", lam=10.0, delta=1e-5, smoothness=1.0, lipschitz=1.0)
TIGHT = replace(TEN, proof="our theorem")


def reading(k=10, low=1.92, epsilon=1.93, renyi=2.1, added=5.6, share=0.004):
    return Reading(k, low, epsilon, renyi, added, share)


@pytest.mark.parametrize("view", [TEN, TIGHT])
def test_profiles_are_sandwiches_and_stop_below_the_floor(view):
    for k in (1, 2, 10):
        low, high = view.profile(k)
        renyi = renyi_profile(view.fit, k, 5.0)
        known = np.isfinite(high)
        assert known.any()
        assert (low[known] <= high[known]).all()
        assert (high[known] <= renyi[known] * (1 + 1e-9)).all()
        assert (renyi[~known] < view.floor).all()
        if (~known).any():
            assert high[known][-1] < view.floor * 10
        x = grid(5.0)[known]
        np.testing.assert_array_equal(high[known], acc.repeat(view.fit, k).delta_bounds(x, 1e-3)[1])


def test_readings():
    one, ten = TEN.reading(1), TEN.reading(10)
    alone, together = TEN.fit.epsilon(1e-5), acc.repeat(TEN.fit, 10).epsilon_bounds(1e-5)
    assert one.epsilon == pytest.approx(alone, rel=2e-3)
    assert ten.added == 10 * alone
    assert ten.low <= together[1]
    assert ten.epsilon >= together[0]
    assert ten.epsilon < ten.renyi < ten.added
    assert 0 <= ten.share < 2e-3
    assert 0 < ten.delta_share < 0.1


@pytest.mark.parametrize(
    ("k", "total", "one", "answer"),
    [
        (10, 1.9301, 0.5601, "Ten fits cost ε = 1.94 at δ = 10⁻⁵, not 10 × 0.561 = 5.61."),
        (1000, 223.0, 0.562, "1,000 fits cost ε = 223 at δ = 10⁻⁵, not 1,000 × 0.562 = 562."),
        (1, 0.5, 0.5, "One fit costs ε = 0.5 at δ = 10⁻⁵."),
        (2, 1.0, 0.5, "Two fits cost ε = 1 at δ = 10⁻⁵; adding up proves the same ε, but only at 2 × δ."),
        (2, math.inf, math.inf, "No bound proves a finite ε for two fits at δ = 10⁻⁵ with this setting."),
        (3, 0.01, 0.0, "Three fits cost ε = 0.01 at δ = 10⁻⁵."),
    ],
)
def test_answer_compares_with_the_product_where_it_may(k, total, one, answer, monkeypatch):
    monkeypatch.setattr(Fits, "last", reading(k, epsilon=total, added=k * one))
    assert replace(TEN, counts=(k,)).answer() == answer
