"""Settings of the whole suite: the random examples, and where coverage is counted."""

import os
from pathlib import Path

from hypothesis import settings

# No deadlines anywhere: how fast a machine is, and how busy, is not what these tests are about. In CI hypothesis draws
# the same examples on every run, everywhere else new ones.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

HERE = Path(__file__).parent
NOT_THE_CORE = {"browser", "pages", "ui"}
SWEEPS = {  # files of tests/accounting whose slow tests go over what quick ones have been through
    "test_true_privacy.py",
    "test_composition.py",
    "test_composition_properties.py",
    "test_simple.py",
    "test_logistic.py",
}


def pytest_collection_modifyitems(items):
    """Count coverage in the core's own tests only, and not in sweeps.

    Tracing doubles the time of what computes much, and neither sweeps over what quick tests have already been through
    nor tests of pages and charts should hide that a line of the core has no test of its own.
    """
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        sweep = folder == "accounting" and item.path.name in SWEEPS and item.get_closest_marker("slow")
        if folder in NOT_THE_CORE or sweep:
            item.add_marker("no_cover")
