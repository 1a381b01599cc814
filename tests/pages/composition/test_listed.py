"""A list of releases and the privacy filter before it: totals are the core's, and words round to the safe side.

Of a file nothing is believed but the entries, δ and the target.
"""

import json
import math

import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from objpert_core.accounting import ledger_file
from pages.composition import gate, totals
from pages.composition.listed import Listed
from pages.composition.totals import WIDTH, Line, down
from tests.pages.apps import execute
from ui.bounds import ORDERS

SMALL = lg.parse("fit*3:8,10,1;cal:1,1e-5;gauss:20,1@Histogram")


@pytest.mark.slow
def test_lines_are_compositions_of_the_prefixes_below_rényi_and_below_the_sum():
    parts = []
    for entry, line in zip(SMALL, totals.totals(SMALL, 1e-6), strict=True):
        parts.append(acc.repeat(entry.mechanism(), entry.count))
        together = acc.compose(*parts)
        low, high = together.epsilon_bounds(1e-6, totals.WIDTH)
        assert line.total == pytest.approx(high, rel=1e-9)
        assert line.low == pytest.approx(low, rel=1e-9)
        assert line.low <= line.total
        assert line.renyi == pytest.approx(acc.rdp_to_epsilon(ORDERS, together.rdp(ORDERS), 1e-6), rel=1e-9)
        assert line.alone == entry.mechanism().epsilon(1e-6)
    last, (first, second, third) = line, [entry.mechanism().epsilon(1e-6) for entry in SMALL]
    assert last.added == pytest.approx(3 * first + second + third)
    assert last.total < min(last.renyi, last.added)


def test_nothing_proved_is_infinite_and_says_why():
    ledger = lg.parse("gauss:20,1;fit:8,0.5,1,glm,1")
    lines = totals.totals(ledger, 1e-5)
    assert math.isfinite(lines[0].total)
    assert math.isinf(lines[1].total)
    assert "λ > β" in totals.reason(ledger)
    assert totals.reason(SMALL) is None


def test_an_empty_list_costs_nothing_and_the_first_entry_over_the_target_is_found():
    assert totals.totals((), 1e-5) == []
    assert totals.overrun([], 3.0) is None
    lines = totals.totals(lg.parse("gauss:20,1;gauss:2,1;gauss:20,1"), 1e-5)
    assert totals.overrun(lines, 1.0) == 1
    assert totals.overrun(lines, lines[-1].total) is None


@pytest.mark.slow
@pytest.mark.parametrize(("target", "text"), [(1.0, "gauss*2:20,1"), (3.0, "fit:8,10,1"), (0.1, "gauss:20,1")])
def test_copies_left_are_the_most_that_fit(target, text):
    ledger = lg.parse(text)
    left = totals.copies_left(ledger, ledger[0], 1e-5, target)

    def total(more):
        return totals.totals((*ledger, *(lg.Entry(ledger[0].kind, ledger[0].values, more),) * (more > 0)), 1e-5)[
            -1
        ].total

    assert left == 0 or total(left) <= target
    assert total(left + 1) > target


def test_copies_left_stop_at_the_most_that_an_entry_may_have():
    ledger = lg.parse("gauss:1e9,1")
    assert totals.copies_left(ledger, ledger[0], 1e-5, 3.0) == 1000


# --- as it is shown ---------------------------------------------------------------------------------------------------


def line(total, *, alone=0.5, added=2.0, renyi=1.5, entry="gauss:20,1"):
    return Line(lg.parse(entry)[0], alone, added, total * 0.999, total, renyi)


def listed(*lines, **asked):
    """A list of which these lines are known."""
    view = Listed(tuple(line.entry for line in lines), 1e-5, 3.0, **asked)
    view.__dict__["lines"] = list(lines)
    return view


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


@pytest.mark.slow
def test_the_snippet_prints_the_running_totals():
    view = Listed(lg.parse("fit*3:8,10,1@Models;cal:1,1e-5;gauss:20,1"), 1e-6, 3.0)
    _, printed = execute(view.code())
    for row, known in zip(printed.splitlines(), view.lines, strict=True):
        numbers = [float(v) for v in row.split()[1:]]
        assert numbers == pytest.approx([known.low, known.total, known.renyi, known.added], rel=1e-9)


# --- as a file -------------------------------------------------------------------------------------------------------


LEDGER = lg.parse("fit*3:8,10,1@Modèles (a, b);gauss:20,1;cal:1,1e-5")
SAVED = Listed(LEDGER, 1e-6, 2.5)


def csv_bytes(view):
    return view.frame().to_csv(index=False, float_format="%.17g", lineterminator="\n").encode()


@pytest.mark.parametrize("content", [csv_bytes(SAVED), SAVED.to_json()])
def test_files_read_back(content):
    assert ledger_file.read(content) == ledger_file.Saved(LEDGER, 1e-6, 2.5)
    again = content if isinstance(content, bytes) else content.encode()
    assert ledger_file.read(b"\xef\xbb\xbf" + again.replace(b"\n", b"\r\n")) == ledger_file.Saved(LEDGER, 1e-6, 2.5)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["csv", "json"])
