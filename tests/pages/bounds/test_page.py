"""The page "Bounds": its curves are the core's, for any neighbours; what it says is on the safe side; its Python."""

import math
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from pages.bounds import errors, picture, profile
from pages.bounds.controls import ADDED, ERRORS, FIGURE_1_RIGHT, REPLACED, SEVERAL
from pages.bounds.errors import Errors
from pages.bounds.picture import Setting, setting_of
from pages.bounds.profile import Profile
from tests.pages.apps import answer, curves, execute, infos, open_app, said, spec, tables, tells, written
from ui import bounds as proofs
from ui import sentences

open_page = partial(open_app, "pages/bounds/page.py")

AT_FIRST = {"bounds_sigma": 5.0, "bounds_lambda": 20.0, "bounds_beta": 1.0, "bounds_L": 1.0}


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_prediction_is_true():
    found = mechanisms(10.0, 0.9, 1.0, 2.0)
    silent = {name for name, mechanism in found.items() if math.isinf(mechanism.epsilon(1e-5))}
    assert silent == {"2023 theorem, Rényi", "2023 theorem"}
    assert found["2012 theorem"].delta(2.2) == 1.0 > found["2012 theorem"].delta(2.2223)


@pytest.mark.slow
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


# --- its two pictures -------------------------------------------------------------------------------------------------

LEFT = setting_of(5.0, 20.0, 1.0, 1.0, ADDED, 1)
RIGHT = setting_of(*vars(FIGURE_1_RIGHT).values(), ADDED, 1)
BELOW = setting_of(10.0, 0.9, 1.0, 2.0, ADDED, 1)
REPLACING, FOUR = (setting_of(5.0, 20.0, 1.0, 1.0, choice, 4) for choice in (REPLACED, SEVERAL))
ALL = tuple(proofs.NAMES)


@pytest.mark.slow
def test_curves_are_the_cores_and_cannot_be_written_to():
    for fit in (LEFT, setting_of(10.0, 5.0, 1.0, 2.0, ADDED, 1)):
        for bound in ALL:
            mechanism = fit.mechanism(bound)
            np.testing.assert_array_equal(errors.curve(bound, fit), mechanism.tradeoff(errors.RATES))
            assert Errors(fit).missed(bound, fit) == mechanism.tradeoff(0.05)
    with pytest.raises(ValueError, match="read-only"):
        errors.curve("lower", LEFT)[0] = 0.0


def test_readings_tell_misses_guesses_and_reasons():
    view = Errors(BELOW, shown=ALL)
    found = view.readings
    assert (found["glm"].missed, found["glm"].guess) == (0.0, 1.0)
    assert "λ > β" in found["glm"].reason
    assert found["lower"].guess == acc.best_guess(acc.Gaussian(10.0, 2.0))
    assert found["logistic"].reason is None
    (silent,) = view.remarks()
    assert silent.startswith("**2023 theorem, Rényi and 2023 theorem.** ")
    rows = {row["Bound"].split(",")[0]: row for row in view.table()}
    assert rows["2023 theorem"]["Misses at 5 % false accusations"] == "nothing proved"
    assert rows["Gaussian lower bound"]["Best guess right"] == "at most 54.0 %"


@pytest.mark.slow
@given(st.floats(1e-9, 1.0))
def test_shares_are_rounded_to_the_safe_side(value):
    low, high = (Decimal(f(value).removesuffix(" %")) for f in (errors.at_least, errors.at_most))
    assert low <= Decimal(repr(value)) * 100 <= high
    assert float(high - low) <= max(0.1, 20 * value) or low == 0


def test_shares_read_well():
    assert [errors.share(value) for value in (0.05, 0.001)] == ["5 %", "0.1 %"]
    assert [errors.at_least(value) for value in (0.93456, 0.0012345, 1e-12)] == ["93.4 %", "0.12 %", "0 %"]
    assert errors.at_most(0.93456) == "93.5 %"


