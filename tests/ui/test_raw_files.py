"""Fetching a data set's raw files in the background."""

import threading

from objpert_core import datasets
from objpert_core.datasets._files import ADULT_FILES, GISETTE_FILES
from tests.ui.waiting import ended, until
from ui.jobs import JobRunner
from ui.raw_files import RAW_FILES, fetch, progress


def test_the_named_files_are_those_the_loader_wants():
    assert RAW_FILES["adult"] == tuple(file.name for file in ADULT_FILES)
    assert set(RAW_FILES["gisette"]) == {file.name for file in GISETTE_FILES}


def test_progress_arrives_while_the_transfer_runs_and_stop_breaks_it_off(monkeypatch):
    at_half, go_on = threading.Event(), threading.Event()
    reached_the_end = []

    def slow(name, progress):
        assert name == "adult"
        progress("adult.data", 2_000_000, 4_000_000)
        at_half.set()
        go_on.wait(5)
        progress("adult.data", 3_000_000, 4_000_000)
        reached_the_end.append(True)
        return []

    monkeypatch.setattr(datasets, "fetch", slow)
    job = JobRunner().submit("a", fetch("adult"))
    until(at_half.is_set)
    assert progress(job.view()) == (0.5, "adult.data: 2.0 of 4.0 MB")
    job.stop()
    go_on.set()
    assert ended(job).state == "stopped"
    assert not reached_the_end


def test_a_finished_download_names_its_files(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "fetch", lambda name, progress: [tmp_path / "adult.data", tmp_path / "adult.test"])
    last = ended(JobRunner().submit("a", fetch("adult")))
    assert (last.state, last.latest.files) == ("finished", ["adult.data", "adult.test"])
