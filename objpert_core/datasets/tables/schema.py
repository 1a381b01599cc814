"""What is publicly known of a table, typed in before anybody looks at it: columns, ranges, categories, the target."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray, boolean, from_a_stranger, positive_integer
from objpert_core.datasets.tables.cells import Cells
from objpert_core.datasets.tables.columns import PRIVATE, BadCell, Categories, Number, Tally, typed_value
from objpert_core.datasets.tables.decoding import line_feeds
from objpert_core.datasets.tables.messages import TableError, first_twice, listed, quoted, safe_text
from objpert_core.datasets.tables.numerals import Numerals
from objpert_core.datasets.tables.raw import Raw, typed
from objpert_core.datasets.tables.sheet import LONGEST_NAME, MOST_COLUMNS, clean_name
from objpert_core.datasets.tables.targets import NumericTarget, SeveralValues, TwoValues
from objpert_core.datasets.tables.written import Date, Money, Percent

MOST_FEATURES = 2_000
"""Columns after the encoding."""
FORMAT = "objpert table schema 1"
LONGEST_JSON = 1_000_000
"""Characters of a schema's text."""
MOST_MISSING_WORDS = 100
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


_RULES = ("missing_words", "drop_missing_target", "person")
"""What a schema may say of rows; a text is silent on what is not said."""


@dataclass(frozen=True)
class Person:
    """The column that says whose row it is; of each person the first `rows` rows in the table's order are used."""

    column: str
    rows: int = 1

    def __post_init__(self) -> None:
        _check_name(self.column)
        object.__setattr__(self, "rows", positive_integer("rows", self.rows))


