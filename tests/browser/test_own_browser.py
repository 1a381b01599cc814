"""Your own data in a browser: tables of other programs are fitted, bad ones refused, and nothing of them stays."""

import re
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from objpert_core.datasets import TableSchema
from pages.own import form
from tests.browser import checks, fold
from tests.browser.conftest import (
    DESK,
    PHONE,
    answer,
    downloaded,
    eventually,
    expect_query,
    press,
    renew,
    serve,
    settle,
    visit,
)
from tests.browser.own_table import field, fit, hand_in, load, type_down
from tests.datasets.tables.fixtures import BAD, FILES, GOOD, SCHEMA, cells

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OF_PROGRAMS = ("excel_german_utf8.csv", "r_write_csv.csv", "google_sheets_german.csv")
REFUSED_AT_ONCE = ["no bytes", "a workbook", "no delimiter", "a short row", "no closing quotation mark"]
REFUSED_AT_ONCE += ["a million columns"]
REFUSED_BY_FIT = ("another target", "a formula", "not available", "one class")
CANARY = "Zaphod-4711"
LINES = Path(form.__file__).with_name("lines.js")


@contextmanager
def watched(folder):
    """A server of its own whose log and temporary files are in `folder`: its address."""
    (folder / "tmp").mkdir()
    with (folder / "log").open("w") as log, serve(log, TMPDIR=str(folder / "tmp"), HOME=str(folder)) as address:
        yield address


def holds(server, some):
    """The server's memory holds files that were handed in, or none; its figures are those of the last five seconds."""
    with urllib.request.urlopen(f"{server}/_stcore/metrics") as answered:
        assert ("UploadedFileManager" in answered.read().decode()) is some


def refusal(page):
    return page.get_by_test_id("stAlertContentError").first


def test_tables_of_other_programs_are_fitted_bad_ones_refused_and_nothing_stays(tab, tmp_path):
    with watched(tmp_path) as server:
        page = visit(renew(tab), f"{server}/own")
        hand_in(page, (FILES / OF_PROGRAMS[0]).read_bytes(), OF_PROGRAMS[0])  # the example's page takes it, too
        expect(answer(page)).to_have_text("Nothing about your table is released yet.")
        page.get_by_text("Save or load your entries").click()
        for count, name in enumerate(OF_PROGRAMS, 1):
            hand_in(page, (FILES / name).read_bytes(), name)
            load(page, GOOD[name].schema)
            fit(page)
            told = "One release" if count == 1 else f"{('Two', 'Three')[count - 2]} releases"
            expect(answer(page)).to_contain_text(f"{told} of your data")
            expect(refusal(page)).to_have_count(0)
            expect(page.locator(".st-key-own_chart .js-plotly-plot")).to_be_visible()  # and not 0 px high

        for name in REFUSED_AT_ONCE:
            hand_in(page, BAD[name].content)
            expect(refusal(page)).to_contain_text(BAD[name].sentence)
        hand_in(page, cells())
        load(page, SCHEMA)
        for name in REFUSED_BY_FIT:
            hand_in(page, BAD[name].content)
            fit(page)
            expect(refusal(page)).to_contain_text(BAD[name].sentence)
        hand_in(page, cells(moved=CANARY), f"{CANARY}.csv")
        fit(page)
        expect(refusal(page)).to_contain_text(f"Row 3, column “moved” must hold one of “no”, “yes”, got “{CANARY}”")
        expect(answer(page)).to_contain_text("Three releases")  # a refusal is none

        expect_query(page, {"own_table": "your own file"})
        eventually(page, lambda: holds(server, True))
        page.locator("header").get_by_text("Learn", exact=True).click()
        page.get_by_role("menuitem", name="Home").click()
        page.get_by_role("heading", name="How can one fit hide one person?").wait_for()
        eventually(page, lambda: holds(server, False))
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert tmp_path / "log" in left
    for path in left:
        assert CANARY.encode() not in path.read_bytes(), path
        assert CANARY not in path.name
    assert "Traceback" not in (tmp_path / "log").read_text()


MEASURES = ("age", "BMI", "BP", "S1", "S2", "S3", "S4", "S5", "S6", "progress")
SOME_MISSING = ",".join(MEASURES) + "\n" + ",".join("5" * 10) + "\n,,," + ",".join("6" * 7) + "\n"
SPEEDS = (0.1, 0.45, 1.0)


