"""The files for a forge: they run our scripts, with no right to write and nobody else's code."""

import pytest
import yaml

from tests.supply.test_constraints import PYTHONS, ROOT

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
