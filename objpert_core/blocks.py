"""Rows that are walked several times, a block at a time: for tables that do not fit into memory, here or on a cluster.

On a Dask cluster a worker gets a function, for instance the gradient at a θ, and gives a sum. It never draws noise, and
no noise is sent to it: sources of noise and perturbations refuse to be pickled. If a worker dies, another one sums
again, which gives the same sum. An error about a row comes back as a result: as an exception Dask would write the
arguments, which are rows, to the worker's log.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

Block = tuple[Any, ...]
"""The rows of a block, shape (rows, d), their targets, shape (rows,), and their own weights, if they have any."""
Made = TypeVar("Made")
_PATIENCE = 10  # seconds for a scheduler to answer


class Blocks:
    """Rows and targets that are walked several times, a block at a time; `fit`, `predict` and `score` take them.

    A fit walks some six to eight times, and more often with private ranges or over 400 parameters. What is released
    does not depend on how the rows were cut into blocks, but for where the solver stopped: centre and scales are sums
    of whole numbers, and a minimum is found to within τ/λ.

    Parameters
    ----------
    walk : callable
        Without arguments; every call gives the same blocks anew, pairs (X, y) of an array-like, sparse matrix or data
        frame of shape (rows, d) and an array-like of shape (rows,). An exception raised while walking ends the fit and
        is passed on: so a walk can be stopped between two blocks, and nothing is released. Triples (X, y, weights) have
        each row's own weight for a fit, as `sample_weight` has; rows of a pair weigh 1. Scores ignore weights.

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

    def each(self, work: Callable[..., Made]) -> Iterator[Made]:
        """What ``work(place, X, y)`` makes of every block, in order; the next is read while the last is worked on.

        For a block with weights the call is ``work(place, X, y, weights)``.
        """
        return (work(place, *block) for place, block in enumerate(read_ahead(self)))

    def through(self, work: Callable[..., Block]) -> Blocks:
        """Blocks that `work` makes of these blocks; see `each`."""
        return Blocks(lambda: (work(place, *block) for place, block in enumerate(self)))

    def on(self, client: Any) -> Blocks:
        """These blocks on the cluster of a `distributed.Client`: its workers read them, keep them and sum over them."""
        raise ValueError(f"X must be a table's blocks or a Dask collection for a cluster, got {type(self).__name__}")


class Kept(Blocks):
    """Blocks that are kept in memory from the first walk on that comes to their end."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(self._walked)
        self._blocks, self._kept = blocks, list[Block]()

    def _walked(self) -> Iterator[Block]:
        if self._kept:
            yield from self._kept
            return
        kept = []
        for block in self._blocks:
            kept.append(block)
            yield block
        self._kept = kept


@dataclass(frozen=True)
class _Refused:
    """Why a block could not be used."""

    kind: type[Exception]
    why: str


class OnWorkers(Blocks):
    """Blocks on the workers of a cluster, one future for each; `Blocks.on` makes them."""

    def __init__(self, client: Any, kept: Sequence[Any]) -> None:
        super().__init__(lambda: self.each(_itself))
        self._client, self._kept = client, list(kept)

    @classmethod
    def of_parts(cls, client: Any, parts: Sequence[Sequence[Any]]) -> OnWorkers:
        """Blocks whose rows, targets and weights are futures of their own; of targets None may stand."""
        return cls(client, [client.submit(_together, *several, pure=False) for several in parts])

    @classmethod
    def of_readers(cls, client: Any, readers: Sequence[Callable[[], Block]]) -> OnWorkers:
        """Blocks that functions without arguments read where they run."""
        return cls(client, [client.submit(_tried, reader, pure=False) for reader in readers])

    def each(self, work: Callable[..., Made]) -> Iterator[Made]:
        """See `Blocks.each`; a `ValueError` names the first block in order that cannot be used."""
        asked = self._asked(work)
        for future in asked:
            found = self._client.gather(future, direct=True)
            if isinstance(found, _Refused):
                raise found.kind(found.why)
            yield found

    def through(self, work: Callable[..., Block]) -> OnWorkers:
        """See `Blocks.through`; what is made stays where it is made."""
        return OnWorkers(self._client, self._asked(work))

    def has_room(self, bytes_needed: int) -> bool:
        """Whether the workers together may hold so much."""
        limits = [one["memory_limit"] for one in self._client.scheduler_info()["workers"].values()]
        return not all(limits) or sum(limits) >= bytes_needed  # 0 and None are no limit

    def __reduce__(self) -> Any:
        """Refuse: whoever works on a block needs no other."""
        raise TypeError("blocks on a cluster cannot be pickled")

    def on(self, client: Any) -> Blocks:
        """These blocks, which are on a cluster already."""
        return self

    def _asked(self, work: Callable[..., Any]) -> list[Any]:
        return self._client.map(partial(_worked, work), range(len(self._kept)), self._kept, pure=False)


class _OfDask(Blocks):
    """The partitions of Dask's collections."""

    def __init__(self, *collections: Sequence[Any]) -> None:
        super().__init__(self._computed)
        self._parts = list(zip(*collections, strict=True))

    def _computed(self) -> Iterator[Block]:
        for several in self._parts:
            yield tuple(None if one is None else one.compute() for one in several)

    def on(self, client: Any) -> Blocks:
        parts = [[None if one is None else client.compute(one) for one in several] for several in self._parts]
        return OnWorkers.of_parts(client, parts)


