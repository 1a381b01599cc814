"""The page "Bounds": its curves are the core's, for any neighbours; what it says is on the safe side; its Python."""

import math
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from pages.bounds import errors, picture, profile
from pages.bounds.controls import ADDED, FIGURE_1_RIGHT, REPLACED, SEVERAL
from pages.bounds.errors import Errors
from pages.bounds.picture import Setting, setting_of
from pages.bounds.profile import Profile
from tests.pages.apps import execute
from ui import bounds as proofs
from ui import sentences

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
def test_the_prediction_is_true():
    found = mechanisms(10.0, 0.9, 1.0, 2.0)
    silent = {name for name, mechanism in found.items() if math.isinf(mechanism.epsilon(1e-5))}
    assert silent == {"2023 theorem, Rényi", "2023 theorem"}
    assert found["2012 theorem"].delta(2.2) == 1.0 > found["2012 theorem"].delta(2.2223)


# --- its two pictures -------------------------------------------------------------------------------------------------

LEFT = setting_of(5.0, 20.0, 1.0, 1.0, ADDED, 1)
RIGHT = setting_of(*vars(FIGURE_1_RIGHT).values(), ADDED, 1)
BELOW = setting_of(10.0, 0.9, 1.0, 2.0, ADDED, 1)
REPLACING, FOUR = (setting_of(5.0, 20.0, 1.0, 1.0, choice, 4) for choice in (REPLACED, SEVERAL))
ALL = tuple(proofs.NAMES)


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


def test_read_outs_are_the_cores_and_rounded_up():
    view, lower = Profile(LEFT, delta=1e-6, epsilon=0.3, covers=True), acc.Gaussian(5.0)
    rows = view.table()
    for row, mechanism in zip(rows, mechanisms(5.0, 20.0, 1.0, 1.0).values(), strict=True):
        epsilon = mechanism.epsilon(1e-6)
        assert epsilon <= float(row["ε at δ = 10⁻⁶"]) <= epsilon * 1.01
        assert float(row["ε / lower bound"].rstrip("×")) == pytest.approx(epsilon / lower.epsilon(1e-6), rel=0.01)
        assert "δ at ε = 0.3" in row
    kifer, *_, last = rows
    assert (last["μ (GDP)"], last["ρ (zCDP)"]) == ("0.2", "0.02")
    assert kifer["μ (GDP)"] == "nothing proved"
    assert picture.text(0.20031) == "0.201"
    assert Profile(BELOW).table()[1]["ε at δ = 10⁻⁵"] == "nothing proved"


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
