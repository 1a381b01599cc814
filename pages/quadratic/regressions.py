"""Beside other regressions: the excess test error of every method at one setting, dots with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core.experiments.quadratic.stored import NewError
from pages.quadratic.controls import CASE
from pages.quadratic.numbers import count, times
from pages.quadratic.stored_view import ROLES, StoredView
from ui import figures, sentences

_SHORT = {"objective": "objective perturbation", "centred": "bend and tilt", "adassp-tight": "AdaSSP"}


@dataclass(frozen=True)
class Regressions(StoredView):
    """All methods at one number of rows, of parameters, and ε."""

    case: tuple[int, int, float]

    name = "quadratic_regression"
    title = "Beside other regressions"
    controls = {"case": CASE}
    experiment = "regression"
    snippet = "regression"

    @property
    def place(self) -> dict[str, Any]:
        """The case, as the results' columns name it."""
        return dict(zip(("n", "d", "epsilon"), self.case, strict=True))

    def blanks(self) -> dict[str, Any]:
        return {**self.place, "rows": self.case[0], "dimension": self.case[1], "methods": tuple(NewError.LABELS)}

    def answer(self) -> str:
        means = {method: self.mean(method, **self.place) for method in _SHORT}
        best, *rest = sorted(means, key=lambda method: means[method])
        first, second = (f"{_SHORT[method]} has {times(means[method] / means[best])}" for method in rest)
        return f"{_SHORT[best][0].upper()}{_SHORT[best][1:]} is the most accurate; {first} times its error, {second}."

    def promise(self) -> str:
        return sentences.promise(self.case[2], NewError.DELTA, "each method’s own accountant")

    def note(self) -> str:
        n, d, _ = self.case
        draws = sentences.count(len(NewError.SEEDS), "draw")
        return f"n = {n:,}, d = {d}, unit rows, noise 0.1, {draws}, 95 % intervals."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each method, the best first."""
        intervals = [(label, self.results.interval(**self.place, method=key)) for key, label in NewError.LABELS.items()]
        rows = sorted((one.mean, label, one.half_width) for label, one in intervals if one is not None)
        return [
            {
                "Method": label,
                "Excess test error": count(mean),
                "± (95 %)": count(half) if half > 0 else "–",
                "Over the best": sentences.ratio(mean / rows[0][0], up=False),
            }
            for mean, label, half in rows
        ]

    def shows(self) -> str:
        listed = "; ".join(f"{row['Method']} {row['Excess test error']}" for row in self.table())
        return f"Excess test error, a logarithmic axis: {listed}."

    def chart(self, before: Regressions | None) -> Any:
        known = {method: self.results.interval(**self.place, method=method) for method in NewError.LABELS}
        shown = {method: interval for method, interval in known.items() if interval is not None}
        traces: list[dict[str, Any]] = []
        names: list[str] = []
        values: list[float] = []
        for method, interval in sorted(shown.items(), key=lambda pair: pair[1].mean):
            label = NewError.LABELS[method]
            place, role = len(names), ROLES[method]
            names.append(label)
            dot = figures.series(label, [interval.mean], [place], role, mode="markers", hover="%{x:.3g}")
            if interval.known:
                low = min(interval.mean - interval.low, 0.9 * interval.mean)
                bars = {"symmetric": False, "array": [interval.high - interval.mean], "arrayminus": [low]}
                dot |= {"error_x": bars | {"color": figures.look(role).color, "thickness": 2}}
            dot["marker"] |= {"size": 12}
            traces.append(dot | {"showlegend": False})
            values.append(interval.mean)
        up = (len(names) - 0.4, -0.6)  # the first on top
        texts = [name.replace(", ", ",<br>") for name in names]
        ticks: dict[str, Any] = {
            "tickmode": "array",
            "tickvals": np.arange(len(names)),
            "ticktext": texts,
        }
        return figures.figure(
            traces,
            xaxis=figures.axis("excess test error (mean square)", figures.log_range(values), log=True),
            yaxis=figures.axis("", up, **ticks, showgrid=False),
            height=430,
            legend=False,
        )
