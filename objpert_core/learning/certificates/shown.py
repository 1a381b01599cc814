"""The words of certificates that several kinds share."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS

_LEFT_OUT = " left out of the sums"


def adjacency_words(
    own: str, public_rows: int | None = None, rows_declared: bool | None = None, rows_per_person: int = 1
) -> str:
    """Say which data sets are neighbours, where a rule of the fit may have read the number of rows off the data.

    Such a fit is one of a family of mechanisms, one for each number m, whose promise is about data sets of this size.
    """
    several = f"up to {rows_per_person} rows of one person"
    if rows_declared is not False:
        return own if rows_per_person == 1 else own.replace("one row", several)
    if own == REPLACE_ONE:
        differ = f"that differ in {'one row' if rows_per_person == 1 else several}"
    else:
        differ = f"{'up to one row' if rows_per_person == 1 else several}{_LEFT_OUT}"
    return f"data sets of the same size m = {public_rows}, known to all, {differ}"


def neighbours_in_words(adjacency: str) -> str:
    """The same for people to read; certificates keep the words that were accounted for."""
    start, comma, differ = adjacency.rpartition(", ")
    if not differ.endswith(_LEFT_OUT):
        return adjacency.replace("add/remove", "add or remove")
    rows = differ.removesuffix(_LEFT_OUT).replace("up to one row", "one row")
    return f"{start}{comma}that differ in the contribution of {rows}"


def by_public_rows(rows: int | None, declared: bool | None = None, what: str = "lam was") -> list[str]:
    """Say on a line of a certificate's `repr` that `what` was chosen by the number of rows; no line for None."""
    if rows is None:
        return []
    how = ", a number that was declared" if declared else ": their number is treated as public"
    return [f"  public     {what} chosen for {rows} rows{how}"]


def row_words(row_norm: str, constant: float) -> str:
    """Say how ‖x‖ ≤ 1 was enforced, and which constant every row got."""
    rows = f"rows {'normalised' if row_norm == 'normalize' else 'clipped'} to norm 1"
    return rows + (f" and a constant {constant:g} appended" if constant else "")


def loss_words(loss: str, parameter: float | None) -> str:
    """Name a loss and its constant, where it has one that is not 0."""
    constant = f" ({next(iter(signature(EVERY_LOSS[loss]).parameters))} {parameter:g})" if parameter else ""
    return f"{loss} loss{constant}"


def whole_text(certificate: Any, lines: list[str]) -> str:
    """A certificate's `repr`: the promise, the kind's own `lines`, the source of the noise, and what limits them."""
    promise = f"({promised(certificate.epsilon)}, {promised(certificate.delta)})-differential privacy"
    seeded = " (reproducible: whoever knows the seed can subtract the noise)" if certificate.reproducible else ""
    text = [
        f"{promise}, {neighbours_in_words(certificate.adjacency)}",
        *([] if certificate.part_of is None else [f"  alone      no promise: {part_words(certificate)}"]),
        *([] if certificate.rows_used is None else [f"  table      of its rows: {certificate.rows_used}"]),
        *lines,
        f"  noise      {certificate.noise_source}{seeded}",
    ]
    if certificate.on_error == "release":
        text.append("  errors     invalid rows are ignored; solver failure is outside the guarantee (T23)")
    if certificate.schema == 1:
        text.append("  form       1: proved in exact arithmetic, not in floating point")
    return re.sub(r"(?<=\d)e-0(?=\d)", "e-", "\n".join(text))  # as ε and δ are written


def part_words(certificate: Any) -> str:
    """Say what a certificate is a part of."""
    return f"it is a part of a “{certificate.part_of}”, whose own certificate counts"


def as_table(text: str) -> list[dict[str, str]]:
    """The lines of `whole_text` as rows of a table."""
    promise, *lines = text.split("\n")
    parts = [line.split(maxsplit=1) for line in lines]
    return [dict(zip(("part", "what it says"), row, strict=True)) for row in (["promise", promise], *parts)]
