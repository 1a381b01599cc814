"""The price of tuning: ε against the number of settings tried, under four ways of accounting."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import streamlit as st

import objpert_core.accounting as acc
from objpert_core._literals import call
from objpert_core._validation import FloatArray
from pages.tuning import afford
from pages.tuning.numbers import GENERAL, GRID, MADE, REMEMBERED, RUNS, WAYS, Tuning
from ui import figures, page, sentences
from ui.controls import log_values, plain
from ui.sentences import delta, epsilon, percent, scientific
from ui.snippets import Verbatim
from ui.view import View

MOST_BARS = 400
RARE = 1e-3  # a probability that is not worth a number
TOO_MANY = 10_000  # runs on average, of a training that takes minutes


def probabilities(tuning: Tuning) -> FloatArray:
    """Of k = 0, 1, … runs, as far as they matter, or as a chart can show."""
    return _probabilities(tuning.one_run, tuning.mean_runs, tuning.law_eta, tuning.settings)


@lru_cache(maxsize=REMEMBERED)
def _probabilities(one_run: acc.Mechanism, mean: float, eta: float | None, settings: int) -> FloatArray:
    spread = 4 * math.sqrt(mean) if eta is None else 2.5 * mean
    last = int(min(max(2 * settings, mean + spread, 12), MOST_BARS))
    found = acc.PrivateSelection(one_run, mean, eta).pmf(np.arange(last + 1))
    found.setflags(write=False)
    return found


def draw(tuning: Tuning, before: Tuning | None) -> None:
    """Draw what K does, and its distribution."""
    st.markdown(f"**How many runs?** {answer(tuning)}")
    page.show(page.Picture(chart(tuning, before), alt(tuning)), key="tuning_runs")


def answer(tuning: Tuning) -> str:
    """What K does: its mean, Pr[K > s] and Pr[K = 0] in words."""
    settings, mean, none = tuning.settings, tuning.mean_runs, float(probabilities(tuning)[0])
    start = "One setting needs no random number of runs. If you drew the number all the same: " if settings == 1 else ""
    than = "the one setting" if settings == 1 else f"the {settings} settings"
    nothing = "K is never 0, so something is always trained."
    if none > 0:
        often = "Very rarely" if none < RARE else f"With probability {scientific(none, 2, up=True)}"
        nothing = f"{often} there is no run, and a preset default is released."
    larger = f"is larger than {than} with probability {percent(tuning.more, 0)}."
    much = " Nobody trains that often: lower Pr[K > s], or let K be Poisson." if mean > TOO_MANY else ""
    return f"{start}K has mean {scientific(mean, 3)} and {larger} {nothing}{much}"


def alt(tuning: Tuning) -> str:
    """The alternative text."""
    return (
        f"Probability of each number of runs, {tuning.law_in_words}. "
        f"K is larger than the grid size {tuning.settings} with probability {percent(tuning.more, 0)}."
    )


def chart(tuning: Tuning, before: Tuning | None = None) -> Any:
    """Probability of every number of runs; those up to `settings` in grey, its mean as a line."""
    heights, settings, mean = probabilities(tuning), tuning.settings, tuning.mean_runs
    places, top, last = np.arange(heights.size), 1.08 * float(heights.max()), heights.size - 1
    colors = np.where(places > settings, figures.GREEN, figures.GREY)
    bars: dict[str, Any] = {"type": "bar", "name": "runs K, more than s in colour", "x": places, "y": heights}
    bars |= {"marker": {"color": colors.tolist(), "line": {"width": 0}}, "showlegend": False}
    bars |= {"hovertemplate": "Pr[K = %{x}] = %{y:.3g}<extra></extra>", "meta": {"role": "selection", "ghost": False}}
    traces = [bars]
    if before is not None and (faint := probabilities(before)) is not heights:
        traces.append(figures.series("K, before", np.arange(faint.size), faint, "selection", ghost=True))
    traces.append(_upright(f"s = {settings}; grey: at most as many runs as settings", settings + 0.5, top, "composed"))
    if mean <= last:
        traces.append(_upright(f"mean {scientific(mean, 3)}", mean, top, "noise"))
    across = figures.axis("number of runs, K", (-0.6, last + 0.6), hoverformat=".0f")
    look: dict[str, Any] = {"bargap": 0.2 if last <= 60 else 0.0, "hovermode": "closest"}
    return figures.figure(traces, across, figures.axis("probability", (0.0, top)), height=280, **look)


def _upright(name: str, x: float, top: float, role: str) -> dict[str, Any]:
    return figures.series(name, np.array([x, x]), np.array([0.0, top]), role, mode="lines", hoverinfo="skip")


WHAT_IS_PAID_FOR = (
    "Papernot and Steinke, and Liu and Talwar, charge for a random number of runs, not for each run; you may release "
    "only the best model. Composing charges for each run, and you may publish all models."
)
_DIGITS = (1.0, 2.0, 5.0)
_MOST_TICKS = 12
_DRAWN = ("K", "Pr[K > s]", "η")
_RUN = {
    "epsilon": "ε of one run",
    "noise_multiplier": "noise multiplier",
    "sample_rate": "q",
    "steps": "steps",
    "sigma": "σ",
    "lam": "λ",
}
_REASONS = {  # more of it, less of it
    "s": ("there are more settings to choose among", "there are fewer settings to choose among"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
    "Pr[K > s]": ("more runs are made", "fewer runs are made"),
    "ε of one run": ("each run may reveal more", "each run may reveal less"),
    "noise multiplier": ("each run is noisier", "each run is less noisy"),
    "q": ("each step sees more rows", "each step sees fewer rows"),
    "steps": ("each run takes more steps", "each run takes fewer steps"),
    "σ": ("each run is noisier", "each run is less noisy"),
    "λ": ("each run shows less of one person’s curvature", "each run shows more of one person’s curvature"),
}


class Price(Tuning, View, name="tuning", title="The price of tuning", snippet="tuning"):
    """ε against the number of settings tried."""

    named = {"settings": "s", "delta": "δ", "renyi": "Rényi everywhere", "family": "K", "more": "Pr[K > s]", "eta": "η"}
    answers_in_alt = False

    @classmethod
    def now(cls) -> Self:
        """The view at its controls; one that is out of sight has no part."""
        held = super().now()
        unseen = {field for _, own in RUNS.values() for field in own} - {*held.own_fields}
        unseen |= set() if held.family == GENERAL else {"eta"}
        return replace(held, **{field: getattr(Tuning, field) for field in unseen})

    @property
    def cheapest(self) -> str:
        """Of composing and of selection with this K, the one with the smaller ε; composing if they tie."""
        ways = self.ways()
        return min(MADE, key=lambda way: ways[way])

    @property
    def proved(self) -> float:
        """The ε of the cheapest."""
        return self.ways()[self.cheapest]

    def answer(self) -> str:
        free, paid = self.ways()["free"], self.proved
        choosing = f"the choice among {sentences.count(self.settings, 'setting')}"
        if math.isinf(free):
            return f"Not even one run has a finite ε at δ = {delta(self.delta)}, and several runs cost more."
        if self.settings == 1:
            return (
                f"One run with settings fixed in advance costs ε = {epsilon(free)}: nothing is chosen, so nothing is "
                f"added."
            )
        if math.isinf(paid):
            return f"If you ignore {choosing}, you report ε = {epsilon(free)}; no finite cost is proved."
        if paid <= free * (1 + sentences.EXACT):
            return f"{sentences.capital(choosing)} costs no more than one run: ε = {epsilon(paid)}."
        proof = "Papernot and Steinke prove" if self.cheapest == "selection" else "composing every run costs"
        return f"If you ignore {choosing}, you report ε = {epsilon(free)}; {proof} {epsilon(paid)}."

    def promise(self) -> str:
        return sentences.promise(self.proved, self.delta, self.proof())

    def proof(self) -> str:
        """Which proof the answer's ε comes from."""
        if self.settings == 1:
            return f"the {'Rényi curve' if self.renyi else 'privacy profile'} of one run"
        if self.cheapest == "selection":
            return f"Papernot and Steinke (2022), {self.law_in_words}"
        through = "Rényi curves" if self.renyi else "privacy losses"
        return f"composing {sentences.count(self.settings, 'run')}, through {through}"

    def moved(self, before: Self | None) -> str:
        if before is None or not (changes := self.changed(before)):
            return ""
        reason = self.reason(before, changes)
        course = f"{sentences.shift(changes)}: {sentences.course('ε', before.proved, self.proved)}"
        return f"{course}; {reason}." if reason else f"{course}."

    def changed(self, before: Self) -> list[tuple[str, Any, Any]]:
        """What was changed, without what else that undid."""
        found = sentences.changed(before, self, self.named)
        if before.kind != self.kind:
            return [*found, ("each run", before.kind, self.kind)]
        run = {field: name for field, name in _RUN.items() if field != "epsilon" or before.by == self.by}
        return found + sentences.changed(before, self, run)

    def reason(self, before: Self, changes: Sequence[tuple[str, Any, Any]]) -> str:
        """Why the proven ε moved; empty where nothing certain can be said."""
        what, old, new = changes[0]
        if self.cheapest != before.cheapest:
            return f"{WAYS[self.cheapest].replace('Composing', 'composing')} is now the cheapest proof"
        if len(changes) > 1 or math.inf in (before.proved, self.proved):
            return ""
        if self.cheapest == "composed" and what in _DRAWN:
            return "composing every run does not depend on how K is drawn"
        if what not in _REASONS or epsilon(before.proved) == epsilon(self.proved):
            return ""
        return _REASONS[what][new < old]

    def shows(self) -> str:
        order = sentences.ranking({WAYS[way]: value for way, value in self.ways().items()})
        return (
            f"ε at δ = {delta(self.delta)} against the number of settings tried, for four ways of accounting. "
            f"At {sentences.count(self.settings, 'setting')}: {order}."
        )

    def svg_title(self) -> str:
        return f"The price of tuning: ε at δ = {delta(self.delta)}, {self.run_in_words}, {self.law_in_words}"

    def table(self) -> list[dict[str, str]]:
        ways, geometric = self.ways(), self.relevant("liu_talwar")
        drawn = {"liu_talwar": geometric.mean_runs, "selection": self.mean_runs}
        free = ways["free"]
        return [
            {
                "Accounted for": WAYS[way] + (" (wrong if the data chose)" if way == "free" else ""),
                "Runs": f"{scientific(drawn[way], 3)} on average" if way in drawn else f"{self.settings}",
                f"ε at δ = {delta(self.delta)}": sentences.proved(value),
                "ε / one run": sentences.ratio(value / free if free > 0 and math.isfinite(free) else math.nan),
                "Odds": sentences.odds(value).replace(" ", "\u00a0"),
            }
            for way, value in ways.items()
        ]

    def numbers(self) -> dict[str, Any]:
        means = [replace(self, settings=settings).mean_runs for settings in GRID]
        columns = {"settings": np.array(GRID), "mean_runs": np.array(means)}
        return columns | {f"epsilon_{way}": self.curve(way) for way in WAYS}

    def blanks(self) -> dict[str, Any]:
        name, given = self.recipe
        made, composed = call(f"acc.{name}", given), "acc.repeat(acc.symmetrised(one_run), settings)"
        if self.renyi:
            made, composed = f"acc.via_rdp({made})", "acc.via_rdp(acc.repeat(table, settings))"
        composed = "one_run" if self.settings == 1 else composed
        return {**super().blanks(), "eta": self.law_eta, "one_run": Verbatim(made), "composed": Verbatim(composed)}

    def chart(self, before: Self | None, height: int = 470) -> Any:
        x = np.array(GRID)
        curves = {way: self.curve(way) for way in WAYS}
        view = _view(np.concatenate(list(curves.values())))
        traces = []
        if before is not None and replace(before, settings=self.settings) != self:
            for way, name in WAYS.items():
                values = _finite(before.curve(way))
                traces.append(figures.series(f"{name}, before", x, values, way, ghost=True))
        traces.append(figures.guide((self.settings, self.settings), view))
        for way, values in curves.items():
            drawn = _finite(values)
            traces.append(figures.series(WAYS[way], x, drawn, way, mode="lines+markers", hover="ε ≈ %{y:.3g}"))
            traces[-1]["marker"] |= {"size": np.where(x == self.settings, 15, 7), "opacity": 1}
        across = _axis("number of settings tried, s", (0.93, 107.0), [1, 2, 3, 5, 10, 20, 30, 50, 100])
        up = _axis(f"ε at δ = {delta(self.delta)}", view, _ticks(*view), hoverformat=".3g")
        return figures.figure(traces, across, up, height=height)

    def evidence(self, picture: page.Picture) -> None:
        st.markdown(f"{self.crossing()} {self.geometric()}")
        page.table(self.table(), alt=picture.alt)
        st.caption(WHAT_IS_PAID_FOR)
        page.evidence(picture, shown=self.table(), name=self.name)

    def below(self, before: Self | None) -> None:
        afford.draw(self)
        draw(self, before)
        page.reproduce(self.code())

    def crossing(self) -> str:
        """For which grids composing every run is cheaper than the random number of runs, said by the chart's points."""
        composed, selection = (self.curve(way)[1:] for way in MADE)
        return crossing(GRID[1:], composed.tolist(), selection.tolist())

    def geometric(self) -> str:
        """Where Liu and Talwar's geometric K is cheaper than this K: what it costs, and how many runs."""
        ways, drawn = self.ways(), self.relevant("liu_talwar").mean_runs
        cheaper = ways["liu_talwar"] < ways["selection"] * (1 - sentences.EXACT)
        if self.settings == 1 or self.family == "geometric" or not cheaper:
            return ""
        return (
            f"Liu and Talwar’s geometric K would cost ε = {epsilon(ways['liu_talwar'])} with the same Pr[K > s], and "
            f"would make {scientific(drawn, 3)} runs on average instead of {scientific(self.mean_runs, 3)}."
        )


