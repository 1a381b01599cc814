"""The Composition page without a browser: curves and totals are the core's, a list is edited, nonsense is harmless."""

import math
from pathlib import Path

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_file
from pages.composition import files as ledger_files
from pages.composition import totals as ledger_totals
from pages.composition.fits import DASHED
from pages.composition.listed import about_events
from tests.pages.apps import curves, infos, open_app, said, spec, tables, tells, written
from ui import registry
from ui.bounds import ORDERS

pytestmark = pytest.mark.slow
FIGURE_3 = {"composition_sigma": 8.0, "composition_lambda": 10.0, "composition_beta": 1.0, "composition_L": 1.0}
FIT = acc.ObjectivePerturbation(8.0, 10.0, 1.0, 1.0, "glm")
DEFAULT = "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
CHEAP = "gauss:20,1@A;gauss:10,1@B"
LEDGER = "composition_ledger"


def open_page(**query):
    return open_app("pages/composition/page.py", **{LEDGER: CHEAP} | query)


def bands(app):
    return [trace for trace in spec(app)["data"] if trace.get("meta", {}).get("band")]


def entry_of(app):
    return app.session_state[LEDGER]


def test_the_band_is_drawn_and_its_width_said_and_drawn_on_its_own():
    app = open_page()
    assert len(bands(app)) == 4
    assert "less than the width of the line" in written(app)
    app.button(key="composition_preset_A band to see").click().run()
    assert len(bands(app)) == 2
    assert "less than the width of the line" not in written(app)
    low, high = acc.repeat(FIT, 10).epsilon_bounds(1e-5, 0.1)
    assert (high - low) / high > 0.01
    app.button(key="composition_preset_How wide is the band?").click().run()
    x, y = curves(app)[0]["k = 10"]
    drawn = acc.rdp_to_delta(ORDERS, 10 * FIT.rdp(ORDERS), x) >= 1e-10
    low, high = acc.repeat(FIT, 10).delta_bounds(x[drawn], 1e-3)
    known = np.isfinite(y[drawn])
    assert known.sum() > 50
    np.testing.assert_array_equal(y[drawn][known], (1 - low / high)[known])
    assert (high[~known] < 1e-10).all()
    assert "Relative width" in app.get("plotly_chart")[0].proto.alt


def test_the_axis_reaches_the_answer_however_large_unless_it_is_held():
    ends = [
        spec(open_page(**query))["layout"]["xaxis"]["range"][1]
        for query in ({}, {"composition_sigma": "0.1"}, {"composition_sigma": "0.1", "composition_view": "100"})
    ]
    assert ends == [5.0, 2000.0, 100.0]
    app = open_page(composition_sigma="0.1", composition_view="100")
    app.button(key="composition_view_fit").click().run()
    assert "Ten fits cost ε = 677" in said(app)
    assert spec(app)["layout"]["xaxis"]["range"] == [0.0, 2000.0]


def test_presets_leave_ghosts_and_the_logistic_bound_disables_beta():
    app = open_page(composition_sigma="100", composition_k=["3", "7"], composition_view="30")
    assert list(curves(app)[0]) == ["k = 3", "k = 7", DASHED]
    app.button(key="composition_preset_Figure 3: ten fits").click().run()
    assert curves(app)[1] == [f"k = {k}, before" for k in (1, 2, 5, 10)]
    assert "σ 100 → 8, k 7 → 10: ε rises from" in said(app)
    app.toggle(key="composition_ghost").set_value(False).run()
    assert curves(app)[1] == []
    app.button(key="composition_preset_A tighter proof for each fit").click().run()
    assert app.select_slider(key="composition_beta").disabled
    x, y = curves(app)[0]["k = 5"]
    known = np.isfinite(y)
    tight = acc.repeat(acc.ObjectivePerturbation(8.0, 10.0), 5)
    np.testing.assert_array_equal(y[known], tight.delta_bounds(x[known], 1e-3)[1])


def test_rényi_curves_can_be_hidden_and_no_choice_of_k_means_the_default():
    app = open_page()
    app.toggle(key="composition_renyi").set_value(False).run()
    assert list(curves(app)[0]) == ["k = 1", "k = 2", "k = 5", "k = 10"]
    app.multiselect(key="composition_k").set_value([]).run()
    assert list(curves(app)[0]) == ["k = 1", "k = 2", "k = 5", "k = 10"]


def test_a_proof_and_an_entry_that_say_nothing_say_why():
    app = open_page(composition_lambda="1", **{LEDGER: "gauss:20,1;fit:8,0.5,1,glm,1"})
    tells(said(app), "No bound proves a finite ε for ten fits", "Not accounted for: no finite ε is proved")
    tells(infos(app), "λ = 1 is not above β = 1", "λ = 0.5 is not above β = 1")
    assert tables(app)[1]["By Rényi"].iloc[-1] == "nothing proved"


def test_the_default_ledger_is_three_kinds_with_the_cores_totals():
    app = open_page(**{LEDGER: None})
    parts = [
        acc.repeat(acc.symmetrised(acc.ObjectivePerturbation(8, 10)), 3),
        acc.DPSGD(1.0, 0.01, 1000),
        acc.Gaussian(20.0),
    ]
    x, y = curves(app, 1)[0]["Together"]
    np.testing.assert_array_equal(x, [0, 1, 2, 3])
    totals = [acc.compose(*parts[:n]).epsilon_bounds(1e-5, ledger_totals.WIDTH)[1] for n in (1, 2, 3)]
    np.testing.assert_allclose(y, [0, *totals], rtol=1e-9)
    shown = [float(cell) for cell in tables(app)[1]["Total so far at δ = 10⁻⁵"]]
    assert all(total <= cell <= total * 1.01 for cell, total in zip(shown, totals, strict=True))
    assert "Within budget: five releases cost ε =" in said(app)


