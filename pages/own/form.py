"""What somebody types about a table's columns, one line each, and the schema that it makes.

Every line starts empty, whatever the table holds. A range or a list of categories that was read off the table would
tell something about the people in it that no ε accounts for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from objpert_core.datasets import (
    Categories,
    Date,
    Money,
    Number,
    NumericTarget,
    Percent,
    SeveralValues,
    TableSchema,
    TwoValues,
    safe_text,
)

LEFT_OUT, NUMBER, CATEGORIES = "leave out", "number", "categories"
DATE, PERCENT, MONEY = "date", "percent", "money"
TARGET_TWO, TARGET_SEVERAL, TARGET_NUMBER = TARGETS = "target: two values", "target: several values", "target: a number"
ROLES = (LEFT_OUT, NUMBER, CATEGORIES, DATE, PERCENT, MONEY, *TARGETS)
LEARNED = "learn privately"
"""Typed as the lowest value, in place of a range: the fit learns the range."""
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})")


@dataclass(frozen=True)
class Line:
    """One column as it was typed."""

    column: str  # its name
    role: str = LEFT_OUT  # one of `ROLES`
    low: str = ""  # the public range of a number or a date; `LEARNED` leaves a number's to the fit
    high: str = ""
    categories: str = ""  # between semicolons, else commas; of a target its values, of two that of "no" first
    missing: str = ""  # what stands for a missing value; empty refuses it
    written: str = ""  # the form of a date, such as "%d.%m.%Y", or the currency symbol of a sum of money
    mark: bool = False  # whether a feature of its own says that the value is missing
    other: bool = False  # whether a value that is not listed is accepted, as none of the categories


SWITCHES = ("mark", "other")
_TEXTS = tuple(one.name for one in fields(Line) if one.name not in ("column", *SWITCHES))


def typed(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> tuple[Line, ...]:
    """The lines that a browser tells, in the order of the columns' names; what is no text is an empty one."""
    return tuple(Line(name, **_cells(row)) for name, row in zip(names, rows, strict=True))


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    cells: dict[str, Any] = {name: row[name].strip() for name in _TEXTS if isinstance(row.get(name), str)}
    cells |= {name: row.get(name) is True for name in SWITCHES}
    return cells | ({} if cells.get("role") in ROLES else {"role": LEFT_OUT})


def of_schema(schema: TableSchema) -> dict[str, Line]:
    """The lines that make `schema`, by column; `ValueError` for a category with a semicolon, which separates them."""
    if schema.rows_used or schema.missing_words:
        raise ValueError("the schema has rules about rows or words for missing values: use the command objpert for it")
    if any(getattr(column, "pieces", None) for column in schema.columns.values()):
        raise ValueError("the schema has pieces of its own: use the command objpert for it")
    lines = {}
    for name, column in schema.columns.items():
        missing, mark = "" if column.missing is None else _text(column.missing), column.missing_indicator
        if isinstance(column, (Number, Date)):
            ends = _text(column.low), _text(column.high)
            if isinstance(column, Number) and column.is_private:
                ends = LEARNED, ""
            lines[name] = Line(name, _role(name, column), *ends, missing=missing, written=_written(column), mark=mark)
        elif isinstance(column, Categories):
            levels = _listed(name, column.categories)
            lines[name] = Line(name, CATEGORIES, categories=levels, missing=missing, mark=mark, other=column.other)
    target = schema.target
    if isinstance(target, NumericTarget):
        lines[target.column] = Line(target.column, TARGET_NUMBER, _text(target.low), _text(target.high))
    else:
        role = TARGET_TWO if isinstance(target, TwoValues) else TARGET_SEVERAL
        lines[target.column] = Line(target.column, role, categories=_listed(target.column, target.values))
    return lines


def _role(name: str, column: Number | Date) -> str:
    """The role of a number or a date; `ValueError` for marks that cannot be typed here."""
    if isinstance(column, (Percent, Money)) and (column.decimal, getattr(column, "thousands", ",")) != (".", ","):
        raise ValueError(f"column “{safe_text(name)}” has marks of its own: use the lines of Python for this file")
    kinds = ((Date, DATE), (Percent, PERCENT), (Money, MONEY))
    return next((role for kind, role in kinds if isinstance(column, kind)), NUMBER)


