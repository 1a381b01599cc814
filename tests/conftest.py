"""Settings of the whole suite: the random examples, and where coverage is counted."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadGroupScheduling

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
NOT_THE_CORE = {"browser", "deploy", "pages", "ui"}
LEVELS = ("exhaustive", "slow", "thorough")
COVERED_WHEN_SLOW = {"datasets", "experiments", "theory", "test_doctests.py"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Count coverage in the core's own tests only: those of pages and charts should not hide that a line has none.

    Slow tests of accounting, of learning and of estimators go over what quick tests have been through: tracing doubles
    their time. Those of experiments and of data sets, and examples of docstrings, reach what no quick test does, and so
    do the few that are marked `covered`.

    Slow and exhaustive tests run where `-m` names them or their own name is given, and nowhere else: any other `-m`
    would take the place of a default one. Thorough ones run where no `-m` is given, too.
    """
    if not any("::" in argument for argument in config.args):
        named = config.option.markexpr or "thorough"
        left_out = [item for item in items if (kind := _level(item)) and kind not in named]
        kept = set(items) - set(left_out)
        items[:] = [item for item in items if item in kept]
        config.hook.pytest_deselected(items=left_out)
    all_traced = getattr(config.option, "cov_context", None)  # which tests reach a line is asked of all of them
    tests_of = Counter(item.path for item in items)
    if config.getoption("numprocesses", None) or hasattr(config, "workerinput"):  # what takes longest begins first
        items.sort(key=lambda item: (_kind(item) not in OWN_PROCESS, -tests_of[item.path]))
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        reaches_more = folder in COVERED_WHEN_SLOW or item.get_closest_marker("covered")
        if (kind := _kind(item)) in OWN_PROCESS:
            item.add_marker(pytest.mark.xdist_group(kind))
        if not all_traced and (folder in NOT_THE_CORE or (item.get_closest_marker("slow") and not reaches_more)):
            item.add_marker("no_cover")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one process as a whole, and each kind of `OWN_PROCESS`: what its tests share is made once."""

    class ByKindOrFile(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            kind_or_test = super()._split_scope(nodeid)
            return kind_or_test.split("::")[0]

    return ByKindOrFile(config, log)


def _kind(item):
    """Return what kind of test it is: the folder's, and "browser" wherever a test drives Chromium."""
    return "browser" if "chromium" in getattr(item, "fixturenames", ()) else item.path.relative_to(HERE).parts[0]


def _level(item):
    """Return the highest of its levels, or None for a test of every day."""
    return next((kind for kind in LEVELS if item.get_closest_marker(kind)), None)
