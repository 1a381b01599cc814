"""A lesson followed from start to end, on a desk and on a telephone; a picture and its link; a step as a slide."""

import pytest
from playwright.sync_api import expect

from pages.lessons import computed
from tests.browser import checks, fold
from tests.browser.conftest import PHONE, answer, eventually, expect_query, move, query, renew, settle, visit
from ui import lessons, registry

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ONE_FIT, FROM_ZERO = (lessons.catalogue().lessons[name] for name in ("one-fit", "epsilon-from-zero"))


@pytest.mark.parametrize("window", [{"width": 1440, "height": 900}, PHONE], ids=["desk", "phone"])
def test_a_lesson_is_followed_from_start_to_end(open_page, window):
    page = open_page("/")
    page.set_viewport_size(window)
    page.get_by_role("link", name="One fit, 15 minutes").click()
    page.wait_for_url("**/lessons?lesson=one-fit&step=1")
    for number, step in enumerate(ONE_FIT.steps, start=1):
        expect(page.get_by_role("heading", name=f"{number}. {step.title}", exact=True)).to_be_visible()
        settle(page)
        page.wait_for_function("document.querySelector('.stMain').scrollTop === 0")  # one reads from the top
        if step.page:
            look(page, number, step)
        if number == 2:  # the strip has led on
            continue
        for question in step.questions:
            reply(page, question)
        eventually(page, lambda: checks.assert_fits(page))
        if number == 1 and window != PHONE:
            eventually(page, lambda: checks.assert_accessible(page))
        if number < len(ONE_FIT.steps):
            expect_query(page, {"lesson": "one-fit", "step": str(number)})
            page.get_by_role("button", name=f"Next: {ONE_FIT.steps[number].title}").click()
    expect(page.get_by_text("Right: ")).to_have_count(2)


def look(page, number, step):
    """Open the step's page, find the controls and the task there, move a slider, and come back or go on."""
    entry = registry.entry(step.page.name)
    page.get_by_role("link", name=f"Open {entry.title}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(entry.question)
    settle(page)
    there = query(page)
    assert (there.pop("lesson"), there.pop("step")) == ("one-fit", str(number))
    assert there == {key: value for key, (value,) in step.page.query.items()}
    strip = page.locator(".st-key-lesson_strip")
    expect(strip).to_contain_text(f"One fit, step {number} of {len(ONE_FIT.steps)}. {step.page.task}")
    move(page, f"{entry.name}_sigma", "ArrowLeft", f"{entry.name}_sigma=")
    expect(strip).to_be_visible()
    assert query(page)["lesson"] == "one-fit"  # a slider does not lose the way
    eventually(page, lambda: checks.assert_fits(page))
    if number == 3 and page.viewport_size != PHONE:  # there Streamlit's own menu has a list that axe finds fault with
        eventually(page, lambda: checks.assert_accessible(page))
    if number == 2:
        strip.get_by_role("link", name=f"Next: {ONE_FIT.steps[number].title}").click()
        return
    strip.get_by_role("link", name="Back to the lesson").click()
    page.wait_for_url(f"**/lessons?lesson=one-fit&step={number}")
    settle(page)


def reply(page, question):
    """Choose the right option; before that nothing is told."""
    asked = computed.prediction(question)
    box = page.locator(f".st-key-lesson_one-fit_{question.key}")
    expect(box).to_have_count(1)
    expect(page.get_by_text(asked.reason[:30])).to_have_count(0)
    box.get_by_text(asked.options[asked.correct], exact=True).click()
    expect(page.get_by_text(f"Right: {asked.options[asked.correct]}", exact=True)).to_be_visible()
    expect(page.get_by_text(asked.reason[:30])).to_be_visible()


@pytest.mark.parametrize("number", range(1, len(FROM_ZERO.steps) + 1))
def test_text_picture_and_question_share_the_screen(tab, server, number):
    page = visit(renew(tab, fold.DESK), f"{server}/lessons?lesson={FROM_ZERO.name}&step={number}")
    eventually(page, lambda: checks.assert_short(page))
    page.set_viewport_size(fold.LAPTOP)
    settle(page)
    eventually(page, lambda: checks.assert_shares_the_screen(page))
    assert fold.Fold.of(page).question


@pytest.mark.parametrize("lesson", lessons.catalogue().lessons.values(), ids=lambda lesson: lesson.name)
def test_a_lesson_on_slides_ends_in_the_window(tab, server, lesson):
    page = renew(tab, {"width": 960, "height": 540})
    page.goto(f"{server}/lessons?lesson={lesson.name}&embed=true")
    for number, _ in enumerate(lesson.steps, start=1):
        expect(page.locator("[class*=__deck]")).to_contain_text(f"({number}/{len(lesson.steps)})")
        settle(page)
        eventually(page, lambda: ends_in_the_window(page))
        page.keyboard.press("ArrowRight")


def ends_in_the_window(page):
    """The last part of a slide's text, if it shows a text."""
    ends = page.locator(".st-key-slide_text").evaluate_all("e => e.map(e => e.getBoundingClientRect().bottom)")
    assert all(end <= page.viewport_size["height"] for end in ends)


def test_slides_show_text_pictures_and_questions_by_the_arrow_keys(tab, server):
    page = renew(tab)
    page.goto(f"{server}/lessons?lesson=one-fit&embed=true")
    deck = page.locator("[class*=__deck]")
    expect(deck).to_contain_text("Predict (1/6)")
    settle(page)
    page.keyboard.press("ArrowRight")
    expect(deck).to_contain_text("See the noise hide one person (2/6)")
    expect(page.get_by_role("link", name="Open Home")).to_be_visible()

    page.goto(f"{server}/lessons?embed=true")
    expect(answer(page)).to_be_visible()
    settle(page)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("A stricter coin")).to_be_visible()
    expect(answer(page)).to_have_count(0)
    settle(page)
    page.keyboard.press("ArrowRight")
    expect(answer(page)).to_contain_text("with one truth changed")
