import pytest

from tests.cli.console import PEOPLE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where commands run, with a file of people in it."""
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path
