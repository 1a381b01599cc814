"""Wording and rounding: never to the unsafe side, always with δ, adjacency and accountant."""

import math
from decimal import Decimal
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import sentences as s
from ui.bounds import Setting, epsilon_at
from ui.sentences import epsilon
from ui.why import moved, reread

SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


UP = partial(s.number, digits=3, up=True)
CURVES = partial(s.count, noun="curve")
SAID = [
    (s.scientific, [1e-5, 9.96e-6, 4.2e-5, 1.2345e-12], ["10⁻⁵", "10⁻⁵", "4.2×10⁻⁵", "1.2×10⁻¹²"]),
    (s.scientific, [2.5e7, 1e20, 0.25, 0.0], ["2.5×10⁷", "10²⁰", "0.25", "0"]),
    (s.scientific, [-1e-7, -0.16, -math.inf, math.inf, math.nan], ["−10⁻⁷", "−0.16", "−∞", "∞", "–"]),
    (UP, [0.1, 1.0, 0.72552, 12345.0, 9.991], ["0.1", "1", "0.726", "12,400", "10"]),
    (partial(UP, digits=2), [0.7201], ["0.73"]),
    (s.delta, [0.0], ["< 10⁻³⁰⁰"]),  # an underflow is not called zero
    (s.proved, [1.5, math.inf], ["1.5", "nothing proved"]),
    (s.ranking, [{"B": math.inf, "A": 1.0, "C": 0.5}], ["C 0.5; A 1; B proves nothing"]),
    (CURVES, [0, 1, 3], ["no curves", "one curve", "three curves"]),
    (CURVES, [11, 1200], ["11 curves", "1,200 curves"]),
    (s.percent, [0.8375, 1.0, 0.9996], ["83.8 %", "100.0 %", "> 99.9 %"]),
    (partial(s.percent, up=True), [0.83741], ["83.8 %"]),
    (partial(s.percent, digits=2), [0.99996], ["> 99.99 %"]),
    (s.ratio, [1.2345, 2140.4, 75_550.0, math.inf, math.nan], ["1.24×", "2,150×", "7.6×10⁴", "∞", "–"]),
    (partial(s.ratio, up=False), [1.2345], ["1.23×"]),
    (s.fixed, [-0.5], ["−0.500"]),
    (s.sentence, ["sigma must be > 0, got -1"], ["Sigma must be > 0, got -1."]),
    (s.sentence, ["noise_ratio must be >= 1"], ["noise_ratio must be >= 1."]),
    (s.sentence, ["already a sentence."], ["Already a sentence."]),
    (s.sentence, [""], ["Something about this setting is not possible."]),
]


@pytest.mark.parametrize(("say", "values", "texts"), SAID)
def test_values_are_said_so(say, values, texts):
    assert [say(value) for value in values] == texts


@given(st.floats(min_value=1e-3, max_value=1e6))
def test_epsilon_is_never_rounded_down_and_by_less_than_one_percent(value):
    shown = Decimal(s.epsilon(value).replace(",", ""))
    assert shown == Decimal(repr(s.rounded_up(value, 3)))
    assert Decimal(value) <= shown * (1 + Decimal("1e-15"))
    assert shown <= Decimal(value) * Decimal("1.0101")


@given(st.floats(min_value=1e-300, max_value=0.999))
def test_delta_is_never_rounded_down(value):
    shown = s.delta(value)
    if shown[-1] in SUPERSCRIPTS:
        mantissa, _, power = shown.rpartition("10")
        power = power.translate(str.maketrans(SUPERSCRIPTS, "-0123456789"))
        exact = Decimal(mantissa.rstrip("×") or "1").scaleb(int(power))
    else:
        exact = Decimal(shown)
    assert exact >= Decimal(repr(value))


@pytest.mark.parametrize(
    ("eps", "odds", "chance"),
    [
        (1.0, "2.72 : 1", "73.2 %"),
        (0.0, "1 : 1", "50.0 %"),
        (1.5551, "4.76 : 1", "82.7 %"),  # of the 1.56 on the screen, so that a calculator agrees
        (7.7, "2,210 : 1", "> 99.9 %"),
        (800.0, "over 10⁶ : 1", "> 99.9 %"),
        (math.inf, "any odds", "100 %"),
    ],
)
def test_odds_and_chances_are_those_of_the_epsilon_on_the_screen(eps, odds, chance):
    assert s.odds(eps) == odds
    assert s.chance(eps) == chance


@given(st.floats(min_value=0, max_value=12))
def test_odds_and_chances_are_never_rounded_down(eps):
    assert float(s.odds(eps).removesuffix(" : 1").replace(",", "")) >= math.exp(eps)
    assert s.chance(eps).startswith(">") or float(s.chance(eps).removesuffix(" %")) >= 100 / (1 + math.exp(-eps)) - 1e-9


@pytest.mark.parametrize(
    ("eps", "part"),
    [
        (1.0, "Up to the slack δ = 10⁻⁵, seeing the model turns even odds into at most 2.72 : 1."),
        (0.0, "no event likelier by more than δ = 10⁻⁵"),
        (14.0, "practically certain"),
        (math.inf, "Nothing is proved"),
    ],
)
def test_a_bet_is_one_short_sentence(eps, part):
    said = s.bet(eps, 1e-5)
    assert part in said
    assert "the model" in said
    assert len(said.replace(" = ", "=").replace(" : ", ":").split()) <= 18