def crossing(grid: Sequence[int], composed: Sequence[float], selection: Sequence[float]) -> str:
    """On a grid of two settings and more, where composing every run is cheaper than the random number of runs."""
    if any(map(math.isinf, map(min, composed, selection))):
        return ""
    wins = [settings for settings, whole, drawn in zip(grid, composed, selection, strict=True) if whole <= drawn]
    if not wins:
        return "From two settings on, composing every run is never cheaper here than a random number of runs."
    if len(wins) == len(grid):
        return f"Composing every run is cheaper here than a random number of runs, at least up to s = {grid[-1]}."
    if wins == list(grid[: len(wins)]):
        first = grid[len(wins)]
        return (
            f"Composing every run is cheaper up to s = {wins[-1]}; from s = {first} on, a random number of runs is "
            "cheaper."
        )
    return f"Composing every run is cheaper at s = {', '.join(map(str, wins))}."


def _finite(values: Any) -> Any:
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _view(values: Any) -> tuple[float, float]:
    """A range that ends a little outside the values, in steps of 1, 2, 5, so that it stays while little moves."""
    shown = values[np.isfinite(values) & (values > 0)]
    if not shown.size:
        return 0.1, 10.0
    low, high = float(shown.min()), float(shown.max())
    return 0.9 * log_values(low / 10, low, steps=_DIGITS)[-1], 1.1 * log_values(high, 10 * high, steps=_DIGITS)[0]


def _ticks(low: float, high: float) -> Sequence[float]:
    inside = log_values(low, high, steps=_DIGITS if math.log10(high / low) < 4 else (1.0,))
    return inside[:: max(1, math.ceil(len(inside) / _MOST_TICKS))]


def _axis(title: str, view: tuple[float, float], ticks: Sequence[float], **extra: Any) -> dict[str, Any]:
    marks = {"tickvals": list(ticks), "ticktext": [plain(tick) for tick in ticks]}
    return figures.axis(title, view, log=True, **marks, **extra)
