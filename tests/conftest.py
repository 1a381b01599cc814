"""Settings of the whole suite: the random examples, and where coverage is counted."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.chromium import chromium  # noqa: F401  a fixture

# No deadlines anywhere: how fast a machine is, and how busy, is not what these tests are about. In CI hypothesis draws
# the same examples on every run, everywhere else new ones.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

HERE = Path(__file__).parent
OWN_PROCESS = {"browser", "deploy", "packaging", "test_architecture.py"}
"""Chromium, servers, wheels, and what parses every file: each kind has one of pytest-xdist's processes."""
NOT_THE_CORE = {"browser", "deploy", "pages", "ui"}
COVERED_WHEN_SLOW = {"datasets", "experiments", "theory", "test_doctests.py"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Count coverage in the core's own tests only: those of pages and charts should not hide that a line has none.

    Slow tests of accounting, of learning and of estimators go over what quick tests have been through: tracing doubles
    their time. Those of experiments and of data sets, and examples of docstrings, reach what no quick test does, and so
    do the few that are marked `covered`.

    Slow and exhaustive tests run where `-m` names them or their own name is given, and nowhere else: any other `-m`
    would take the place of a default one.
    """
    if not any("::" in argument for argument in config.args):
        for kind in ("slow", "exhaustive"):
            if kind not in config.option.markexpr:
                left_out = [item for item in items if item.get_closest_marker(kind)]
                items[:] = [item for item in items if not item.get_closest_marker(kind)]
                config.hook.pytest_deselected(items=left_out)
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        reaches_more = folder in COVERED_WHEN_SLOW or item.get_closest_marker("covered")
        kind = "browser" if "chromium" in getattr(item, "fixturenames", ()) else folder
        if kind in OWN_PROCESS:
            item.add_marker(pytest.mark.xdist_group(kind))
        if folder in NOT_THE_CORE or (item.get_closest_marker("slow") and not reaches_more):
            item.add_marker("no_cover")
