"""The form of a file: what separates its columns, what marks its decimals, how its letters are written."""

from __future__ import annotations

from dataclasses import dataclass

from objpert_core._validation import choice

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", "'", " ")
ENCODINGS = ("utf-8", "utf-16", "windows-1252")


@dataclass(frozen=True)
class Dialect:
    r"""How a file is written; a field that is None is to be found out.

    Parameters
    ----------
    delimiter : {",", ";", "\\t", "|"} or None
        What separates columns.
    decimal : {".", ","} or None
        What marks decimals.
    thousands : {"", ",", ".", "'", " "}, default=""
        What separates groups of three digits; with "" no number may have such groups. This mark is never guessed, so
        that a cell is read as the same number, or refused, whatever stands in other rows.
    encoding : {"utf-8", "utf-16", "windows-1252"} or None
        How letters are written as bytes.
    """

    delimiter: str | None = None
    decimal: str | None = None
    thousands: str = ""
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("delimiter", tuple(DELIMITERS)), ("decimal", DECIMALS), ("encoding", ENCODINGS)):
            if getattr(self, name) is not None:
                choice(name, getattr(self, name), allowed)
        choice("thousands", self.thousands, THOUSANDS)
        if self.thousands and self.thousands == self.decimal:
            raise ValueError(f"thousands must differ from the decimal mark, got {self.decimal!r} for both")
        if self.decimal is None and self.thousands in DECIMALS:
            object.__setattr__(self, "decimal", "," if self.thousands == "." else ".")
