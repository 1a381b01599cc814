"""The list of the Composition page: rounded to the safe side, its status in words, its Python the totals shown."""

import math

import pytest

from objpert_core.accounting import ledger as lg
from pages.composition import totals
from pages.composition.listed import Listed, about_events
from pages.composition.totals import Line
from tests.pages.apps import execute, tells


def line(total, *, alone=0.5, added=2.0, renyi=1.5, entry="gauss:20,1"):
    return Line(lg.parse(entry)[0], alone, added, total * 0.999, total, renyi)


def listed(*lines, **asked):
    """A list of which these lines are known."""
    view = Listed(tuple(line.entry for line in lines), 1e-5, 3.0, **asked)
    view.__dict__["lines"] = list(lines)
    return view


def test_answer():
    three = listed(line(1.2, entry="gauss*3:20,1")).answer()
    assert three == "Within budget: three releases cost ε = 1.2; adding up their ε (and their δ) gives 2."
    assert listed(line(3.2)).answer() == "Over budget: one release costs ε = 3.2."
    assert listed().answer() == "Nothing has been released yet: ε = 0."
    assert "Not accounted for: no finite ε is proved for one release" in listed(line(math.inf)).answer()


@pytest.mark.parametrize(
    ("total", "light", "status"),
    [
        (1.0, "Within budget", "33.4 % of the target ε = 3 is used, 2 is left."),
        (2.69999, "Within budget", "90.0 % of the target ε = 3 is used, 0.3 is left."),
        (2.7, "Nearly used up", "90.0 % of the target ε = 3 is used, 0.299 is left."),
        (3.0, "Nearly used up", "100.0 % of the target ε = 3 is used, 0 is left."),
        (3.0001, "Over budget", "Entry 1 (Gaussian release) takes the total past the target ε = 3"),
        (math.inf, "Not accounted for", "Nothing is proved"),
    ],
)
def test_status_is_a_light_in_words(total, light, status):
    assert listed(line(total)).light() == light
    assert listed(line(total)).status().startswith(status)


def test_of_an_empty_list_all_is_left_and_remaining_is_rounded_down_and_excess_up():
    assert (listed().light(), listed().status()) == ("Nothing used", "All of the target ε = 3 is left.")
    remaining = {total: listed().remaining(line(total)) for total in (1.0001, 3.1231, math.inf)}
    assert remaining == {1.0001: "1.99 left", 3.1231: "over by 0.124", math.inf: "nothing proved"}


def test_rows_name_parameters_in_the_pages_symbols(monkeypatch):
    entries = "fit:8,10,1,glm,0.5@Model;cal:1,1e-5;dpsgd:1,0.01,1000;gauss:20,1"
    lines, left = [line(1.0, entry=entry) for entry in entries.split(";")], iter([0, 1, 999, 1000])
    monkeypatch.setattr(totals, "copies_left", lambda *_: next(left))
    rows = listed(*lines, left=True).table()
    assert [row["Release"] for row in rows] == [
        "Model: σ = 8, λ = 10, L = 1, 2023 theorem, β = 0.5",
        "Fit calibrated to (ε, δ): ε = 1, δ = 10⁻⁵, L = 1",
        "DP-SGD run: noise multiplier = 1, q = 0.01, steps = 1,000",
        "Gaussian release: σ = 20, sensitivity = 1",
    ]
    assert [row["Still fits"] for row in rows] == ["none", "1 more", "999 more", "1,000 or more"]
    assert "Still fits" not in listed(*lines).table()[0]
    assert rows[0]["Target ε = 3"] == "2 left"


def test_alt_has_the_end_and_the_light():
    tells(listed(line(1.0), line(3.5)).alt(), "two entries", "3.5 together, 1.5 by Rényi, 2 added up", "Over budget")
    assert "empty" in listed().alt()


def test_events_say_what_is_covered_and_that_it_costs_more():
    assert about_events((), 1.0, 1.0).endswith("The event costs as much as the list.")
    assert about_events((1, 3), 1.2345, 1.0).endswith(
        "Entries 1, 3 have no event: Gaussian noise that covers these entries is written instead, and the event’s "
        "total is ε = 1.24, not 1."
    )


@pytest.mark.slow
def test_the_snippet_prints_the_running_totals():
    view = Listed(lg.parse("fit*3:8,10,1@Models;cal:1,1e-5;gauss:20,1"), 1e-6, 3.0)
    _, printed = execute(view.code())
    for row, known in zip(printed.splitlines(), view.lines, strict=True):
        numbers = [float(v) for v in row.split()[1:]]
        assert numbers == pytest.approx([known.low, known.total, known.renyi, known.added], rel=1e-9)
