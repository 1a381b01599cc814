"""What everything needs that opens a page in Streamlit's test driver; work that tests let go on; a real cluster."""

import itertools
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from tests.ui.waiting import until
from tests.ui.works import Gate


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


@pytest.fixture(scope="session")
def cluster_of_two():
    """Two worker processes, started once; a test that ends one of them waits until there are two again."""
    pytest.importorskip("distributed", reason="work in other processes needs the package distributed")
    from ui.jobs.dask_client import Cluster

    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def engine(request):
    """Where work is done: every promise of the runner holds for each of them."""
    return None if request.param == "threads" else request.getfixturevalue("cluster_of_two")


@pytest.fixture
def gates(tmp_path):
    """Makes gates; all are open when the test ends."""
    made, numbers = [], itertools.count()

    def make():
        made.append(Gate(tmp_path / f"gate{next(numbers)}"))
        return made[-1]

    yield make
    for gate in made:
        gate.open()


@pytest.fixture
def runners(engine):
    """Makes runners that have their work done by the engine; none leaves work behind."""
    from ui.jobs import JobRunner

    made = []

    def make(**options):
        made.append(JobRunner(engine=engine, **options))
        return made[-1]

    yield make
    for runner in made:
        for job in (*runner._running, *runner._waiting):
            job.stop()
        until(lambda runner=runner: runner.counts() == (0, 0))