@dataclass(frozen=True)
class TableSchema:
    """Public knowledge of a table: which columns count, what they may hold, and what is to be predicted.

    One row is one person. Where a person may have several rows, name the column that says whose row it is, as `person`,
    and tell the estimator `rows_per_person`.

    Numbers are mapped from their range to [−1, 1], categories become columns of zeros and ones, and every row is
    divided by `largest_norm`, which the schema alone decides: no row is longer than 1. A row's code depends on that row
    and on the schema alone. Where a number's range is private, the number stays as it is, and rows are not divided: a
    fit with `feature_ranges` maps the numbers and shortens the rows.

    Parameters
    ----------
    columns : mapping from str to Number, Categories, Date, Percent or Money
        The features, in the order that the matrix has; all other columns of a file are left out. `ValueError` names a
        column that no table can have.
    target : TwoValues, SeveralValues or NumericTarget
    missing_words : sequence of str, optional
        Further words for a missing value, in capitals or not, in every column but where they are listed values.
    drop_missing_target : bool, default=False
        Whether rows without a target are left out. This is a rule about each row by itself.
    person : Person, optional
        Whose row it is, and how many rows of each person are used.

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
    missing_words: tuple[str, ...] = ()
    drop_missing_target: bool = False
    person: Person | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise ValueError(
                f"target must be TwoValues, SeveralValues or NumericTarget, got {type(self.target).__name__}"
            )
        if not isinstance(self.columns, Mapping) or not 1 <= len(self.columns) < MOST_COLUMNS:
            raise ValueError(f"columns must be a mapping with 1 to {MOST_COLUMNS - 1} columns")
        for name, column in self.columns.items():
            _check_name(name)
            if not isinstance(column, Column | Raw):
                allowed = ", ".join(kind.__name__ for kind in _COLUMNS.values())
                raise ValueError(f"column {quoted(name)} must be one of {allowed}, got {type(column).__name__}")
        _check_name(self.target.column)
        if self.target.column in self.columns:
            raise ValueError(f"column {quoted(self.target.column)} must be a feature or the target, got both")
        object.__setattr__(self, "columns", dict(self.columns))
        self._check_rows()
        if self.n_features > MOST_FEATURES:
            raise ValueError(f"columns must become at most {MOST_FEATURES:,} features, got {self.n_features:,}")
        if (twice := first_twice(self.feature_names)) is not None:
            raise ValueError(f"columns must become features of different names, got {quoted(twice)} twice")

    def _check_rows(self) -> None:
        object.__setattr__(self, "missing_words", typed_words(self.missing_words))
        boolean("drop_missing_target", self.drop_missing_target)
        if self.person is None:
            return
        if not isinstance(self.person, Person):
            raise ValueError(f"person must be a Person, got {type(self.person).__name__}")
        if self.person.column in (*self.columns, self.target.column):
            raise ValueError(
                f"person must name a column that is no feature and not the target, got {quoted(self.person.column)}"
            )

    @property
    def rows_used(self) -> str | None:
        """Which rows a fit uses, in words that a certificate repeats; None for all."""
        rules = []
        if self.drop_missing_target:
            rules.append(f"those without a value of {quoted(self.target.column)} are left out")
        if self.person is not None:
            first = "the first row" if self.person.rows == 1 else f"the first {self.person.rows:,} rows"
            rules.append(f"{first} of each person by column {quoted(self.person.column)}, in the table's order")
        return "; then ".join(rules) or None

    @property
    def n_features(self) -> int:
        """Columns of the matrix."""
        return sum(column.width for column in self.columns.values())

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The matrix's columns by name, such as "age" and "sex = Male"."""
        return tuple(label for name, column in self.columns.items() for label in column.labels(name))

    @property
    def has_private_ranges(self) -> bool:
        """Whether some number's range is private."""
        return any(_is_private(column) for column in self.columns.values())

    @property
    def feature_ranges(self) -> tuple[FloatArray, FloatArray]:
        """For an estimator's `feature_ranges`: NaN for private ranges, and the ends of what is encoded for others."""
        ends: list[float] = []
        for column in self.columns.values():
            ends += [math.nan if _is_private(column) else 1.0, *[1.0] * (column.width - 1)]
        high = np.array(ends) / self.largest_norm
        return -high, high

    @property
    def largest_norm(self) -> float:
        """What every row is divided by, so that none is longer than 1; 1 where a range is private."""
        if self.has_private_ranges:
            return 1.0
        return math.sqrt(sum(column.largest_square for column in self.columns.values()))

    def half_widths(self, features: int) -> FloatArray:
        """The half widths that coefficients are divided by to be in the columns' own units, shape (features,)."""
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
        return replace(self, columns=columns)

    def raw(self) -> TableSchema:
        """The same for an additive model: each column is one of the matrix, as `Raw` says, and nothing is divided."""
        columns: dict[str, Any] = {name: Raw(typed(column)) for name, column in self.columns.items()}
        return replace(self, columns=columns)

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

        Cells count as pandas would write them into a file, but whole numbers below 2**53 without a decimal point; dates
        have the form that their column names; None and NaN are missing. The frame has every column of the schema, and
        others are left out. Every entry lies in [−1, 1] and every row has norm at most 1, up to rounding. `TableError`
        names the row, the first being row 1, and the column.
        """
        for name in self.columns:
            if list(frame.columns).count(name) != 1:
                raise TableError(f"column {quoted(name)} of the schema must stand in the frame once", column=name)
        texts = {
            name: Cells([as_text(value, typed(column)) for value in frame[name].tolist()])
            for name, column in self.columns.items()
        }
        matrix = np.zeros((len(frame), self.n_features))
        _, bad = self.encode_cells(texts, Numerals(), matrix)
        if bad:
            raise refusal(bad, np.arange(1, len(frame) + 1))
        return matrix

    def encode_cells(
        self, cells: Mapping[str, Cells], numerals: Numerals, out: FloatArray
    ) -> tuple[dict[str, Tally], dict[str, BadCell]]:
        """Write the codes of some rows into `out`, zeros of shape (n, n_features); each column's tally, or its bad
        cells."""
        numerals = self.with_missing_words(numerals)
        tallies, bad, start = {}, {}, 0
        for name, column in self.columns.items():
            try:
                values = cells[name].read_by(column, numerals)
                tallies[name] = column.write(values, out[:, start : start + column.width])
            except BadCell as error:
                bad[name] = error
            start += column.width
        out /= self.largest_norm
        return tallies, bad

    def with_missing_words(self, numerals: Numerals) -> Numerals:
        """How the cells of this table are written."""
        return numerals.with_words(self.missing_words)

    def to_json(self) -> str:
        """The schema as text: public knowledge only, to be published with a model; `raw` leaves no trace."""
        document = {
            "format": FORMAT,
            "columns": [
                {"name": name, "kind": _kind(typed(column), _COLUMNS)} | _written(typed(column))
                for name, column in self.columns.items()
            ],
            "target": {"kind": _kind(self.target, _TARGETS)} | asdict(self.target),
        }
        rules: dict[str, Any] = {
            "missing_words": list(self.missing_words),
            "drop_missing_target": self.drop_missing_target,
        }
        rules["person"] = None if self.person is None else asdict(self.person)
        document |= {name: rule for name, rule in rules.items() if rule}  # as before there were any
        return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TableSchema:
        """The schema that `to_json` wrote; `ValueError` for any other text."""
        document = from_a_stranger("schema", text, LONGEST_JSON)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise ValueError(f"the schema must say “format”: “{FORMAT}”")
        rules = {name: rule for name, rule in document.items() if name in _RULES}
        if set(document) - set(rules) != {"format", "columns", "target"} or not isinstance(document["columns"], list):
            raise ValueError(
                "the schema must have “format”, “target” and a list of “columns”, may have "
                f"{listed(_RULES)}, and nothing else"
            )
        columns: dict[str, Column] = {}
        for entry in document["columns"]:
            name = entry.pop("name", None) if isinstance(entry, dict) else None
            if not isinstance(name, str) or name in columns:
                raise ValueError("every column of the schema must have a “name” of its own")
            columns[name] = _built(f"column {quoted(name)}", entry, _COLUMNS)
        if isinstance(person := rules.get("person"), dict):
            rules["person"] = _built("the person", {"kind": "column"} | person, {"column": Person})
        return cls(columns, _built("the target", document["target"], _TARGETS), **rules)


def refusal(bad: Mapping[str, BadCell], rows: Any) -> TableError:
    """The error about columns' bad cells, by the numbers of the rows."""
    return TableError.of_cells(cell for name, error in bad.items() for cell in error.wrong(name, rows))


