import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from objpert_core import _provenance
from objpert_core.datasets import _files
from objpert_core.datasets._files import RawFile, data_folder, obtain, present
from objpert_core.exceptions import DataUnavailableError

BODY = b"five rows of something\n" * 5000
RAW = RawFile("toy", "toy.data", "toy/TOY/toy.data", hashlib.sha256(BODY).hexdigest())
ADDRESS = "/toy/TOY/toy.data"


@pytest.fixture
def toy(server):
    server.content[ADDRESS] = BODY
    return server


@pytest.fixture
def on_disk(tmp_path: Path) -> Path:
    path = tmp_path / "toy" / "toy.data"
    path.parent.mkdir()
    path.write_bytes(BODY)
    return path


def test_a_file_on_disk_needs_no_network(tmp_path: Path) -> None:
    for place in ("toy/toy.data", "toy/TOY/toy.data"):
        root = tmp_path / place.replace("/", "-")
        (root / place).parent.mkdir(parents=True)
        (root / place).write_bytes(BODY)
        assert obtain([RAW], root, url="http://127.0.0.1:1/") == [root / place]


def test_a_missing_file_is_fetched_verified_and_installed_and_progress_runs_up_to_its_end(toy, tmp_path: Path) -> None:
    calls: list[tuple[str, int, int | None]] = []
    assert not present([RAW], tmp_path)
    path = tmp_path / "toy" / "toy.data"
    assert obtain([RAW], tmp_path, url=toy.url, progress=lambda *call: calls.append(call)) == [path]
    assert path.read_bytes() == BODY
    assert present([RAW], tmp_path)
    assert os.listdir(tmp_path / "toy") == ["toy.data"]
    done = [count for _, count, _ in calls]
    assert done == sorted(done)
    assert len(calls) > 10
    assert calls[-1] == ("toy.data", len(BODY), len(BODY))


def test_progress_may_stop_the_transfer(toy, tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        obtain([RAW], tmp_path, url=toy.url, progress=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failures", [[503, 503], ["cut", 500], [429]])
def test_passing_failures_are_tried_again(toy, tmp_path: Path, failures: list) -> None:
    toy.failures[ADDRESS] = list(failures)
    assert obtain([RAW], tmp_path, url=toy.url)[0].read_bytes() == BODY
    assert len(toy.requests) == len(failures) + 1


@pytest.mark.parametrize(("status", "pauses"), [(500, [0.5, 1.0, 2.0]), (404, [])])
def test_the_pause_doubles_and_a_file_that_does_not_exist_is_asked_for_once(
    toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, pauses: list[float]
) -> None:
    paused: list[float] = []
    monkeypatch.setattr(_files.time, "sleep", paused.append)
    toy.failures[ADDRESS] = [status] * 9
    with pytest.raises(DataUnavailableError, match=f"HTTP status {status}"):
        obtain([RAW], tmp_path, url=toy.url, attempts=4, pause=0.5)
    assert paused == pauses
    assert len(toy.requests) == len(pauses) + 1


def test_a_corrupt_download_is_refused_and_leaves_nothing(toy, tmp_path: Path) -> None:
    toy.content[ADDRESS] = damaged = BODY[:-1] + b"x"
    with pytest.raises(DataUnavailableError) as caught:
        obtain([RAW], tmp_path, url=toy.url)
    message = str(caught.value)
    assert hashlib.sha256(damaged).hexdigest() in message
    assert RAW.sha256 in message
    assert str(tmp_path / "toy") in message
    assert len(toy.requests) == 3
    assert list(tmp_path.iterdir()) == []


def test_offline_the_message_names_the_folder_and_every_file(tmp_path: Path) -> None:
    other = RawFile("toy", "toy.labels", "toy/toy.labels", "0" * 64)
    with pytest.raises(DataUnavailableError) as caught:
        obtain([RAW, other], tmp_path, url="http://127.0.0.1:1/")
    message = str(caught.value)
    assert "could not be fetched from http://127.0.0.1:1/toy/TOY/toy.data (ConnectionError)" in message
    assert f"Put toy.data, toy.labels into {tmp_path / 'toy'}" in message
    assert "OBJPERT_DATA_DIR" in message
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_digest_on_disk_names_file_and_both_digests(toy, tmp_path: Path, on_disk: Path) -> None:
    assert present([RAW], tmp_path)
    on_disk.write_bytes(b"something else")  # what was verified is verified again
    found = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(DataUnavailableError, match=re.escape(str(on_disk))) as caught:
        obtain([RAW], tmp_path, url=toy.url)
    assert RAW.sha256 in str(caught.value)
    assert found in str(caught.value)
    assert not present([RAW], tmp_path)
    assert on_disk.read_bytes() == b"something else"
    assert toy.requests == []


def test_a_folder_that_cannot_be_written_is_named(toy, tmp_path: Path) -> None:
    (tmp_path / "toy").write_text("a file where the folder should be")
    with pytest.raises(DataUnavailableError, match=f"cannot be written to {re.escape(str(tmp_path / 'toy'))}"):
        obtain([RAW], tmp_path, url=toy.url)


def test_a_failed_move_leaves_no_partial_file(toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_files.os, "replace", full)
    with pytest.raises(DataUnavailableError, match="No space left on device"):
        obtain([RAW], tmp_path, url=toy.url)
    assert list((tmp_path / "toy").iterdir()) == []


def test_threads_fetch_a_file_once(toy, tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        paths = list(pool.map(lambda _: obtain([RAW], tmp_path, url=toy.url), range(6)))
    assert len(toy.requests) == 1
    assert all(path == paths[0] for path in paths)


def test_the_data_folder_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Path(_files.__file__).resolve().parents[2]
    assert data_folder() == checkout / "data" / "downloads"
    own = {str(tmp_path): tmp_path, "~/somewhere": Path.home() / "somewhere", "  ": checkout / "data" / "downloads"}
    for value, folder in own.items():
        monkeypatch.setenv("OBJPERT_DATA_DIR", value)
        assert data_folder() == folder
    # An installed package has no data/ beside it.
    monkeypatch.setattr(_provenance, "PACKAGE", tmp_path / "site-packages" / "objpert_core")
    assert data_folder().name.startswith("objpert")
    assert checkout not in data_folder().parents


def test_the_address_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _files.base_url() == "https://archive.ics.uci.edu/ml/machine-learning-databases/"
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://mirror.example/uci")
    assert _files.base_url() == "http://mirror.example/uci/"
