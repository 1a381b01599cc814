"""What the pictures of the accuracy page share: names of methods, how differences and times are written."""

from __future__ import annotations

from collections.abc import Mapping

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
