"""What docs/notebooks.md says about browsers agrees with the versions that the package allows."""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement
from packaging.version import Version

from tests.notebooks import CHECKOUT

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
