"""What pictures of stored results share: the file, its command under the picture, means with intervals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.quadratic import stored
from objpert_core.experiments.results import Results
from pages.quadratic.numbers import count
from ui import figures, style
from ui.view import View

ROLES: Mapping[str, str] = {
    "lop": "tilt",
    "lop-replace": "tilt-replace",
    "lop-clip": "tilt-clipped",
    "qop": "bend-published",
    "qop-tight": "bend-exact",
    "anchor": "anchor",
    "no-privacy": "non-private",
    "published": "bend-published",
    "sharpened": "bend-sharpened",
    "exact": "bend-exact",
    "centred": "bend-exact",
    "bend-tilt": "bend-sharpened",
    "adassp": "tilt-clipped",
    "adassp-tight": "tilt-replace",
    "objective": "tilt",
    "zero": "anchor",
}
"""The look of every stored method."""
EACH = "each one’s own theorem"
_SHORT = {
    "The anchor alone, no data": "Anchor alone",
    "Tilt at 2ζ, one row replaced": "Tilt at 2ζ",
    "Bend, sharpened proof": "Bend, sharpened",
    "Bend, exact theorem": "Bend, exact",
}  # what legends call some methods: two stand in a row on a telephone


def file_of(name: str) -> Results | None:
    """The stored results of an experiment; None where there are none."""
    try:
        return stored.load(name)
    except (DataUnavailableError, ValueError):
        return None


class StoredView(View):
    """A picture of stored results."""

    experiment: ClassVar[str]
    ghosts = False
    snippet_note = "In a checkout these lines print the stored means; the file names its command, seeds and commit."

    @property
    def results(self) -> Results:
        """The stored results."""
        return stored.load(self.experiment)

    def stored(self) -> bool:
        """Whether there are results for this picture."""
        return file_of(self.experiment) is not None

    def missing(self) -> str:
        """What a picture says where there are no results."""
        return f"This picture needs stored results: python -m objpert_core.experiments quadratic {self.experiment}"

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(list(self.results.rows))

    def mean(self, method: str, **place: float) -> float:
        """A stored mean."""
        interval = self.results.interval(method=method, **place)
        return math.nan if interval is None else interval.mean

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Draw the picture and the command that made its results; say so where there are none."""
        if not self.stored():
            st.info(self.missing(), icon=":material/info:")
            return
        super().show(left, ghost=ghost)
        if not style.embedded():
            notes = self.results.notes
            made = f"Stored results of `{notes['command']}`, commit {notes['commit']}, {notes['versions']}"
            st.caption(f"{made}; seeds: {notes['seeds']}.")


@lru_cache(maxsize=16)
def means(experiment: str, column: str, methods: tuple[str, ...]) -> pd.DataFrame:
    """Mean and 95 % interval of every method at every value of a column."""
    results = stored.load(experiment)
    rows = []
    for cell in results.cells(column):
        for method in methods:
            interval = results.interval(**{column: cell, "method": method})
            if interval is not None:
                low, high = (interval.low, interval.high) if interval.known else (interval.mean, interval.mean)
                rows.append({column: float(cell), "method": method, "mean": interval.mean, "low": low, "high": high})
    return pd.DataFrame(rows)


class Against(StoredView):
    """Stored means against a column, both logarithmic, with intervals; a guide where the control is."""

    column: ClassVar[str]
    labels: ClassVar[Mapping[str, str]]
    axes: ClassVar[tuple[str, str]]
    what: ClassVar[tuple[str, str]]  # for the alternative text
    snippet = "means"

    @property
    @abstractmethod
    def at(self) -> float:
        """Where the control is."""

    def blanks(self) -> dict[str, Any]:
        return {"experiment": self.experiment, "column": self.column, "at": self.at, "methods": tuple(self.labels)}

    def code(self) -> str:
        return super().code().replace(f"**{{{self.column!r}: {self.at!r}}}", f"{self.column}={self.at!r}")

    def shown(self) -> Mapping[str, str]:
        """The methods in the chart."""
        return self.labels

    def shows(self) -> str:
        return f"{self.what[0]} against {self.what[1]}, both logarithmic, for every method."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each method."""
        numbers = means(self.experiment, self.column, tuple(self.labels))
        places = sorted(set(numbers[self.column]))
        places = places if len(places) <= 6 else [place for place in places if math.log10(place) % 1 in (0.0,)]
        rows = []
        for method, label in self.labels.items():
            row = {"Method": label}
            for place in places:
                own = numbers[(numbers["method"] == method) & (numbers[self.column] == place)]["mean"]
                name = "κ" if self.column == "kappa" else self.column
                row[f"{name} = {place:,g}"] = "–" if own.empty else count(own.iloc[0])
            rows.append(row)
        return rows

    def chart(self, before: Self | None) -> Any:
        shown = self.shown()
        table = means(self.experiment, self.column, tuple(shown))
        traces = []
        for method, label in shown.items():
            own = table[table["method"] == method]
            if own.empty:
                continue
            bars = {
                "symmetric": False,
                "array": (own["high"] - own["mean"]).to_numpy(),
                "arrayminus": np.minimum((own["mean"] - own["low"]).to_numpy(), 0.9 * own["mean"].to_numpy()),
                "color": figures.look(ROLES[method]).color,
            }
            trace = figures.series(
                _SHORT.get(label, label),
                own[self.column].to_numpy(),
                own["mean"].to_numpy(),
                ROLES[method],
                mode="lines+markers",
                hover="%{y:.4g}",
                error_y=bars,
            )
            traces.append(trace)
        view = log_range(table["mean"].tolist())
        ends = table[self.column].min() / 1.3, table[self.column].max() * 1.3
        x, y = self.axes
        return figures.figure(
            [figures.guide((self.at, self.at), view), *traces],
            xaxis=figures.axis(x, ends, log=True),
            yaxis=figures.axis(y, view, log=True),
            height=400,
            hovermode="closest",
        )


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """An axis that holds all positive values, with a little air."""
    there = [value for value in values if value > 0 and np.isfinite(value)] or [1.0]
    return min(there) / 1.5, max(there) * 1.5
