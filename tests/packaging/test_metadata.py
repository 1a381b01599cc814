"""What the package says of itself: the same in every file, and readable where the other files are not."""

import importlib.util
import re
import tomllib

import pytest

import objpert_core
from deploy.settings import ROOT
from objpert_core.cli.app import PACKAGES
from ui import registry

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHONS = [
    tuple(map(int, found.groups()))
    for found in (re.fullmatch(r".*Python :: (\d+)\.(\d+)", one) for one in PROJECT["classifiers"])
    if found
]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel():
    """How the wheel is put together."""
    return load(ROOT / ".ci" / "wheel.py")


def names(requirements):
    return {re.split(r"[<>=!~\[]", one)[0].replace("_", "-") for one in requirements}


def test_a_checkout_installs_what_the_package_and_its_app_need():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = {line for line in lines if line and not line.startswith("#")}
    assert wanted == {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]}


def test_the_command_asks_for_what_the_extra_brings():
    assert {name.replace("_", "-") for name in PACKAGES} == names(PROJECT["optional-dependencies"]["app"])


def test_the_version_is_one():
    assert PROJECT["version"] == objpert_core.__version__


def test_the_pythons_are_without_gaps_from_the_one_that_is_asked_for():
    first, last = PYTHONS[0], PYTHONS[-1]
    assert PROJECT["requires-python"] == f">={first[0]}.{first[1]}"
    assert [(3, minor) for minor in range(first[1], last[1] + 1)] == PYTHONS


def test_the_readme_can_be_read_alone(wheel):
    text = wheel.readable_alone(README)
    assert len(text) > 0.9 * len(README)
    assert text.startswith("# objpert")
    for target in re.findall(r"\]\(([^)]*)\)", text):
        assert target.startswith(("https://", "http://", "#")), target


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("# A\n\n![b](c.png)\n\nd", "# A\n\nd"),
        ("[how](docs/how.md#x), [it](https://example.org)", "how, [it](https://example.org)"),
        ("[below](#below) and [a\nline](b.md)", "[below](#below) and a\nline"),
    ],
)
def test_links_to_other_files_become_their_words(wheel, text, alone):
    assert wheel.readable_alone(text) == alone + wheel.ENDS


def test_the_wheel_takes_along_what_the_app_reads_and_no_more(wheel):
    taken = {path.relative_to(ROOT).as_posix() for path in wheel.files(ROOT)}
    pages = {f"pages/{entry.name}/{name}" for entry in registry.PAGES for name in ("page.py", "about.md")}
    assert pages <= taken
    assert {"app.py", "ui/worksheet.html", ".streamlit/config.toml", "deploy/nginx.conf.in"} <= taken
    assert {f"deploy/{path.name}" for path in (ROOT / "deploy").glob("*.py")} <= taken
    assert {f"data/results/{path.name}" for path in (ROOT / "data/results").iterdir()} <= taken
    assert taken.isdisjoint(f"deploy/{name}" for name in ("Dockerfile", "compose.yaml", "objpert.service", "serve"))
    assert {name.split("/")[0] for name in taken} == {"app.py", ".streamlit", "pages", "ui", "deploy", "data"}
    assert not [name for name in taken if name.endswith(".pyc")]
