"""Rows that are walked several times, a block at a time: for tables that do not fit into memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

Block = tuple[Any, Any]
"""The rows of a block, shape (rows, d), and their targets, shape (rows,)."""
Made = TypeVar("Made")


class Blocks:
    """Rows and targets that are walked several times, a block at a time; `fit`, `predict` and `score` take them.

    A fit walks about ten times. What is released does not depend on how the rows were cut into blocks, but for where
    the solver stopped: centre and scales are sums of whole numbers, and a minimum is found to within τ/λ.

    Parameters
    ----------
    walk : callable
        Without arguments; every call gives the same blocks anew, pairs (X, y) of an array-like, sparse matrix or data
        frame of shape (rows, d) and an array-like of shape (rows,). An exception raised while walking ends the fit and
        is passed on: so a walk can be stopped between two blocks, and nothing is released.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])
    >>> blocks = Blocks(lambda: ((X[i : i + 2], y[i : i + 2]) for i in range(0, 6, 2)))
    >>> [rows.shape for rows, _ in blocks]
    [(2, 6), (2, 6), (2, 6)]
    """

    def __init__(self, walk: Callable[[], Iterable[Block]]) -> None:
        self._walk = walk

    def __iter__(self) -> Iterator[Block]:
        return iter(self._walk())

    def each(self, work: Callable[[int, Any, Any], Made]) -> Iterator[Made]:
        """What ``work(place, X, y)`` makes of every block, in order; the next is read while the last is worked on."""
        return (work(place, *block) for place, block in enumerate(read_ahead(self)))

    def through(self, work: Callable[[int, Any, Any], Block]) -> Blocks:
        """Blocks that `work` makes of these blocks."""
        return Blocks(lambda: (work(place, *block) for place, block in enumerate(self)))

    def on(self, client: Any) -> Blocks:
        """These blocks on the cluster of a `distributed.Client`: its workers read them, keep them and sum over them."""
        raise ValueError(f"X must be a table's blocks or a Dask collection for a cluster, got {type(self).__name__}")


class _OfDask(Blocks):
    """The partitions of Dask's collections."""

    def __init__(self, rows: list[Any], targets: list[Any] | None) -> None:
        super().__init__(self._computed)
        self._pairs = [(part, None if targets is None else targets[place]) for place, part in enumerate(rows)]

    def _computed(self) -> Iterator[Block]:
        for part, targets in self._pairs:
            yield part.compute(), None if targets is None else targets.compute()

    def on(self, client: Any) -> Blocks:
        """See `Blocks.on`."""
        from objpert_core.cluster import OnWorkers

        parts = [[None if one is None else client.compute(one) for one in pair] for pair in self._pairs]
        return OnWorkers.of_parts(client, parts)


def as_blocks(X: Any, y: Any = None) -> Blocks | None:
    """`X` itself if it is `Blocks`, the partitions of Dask's arrays and frames, and None of anything else.

    Where a Dask client is current, partitions stay on its workers. `ValueError` if `y` does not go with `X`.
    """
    if isinstance(X, Blocks):
        if y is not None:
            raise ValueError(f"y must be left out where X is Blocks, which have targets, got {type(y).__name__}")
        return X
    if not _of_dask(X):
        return None
    if y is not None and not _of_dask(y):
        raise ValueError(f"y must be a Dask collection as X is, got {type(y).__name__}")
    rows, targets = _partitions(X), None if y is None else _partitions(y)
    if targets is not None and len(targets) != len(rows):
        raise ValueError(f"y must have as many partitions as X, {len(rows)}, got {len(targets)}")
    blocks = _OfDask(rows, targets)
    client = _current_client()
    return blocks if client is None else blocks.on(client)


def _current_client() -> Any:
    if "distributed" in sys.modules:
        with suppress(ValueError):  # there is none
            return sys.modules["distributed"].default_client()
    return None


def read_ahead(blocks: Iterable[Block]) -> Iterator[Block]:
    """Walk, and read the next block while somebody works on the last."""
    end = object()
    with ThreadPoolExecutor(1, "objpert-reader") as reader:
        walking = iter(blocks)
        coming = reader.submit(next, walking, end)
        while (block := coming.result()) is not end:
            coming = reader.submit(next, walking, end)
            yield block  # type: ignore[misc]


def _of_dask(collection: Any) -> bool:
    return type(collection).__module__.partition(".")[0] in ("dask", "dask_expr")


def _partitions(collection: Any) -> list[Any]:
    if hasattr(collection, "npartitions") and hasattr(collection, "partitions"):
        parts = collection.partitions
        count = collection.numblocks[0] if hasattr(collection, "numblocks") else collection.npartitions
    else:
        parts, count = collection.blocks, collection.numblocks[0]
    return [parts[place] for place in range(count)]