@pytest.mark.parametrize("eps", [0.4, math.inf])
def test_a_promise_names_epsilon_delta_adjacency_and_accountant(eps):
    text = s.promise(eps, 1e-6, "the Rényi curve")
    assert "δ = 10⁻⁶" in text
    assert "add or remove one row" in text
    assert "accounted by the Rényi curve" in text
    assert ("ε = 0.4" in text) == math.isfinite(eps)
    assert "; replace one row; " in s.promise(eps, 1e-6, "x", adjacency="replace one row")


def test_bounds_alt_counts_and_ranks():
    text = s.bounds_alt({"A": 1.0, "B": 2.0}, 1e-5)
    assert "two bounds" in text
    assert text.endswith("ε at δ = 10⁻⁵: A 1; B 2.")


def test_logistic_curve_names_both_smoothnesses():
    text = s.logistic_curve(1.0, 0.25, 1.0)
    assert "β = 1" in text
    assert text.endswith("norm at most L = 1 the logistic loss has β = L²/4 = 0.25.")


def test_from_which_epsilon_on_the_tight_bound_is_the_gaussian_mechanisms():
    assert s.exactly_gaussian(0.0).startswith("At every ε, the profile of our theorem is the Gaussian mechanism’s")
    assert s.exactly_gaussian(0.19501).startswith("From ε = 0.196 on, the profile of our theorem is")


def test_what_changed_and_which_way_it_went():
    before, now = (
        SimpleNamespace(sigma=2.5, tilt=False, kind="a", n=10_000),
        SimpleNamespace(sigma=1e-7, tilt=True, kind="b", n=300),
    )
    names = {"sigma": "σ", "tilt": "tilt", "kind": "proof", "n": "n"}
    assert s.shift(s.changed(before, now, names)) == "σ 2.5 → 10⁻⁷, tilt off → on, proof a → b, n 10,000 → 300"
    assert s.course("ε", 1.5551, 2.19) == "ε rises from 1.56 to 2.19"
    assert s.course("δ", 0.1, 1e-5, s.delta) == "δ falls from 0.1 to 10⁻⁵"
    assert s.course("ε", 1.5551, 1.5552) == "ε stays at 1.56"


def test_what_belongs_together_stays_on_one_line():
    together = "ε = 1: 2.7 : 1, 82 % (± 3 %), σ 1 → 2, 10 × 3; a =b"
    assert s.unbroken(together) == (
        "ε\xa0=\xa01: 2.7\xa0:\xa01, 82\xa0% (±\xa03\xa0%), σ 1\xa0→\xa02, 10\xa0×\xa03; a =b"
    )
    assert s.unbroken("δ = 1, the slope $a = b$ is c = 2") == "δ\xa0=\xa01, the slope $a = b$ is c\xa0=\xa02"


# Why ε moved: the sentence agrees with the accountant about what moved, which way, and what decided


HOME = Setting(2.5, 1.0, 0.25, 1.0)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (HOME, ""),
        (Setting(2.5, 10, 0.25, 1), "λ 1 → 10: ε stays at 1.56; the noise alone decides here, not λ."),
        (Setting(2.501, 1, 0.25, 1), "σ 2.5 → 2.501: ε stays at 1.56; a change this small does not show."),
        (Setting(2.5, 1, 2.7, 1), "β 0.25 → 2.7: ε stays at 1.56; our theorem uses the logistic loss’s own β; "),
        (Setting(10, 1, 0.25, 1), "σ 2.5 → 10: ε falls from 1.56 to 0.423; a wider tilt hides"),
        (Setting(0.5, 1, 0.25, 1), "σ 2.5 → 0.5: ε rises from 1.56 to 10; a narrower tilt"),
        (Setting(2.5, 0.1, 0.25, 1), "λ 1 → 0.1: ε rises from 1.56 to 2.19; with less regularisation"),
        (Setting(2.5, 1, 0.25, 2), "L 1 → 2: ε rises from 1.56 to"),
        (Setting(5, 20, 0.25, 2), "σ 2.5 → 5, λ 1 → 20, L 1 → 2: ε stays at 1.56; the noise alone, L/σ, decides."),
        (Setting(5, 0.1, 0.25, 1), "σ 2.5 → 5, λ 1 → 0.1: ε rises from 1.56 to 1.65; the curvature counts as well"),
    ],
)
def test_what_moved_and_why(now, said):
    sentence = moved(HOME, now, 1e-5)
    assert sentence.startswith(said)
    assert bool(sentence) == bool(said)
    if " to " in sentence:
        assert f"to {epsilon(epsilon_at('logistic', now, 1e-5))}" in sentence


def test_at_first_there_is_nothing_to_explain():
    assert moved(None, HOME, 1e-5) == ""


@pytest.mark.parametrize("now", [Setting(200, 1000, 0.25, 1), Setting(100, 2000, 0.25, 1)])
def test_where_the_slack_covers_everything_no_change_shows(now):
    assert moved(Setting(100, 1000, 0.25, 1), now, 0.5).endswith("ε stays at 0; the slack δ alone covers the release.")


def test_another_slack_is_the_same_proof():
    assert reread(HOME, 1e-5, 1e-7).startswith("δ 10⁻⁵ → 10⁻⁷: ε rises from 1.56 to 1.96; the proof is the same")
