"""Settings of the whole suite: the random examples, and where coverage is counted."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.chromium import chromium  # noqa: F401  a fixture

# Two processes with two BLAS threads each are in each other's way: they need nearly twice the time. What a test starts
# inherits this, and sums come out the same on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadlines anywhere: how fast a machine is, and how busy, is not what these tests are about. In CI hypothesis draws
# the same examples on every run, everywhere else new ones.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

HERE = Path(__file__).parent
OWN_PROCESS = {"browser", "deploy", "packaging", "test_architecture.py"}
"""Chromium, servers, wheels, and what parses every file: each kind has one of pytest-xdist's processes."""
DRIVES_CHROMIUM = {
    "benchmarks/test_paper.py",
    "deploy/test_cloud.py",
    "deploy/test_serve_browser.py",
    "site/test_site.py",
}
"""Outside tests/browser. A file goes to one process as a whole: what its tests share is made once."""
NOT_THE_CORE = {"browser", "deploy", "pages", "ui"}
LEVELS = ("exhaustive", "slow", "thorough")
COVERED_WHEN_SLOW = {"datasets", "experiments", "theory", "test_doctests.py"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Count coverage in the core's own tests only: those of pages and charts should not hide that a line has none.

    Thorough and slow tests of accounting, of learning and of estimators go over what quick tests have been through:
    tracing doubles their time. Those of experiments and of data sets, and examples of docstrings, reach what no quick
    test does, and so do the few that are marked `covered`.

    Slow and exhaustive tests run where `-m` names them or their own name is given, and nowhere else: any other `-m`
    would take the place of a default one. Thorough ones run where no `-m` is given, too.
    """
    levels = {item: _level(item) for item in items}
    if not any("::" in argument for argument in config.args):
        named = config.option.markexpr or "thorough"
        left_out = [item for item in items if (kind := levels[item]) and kind not in named]
        kept = set(items) - set(left_out)
        items[:] = [item for item in items if item in kept]
        config.hook.pytest_deselected(items=left_out)
    all_traced = getattr(config.option, "cov_context", None)  # which tests reach a line is asked of all of them
    tests_of = Counter(item.path for item in items)
    file_of = {path: path.relative_to(HERE).as_posix() for path in tests_of}
    if config.getoption("numprocesses", None) or hasattr(config, "workerinput"):  # what takes longest begins first
        items.sort(key=lambda item: (_kind(file_of[item.path]) not in OWN_PROCESS, -tests_of[item.path]))
    for item in items:
        file = file_of[item.path]
        if "chromium" in getattr(item, "fixturenames", ()) and _kind(file) != "browser":
            raise pytest.UsageError(f"tests/{file} drives Chromium; name it in DRIVES_CHROMIUM of tests/conftest.py")
        folder = file.split("/")[0]
        reaches_more = folder in COVERED_WHEN_SLOW or item.get_closest_marker("covered")
        if not all_traced and (folder in NOT_THE_CORE or (levels[item] and not reaches_more)):
            item.add_marker("no_cover")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one process as a whole, and each kind of `OWN_PROCESS`: what its tests share is made once.

    The names of tests decide, and no marks: pytest 9.2 drops what pytest-xdist 3.8 writes behind a name for its groups.
    """

    class ByKindOrFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0].removeprefix(f"{HERE.name}/")
            return kind if (kind := _kind(file)) in OWN_PROCESS else file

    return ByKindOrFile(config, log)


def _kind(file):
    """Return what kind of tests a file has: the folder's, and "browser" wherever tests drive Chromium."""
    return "browser" if file in DRIVES_CHROMIUM else file.split("/")[0]


def _level(item):
    """Return the highest of its levels, or None for a test of every day."""
    marks = {mark.name for mark in item.iter_markers()}
    return next((kind for kind in LEVELS if kind in marks), None)
