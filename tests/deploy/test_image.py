"""Dockerfile and compose file take the steps of the documented script, with its limits; no Docker is needed to see it.

That the files which are copied are enough is seen in the tests of the server: they serve these files and no others.
"""

import json
import re
import shlex

import yaml

from deploy.settings import ROOT, Settings, parse
from tests.deploy.conftest import COPIED, DOCKERFILE

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]["app"]
GUIDE = (ROOT / "docs" / "deploying.md").read_text()
STEPS = re.search(r"<!-- install -->\n```bash\n(.*?)```", GUIDE, re.DOTALL)[1].splitlines()
UNIT = (ROOT / "deploy" / "objpert.service").read_text()
APT = r"apt-get install -y(?: -qq)? --no-install-recommends ([a-z0-9 -]+?)(?: &&|$)"


def instruction(name):
    return re.search(rf"^{name} ((?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)[1]


def served_by(command):
    assert command[0].endswith("deploy/serve")
    return parse(command[1:])


def mebibytes(text):
    return int(text[:-1]) * {"m": 1, "g": 1024}[text[-1].lower()]


def test_the_same_packages_are_installed_into_the_same_environment():
    documented = set(re.search(APT, STEPS[0])[1].split())
    installed = set(re.search(APT, DOCKERFILE, re.MULTILINE)[1].split())
    assert documented == installed | {"python3-venv"}  # the image's own Python has it
    assert "apt_install nginx" in (ROOT / ".ci" / "run").read_text()
    (made,) = [step for step in STEPS if "venv" in step and "pip" in step]
    assert f"RUN {made}\n" in DOCKERFILE
    assert made in (ROOT / "README.md").read_text()


def test_the_same_command_is_started_on_the_port_that_is_told():
    image, documented = served_by(json.loads(instruction("CMD"))), served_by(shlex.split(STEPS[-1]))
    unit = served_by(shlex.split(re.search("ExecStart=(.*)", UNIT)[1]))
    assert image.processes == documented.processes == unit.processes == Settings.processes
    assert image.port == documented.port == unit.port == Settings.port
    assert instruction("EXPOSE") == str(image.port)
    assert COMPOSE["ports"] == [f"{image.port}:{image.port}"]
    assert f"127.0.0.1:{image.port}/_stcore/health" in instruction("HEALTHCHECK")
    assert not {"command", "entrypoint"} & set(COMPOSE)


def test_the_container_holds_what_the_script_may_need():
    image = served_by(json.loads(instruction("CMD")))
    assert mebibytes(COMPOSE["mem_limit"]) > image.processes * image.memory
    assert mebibytes(re.search("MemoryMax=(.*)", UNIT)[1]) > image.processes * image.memory
    assert any(str(image.run).startswith(folder) for folder in COMPOSE["tmpfs"])  # all else is read only
    assert (COMPOSE["read_only"], COMPOSE["restart"]) == (True, "unless-stopped")


def test_the_container_runs_as_nobody_in_particular():
    assert instruction("USER") == "objpert"
    assert DOCKERFILE.index("\nUSER ") < DOCKERFILE.index("\nCMD ")
    assert COMPOSE["cap_drop"] == ["ALL"]
    assert COMPOSE["security_opt"] == ["no-new-privileges:true"]


def test_the_base_is_pinned_and_its_python_is_one_that_the_app_is_for():
    major, minor = re.fullmatch(r"python:(\d+)\.(\d+)-slim-bookworm", instruction("FROM")).groups()
    assert (3, 11) <= (int(major), int(minor)) <= (3, 13)


def test_all_that_is_copied_is_let_in_and_lies_in_the_checkout():
    let_in = set(re.findall("^!(.*)$", (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    copied = {source for *sources, _ in COPIED for source in sources}
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)
    build = COMPOSE["build"]
    assert (ROOT / "deploy" / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_every_option_is_documented_with_its_default(capsys):
    text = GUIDE[GUIDE.index("## Choices") :]
    rows = re.findall(r"^\| `(--[^`]*)`", text, re.MULTILINE)
    told = dict(re.findall(r"--([a-z-]+)(?: (\S+))?", " ".join(rows)))
    try:
        parse(["--help"])
    except SystemExit:
        options = set(re.findall(r"--([a-z-]+)", capsys.readouterr().out)) - {"help"}
    assert set(told) == options
    for name in ("processes", "port", "memory", "per-address"):
        assert told[name] == str(getattr(Settings, name.replace("-", "_")))
