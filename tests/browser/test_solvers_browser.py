"""The Solvers page in a browser: its link shows the same elsewhere, with solvers hidden and a preset pressed."""

import pytest

from tests.browser.conftest import chart_data, settle

pytestmark = pytest.mark.browser


def test_presets_pills_and_keyboard_move_the_link_and_it_shows_the_same_elsewhere(open_page, chromium):
    page = open_page("/solvers")
    page.wait_for_selector(".st-key-solvers_growth .plot-container")
    page.get_by_role("button", name="Gradient descent").click()
    page.wait_for_url("**solvers_shown=**")
    settle(page)
    page.get_by_role("button", name="The paper’s τ").click()
    page.wait_for_url("**solvers_tau=0.01**")
    settle(page)
    page.get_by_role("button", name="Gradient descent").click()  # the preset has brought it back
    page.wait_for_url("**solvers_shown=**")
    settle(page)
    page.locator(".st-key-solvers_n input[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**solvers_n=200**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.includes('200 rows')")
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("[data-testid=stPopoverBody] code").inner_text()
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    other = open_page(link, within=stranger)
    for key in ("solvers_chart", "solvers_growth"):
        received = chart_data(other, key)
        assert received == chart_data(page, key)
        assert len(received) == 6
        assert "Gradient descent" not in received
    assert other.locator(".answer").inner_text() == page.locator(".answer").inner_text()
    stranger.close()
