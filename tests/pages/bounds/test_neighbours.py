"""Other neighbours on the Bounds page: a replaced row and several rows of one person, in every part of the page."""

import numpy as np
import pytest

import objpert_core.accounting as acc
from pages.bounds import neighbours
from pages.bounds.neighbours import ADDED, REPLACED, SEVERAL
from pages.bounds.profile import Profile
from tests.pages.apps import answer, curves, open_app, said, tables, written
from ui import bounds as proofs

PAGE = "pages/bounds/page.py"


def about(choice, rows=2):
    return neighbours.setting(5.0, 20.0, 1.0, 1.0, choice, rows)


@pytest.mark.parametrize("name", proofs.NAMES)
def test_every_proof_is_the_cores_for_these_neighbours(name):
    one = proofs.Setting(5.0, 20.0, 1.0, 1.0).mechanism(name)
    assert about(ADDED, 7).mechanism(name) == one
    assert about(REPLACED).mechanism(name) == acc.replace_one(one)
    assert about(SEVERAL, 3).mechanism(name) == acc.group(one, 3)
    assert about(SEVERAL, 3).mechanism(name) is about(SEVERAL, 3).mechanism(name)  # with what it has computed


def test_a_setting_names_its_neighbours_only_where_they_are_not_the_usual_ones():
    assert str(about(ADDED, 5)) == "σ = 5, λ = 20, β = 1, L = 1"
    assert str(about(REPLACED)).endswith(", replace one row")
    assert about(SEVERAL, 4).neighbours == "add or remove four rows of one person"
    assert about(SEVERAL, 4).one == about(ADDED)


def test_mu_and_rho_are_rounded_up_and_none_is_none():
    kifer, *_, lower = Profile(about(ADDED), covers=True).table()
    assert (lower["μ (GDP)"], lower["ρ (zCDP)"]) == ("0.2", "0.02")
    assert kifer["μ (GDP)"] == "nothing proved"
    assert neighbours.text(0.20031) == "0.201"


@pytest.mark.slow
def test_the_page_shows_a_replaced_row():
    app = open_app(PAGE, bounds_neighbours=REPLACED, bounds_view="3", bounds_covers="true")
    fit = acc.replace_one(acc.ObjectivePerturbation(5.0, 20.0))
    x, y = curves(app)[0]["Our theorem"]
    np.testing.assert_array_equal(y, fit.delta(x))
    assert answer(app) == "One logistic fit costs ε = 1.56 (odds 4.76 : 1) when one row is replaced."
    assert fit.epsilon(1e-5) == pytest.approx(acc.Gaussian(2.5).epsilon(1e-5)) == pytest.approx(1.555, abs=1e-3)
    assert "Adding or removing one row costs ε = 0.726" in written(app)
    assert "; replace one row; " in said(app)
    assert tables(app)[0].iloc[-2]["μ (GDP)"] == "0.401"
    assert app.get("plotly_chart")[0].proto.alt.endswith("Neighbouring data sets: replace one row.")


@pytest.mark.slow
def test_the_preset_and_the_attackers_errors_of_several_rows():
    app = open_app(PAGE, bounds_show="Attacker’s errors")
    app.button(key="bounds_preset_Four rows of one person").click().run()
    assert app.session_state["bounds_rows"] == 4
    fit = acc.group(acc.ObjectivePerturbation(app.session_state["bounds_sigma"], app.session_state["bounds_lambda"]), 4)
    x, y = curves(app)[0]["Our theorem"]
    np.testing.assert_array_equal(y, fit.tradeoff(x))
    assert "four rows of one person" in said(app)
    app.button(key="bounds_preset_Figure 1, left").click().run()
    assert app.session_state["bounds_neighbours"] == ADDED