def typed_words(words: Any) -> tuple[str, ...]:
    """Words for a missing value as the user typed them; `ValueError` unless they are a list of short texts."""
    if isinstance(words, str) or not isinstance(words, Sequence) or len(words) > MOST_MISSING_WORDS:
        got = quoted(words) if isinstance(words, str) else type(words).__name__
        raise ValueError(f"missing_words must be a list of at most {MOST_MISSING_WORDS} texts, got {got}")
    return tuple(typed_value("missing_words", word) for word in words)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or clean_name(name) != name:
        got = quoted(name) if isinstance(name, str) else safe_text(repr(name))
        raise ValueError(
            f"a column's name must be a text of 1 to {LONGEST_NAME} characters with single blanks within, got {got}"
        )


def _is_private(column: Column) -> bool:
    return getattr(column, "is_private", False)


def _written(column: Column) -> dict[str, Any]:
    """A column's fields; a reference and pieces only where there are such, as before there were any."""
    later = ("reference", "pieces")
    fields = {name: value for name, value in asdict(column).items() if name not in later or value is not None}
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


def as_text(value: Any, column: Any = None) -> str:
    """A value as pandas writes it into a file, without blanks around it and the point of a whole number; a date in the
    form of a `Date`.
    """
    if isinstance(column, Date) and isinstance(value, date) and value is not pd.NaT:
        return value.strftime(column.format)
    if isinstance(value, str):
        return line_feeds(value).strip()
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, Real) and value != value):
        return ""
    if isinstance(value, (float, np.floating)) and abs(number := float(value)) < 2**53 and number.is_integer():
        return str(int(number))
    return str(value)