def test_the_mechanism_column_recomputes_the_running_total(which):
    rows = SAVED.rows() if which == "csv" else json.loads(SAVED.to_json())["entries"]
    parts = []
    for row in rows:
        parts.append(eval(row["mechanism"], {"acc": acc}))
        assert acc.compose(*parts).epsilon_bounds(1e-6, WIDTH)[1] == pytest.approx(row["running_epsilon"], rel=1e-9)


def test_json_has_no_infinity():
    silent = Listed(lg.parse("fit:8,0.5,1,glm,1"), 1e-5, 3.0)
    document = json.loads(silent.to_json(), parse_constant=pytest.fail)
    assert document["entries"][0]["running_epsilon"] is None
    assert document["adjacency"] == "add or remove one row"


def tampered(**changes):
    document = json.loads(SAVED.to_json()) | changes
    return json.dumps(document)


def test_numbers_in_a_file_are_not_believed():
    entries = json.loads(SAVED.to_json())["entries"]
    for entry in entries:
        entry["running_epsilon"], entry["mechanism"] = 0.0, "__import__('os')"
    assert ledger_file.read(tampered(entries=entries)).entries == LEDGER


# --- before a privacy filter ------------------------------------------------------------------------------------------


LIST = lg.parse("gauss:5,1@A;gauss:2,1@Big;gauss*4:20,1@Four;cal:0.5,1e-5@Model")


def test_what_does_not_fit_is_refused_and_a_smaller_one_may_follow():
    at = gate.gate(LIST, 3, 1e-5, 1.0)
    budget = acc.PrivacyFilter.for_target(1.0, 1e-5)
    budget.spend(acc.Gaussian(5.0))
    assert not budget.allows(acc.Gaussian(2.0))
    budget.spend(acc.repeat(acc.Gaussian(20.0), 4))
    last = gate.FITS if at.next.mu <= at.left else gate.TOO_MUCH
    assert [p.state for p in at.passages] == [gate.LET, gate.REFUSED, gate.LET, last]
    assert (at.budget, at.spent, at.left) == (budget.mu, budget.reading, budget.left)
    assert at.epsilon == budget.epsilon(1e-5) <= 1.0
    assert at.passages[2].mu == pytest.approx(0.1)


def test_the_next_release_is_asked_about_and_costs_nothing_yet():
    none, one = gate.gate(LIST, 0, 1e-5, 1.0), gate.gate(LIST, 1, 1e-5, 1.0)
    assert none.spent == 0
    assert none.next.entry.name == "A"
    assert none.next.state == gate.FITS
    assert one.next.entry.name == "Big"
    assert one.next.state == gate.TOO_MUCH
    assert one.passages[2].state == gate.LATER
    assert one.spent == pytest.approx(0.2)
    assert gate.gate(LIST, 20, 1e-5, 1.0).next is None
    assert gate.gate((), 0, 1e-5, 1.0).next is None


def test_a_release_of_which_no_mu_is_known_does_not_pass():
    at = gate.gate(lg.parse("fit:8,0.5,1,glm,1"), 0, 1e-5, 50.0)
    assert at.next.state == gate.TOO_MUCH
    assert math.isinf(at.next.mu)
    assert "no μ is known" in gate.more(at)
    assert gate.gate(lg.parse("fit:8,0.5,1,glm,1"), 1, 1e-5, 50.0).spent == 0


def test_words_are_short_and_rounded_to_the_safe_side():
    at = gate.gate(LIST, 1, 1e-5, 1.0)
    assert gate.answer(at) == f"μ = 0.2 of {down(at.budget)} is spent; the next release does not fit."
    assert float(down(at.budget)) <= at.budget
    assert float(down(at.left)) <= at.left
    for released in range(5):
        assert len(gate.answer(gate.gate(LIST, released, 1e-5, 1.0)).split()) <= 18
    assert "only if you fixed the noise of all releases beforehand" in gate.reading(at, 1e-5)
    assert "chosen after seeing earlier ones" in gate.promise(1e-5, 1.0)
    assert "did not fit and must not be released" in gate.more(gate.gate(LIST, 2, 1e-5, 1.0))


@pytest.mark.parametrize("released", [0, 2, 4])
def test_the_snippet_is_the_same_filter(released):
    at = gate.gate(LIST, released, 1e-5, 1.0)
    names, printed = execute(gate.snippet(LIST, released, delta=1e-5, target=1.0))
    first, *then = printed.splitlines()
    assert [float(v) for v in first.split()] == [at.budget, at.spent, at.left, at.epsilon]
    assert then == ([] if at.next is None else [str(at.next.state == gate.FITS)])
    assert names["budget"].mu == at.budget
