"""What people read is plain English: short sentences, few words, none of the turns at which a reader stopped.

Read are the pages' explanations, questions and lessons, the strings of pages and kit, and the guides; not proofs,
results, the paper and the log.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LESSONS = sorted(ROOT.glob("pages/lessons/texts/*.md"))
ABOUT = sorted(ROOT.glob("pages/*/about.md"))
TRY = sorted(ROOT.glob("pages/*/try.md"))
GUIDES = [ROOT / "README.md", *sorted(ROOT.glob("docs/how_to/*.md"))]
GUIDES += [ROOT / f"docs/{name}.md" for name in ("tutorial", "teaching", "own_data", "not_promised", "index")]
CODE = [
    path for folder in ("pages", "ui") for path in sorted(ROOT.glob(f"{folder}/**/*.py")) if path.stem != "snippets"
]
CODE += sorted(ROOT.glob("pages/*/*.toml"))

TURNS = {
    r"\bas a rule\b": "usually",
    r"\bapart from the slack\b": "up to",
    r"\bcannot be told from\b": "is within the noise of",
    r"\bcannot tell the \w+ of \w+\b": "is within the noise of",
    r"\blooks? outside the guarantee\b": "the guarantee does not cover",
    r"\bleaves? a doubt\b": "is uncertain",
    r"\bhas nothing to pay for\b": "costs no extra privacy",
    r"\bguarantees? less\b": "can only guarantee",
    r"\bsays something\b": "starts at",
    r"\bdid you ever\b": "have you ever",
    r"\beach row for itself\b": "per row",
    r"\bthe price of what\b": "name what the proof loses",
    r"\bone an? (?:trial|fit|feature|class|number|draw)\b": "one for each",
    r"\bin a band of\b": "with an error of at most",
    r"\bdoes not count here\b": "does not matter here",
    r"\btells? of\b|\btells? something (?:of|about)\b": "reveals",
    r"\blearnt\b": "learned",
    r"\bfor (?:it|they|a|the) \w+ is likelier\b": "because",
    r"\bsignal louder\b": "stronger",
    r"\b(?:mend|mended|mends)\b": "correct, close",
    r"\bhand(?:ed)? in a table\b": "upload",
    r"\bno solver got there\b": "the solver did not converge",
    r"\bon account of\b|\btherewith\b|\bwhereof\b|\bthereof\b|\bhereby\b": "an everyday word",
    r"\bby hindsight\b": "in hindsight",
    r"\bwhat (?:it|that) is (?:worth|not)\b": "name the thing",
}
"""Turns at which somebody stopped, and what to write instead."""


def strings(path: Path) -> Iterator[str]:
    """Texts of three words or more that a file of Python holds, but its docstrings; values in them are an x."""
    tree, inside = ast.parse(path.read_text(encoding="utf-8")), set[int]()
    for node in ast.walk(tree):  # a whole comes before its parts
        if isinstance(node, ast.Expr):
            inside.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def said(path: Path) -> list[str]:
    """The texts of a file that people read."""
    if path.suffix == ".py":
        return [text for text in strings(path) if text.count(" ") >= 2 and "{" not in text]
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return [preset["hint"] for preset in tomllib.loads(text).values()]
    text = re.sub(r"(?ms)^ *(```|\$\$).*?^ *\1.*?$|\$\$.*?\$\$", " ", text)  # code and formulas of their own lines
    text = re.sub(r"(?s)\*\*References?\.\*\*.*", "", text)
    text = re.sub(r"`[^`\n]*`|\$[^$]*\$|\{\{[^}]*\}\}|\]\([^)]*\)|<!--.*?-->", " x ", text)
    kept = [
        line
        for line in text.splitlines()
        if not line.startswith(("|", ":::", "#", "answer:", "minutes:")) and " · " not in line
    ]
    return re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", "\n".join(kept))


def sentences(path: Path) -> list[str]:
    """Its sentences, in one line each."""
    parts = (part for text in said(path) for part in re.split(r"(?<=[.?!])[*”\")]*\s+(?=[\"“*(]*[A-ZΑ-Ω`$x])", text))
    return [" ".join(part.split()) for part in parts if len(part.split()) >= 3]


def long_on_average(paths: list[Path]) -> float:
    found = [len(sentence.split()) for path in paths for sentence in sentences(path)]
    return sum(found) / len(found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "paths", [LESSONS, ABOUT, TRY, GUIDES, CODE], ids=["lessons", "about", "try", "guides", "code"]
)
def test_no_turn_at_which_a_reader_stopped_comes_back(paths):
    turns = re.compile("|".join(f"(?:{turn})" for turn in TURNS))
    met = [
        (path.name, found[0])
        for path in paths
        for text in said(path)
        for found in turns.finditer(" ".join(text.split()))
    ]
    assert met == []


@pytest.mark.parametrize("paths", [LESSONS, ABOUT, TRY, GUIDES], ids=["lessons", "about", "try", "guides"])
def test_nobody_is_called_who_outside_of_a_question(paths):
    met = [one for path in paths for one in sentences(path) if re.match(r"[*“(]*Who ", one) and "?" not in one]
    assert met == []


@pytest.mark.parametrize(
    ("paths", "average", "longest"),
    [(LESSONS, 13, 32), (TRY, 13, 34), (ABOUT, 17, 60), (GUIDES, 17, 60)],
    ids=["lessons", "try", "about", "guides"],
)
def test_sentences_are_short(paths, average, longest):
    assert long_on_average(paths) <= average
    assert [one for path in paths for one in sentences(path) if len(one.split()) > longest] == []


@pytest.mark.parametrize("path", ABOUT, ids=lambda path: path.parent.name)
def test_an_explanation_has_few_words(path):
    assert len(path.read_text(encoding="utf-8").split()) <= 1200  # two pictures that were two pages


@pytest.mark.thorough
def test_a_lead_has_few_words():
    leads = {}
    for path in sorted(ROOT.glob("pages/*/page.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "page.begin":
                leads[path.parent.name] = len(str(ast.literal_eval(node.args[1])).split())
    assert len(leads) > 10
    assert {name: words for name, words in leads.items() if words > 50} == {}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_step_moves_before_it_explains(path):
    for step in re.split(r"(?m)^## ", path.read_text(encoding="utf-8"))[1:]:
        before, picture, _ = step.partition(":::controls")
        if picture:
            assert len(before.partition("\n")[2].split()) <= 60, step.partition("\n")[0]
            assert -1 < step.find(":::question") < 1100, step.partition("\n")[0]
