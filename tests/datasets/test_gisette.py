from pathlib import Path

import numpy as np
import pytest

from objpert_core.datasets import fetch, gisette, load
from objpert_core.datasets._files import GISETTE_FILES
from objpert_core.exceptions import DataUnavailableError


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    texts = {
        "train.data": "3 0 4 \n0 5 12 \n",
        "valid.data": "1 0 0 \n",
        "train.labels": "1\n-1\n",
        "valid.labels": "1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_handmade_files(parts: list[Path]) -> None:
    features, labels = gisette.read(*parts)
    np.testing.assert_allclose(features, [[0.6, 0, 0.8], [0, 5 / 13, 12 / 13], [1, 0, 0]], rtol=1e-15)
    np.testing.assert_array_equal(labels, [1, 0, 1])


DAMAGED_FILES = [
    ("train.data", "3 0 4\n0 5\n", "every line must hold the same number of whole numbers"),
    ("train.data", "3 0 x\n0 5 1\n", "every line must hold the same number of whole numbers"),
    ("train.data", "3 0 4\n", "1 rows, but 2 labels"),
    ("valid.data", "1 0\n", "2 columns, but train.data has 3"),
    ("train.labels", "1\n0\n", "every line must be -1 or 1"),
    ("train.labels", "1 1\n-1 1\n", "every line must be -1 or 1"),
]


@pytest.mark.parametrize(("name", "text", "message"), DAMAGED_FILES)
def test_a_damaged_file_is_named(tmp_path: Path, parts: list[Path], name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"{name}: {message}"):
        gisette.read(*parts)


def test_load_fetches_from_a_server_and_splits(archive, small_gisette) -> None:
    archive.failures["/gisette/GISETTE/gisette_train.data"] = [503]
    data = load("gisette", _registry=small_gisette)
    assert data.X_train.shape == (40, 12)
    assert data.X_test.shape == (10, 12)
    assert data.feature_names[0] == "column 1"
    assert len(data.feature_names) == 12
    assert set(data.y_train) == {0, 1}
    np.testing.assert_allclose(np.linalg.norm(data.X_train, axis=1), 1.0, rtol=1e-12)
    asked = len(archive.requests)
    assert asked == 5  # four files and one second try
    other = load("gisette", split_seed=1, _registry=small_gisette)
    assert (other.X_train != data.X_train).any()
    assert len(archive.requests) == asked


def test_fetch_reports_each_file_and_the_rows_are_those_that_were_served(server, small_gisette, folder) -> None:
    seen: dict[str, tuple[int, int | None]] = {}
    paths = fetch(
        "gisette", lambda name, *done: seen.update({name: done}), base_url=server.url, _registry=small_gisette
    )
    sizes = [len(server.content["/" + raw.remote]) for raw in GISETTE_FILES]
    assert list(seen.items()) == [(raw.name, (n, n)) for raw, n in zip(GISETTE_FILES, sizes, strict=True)]
    assert [path.name for path in paths] == list(seen)
    rows = np.concatenate([np.loadtxt(path) for path in paths[:2]])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    data = load("gisette", _registry=small_gisette)
    ours = np.concatenate([data.X_train, data.X_test])
    np.testing.assert_allclose(ours[np.lexsort(ours.T)], rows[np.lexsort(rows.T)], rtol=1e-12)


def test_the_real_digests_refuse_files_of_the_same_form(server, small_gisette, folder) -> None:
    with pytest.raises(DataUnavailableError, match=r"gisette_train\.data .*what arrived has SHA-256 .*expected 6d4c5e"):
        fetch("gisette", base_url=server.url)
