"""Every Python block of the README and of docs/ runs, and the values and the output that stand there come out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from objpert_core.accounting.objective import bounds
from objpert_core.estimators import ObjPertLogisticRegression
from tests.blocks import agrees, blocks, claims, run_page, runs

ROOT = Path(__file__).parents[2]
MARKDOWN = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in MARKDOWN if "_build" not in page.parts and any(map(runs, blocks(page)))]
ELSEWHERE = {  # what their blocks take for granted, and what comes out, is tested beside what they are about
    "own_data.md": "tests/datasets/tables/test_written.py",
}
LEAST = {"README.md": 2, "tutorial.md": 20, "coming_from.md": 12, "how_to": 2}
LANGUAGES = {"bash", "console", "nginx", "markdown", "{toctree}", "{api}", "{include}", ""}


def granted(page: Path) -> dict[str, Any]:
    """The names that a page's blocks take for granted."""
    if page.name == "adding.md":  # an entry of that file
        return dict(vars(bounds))
    if page.name == "certificates.md":  # a fit, and its certificate's text
        X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
        model = ObjPertLogisticRegression(classes=[0, 1], public_rows=200).fit(X, y)
        return {"model": model, "text": model.privacy_.to_json(), "np": np}
    return {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::objpert_core.exceptions.PrivacyBudgetWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in ELSEWHERE], ids=lambda page: page.stem)
def test_the_code_of_the_page_runs_and_says_what_comes_out(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, granted(page))


def test_pages_whose_code_runs_elsewhere_are_named_there():
    for name, test in ELSEWHERE.items():
        assert name in {page.name for page in PAGES}
        assert name in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_nobody_is_told_to_install_a_name_that_a_stranger_may_take(page):
    """The package is not on PyPI yet: what people are told is a path."""
    assert not re.findall(r"pip install [^`\n&]*?(?<![\w/.-])objpert\b", page.read_text(encoding="utf-8"))


def test_the_pages_state_values():
    """A page that lost its comments would check nothing."""
    for page in PAGES:
        key = page.parent.name if page.parent.name == "how_to" else page.name
        assert len(list(claims(page))) >= LEAST.get(key, 0), page.name


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_block_says_what_it_is_written_in(page):
    for block in blocks(page):
        assert runs(block) or block.language in LANGUAGES, f"{page.name}, line {block.line}"


@pytest.mark.parametrize(
    ("value", "comment", "agreed"),
    [
        (0.34066, "0.341", True),
        (0.34066, "0.340", False),  # below the truth
        (0.34066, "0.342", False),
        (0.34066, "≈ 0.34", True),
        (0.346, "≈ 0.34", False),
        (2.924e-6, "2.93e-6", True),
        (2.924e-6, "2.92e-6", False),
        (7, "7", True),
        (7, "8", False),
        (True, "True", True),
        (False, "True", False),
        (["yes"], "['yes']", True),
        (1.0, "the answer", True),  # words
    ],
)
def test_what_a_comment_states(value, comment, agreed):
    assert agrees(value, comment) is agreed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\n1 / 3  # 0.33\n```\n", r"page\.md, line 1: 1 / 3 is 0\.3333333333333333, not 0\.33"),
        ("```python\nprint(1)\n```\n\n```text\n2\n```\n", "page.md, line 1 prints\n1"),
        ("words", "page.md has no code"),
    ],
)
def test_a_page_that_is_wrong_is_convicted(text, complaint, tmp_path):
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=complaint):
        run_page(tmp_path / "page.md")


def test_output_with_a_gap_agrees(tmp_path):
    (tmp_path / "page.md").write_text("```python\nprint('a 1 b')\n```\n\n```text\na … b\n```\n", encoding="utf-8")
    assert re.fullmatch(r"a … b\n", blocks(tmp_path / "page.md")[0].printed)
    run_page(tmp_path / "page.md")
