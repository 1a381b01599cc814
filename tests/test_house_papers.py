"""CITATION.cff, the changelog, how to contribute and to report, templates and hooks: what they say is so."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
INDEX = " ".join((ROOT / "docs/index.md").read_text(encoding="utf-8").split())
SECURITY = (ROOT / "docs/SECURITY.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "docs/CONTRIBUTING.md").read_text(encoding="utf-8")
CI = (ROOT / ".ci/run").read_text(encoding="utf-8")
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
PAPERS = [ROOT / "CHANGELOG.md", *(ROOT / "docs" / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY"))]
CHECKS = set(re.findall(r"^\.venv/bin/(?:ruff|mypy).*$", CI, flags=re.MULTILINE))


def test_the_citation_is_the_package_and_the_readme_cites_it_so():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["message"]
    name, _, subtitle = CITATION["title"].partition(": ")
    assert name == PROJECT["name"]
    (author,) = CITATION["authors"]
    assert f"Cite as *{author['name']} (2026): {name}, {subtitle}, version {PROJECT['version']}*" in README
    assert CITATION["abstract"] == PROJECT["description"]
    for key in ("version", "license", "keywords"):
        assert CITATION[key] == PROJECT[key], key


def test_the_papers_behind_it_are_those_that_the_first_page_of_the_documentation_names():
    cited = {
        (re.split(r" et al\.|, | and ", names)[0], int(year))
        for names, year in re.findall(r"from ([A-Z]\w+(?:, [A-Z]\w+)*(?: et al\.| and [A-Z]\w+)) \((\d{4})\)", INDEX)
    }
    references = CITATION["references"]
    assert {(entry["authors"][0]["family-names"], entry["year"]) for entry in references} == cited
    assert len(cited) >= 4
    assert all(entry["type"] and entry["title"] for entry in references)


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## (\S+)", PAPERS[0].read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == PROJECT["version"]
    assert len(set(headings)) == len(headings)


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_files_and_commands_that_they_name_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:\.\w+|docs|data|tests|deploy|objpert_core|ui|pages)/[\w./-]*)`", text):
        assert (ROOT / name).exists(), name
    for module in re.findall(r"python -m (?!pytest|venv)([\w.]+)", text):
        assert importlib.util.find_spec(module), module
    for target, anchor in re.findall(r"\]\(([^)#\s]+)#([^)]+)\)", text):
        headings = re.findall(r"^#+ (.*)$", (page.parent / target).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, anchor


def test_an_issue_template_has_what_shows_it_in_the_list():
    assert {path.stem for path in TEMPLATES} == {"bug", "question", "wrong_bound"}
    for path in TEMPLATES:
        _, head, body = path.read_text(encoding="utf-8").split("---\n", maxsplit=2)
        assert set(yaml.safe_load(head)) == {"name", "about", "title", "labels"}
        for name in re.findall(r"[\w/]+\.md", body):
            assert (ROOT / name).exists(), name


def test_the_hooks_are_what_ci_checks():
    (source,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert source["repo"] == "local"  # nothing is fetched
    hooks = source["hooks"]
    assert {hook["entry"] for hook in hooks} == CHECKS
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in hooks)


def test_contributors_are_told_the_commands_of_ci_and_of_the_readme():
    for command in CHECKS:
        assert command in CONTRIBUTING
    (loop,) = re.findall(r"For daily work, run `([^`]+)`", README)
    assert loop in CONTRIBUTING
    (test_command,) = re.findall(r"<!-- test command --> ```bash (.*?) && \.venv/bin/python -m pytest", README)
    assert test_command in CONTRIBUTING


def test_there_is_an_address_for_reports_or_the_page_says_that_there_is_none():
    """Whoever adds the project's own address takes the sentence away. Addresses of papers are nobody's to report to."""
    own = [url for url in PROJECT["urls"].values() if not url.startswith("https://arxiv.org/abs/")]
    assert ("name no address of the project yet" in SECURITY) == (not own)
