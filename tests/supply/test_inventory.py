"""The bill of materials and the tables of licences: what is pinned, with terms that were looked at, and no others."""

import json
import re
import runpy
import sys
from importlib import metadata

import pytest
import yaml
from packaging.utils import canonicalize_name

from objpert_core.datasets import describe, names
from tests.supply.test_constraints import PROJECT, PYTHONS, ROOT, RUN_TIME, brought_along, pinned, read

SCRIPT = runpy.run_path(str(ROOT / ".ci" / "inventory"))
SBOM = json.loads((ROOT / "deploy" / "sbom.cdx.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
IMAGE = "3.11"
REPAIR = "run .ci/inventory"

PERMISSIVE = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU"}
PERMISSIVE |= {"PSF-2.0", "Unlicense", "Zlib"}
EXPLAINED = {"certifi": "MPL-2.0"}  # each has a paragraph in docs/licences.md
OF_TOOLS = PERMISSIVE | {"MPL-2.0", "LGPL-2.1-only"}  # we pass no tool on


def rows(name: str) -> list[list[str]]:
    """The cells of a table of the page, its head left out."""
    text = PAGE.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def identifiers(expression: str) -> set[str]:
    """The licences that an SPDX expression names."""
    return set(re.split(r"\s+(?:AND|OR)\s+", re.sub(r"[()]", "", expression)))


def named(component: dict) -> str:
    """A component's licence."""
    (entry,) = component["licenses"]
    return entry.get("expression") or entry["license"]["id"]


def test_the_bill_names_the_pinned_versions():
    assert SBOM["bomFormat"] == "CycloneDX"
    assert SBOM["metadata"]["component"]["name"] == PROJECT["project"]["name"]
    assert SBOM["metadata"]["component"]["version"] == PROJECT["project"]["version"]
    for component in SBOM["components"]:
        assert [str(version) for version in pinned(component["name"], IMAGE)] == [component["version"]], REPAIR
        assert component["purl"] == f"pkg:pypi/{canonicalize_name(component['name'])}@{component['version']}"


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info[:2] != (3, 11) or sys.platform != "linux", reason="the image's Python, on Linux")
def test_the_bill_is_complete():
    names = {canonicalize_name(component["name"]) for component in SBOM["components"]}
    needed = brought_along(RUN_TIME)
    old = {name for name in needed if metadata.version(name) not in map(str, pinned(name))}
    assert needed - old <= names, REPAIR
    if not old:  # other versions need other packages
        assert names == needed, REPAIR


def test_the_image_is_built_with_that_python():
    assert f"FROM python:{IMAGE}-" in (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert ".".join(map(str, SCRIPT["PYTHON"])) == IMAGE


def test_no_time_and_no_random_number_is_in_the_bill():
    assert "serialNumber" not in SBOM
    assert "timestamp" not in SBOM["metadata"]


def test_the_table_is_the_bill():
    told = [(name, version, terms) for name, version, terms, _ in rows("run time")]
    billed = sorted(SBOM["components"], key=lambda each: canonicalize_name(each["name"]))
    assert told == [(each["name"], each["version"], named(each)) for each in billed], REPAIR
    assert all(who for *_, who in rows("run time"))


def test_what_runs_is_permissive_or_explained():
    for component in SBOM["components"]:
        terms, name = named(component), canonicalize_name(component["name"])
        assert identifiers(terms) <= PERMISSIVE or EXPLAINED.get(name) == terms, f"{name}: {terms}"
    for name, terms in EXPLAINED.items():
        (paragraph,) = re.findall(rf"^\* \*\*{name}\*\* \((.*?)\)", PAGE, re.MULTILINE)
        assert terms.split("-or-later")[0].replace("-", " ") in paragraph


def test_what_the_tests_need_is_known():
    for terms, packages in rows("tests"):
        assert identifiers(terms) <= OF_TOOLS, f"{packages}: {terms}"


@pytest.mark.thorough
def test_each_installed_package_says_what_the_tables_say():
    """A new version may come under new terms."""
    told = {canonicalize_name(name): (version, terms) for name, version, terms, _ in rows("run time")}
    for terms, packages in rows("tests"):
        told |= {canonicalize_name(each.split()[0]): (each.split()[1], terms) for each in packages.split(", ")}
    looked_at = 0
    for found in metadata.distributions():
        version, terms = told.get(canonicalize_name(found.metadata["Name"]), ("", ""))
        if version == found.version:
            assert SCRIPT["licence"](found) == terms, found.metadata["Name"]
            looked_at += 1
    assert looked_at >= 1
    direct = {canonicalize_name(each.name) for each in [*RUN_TIME, *read(ROOT / "tests" / "requirements.txt")]}
    assert direct <= set(told), f"{direct - set(told)}: {REPAIR}"


@pytest.mark.parametrize(
    ("told", "text", "terms"),
    [
        ({"License-Expression": "GPL-3.0-only"}, "", "GPL-3.0-only"),
        ({"License": "GPL"}, "", ""),
        ({"Classifier": "License :: OSI Approved :: GNU General Public License (GPL)"}, "", ""),
        ({"Classifier": "License :: OSI Approved :: BSD License"}, "All rights reserved.", ""),
        ({"License": "BSD"}, "Redistribution and use … used to\n endorse or promote", "BSD-3-Clause"),
        ({"License": "BSD"}, "Redistribution and use", "BSD-2-Clause"),
        ({"License": "MIT"}, "", "MIT"),
        ({}, "", ""),
    ],
)
def test_terms_are_read_off_and_never_guessed(tmp_path, told, text, terms):
    folder = tmp_path / "made_up-1.dist-info"
    folder.mkdir()
    head = {"Metadata-Version": "2.1", "Name": "made-up", "Version": "1"} | told
    (folder / "METADATA").write_text("".join(f"{key}: {value}\n" for key, value in head.items()))
    (folder / "LICENSE").write_text(text)
    (folder / "RECORD").write_text("made_up-1.dist-info/LICENSE,,\n")
    assert SCRIPT["licence"](metadata.Distribution.at(folder)) == terms


def test_every_data_set_has_its_terms():
    told = {name.strip("`"): terms for name, terms in rows("data sets")}
    assert told == {name: re.search(r"Licence: (.*)\.$", describe(name))[1] for name in names()}


# The files for a forge: they run our scripts, with no right to write and nobody else's code


FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RUNS = {"ci": {".ci/run"}, "weekly": {".ci/versions newest", ".ci/versions oldest"}}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_workflow_runs_our_script_and_nothing_of_others(path):
    assert {file.stem for file in FILES} == set(RUNS)
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "uses:" not in text
    (job,) = workflow["jobs"].values()
    last = job["steps"][-1]["run"]
    entries = job["strategy"]["matrix"].get("include", [{}])
    commands = {last.replace("${{ matrix.which }}", entry.get("which", "")) for entry in entries}
    assert commands == RUNS[path.stem]
    assert (ROOT / last.split()[0]).stat().st_mode & 0o100


def test_the_first_and_the_last_python_are_tried():
    ci, weekly = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES)
    (tests,), (versions,) = ci["jobs"].values(), weekly["jobs"].values()
    assert tests["strategy"]["matrix"]["python"] == [PYTHONS[0], PYTHONS[-1]]
    tried = {entry["which"]: entry["python"] for entry in versions["strategy"]["matrix"]["include"]}
    assert tried == {"oldest": PYTHONS[0], "newest": PYTHONS[-1]}
