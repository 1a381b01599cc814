"""The Composition page's sentences: from computed numbers, rounded to the safe side, status in words."""

import math
from dataclasses import replace

import pytest

from objpert_core.accounting import ledger as lg
from pages.composition import words as text
from pages.composition.numbers import BOUNDS, Asked, Fit, Reading
from pages.composition.totals import Line
from tests.pages.apps import tells


def line(total, *, alone=0.5, added=2.0, renyi=1.5, entry="gauss:20,1"):
    return Line(lg.parse(entry)[0], alone, added, total * 0.999, total, renyi)


def reading(k=10, low=1.92, epsilon=1.93, renyi=2.1, added=5.6, share=0.004):
    return Reading(k, low, epsilon, renyi, added, share)


@pytest.mark.parametrize(
    ("k", "total", "one", "told"),
    [
        (10, 1.9301, 0.5601, "Ten fits cost ε = 1.94 at δ = 10⁻⁵, not 10 × 0.561 = 5.61."),
        (1000, 223.0, 0.562, "1,000 fits cost ε = 223 at δ = 10⁻⁵, not 1,000 × 0.562 = 562."),
        (1, 0.5, 0.5, "One fit costs ε = 0.5 at δ = 10⁻⁵."),
        (2, 1.0, 0.5, "Two fits cost ε = 1 at δ = 10⁻⁵; adding up gives no more, but at 2 × δ only."),
        (2, math.inf, math.inf, "No bound proves a finite ε for two fits at δ = 10⁻⁵ with this setting."),
        (3, 0.01, 0.0, "Three fits cost ε = 0.01 at δ = 10⁻⁵."),
    ],
)
def test_answer_compares_with_the_product_where_it_may(k, total, one, told):
    assert text.answer(k, total, one, 1e-5) == told


FIT = Fit(8.0, 10.0, 1.0, 1.0, "glm")
BEFORE = Asked(FIT, (1, 10), 1e-5)


@pytest.mark.parametrize(
    ("now", "then", "total", "told"),
    [
        (BEFORE, 3.14, 3.14, ""),
        (replace(BEFORE, counts=(1, 100)), 3.14, 24.4, "k 10 → 100: ε rises from 3.14 to 24.4; 10 times the fits cost"),
        (replace(BEFORE, fit=replace(FIT, sigma=16.0)), 3.14, 2.1, "falls from 3.14 to 2.1; every fit is noisier."),
        (replace(BEFORE, fit=replace(FIT, lam=5.0)), 3.14, 4.0, "shows more of one person’s curvature."),
        (replace(BEFORE, delta=1e-6), 3.14, 3.5, "rises from 3.14 to 3.5; the promise allows less slack."),
        (replace(BEFORE, fit=replace(FIT, bound="logistic", smoothness=2.0)), 3.14, 2.0, "another proof speaks."),
        (replace(BEFORE, fit=replace(FIT, lam=20.0)), 3.14, 3.14, "ε stays at 3.14; λ does not count here."),
        (replace(BEFORE, fit=replace(FIT, lam=0.5)), 3.14, math.inf, "λ 10 → 0.5: ε rises from 3.14 to ∞."),
        (replace(BEFORE, fit=replace(FIT, lam=5.0), delta=1e-6), 3.14, 5.0, "δ 10⁻⁵ → 10⁻⁶: ε rises from 3.14 to 5."),
    ],
)
def test_why_names_the_change_and_its_reason(now, then, total, told):
    found = text.why(BEFORE, now, then, total)
    assert told in found
    assert bool(told) == bool(found)


def test_band_says_its_width_and_that_it_cannot_be_seen():
    told = text.band(reading(low=1.9299, epsilon=1.93))
    assert "5.2×10⁻⁵ of ε for ten fits, thinner than its line." in told
    assert "thinner" not in text.band(reading(low=1.8))
    assert text.band(reading(epsilon=math.inf)) == ""
    assert set(text.ACCOUNTANTS) == set(BOUNDS.values())


