"""The picture of a released model: its largest coefficients. What it shows may be published, so it costs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.datasets import Number, NumericTarget, safe_cell, safe_label
from pages.own import words
from pages.own.jobs import Made
from ui import draws
from ui.figures import axis, figure, guide, look, series
from ui.page import Picture

MOST = 12  # coefficients
ROLE = "tight"


def weights(made: Made) -> FloatArray:
    """One coefficient a feature."""
    return np.ravel(made.model.coef_)


def largest(made: Made) -> np.ndarray:
    """The places of the `MOST` largest coefficients, in the order of the features."""
    return np.sort(np.argsort(-np.abs(weights(made)), kind="stable")[:MOST])


def frame(made: Made) -> pd.DataFrame:
    """Every coefficient; names as a spreadsheet may open them."""
    names = [safe_cell(name) for name in made.names]
    return pd.DataFrame({"feature": names, "coefficient": weights(made)})


def coefficients(made: Made, before: Made | None = None, *, stale: bool = False) -> Picture:
    """The largest coefficients; hollow those of the release before.

    Parameters
    ----------
    made : Made
    before : Made or None
        Drawn for the features that both have, where both have the same target.
    stale : bool
        Draw it faintly, because it is not what the controls ask for.
    """
    chosen, values = largest(made), weights(made)
    names = [made.names[place] for place in chosen]
    places = np.arange(len(names), dtype=float)
    traces: list[dict[str, Any]] = [guide([0, 0], [-0.5, len(names) - 0.5])]
    edges = [0.0, *values[chosen]]
    if before is not None and before.ask.schema.target == made.ask.schema.target:
        known = dict(zip(before.names, weights(before), strict=True))
        then = np.array([known.get(name, np.nan) for name in names])
        hollow = {"symbol": f"{look(ROLE).symbol}-open", "size": 10, "color": look(ROLE).color}
        traces.append(series("before", then, places, ROLE, ghost=True, mode="markers", marker=hollow))
        edges += list(then[np.isfinite(then)])
    stems = np.column_stack([np.zeros(len(names)), values[chosen], np.full(len(names), np.nan)]).ravel()
    traces.append(series("", stems, np.repeat(places, 3), ROLE, showlegend=False, hoverinfo="skip"))
    dots = series("released", values[chosen], places, ROLE, mode="markers", hover="%{customdata}: %{x:.3g}")
    labels = [safe_label(words.short(name)) for name in names]
    traces.append(dots | {"customdata": np.array(labels, dtype=object)})
    pad = 0.05 * (max(edges) - min(edges)) or 1.0
    chart = figure(
        draws.faint(traces, stale),
        xaxis=axis(_title(made), (min(edges) - pad, max(edges) + pad)),
        yaxis=draws.places("", labels, (len(names) - 0.5, -0.5)),
        height=130 + 30 * max(len(names), 6),
        legend=False,
        hovermode="closest",
    )
    return Picture(chart, words.alt(made, names, values[chosen]), lambda: frame(made), words.title(made))


def _title(made: Made) -> str:
    target = made.ask.schema.target
    if isinstance(target, NumericTarget):
        return f"coefficient, in units of “{safe_label(words.short(target.column))}”"
    return f"coefficient, towards “{safe_label(words.short(str(target.positive)))}”"


def ranges() -> Picture:
    """How a range that is read off the data moves everybody: ages scaled with and without one person of 104 years."""
    ages = np.linspace(18.0, 104.0, 87)
    traces = [
        series("typed: 0 to 120", ages, _scaled(ages, 0, 120), "tight", hover="%{y:.2f}"),
        series("read off, with her", ages, _scaled(ages, 18, 104), "with", hover="%{y:.2f}"),
        series("read off, without her", ages, _scaled(ages, 18, 81), "without", hover="%{y:.2f}"),
    ]
    chart = figure(traces, xaxis=axis("age", (15, 107)), yaxis=axis("feature", (-1.1, 1.1)), height=360)
    alt = (
        "The feature that each age becomes, from −1 to 1. With the range 0 to 120, typed, it is one line. Read off the "
        "table, it is a steeper line, and a steeper one yet once the person of 104 years has left."
    )
    return Picture(chart, alt)


def _scaled(ages: FloatArray, low: float, high: float) -> FloatArray:
    """What the reader makes of a number in this range."""
    known = Number(low, high)
    return np.clip((2 * ages - known.low - known.high) / (known.high - known.low), -1.0, 1.0)
