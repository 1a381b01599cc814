"""What experiments that run live share: facts of their data, and how they are stopped while an estimator is fitting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from objpert_core.datasets import Dataset


@dataclass(frozen=True)
class DataFacts:
    """Facts of a `Dataset` without its rows: results are kept long after a matrix can be let go."""

    name: str
    label: str
    split_seed: int
    feature_names: tuple[str, ...]
    classes: tuple[str, ...]
    citation: str
    stand_in_for: str | None
    train_rows: int
    test_rows: int
    columns: int
    majority: int

    @classmethod
    def of(cls, data: Dataset) -> DataFacts:
        """The facts about a data set."""
        rows, columns = data.X_train.shape
        same = ("name", "label", "split_seed", "feature_names", "classes", "citation", "stand_in_for")
        return cls(
            **{name: getattr(data, name) for name in same},
            train_rows=rows,
            test_rows=len(data.y_test),
            columns=columns,
            majority=int(np.bincount(data.y_train.astype(np.intp)).argmax()),
        )


class StoppedError(Exception):
    """Leaves an estimator from inside its callback."""


def stopper(should_stop: Callable[[], bool]) -> Callable[..., None]:
    """A callback for an estimator's or a solver's `fit`, which raises `StoppedError` once `should_stop` says so."""

    def watch(*_: float) -> None:
        if should_stop():
            raise StoppedError

    return watch
