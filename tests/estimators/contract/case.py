"""One estimator under the contract, `Case`, and what several promises measure it by."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from objpert_core.accounting.steps.class_counts import ClassCounts
from objpert_core.learning import SOLVERS

ABOVE_ZERO, FROM_ZERO, COUNT = "a finite number > 0", "a finite number >= 0", "a whole number >= 1"
NOT_ABOVE_ZERO = (0.0, -1.0, math.nan, math.inf, None, "1", True)
RANGES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "epsilon": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "delta": ("a number strictly between 0 and 1", (0.0, 1.0, math.nan, None)),
    "tau": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "sigma_out": (ABOVE_ZERO, (-0.1, 0.0)),
    "noise_ratio": ("a finite number >= 1", (0.9, math.inf)),
    "solver": (f"one of {', '.join(map(repr, SOLVERS))}", ("adam", None)),
    "fit_intercept": ("True or False", ("yes", 1, None)),
    "intercept_scaling": (ABOVE_ZERO, NOT_ABOVE_ZERO),
    "row_norm": ("one of 'normalize', 'clip'", ("l2", None)),
    "random_state": ("None, an integer >= 0, or a numpy RandomState or Generator", (-3, 0.5, "seed")),
    "accountant": ("one of 'profile', 'rdp'", ("gdp", None)),
    "clip": (ABOVE_ZERO, (0.0, -1.0, math.inf)),
    "margin": (FROM_ZERO, (-1.0, math.nan)),
    "public_rows": (COUNT, (0, 1.5)),
    "classes": ("None or two different labels", ([0, 1, 2], [1, 1], [1])),
    "max_iter": (COUNT, (0, 1.5, None)),
    "on_error": ("one of 'raise', 'release'", ("ignore", None)),
    "adjacency": ("one of 'add/remove one row', 'replace one row'", ("add/remove", "swap", None)),
    "rows_per_person": (COUNT, (0, 1.5, True, None)),
    "class_weight": (
        "None, 'balanced' or a dict of labels and finite numbers > 0",
        ("Balanced", {}, 2.0, [1.0, 2.0], {1: 0.0}, {1: math.inf}),
    ),
    "steps": ("a sequence of steps that no parameter asks for", ("ranges", (1,), None, (ClassCounts(9.0),))),
    "standardize": ("None, 'auto', True, False or a Standardisation", ("yes", 1, 0, np.array(True))),
}
"""By a parameter's name: what it may be, in the error's words, and values that it may not have."""


NEIGHBOURS = ((1, "add/remove one row"), (1, "replace one row"), (3, "add/remove one row"), (3, "replace one row"))
"""Rows of one person, and adjacency; from one to the next more noise is needed."""


@dataclass(frozen=True, eq=False)
class Case:
    """One estimator and what to expect of it where estimators differ.

    Parameters
    ----------
    name : str
    make : callable
        Takes keyword parameters and gives an unfitted estimator: a class, or a preset such as a class method.
    parameters : mapping, optional
        Given to `make` in every fit, unless a promise needs another value.
    ranges : mapping, optional
        Entries that join or replace those of `RANGES`.
    first_step : int, default=0
        The first number that the callback hears.
    slow, thorough : bool, default=False
        Whether only the long test run has this case, and whether the loop for every day has not.
    reads_rows : bool, default=True
        Whether a rule reads the number of rows where `public_rows`, `lam` and `noise_ratio` are None.
    composes : bool, default=True
        Whether its bound composes with private sums, so that it can standardise rows.
    labels : tuple, default=(0, 1)
        Of a classifier's rows.
    weighs : bool, default=False
        Whether `fit` takes each row's own weight.
    table : bool, default=False
        Whether rows are those of a raw table.
    """

    name: str
    make: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, tuple[str, tuple[Any, ...]]] = field(default_factory=dict)
    first_step: int = 0
    slow: bool = False
    thorough: bool = False
    reads_rows: bool = True
    composes: bool = True
    labels: tuple[int, ...] = (0, 1)
    weighs: bool = False
    table: bool = False

    def new(self, **parameters: Any) -> Any:
        """An unfitted estimator."""
        return self.make(**{**self.parameters, **parameters})

    def fit(self, X: Any = None, **parameters: Any) -> Any:
        """An estimator fitted to `data`, or to the rows `X` in place of these; seeded unless told otherwise."""
        return self.new(**{"random_state": 0, **parameters}).fit(self.data[0] if X is None else X, self.data[1])

    def of(self, **wished: Any) -> dict[str, Any]:
        """Those of the parameters that it has."""
        return {name: value for name, value in wished.items() if name in names_of(self.new())}

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """300 rows of four features, and labels or numbers."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
        scores = X @ np.array([1.0, -2.0, 0.5, 1.5]) / 3 + 0.1 * rng.normal(size=300)
        edges = [0.0] if len(self.labels) == 2 else [-0.4, 0.4]
        return X, scores if is_regressor(self.new()) else np.digitize(scores, edges)

    @cached_property
    def fitted(self) -> Any:
        """A seeded fit that promises read and none changes."""
        return self.fit()


Promise = Callable[[Case], None]


def names_of(model: Any) -> list[str]:
    """Its parameters, advanced options among them."""
    return [name for name in (*model.get_params(), *getattr(model, "ADVANCED", ())) if name != "advanced"]


def bounded_rows(X: np.ndarray, row_norm: str) -> np.ndarray:
    """Rows of norm 1, zero rows as they are; or of norm 1 at most."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms == 0, 1, norms) if row_norm == "normalize" else X / np.maximum(norms, 1)


def as_the_model_has_them(model: Any, X: np.ndarray) -> np.ndarray:
    """The rows that `coef_` applies to."""
    rows = bounded_rows(X, model.privacy_.row_norm)
    if model.center_ is None and model.scale_ is None:
        return rows
    rows = rows - (0 if model.center_ is None else model.center_)
    return bounded_rows(rows * (1 if model.scale_ is None else model.scale_), "normalize")


def linear(model: Any, rows: np.ndarray) -> np.ndarray:
    """The scores of rows as the model has them."""
    return rows @ np.squeeze(model.coef_.T) + model.intercept_


def scores_of(model: Any) -> Callable[..., np.ndarray]:
    """What a model makes of rows in numbers."""
    return model.scores


def assert_unfitted(model: Any) -> None:
    """Nothing of any fit is left, and predicting says so."""
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(np.zeros((2, 4)))
    assert not [name for name in vars(model) if name.endswith("_")]


class Untouchable:
    """Data that no one may look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the data were touched: {name}")


def frame(X: np.ndarray) -> pd.DataFrame:
    """The rows with named columns."""
    return pd.DataFrame(X, columns=list("abcd"))


def rows_of_every_length(X: np.ndarray) -> np.ndarray:
    """The rows from next to nothing to 1e100, a zero row and one of norm 1 among them."""
    rows = X * np.resize([1.0, 1e-6, 0.1, 100.0], (len(X), 1))
    rows[0], rows[1], rows[2] = 0.0, rows[1] / np.linalg.norm(rows[1]), rows[2] * 1e100
    return rows
