"""What docs/notebooks.md says about browsers agrees with the versions that the package allows."""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement
from packaging.version import Version

from tests.notebooks import CHECKOUT

PAGE = (CHECKOUT / "docs" / "notebooks.md").read_text(encoding="utf-8")


def recorded() -> dict[str, dict[str, str]]:
    """The table of versions: {Pyodide's release: {package: version}}, "objpert installs" among the packages."""
    lines = PAGE[PAGE.index("| in Pyodide |") :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])]
    header, rows = cells[0], cells[1:]
    return {release: {row[0]: row[column] for row in rows} for column, release in enumerate(header) if column}


def needed() -> dict[str, Requirement]:
    """The package's run-time dependencies and the charts of the notebooks, by name."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {one.name: one for one in map(Requirement, project["dependencies"])}


def fits(found: dict[str, str]) -> bool:
    """Whether a release's versions are all within ours; what Pyodide has not comes from PyPI, in any version."""
    there = {name: one for name, one in needed().items() if name in found and found[name] != "–"}
    return all(one.specifier.contains(Version(found[name])) for name, one in there.items())


def test_the_table_says_which_releases_can_install_the_package() -> None:
    table = recorded()
    assert {release: found["objpert installs"] == "yes" for release, found in table.items()} == {
        release: fits(found) for release, found in table.items()
    }


def test_the_newest_release_can() -> None:
    newest = max(recorded(), key=Version)
    assert recorded()[newest]["objpert installs"] == "yes"


def test_every_dependency_is_in_the_table() -> None:
    for release, found in recorded().items():
        assert set(needed()) <= set(found), release


def test_python_is_one_of_ours() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = Requirement(f"python{project['requires-python']}").specifier
    assert all(allowed.contains(found["Python"]) for found in recorded().values())
