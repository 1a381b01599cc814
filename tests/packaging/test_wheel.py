"""The wheel: built, checked, installed into fresh environments, and run from there as a new user would."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

from benchmarks.streamlit_client import Browser, Person, free_port, wait_until_healthy
from deploy.settings import ROOT
from objpert_core.accounting import ObjectivePerturbation
from tests.packaging.test_metadata import PROJECT, PYTHONS, load
from tests.ui.waiting import awaited

pytestmark = pytest.mark.slow

UV = Path(sys.executable).with_name("uv")
INSIDE = "objpert_core/_app/"
ALIEN = re.compile(r"(^|/)(tests|downloads|__pycache__)/|\.py[co]$|(^|/)(Dockerfile|compose\.yaml)$")


def run(*command, cwd, code=0, **options):
    """What a command prints; fails with all it said where it does not end with `code`."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=500, **options)
    assert done.returncode == code, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


def pythons():
    """The Pythons here that the package is for, by their versions: on the path, or pyenv's."""
    shelf = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = {sys.version_info[:2]: sys.executable}
    for major, minor in PYTHONS:
        name = f"python{major}.{minor}"
        for path in (shutil.which(name), *shelf.glob(f"{major}.{minor}.*/bin/{name}")):
            if path and subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
                found.setdefault((major, minor), str(path))  # pyenv puts names on the path that do not run
    return found


def environment(folder, python, *requirements):
    """A fresh virtual environment with these and nothing else; its folder of programs."""
    pinned = os.environ | {"UV_CONSTRAINT": os.environ.get("PIP_CONSTRAINT", "")}
    run(UV, "venv", "-q", "--no-project", "--python", python, folder, cwd=folder.parent)
    run(UV, "pip", "install", "-q", "--python", folder, *requirements, cwd=folder.parent, env=pinned)
    return folder / "bin"


def clean():
    """This process's environment without what leads to the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "OBJPERT"))}


def test_an_index_would_take_both(built):
    assert run(sys.executable, "-m", "twine", "check", "--strict", *built, cwd=ROOT).count("PASSED") == 2


def test_the_wheel_brings_one_name_and_the_whole_app(built):
    with zipfile.ZipFile(built[1]) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert {name.split("/")[0] for name in held} == {"objpert_core", f"objpert-{PROJECT['version']}.dist-info"}
    assert not [name for name in held if ALIEN.search(name)]
    package = [path for path in (ROOT / "objpert_core").rglob("*.*") if "__pycache__" not in path.parts]
    for path in [*filter(Path.is_file, package), *load(ROOT / ".ci" / "wheel.py").files(ROOT)]:
        name = path.relative_to(ROOT).as_posix()
        assert held[name if name.startswith("objpert_core/") else INSIDE + name] == path.read_bytes(), name
    assert "objpert_core/py.typed" in held


def test_the_source_distribution_holds_what_git_keeps(built):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    with tarfile.open(built[0]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    kept = [name for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0") if name and (ROOT / name).is_file()]
    assert {"tests/packaging/test_wheel.py", "docs/theorems.md"} <= set(kept) <= held
    assert {name.split("/")[0] for name in held} == {name.split("/")[0] for name in kept} | {"PKG-INFO"}
    assert not [name for name in held if "/downloads/" in name or name.endswith(".pyc")]


def test_with_numpy_and_scipy_alone_there_is_accounting(built, tmp_path):
    programs = environment(tmp_path / "bare", sys.executable, "numpy", "scipy")
    run(UV, "pip", "install", "-q", "--no-deps", "--python", tmp_path / "bare", built[1], cwd=tmp_path)
    asked = ("accounting", "--sigma", "10", "--lam", "5", "--delta", "1e-5", "--json")
    answer = json.loads(run(programs / "objpert", *asked, cwd=tmp_path, env=clean()))
    assert "pandas" not in answer["version"]
    told = run(programs / "objpert", "app", cwd=tmp_path, code=2, env=clean())
    assert told.splitlines() == [
        "objpert: the app needs streamlit, which is not installed: pip install '/path/to/checkout[app]'"
    ]


@pytest.mark.parametrize("of_all", [pytest.param(min, marks=pytest.mark.exhaustive), max], ids=["oldest", "newest"])
def test_a_new_user_gets_from_the_wheel_to_the_app(built, tmp_path, of_all):
    found = pythons()
    programs = environment(tmp_path / "full", found[of_all(found)], f"{built[1]}[app]")
    here = tmp_path / "here"
    for name in ("ui", "pages", "deploy", ".streamlit"):  # the user's own, and none of our business
        (here / name).mkdir(parents=True)
        (here / name / "__init__.py").write_text("raise SystemExit('not the right one')")
    (here / ".streamlit" / "config.toml").write_text('[server]\nbaseUrlPath = "elsewhere"\n')

    def objpert(*words, **options):
        return run(programs / "objpert", *words, cwd=here, env=clean(), **options)

    assert objpert("--version") == f"objpert {PROJECT['version']}\n"
    answer = json.loads(objpert("accounting", "--sigma", "10", "--lam", "5", "--delta", "1e-5", "--json"))
    assert 0 <= answer["epsilon"] - ObjectivePerturbation(sigma=10, lam=5, bound="logistic").epsilon(1e-5) < 1e-9
    (here / "people.csv").write_text("age,job,moved\n" + "30,office,no\n60,workshop,yes\n" * 60)
    columns = ("--number", "age:18:80", "--categories", "job=office,workshop", "--two-values", "moved=no:yes")
    made = objpert("fit", "people.csv", "--target", "moved", *columns, "--epsilon", "1", "--out", "release")
    assert "a model of 'moved' with ε = 1" in made
    assert json.loads(objpert("verify", "release", "release/model.json", "--json"))
    served_pages(programs / "objpert", here)


def served_pages(command, folder):
    """Open the app as the command does, look at a page of the core's numbers and at one of stored results; stop it."""
    server = f"127.0.0.1:{(port := free_port())}"
    with (folder / "log").open("w+") as log:
        words = ("app", "--address", "127.0.0.1", "--port", str(port), "--no-browser")
        heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs do not
        process = subprocess.Popen([command, *words], cwd=folder, env=clean(), stdout=log, stderr=log, preexec_fn=heeds)
        try:
            wait_until_healthy(server, process, within=180)
            bounds, accuracy = awaited(pages(server))
            process.send_signal(signal.SIGINT)  # Ctrl-C
            assert process.wait(60) == 130, (folder / "log").read_text()
        finally:
            process.kill()
            process.wait(60)
    assert "0.341" in " ".join(bounds.answers.values()), bounds.answers
    assert accuracy.charts >= 1


async def pages(server):
    """Two pages, each opened by somebody."""
    people = []
    for page, chosen in (("bounds", {"bounds_sigma": "10", "bounds_lambda": "5"}), ("accuracy", {})):
        browser = Browser(server)
        await browser.load(page)
        people.append(Person(await browser.connect(), page, chosen=chosen))
        await people[-1].open()
        await people[-1].link.close()
    return people
