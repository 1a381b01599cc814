"""Pictures of stored results, the figures of the paper and two tasks: means at one place that is read off."""

import math
from collections.abc import Mapping
from typing import Any

from objpert_core.experiments.ptr import stored
from objpert_core.experiments.ptr.stored import Accuracy, Cost, Error, Lost, Price
from objpert_core.experiments.summary import Interval
from pages.ptr import controls
from ui import sentences
from ui.stored_view import Against, Curve, nearest
from ui.view import set_by

ROLES: Mapping[str, str] = {
    # votes
    "noise": "worst",
    "pure": "secret",
    "here": "own",
    "from-here": "asked",
    "printed": "classic",
    "classic": "classic",
    "mean": "smooth",
    "passing": "asked",
    "laplace": "worst",
    "optimal": "floor",
    # teachers
    "independent": "classic",
    "exact": "worst",
    "known": "secret",
    "smooth": "smooth",
    "distance": "own",
    "distance-tight": "asked",
    # logistic regression and first directions
    "objective": "classic",
    "ptr": "asked",
    "output": "worst",
    "worst": "worst",
    "free": "secret",
    "gram": "classic",
    # regressions
    "balanced": "smooth",
    "ada-split": "tilt-replace",
    "ada-tight": "own",
    "ptr-split": "classic",
    "ptr-tight": "asked",
    "adassp": "floor",
    "ridge": "secret",
    "judges": "public",
    "zero": "guide",
}
"""The look of every stored method; another one gets a spare look."""
_WHOLE = ("n", "gap")


class PtrResults(Against, snippet="means"):
    """Stored means of this page, read off at the place next to the one asked for."""

    wanted: float
    load = staticmethod(stored.load)
    roles = ROLES
    percent = False  # whether heights are shares

    @property
    def at(self) -> float:
        return nearest(self.places, self.wanted)

    @property
    def means(self) -> dict[str, float]:
        """The means at this place, by method."""
        return {curve.method: curve.mean(self.at) for curve in self.curves}

    @property
    def intervals(self) -> dict[str, Interval]:
        """What was measured at this place, by method."""
        return {curve.method: interval for curve in self.curves if (interval := curve.at(self.at)) is not None}

    def blanks(self) -> dict[str, Any]:
        at = int(self.at) if self.column in _WHOLE else self.at
        return {
            "experiment": self.experiment,
            "setting": dict(self.cells) | {self.column: at},
            "methods": tuple(curve.method for curve in self.curves if not curve.free),
            "free": tuple(curve.method for curve in self.curves if curve.free),
            "column": self.column,
            "over": self.over,
        }

    def heights(self) -> list[float]:
        """Return the ends of all intervals, also of methods that are not drawn."""
        heights: list[float] = []
        for curve in self.curves:
            above, below = curve.reach(log=self.log_y)
            heights += [*curve.means, *(curve.means + above), *(curve.means - below)]
        return heights

    def shows(self) -> str:
        return f"{self.axes[1]}: {', '.join(curve.label for curve in self.curves)}."

    def table(self) -> list[dict[str, str]]:
        """Return every method at this place, with its interval where draws have one; ε is rounded up."""
        title = self.axes[1]
        privacy = title.startswith("ε")
        head = title if privacy else sentences.capital(title)
        scale, unit = (100, " %") if self.percent else (1, "")
        rows = []
        for curve in self.curves:
            if (interval := curve.at(self.at)) is not None:
                half = scale * interval.half_width if interval.known else 0.0
                value = at_most(interval.mean) if privacy else f"{written(scale * interval.mean)}{unit}"
                rows.append({"Method": curve.label, head: value, "± (95 %)": written(half) if half > 0 else "–"})
        spread = any(row["± (95 %)"] != "–" for row in rows)
        return rows if spread else [{"Method": row["Method"], head: row[head]} for row in rows]

    def numbers(self) -> Any:
        return [
            {self.column: x, "method": curve.method, "mean": interval.mean, "low": interval.low, "high": interval.high}
            for curve in self.curves
            for x, interval in curve.points
        ]


def promise(epsilon: float, delta: float) -> str:
    """The promise in one line."""
    return sentences.promise(epsilon, delta, "each method’s own proof")


def promise_in_chart(delta: float, neighbours: str) -> str:
    """The promise where each method has an ε of its own."""
    return (
        f"Worst case over all people and data: ε as in the chart, with slack δ = {sentences.delta(delta)}; "
        f"{neighbours}; accounted by each method’s own proof."
    )


def at_most(epsilon: float) -> str:
    """ε rounded up; ∞ where nothing is proved."""
    return sentences.epsilon(epsilon) if math.isfinite(epsilon) else "∞"