def fill(app, **fields):
    for key, value in fields.items():
        app.number_input(key=f"composition__{key}").set_value(value)


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


def test_a_fit_with_a_published_proof_and_one_by_calibration():
    app = open_page(**{LEDGER: "empty"})
    fill(app, fit_sigma=8.0, fit_lam=10.0, fit_smoothness=1.0)
    proof = app.selectbox(key="composition__fit_bound")
    assert proof.options == ["Our theorem", "Our theorem, one-signed slope", "2023 theorem"]
    proof.select("glm")
    app.button(key="composition_save").click().run()
    assert entry_of(app) == "fit:8,10,1,glm,1"
    app.selectbox(key="composition__kind").select("cal").run()
    app.button(key="composition_save").click().run()
    assert entry_of(app) == "fit:8,10,1,glm,1;cal:1,1e-5"
    app.selectbox(key="composition__which").select(0).run()
    app.selectbox(key="composition__fit_bound").select("logistic")
    app.button(key="composition_save").click().run()
    assert entry_of(app) == "fit:8,10,1;cal:1,1e-5"


def test_the_list_stops_growing_at_twenty():
    app = open_page(**{LEDGER: ";".join(["gauss:20,1"] * 20)})
    app.selectbox(key="composition__kind").select("gauss").run()
    app.button(key="composition_save").click().run()
    assert "at most 20 entries" in app.error[0].value
    assert len(lg.parse(entry_of(app))) == 20


def test_typed_text_becomes_canonical_or_is_refused():
    app = open_page()
    app.text_input(key=LEDGER).set_value("gauss:2e1,1.0 ; gauss*2:10,1").run()
    assert entry_of(app) == "gauss:20,1;gauss*2:10,1"
    app.text_input(key=LEDGER).set_value("gauss:20").run()
    assert entry_of(app) == "gauss:20,1;gauss*2:10,1"
    assert "gauss takes 2 numbers" in app.error[0].value
    app.text_input(key=LEDGER).set_value("").run()
    assert entry_of(app) == "empty"
    assert len(tables(app)) == 1


def saved(text, delta=1e-6, target=5.0):
    return ledger_files.to_json(ledger_totals.totals(lg.parse(text), delta), delta, target)


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


def test_lists_are_presets_and_the_status_is_in_words():
    app = open_page()
    app.button(key="composition_list_preset_Ten fits, one by one").click().run()
    assert len(tables(app)[1]) == 10
    total = acc.repeat(FIT, 10).epsilon(1e-5)
    nine = acc.repeat(FIT, 9).epsilon(1e-5)
    assert nine <= 3.0 < total
    assert "Over budget: ten releases cost ε = 3" in said(app)
    assert "Entry 10 (Objective-perturbation fit) takes the total past the target ε = 3" in said(app)
    assert tables(app)[1]["Target ε = 3"].iloc[-1].startswith("over by")
    app.button(key="composition_list_preset_Empty list").click().run()
    assert "Nothing has been released yet" in said(app)


def test_what_still_fits_is_said_on_request():
    app = open_page(composition_target="1")
    assert "Still fits" not in tables(app)[1]
    app.toggle(key="composition_left").set_value(True).run()
    left = [int(cell.split()[0]) for cell in tables(app)[1]["Still fits"]]
    for more, sigma in zip(left, (20.0, 10.0), strict=True):
        used = [acc.Gaussian(20.0), acc.Gaussian(10.0)]
        assert acc.compose(*used, acc.repeat(acc.Gaussian(sigma), more)).epsilon(1e-5) <= 1.0
        assert acc.compose(*used, acc.repeat(acc.Gaussian(sigma), more + 1)).epsilon(1e-5) > 1.0


def test_assumptions_are_on_the_page():
    app = open_page()
    about = (Path(registry.__file__).parents[1] / "pages/composition/about.md").read_text(encoding="utf-8")
    tells(about, "adding or removing one", "same rows", "One δ", "filter or odometer", "adaptive noise is not")
    assert not any("aplace" in kind for kind in app.selectbox(key="composition__kind").options)


def test_the_prediction_is_true():
    assert FIT.epsilon(1e-5) == pytest.approx(0.562, abs=5e-4)
    assert acc.repeat(FIT, 100).epsilon(1e-5) == pytest.approx(24.35, abs=0.05)
    assert acc.repeat(acc.ObjectivePerturbation(8, 10), 100).epsilon(1e-5) == pytest.approx(8.9, abs=0.05)
    pair = acc.symmetrised(acc.ObjectivePerturbation(8, 10))
    assert acc.repeat(pair, 100).epsilon(1e-5) == pytest.approx(5.73, abs=0.005)
    least = -math.log(0.9) + 1 / 128
    assert least == pytest.approx(0.113, abs=5e-4)
    assert least + math.sqrt(2 / math.pi) / 8 == pytest.approx(0.213, abs=5e-4)


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
