"""What the app asks to be cited by is what CITATION.cff says."""

import re
from pathlib import Path

import pytest

from ui import cite, registry

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
