"""The pinned versions: one of each package for every Python, within our ranges, complete, and what CI installs."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FILE = ROOT / ".ci" / "constraints.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
REPAIR = "run .ci/pin"


def read(path: Path) -> list[Requirement]:
    """The requirements of a file, and of those that it names."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition(" #")[0].strip()
        if text.startswith("-r "):
            found += read(path.parent / text[3:])
        elif text and not text.startswith("#"):
            found.append(Requirement(text))
    return found


PINS = read(FILE)
EXTRAS = PROJECT["project"]["optional-dependencies"]
RUN_TIME = [*map(Requirement, PROJECT["project"]["dependencies"]), *read(ROOT / "requirements.txt")]
OURS = [
    *RUN_TIME,
    *read(ROOT / "tests" / "requirements.txt"),
    *(Requirement(text) for extra in EXTRAS.values() for text in extra),
    *map(Requirement, PROJECT["build-system"]["requires"]),
]


def pinned(name: str, python: str | None = None) -> list[Version]:
    """The versions that hold for a Python; None is the one that runs."""
    here = {"python_version": python, "python_full_version": f"{python}.0"} if python else {}
    return [
        Version(next(iter(pin.specifier)).version)
        for pin in PINS
        if canonicalize_name(pin.name) == canonicalize_name(name) and (pin.marker is None or pin.marker.evaluate(here))
    ]


def brought_along(requirements: list[Requirement], follow=lambda name: True) -> set[str]:
    """Canonical names of these and of all that they bring along, as the metadata of what is installed here say.

    A package that `follow` does not want, or that is not installed, is named, and what it needs is not asked.
    """
    seen, left = set(), [(canonicalize_name(each.name), tuple(each.extras)) for each in requirements]
    while left:
        name, extras = each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for need in map(Requirement, needs if follow(name) else []):
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                left.append((canonicalize_name(need.name), tuple(sorted(need.extras))))
    return {name for name, _ in seen}


@pytest.mark.parametrize("python", PYTHONS)
def test_each_of_our_packages_has_one_version_within_our_range(python):
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    for ours in OURS:
        versions = pinned(ours.name, python)
        assert len(versions) == 1, f"{ours.name} has the versions {versions} on Python {python}; {REPAIR}"
        assert versions[0] in ours.specifier, f"{ours} and {versions[0]}; {REPAIR}"
    twice = [pin.name for pin in PINS if len(pinned(pin.name, python)) > 1]
    assert not twice


def test_every_pin_is_one_exact_version():
    for pin in PINS:
        assert [part.operator for part in pin.specifier] == ["=="], pin
        assert not pin.extras, f"{pin}: pip takes no extra in a constraint"


@pytest.mark.thorough
def test_all_that_these_packages_bring_along_is_pinned():
    """Walk what is installed here, from our requirements on, wherever it is the version that is pinned."""
    for name in brought_along(OURS, lambda name: Version(metadata.version(name)) in pinned(name)):
        assert pinned(name), f"{name} is installed and not pinned; {REPAIR}"


@pytest.mark.skipif(os.environ.get("PIP_CONSTRAINT") != str(FILE), reason="CI alone installs what is pinned")
def test_what_is_installed_are_the_pinned_versions():
    installed = {canonicalize_name(found.name): Version(found.version) for found in metadata.distributions()}
    ours = {name for pin in PINS if (name := canonicalize_name(pin.name)) in installed}
    differ = {name: (str(installed[name]), pinned(name)) for name in ours if pinned(name) != [installed[name]]}
    assert not differ


def test_ci_and_the_image_install_these():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert run.index("export PIP_CONSTRAINT=$PWD/.ci/constraints.txt") < run.index('-c "$command"')
    image = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert image.index("COPY .ci/constraints.txt .ci/") < image.index("pip install")
    assert re.search(r"^WORKDIR /app$", image, re.MULTILINE)
    assert image.index("ARG PIP_CONSTRAINT=/app/.ci/constraints.txt") < image.index("pip install")


def test_the_lowest_versions_that_are_allowed_are_named():
    """What has no lower bound would be tried with its first version ever."""
    for ours in OURS:
        lowest = [part for part in ours.specifier if part.operator in (">=", "==")]
        assert lowest or ours.name in ("pandas-stubs", "scipy-stubs"), ours  # read by mypy alone, which no test runs


@pytest.mark.slow
def test_the_script_for_other_versions_runs_what_it_is_told(tmp_path):
    """With an installer that installs nothing: what is tried is the way from pytest's report to the exit code."""
    (tmp_path / "test_two.py").write_text("def test_good():\n    pass\n\n\ndef test_bad():\n    assert 1 == 2\n")
    code = f"""
import runpy, sys
script = runpy.run_path({str(ROOT / ".ci" / "versions")!r})
script["main"].__globals__["install"] = lambda folder, which, environment: sys.executable
script["main"].__globals__["ROOT"] = __import__("pathlib").Path({str(tmp_path)!r})
script["main"].__globals__["named"] = lambda: ["numpy"]
sys.exit(script["main"](["oldest", "--folder", {str(tmp_path)!r}, "--processes", "0", sys.argv[1]]))
"""
    for chosen, expected in (("test_two.py", 1), ("test_two.py::test_good", 0)):
        done = subprocess.run([sys.executable, "-c", code, chosen], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == expected, done.stdout + done.stderr
        assert f"numpy=={metadata.version('numpy')}" in done.stdout
        assert ("test_two::test_bad" in done.stdout.splitlines()) == bool(expected)
