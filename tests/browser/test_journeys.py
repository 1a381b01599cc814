"""What somebody does on a page is in its address, and its link shows a stranger's telephone the same."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import answer, copied_link, expect_chart, expect_same, move, press, query

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Journey(NamedTuple):
    """A page, what is done there (how, with what, what the address then says), and what there is to see."""

    start: str
    steps: list[tuple[Callable, str, *tuple[str, ...]]]
    charts: dict[str, Callable[[dict], bool]]
    says: str = ""
    holds: dict[str, str] | None = None  # all of the address in the end; "" is any value


def choose(page, text: str, address: str) -> None:
    """Click on one of several words that stand side by side."""
    page.get_by_text(text, exact=True).first.click()
    page.wait_for_url(f"**{address}**")


def unfold(page, summary: str, _address: str) -> None:
    """Open what is folded away, which is in no address."""
    page.locator("summary", has_text=summary).click()


def without_gradient_descent(drawn: dict) -> bool:
    return len(drawn) == 6 and "Gradient descent" not in drawn


JOURNEYS = {
    "bounds": Journey(
        "/bounds",
        [(press, "Figure 1, right", "bounds_lambda=5"), (choose, "Attacker’s errors", "bounds_show=")],
        {"bounds_errors": lambda drawn: len(drawn) == 6},
        holds={"bounds_sigma": "10", "bounds_lambda": "5", "bounds_show": "Attacker’s errors"},
    ),
    "renyi": Journey(
        "/renyi?renyi_steps=1000&renyi_epsilon=0.5",
        [(press, "Match both at ε = 0.5, δ = 10⁻⁵", "renyi_noise=")],
        {"renyi_chart": lambda drawn: len(drawn) >= 5, "renyi_promises": lambda drawn: len(drawn) >= 4},
        says="about the same",
        holds=dict.fromkeys([f"renyi_{name}" for name in ("sigma", "lambda", "noise", "steps", "epsilon")], ""),
    ),
    "solvers": Journey(
        "/solvers",
        [
            (unfold, "View", ""),
            (press, "Gradient descent", "solvers_shown="),
            (press, "Stop early, cheaper", "solvers_tau=0.01"),
            (press, "Gradient descent", "solvers_shown="),  # the preset has brought it back
            (move, "solvers_n", "ArrowLeft", "solvers_n=200"),
        ],
        {"solvers_chart": without_gradient_descent, "solvers_growth": without_gradient_descent},
        says="visits each row",
    ),
}


@pytest.mark.parametrize("name", JOURNEYS)
def test_what_is_done_is_in_the_link_and_the_link_shows_it_elsewhere(open_page, open_elsewhere, name):
    journey = JOURNEYS[name]
    page = open_page(journey.start)
    for do, *what in journey.steps:
        do(page, *what)
    expect(answer(page)).to_contain_text(journey.says)
    assert all(address in page.url for *_, address in journey.steps)  # no step has taken back another
    if journey.holds is not None:
        held = query(page)
        assert {key: held[key] if value else "" for key, value in journey.holds.items()} == journey.holds
        assert held.keys() == journey.holds.keys()
    for key, is_so in journey.charts.items():
        expect_chart(page, key, is_so)
    for address in (copied_link(page), page.url):
        expect_same(open_elsewhere(address, color_scheme="dark"), page, *journey.charts)
