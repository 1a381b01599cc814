"""Fetching a data set's raw files in the background."""

import threading

import pytest

from objpert_core import DataUnavailableError, datasets
from objpert_core.datasets._files import ADULT_FILES, GISETTE_FILES
from tests.ui.waiting import ended, until
from ui.jobs import JobRunner, JobView
from ui.raw_files import RAW_FILES, Download, fetch, progress


def view(state="running", latest=None, **more):
    return JobView(state, latest, more.get("message"), more.get("ahead", 0), more.get("stopping", False), 1.0)


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


@pytest.mark.slow
def test_no_network_is_one_sentence_that_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://127.0.0.1:9")  # nobody listens there
    last = ended(JobRunner().submit("a", fetch("adult")))
    assert last.state == "failed"
    assert str(tmp_path) in last.message
    assert "Traceback" not in last.message


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (view("waiting", ahead=2), (0.0, "Waiting for a free slot (2 ahead of you).")),
        (view("waiting"), (0.0, "Waiting for a free slot (you are next).")),
        (view(), (0.0, "Asking the server …")),
        (view(latest=Download("adult.data", 10**6, None)), (0.0, "adult.data: 1.0 MB")),
        (view(latest=Download("adult.data", 9, 6)), (1.0, "adult.data: 0.0 of 0.0 MB")),
        (view(latest=Download("adult.data", 1, 2), stopping=True), (0.0, "Stopping …")),
    ],
)
def test_progress_in_words(shown, expected):
    assert progress(shown) == expected


def test_errors_pass_through_untouched(monkeypatch):
    def broken(name, progress):
        raise DataUnavailableError("adult.data has the wrong SHA-256")

    monkeypatch.setattr(datasets, "fetch", broken)
    assert ended(JobRunner().submit("a", fetch("adult"))).message == "adult.data has the wrong SHA-256"
