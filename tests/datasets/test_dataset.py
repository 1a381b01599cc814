import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from objpert_core.datasets import load
from objpert_core.datasets._catalogue import BoundedCache
from objpert_core.datasets._dataset import shuffled_split, training_size, unit_rows


def test_a_row_is_scaled_by_its_own_norm_only() -> None:
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((6, 4))
    np.testing.assert_array_equal(unit_rows(matrix.copy())[2:], unit_rows(matrix[2:].copy()))


def test_a_split_deals_out_every_row_once() -> None:
    features, labels = np.arange(22.0).reshape(11, 2), np.arange(11)
    X_train, y_train, X_test, y_test = shuffled_split(features, labels, 3)
    assert (len(X_train), len(X_test)) == (8, 3)
    assert sorted([*y_train, *y_test]) == list(range(11))
    np.testing.assert_array_equal(np.concatenate([X_train, X_test])[:, 0] / 2, np.concatenate([y_train, y_test]))


def test_the_split_is_decided_by_the_seed() -> None:
    features, labels = np.arange(100.0).reshape(50, 2), np.arange(50)
    first, again, other = (shuffled_split(features, labels, seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_paper_s_training_size() -> None:
    assert training_size(45_222) == 36_177


def test_a_dataset_cannot_be_changed() -> None:
    data = load("digits-4-9")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"  # type: ignore[misc]
    for array in (data.X_train, data.y_train, data.X_test, data.y_test):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert load("digits-4-9") is data is load("digits-4-9", split_seed=np.int64(0))
    assert data.nbytes == 361 * 64 * 8 + 361 * 8


@pytest.mark.thorough
def test_a_stand_in_says_so_wherever_it_is_named() -> None:
    stand_in, real = load("adult-synthetic"), load("digits-4-9")
    assert (stand_in.stand_in, real.stand_in) == (True, False)
    assert (stand_in.label, real.label) == ("adult-synthetic (stand-in for adult)", "digits-4-9")
    assert "stand-in for adult" in repr(stand_in)


# The cache


def _kilobytes(count: int) -> np.ndarray:
    return np.zeros(count * 128)


def test_the_least_recently_used_goes_first() -> None:
    cache = BoundedCache(3 * 1024)
    for key in "abc":
        cache.get(key, lambda: _kilobytes(1))
    kept = cache.get("a", lambda: pytest.fail("a was forgotten"))
    cache.get("d", lambda: _kilobytes(1))
    assert len(cache) == 3
    assert cache.get("a", lambda: pytest.fail("a was forgotten")) is kept
    remade = _kilobytes(1)
    assert cache.get("b", lambda: remade) is remade


def test_what_is_too_large_is_returned_but_not_kept() -> None:
    cache = BoundedCache(1024)
    small = cache.get("small", lambda: _kilobytes(1))
    assert cache.get("large", lambda: _kilobytes(2)).nbytes == 2048
    assert len(cache) == 1
    assert cache.get("small", lambda: pytest.fail("thrown out by a value that was not kept")) is small


def test_many_threads_make_a_value_once() -> None:
    cache = BoundedCache(1 << 20)
    made = []
    start = threading.Barrier(8)

    def make() -> np.ndarray:
        made.append(1)
        time.sleep(0.05)
        return _kilobytes(1)

    def ask(_: int) -> np.ndarray:
        start.wait()
        return cache.get("key", make)

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(value is values[0] for value in values)


def test_an_error_is_not_kept() -> None:
    cache = BoundedCache(1 << 20)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: _kilobytes(1 // 0))
    assert cache.get("key", lambda: _kilobytes(1)).nbytes == 1024
    cache.clear()
    assert len(cache) == 0
