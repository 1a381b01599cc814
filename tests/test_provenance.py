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


def test_a_checkout_is_its_commit_and_changes_are_marked_where_they_matter(checkout):
    folder, head = checkout
    assert _provenance.commit(folder=folder) == head
    assert _provenance.commit(folder / "measured.py", folder=folder) == head
    (folder / "other.py").write_text("2\n")
    assert _provenance.commit(folder=folder) == head + "+"
    assert _provenance.commit(folder / "measured.py", folder=folder) == head
    assert _provenance.commit(folder / "measured.py", folder / "other.py", folder=folder) == head + "+"


VERSION = f"objpert_core {objpert_core.__version__}"


def test_outside_a_checkout_there_is_the_version(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert _provenance.commit(folder=tmp_path) == VERSION


def test_without_git_there_is_the_version(monkeypatch):
    def no_git(*_, **__):
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", no_git)
    assert _provenance.commit() == VERSION


def test_a_package_installed_below_another_project_does_not_take_its_commit(checkout):
    folder, head = checkout
    installed = folder / "venv" / "site-packages" / "objpert_core"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("1\n")
    assert _provenance.commit(folder=installed) == VERSION
    (folder / ".gitignore").write_text("venv\n")
    assert _provenance.commit(folder=installed) == VERSION
    assert _provenance.commit(folder=folder) == head + "+"


def test_a_hook_of_another_project_does_not_lend_its_commit(checkout, tmp_path_factory, monkeypatch):
    folder, head = checkout
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(folder))
    assert _provenance.commit(folder=elsewhere) == VERSION
    assert _provenance.commit(folder=folder) == head


def test_only_a_checkout_of_this_project_is_its_checkout(tmp_path, monkeypatch):
    assert _provenance.checkout() == _provenance.PACKAGE.parent
    monkeypatch.setattr(_provenance, "PACKAGE", tmp_path / "objpert_core")
    assert _provenance.checkout() is None
    (tmp_path / "data").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\n')
    assert _provenance.checkout() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "objpert"\n')
    assert _provenance.checkout() == tmp_path


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


def test_a_table_comes_back_with_its_notes(tmp_path):
    path = tmp_path / "table.csv"
    rows = [{"method": "tight, ours", "accuracy": 0.84, "note": None}, {"method": 'a "b"', "accuracy": 1, "note": ""}]
    _provenance.write_table(path, iter(rows), {"command": "python -m x --n 1", "seeds": "0: yes"})
    found = _provenance.read_table(path)
    assert found.notes == {"command": "python -m x --n 1", "seeds": "0: yes"}
    assert [list(row.values()) for row in found.rows] == [["tight, ours", "0.84", ""], ['a "b"', "1", ""]]


@pytest.mark.thorough
@pytest.mark.parametrize("path", sorted((_provenance.PACKAGE.parent / "data" / "results").glob("*.csv")), ids=str)
def test_every_stored_result_is_a_table_that_names_its_command(path):
    found = _provenance.read_table(path)
    assert found.rows
    text = path.read_text(encoding="utf-8")
    assert "python -m " in text.partition("\n")[0] or all(row.get("command", "python -m ") for row in found.rows)
    assert "commit" in text


def test_a_line_that_is_still_being_written_is_left_out(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("# a comment\n# name: value\n\na,b\n1,2\n3,")
    assert _provenance.read_table(path) == _provenance.Table({"name": "value"}, ({"a": "1", "b": "2"},))
