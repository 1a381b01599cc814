"""One proof has one name: the table of docs/architecture.md, and no other spelling in a text."""

import ast
import re
from pathlib import Path

import pytest

import objpert_core.accounting as acc
from ui import bounds

ROOT = Path(__file__).parents[2]
OTHERS = re.compile(
    r"Hockey-stick|Logistic \(tight\)|[Pp]ublished bound|tight (logistic )?bound|tight proof|[Pp]ublished proof"
    r"|the logistic bound|the monotone bound|Two-signed losses|Monotone losses|add/remove one row"
    r"|Algorithm 1 (tight|published)|Kifer et al\. 2012"
)
ELSEWHERE = {  # another paper's proofs; what links hold, and stored results
    "pages/quadratic", "pages/ptr", "pages/population", "ui/bounds.py", "pages/composition/controls.py",
    "pages/renyi/controls.py", "ui/waterfall.py",
}  # fmt: skip


def texts():
    """Where a text stands, and the text: what pages and kit say, without what they say about themselves."""
    for path in sorted([*(ROOT / "pages").rglob("*"), *(ROOT / "ui").rglob("*")]):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(tuple(ELSEWHERE)):
            continue
        if path.suffix == ".md":
            yield name, path.read_text(encoding="utf-8")
        if path.suffix == ".py" and path.stem != "snippets":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            about = {
                id(node.body[0].value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body
                if isinstance(node.body[0], ast.Expr)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about:
                    yield f"{name}:{node.lineno}", node.value


@pytest.mark.thorough
def test_no_text_has_another_spelling():
    assert [(where, found[0]) for where, text in texts() if (found := OTHERS.search(text))] == []


def test_the_table_of_the_architecture_is_the_registrys():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| (.+?) \| (.+?) \|$", page, flags=re.MULTILINE)
    entries = acc.BOUND_REGISTRY.values()
    assert rows[1:] == [(entry.key, entry.label, entry.source) for entry in entries]
    assert {bounds.NAMES[key] for key in bounds.NAMES if key in acc.BOUND_REGISTRY} <= {label for _, label, _ in rows}


def test_a_proof_in_a_sentence():
    assert [bounds.called(key) for key in ("glm", "kifer2012", "logistic")] == [
        "the 2023 theorem",
        "the 2012 theorem",
        "our theorem",
    ]
