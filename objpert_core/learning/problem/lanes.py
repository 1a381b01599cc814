"""Sums over blocks of rows, on as many threads as BLAS may use; the order of a sum never depends on their number.

BLAS gets one thread, as its own would wake for each small product, and blocks are shared out among threads of our own.
They come in lanes, each added up in order, and so are the lanes' sums: the same digits on one core as on many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from operator import add
from threading import Lock, local
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

LANES = 4
"""Partial sums are kept, and memory used, for that many lanes."""
_FEW = 2  # blocks for which no thread is woken

Block = TypeVar("Block")


class _Cores:
    """The threads of all fits under way in this process, while there is one; see `all_cores`."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.pool: ThreadPoolExecutor | None = None
        self.limit: Any = None


_CORES = _Cores()
_HERE = local()  # has `ours` on a thread of the pool


def _mark() -> None:
    _HERE.ours = True


@contextmanager
def all_cores() -> Iterator[None]:
    """Within, BLAS has one thread, and `summed` as many as BLAS had before."""
    with _CORES.lock:
        _CORES.users += 1
        if _CORES.users == 1:
            blas = _blas()
            threads = min(max((library.num_threads for library in blas.lib_controllers), default=1), _processors())
            if threads > 1:
                _for_any_thread(blas)
                _CORES.limit = blas.limit(limits=1)
                _CORES.pool = ThreadPoolExecutor(threads, "objpert", initializer=_mark)
    try:
        yield
    finally:
        with _CORES.lock:
            _CORES.users -= 1
            if _CORES.users == 0 and _CORES.pool is not None:
                _CORES.pool.shutdown()
                _for_any_thread(_blas())
                _CORES.limit.restore_original_limits()
                _for_any_thread(_blas())
                _CORES.pool = _CORES.limit = None


def mapped(work: Callable[[Block], Any], blocks: Sequence[Block]) -> list[Any]:
    """What `work` makes of each block, in order; called on one of these threads it uses no others, or it would wait
    for itself."""
    pool = _CORES.pool
    if pool is None or len(blocks) <= _FEW or hasattr(_HERE, "ours"):
        return [work(block) for block in blocks]
    return list(pool.map(work, blocks))


def summed(term: Callable[[Block], Any], blocks: Sequence[Block], *, narrow: bool = False) -> Any:
    """Σ of the arrays that `term` makes of the blocks, 0 of none; `narrow` where a term is many short operations."""
    size = -(-len(blocks) // LANES)

    def lane(start: int) -> Any:
        return reduce(add, map(term, blocks[start : start + size]))

    starts = range(0, len(blocks), size or 1)
    return reduce(add, map(lane, starts) if narrow else mapped(lane, starts), 0)


def shares(n_rows: int) -> list[slice]:
    """All rows, in one part for each lane."""
    size = max(1, -(-n_rows // LANES))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def slices(n_rows: int, size: int, stride: int = 1) -> list[slice]:
    """Some rows at a time, every `stride`-th of them."""
    return [slice(start, min(start + size * stride, n_rows), stride) for start in range(0, n_rows, size * stride)]


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _for_any_thread(blas: ThreadpoolController) -> None:
    # From version 3.8 on threadpoolctl listens to one thread alone, the first that set a limit. Of fits side by side
    # the first sets the limit, and the last to end restores the limit.
    for library in blas.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
