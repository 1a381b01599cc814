"""The notebooks run from top to bottom, are stored without outputs, and use nothing that a browser's Python lacks."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import tomllib
from pathlib import Path

import nbclient
import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.notebooks import CHECKOUT, FOLDER

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
IN_THE_BROWSER = {"IPython", "matplotlib", "numpy", "objpert_core", "pandas", "piplite", "scipy", "sklearn"}
"""What Pyodide and its kernel have, `objpert_core`, and piplite, which is there and nowhere else."""
NOT_IN_THE_BROWSER = {"concurrent", "multiprocessing", "socket", "subprocess", "threading"}
"""Parts of the standard library that need processes, threads or sockets."""
FIRST = """import sys

if sys.platform == "emscripten":  # in JupyterLite; everywhere else objpert is installed already
    import piplite

    await piplite.install(["objpert", "matplotlib"])"""


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_of(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == "code"]


each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_five() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["1_", "2_", "3_", "4_", "5_"]


@each
@pytest.mark.slow
def test_runs_anywhere(path: Path, tmp_path: Path) -> None:
    """In a kernel of the tests' own Python, in an empty folder; every `assert` in a cell counts."""
    charts = "module://matplotlib_inline.backend_inline"  # a kernel's own, unless a test before has asked for another
    environment = os.environ | {
        "PYTHONPATH": str(CHECKOUT),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "MPLBACKEND": charts,
    }
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    notebook = read(path)
    client = nbclient.NotebookClient(
        notebook, timeout=500, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=environment)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    warned = [output.text for output in outputs if output.get("name") == "stderr" and "objpert_core" in output.text]
    assert not warned
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not list(folder.iterdir()), "a notebook leaves no files"


@each
def test_is_stored_without_outputs_and_reads_as_a_diff(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stored = json.loads(text)
    assert text == json.dumps(stored, ensure_ascii=False, indent=1) + "\n"
    assert set(stored["metadata"]) == {"kernelspec", "language_info"}
    for cell in stored["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert all(line.endswith("\n") for line in cell["source"][:-1]), "a source is a list of lines"
    nbformat.validate(read(path))


@each
def test_first_cell_installs_in_jupyterlite_only(path: Path) -> None:
    title, first = read(path).cells[:2]
    assert re.match(r"# \S", title.source)
    assert first.source == FIRST
    assert first.metadata.tags == ["first"]


@each
def test_imports_what_a_browser_has(path: Path) -> None:
    for source in code_of(path):
        for node in ast.walk(compile(source, path.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in (name.partition(".")[0] for name in names):
                assert name in IN_THE_BROWSER | (set(sys.stdlib_module_names) - NOT_IN_THE_BROWSER), name


@each
def test_knows_no_place_on_anybodys_disk(path: Path) -> None:
    for source in code_of(path):
        assert not re.search(r"""["'](/home|/tmp|/work|/Users|[A-Z]:\\|~/)""", source)
        assert "open(" not in source
    links = re.findall(r"\]\((?!https://)([^)#]+)", path.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (FOLDER / link).exists(), link


@each
def test_makes_statements_that_can_fail(path: Path) -> None:
    nodes = [node for source in code_of(path)[1:] for node in ast.walk(ast.parse(source))]
    assert sum(isinstance(node, ast.Assert) for node in nodes) >= 5


# What docs/notebooks.md says about browsers agrees with the versions that the package allows


PAGE = (CHECKOUT / "docs" / "notebooks.md").read_text(encoding="utf-8")


PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {one.name: one for one in map(Requirement, PROJECT["dependencies"])}


def recorded() -> dict[str, dict[str, str]]:
    """The table of versions: {Pyodide's release: {package: version}}, "objpert installs" among the packages."""
    lines = PAGE[PAGE.index("| in Pyodide |") :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]
    header, rows = cells[0], cells[1:]
    return {release: {row[0]: row[column] for row in rows} for column, release in enumerate(header) if column}


def fits(found: dict[str, str]) -> bool:
    """Whether a release's versions are all within ours; what Pyodide has not comes from PyPI, in any version."""
    return all(one.specifier.contains(Version(found[name])) for name, one in NEEDED.items() if found[name] != "–")


def test_the_table_says_which_releases_can_install_the_package_and_the_newest_can() -> None:
    table = recorded()
    for release, found in table.items():
        assert set(NEEDED) <= set(found), release
        assert (found["objpert installs"] == "yes") == fits(found), release
    assert fits(table[max(table, key=Version)])


def test_python_is_one_of_ours() -> None:
    allowed = Requirement(f"python{PROJECT['requires-python']}").specifier
    assert all(allowed.contains(found["Python"]) for found in recorded().values())
