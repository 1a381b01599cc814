"""Long work outside the web process, as people see it: a real server with a cluster of its own."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LONG_RUN, serve, visit
from tests.ui.waiting import until

psutil = pytest.importorskip("psutil", reason="needs the package distributed, which brings psutil")
pytest.importorskip("distributed", reason="work in other processes needs the package distributed")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def called(process):
    """The command line of a process, empty where it has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def the_cluster():
    """The process that the server keeps its cluster in, and that one's workers; other tests may have a cluster, too."""
    servers = [process for process in psutil.Process().children() if "streamlit run app.py" in called(process)]
    below = [child for server in servers for child in server.children()]
    (cluster,) = [process for process in below if "ui.jobs.dask_worker" in called(process)]
    return cluster, [child for child in cluster.children() if "spawn_main" in called(child)]


def test_a_run_is_trained_elsewhere_stops_says_that_its_worker_died_and_ends_with_the_server(monkeypatch, tab):
    monkeypatch.setenv("OBJPERT_DASK", "local")
    with serve() as address:
        visit(tab, address + LONG_RUN)
        run = tab.get_by_role("button", name="Run", exact=True)
        trained = tab.get_by_test_id("stProgress").filter(has_text=re.compile(r"models, .* step \d"))
        run.click()
        expect(trained).to_be_visible()
        tab.locator(".st-key-training_stop button").click()
        expect(tab.get_by_text(re.compile(r"^Stopped "))).to_be_visible()
        run.click()
        expect(trained).to_be_visible()
        cluster, workers = the_cluster()
        assert len(workers) == 2
        for worker in workers:
            worker.kill()
        ended = "The process that did this work has ended; nothing more was released"
        expect(tab.get_by_text(ended)).to_be_visible()
        cluster, workers = the_cluster()
        cluster.parent().kill()
        until(lambda: not any(process.is_running() for process in (cluster, *workers)))
