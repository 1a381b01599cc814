"""Data frames of pandas and polars, looked at before scikit-learn turns them into arrays."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from objpert_core.learning.problem.rows import UnusableEntryError

MISSING = "y must hold no missing entries, got one: leave such rows out, or fit with on_error='release'"


def checked_rows(X: Any, *, entries: bool = True) -> Any:
    """Refuse a frame that cannot be an array of numbers; anything else comes back as it is."""
    refuse_lazy("X", X)
    kind = package_of(X)
    if kind is None or not hasattr(X, "columns"):
        return X
    names = list(X.columns)
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"X must have columns of different names, got {repeated[0]!r} more than once")
    if entries:
        for place, name in enumerate(names):
            column = X.iloc[:, place] if kind == "pandas" else X.get_column(name)
            if not (_is_number_in_pandas if kind == "pandas" else _is_number_in_polars)(column):
                got = f"column {name!r} of type {type_of(column)}"
                raise ValueError(
                    f"X must have columns of numbers, got {got}: encode the column by a public rule, or drop the column"
                )
    return X


def whole_columns(X: Any) -> list[str]:
    """The names of a frame's columns that hold whole numbers by their type, which is public; none of anything else."""
    kind = package_of(X)
    if kind is None or not hasattr(X, "columns"):
        return []
    if kind == "polars":
        return [name for name, one in zip(X.columns, X.dtypes, strict=True) if one.is_integer()]
    is_whole = sys.modules["pandas"].api.types.is_integer_dtype
    return [str(name) for name, one in zip(X.columns, X.dtypes, strict=True) if is_whole(one)]


def no_row_of(least: int, _place: int, X: Any, *_beside: Any) -> Any:
    """The columns of a block without its rows; None of a block with fewer rows than `least`."""
    return None if X.shape[0] < least else X[:0]


@contextmanager
def naming_columns(model: Any) -> Iterator[None]:
    """Have an error about an entry of X name its column, where the columns of the model's rows have names."""
    try:
        yield
    except UnusableEntryError as error:
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            raise
        raise UnusableEntryError(error.found, error.row, error.column, str(names[error.column])) from None


def checked_targets(y: Any) -> Any:
    """Refuse targets that are lazy or miss an entry; a frame of one column is that column."""
    y = as_column(y)
    if package_of(y) == "polars":
        missing = y.null_count() > 0
    elif package_of(y) == "pandas":
        missing = bool(np.asarray(y.isna()).any())
    else:
        missing = isinstance(y, np.ndarray) and y.dtype == object and any(one is None for one in y.ravel())
    if missing:
        raise ValueError(MISSING)
    return y


def as_column(y: Any) -> Any:
    """A frame of one column as that column; anything else as it is. `ValueError` for a LazyFrame."""
    refuse_lazy("y", y)
    kind = package_of(y)
    if kind is None or not hasattr(y, "columns") or len(y.columns) != 1:
        return y
    return y.iloc[:, 0] if kind == "pandas" else y.to_series()


def refuse_lazy(name: str, value: Any) -> None:
    """`ValueError` for a LazyFrame of polars, which holds no rows yet."""
    if package_of(value) == "polars" and type(value).__name__ == "LazyFrame":
        raise ValueError(f"{name} must hold rows, got a LazyFrame: call collect() first")


def package_of(value: Any) -> str | None:
    """The package, pandas or polars, whose frame or series a value is; None of anything else."""
    for package in ("pandas", "polars"):
        module = sys.modules.get(package)
        for name in ("DataFrame", "Series", "LazyFrame"):
            kind = getattr(module, name, None)
            if kind is not None and isinstance(value, kind):
                return package
    return None


def _is_number_in_pandas(column: Any) -> bool:
    types = sys.modules["pandas"].api.types
    if types.is_bool_dtype(column.dtype):
        return not isinstance(column.dtype, sys.modules["pandas"].CategoricalDtype)
    if column.dtype == object:
        missing = np.asarray(column.isna())
        return all(isinstance(one, (Number, Decimal)) for one in column[~missing])
    return bool(types.is_numeric_dtype(column.dtype))


def _is_number_in_polars(column: Any) -> bool:
    return bool(column.dtype.is_numeric()) or column.dtype == sys.modules["polars"].Boolean


def type_of(column: Any) -> str:
    """The type's name; that of categories does not list them."""
    return str(getattr(column.dtype, "name", None) or type(column.dtype).__name__)
