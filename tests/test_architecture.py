"""The rules of docs/architecture.md, read off the syntax trees: who may import whom, and what lives where."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ui import registry

ROOT = Path(__file__).resolve().parents[1]
FLOORS = (  # from the ground up; a file imports from its own room or from a floor below
    ("objpert_core", "objpert_core.exceptions", "objpert_core._validation", "objpert_core._provenance"),
    ("objpert_core.accounting.numerics",),
    ("objpert_core.accounting.laws",),
    ("objpert_core.accounting.convolution",),
    ("objpert_core.accounting",),
    ("objpert_core.learning", "objpert_core.theory", "objpert_core.datasets"),
    ("objpert_core.evaluation",),
    ("objpert_core.estimators",),
    ("objpert_core.experiments",),
    ("objpert_core.cli",),
    ("ui",),
    ("pages",),
    ("app",),
)
SCIENTIFIC = {"numpy", "scipy", "objpert_core"}  # all that accounting may need
MOST_KIT_FILES = 49


@cache
def modules() -> dict[str, Path]:
    """Every module of the product, by its dotted name."""
    found = {}
    for path in [*ROOT.glob("objpert_core/**/*.py"), *ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/**/*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found | {"app": ROOT / "app.py"}


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    """Every node of a module's syntax tree: each file is read and walked once for all rules."""
    return tuple(ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8"))))


@cache
def imports(name: str) -> tuple[tuple[str, str], ...]:
    """(module, name taken from it) for every import, those for type checkers included; "" for a module as a whole."""
    found: list[tuple[str, str]] = []
    for node in nodes(name):
        if isinstance(node, ast.Import):
            found += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.append((whole, "") if whole in modules() else (node.module or "", alias.name))
    return tuple(found)


def own_imports(name: str) -> set[str]:
    """The product's modules that a module imports."""
    return {target for target, _ in imports(name) if target in modules()}


@cache
def room(name: str) -> tuple[int, str]:
    """A module's floor and room: the longest entry of `FLOORS` that its name begins with; each page is its own room."""
    fits = [
        (len(one), floor, one)
        for floor, rooms in enumerate(FLOORS)
        for one in rooms
        if name == one or name.startswith(f"{one}.")
    ]
    _, floor, one = max(fits)
    return (floor, ".".join(name.split(".")[:2])) if one == "pages" else (floor, one)


@pytest.mark.thorough
def test_imports_run_one_way():
    wrong = []
    for name in modules():
        floor, own = room(name)
        for target in own_imports(name):
            other_floor, other = room(target)
            if not (other == own or other_floor < floor or floor == other_floor == 0):
                wrong.append(f"{name} imports {target}")
    assert not wrong


@pytest.mark.thorough
def test_nothing_goes_round_in_a_circle():
    graph = {name: own_imports(name) - {name} for name in modules()}
    while free := [name for name, targets in graph.items() if not targets]:
        for name in free:
            del graph[name]
        graph = {name: targets - set(free) for name, targets in graph.items()}
    assert not graph, f"these import one another: {sorted(graph)}"


def hidden(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def borrowed(name: str) -> Iterator[str]:
    """The private names of other modules that a module imports or reaches for."""
    aliases = {}
    for node in nodes(name):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                whole = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
                if whole in modules():
                    aliases[alias.asname or alias.name] = whole
    yield from (f"{target}.{taken}" for target, taken in imports(name) if target in modules() and hidden(taken))
    for node in nodes(name):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and hidden(node.attr):
            yield from (f"{whole}.{node.attr}" for alias, whole in aliases.items() if alias == node.value.id)


@pytest.mark.thorough
def test_a_modules_private_names_stay_in_its_file():
    assert not [f"{name} uses {other}" for name in modules() for other in borrowed(name)]


@pytest.mark.thorough
def test_a_modules_other_name_is_a_word():
    usual = {"np", "pd", "sp", "st", "go", "acc"}
    for name in modules():
        for node in nodes(name):
            if isinstance(node, ast.Import | ast.ImportFrom):
                short = {alias.asname for alias in node.names if len(alias.asname or "word") < 4} - usual
                assert not {one for one in short if one and one.islower()}, f"{name} calls a module {short}"


@pytest.mark.thorough
def test_the_core_knows_no_screen():
    for name in modules():
        if name.startswith("objpert_core"):
            packages = {target.partition(".")[0] for target, _ in imports(name)}
            assert packages.isdisjoint({"streamlit", "plotly", "ui", "pages"}), name
            source = modules()[name].read_text(encoding="utf-8")
            assert not re.search(r"#[0-9a-fA-F]{6}\b", source), f"{name} names a colour"


def test_accounting_needs_numpy_and_scipy_only():
    standard = sys.stdlib_module_names
    for name in modules():
        if name.startswith("objpert_core.accounting"):
            packages = {target.partition(".")[0] for target, _ in imports(name)} - set(standard)
            assert packages <= SCIENTIFIC, name


@pytest.mark.thorough
def test_accounting_is_imported_without_what_only_compositions_need():
    slow = {"scipy.signal", "scipy.stats", "scipy.optimize", "scipy.interpolate", "pandas"}
    code = f"import sys, objpert_core.accounting; print({slow} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told == "set()\n"


@pytest.mark.thorough
def test_array_types_are_defined_once():
    for name in modules():
        for node in nodes(name):
            if isinstance(node, ast.Assign) and any(
                isinstance(one, ast.Name) and one.id in ("FloatArray", "IntArray") for one in node.targets
            ):
                assert name == "objpert_core._validation", name


def test_no_name_of_a_module_is_given_twice():
    for name in (one for one in modules() if not one.endswith(".snippets")):  # which are read from top to bottom
        module = nodes(name)[0]
        assert isinstance(module, ast.Module)
        targets = [target for node in module.body if isinstance(node, ast.Assign) for target in node.targets]
        counts = Counter(target.id for target in targets if isinstance(target, ast.Name))
        assert not [constant for constant, count in counts.items() if count > 1], name


def test_every_page_has_its_room():
    assert not list((ROOT / "pages").glob("*.py"))  # with one, Streamlit would serve it without app.py
    rooms = {path.name for path in (ROOT / "pages").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == {entry.name for entry in registry.PAGES}
    for entry in registry.PAGES:
        assert (ROOT / entry.path).is_file()
        assert (ROOT / "pages" / entry.name / "about.md").is_file()


def test_the_kit_is_small():
    assert len(list((ROOT / "ui").glob("**/*.py"))) <= MOST_KIT_FILES
