"""The two pictures of the Bounds page, asked without the page: numbers, sentences, Python."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from pages.bounds import errors, profile
from pages.bounds.controls import FIGURE_1_RIGHT
from pages.bounds.errors import Errors
from pages.bounds.neighbours import ADDED, REPLACED, SEVERAL, setting
from pages.bounds.neighbours import Setting as Neighbours
from pages.bounds.profile import Profile
from tests.pages.apps import execute
from ui import bounds as proofs
from ui import sentences

LEFT = setting(5.0, 20.0, 1.0, 1.0, ADDED, 1)
RIGHT = setting(*vars(FIGURE_1_RIGHT).values(), ADDED, 1)
BELOW = setting(10.0, 0.9, 1.0, 2.0, ADDED, 1)
REPLACING, FOUR = (setting(5.0, 20.0, 1.0, 1.0, choice, 4) for choice in (REPLACED, SEVERAL))
ALL = tuple(proofs.NAMES)


@pytest.mark.slow
def test_curves_are_the_cores_and_cannot_be_written_to():
    for fit in (LEFT, setting(10.0, 5.0, 1.0, 2.0, ADDED, 1)):
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


@pytest.mark.thorough
def test_frame_holds_every_plotted_number():
    frame = Errors(LEFT, shown=ALL).frame()
    assert list(frame.columns) == ["false_accusations", *(f"missed_{bound}" for bound in ALL), "neighbours"]
    assert len(frame) == errors.POINTS
    np.testing.assert_array_equal(frame["missed_glm"], errors.curve("glm", LEFT))


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
    view = Errors(setting(5.0, 20.0, beta, 1.0, ADDED, 1))
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


@pytest.mark.parametrize(
    ("fit", "what"),
    [
        (LEFT, "whether you took part"),
        (REPLACING, "which of two contents your row has"),
        (FOUR, "whether your rows are in the data"),
    ],
)
def test_the_best_guess_is_about_what_neighbours_differ_in(monkeypatch, fit, what):
    monkeypatch.setattr(errors, "_guess", lambda mechanism: 0.58)
    expected = f"Starting from even odds, the best guess about {what} is right at most 58.0 % of the time."
    assert Errors(fit).best_guess() == expected
    monkeypatch.setattr(errors, "_guess", lambda mechanism: 1.0)
    assert Errors(fit).best_guess() == ""


def test_alt_text_ranks_the_bounds(monkeypatch):
    missed = {"logistic": 0.5, "lower": 0.75, "glm": 0.0}
    monkeypatch.setattr(Errors, "missed", lambda view, bound, fit: missed[bound])
    ranked = "Gaussian lower bound 75.0 %; Our theorem 50.0 %; 2023 theorem proves nothing."
    assert Errors(LEFT, shown=tuple(missed)).alt().endswith(f"Missed at 5 % false accusations: {ranked}")


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
    assert profile.limits(0.5, 0.5, 0.03).startswith(
        "From ε = 0.03 on, the profile of our theorem is the Gaussian mechanism’s"
    )
    assert "20.0 % above the Gaussian mechanism’s ε = 0.5" in profile.limits(0.6, 0.5, 0.9)
    assert "less than a thousandth above" in profile.limits(0.5002, 0.5, 0.9)
    assert profile.limits(math.inf, 0.5, 0.9) == ""
    assert profile.guarantees(0.811, "glm", 1.0) == "For β = 1 the 2023 theorem guarantees ε = 0.811."
    silent = profile.guarantees(math.inf, "glm", 1.0)
    assert silent == "For β = 1 the theorems of 2012 and 2023 guarantee nothing."


def test_the_answer_sets_two_theorems_for_one_loss_beside_each_other_and_the_caption_tells_the_drawn_curve():
    for lam in (0.01, 2.0, 20.0):  # at the first only the 2012 theorem says something
        view = Profile(Neighbours(5.0, lam, 1.0, 1.0))
        for said, of in ((view.answer(), replace(view, setting=view.setting.logistic)), (view.caption(), view)):
            least = min(of.readings[key].epsilon for key in proofs.PUBLISHED)
            (best,) = [key for key in proofs.PUBLISHED if of.readings[key].epsilon == least]
            guarantee = "can only guarantee" if said == view.answer() else "guarantees"
            assert f"the {proofs.NAMES[best]} {guarantee} ε = {sentences.epsilon(least)}" in said
        assert "β" not in view.answer()
        assert "For β = 1 the " in view.caption()
        assert "For β" not in replace(view, setting=view.setting.logistic).caption()


def test_the_sentence_and_the_table_agree_on_what_is_exact():
    for factor in (1.0, 1 + 1e-9, 1 + 2e-6, 1.00001, 1.0009, 1.002, 1.2):
        stated = "no proof can show less" in profile.limits(0.5 * factor, 0.5, 0.3)
        assert stated == (sentences.ratio(factor) == "1×"), factor
    assert sentences.ratio(1.00001) == "< 1.001×"
    assert sentences.ratio(1.0021) == "1.01×"
