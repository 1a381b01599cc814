"""What is publicly known of a table, typed in before anybody looks at it: columns, ranges, categories, the target."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray, once_each
from objpert_core.datasets.tables.columns import PRIVATE, BadCell, Categories, Number, Tally
from objpert_core.datasets.tables.decoding import line_feeds
from objpert_core.datasets.tables.messages import TableError, WrongCell, first_twice, quoted, safe_text
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.sheet import LONGEST_NAME, MOST_COLUMNS, clean_name
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues
from objpert_core.datasets.tables.written import Date, Money, Percent

MOST_FEATURES = 2_000
"""Columns after the encoding."""
FORMAT = "objpert table schema 1"
LONGEST_JSON = 1_000_000
"""Characters of a schema's text."""
LONGEST_MESSAGE = 300
"""Characters of what is said about one column of a schema's text."""

Column = Number | Categories | Date
"""What a feature may be; a percentage and a sum of money are numbers, too."""

_COLUMNS: Mapping[str, type[Column]] = {
    "number": Number,
    "categories": Categories,
    "date": Date,
    "percent": Percent,
    "money": Money,
}
Target = TwoValues | SeveralValues | NumericTarget
_TARGETS: Mapping[str, type[Target]] = {
    "two values": TwoValues,
    "several values": SeveralValues,
    "number": NumericTarget,
}


@dataclass(frozen=True)
class TableSchema:
    """Public knowledge of a table: which columns count, what they may hold, and what is to be predicted.

    One row is one person. Where a person may have several rows, tell the estimator how many by `rows_per_person`.

    Numbers are mapped from their range to [−1, 1], categories become columns of zeros and ones, and every row is
    divided by `largest_norm`, which the schema alone decides: then no row is longer than 1, whatever its cells hold. A
    row's code depends on that row and on the schema, so that removing a row from the table removes its line from the
    matrix and changes nothing else. Where a number's range is private, the number stays as it is, and rows are not
    divided: a fit with `feature_ranges` maps the numbers and shortens the rows.

    Parameters
    ----------
    columns : mapping from str to Number, Categories, Date, Percent or Money
        The features, in the order that the matrix has; all other columns of a file are left out. `ValueError` names a
        column that no table can have.
    target : TwoValues, SeveralValues or NumericTarget

    Examples
    --------
    >>> schema = TableSchema(
    ...     columns={"age": Number(17, 90), "sex": Categories(["Female", "Male"])},
    ...     target=TwoValues("income", negative="<=50K", positive=">50K"),
    ... )
    >>> schema.feature_names
    ('age', 'sex = Female', 'sex = Male')
    >>> schema.encode(pd.DataFrame({"sex": ["Male"], "age": [90]})).round(3).tolist()
    [[0.707, 0.0, 0.707]]
    """

    columns: Mapping[str, Column]
    target: Target

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise ValueError(
                f"target must be TwoValues, SeveralValues or NumericTarget, got {type(self.target).__name__}"
            )
        if not isinstance(self.columns, Mapping) or not 1 <= len(self.columns) < MOST_COLUMNS:
            raise ValueError(f"columns must be a mapping with 1 to {MOST_COLUMNS - 1} columns")
        for name, column in self.columns.items():
            _check_name(name)
            if not isinstance(column, Column):
                allowed = ", ".join(kind.__name__ for kind in _COLUMNS.values())
                raise ValueError(f"column {quoted(name)} must be one of {allowed}, got {type(column).__name__}")
        _check_name(self.target.column)
        if self.target.column in self.columns:
            raise ValueError(f"column {quoted(self.target.column)} must be a feature or the target, got both")
        object.__setattr__(self, "columns", dict(self.columns))
        if self.n_features > MOST_FEATURES:
            raise ValueError(f"columns must become at most {MOST_FEATURES:,} features, got {self.n_features:,}")
        if (twice := first_twice(self.feature_names)) is not None:
            raise ValueError(f"columns must become features of different names, got {quoted(twice)} twice")

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return sum(column.width for column in self.columns.values())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The matrix's columns by name, such as "age" and "sex = Male"."""
        return tuple(label for name, column in self.columns.items() for label in column.labels(name))

    @property
    def feature_ranges(self) -> tuple[FloatArray, FloatArray] | None:
        """For an estimator's `feature_ranges`: NaN for numbers whose range is private, −1 and 1 for what is encoded.

        None where all ranges are public.
        """
        ends: list[float] = []
        for column in self.columns.values():
            private = isinstance(column, Number) and column.is_private
            ends += [math.nan if private else 1.0, *[1.0] * (column.width - 1)]
        high = np.array(ends)
        return (-high, high) if np.isnan(high).any() else None

    @property
    def largest_norm(self) -> float:
        """What every row is divided by, so that none is longer than 1; 1 where a range is private."""
        if self.feature_ranges is not None:
            return 1.0
        return math.sqrt(sum(column.largest_square for column in self.columns.values()))

    def half_widths(self, features: int) -> FloatArray:
        """The half widths that coefficients are divided by to be in the columns' own units, shape (features,).

        `ValueError` unless `features` is `n_features`.
        """
        if features != self.n_features:
            raise ValueError(f"the schema must be that of the model's {features} features, and has {self.n_features}")
        return self.largest_norm * np.concatenate([column.half_widths for column in self.columns.values()])

    def with_references(self) -> TableSchema:
        """The same with the first category as the `reference` of each column that lists all of its categories."""
        columns = {
            name: replace(column, reference=column.categories[0])
            if isinstance(column, Categories)
            and not column.other
            and len(column.categories) > 1
            and not column.reference
            else column
            for name, column in self.columns.items()
        }
        return TableSchema(columns, self.target)

    @property
    def references(self) -> dict[str, str]:
        """The category without a column of each column that has such."""
        return {
            name: column.reference
            for name, column in self.columns.items()
            if isinstance(column, Categories) and column.reference
        }

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Rows of a data frame as the matrix that a model of this schema takes: float64, shape (n, n_features).

        Numbers, texts and truth values count as pandas would write them into a file, with a decimal point, but whole
        numbers below 2**53 without one, whatever the column's type. None and NaN are missing values. The frame has
        every column of the schema; the target is not needed, and other columns are left out. The frame may have any
        size: the limits of `read_table` are about files. Every entry lies in [−1, 1] and every row has norm at most 1,
        up to rounding. `TableError` names the row, the first being row 1, and the column.
        """
        for name in self.columns:
            if list(frame.columns).count(name) != 1:
                raise TableError(f"column {quoted(name)} of the schema must stand in the frame once", column=name)
        texts = {name: [as_text(value) for value in frame[name].tolist()] for name in self.columns}
        matrix = np.zeros((len(frame), self.n_features))
        self.encode_cells(texts, Numerals(), matrix, first_row=1)
        return matrix

    def encode_cells(
        self, cells: Mapping[str, Sequence[str]], numerals: Numerals, out: FloatArray, *, first_row: int
    ) -> dict[str, Tally]:
        """Write the codes of some rows into `out`, zeros of shape (n, n_features); the tally of each column.

        `TableError` names the first bad cells; rows count from `first_row`.
        """
        tallies, start = {}, 0
        wrong: list[WrongCell] = []
        for name, column in self.columns.items():
            try:
                tallies[name] = column.encode(cells[name], numerals, out[:, start : start + column.width])
            except BadCell as error:
                wrong += error.wrong(name, first_row)
            start += column.width
        if wrong:
            raise TableError.of_cells(wrong)
        out /= self.largest_norm
        return tallies

    def to_json(self) -> str:
        """The schema as text: public knowledge only, so that it may be published with a model."""
        document = {
            "format": FORMAT,
            "columns": [
                {"name": name, "kind": _kind(column, _COLUMNS)} | _written(column)
                for name, column in self.columns.items()
            ],
            "target": {"kind": _kind(self.target, _TARGETS)} | asdict(self.target),
        }
        return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TableSchema:
        """The schema that `to_json` wrote; `ValueError` for any other text."""
        if len(text) > LONGEST_JSON:
            raise ValueError(f"the schema must have at most {LONGEST_JSON:,} characters, got {len(text):,}")
        try:
            document = json.loads(text, object_pairs_hook=once_each)
            json.dumps(document, ensure_ascii=False).encode()  # half a letter, "\ud800", could not be written again
        except (ValueError, RecursionError):
            raise ValueError("the schema must be complete JSON that names no key twice") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"the schema must say “format”: “{FORMAT}”")
        if set(document) != {"format", "columns", "target"} or not isinstance(document["columns"], list):
            raise ValueError("the schema must have “format”, “target” and a list of “columns”, and nothing else")
        columns: dict[str, Column] = {}
        for entry in document["columns"]:
            name = entry.pop("name", None) if isinstance(entry, dict) else None
            if not isinstance(name, str) or name in columns:
                raise ValueError("every column of the schema must have a “name” of its own")
            columns[name] = _built(f"column {quoted(name)}", entry, _COLUMNS)
        return cls(columns, _built("the target", document["target"], _TARGETS))


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or clean_name(name) != name:
        got = quoted(name) if isinstance(name, str) else safe_text(repr(name))
        raise ValueError(
            f"a column's name must be a text of 1 to {LONGEST_NAME} characters with single blanks within, got {got}"
        )


def _written(column: Column) -> dict[str, Any]:
    """A column's fields; a reference only where there is one, as before there were any."""
    fields = {name: value for name, value in asdict(column).items() if name != "reference" or value is not None}
    if isinstance(column, Number) and column.is_private:
        fields |= {"low": PRIVATE, "high": PRIVATE}
    return fields


