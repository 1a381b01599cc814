"""Sentences and charts follow what is pressed, moved by keyboard and typed; each page's own cases."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    answer,
    chart_data,
    expect_chart,
    expect_query,
    expect_rest,
    move,
    press,
    query,
    visit,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FEW_DRAWS = "/planner?planner_bound=Logistic+(tight)&planner_rows=700&planner_features=5&planner_draws=2"


def test_arrow_keys_move_the_point_along_the_frontier(open_page):
    page = open_page("/planner")
    before = chart_data(page, "planner_frontier")
    for f in ("1.35", "1.4"):
        move(page, "planner_f", "ArrowRight", f"planner_f={f}")
    expect(page.locator(".answer-why")).to_contain_text("f 1.35 → 1.4: λ falls")
    expect_chart(page, "planner_frontier", lambda drawn: "your point, f = 1.4" in drawn)
    expect_chart(page, "planner_excess", lambda drawn: drawn["your point, f = 1.4"][0] == [1.4])
    after = chart_data(page, "planner_frontier")
    (f,), (lam,) = after["your point, f = 1.4"]
    assert f == 1.4
    assert lam < before["your point, f = 1.3"][1][0]
    curve = dict(zip(*after["2023 theorem, Rényi"], strict=True))
    assert curve[1.4] == lam


def test_a_planners_sample_arrives_without_another_click_and_the_timer_ends(open_page):
    page = open_page(FEW_DRAWS)
    page.get_by_role("button", name="Sample rows").click()
    expect(page.get_by_text(re.compile("trains best along this frontier")).first).to_be_visible()
    expect(page.locator(".st-key-planner_stop")).to_have_count(0)
    expect_chart(page, "planner_excess", lambda drawn: len(drawn["sampled, Our theorem"][0]) == 8)
    expect_rest(page)


def test_the_slider_of_the_dimension_view_works_by_keyboard(open_page):
    page = open_page("/losses?losses_show=" + quote("Without GLM structure"))
    expect(answer(page)).not_to_contain_text("200 parameters")
    move(page, "losses_d", "ArrowRight", "losses_d=200")
    expect(answer(page)).to_contain_text("200 parameters")


def test_a_point_is_moved_by_keyboard_and_the_list_is_in_the_address(open_page):
    page = open_page("/ptr")
    page.locator("summary", has_text="View").click()
    move(page, "ptr__place", "ArrowRight", "ptr_points=0.13")
    expect_chart(page, "ptr_chart", lambda drawn: 0.13 in drawn["points (secret)"][0])


def test_the_side_alone_passes_where_the_number_does_not(open_page):
    page = open_page("/ptr")
    page.get_by_role("button", name="Throwing away hides").click()
    expect(answer(page)).to_contain_text("needs ε = 3.5, but publishing “above ½ or not” needs 0. Allowed: 0.5.")
    expect(page.get_by_text("This run passes and publishes “not above ½”")).to_be_visible()
    press(page, "ε rises with the gap", "ptr_view=", more=True)
    expect(answer(page)).to_contain_text("9.91 without slack δ")


@pytest.mark.parametrize("view", ["A vote", "Many teachers vote", "Does asking first pay?"])
def test_nonsense_does_no_harm_to_another_picture(open_page, view):
    page = open_page(f"/ptr?ptr_view={quote(view)}&ptr_epsilon=1e999&ptr_points=%00,&ptr_gap=nan&ptr_teachers=-1")
    expect(answer(page)).not_to_be_empty()
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    assert query(page) == {"ptr_view": view}


def test_with_the_tilt_switched_on_the_true_delta_is_back_under_the_promise(open_page):
    page = open_page("/quadratic?quadratic_view=" + quote("Two records disagree"))
    expect(answer(page)).to_contain_text("the promise breaks")
    page.get_by_text("Add a tilt, clip residuals to 1").click()
    expect(answer(page)).to_contain_text("holds")

    def below(drawn):
        values = [y for y in drawn["true δ, bend and tilt"][1] if y == y]  # gaps are not numbers
        return 0 < max(values) < drawn["promised δ"][1][0]

    expect_chart(page, "quadratic_labels_chart", below)


def test_a_preset_and_a_key_move_the_curve_of_one_fit_alone(open_page):
    page = open_page("/renyi")
    before = chart_data(page, "renyi_chart")
    press(page, "Our theorem: no price", "renyi_bound=")
    move(page, "renyi_noise", "ArrowRight", "renyi_noise=2.")
    expect_chart(page, "renyi_chart", lambda after: after["One fit"] != before["One fit"])
    expect_chart(page, "renyi_chart", lambda after: after["Gaussian"] == before["Gaussian"])
    expect(page.get_by_role("figure", name="Rényi divergence")).to_have_count(1)


def test_the_keyboard_moves_the_grid_size_and_what_each_run_must_be_opens(open_page):
    page = open_page("/tuning")
    before = chart_data(page, "tuning_chart")
    move(page, "tuning_settings", "ArrowRight", "tuning_settings=14")
    expect(answer(page)).to_contain_text("If you ignore the choice among 14 settings")
    assert chart_data(page, "tuning_chart") == before
    needs = page.get_by_text("times the noise: a noise multiplier")
    expect(needs).to_have_count(0)
    page.get_by_text("What is left for each run?").click()
    expect(needs).to_be_visible()
    expect_query(page, {"tuning_settings": "14", "tuning_afford": "true"})
    visit(page, page.url)  # open from the start where the address says so
    expect(needs).to_have_count(1)
    page.get_by_role("link", name="Live training: what one fit without tuning reaches").click()
    page.wait_for_url("**/training**")
