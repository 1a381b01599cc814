"""Raw tables as numbers, one a cell, by what is publicly known of their columns.

A cell's number depends on that cell and on what was declared: two cells are read together where they are equal and of
one type, and never because of another row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.columns import PRIVATE, BadCell, Categories, Number
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.raw import Raw, typed
from objpert_core.datasets.tables.schema import TableSchema, typed_words
from objpert_core.datasets.tables.written import Date, Money, Percent
from objpert_core.estimators.cells import (
    ANYTHING,
    CATEGORIES,
    DATES,
    NUMBERS,
    TRUTHS,
    different_values,
    doubles,
    kind_of,
    text_of,
)
from objpert_core.estimators.frames import checked_rows, package_of, type_of
from objpert_core.learning.screening import without_masks
from objpert_core.learning.steps.pieces import Column

Declared = Number | Categories | Date | Raw
"""What is known of a column; of `Raw` that a schema has made its cells numbers already."""

_NEVER: dict[type, tuple[str, ...]] = {
    Number: (DATES,),
    Date: (TRUTHS,),
    Percent: (NUMBERS, TRUTHS, DATES),
    Money: (NUMBERS, TRUTHS, DATES),
    Raw: (TRUTHS, DATES, CATEGORIES, ANYTHING),
}
_TOGETHER = 4096  # rows that are written at once: they stay in the cache while a column after the other is
_SHOWN = 10  # names of a table in one message


@dataclass(frozen=True)
class KnownTable:
    """What is public of a raw table: the names of its columns, in their order, what they hold, and missing words.

    `names` is None where columns have no names but numbers. A number without a declared range is private.
    """

    names: tuple[Any, ...] | None
    columns: tuple[Declared, ...]
    missing_words: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, declared: Any = None, missing_words: Sequence[str] = ()) -> KnownTable:
        """What the types of X and declarations say; no row is looked at.

        Parameters
        ----------
        X : data frame of pandas or polars, 2-D array, or list of rows
        declared : mapping from name to Number, Categories or Date, optional
            Of arrays and lists by the column's number, from 0. Columns of numbers and of truth values may be left out,
            and so may those of arrays and lists of objects, which have to hold numbers then.
        missing_words : sequence of str
            As for `TableSchema`.

        Examples
        --------
        >>> table = pd.DataFrame({"age": [39.0, None], "job": ["cook", "clerk"]})
        >>> known = KnownTable.of(table, {"job": Categories(["cook", "smith"])})
        >>> known.numbers(table).tolist()
        [[39.0, 0.0], [nan, 2.0]]
        """
        names, columns, _ = _columns(X)
        labels = list(range(len(columns))) if names is None else list(names)
        if declared is not None and not isinstance(declared, Mapping):
            kinds = "Number, Categories or Date"
            raise ValueError(f"columns must be None or a mapping from names to {kinds}, got {type(declared).__name__}")
        declared = {} if declared is None else dict(declared)
        for name, known in declared.items():
            if name not in labels:
                shown = ", ".join(map(repr, labels[:_SHOWN])) + ", …" * (len(labels) > _SHOWN)
                raise ValueError(f"columns must name columns of X, got {name!r}: it has {shown}")
            if not isinstance(known, Declared):
                got = type(known).__name__
                raise ValueError(f"columns must hold Number, Categories or Date for {name!r}, got {got}")
        found = []
        for label, column in zip(labels, columns, strict=True):
            known, kind = declared.get(label), kind_of(column)
            if known is None:
                if kind not in (NUMBERS, TRUTHS) and (package_of(column) or column.dtype != object):
                    raise ValueError(_undeclared(label, column))
                known = Number(PRIVATE, PRIVATE)  # type: ignore[arg-type]
            _refuse_type(label, known, column)
            found.append(known)
        return cls(names, tuple(found), typed_words(missing_words))

    @classmethod
    def of_schema(cls, schema: TableSchema) -> KnownTable:
        """What a schema knows of the tables that it reads, or, of `schema.raw()`, of the matrices that it makes."""
        return cls(tuple(schema.columns), tuple(schema.columns.values()), schema.missing_words)

    @property
    def kinds(self) -> tuple[Column, ...]:
        """The columns as pieces are made of them."""
        return tuple(_piecewise(typed(known)) for known in self.columns)

    @np.errstate(all="ignore")  # a number beyond the doubles is infinite
    def numbers(self, X: Any, *, judged: bool = False) -> FloatArray:
        """The rows of a table as numbers, float64, shape (n, C).

        A number is itself, a date its day, and a category its place in the list; any other value of such a column has
        the place behind the last. NaN, None and words for missing values are NaN. `ValueError` where the columns are
        others by name or type, and, unless `judged`, where a cell holds no number though it must: `judged` it is
        missing.
        """
        names, columns, rows = _columns(X)
        if len(columns) != len(self.columns):
            raise ValueError(f"X must have the {len(self.columns)} columns of the fit, got {len(columns)}")
        if None not in (self.names, names) and names != self.names:
            place = next(j for j, own in enumerate(self.names or ()) if own != (names or ())[j])
            wanted, got = (self.names or ())[place], (names or ())[place]
            raise ValueError(f"X must have the columns of the fit in their order, got {got!r} in place of {wanted!r}")
        numerals = Numerals().with_words(self.missing_words)
        labels = self.names or range(len(columns))
        cells = [
            _cells(label, known, column, numerals, judged)
            for label, known, column in zip(labels, self.columns, columns, strict=True)
        ]
        out = np.empty((rows, len(cells)))
        for start in range(0, rows, _TOGETHER):
            some = slice(start, start + _TOGETHER)
            for place, one in enumerate(cells):
                out[some, place] = one[some]
        return out


def _piecewise(known: Number | Categories | Date) -> Column:
    if isinstance(known, Categories):
        return Column(categories=len(known.categories))
    number = known.number if isinstance(known, Date) else known
    low, high = (None, None) if number.is_private else (number.low, number.high)
    return Column(low=low, high=high, ends=number.pieces)


def _columns(X: Any) -> tuple[tuple[Any, ...] | None, list[Any], int]:
    """The names of a table, or None, its columns, and how many rows there are."""
    X = checked_rows(X, entries=False)
    kind = package_of(X)
    if kind and hasattr(X, "columns"):
        names = list(X.columns)
        columns = [X.iloc[:, place] for place in range(len(names))] if kind == "pandas" else X.get_columns()
        return None if names == list(range(len(names))) else tuple(names), columns, len(X)
    if sp.issparse(X):
        raise TypeError("X must be a dense table, got a sparse matrix: an empty cell would be 0, and not missing")
    array = _of_rows(X) if isinstance(X, (list, tuple)) else np.asarray(without_masks(X))
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got {array.ndim}: Reshape your data")
    return None, list(array.T), len(array)


def _of_rows(rows: Sequence[Any]) -> np.ndarray:
    """Rows as an array of objects, whatever their cells hold."""
    if not all(isinstance(row, (Sequence, np.ndarray, pd.Series)) and not isinstance(row, str) for row in rows):
        return np.empty(len(rows))  # of one dimension
    sizes = set(map(len, rows))
    if len(sizes) > 1:
        raise ValueError(f"X must have rows of one length, got {min(sizes)} and {max(sizes)} cells")
    shape = (len(rows), *sizes) if rows else (0, 0)
    return np.fromiter(chain.from_iterable(rows), dtype=object, count=int(np.prod(shape))).reshape(shape)


def _undeclared(label: Any, column: Any) -> str:
    """Why a column has to be declared, and how."""
    got, kind = f"got column {label!r} of type {type_of(column)}", kind_of(column)
    if kind == DATES:
        dates = _line(label, "Date('2000-01-01', '2029-12-31', format='%Y-%m-%d')")
        return f"X must have numbers in place of dates, such as the year, {got}: convert it, or declare {dates}"
    listed = _line(label, "Categories([...])")
    if kind == CATEGORIES:
        return f"columns must list categories that are publicly known, {got}, whose own are read off the data: {listed}"
    return f"columns must say what a column holds that is not of numbers, {got}: {listed}"


def _line(label: Any, what: str) -> str:
    return f"columns={{{label!r}: {what}}}"


def _refuse_type(label: Any, known: Declared, column: Any) -> None:
    """`ValueError` where cells of this type are never what was declared."""
    if kind_of(column) in _NEVER.get(type(known), ()):
        what, got = type(known).__name__, type_of(column)
        raise ValueError(f"columns must say what X holds, got {what} for column {label!r} of type {got}")


def _cells(label: Any, known: Declared, column: Any, numerals: Numerals, judged: bool) -> Any:
    """The numbers of a column."""
    _refuse_type(label, known, column)
    if kind_of(column) == NUMBERS and type(known) in (Number, Raw):
        found = doubles(column)
        return found if isinstance(known, Raw) else numerals.with_gaps(found)
    values, places = different_values(column, known)
    numbers, bad = _read(known, values, numerals)
    rows = [] if judged or not bad else np.flatnonzero(np.isin(places, bad)).tolist()
    if rows:
        what = f"dates of the form {known.format}" if isinstance(known, Date) else "numbers"
        or_list = "" if isinstance(known, Date) else f"declare {_line(label, 'Categories([...])')}, "
        raise ValueError(
            f"X must hold {what} in column {label!r}, got another value in row {rows[0]}: {or_list}name it in "
            "missing_words, or fit with on_error='release', for which it is missing"
        )
    return np.append(numbers, np.nan)[places]


def _read(known: Declared, values: Sequence[Any], numerals: Numerals) -> tuple[FloatArray, list[int]]:
    """The number of each of different values, and the places of those that hold none though they must."""
    numbers, texts = np.full(len(values), np.nan), {}
    for place, value in enumerate(values):
        if type(known) is Number and isinstance(value, (bool, int, float, np.number, np.bool_)):
            numbers[place] = _double(value)
        else:
            texts[place] = text_of(value, known)
    numbers, bad = numerals.with_gaps(numbers), []
    try:
        read = Raw(typed(known)).read(list(texts.values()), numerals)
    except BadCell as error:
        bad = [list(texts)[place] for place, _ in error.cells]
        texts = {place: text for place, text in texts.items() if place not in set(bad)}
        read = Raw(typed(known)).read(list(texts.values()), numerals)
    numbers[list(texts)] = read
    return numbers, bad


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the doubles
        return math.inf if value > 0 else -math.inf
    except Exception:  # of a stranger's type, as a category of pandas may be
        return math.nan
