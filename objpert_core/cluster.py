"""Blocks that lie on the workers of a Dask cluster: sums over their rows are made there, and only sums come back.

A worker gets a function, for instance the gradient at a θ, and gives a sum. It never draws noise, and no noise is sent
to it: sources of noise and perturbations refuse to be pickled. If a worker dies, Dask has another one read the rows and
sum again, which gives the same sum. An error about a row comes back as a result: as an exception Dask would write the
arguments, which are rows, to the worker's log. Results go from the worker to the client, past the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from objpert_core.blocks import Block, Blocks, Made


@dataclass(frozen=True)
class _Refused:
    """Why a block could not be used."""

    kind: type[ValueError]
    why: str


class OnWorkers(Blocks):
    """Blocks on the workers of a cluster, one future for each; `Blocks.on` makes them."""

    def __init__(self, client: Any, kept: Sequence[Any]) -> None:
        super().__init__(lambda: self.each(_itself))
        self._client, self._kept = client, list(kept)

    @classmethod
    def of_parts(cls, client: Any, parts: Sequence[Sequence[Any]]) -> OnWorkers:
        """Blocks whose rows and targets are futures of their own; of targets None may stand."""
        return cls(client, [client.submit(_pair, *pair, pure=False) for pair in parts])

    @classmethod
    def of_readers(cls, client: Any, readers: Sequence[Callable[[], Block]]) -> OnWorkers:
        """Blocks that functions without arguments read where they run."""
        return cls(client, [client.submit(_tried, reader, pure=False) for reader in readers])

    def each(self, work: Callable[[int, Any, Any], Made]) -> Iterator[Made]:
        """See `Blocks.each`; a `ValueError` names the first block in order that cannot be used."""
        asked = self._asked(work)
        for future in asked:
            found = self._client.gather(future, direct=True)
            if isinstance(found, _Refused):
                raise found.kind(found.why)
            yield found

    def through(self, work: Callable[[int, Any, Any], Block]) -> OnWorkers:
        """See `Blocks.through`; what is made stays where it is made."""
        return OnWorkers(self._client, self._asked(work))

    def on(self, client: Any) -> Blocks:
        """These blocks, which are on a cluster already."""
        return self

    def _asked(self, work: Callable[..., Any]) -> list[Any]:
        return [
            self._client.submit(_worked, work, place, block, pure=False) for place, block in enumerate(self._kept)
        ]


def _pair(X: Any, y: Any) -> Block:
    return X, y


def _itself(_place: int, X: Any, y: Any) -> Block:
    return X, y


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
