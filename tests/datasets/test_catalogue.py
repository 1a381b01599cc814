import hashlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from objpert_core import datasets
from objpert_core.datasets import _catalogue
from objpert_core.exceptions import DataUnavailableError

STAND_INS = {"adult-synthetic": "adult", "gisette-like": "gisette"}
QUICK = ("digits-4-9", "digits")
OFFLINE = {  # rows and columns, the classes where they have names, the least and the greatest number of rows of class 1
    "adult-synthetic": ((45_222, 105), None, (9_044, 13_567)),
    "gisette-like": ((6000, 5000), None, (3000, 3000)),
    "synthetic-l": ((10_000, 20), None, (4000, 6000)),
    "synthetic-h": ((5000, 5000), None, (2000, 3000)),
    "breast-cancer": ((569, 30), ("malignant", "benign"), (357, 357)),  # the published number of benign cases
    "digits-4-9": ((361, 64), None, (180, 180)),
    "digits": ((1797, 64), tuple("0123456789"), (182, 182)),
    "which-library": ((8000, 2000), ("scipy", "scikit-learn"), (4000, 4000)),
}


@pytest.mark.parametrize("name", datasets.names())
def test_the_names_and_what_is_said_of_them(name: str) -> None:
    assert set(datasets.names()) == {"adult", "gisette", *OFFLINE}
    assert set(datasets.names(classes=2)) == set(datasets.names()) - {"digits"}
    assert datasets.names(classes=3) == ()
    text = datasets.describe(name)
    assert "Licence: " in text
    assert ("Stand-in for" in text) == (name in STAND_INS)
    assert "\n" not in text


@pytest.mark.parametrize(
    "function", [datasets.load, datasets.describe, datasets.available, datasets.damage, datasets.fetch]
)
@pytest.mark.parametrize("name", ["mnist", "Adult", "", None, 3])
def test_an_unknown_name_is_refused_with_the_known_ones(function, name) -> None:
    with pytest.raises(ValueError, match=r"name must be one of 'adult', .*'which-library', got " + repr(name)):
        function(name)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True, np.nan])
def test_a_bad_split_seed_is_refused_before_anything_is_fetched(archive, seed) -> None:
    with pytest.raises(ValueError, match="split_seed must be a whole number >= 0, got "):
        datasets.load("adult", split_seed=seed)
    assert archive.requests == []


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in OFFLINE]
)
def test_offline_sets_need_no_network_and_have_the_shape_they_should(name: str, folder) -> None:
    shape, classes, ones = OFFLINE[name]
    assert datasets.available(name)
    assert datasets.fetch(name) == []
    data = datasets.load(name)
    assert data.name == name
    assert data.X_train.shape[0] == 4 * shape[0] // 5
    X, y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    assert X.shape == shape
    assert len(data.feature_names) == len(set(data.feature_names)) == shape[1]
    assert (X.dtype, y.dtype) == (np.float64, np.int64)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0, rtol=1e-12)
    assert data.classes == classes or classes is None
    assert set(data.y_train) == set(data.y_test) == set(range(len(data.classes)))
    assert ones[0] <= np.sum(y == 1) <= ones[1]
    assert data.stand_in_for == STAND_INS.get(name)
    assert not any(a.flags.writeable for a in (data.X_train, data.y_train, data.X_test, data.y_test))
    assert all(isinstance(text, str) and text for text in (data.origin, data.citation, data.licence, *data.classes))


def test_the_real_adult_is_the_default_where_its_files_are_whole(real_adult: Path, monkeypatch, tmp_path) -> None:
    assert datasets.available("adult")
    assert datasets.default_name() == "adult"
    shutil.copytree(real_adult, tmp_path / "adult")
    damaged = tmp_path / "adult" / "adult.test"
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes().replace(b"Private", b"Privatx", 1))
    monkeypatch.setenv("OBJPERT_DATA_DIR", str(tmp_path))
    assert datasets.default_name() == "adult-synthetic"
    with pytest.raises(DataUnavailableError, match=r"adult\.test has the wrong SHA-256: expected a2a9044b.*, found "):
        datasets.load("adult")


def test_a_missing_file_is_no_damaged_one_and_either_is_named(archive, folder, monkeypatch) -> None:
    assert datasets.damage("adult") == ()
    assert datasets.default_name() == "adult-synthetic"
    monkeypatch.setenv("OBJPERT_DATA_URL", "http://127.0.0.1:1/")
    with pytest.raises(DataUnavailableError, match=re.escape(f"Put adult.data, adult.test into {folder / 'adult'}")):
        datasets.load("adult")
    path = folder / "adult" / "adult.test"
    path.parent.mkdir()
    path.write_bytes(b"not the census")
    (message,) = datasets.damage("adult")
    for part in (str(path), hashlib.sha256(b"not the census").hexdigest(), _catalogue.ADULT_FILES[1].sha256):
        assert part in message
    assert not datasets.available("adult")
    assert archive.requests == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["adult", "adult-synthetic"])
def test_a_raw_table_has_the_rows_that_are_encoded(name, request) -> None:
    if name == "adult":
        request.getfixturevalue("real_adult")
    raw, data = datasets.load_raw(name), datasets.load(name)
    order = np.random.default_rng(0).permutation(len(raw.labels))[: len(data.y_train)]
    np.testing.assert_array_equal(raw.labels[order], data.y_train)
    assert raw.label == data.label
    assert list(raw.frame) == list(raw.columns)
    for column, known in raw.columns.items():
        values = raw.frame[column].to_numpy()[order]
        if isinstance(known, datasets.Categories):
            own = [data.feature_names.index(f"{column}={category}") for category in known.categories]
            np.testing.assert_array_equal(np.array(known.categories)[data.X_train[:, own].argmax(axis=1)], values)
        else:
            assert known.low <= values.min() < values.max() <= known.high


def test_a_set_without_a_raw_table_is_refused() -> None:
    with pytest.raises(ValueError, match="name must be one of 'adult', 'adult-synthetic', got 'digits'"):
        datasets.load_raw("digits")
