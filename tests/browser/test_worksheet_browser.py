"""Worksheets as a printer gets them."""

import re

import pytest

from ui.page import Prediction
from ui.registry import PAGES, ROOMS
from ui.worksheet import Sheet, Task, worksheet

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LINK = "http://127.0.0.1:9/{}?" + "&".join(f"a_control={number}" for number in range(20))
TASKS = [Task("The name of a preset", "One line of help, as long as the longest of them are, and one word more.")] * 8


def test_the_longest_worksheet_fits_two_sheets_and_none_asks_a_host(person):
    page, asked, heights = person, [], {}
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 665, "height": 1000})  # what an A4 sheet has between its margins
    for entry in PAGES:
        predictions = [Prediction.of(entry.name)] if (ROOMS / entry.name / "try.md").exists() else []
        lead = "Three lines of introduction are more than most pages have. " * 5
        reading = entry.about.rpartition("**Reference.**")[2]
        sheet = Sheet(entry.title, entry.question, lead, LINK.format(entry.name), predictions, TASKS, reading)
        text = worksheet(sheet, answers=True).decode()
        page.set_content(text)
        heights[page.evaluate("document.body.scrollHeight")] = text
        assert "*" not in page.inner_text("body").replace("θ*", ""), entry.name  # no Markdown is left over
    page.set_content(heights[max(heights)])
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))
    assert len(sheets) == 3  # two, and the teacher's
    assert asked == []
