"""Run many independent pieces of work through joblib: on this machine's cores, or on a cluster through Dask."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

import objpert_core
from objpert_core._validation import positive_integer

Piece = tuple[Any, ...]
"""The arguments of one call."""


@dataclass(frozen=True)
class Outcome:
    """What became of one piece of work: its `rows`, or as `error` type and message of the exception, for the rest goes
    on. `seconds` are wall-clock time, loading of data included.
    """

    piece: Piece
    rows: tuple[Any, ...]
    error: str | None
    seconds: float


def execute(
    run: Callable[..., Iterable[Any]], pieces: Sequence[Piece], jobs: int = 1, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Run all `pieces` and yield each outcome as it comes, in any order; a piece that raises does not stop the others.
    Every piece has one thread of linear algebra, so that times can be compared. `jobs` is how many processes work on
    this machine; a `scheduler`, an address (``tcp://host:8786``) or a scheduler file, is that of a Dask cluster, whose
    workers refuse where they have another version of the package. `ImportError` without `distributed`, `OSError` where
    the scheduler does not answer.
    """
    positive_integer("jobs", jobs)
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            parallel = joblib.Parallel(n_jobs=jobs, backend="loky", batch_size=1, return_as="generator_unordered")
        else:
            client = stack.enter_context(_client(scheduler))
            stack.enter_context(joblib.parallel_config(backend="dask", client=client))
            parallel = joblib.Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")
        yield from parallel(joblib.delayed(attempt)(run, piece, objpert_core.__version__) for piece in pieces)


def _client(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("scheduler needs the package distributed: pip install distributed") from error
    where = {"scheduler_file": scheduler} if Path(scheduler).is_file() else {"address": scheduler}
    return Client(**where, set_as_default=False)


def attempt(run: Callable[..., Iterable[Any]], piece: Piece, version: str) -> Outcome:
    """Run one piece; `RuntimeError` where this worker has not the `version` that started the run."""
    if version != objpert_core.__version__:
        raise RuntimeError(f"this worker has objpert {objpert_core.__version__}, the run was started with {version}")
    began = time.perf_counter()
    try:
        with threadpool_limits(limits=1):
            rows = tuple(run(*piece))
    except Exception as error:
        return Outcome(piece, (), f"{type(error).__name__}: {error}", time.perf_counter() - began)
    return Outcome(piece, rows, None, time.perf_counter() - began)
