"""The cells of one column of a table, whichever package holds them: its kind by its type, its numbers, its values."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from objpert_core._validation import IntArray
from objpert_core.datasets.tables.columns import LONGEST_CATEGORY
from objpert_core.datasets.tables.schema import as_text
from objpert_core.estimators.frames import package_of, type_of

NUMBERS, TRUTHS, DATES, CATEGORIES, ANYTHING = "numbers", "truth values", "dates", "categories", "anything"
"""What a column may hold by its type."""

_NUMBERS_AND_TEXTS = (np.number, np.bool_, np.str_)
_ALIKE = {str, bool, int, float, *(kind for kind in np.sctypeDict.values() if issubclass(kind, _NUMBERS_AND_TEXTS))}
"""Equal values of one such type have one text. A type that is made of one of them may say otherwise of its values."""
_OF_MISSING = {type(None), type(pd.NA), type(pd.NaT)}
_UNREADABLE = "?" * (LONGEST_CATEGORY + 1)  # no number, no date and no category


def kind_of(column: Any) -> str:
    """What a column holds by its type."""
    kind = column.dtype
    if package_of(column) == "polars":
        if kind.is_numeric() or kind.is_temporal():
            return NUMBERS if kind.is_numeric() else DATES
        return {"Boolean": TRUTHS, "Categorical": CATEGORIES, "Enum": CATEGORIES}.get(type_of(column), ANYTHING)
    if isinstance(kind, pd.CategoricalDtype):
        return CATEGORIES
    types = pd.api.types
    if types.is_bool_dtype(kind):
        return TRUTHS
    if types.is_complex_dtype(kind):
        raise ValueError(f"X must hold real numbers, got a column of type {kind}: Complex data not supported")
    if types.is_numeric_dtype(kind):
        return NUMBERS
    return DATES if re.match("date|time|duration|period", str(kind)) else ANYTHING


def doubles(column: Any) -> Any:
    """A column of numbers by its type, NaN where one is missing."""
    if package_of(column) == "polars":
        return column.cast(sys.modules["polars"].Float64).to_numpy()
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def different_values(column: Any, known: Any) -> tuple[Sequence[Any], IntArray]:
    """The different values of a column, and which of them each row has: −1 for a missing one.

    Values are different where their types are, as True, 1 and 1.0 are. What is no number and no text becomes a text,
    where `known` says what form dates have.
    """
    kind, dtype = kind_of(column), column.dtype
    if package_of(column) == "polars":
        return _in_polars(column, known)
    if kind != ANYTHING or (not isinstance(dtype, np.dtype) and dtype.type is str):
        return _factorised(pd.Series(column))
    return _of_objects(np.asarray(column, dtype=object), known)


def _factorised(cells: Any) -> tuple[list[Any], IntArray]:
    places, values = pd.factorize(cells)
    return list(values), places


def _in_polars(column: Any, known: Any) -> tuple[Sequence[Any], IntArray]:
    polars = sys.modules["polars"]
    if column.dtype == polars.String:
        column = column.cast(polars.Categorical)
    kind = kind_of(column)
    if kind == ANYTHING:
        return _of_objects(np.fromiter(column.to_list(), dtype=object), known)
    different = column.unique().drop_nulls()
    if kind == CATEGORIES:
        codes = different.to_physical().to_numpy()
        which = np.full(int(codes.max(initial=0)) + 2, -1)
        which[codes] = np.arange(len(codes))
        return different.to_list(), which[column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()]
    order = polars.arange(len(different), eager=True)
    return different.to_list(), column.replace_strict(different, order, default=-1).to_numpy()


def _of_objects(cells: np.ndarray, known: Any) -> tuple[Sequence[Any], IntArray]:
    kinds = set(map(type, cells.tolist()))
    alike = kinds <= _ALIKE | _OF_MISSING
    if alike and pd.api.types.infer_dtype(cells) in ("string", "integer", "floating", "boolean"):
        return _factorised(cells)
    found: list[Any] = []
    places = np.full(len(cells), -1)
    types = np.fromiter((id(type(one)) for one in cells), dtype=np.int64, count=len(cells))
    for kind in kinds - {type(np.ma.masked)}:
        rows = np.flatnonzero(types == id(kind))
        rows = rows[~_missing(cells[rows])]
        own = cells[rows]
        if kind not in _ALIKE:
            own = np.fromiter((text_of(one, known) for one in own), dtype=object, count=len(own))
        values, own_places = _factorised(own)
        places[rows] = own_places + len(found)
        found += values
    return found, places


def _missing(cells: np.ndarray) -> NDArray[np.bool_]:
    """Which cells of one type hold no value, each by itself."""
    try:
        return np.asarray(pd.isna(cells))
    except Exception:  # of a decimal that signals, or of a stranger's type: it may be one cell that raises
        if len(cells) > 1:
            return np.concatenate([_missing(cells[place : place + 1]) for place in range(len(cells))])
        return np.zeros(1, dtype=bool)


def text_of(value: Any, known: Any) -> str:
    """A value as a file would have it, where `known` says what form dates have; no category for what has no text."""
    try:
        text = as_text(float(value) if isinstance(value, np.floating) else value, known)
    except Exception:  # of a stranger's type, or of more digits than Python writes
        return _UNREADABLE
    return text if type(text) is str else _UNREADABLE
