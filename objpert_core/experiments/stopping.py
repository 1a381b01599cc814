"""How an experiment is stopped while an estimator is fitting."""

from __future__ import annotations

from collections.abc import Callable


class StoppedError(Exception):
    """Leaves an estimator from inside its callback."""


def stopper(should_stop: Callable[[], bool]) -> Callable[..., None]:
    """A callback for an estimator's or a solver's `fit`, which raises `StoppedError` once `should_stop` says so."""

    def watch(*_: float) -> None:
        if should_stop():
            raise StoppedError

    return watch
