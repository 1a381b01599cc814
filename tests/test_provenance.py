"""Where a result came from: the commit with its mark for changes, versions, machine."""

import subprocess

import numpy as np
import pytest

import objpert_core
from objpert_core import _provenance


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one commit of two files, and a function that runs git in it."""

    def git(*words):
        name = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        return subprocess.run(["git", *name, *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    for name in ("measured.py", "other.py"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    return tmp_path, git("rev-parse", "--short", "HEAD").strip()


def test_a_clean_checkout_is_its_commit(checkout):
    folder, head = checkout
    assert _provenance.commit(folder=folder) == head
    assert _provenance.commit(folder / "measured.py", folder=folder) == head


def test_changes_are_marked_where_they_matter(checkout):
    folder, head = checkout
    (folder / "other.py").write_text("2\n")
    assert _provenance.commit(folder=folder) == head + "+"
    assert _provenance.commit(folder / "measured.py", folder=folder) == head
    assert _provenance.commit(folder / "measured.py", folder / "other.py", folder=folder) == head + "+"


def test_outside_a_checkout_the_commit_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert _provenance.commit(folder=tmp_path) == "unknown"


def test_without_git_the_commit_is_unknown(monkeypatch):
    def no_git(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", no_git)
    assert _provenance.commit() == "unknown"


def test_versions_name_this_package_first():
    assert _provenance.versions(np).startswith(f"objpert {objpert_core.__version__}, python 3.")
    assert _provenance.versions(np).endswith(f", numpy {np.__version__}")


def test_the_machine_has_cores_also_where_no_processor_is_told(monkeypatch):
    def no_file(*_, **__):
        raise FileNotFoundError

    told = _provenance.machine()
    monkeypatch.setattr(_provenance.Path, "read_text", no_file)
    assert told.endswith(" cores")
    assert _provenance.machine().endswith(" cores")
