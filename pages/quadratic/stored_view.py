"""Pictures of stored results: tilt, bend and anchor against the box and against rows, and beside other regressions."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from objpert_core.experiments.quadratic import stored
from objpert_core.experiments.quadratic.stored import Excess, NewError, Risk
from pages.quadratic.controls import CASE, EVERY, KAPPA, STORED_ROWS
from pages.quadratic.numbers import AGREEING, REPLACED, count, times
from ui import draws, figures, sentences, stored_view
from ui.stored_view import Curve
from ui.view import set_by

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
EACH = "each method’s own theorem"
_SHORT = {
    "The anchor alone, no data": "Anchor alone",
    "Tilt at 2ζ, one row replaced": "Tilt at 2ζ",
    "Bend, sharpened proof": "Bend, sharpened",
    "Bend, exact theorem": "Bend, exact",
}  # what legends call some methods: two stand in a row on a telephone
_INSIDE = {"objective": "objective perturbation", "centred": "bend and tilt", "adassp-tight": "AdaSSP"}


class StoredView(stored_view.StoredView):
    """A picture of this page's stored results."""

    load = staticmethod(stored.load)

    def numbers(self) -> Any:
        return list(self.results.rows)


class Against(stored_view.Against, StoredView, snippet="means"):
    """Stored means against a column, both logarithmic."""

    roles = ROLES
    what: ClassVar[tuple[str, str]]  # for the alternative text
    hover = "%{y:.4g}"
    margin = 1.3
    height = 400

    def blanks(self) -> dict[str, Any]:
        return {"experiment": self.experiment, "column": self.column, "at": self.at, "methods": tuple(self.labels)}

    def code(self) -> str:
        return super().code().replace(f"**{{{self.column!r}: {self.at!r}}}", f"{self.column}={self.at!r}")

    def legend(self, curve: Curve) -> str:
        return _SHORT.get(curve.label, curve.label)

    def shows(self) -> str:
        return f"{self.what[0]} against {self.what[1]}, both logarithmic, for every method."

    def table(self) -> list[dict[str, str]]:
        places = self.places
        places = places if len(places) <= 6 else [place for place in places if math.log10(place) % 1 in (0.0,)]
        name = "κ" if self.column == "kappa" else self.column
        return [
            {"Method": curve.label}
            | {f"{name} = {place:,g}": count(curve.mean(place)) if curve.at(place) else "–" for place in places}
            for curve in self.curves
        ]


class Kappa(Against, name="quadratic_kappa", title="Risk against the box (Figure 2)"):
    """Every method at one box; `every`: also the tilt at 2ζ."""

    kappa: float = set_by(KAPPA)
    every: bool = set_by(EVERY, switch=True)

    experiment, column = "figure2", "kappa"
    labels = Risk.LABELS
    axes = ("half side of the box κ", "empirical risk J")
    what = ("Empirical risk", "half the side of the box")

    @property
    def at(self) -> float:
        return self.kappa

    def shown(self) -> list[Curve]:
        return [curve for curve in self.curves if self.every or curve.method != "lop-replace"]

    def answer(self) -> str:
        tilt, bend, anchor = (self.mean(method, kappa=self.kappa) for method in ("lop", "qop", "anchor"))
        at, tilted = f"At κ = {self.kappa:g} the anchor", times(tilt / bend)
        if anchor <= bend * 1.0005:
            return f"{at} does no worse than the bend; the tilt’s risk is {tilted} times the bend’s."
        return f"{at}’s risk is {times(anchor / bend)} times the bend’s, the tilt’s {tilted} times."

    def promise(self) -> str:
        accountant = f"{EACH}, except for the bends as they were run"
        return sentences.promise(Risk.EPSILON, Risk.DELTA, accountant, adjacency=REPLACED)

    def note(self) -> str:
        return (
            "n = 300, d = 100, weight of the regulariser ω = 1, ten draws, 95 % intervals. The paper’s bends are not "
            "private as they were run: their anchor is off."
        )


class Matter(Against, name="quadratic_matter", title="Where data matter"):
    """Every method at one number of rows."""

    rows: int = set_by(STORED_ROWS)

    experiment, column = "matter", "n"
    labels = Excess.LABELS
    axes = ("rows n", "excess risk")
    what = ("Excess risk", "the number of rows")

    @property
    def at(self) -> int:
        return self.rows

    def answer(self) -> str:
        exact, published, anchor = (self.mean(name, n=self.rows) for name in ("exact", "published", "anchor"))
        return (
            f"At n = {self.rows:,} the published theorem loses {times(published / exact)} times as much as the exact "
            f"theorem, the anchor {times(anchor / exact)} times."
        )

    def promise(self) -> str:
        return sentences.promise(Excess.EPSILON, Excess.DELTA, EACH, adjacency=AGREEING)

    def note(self) -> str:
        return (
            "d = 20, m = 40, unit rows, weight of the regulariser ω = n/50, the anchor is θ*, ten draws, 95 % "
            "intervals."
        )


class Regressions(StoredView, name="quadratic_regression", title="Beside other regressions", snippet="regression"):
    """All methods at one number of rows, of parameters, and ε."""

    case: tuple[int, int, float] = set_by(CASE)

    experiment = "regression"

    @property
    def place(self) -> dict[str, Any]:
        """The case, as the results' columns name it."""
        return dict(zip(("n", "d", "epsilon"), self.case, strict=True))

    def blanks(self) -> dict[str, Any]:
        return {**self.place, "rows": self.case[0], "dimension": self.case[1], "methods": tuple(NewError.LABELS)}

    def answer(self) -> str:
        means = {method: self.mean(method, **self.place) for method in _INSIDE}
        best, *rest = sorted(means, key=lambda method: means[method])
        first, second = (f"{_INSIDE[method]} has {times(means[method] / means[best])}" for method in rest)
        return f"{sentences.capital(_INSIDE[best])} is the most accurate; {first} times its error, {second}."

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

    def chart(self, before: Self | None) -> Any:
        known = {method: self.results.interval(**self.place, method=method) for method in NewError.LABELS}
        shown = {method: interval for method, interval in known.items() if interval is not None}
        traces: list[dict[str, Any]] = []
        names: list[str] = []
        values: list[float] = []
        for method, interval in sorted(shown.items(), key=lambda pair: pair[1].mean):
            label = NewError.LABELS[method]
            place, role = len(names), ROLES[method]
            names.append(label)
            dot = figures.marks(label, [interval.mean], [place], role, 12, hover="%{x:.3g}")
            if interval.known:
                low = min(interval.mean - interval.low, 0.9 * interval.mean)
                bars = {"symmetric": False, "array": [interval.high - interval.mean], "arrayminus": [low]}
                dot |= {"error_x": bars | {"color": figures.look(role).color, "thickness": 2}}
            traces.append(dot | {"showlegend": False})
            values.append(interval.mean)
        texts = [name.replace(", ", ",<br>") for name in names]
        return figures.figure(
            traces,
            xaxis=figures.axis("excess test error (mean square)", figures.log_range(values), log=True),
            yaxis=draws.places("", texts, (len(names) - 0.4, -0.6)),  # the first on top
            height=430,
            legend=False,
        )
