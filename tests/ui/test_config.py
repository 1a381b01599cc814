"""How the app is served, protections on and nothing told to strangers; what it asks to be cited by."""

import re
import tomllib
from pathlib import Path

import pytest

from ui import cite, registry

CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())


def test_protections_are_on_and_nothing_is_reported():
    assert CONFIG["server"]["enableCORS"] is True
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["server"]["maxUploadSize"] <= 5
    assert CONFIG["server"]["headless"] is True
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["showErrorDetails"] == "none"


def test_every_option_is_one_that_streamlit_knows():
    from streamlit import config

    known = config.get_config_options()
    for section, options in CONFIG.items():
        for name, value in options.items():
            named = [f"{section}.{name}.{key}" for key in value] if isinstance(value, dict) else [f"{section}.{name}"]
            assert set(named) <= set(known)


STATED = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")


def fields(entry: str) -> dict[str, str]:
    return {name: re.sub("[{}]", "", value) for name, value in re.findall(r"^  (\w+) *= \{(.*)\},?$", entry, re.M)}


@pytest.mark.parametrize("page", [entry.name for entry in registry.PAGES])
def test_paper_and_app_are_cited_as_the_citation_file_says(page):
    paper, app = (fields(entry) for entry in cite.bibtex(page).strip().split("\n\n"))
    shown = STATED.lower()
    assert f'title: "{paper["title"].lower()}"\n    year: {paper["year"]}' in shown
    for person in paper["author"].split(" and "):
        family, given = person.split(", ")
        initials = "-".join(f"{part[0]}." for part in given.split("-"))
        assert f"{{family-names: {family}, given-names: {initials}}}" in STATED
    assert f'title: "{app["title"]}"' in STATED
    assert f'name: "{app["author"]}"' in STATED
    assert f"version: {app['version']}\n" in STATED


def test_braces_of_an_entry_close():
    assert all(text.count("{") == text.count("}") for text in map(cite.bibtex, ("", *cite.PAPERS)))