def types_all(page, server, seconds):
    """Type ten lines by keyboard, press Fit, type on while it runs, press again, be refused, and type on."""
    page = visit(renew(page), f"{server}/own?own_table=your+own+file&own_kind=straight+lines")
    hand_in(page, SOME_MISSING.encode())
    roles = [form.NUMBER] * 9 + [form.TARGET_NUMBER]
    columns = {"Role": roles, "Lowest": ["0"] * 10, "Highest": [f"{100 + place}" for place in range(10)]}
    for label, texts in columns.items():
        type_down(page, "age", label, texts, seconds)
    button = page.locator(".st-key-own_fit button")
    expect(button).to_be_enabled()
    button.click()
    type_down(page, "age", "If missing", ["50"], seconds)
    fit(page)
    expect(refusal(page)).to_contain_text("is empty, and no value is given that replaces")
    type_down(page, "BMI", "If missing", ["51", "52"], seconds)
    type_down(page, "BMI", "Written as", ["kg"], seconds)
    return columns | {"If missing": ["50", "51", "52", *[""] * 7], "Written as": ["", "kg", *[""] * 8]}


def expect_lines(page, columns):
    for label, texts in columns.items():
        for column, text in zip(MEASURES, texts, strict=True):
            expect(field(page, column, label)).to_have_value(text)


def test_nothing_typed_is_lost_after_a_refusal(tab, server):
    columns = types_all(tab, server, SPEEDS[0])
    expect_lines(tab, columns)
    tab.get_by_text("Save or load your entries").click()
    file = downloaded(tab, tab.get_by_role("button", name="Save the schema"))  # what the script knows
    lines = form.of_schema(TableSchema.from_json(file.path().read_text()))
    assert [lines[name].high for name in MEASURES] == columns["Highest"]
    assert [lines[name].missing for name in MEASURES] == columns["If missing"]


def test_lines_of_a_lost_session_are_not_those_of_the_next_sessions_table(tab):
    """Versions begin again with each session, in the same page; a hostile column's name is a text."""
    page = renew(tab)
    page.goto("about:blank")
    shown = page.evaluate(
        """async ([code, names]) => {
            const lines = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })))
            return names.map((column) => {
                const parentElement = document.body.appendChild(document.createElement("div"))
                const data = { version: 0, fields: [], rows: [{ column }] }
                lines.default({ parentElement, data, setStateValue: () => {} })
                return parentElement.querySelector("tbody").textContent
            })
        }""",
        [LINES.read_text(encoding="utf-8"), names := ["age", "<img src=x onerror=document.title=1>"]],
    )
    assert (shown, page.title()) == (names, "")


def test_lines_are_pasted_from_a_spreadsheet_on_a_desk_and_everybody_can_use_them(tab, server):
    page = visit(renew(tab), f"{server}/own?own_table=your+own+file")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    hand_in(page, (FILES / "pandas_to_csv.csv").read_bytes(), "people.csv")
    lines = form.of_schema(GOOD["pandas_to_csv.csv"].schema)
    names = ["age", "weekly hours", "job", "member", "rent", "moved"]
    expect(page.locator(".own-lines tbody th")).to_have_text(names)
    eventually(page, lambda: is_short(page))
    known = [lines.get(name, form.Line(name)) for name in names]
    texts = "\n".join("\t".join([line.role, line.low, line.high, line.categories, line.missing]) for line in known)
    page.evaluate("text => navigator.clipboard.writeText(text)", texts)
    field(page, "age", "Role").focus()
    page.keyboard.press("ControlOrMeta+v")
    expect(answer(page)).to_have_text("Nothing about your table is released until you press Fit.")
    eventually(page, lambda: checks.assert_accessible(page, but=checks.PLACE_FOR_FILES))
    for window in (DESK, PHONE):
        page.set_viewport_size(window)
        settle(page)
        eventually(page, lambda: checks.assert_fits(page))
    fit(page)
    expect(answer(page)).to_have_text(re.compile("One release of your data costs ε.=.1."))
    page.set_viewport_size(DESK)
    settle(page)
    eventually(page, lambda: is_short(page))
    for label, name in (("Model", "model.json"), ("Certificate", "certificate.json")):
        button = page.locator(".st-key-stage__panel").get_by_role("button", name=label, exact=True)
        eventually(page, lambda button=button: is_in_sight(page, button))
        assert downloaded(page, button).suggested_filename == name

    page.get_by_role("button", name="Examples").click()
    press(page, "An example: a number", "number")
    expect(page.get_by_text("people.csv")).to_have_count(0)
    press(page, "Your own file", "own_table=your+own+file")
    expect(answer(page)).to_have_text(re.compile("One release of your data costs ε.=.1."))
    expect(page.get_by_text("Next: upload your table.")).to_be_visible()


def is_short(page):
    """It has few words before the first scroll."""
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
    assert fold.Fold.of(page).words <= fold.MOST_WORDS


def is_in_sight(page, part):
    """It is seen before the first scroll."""
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
    box = part.bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]