def written(value: float) -> str:
    """A mean or half an interval, as a power of ten where it is tiny."""
    if not math.isfinite(value):
        return "∞"
    return sentences.number(value) if abs(value) >= 1e-3 or value == 0 else sentences.scientific(value, 3)


ASIDE = frozenset({"output", "balanced", "ada-split", "ptr-split", "zero"})
"""The methods that are drawn only where all are asked for."""
VOTER = "one voter joins or leaves"


class Regressions(PtrResults, name="ptr_regression", title="Private regressions (Figure 1)", snippet="means_free"):
    """Every method on one table at one ε."""

    data: str = set_by(controls.TABLE)
    wanted: float = set_by(controls.STORED)
    every: bool = set_by(controls.EVERY, aside=True)

    experiment, column = "regression", "epsilon"
    labels = Error.LABELS
    axes = ("privacy budget ε", "mean squared test error")

    @property
    def cells(self) -> Mapping[str, object]:
        return {"dataset": self.data}

    def stored(self) -> bool:
        return super().stored() and bool(self.curves)

    def shown(self) -> list[Curve]:
        return [curve for curve in self.curves if self.every or curve.method not in ASIDE]

    def answer(self) -> str:
        """Name the private method with the lowest mean beside the public rows alone; no winner within intervals."""
        intervals = self.intervals
        public, alone = self.labels["judges"], intervals["judges"]
        private = [method for method in intervals if method not in Error.UNPAID]
        first = min(private, key=lambda method: intervals[method].mean)
        best, least = self.labels[first], intervals[first]
        if alone.high < least.low:
            return f"{public} wins: error {written(alone.mean)}; lowest private error: {best}, {written(least.mean)}."
        if least.high >= alone.low:
            unbeaten = f"No private method visibly beats {_inside(public)}, {written(alone.mean)}"
            return f"{unbeaten}; {best} has {written(least.mean)}."
        sole = all(least.high < intervals[method].low for method in private if method != first)
        verdict = "errs least" if sole else "has the lowest mean"
        beside = f"{_inside(public)} has {written(alone.mean)}"
        return f"At ε = {self.at:g} {best} {verdict}, {written(least.mean)}; {beside}."

    def promise(self) -> str:
        return promise(self.at, Error.DELTA)

    def note(self) -> str:
        """Return what was learnt, and how often there was no answer."""
        refused = self.results.interval("refused", dataset=self.data, method="ptr-split", epsilon=self.at)
        shy = (
            f" OPS-PTR with shares gives no answer (⊥) in {100 * refused.mean:.0f} % of its runs."
            if refused and refused.mean > 0
            else ""
        )
        return (
            f"{Error.TABLES[self.data]}, mean squared test error, 95 % intervals. The validation rows, 10 % of all "
            f"rows, count as public.{shy}"
        )


class Labels(PtrResults, name="ptr_pate", title="What teachers’ labels cost (Figure 2)"):
    """Every analysis of one source of votes at one σ."""

    source: str = set_by(controls.SOURCE)
    wanted: float = set_by(controls.COUNTED)

    experiment, column = "pate", "sigma"
    labels = Price.LABELS
    axes = ("noise σ on each count", "ε of all labels")

    @property
    def cells(self) -> Mapping[str, object]:
        return {"source": self.source}

    def answer(self) -> str:
        means = self.means
        verdict = "pays" if means["distance-tight"] < means["exact"] else "does not pay"
        return (
            f"Asking {verdict} at σ = {self.at:g}: the distance test costs ε = {at_most(means['distance-tight'])}, "
            f"smooth sensitivity ε = {at_most(means['smooth'])}, any votes ε = {at_most(means['exact'])}."
        )

    def promise(self) -> str:
        return promise_in_chart(Price.DELTA, "one teacher replaced, with all its votes")

    def note(self) -> str:
        right = self.results.values("right", source=self.source, sigma=self.at, method="exact")[0]
        return (
            f"{Price.SOURCES[self.source]}, {Price.QUERIES} rows, {100 * right:.0f} % of labels right. The budget "
            f"of each test is the best one for these votes, and this choice is not paid for. Smooth sensitivity is our "
            f"corrected form of the paper’s Algorithm 4."
        )


class DigitsLabels(Labels):
    """The same where the votes are on digits, for which another σ is stored."""

    wanted: float = set_by(controls.DIGITS)


