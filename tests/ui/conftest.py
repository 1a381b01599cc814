"""What everything needs that opens a page in Streamlit's test driver; work that tests let go on."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from tests.ui.waiting import Gate, until
from ui.jobs import JobRunner


@pytest.fixture(scope="session", autouse=True)
def packages_are_searched_once():
    """Streamlit's driver reads the metadata of every installed package whenever a page is opened, which takes longer
    than most pages do. What is installed does not change while the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def scripts_run_undisturbed():
    """Streamlit's driver looks through all events of a script every millisecond until it has ended, at the cost of the
    script, which has the same processor. Here it waits for the script's thread first."""
    look = local_script_runner.require_widgets_deltas

    def wait(runner, timeout):
        if thread := getattr(runner, "_script_thread", None):
            thread.join(timeout)
        look(runner, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture
def gates():
    """Makes gates; all are open when the test ends."""
    made = []

    def make():
        made.append(Gate())
        return made[-1]

    yield make
    for gate in made:
        gate.opened.set()


@pytest.fixture
def runners():
    """Makes runners; none leaves work behind."""
    made = []

    def make(**options):
        made.append(JobRunner(**options))
        return made[-1]

    yield make
    for runner in made:
        for job in (*runner._running, *runner._waiting):
            job.stop()
        until(lambda runner=runner: runner.counts() == (0, 0))