def as_blocks(X: Any, y: Any = None, weights: Any = None) -> Blocks | None:
    """`X` itself if it is `Blocks`, partitions of Dask's collections, which stay on a current client's workers, and
    None of anything else; `ValueError` if `y` or `weights` (`sample_weight`) do not go with `X`.
    """
    others = {"y": y, "sample_weight": weights}
    if isinstance(X, Blocks):
        for (name, one), own in zip(others.items(), ("targets", "weights as triples (X, y, weights)"), strict=True):
            if one is not None:
                got = type(one).__name__
                raise ValueError(f"{name} must be left out where X is Blocks, which have {own}, got {got}")
        return X
    if not _of_dask(X):
        return None
    rows = _partitions(X)
    collections = [rows]
    for name, one in others.items():
        if one is not None and not _of_dask(one):
            raise ValueError(f"{name} must be a Dask collection as X is, got {type(one).__name__}")
        parts = [None] * len(rows) if one is None else _partitions(one)
        if len(parts) != len(rows):
            raise ValueError(f"{name} must have as many partitions as X, {len(rows)}, got {len(parts)}")
        collections.append(parts)
    blocks = _OfDask(*(collections if weights is not None else collections[:2]))
    client = _current_client()
    return blocks if client is None else blocks.on(client)


def _current_client() -> Any:
    if "distributed" in sys.modules:
        with suppress(ValueError):  # there is none
            return sys.modules["distributed"].default_client()
    return None


def with_targets(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and targets for a score: of `Blocks` and Dask's collections the targets that they hold."""
    if (blocks := as_blocks(X, y)) is None:
        return X, y
    targets = [one for one in blocks.each(_targets_of_block) if len(one)]
    return blocks, np.concatenate(targets) if targets else np.empty(0)


def _targets_of_block(_place: int, _X: Any, targets: Any, _weights: Any = None) -> np.ndarray:
    if targets is None:
        raise ValueError("y must be given, or be part of the blocks, got None")
    return np.asarray(targets)


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


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler at an address; `ValueError` where none answers, `ImportError` without Dask."""
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("--scheduler needs distributed: pip install '/path/to/checkout[dask]'") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError):
        wanted = "must be the address of a Dask scheduler that answers, for instance tcp://host:8786"
        raise ValueError(f"--scheduler {wanted}, got {address!r}") from None
    with client:
        yield client


def _together(*parts: Any) -> Block:
    return parts


def _itself(_place: int, *block: Any) -> Block:
    return block


def _worked(work: Callable[[int, Any, Any], Any], place: int, block: Any) -> Any:
    return block if isinstance(block, _Refused) else _tried(work, place, *block)


def _tried(work: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return work(*arguments)
    except ValueError as error:
        try:
            type(error)(str(error))
        except TypeError:  # made of more than its text
            return _Refused(ValueError, str(error))
        return _Refused(type(error), str(error))
    except Exception as error:
        return _Refused(RuntimeError, f"a block could not be worked on, {type(error).__name__}: {error}")