@pytest.mark.parametrize(
    ("tight", "lower", "published", "at_own", "beta", "compared"),
    [
        (
            0.9234,
            0.92341,
            0.85,
            0.85,
            0.25,
            "No proof can promise more. The 2023 theorem promises at least 85.0 %.",
        ),
        (
            *(0.9, 0.92, 0.0, 0.85, 1.0),
            "No proof can promise more than 92.0 %. For the logistic loss the 2023 theorem promises at least 85.0 %. "
            "For β = 1 the theorems of 2012 and 2023 promise nothing.",
        ),
        (0.0, 0.9, 0.0, 0.0, 0.25, "The theorems of 2012 and 2023 promise nothing."),
        (
            *(0.0, 0.9, 0.3, 0.0, 0.1),
            "For the logistic loss the theorems of 2012 and 2023 promise nothing. "
            "For β = 0.1 the 2023 theorem promises at least 30.0 %.",
        ),
    ],
)
def test_what_is_missed_is_compared_with_any_proof_and_the_published(
    monkeypatch, tight, lower, published, at_own, beta, compared
):
    def missed(view, bound, fit):
        return {"logistic": tight, "lower": lower}.get(bound, at_own if fit == view.setting.logistic else published)

    monkeypatch.setattr(Errors, "missed", missed)
    view = Errors(setting_of(5.0, 20.0, beta, 1.0, ADDED, 1))
    assert view.comparison() == compared
    expected = (
        f"An attacker who wrongly accuses 5 % of outsiders misses at least {errors.at_least(tight)} of participants."
    )
    assert view.answer() == (expected if tight else "Nothing is proved about an attacker who accuses 5 % of outsiders.")


def test_of_a_replaced_row_nobody_is_outside(monkeypatch):
    answers = []
    for missed in (0.925, 0.0):
        monkeypatch.setattr(Errors, "missed", lambda view, bound, fit, missed=missed: missed)
        answers.append(Errors(REPLACING).answer())
    assert answers == [
        "An attacker who calls 5 % of first contents “second” calls at least 92.5 % of second ones “first”.",
        "Nothing is proved about an attacker who calls 5 % of first contents “second”.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("view", [Profile, Errors])
@pytest.mark.parametrize("fit", [LEFT, RIGHT, BELOW, REPLACING, FOUR])
def test_the_snippet_prints_the_read_outs_and_makes_the_curves(view, fit):
    shown = view(fit, shown=ALL)
    names, printed = execute(shown.code())
    lines = {line.split()[0]: [float(value) for value in line.split()[1:]] for line in printed.splitlines()}
    assert list(lines) == ["logistic", "monotone", "two-signed", "glm", "rdp", "kifer2012", "lower"]
    what = ("epsilon", "delta") if view is Profile else ("missed", "guess")
    assert lines == {bound: [getattr(reading, name) for name in what] for bound, reading in shown.readings.items()}
    assert names["curves"] == {bound: fit.mechanism(bound) for bound in lines}


# --- the profile view ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tight", "published", "expected"),
    [
        (0.7255, 0.77, "; the 2023 theorem can only guarantee ε = 0.77."),
        (0.7255, 0.7255, "; the 2023 theorem guarantees the same."),
        (0.7255, math.inf, "; the theorems of 2012 and 2023 guarantee nothing."),
        (math.inf, math.inf, None),
    ],
)
def test_bounds_answer_tells_the_cases_apart(monkeypatch, tight, published, expected):
    monkeypatch.setattr(proofs, "epsilon_at", lambda bound, *_: tight if bound == "logistic" else published)
    start = "One logistic fit costs ε = 0.726 (odds 2.07 : 1)"
    none = "No bound proves a finite ε with this setting."
    assert Profile(LEFT).answer() == (none if expected is None else start + expected)