class EqualError(PtrResults, name="ptr_voting", title="Votes and their ε (Figure 3)"):
    """Figure 3b: who pays what for the same error."""

    wanted: float = set_by(controls.EQUAL)

    experiment, column = "voting", "epsilon"
    labels = Cost.LABELS["b"]
    cells = {"panel": "b"}
    axes = ("ε of Laplace noise that errs as often", "ε at δ")

    def answer(self) -> str:
        means = self.means
        verdict = "pays" if means["passing"] < means["laplace"] else "does not pay"
        return (
            f"Asking {verdict} at equal error: asking costs ε = {at_most(means['passing'])}, Laplace noise "
            f"{at_most(means['laplace'])}, the optimal vote {at_most(means['optimal'])}."
        )

    def promise(self) -> str:
        return promise_in_chart(Cost.DELTA, VOTER)

    def note(self) -> str:
        return (
            f"Gap {Cost.GAP}. All methods err as often as Laplace noise of ε = {self.at:g}. The cost of asking "
            f"is the ε promised with a test that passes {100 * Cost.SURE:.0f} % of the time. The mean cost over runs "
            "is no promise. This mean decreases from ε = 0.3 to 0.4. From 0.4 on, ε at δ is mostly 0, and only the "
            "bound on the gap costs privacy."
        )


class WideGap(PtrResults, name="ptr_voting", title=EqualError.title):
    """Figure 3a: ε against the gap, with noise of ε = 10."""

    wanted: int = set_by(controls.WIDE_GAP)

    experiment, column = "voting", "gap"
    labels = Cost.LABELS["a"]
    cells = {"panel": "a", "epsilon": 10.0}
    axes = ("gap: votes ahead (secret)", "ε of the noise")
    log_x = log_y = False

    def answer(self) -> str:
        without, at_delta = (at_most(self.means[method]) for method in ("pure", "from-here"))
        return f"At a gap of {self.at:g} the noise has ε = {without} without slack δ, and {at_delta} with slack."

    def promise(self) -> str:
        noise = float(str(self.cells["epsilon"]))
        return sentences.promise(noise, Cost.DELTA, "each method’s own proof", adjacency=VOTER)

    def note(self) -> str:
        return (
            "Laplace noise. The printed curve is the formula of Theorem C.2. This formula lacks a summand ε, so the "
            "curve falls. The gap is secret, and so is ε at this gap."
        )


class NarrowGap(WideGap):
    """The same with noise of ε = 0.3."""

    wanted: int = set_by(controls.NARROW_GAP)

    cells = {"panel": "a", "epsilon": 0.3}


class Curvature(PtrResults, name="ptr_glm", title="Does asking first pay?", snippet="means_over"):
    """Logistic regression: who is right how often, and whether asking first is seen to pay."""

    wanted: float = set_by(controls.STORED)

    experiment, column, over = "glm", "epsilon", "lam"
    labels = Accuracy.LABELS
    axes = ("privacy budget ε", "test accuracy")
    log_y, percent, hover, ticks = False, True, "%{y:.1%}", {"tickformat": ".0%"}

    def answer(self) -> str:
        asked, plain = self.intervals["ptr"], self.intervals["objective"]
        verdict = "asking first pays" if asked.low > plain.high else "asking first does not pay"
        return (
            f"At ε = {self.at:g} asking first gets {100 * asked.mean:.1f} % right, objective perturbation "
            f"{100 * plain.mean:.1f} %: {verdict}."
        )

    def promise(self) -> str:
        return promise(self.at, Accuracy.DELTA)

    def note(self) -> str:
        return (
            f"{Accuracy.DATASET}, {len(Accuracy.SEEDS)} splits, 95 % intervals. All methods but objective perturbation "
            f"get their best λ for free."
        )


class Directions(PtrResults, name="ptr_pca", title=Curvature.title):
    """First direction: whose error is smaller, where intervals are apart."""

    wanted: int = set_by(controls.ROWS)
    spread: float = set_by(controls.SPREAD)

    experiment, column = "pca", "n"
    labels = Lost.LABELS
    axes = ("rows n", "sin² of the angle to the data’s own direction")

    @property
    def cells(self) -> Mapping[str, object]:
        return {"spread": self.spread}

    def answer(self) -> str:
        first, plain = self.intervals["ptr"], self.intervals["gram"]
        if first.low <= plain.high and plain.low <= first.high:
            return f"At n = {self.at:,g} asking for the gap first and noise on AᵀA err alike, within their intervals."
        ratio = max(first.mean, plain.mean) / max(min(first.mean, plain.mean), 1e-300)
        side = "less" if first.mean < plain.mean else "more"
        times = f"{sentences.number(ratio, 2)} times {side} error"
        return f"At n = {self.at:,g} asking for the gap first has {times} than noise on AᵀA."

    def promise(self) -> str:
        return promise(Lost.EPSILON, Lost.DELTA)

    def note(self) -> str:
        return (
            f"A: unit rows in {Lost.DIMENSION} dimensions, one coordinate spread {self.spread:g} times as wide; "
            f"{len(Lost.SEEDS)} draws, 95 % intervals."
        )


def _inside(label: str) -> str:
    """A label within a sentence."""
    return label[0].lower() + label[1:]
