"""Stored results as curves: which file, which column runs along the axis, which methods, at one setting of the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.ptr import stored
from objpert_core.experiments.results import Results
from objpert_core.experiments.summary import Interval, mean_interval


@dataclass(frozen=True, eq=False)
class Look:
    """How stored results become a picture.

    Attributes
    ----------
    name : str
        The experiment.
    column : str
        What runs along the axis.
    x, y : str
        The axes' titles.
    setting : mapping
        The cells that the rows must have.
    over : str
        A column whose value with the highest mean counts, place by place; none by default.
    log_x, log_y : bool
        Whether the axes are logarithmic.
    percent : bool
        Whether heights are shares.
    """

    name: str
    column: str
    x: str
    y: str
    setting: Mapping[str, object] = field(default_factory=dict)
    over: str = ""
    log_x: bool = True
    log_y: bool = True
    percent: bool = False


@dataclass(frozen=True)
class Curve:
    """One method along an axis.

    Attributes
    ----------
    method, label : str
    points : tuple of (float, Interval)
        Place and what was measured there, in order.
    free : bool
        Whether it spends nothing, so that it is the same everywhere.
    """

    method: str
    label: str
    points: tuple[tuple[float, Interval], ...]
    free: bool = False

    def at(self, place: float) -> float:
        """The mean at one place; NaN where it has none."""
        return next((interval.mean for x, interval in self.points if x == place), math.nan)


def file_of(name: str) -> Results | None:
    """The stored results of an experiment; None where there are none."""
    try:
        return stored.load(name)
    except (DataUnavailableError, ValueError):
        return None


def curves(found: Results, look: Look, labels: Mapping[str, str]) -> tuple[Curve, ...]:
    """The curve of every method that has results; what does not depend on ε stands at every ε."""
    texts = {name: str(value) for name, value in look.setting.items()}
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    for run, row in zip(found.runs, found.rows, strict=True):
        if texts.items() <= row.items():
            tried = groups.setdefault((row["method"], row[look.column]), {})
            tried.setdefault(row[look.over] if look.over else "", []).append(getattr(run, run.VALUE))
    points: dict[str, list[tuple[float, Interval]]] = {}
    for (method, cell), tried in groups.items():
        interval = mean_interval(max(tried.values(), key=lambda values: sum(values) / len(values)))
        points.setdefault(method, []).append((float(cell), interval))
    usual = sorted({place for known in points.values() for place, _ in known if math.isfinite(place)})
    free = {method for method, known in points.items() if not any(math.isfinite(place) for place, _ in known)}
    points |= {method: [(place, points[method][0][1]) for place in usual] for method in free}
    return tuple(
        Curve(method, label, tuple(sorted(points[method], key=lambda point: point[0])), method in free)
        for method, label in labels.items()
        if method in points
    )


def places(shown: Sequence[Curve]) -> list[float]:
    """Every place that a curve has."""
    return sorted({x for curve in shown for x, _ in curve.points})


def nearest(shown: Sequence[Curve], wanted: float) -> float:
    """The place next to the one asked for, by ratio."""
    return min(places(shown), key=lambda place: abs(math.log(max(place, 1e-9) / max(wanted, 1e-9))))


def by_method(shown: Sequence[Curve], place: float) -> dict[str, float]:
    """The means at one place."""
    return {curve.method: curve.at(place) for curve in shown}


def frame(shown: Sequence[Curve], column: str) -> pd.DataFrame:
    """The curves as a table."""
    rows = [
        {column: x, "method": curve.method, "mean": interval.mean, "low": interval.low, "high": interval.high}
        for curve in shown
        for x, interval in curve.points
    ]
    return pd.DataFrame(rows)
