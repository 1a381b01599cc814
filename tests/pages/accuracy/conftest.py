"""Made-up files of results in place of those of the repository."""

import pytest

from objpert_core.experiments import indexed, results
from tests.pages.accuracy.runs import write


@pytest.fixture(scope="session")
def made_up_files(tmp_path_factory):
    where = tmp_path_factory.mktemp("results")
    for dataset in ("synthetic-l", "adult-synthetic", "adult"):
        write(where, dataset)
    write(where, "adult", key="adult-scaling-1", note="the paper's constant feature 1")
    return where


@pytest.fixture
def stored_here(monkeypatch, made_up_files):
    monkeypatch.setattr(results, "folder", lambda: made_up_files)


@pytest.fixture
def adult(stored_here):
    return indexed.load("adult")
