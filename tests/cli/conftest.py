import pytest

from tests.cli.console import PEOPLE, town


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where commands run, with a file of people in it."""
    (tmp_path / "people.csv").write_bytes(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def town_too(folder):
    """The same with a larger file of people beside it."""
    (folder / "town.csv").write_bytes(town())
    return folder