def _kind(part: object, kinds: Mapping[str, type]) -> str:
    return next(kind for kind, made in kinds.items() if type(part) is made)


def _built(what: str, entry: object, kinds: Mapping[str, Any]) -> Any:
    """A column or target from its fields in JSON; `ValueError` names `what`."""
    if not isinstance(entry, dict) or not isinstance(kind := entry.get("kind"), str) or kind not in kinds:
        allowed = " or ".join(f"“{kind}”" for kind in kinds)
        raise ValueError(f"{what} must have a “kind”, {allowed}")
    given = {name: value for name, value in entry.items() if name != "kind"}
    if unknown := set(given) - {field.name for field in fields(kinds[kind])}:
        raise ValueError(f"{what} must have no field {quoted(min(unknown))}")
    try:
        return kinds[kind](**given)
    except TypeError:
        raise ValueError(f"{what} lacks a field of the kind “{kind}”") from None
    except ValueError as error:
        raise ValueError(f"{what}: {safe_text(str(error), LONGEST_MESSAGE)}") from None


def as_text(value: Any) -> str:
    """A value as pandas writes it into a file, without blanks around it.

    A whole number has no decimal point: a gap makes a column of integers one of floats, and may change no other cell.
    """
    if isinstance(value, str):
        return line_feeds(value).strip()
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, Real) and value != value):
        return ""
    if isinstance(value, (float, np.floating)) and abs(number := float(value)) < 2**53 and number.is_integer():
        return str(int(number))
    return str(value)
