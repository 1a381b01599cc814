"""Dates, percentages and sums of money in a form that somebody typed, with a public range; other cells are refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, partial

from objpert_core._validation import FloatArray, choice
from objpert_core.datasets.tables.columns import Number, Tally, read_numbers
from objpert_core.datasets.tables.dialect import DECIMALS, THOUSANDS
from objpert_core.datasets.tables.messages import BadText, quoted
from objpert_core.datasets.tables.numerals import LONGEST_NUMBER, Numerals

_DIRECTIVES = frozenset("YymdjHMSf")  # digits alone: names of months and days depend on the machine's language
_YEARS = frozenset("Yy")
_LONGEST_FORMAT = 40  # characters
_LONGEST_SIGN = 10
_START = datetime(1, 1, 1)


@dataclass(frozen=True)
class Percent(Number):
    """A percentage with a public range, written as 12.5 % or 12.5%; a cell without the sign is refused.

    Parameters
    ----------
    low, high, missing, missing_indicator
        As for `Number`, in per cent: `Percent(0, 100)`.
    decimal : {".", ","}, default="."
        The decimal mark of this column, whatever that of the file is.

    Examples
    --------
    >>> import numpy as np
    >>> share = Percent(0, 100)
    >>> share.write(share.read(["12.5 %", "50%"], Numerals()), out := np.zeros((2, 1)))
    Tally(clipped=0, missing=0, other=0)
    >>> out.ravel().tolist()
    [-0.75, 0.0]
    """

    decimal: str = field(default=".", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("decimal", self.decimal, DECIMALS)

    def reader(self, numerals: Numerals) -> Callable[[str], float]:
        return partial(_signed, "%", Numerals(self.decimal))


@dataclass(frozen=True)
class Money(Number):
    """A sum of money with a public range, its sign before or behind the number; a cell without the sign is refused.

    Parameters
    ----------
    low, high, missing, missing_indicator
        As for `Number`.
    sign : str
        The currency as the cells write it: "$", "€", "CHF", "Fr.".
    decimal : {".", ","}, default="."
        The decimal mark of this column, whatever that of the file is.
    thousands : {"", ",", ".", "'", " "}, default=""
        What separates groups of three digits; with "" no cell may have such groups.

    Examples
    --------
    >>> import numpy as np
    >>> rent = Money(0, 2000, sign="$", thousands=",")
    >>> rent.write(rent.read(["$1,500.00", "500 $"], Numerals()), out := np.zeros((2, 1)))
    Tally(clipped=0, missing=0, other=0)
    >>> out.ravel().tolist()
    [0.5, -0.5]
    """

    sign: str = field(kw_only=True)
    decimal: str = field(default=".", kw_only=True)
    thousands: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.sign, str) or not _is_sign(self.sign):
            got = quoted(self.sign) if isinstance(self.sign, str) else type(self.sign).__name__
            raise ValueError(
                f"sign must be a currency's sign or letters, at most {_LONGEST_SIGN} characters, got {got}"
            )
        choice("decimal", self.decimal, DECIMALS)
        choice("thousands", self.thousands, THOUSANDS)
        if self.thousands == self.decimal:
            raise ValueError(f"thousands must differ from the decimal mark, got {self.decimal!r} for both")

    def reader(self, numerals: Numerals) -> Callable[[str], float]:
        return partial(_signed, self.sign, Numerals(self.decimal, self.thousands))


@dataclass(frozen=True)
class Date:
    """A date, perhaps with a time: the range between two public dates is mapped to [−1, 1], others are clipped.

    Parameters
    ----------
    low, high : str
        The first and the last date, in the same form as the cells. Take them from general knowledge, and never from
        these data.
    missing : str, optional
        The date between them that replaces a missing one.
    missing_indicator : bool, default=False
        As for `Number`.
    format : str
        How the cells write a date, in the directives of `datetime.strptime` that stand for digits: %Y or %y, %m, %d,
        %j, %H, %M, %S, %f. A part that is not written counts as the earliest: "%Y-%m" means the first day of the month.

    Examples
    --------
    >>> import numpy as np
    >>> day = Date("1.1.2020", "31.12.2020", format="%d.%m.%Y")
    >>> day.write(day.read(["1.7.2020"], Numerals()), out := np.zeros((1, 1)))
    Tally(clipped=0, missing=0, other=0)
    >>> out.round(3).ravel().tolist()
    [-0.003]
    """

    low: str
    high: str
    missing: str | None = None
    missing_indicator: bool = False
    format: str = field(kw_only=True)

    def __post_init__(self) -> None:
        _check_format(self.format)
        low, high = self._typed("low"), self._typed("high")
        if not low < high:
            raise ValueError(f"low must be before high, got {quoted(self.low)} and {quoted(self.high)}")
        if self.missing is not None and not low <= self._typed("missing") <= high:
            allowed = f"{quoted(self.low)} to {quoted(self.high)}"
            raise ValueError(f"missing must be a date from {allowed}, got {quoted(self.missing)}")
        _ = self.number  # which checks the rest

    @cached_property
    def number(self) -> Number:
        """Days, and parts of days, since the first of January of the year 1."""
        missing = None if self.missing is None else self._typed("missing")
        return Number(self._typed("low"), self._typed("high"), missing, self.missing_indicator)

    @property
    def width(self) -> int:
        """How many columns this one becomes in the matrix."""
        return self.number.width

    @property
    def largest_square(self) -> float:
        """The largest sum of squares that one row can have in these columns."""
        return self.number.largest_square

    @property
    def half_widths(self) -> tuple[float, ...]:
        """Half the width of the range, in days, and 1 for the column that says where a date was missing."""
        return self.number.half_widths

    def labels(self, name: str) -> tuple[str, ...]:
        """The names of the columns that this one becomes in the matrix."""
        return self.number.labels(name)

    def read(self, cells: Sequence[str], numerals: Numerals) -> FloatArray:
        """The day of each cell, NaN where one is missing; `BadCell` for the bad ones."""
        return read_numbers(cells, self.reader(numerals), numerals, with_gaps=self.number.may_have_gaps)

    def reader(self, numerals: Numerals) -> Callable[[str], float]:
        """What finds the day of a text that is not missing; it raises `BadText`."""
        return self._days

    def write(self, days: FloatArray, out: FloatArray) -> Tally:
        """Write the codes of days, NaN where one is missing, into `out`, zeros of shape (n, width)."""
        return self.number.write(days, out)

    def _typed(self, name: str) -> float:
        text = getattr(self, name)
        if not isinstance(text, str):
            raise ValueError(f"{name} must be a date as a text, got {type(text).__name__}")
        try:
            return self._days(text)
        except BadText as error:
            raise ValueError(f"{name} {error}") from None

    def _days(self, text: str) -> float:
        try:
            if len(text) > LONGEST_NUMBER or not text.isprintable():
                raise ValueError
            return (datetime.strptime(text, self.format) - _START) / timedelta(days=1)
        except (ValueError, OverflowError):  # its own words quote the cell
            raise BadText(f"must hold a date of the form {quoted(self.format)}, got {quoted(text)}") from None


def _check_format(form: object) -> None:
    """`ValueError` unless `strptime` reads one date with it, in the same way on every machine."""
    used = re.findall(r"%(.?)", form) if isinstance(form, str) else []
    own = [one for one in used if one != "%"]
    good = set(own) <= _DIRECTIVES and len(set(own)) == len(own) and len(_YEARS & set(own)) == 1
    alone = not ("j" in own and set(own) & {"m", "d"}) and ("m" in own or "d" not in own)
    if not isinstance(form, str) or len(form) > _LONGEST_FORMAT or not form.isprintable() or not (good and alone):
        got = quoted(form) if isinstance(form, str) else type(form).__name__
        raise ValueError(
            "format must have a year, %Y or %y, and may have %m and then %d, or %j, and %H, %M, %S, %f, "
            f"each once, in at most {_LONGEST_FORMAT} characters, got {got}"
        )


def _is_sign(sign: str) -> bool:
    marks = [one for one in sign if one != "."]
    fine = all(one.isalpha() or unicodedata.category(one) == "Sc" for one in marks)
    return bool(marks) and fine and len(sign) <= _LONGEST_SIGN


def _signed(sign: str, numerals: Numerals, text: str) -> float:
    """The number next to `sign`; `BadText` where the sign is not there, or in the midst of it."""
    before, found, after = (part.strip() for part in text.partition(sign))
    if not found:
        raise BadText(f"must hold a number with the sign {quoted(sign)}, got {quoted(text)}")
    if after and before not in ("", "-", "+", "−"):
        raise BadText(f"must hold {quoted(sign)} before or behind the number, got {quoted(text)}")
    return numerals.read(before + after)