def test_alts_name_every_curve():
    found = [reading(k=1, epsilon=0.5, renyi=0.6), reading(k=2, epsilon=math.inf, renyi=math.inf, share=math.nan)]
    assert "one fit 0.5, by Rényi 0.6; two fits nothing proved" in text.profiles_alt(found, 1e-5)
    assert "one fit 0.4 %" in text.widths_alt(found)
    assert "nothing is proved" in text.widths_alt(found[1:])


def test_ledger_answer():
    three = line(1.2, entry="gauss*3:20,1")
    told = "Within budget: three releases cost ε = 1.2; adding up their ε, and their δ, says 2."
    assert text.ledger_answer([three], "Within budget") == told
    assert text.ledger_answer([line(1.2)], "Over budget") == "Over budget: one release costs ε = 1.2."
    assert text.ledger_answer([], "Nothing used") == "Nothing has been released yet: ε = 0."
    assert "no finite ε is proved for one release" in text.ledger_answer([line(math.inf)], "Not accounted for")


@pytest.mark.parametrize(
    ("total", "light", "told"),
    [
        (1.0, "Within budget", "33.4 % of the target ε = 3 is used, 2 is left."),
        (2.69999, "Within budget", "90.0 % of the target ε = 3 is used, 0.3 is left."),
        (2.7, "Nearly used up", "90.0 % of the target ε = 3 is used, 0.299 is left."),
        (3.0, "Nearly used up", "100.0 % of the target ε = 3 is used, 0 is left."),
        (3.0001, "Over budget", "Entry 1 (Gaussian release) takes the total past the target ε = 3"),
        (math.inf, "Not accounted for", "Nothing is proved"),
    ],
)
def test_status_is_a_light_in_words(total, light, told):
    assert text.status([line(total)], 3.0)[0] == light
    assert text.status([line(total)], 3.0)[1].startswith(told)


def test_of_an_empty_list_all_is_left_and_remaining_is_rounded_down_and_excess_up():
    assert text.status([], 3.0) == ("Nothing used", "All of the target ε = 3 is left.")
    assert text.remaining(line(1.0001), 3.0) == "1.99 left"
    assert text.remaining(line(3.1231), 3.0) == "over by 0.124"
    assert text.remaining(line(math.inf), 3.0) == "nothing proved"


def test_rows_name_parameters_in_the_pages_symbols():
    entries = "fit:8,10,1,glm,0.5@Model;cal:1,1e-5;dpsgd:1,0.01,1000;gauss:20,1"
    lines = [line(1.0, entry=entry) for entry in entries.split(";")]
    rows = text.ledger_rows(lines, 1e-5, 3.0, [0, 1, 999, 1000])
    assert [row["Release"] for row in rows] == [
        "Model: σ = 8, λ = 10, L = 1, Theorem 3.1, β = 0.5",
        "Fit calibrated to (ε, δ): ε = 1, δ = 10⁻⁵, L = 1",
        "DP-SGD run: noise multiplier = 1, q = 0.01, steps = 1,000",
        "Gaussian release: σ = 20, sensitivity = 1",
    ]
    assert [row["Still fits"] for row in rows] == ["none", "1 more", "999 more", "1,000 or more"]
    assert "Still fits" not in text.ledger_rows(lines, 1e-5, 3.0)[0]
    assert rows[0]["Target ε = 3"] == "2 left"


def test_ledger_alt_has_the_end_and_the_light():
    alt = text.ledger_alt([line(1.0), line(3.5)], 1e-5, 3.0)
    tells(alt, "two entries", "3.5 together, 1.5 by Rényi, 2 added up", "Over budget")
    assert "empty" in text.ledger_alt([], 1e-5, 3.0)


def test_events_say_what_is_covered_and_that_it_costs_more():
    assert text.events((), 1.0, 1.0).endswith("It costs what the list costs.")
    said = text.events((1, 3), 1.2345, 1.0)
    assert said.endswith(
        "Entries 1, 3 have none: Gaussian noise that covers them is written instead, and the total there is "
        "ε = 1.24, not 1."
    )