def _written(column: Number | Date) -> str:
    return column.format if isinstance(column, Date) else column.sign if isinstance(column, Money) else ""


def _listed(name: str, levels: Sequence[str]) -> str:
    """Categories as they are typed; a semicolon in the end says that a comma belongs to the one before it."""
    if any(";" in level for level in levels):
        raise ValueError(
            f"column “{safe_text(name)}” has a category with a semicolon: use the lines of Python for this file"
        )
    text = "; ".join(levels)
    return f"{text};" if len(levels) == 1 and "," in text else text


def _text(value: Any) -> str:
    """A public value as it may be typed; a number with all its digits."""
    if not isinstance(value, int | float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def lines_for(names: Sequence[str], known: Mapping[str, Line]) -> tuple[Line, ...]:
    """A line for each of a table's columns: what was typed for one of this name before, else an empty one."""
    return tuple(known.get(name, Line(name)) for name in names)


def idle(lines: Sequence[Line]) -> tuple[str, ...]:
    """The columns that are left out although something is typed about them: a fit without them would cost ε in vain."""
    return tuple(f"“{safe_text(line.column)}”" for line in lines if line.role == LEFT_OUT and line != Line(line.column))


def schema(lines: Sequence[Line]) -> TableSchema:
    """The schema that the lines make; `ValueError` says of a column what first lacks or is wrong."""
    targets = [line for line in lines if line.role in TARGETS]
    if len(targets) != 1:
        found = f"; so far {len(targets)} columns have this role" if targets else ""
        raise ValueError(f"give exactly one column the role “target”: the model predicts this column{found}")
    features = {line.column: _feature(line) for line in lines if line.role != LEFT_OUT and line not in targets}
    if not features:
        raise ValueError("give at least one column the role “number” or “categories”; no column has one so far")
    return TableSchema(columns=features, target=_target(targets[0]))


def _feature(line: Line) -> Number | Categories | Date:
    with _about(line):
        if line.role == CATEGORIES:
            missing = line.missing or None
            return Categories(_levels(line), other=line.other, missing=missing, missing_indicator=line.mark)
        if line.role in (DATE, MONEY) and not line.written:
            what = (
                "how its dates are written, such as %d.%m.%Y" if line.role == DATE else "its currency symbol, such as $"
            )
            raise ValueError(f"type {what}, in the column “Written as”")
        if line.role == DATE:
            return Date(line.low, line.high, line.missing or None, line.mark, format=line.written)
        known: tuple[Any, ...] = ("private", "private") if line.low == LEARNED else _range(line, f", or “{LEARNED}”")
        known += (_number(line.missing, "missing") if line.missing else None, line.mark)
        if line.role == MONEY:
            return Money(*known, sign=line.written, thousands=",")
        return Percent(*known) if line.role == PERCENT else Number(*known)


def _target(line: Line) -> TwoValues | SeveralValues | NumericTarget:
    with _about(line):
        if line.role == TARGET_NUMBER:
            low, high = _range(line)
            return NumericTarget(line.column, low=low, high=high)
        values = _levels(line)
        if line.role == TARGET_SEVERAL:
            return SeveralValues(line.column, values)
        if len(values) != 2:
            raise ValueError(f"a target of two values needs exactly two categories, got {len(values)}")
        return TwoValues(line.column, negative=values[0], positive=values[1])


@contextmanager
def _about(line: Line) -> Iterator[None]:
    """Say which column a `ValueError` is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"column “{safe_text(line.column)}”: {error}") from None


def _levels(line: Line) -> list[str]:
    separator = ";" if ";" in line.categories else ","
    found = [level.strip() for level in line.categories.split(separator) if level.strip()]
    if not found:
        raise ValueError("type its categories, for example “no; yes”")
    return found


def _range(line: Line, or_else: str = "") -> tuple[float, float]:
    return _number(line.low, "lowest", or_else), _number(line.high, "highest")


def _number(text: str, what: str, or_else: str = "") -> float:
    """A typed number; a comma is a decimal mark where it can be nothing else. The refusal names what else is taken."""
    if not text:
        raise ValueError(f"type its {what} value")
    plain = text.replace("−", "-")
    if _WITH_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    if not _PLAIN.fullmatch(plain):
        raise ValueError(f"the {what} value must be a number such as 0, −1.5 or 1e6{or_else}, got “{safe_text(text)}”")
    return float(plain)
