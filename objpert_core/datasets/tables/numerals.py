"""Numbers as files write them: one strict grammar, and which decimal mark a file seems to have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.datasets.tables.messages import BadText, quoted
from objpert_core.tables import is_formula

LONGEST_NUMBER = 100
"""Characters."""
MISSING_WORDS = frozenset(["", "na", "n/a", "#n/a", "<na>", "nan", "null", "\\n", "?"])
"""What a missing value is written as, in capitals or not; a category that is listed is none."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?", re.ASCII)
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?", re.ASCII)
_WHOLE = re.compile(r"(-?)(0|[1-9][0-9]{0,15})[.,]0", re.ASCII)
_MINUS = "\u2212"  # as spreadsheets of some countries write it
_WIDE_BLANKS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})  # between groups of digits


def without_point(text: str) -> str:
    """A whole number without its decimal mark and one zero behind it, as pandas writes it; other texts as they are."""
    found = _WHOLE.fullmatch(text)
    if found is None:
        return text
    return found[2] if found[2] == "0" else found[1] + found[2]


class NotANumber(BadText):
    """A text that is no number; the message goes on from "row 7, column “age”"."""


@dataclass(frozen=True)
class Numerals:
    """How numbers are written: decimal mark, mark between groups of three digits, and further words for a missing value
    in small letters.
    """

    decimal: str = "."
    thousands: str = ""
    missing_words: frozenset[str] = frozenset()

    def with_words(self, words: Iterable[str]) -> Numerals:
        """The same with these words for a missing value, in capitals or not."""
        return replace(self, missing_words=frozenset(without_point(word).lower() for word in words))

    def is_missing(self, text: str) -> bool:
        """Whether a cell holds no value."""
        if len(text) <= 4 and text.lower() in MISSING_WORDS:
            return True
        return bool(self.missing_words) and without_point(text).lower() in self.missing_words

    @property
    def missing_numbers(self) -> list[float]:
        """The further words that are numbers."""
        return [float(word) for word in sorted(self.missing_words) if _NUMBER.fullmatch(word)]

    def with_gaps(self, numbers: FloatArray) -> FloatArray:
        """Numbers of a column that has no texts, NaN where the number is a word for a missing value."""
        words = self.missing_numbers
        return np.where(np.isin(numbers, words), np.nan, numbers) if words else numbers

    def read(self, text: str) -> float:
        """The finite number in `text`, read by the two marks alone; `NotANumber` says what else it seems to be."""
        plain = text.replace(_MINUS, "-", 1)
        if self.thousands:
            plain = self._without_groups(plain)
        if self.decimal == ",":
            plain = plain.replace(".", "\0").replace(",", ".", 1)
        if len(plain) > LONGEST_NUMBER or not _NUMBER.fullmatch(plain):
            raise NotANumber(self._complaint(text))
        if math.isinf(number := float(plain)):
            raise NotANumber(f"must hold a finite number, got {quoted(text)}")
        return number

    def _without_groups(self, text: str) -> str:
        text = text.translate(_WIDE_BLANKS)
        mark = re.escape(self.thousands)
        groups = re.match(rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?![0-9])", text[:LONGEST_NUMBER])
        return text if groups is None else groups[0].replace(self.thousands, "") + text[groups.end() :]

    def _complaint(self, text: str) -> str:
        got = f"got {quoted(text)}"
        if len(text) > LONGEST_NUMBER:
            return f"must hold a number of at most {LONGEST_NUMBER} characters, {got}"
        if text.lstrip("+-").lower() in ("inf", "infinity", "nan"):
            return f"must hold a finite number, {got}"
        if is_formula(text):
            return f"must hold a number and no formula, {got}"
        if text.endswith("%"):
            return f"must hold a number without a percent sign, {got}"
        if _DATE.fullmatch(text):
            return f"must hold a number, such as a year, and no date or time, {got}"
        if any(_grouped(mark).fullmatch(text.translate(_WIDE_BLANKS)) for mark in ",.' " if mark != self.decimal):
            return f"must hold a number; name the separator of thousands, or save the number without, {got}"
        if self.decimal == "." and _NUMBER.fullmatch(text.replace(",", ".", 1)):
            return f"must hold a number with a decimal point, {got}"
        if self.decimal == "," and _NUMBER.fullmatch(text):
            return f"must hold a number with a decimal comma, {got}"
        return f"must hold a number, {got}"


def _grouped(mark: str) -> re.Pattern[str]:
    other = "." if mark == "," else ","
    return re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+(?:[{other}.]\d*)?", re.ASCII)


_DECIMAL = {mark: re.compile(rf"[+-]?\d*{re.escape(mark)}\d+(?:[eE][+-]?\d+)?", re.ASCII) for mark in ".,"}
_ONE_GROUP = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}", re.ASCII) for mark in ".,"}
_GROUPS_AND_DECIMALS = {
    mark: re.compile(rf"[+-]?\d{{1,3}}(?:[{other}' ]\d{{3}})+{re.escape(mark)}\d+", re.ASCII)
    for mark, other in ((".", ","), (",", "."))
}
_TWO_GROUPS = {mark: re.compile(rf"[+-]?\d{{1,3}}(?:{re.escape(mark)}\d{{3}}){{2,}}", re.ASCII) for mark in ".,"}


def decimal_mark(cells: Iterable[str], delimiter: str) -> str | None:
    """The decimal mark that the numbers among `cells` show; None where they show both, or none clearly, unless commas
    separate the columns: `Numerals` refuses a number of the other form, so a wrong guess gives none.
    """
    clear, unclear = set(), False
    for cell in cells:
        for mark, other in ((".", ","), (",", ".")):
            if mark not in cell:
                continue
            if _GROUPS_AND_DECIMALS[mark].fullmatch(cell):
                clear.add(mark)
            elif _TWO_GROUPS[mark].fullmatch(cell):
                clear.add(other)
            elif _ONE_GROUP[mark].fullmatch(cell):
                unclear = True
            elif _DECIMAL[mark].fullmatch(cell):
                clear.add(mark)
        if len(clear) == 2:
            return None
    if clear:
        return clear.pop()
    return None if unclear and delimiter != "," else "."
