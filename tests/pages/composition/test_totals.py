"""Running totals are the core's compositions of the prefixes; order and grouping change nothing at the end."""

import math

import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from pages.composition import totals as lt
from ui.bounds import ORDERS

SMALL = lg.parse("fit*3:8,10,1;cal:1,1e-5;gauss:20,1@Histogram")


@pytest.mark.slow
def test_lines_are_compositions_of_the_prefixes_below_rényi_and_below_the_sum():
    parts = []
    for entry, line in zip(SMALL, lt.totals(SMALL, 1e-6), strict=True):
        parts.append(acc.repeat(entry.mechanism(), entry.count))
        together = acc.compose(*parts)
        low, high = together.epsilon_bounds(1e-6, lt.WIDTH)
        assert line.total == pytest.approx(high, rel=1e-9)
        assert line.low == pytest.approx(low, rel=1e-9)
        assert line.low <= line.total
        assert line.renyi == pytest.approx(acc.rdp_to_epsilon(ORDERS, together.rdp(ORDERS), 1e-6), rel=1e-9)
        assert line.alone == entry.mechanism().epsilon(1e-6)
    last, (first, second, third) = line, [entry.mechanism().epsilon(1e-6) for entry in SMALL]
    assert last.added == pytest.approx(3 * first + second + third)
    assert last.total < min(last.renyi, last.added)


def test_gaussians_compose_as_their_closed_form_says():
    lines = lt.totals(lg.parse("gauss*4:20,1;gauss:10,1"), 1e-5)
    assert lines[0].total == pytest.approx(acc.Gaussian(10.0).epsilon(1e-5), rel=1e-9)
    assert lines[1].total == pytest.approx(acc.Gaussian(10.0 / math.sqrt(2)).epsilon(1e-5), rel=1e-9)


@pytest.mark.slow
def test_neither_order_nor_grouping_moves_the_end():
    one = lt.totals(lg.parse("fit*2:8,10,1;gauss:20,1;fit:8,10,1"), 1e-5)[-1]
    other = lt.totals(lg.parse("gauss:20,1;fit*3:8,10,1"), 1e-5)[-1]
    assert (one.low, one.total, one.renyi) == (other.low, other.total, other.renyi)


def test_nothing_proved_is_infinite_and_says_why():
    ledger = lg.parse("gauss:20,1;fit:8,0.5,1,glm,1")
    lines = lt.totals(ledger, 1e-5)
    assert math.isfinite(lines[0].total)
    assert math.isinf(lines[1].total)
    assert "λ > β" in lt.reason(ledger)
    assert lt.reason(SMALL) is None


def test_an_empty_list_costs_nothing_and_the_first_entry_over_the_target_is_found():
    assert lt.totals((), 1e-5) == []
    assert lt.overrun([], 3.0) is None
    lines = lt.totals(lg.parse("gauss:20,1;gauss:2,1;gauss:20,1"), 1e-5)
    assert lt.overrun(lines, 1.0) == 1
    assert lt.overrun(lines, lines[-1].total) is None


@pytest.mark.slow
@pytest.mark.parametrize(("target", "text"), [(1.0, "gauss*2:20,1"), (3.0, "fit:8,10,1"), (0.1, "gauss:20,1")])
def test_copies_left_are_the_most_that_fit(target, text):
    ledger = lg.parse(text)
    left = lt.copies_left(ledger, ledger[0], 1e-5, target)

    def total(more):
        return lt.totals((*ledger, *(lg.Entry(ledger[0].kind, ledger[0].values, more),) * (more > 0)), 1e-5)[-1].total

    assert left == 0 or total(left) <= target
    assert total(left + 1) > target


def test_copies_left_stop_at_the_most_that_an_entry_may_have():
    ledger = lg.parse("gauss:1e9,1")
    assert lt.copies_left(ledger, ledger[0], 1e-5, 3.0) == 1000
