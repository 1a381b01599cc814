"""What the parts of the accuracy page share: names, how differences and times are written, buttons that start work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from objpert_core import datasets
from objpert_core.experiments.learners import LEARNERS
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.summary import Interval
from ui import figures, sentences
from ui.words import FEWEST, ends, signed

LABELS: Mapping[str, str] = {method: LEARNERS[method].full_label for method in EVERY}
ROLE = {method: figures.of_learner(method) for method in EVERY}
BARS = FEWEST  # trials: with fewer, Student's t has bars that fill the plot
_TOO_SMALL = 0.005  # points; less prints as 0.00


def points(value: float) -> str:
    """A difference of accuracies in points, without its sign: '0.35 points'; what two decimals hide gets more."""
    size = abs(100 * value)
    return f"{sentences.number(size, 2) if 0 < size < _TOO_SMALL else f'{size:.2f}'} points"


def seconds(value: float) -> str:
    """A time: '0.263 s', '11.2 s', '340 s'."""
    return f"{sentences.number(value)} s" if value < 100 else f"{value:.0f} s"


def difference(found: Interval | None) -> str:
    """A table's cell: a difference in points with its interval."""
    if found is None:
        return "–"
    return whole(f"{signed(found.mean)}{f' ({ends(found)})' if found.known else ''}")


def whole(cell: str) -> str:
    """A cell that is not broken across lines: a telephone scrolls the table instead."""
    return cell.replace(" ", "\u00a0").replace("-", "\u2011")


def offer(label: str, reason: str, does: str, **look: Any) -> bool:
    """The button, disabled for a reason, beside what it does; whether it was pressed."""
    button, words = st.columns([1, 3], vertical_alignment="center")
    link = (
        f"“Share” above keeps these settings, too: anyone who opens its link can press “{label}” for the same numbers."
    )
    words.caption(f"{reason or does} {link}")
    return button.button(label, disabled=bool(reason), width="stretch", **look)


def cannot_run(dataset: str, expected: float | None = None, longest: float = 0.0) -> str:
    """Why a fit cannot be made here; empty if it can. `expected` is what stored trials took, in seconds."""
    if not datasets.available(dataset):
        return (
            f"The files of {dataset} are missing or damaged on this server. The page “Live training” says what to do."
        )
    if expected is None or expected <= longest:
        return ""
    took = f"Stored trials of this point took {seconds(expected)} (median)"
    return f"{took}: too long for a shared server; the command line has no limit."
