"""What the Bounds page puts side by side."""

import ast
import math
import re
from pathlib import Path

import pytest

import objpert_core.accounting as acc
from ui import bounds
from ui import bounds as bc

LEFT = bc.Setting(5.0, 20.0, 1.0, 1.0)
ALL = tuple(bc.NAMES)


def test_every_bound_has_a_name_and_a_source():
    assert set(bc.NAMES) == set(bc.SOURCES)
    assert set(bc.PUBLISHED) < set(bc.NAMES)


def test_ratios_are_to_the_lower_bound():
    found = {r.bound: r for r in bc.readings(LEFT, ALL, 1e-5, 0.5)}
    lower = acc.Gaussian(5.0)
    assert found["lower"].epsilon_ratio == found["lower"].delta_ratio == 1.0
    glm = acc.ObjectivePerturbation(5.0, 20.0, 1.0, 1.0, "glm")
    assert found["glm"].epsilon_ratio == glm.epsilon(1e-5) / lower.epsilon(1e-5)
    assert found["glm"].delta_ratio == glm.delta(0.5) / lower.delta(0.5)


def test_a_lower_bound_of_zero_gives_no_ratio():
    (reading,) = bc.readings(bc.Setting(1000.0, 20.0, 1.0, 1.0), ("glm",), 0.1, 20.0)
    assert math.isnan(reading.delta_ratio)
    row = bc.table_rows([reading], 0.1, 20.0)[0]
    assert row["δ / lower bound"] == "–"


def test_equal_reasons_are_said_once():
    found = bc.readings(bc.Setting(10.0, 0.9, 1.0, 2.0), ALL, 1e-5, 1.0)
    reasons = dict(bc.reasons(found))
    assert list(reasons) == ["2012 theorem", "2023 theorem, Rényi and 2023 theorem"]
    assert "λ > β" in reasons["2023 theorem, Rényi and 2023 theorem"]
    assert not bc.reasons(bc.readings(bc.Setting(10.0, 20.0, 1.0, 1.0), ALL, 1e-5, 0.5))


def test_remembered_curves_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        bc.curve("lower", LEFT, 2.0)[0] = 0.0


@pytest.mark.slow
def test_rounding_a_calibration_up_keeps_its_promise():
    for epsilon in (0.1, 1.0, 8.0):
        setting = bc.rounded_up(acc.calibrate_objective_perturbation(epsilon, 1e-5, tau=1e-6))
        assert bc.epsilon_at("logistic", setting, 1e-5) <= epsilon
        assert bc.epsilon_at("logistic", setting, 1e-5) > 0.99 * epsilon


# One proof has one name: the table of docs/architecture.md, and no other spelling in a text


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