def test_the_caption_says_how_much_less_any_proof_could_show():
    assert "20.0 % above the Gaussian mechanism’s ε = 0.5" in profile.limits(0.6, 0.5, 0.9)
    assert "less than a thousandth above" in profile.limits(0.5002, 0.5, 0.9)
    assert profile.limits(math.inf, 0.5, 0.9) == ""
    assert profile.guarantees(0.811, "glm", 1.0) == "For β = 1 the 2023 theorem guarantees ε = 0.811."
    silent = profile.guarantees(math.inf, "glm", 1.0)
    assert silent == "For β = 1 the theorems of 2012 and 2023 guarantee nothing."


def test_the_answer_sets_two_theorems_for_one_loss_beside_each_other_and_the_caption_tells_the_drawn_curve():
    for lam in (0.01, 2.0, 20.0):  # at the first only the 2012 theorem says something
        view = Profile(Setting(5.0, lam, 1.0, 1.0))
        for told, of in ((view.answer(), replace(view, setting=view.setting.logistic)), (view.caption(), view)):
            least = min(of.readings[key].epsilon for key in proofs.PUBLISHED)
            (best,) = [key for key in proofs.PUBLISHED if of.readings[key].epsilon == least]
            guarantee = "can only guarantee" if told == view.answer() else "guarantees"
            assert f"the {proofs.NAMES[best]} {guarantee} ε = {sentences.epsilon(least)}" in told
        assert "β" not in view.answer()
        assert "For β = 1 the " in view.caption()
        assert "For β" not in replace(view, setting=view.setting.logistic).caption()


def test_the_sentence_and_the_table_agree_on_what_is_exact():
    for factor in (1.0, 1 + 1e-9, 1 + 2e-6, 1.00001, 1.0009, 1.002, 1.2):
        stated = "no proof can show less" in profile.limits(0.5 * factor, 0.5, 0.3)
        assert stated == (sentences.ratio(factor) == "1×"), factor
    assert sentences.ratio(1.00001) == "< 1.001×"
    assert sentences.ratio(1.0021) == "1.01×"


# --- neighbours ------------------------------------------------------------------------------------------------------


def about(choice, rows=2):
    return setting_of(5.0, 20.0, 1.0, 1.0, choice, rows)


@pytest.mark.parametrize("name", proofs.NAMES)
def test_every_proof_is_the_cores_for_these_neighbours(name):
    one = proofs.Setting(5.0, 20.0, 1.0, 1.0).mechanism(name)
    assert about(ADDED, 7).mechanism(name) == one
    assert about(REPLACED).mechanism(name) == acc.replace_one(one)
    assert about(SEVERAL, 3).mechanism(name) == acc.group(one, 3)
    assert about(SEVERAL, 3).mechanism(name) is about(SEVERAL, 3).mechanism(name)  # with what it has computed


def test_mu_and_rho_are_rounded_up_and_none_is_none():
    kifer, *_, lower = Profile(about(ADDED), covers=True).table()
    assert (lower["μ (GDP)"], lower["ρ (zCDP)"]) == ("0.2", "0.02")
    assert kifer["μ (GDP)"] == "nothing proved"
    assert picture.text(0.20031) == "0.201"


@pytest.mark.slow
def test_the_page_shows_a_replaced_row():
    app = open_page(bounds_neighbours=REPLACED, bounds_view="3", bounds_covers="true")
    fit = acc.replace_one(acc.ObjectivePerturbation(5.0, 20.0))
    x, y = curves(app)[0]["Our theorem"]
    np.testing.assert_array_equal(y, fit.delta(x))
    assert answer(app) == "One logistic fit costs ε = 1.56 (odds 4.76 : 1) when one row is replaced."
    assert fit.epsilon(1e-5) == pytest.approx(acc.Gaussian(2.5).epsilon(1e-5)) == pytest.approx(1.555, abs=1e-3)
    assert "Adding or removing one row costs ε = 0.726" in written(app)
    assert "; replace one row; " in said(app)
    assert tables(app)[0].iloc[-2]["μ (GDP)"] == "0.401"
    assert app.get("plotly_chart")[0].proto.alt.endswith("Neighbouring data sets: replace one row.")
