"""Back and forward: what the history of a browser keeps are settings that somebody chose."""

import pytest

from tests.browser.conftest import expect_query, move, press, query, settle, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

JOURNEYS = {  # a slider, where a key leads, a preset, what the address says then, where the key leads then
    "bounds": ("sigma", "5.6", "Figure 1, right", {"sigma": "10", "lambda": "5"}, "11"),
    "distance": ("lambda", "2.2", "Figure 4c", {"sigma": "1", "lambda": "100", "eps_view": "10"}, "110"),
}


@pytest.mark.parametrize("name", JOURNEYS)
def test_a_preset_is_one_entry_of_the_history(name, person, server):
    control, stepped, preset, expected, further = JOURNEYS[name]
    page, key = visit(person, f"{server}/{name}"), f"{name}_{control}"
    move(page, key, "ArrowRight", f"{key}={stepped}")
    before, entries = query(page), page.evaluate("history.length")
    press(page, preset, "?")
    after = {f"{name}_{part}": value for part, value in expected.items()}
    expect_query(page, after)
    assert page.evaluate("history.length") == entries + 1

    page.go_back()
    settle(page)
    expect_query(page, before)
    page.go_forward()
    settle(page)
    expect_query(page, after)
    move(page, key, "ArrowRight", f"{key}={further}")
    page.go_back()
    settle(page)
    expect_query(page, before)  # a step belongs to the entry that it is made in
