"""The regressions of Figure 1: unit rows, targets in [−1, 1], scaled by public constants."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from sklearn.datasets import fetch_california_housing, load_diabetes

from objpert_core._validation import FloatArray, choice
from objpert_core.datasets import data_folder

_CALIFORNIA = "cal_housing_py3.pkz"

Rows = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Table:
    """A data set of the figure: how many `splits` are measured, and whether it is `here`, on this machine."""

    label: str
    splits: int
    make: Callable[[], Rows]
    here: Callable[[], bool]


def _unit(X: FloatArray) -> FloatArray:
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _synthetic() -> Rows:
    generator = np.random.default_rng(12345)
    X = generator.standard_normal((10_000, 10))
    theta = generator.standard_normal(10)
    theta /= np.linalg.norm(theta)
    X = _unit(X)
    return X, np.clip(X @ theta + 0.1 * generator.standard_normal(len(X)), -1.0, 1.0)


def _diabetes() -> Rows:
    X, y = load_diabetes(return_X_y=True)
    return _unit(X * math.sqrt(len(X))), (y - 152) / 194


def _home() -> Path | None:
    """The folder that holds the file of California housing."""
    own = Path(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")).expanduser()
    return next((folder for folder in (data_folder(), own) if (folder / _CALIFORNIA).is_file()), None)


def _california() -> Rows:
    X, y = fetch_california_housing(data_home=_home(), download_if_missing=False, return_X_y=True)
    return _unit((X - X.mean(axis=0)) / X.std(axis=0)), np.clip((y - 2.5) / 2.5, -1.0, 1.0)


TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "synthetic-r": Table("Synthetic-R, 10,000 rows", 20, _synthetic, lambda: True),
        "diabetes": Table("Diabetes, 442 rows", 40, _diabetes, lambda: True),
        "california": Table("California housing, 20,640 rows", 20, _california, lambda: _home() is not None),
    }
)
"""The data sets, by their keys."""


@lru_cache(maxsize=4)
def load_table(name: str) -> Rows:
    """Rows of norm 1 and targets from −1 to 1; `OSError` if the data set's file is not on this machine."""
    return TABLES[choice("name", name, tuple(TABLES))].make()
