import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from objpert_core import datasets
from objpert_core.datasets import _catalogue
from objpert_core.exceptions import DataUnavailableError

OFFLINE = ("adult-synthetic", "gisette-like", "synthetic-l", "synthetic-h", "breast-cancer", "digits-4-9", "digits")


def test_the_names() -> None:
    assert set(datasets.names()) == {"adult", "gisette", *OFFLINE}
    assert set(datasets.names(classes=2)) == set(datasets.names()) - {"digits"}
    assert datasets.names(classes=3) == ()


@pytest.mark.parametrize(
    "function", [datasets.load, datasets.describe, datasets.available, datasets.damage, datasets.fetch]
)
@pytest.mark.parametrize("name", ["mnist", "Adult", "", None, 3])
def test_an_unknown_name_is_refused_with_the_known_ones(function, name) -> None:
    with pytest.raises(ValueError, match=r"name must be one of 'adult', .*'digits', got " + repr(name)):
        function(name)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True, np.nan])
def test_a_bad_split_seed_is_refused(seed) -> None:
    with pytest.raises(ValueError, match="split_seed must be a whole number >= 0, got "):
        datasets.load("digits-4-9", split_seed=seed)


def test_a_bad_split_seed_is_refused_before_anything_is_fetched(server, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", server.url)
    with pytest.raises(ValueError, match="split_seed"):
        datasets.load("adult", split_seed=-1)
    assert server.requests == []


def test_numpy_seeds_are_seeds() -> None:
    assert datasets.load("digits-4-9", split_seed=np.int64(2)) is datasets.load("digits-4-9", split_seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFLINE)
def test_offline_sets_need_no_network(name: str, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://127.0.0.1:1/")
    assert datasets.available(name)
    assert datasets.fetch(name) == []
    data = datasets.load(name)
    assert data.name == name
    assert len(data.feature_names) == data.X_train.shape[1] == data.X_test.shape[1]
    assert data.X_train.dtype == data.X_test.dtype == np.float64
    assert data.y_train.dtype == data.y_test.dtype == np.int64
    assert set(data.y_train) == set(data.y_test) == set(range(len(data.classes)))
    assert len(data.X_train) == 4 * (len(data.X_train) + len(data.X_test)) // 5
    assert data.stand_in == (name in ("adult-synthetic", "gisette-like"))
    assert not any(a.flags.writeable for a in (data.X_train, data.y_train, data.X_test, data.y_test))
    assert all(isinstance(text, str) and text for text in (data.origin, data.citation, data.licence, *data.classes))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult-synthetic", "synthetic-l", "breast-cancer", "digits-4-9"])
def test_the_seed_decides_the_split_and_nothing_else(name: str) -> None:
    first, other = datasets.load(name, split_seed=0), datasets.load(name, split_seed=1)
    _catalogue._cache.clear()
    again = datasets.load(name, split_seed=0)
    assert again is not first
    np.testing.assert_array_equal(first.X_train, again.X_train)
    np.testing.assert_array_equal(first.y_test, again.y_test)
    assert (first.X_train != other.X_train).any()
    everything = [np.concatenate([d.X_train, d.X_test]).sum(axis=0) for d in (first, other)]
    np.testing.assert_allclose(*everything, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", datasets.names())
def test_descriptions(name: str) -> None:
    text = datasets.describe(name)
    assert "Licence: " in text
    assert ("Stand-in for" in text) == (name in ("adult-synthetic", "gisette-like"))
    assert "\n" not in text


def test_offline_and_without_files_adult_says_where_to_put_them(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://127.0.0.1:1/")
    assert not datasets.available("adult")
    assert datasets.default_name() == "adult-synthetic"
    with pytest.raises(DataUnavailableError) as caught:
        datasets.load("adult")
    assert f"Put adult.data, adult.test into {tmp_path / 'adult'}" in str(caught.value)


def test_with_the_files_adult_is_the_default(real_adult) -> None:
    assert datasets.available("adult")
    assert datasets.default_name() == "adult"


def test_a_damaged_adult_file_is_named_and_not_the_default(real_adult: Path, monkeypatch, tmp_path) -> None:
    shutil.copytree(real_adult, tmp_path / "adult")
    damaged = tmp_path / "adult" / "adult.test"
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes().replace(b"Private", b"Privatx", 1))
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    assert not datasets.available("adult")
    assert datasets.default_name() == "adult-synthetic"
    with pytest.raises(DataUnavailableError, match=r"adult\.test has the wrong SHA-256: expected a2a9044b.*, found "):
        datasets.load("adult")


@pytest.mark.slow
def test_adult_is_fetched_on_first_use(real_adult: Path, server, monkeypatch, tmp_path) -> None:
    for name in ("adult.data", "adult.test"):
        server.content[f"/adult/{name}"] = (real_adult / name).read_bytes()
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", server.url)
    assert not datasets.available("adult")
    assert len(datasets.load("adult").y_train) == 36_177
    assert datasets.default_name() == "adult"
    datasets.load("adult", split_seed=1)
    assert server.requests == ["/adult/adult.data", "/adult/adult.test"]


@pytest.mark.slow
def test_threads_share_one_copy(real_adult) -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda turn: datasets.load("adult", split_seed=turn % 2), range(16)))
    assert all(data is loaded[turn % 2] for turn, data in enumerate(loaded))
    assert loaded[0] is not loaded[1]
    assert datasets.load("adult", split_seed=0) is loaded[0]


def test_a_damaged_file_is_named_and_a_missing_one_is_not_damaged(server, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OBJPERT_DATA_URL", server.url)
    assert datasets.damage("adult") == ()
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.test").write_bytes(b"not the census")
    (message,) = datasets.damage("adult")
    found = hashlib.sha256(b"not the census").hexdigest()
    for part in (str(tmp_path / "adult" / "adult.test"), found, _catalogue.ADULT_FILES[1].sha256):
        assert part in message
    assert not datasets.available("adult")
    assert server.requests == []
