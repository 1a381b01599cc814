import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from objpert_core.datasets._cache import BoundedCache


def _kilobytes(count: int) -> np.ndarray:
    return np.zeros(count * 128)


def test_the_least_recently_used_goes_first() -> None:
    cache: BoundedCache[np.ndarray] = BoundedCache(3 * 1024)
    for key in "abc":
        cache.get(key, lambda: _kilobytes(1))
    kept = cache.get("a", lambda: pytest.fail("a was forgotten"))
    cache.get("d", lambda: _kilobytes(1))
    assert len(cache) == 3
    assert cache.get("a", lambda: pytest.fail("a was forgotten")) is kept
    remade = _kilobytes(1)
    assert cache.get("b", lambda: remade) is remade


def test_what_is_too_large_is_returned_but_not_kept() -> None:
    cache: BoundedCache[np.ndarray] = BoundedCache(1024)
    small = cache.get("small", lambda: _kilobytes(1))
    assert cache.get("large", lambda: _kilobytes(2)).nbytes == 2048
    assert len(cache) == 1
    assert cache.get("small", lambda: pytest.fail("thrown out by a value that was not kept")) is small


def test_many_threads_make_a_value_once() -> None:
    cache: BoundedCache[np.ndarray] = BoundedCache(1 << 20)
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
    cache: BoundedCache[np.ndarray] = BoundedCache(1 << 20)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: _kilobytes(1 // 0))
    assert cache.get("key", lambda: _kilobytes(1)).nbytes == 1024
    cache.clear()
    assert len(cache) == 0
