"""Streamlit Community Cloud, as far as it can be had here: its forced settings, and what it reads of the checkout."""

import json
import re
import tomllib

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_client import start_server
from deploy.settings import ROOT
from tests.browser.conftest import TIMEOUT, answer, expect_query, visit
from tests.browser.own_table import fit, hand_in, load
from tests.datasets.tables.fixtures import SCHEMA, cells

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
LINES = [
    line.split("=", 1)
    for line in (ROOT / "deploy" / "cloud.env").read_text().splitlines()
    if "=" in line and line[0] != "#"
]
FORCED = {name: json.loads(value) for name, value in LINES}
GUIDE = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
STATISTICS = "https://data.streamlit.io/metrics.json"
COLLECTOR = "https://collector.example.org/track"
CANARY = "Zaphod-4711"
FAILS = """
if __name__ == "__main__" and "fail" in st.query_params:
    raise RuntimeError("Zaphod-4711")
"""


def option(variable):
    """The name in config.toml of an option that a variable of the environment sets."""
    section, _, rest = variable.removeprefix("STREAMLIT_").lower().partition("_")
    return section, re.sub(r"_(.)", lambda found: found[1].upper(), rest)


def test_the_page_names_each_forced_setting_beside_ours():
    text = GUIDE[GUIDE.index("## Streamlit Community Cloud") :]
    told = re.findall(r"^\| `(\w+)\.(\w+)` \| (\S+) \| (\S+) \|", text, re.MULTILINE)
    expected = []
    for variable, value in FORCED.items():
        section, name = option(variable)
        own = CONFIG.get(section, {}).get(name)
        expected.append((section, name, "–" if own is None else json.dumps(own).strip('"'), json.dumps(value)))
    assert sorted(told) == sorted(expected)


def test_the_checkout_has_what_is_looked_for_and_nothing_that_would_come_first():
    for name in ("app.py", "requirements.txt", ".streamlit/config.toml"):
        assert (ROOT / name).is_file()
    for name in ("uv.lock", "Pipfile", "environment.yml", "packages.txt", ".streamlit/secrets.toml"):
        assert not (ROOT / name).exists(), name


@pytest.mark.slow
@pytest.mark.browser
def test_home_a_page_a_table_and_an_error_under_the_forced_settings(person, tmp_path, monkeypatch):
    """The app itself, but that one address makes it fail. What it sends to others is caught here."""
    (tmp_path / "app.py").write_text((ROOT / "app.py").read_text(encoding="utf-8") + FAILS, encoding="utf-8")
    for name in ("objpert_core", "pages", "ui"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, value in LINES:
        monkeypatch.setenv(name, value)
    process, address = start_server(tmp_path / "app.py")
    sent, page = [], person
    try:
        page.context.route(
            re.compile("^https://"),
            lambda route: (
                sent.append((route.request.url, route.request.post_data or "")),
                route.fulfill(json={"url": COLLECTOR}, headers={"Access-Control-Allow-Origin": "*"}),
            ),
        )
        visit(page, f"http://{address}/")
        visit(page, f"http://{address}/bounds?bounds_sigma=10&bounds_lambda=24")
        said = answer(page).inner_text()
        slider = page.locator(".st-key-bounds_lambda input[type=range]")
        slider.focus()
        slider.press("ArrowLeft")
        expect(answer(page)).not_to_have_text(said)
        page.get_by_role("button", name="Share").click()
        expect(page.get_by_text("This host sends addresses to Streamlit’s statistics")).to_be_visible()

        visit(page, f"http://{address}/own?own_table=your+own+file")
        page.get_by_text("Save or load your entries").click()
        hand_in(page, cells(), f"{CANARY}.csv")
        load(page, SCHEMA)
        fit(page)
        expect(answer(page)).to_contain_text("One release of your data")
        expect_query(page, {"own_table": "your own file"})

        page.goto(f"http://{address}/?fail=1")
        failed = page.get_by_test_id("stException")
        expect(failed).to_contain_text("This app has encountered an error.")
        for detail in ("RuntimeError", "app.py", "Traceback", CANARY):
            expect(failed).not_to_contain_text(detail)
    finally:
        page.goto("about:blank")
        process.terminate()
        process.wait(TIMEOUT)

    assert {url for url, _ in sent} == {STATISTICS, COLLECTOR}  # Streamlit's own, and no others
    events = [json.loads(body) for url, body in sent if url == COLLECTOR]
    assert any("bounds_lambda=24" in event["contextPageUrl"] for event in events)  # as the page warns
    table = [cell for line in cells().decode().splitlines()[1:] for cell in line.split(",") if len(cell) > 3]
    for body in (body for _, body in sent):
        assert not [word for word in (CANARY, *table) if word in body]
