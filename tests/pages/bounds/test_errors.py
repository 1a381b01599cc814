"""The parts of the Bounds page: the trade-off view's numbers, words and snippet; the profile view's answer."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from pages.bounds import errors as tc
from pages.bounds import neighbours as nb
from pages.bounds import words as text
from tests.pages.apps import execute
from ui import bounds as bc
from ui import sentences, snippets

LEFT = bc.Setting(5.0, 20.0, 1.0, 1.0)
ALL = tuple(bc.NAMES)


@pytest.mark.slow
def test_curves_are_the_cores_and_cannot_be_written_to():
    for setting in (LEFT, bc.Setting(10.0, 5.0, 1.0, 2.0)):
        for bound in ALL:
            values = tc.curve(bound, setting)
            np.testing.assert_array_equal(values, setting.mechanism(bound).tradeoff(tc.RATES))
            assert tc.missed_at(bound, setting, 0.05) == setting.mechanism(bound).tradeoff(0.05)
    with pytest.raises(ValueError, match="read-only"):
        tc.curve("lower", LEFT)[0] = 0.0


def test_readings_tell_misses_guesses_and_reasons():
    found = {r.bound: r for r in tc.readings(bc.Setting(10.0, 0.9, 1.0, 2.0), ALL, 0.05)}
    assert found["glm"].missed == 0.0
    assert found["glm"].guess == 1.0
    assert "λ > β" in found["glm"].reason
    assert found["lower"].guess == acc.best_guess(acc.Gaussian(10.0, 2.0))
    assert found["logistic"].reason is None
    assert dict(bc.reasons(list(found.values()))).keys() == {"Rényi and Hockey-stick"}
    rows = {row["Bound"].split(",")[0]: row for row in tc.table_rows(list(found.values()), 0.05)}
    assert rows["Hockey-stick"]["Misses at 5 % false accusations"] == "nothing proved"
    assert rows["Gaussian lower bound"]["Best guess right"] == "at most 54.0 %"


@pytest.mark.thorough
def test_frame_holds_every_plotted_number():
    frame = tc.frame(LEFT, ALL)
    assert list(frame.columns) == ["false_accusations", *(f"missed_{bound}" for bound in ALL)]
    assert len(frame) == tc.POINTS
    np.testing.assert_array_equal(frame["missed_glm"], tc.curve("glm", LEFT))


@pytest.mark.slow
@given(st.floats(1e-9, 1.0))
def test_shares_are_rounded_to_the_safe_side(value):
    low, high = (Decimal(f(value).removesuffix(" %")) for f in (text.at_least, text.at_most))
    assert low <= Decimal(repr(value)) * 100 <= high
    assert float(high - low) <= max(0.1, 20 * value) or low == 0


def test_shares_read_well():
    assert text.share(0.05) == "5 %"
    assert text.share(0.001) == "0.1 %"
    assert text.at_least(0.93456) == "93.4 %"
    assert text.at_most(0.93456) == "93.5 %"
    assert text.at_least(0.0012345) == "0.12 %"
    assert text.at_least(1e-12) == "0 %"


def test_the_answer_and_what_follows_tell_the_cases_apart():
    said = text.answer(0.05, 0.9234)
    assert said == ("Accusing 5 % of outsiders, an attacker misses at least 92.3 % of members; guessing misses 95 %.")
    assert text.answer(0.05, 0.0).startswith("Nothing is proved")
    same = text.comparison(0.9234, 0.92341, 0.85, 0.85, 0.25, 0.25)
    assert same == "No proof can promise more. The published analysis promises at least 85.0 %."
    other = text.comparison(0.9, 0.92, 0.0, 0.85, 1.0, 0.25)
    assert other.startswith("No proof can promise more than 92.0 %. ")
    assert other.endswith("promises at least 85.0 % for this loss (β = 0.25), and nothing for β = 1.")
    assert text.comparison(0.0, 0.9, 0.0, 0.0, 0.25, 0.25) == "The published analysis promises nothing."


def test_the_best_guess_is_about_what_neighbours_differ_in():
    usual, replaced, several = (
        nb.setting(5.0, 20.0, 1.0, 1.0, choice, 3) for choice in (nb.ADDED, nb.REPLACED, nb.SEVERAL)
    )
    said = text.best_guess(0.58, usual)
    assert said == "From even odds, the best guess whether you took part is right at most 58.0 % of the time."
    assert "which of two contents your row has" in text.best_guess(0.58, replaced)
    assert "whether your rows are in the data" in text.best_guess(0.58, several)
    assert text.best_guess(1.0, usual) == ""


def test_alt_text_ranks_the_bounds():
    said = text.alt({"A": 0.5, "B": 0.75, "C": 0.0}, 0.05)
    assert said.endswith("Missed at 5 % false accusations: B 75.0 %; A 50.0 %; C proves nothing.")


@pytest.mark.slow
@pytest.mark.parametrize("setting", [LEFT, bc.Setting(10.0, 0.9, 1.0, 2.0)])
def test_the_snippet_prints_the_read_outs_and_makes_the_curves(setting):
    names, printed = execute(snippets.errors(**vars(setting), rate=0.05))
    lines = {line.split()[0]: [float(v) for v in line.split()[1:]] for line in printed.splitlines()}
    assert set(lines) == set(ALL)
    for reading in tc.readings(setting, tuple(lines), 0.05):
        assert lines[reading.bound] == [reading.missed, reading.guess]
    for bound, curve in names["curves"].items():
        np.testing.assert_array_equal(curve.tradeoff(tc.RATES), tc.curve(bound, setting))


# --- the profile view ----------------------------------------------------------------------------------------------


def profile_answer(tight, published):
    return text.profile_answer(tight, published, nb.setting(5.0, 20.0, 1.0, 1.0, nb.ADDED, 1))


def test_bounds_answer_tells_the_cases_apart():
    start = "One logistic fit costs ε = 0.726 (odds 2.07 : 1); the published proof"
    assert profile_answer(0.7255, 0.77) == f"{start}, with its β = 0.25, guarantees less: ε = 0.77."
    assert profile_answer(0.7255, 0.7255) == f"{start} guarantees the same."
    assert profile_answer(0.7255, math.inf) == f"{start}s guarantee nothing."
    assert profile_answer(math.inf, math.inf).startswith("No bound proves a finite ε")


def test_the_caption_says_how_much_less_any_proof_could_show():
    assert text.limits(0.5, 0.5, 0.03).startswith("From ε = 0.03 on, this profile is the Gaussian mechanism’s")
    assert "20.0 % above the Gaussian mechanism’s ε = 0.5" in text.limits(0.6, 0.5, 0.9)
    assert "less than a thousandth above" in text.limits(0.5002, 0.5, 0.9)
    assert text.limits(math.inf, 0.5, 0.9) == ""
    assert text.at_smoothness(0.811, 1.0) == "The published curves are drawn for β = 1 and guarantee ε = 0.811."
    assert text.at_smoothness(math.inf, 1.0).endswith("guarantee nothing.")


def test_the_sentence_and_the_table_agree_on_what_is_exact():
    for factor in (1.0, 1 + 1e-9, 1 + 2e-6, 1.00001, 1.0009, 1.002, 1.2):
        said = "no proof can show less" in text.limits(0.5 * factor, 0.5, 0.3)
        assert said == (sentences.ratio(factor) == "1×"), factor
    assert sentences.ratio(1.00001) == "< 1.001×"
    assert sentences.ratio(1.0021) == "1.01×"
