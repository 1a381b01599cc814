"""The BibTeX that the app offers says what CITATION.cff says."""

import re
from pathlib import Path

import yaml

import objpert_core
from ui import cite

CITATION = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))


def entry(text):
    """Field → value of one BibTeX entry."""
    fields = re.findall(r"(\w+)\s*= \{(.*?)\},?\n", text, flags=re.DOTALL)
    return {name: re.sub(r"\s+", " ", value) for name, value in fields}


def test_the_papers():
    paper, printed = CITATION["references"][0], entry(cite.PAPER)
    assert printed["title"].lower() == paper["title"].lower()
    assert printed["year"] == str(paper["year"])
    assert printed["booktitle"] == paper["collection-title"]
    names = [f"{one['family-names']}, {one['given-names'][0]}" for one in paper["authors"]]
    assert [re.match(r".*?, .", name)[0] for name in printed["author"].split(" and ")] == names


def test_the_apps():
    printed = entry(cite.app())
    assert printed["title"].startswith("objpert: ")
    assert printed["title"] == CITATION["title"]
    assert printed["author"] == f"{{{CITATION['authors'][0]['name']}}}"
    assert printed["version"] == CITATION["version"] == objpert_core.__version__
