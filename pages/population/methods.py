"""Methods side by side: stored, or drawn now while the page watches."""

from dataclasses import field, replace
from functools import partial
from typing import Any, Self

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import CONTENDERS, LABELS, PUBLISHED, RADII, Setting
from objpert_core.experiments.summary import Interval
from pages.population.controls import EVERY
from pages.population.learning import (
    LEARNT,
    LEGEND,
    TIGHT,
    Learning,
    made_by,
    pair,
    proved,
    risk,
    role,
)
from pages.population.numbers import DRAWS, MOST_ROWS, Risks, accounted, bound, draw
from ui import draws, figures, page, runs, sentences, style
from ui.jobs import JobView
from ui.runs import Run, Runs
from ui.sentences import times
from ui.stored_view import results_or_none
from ui.view import set_by

RUNS: Runs[Risks] = Runs("population")
_INSIDE = {
    "sgd": "published SGD",
    "objective": "published objective perturbation",
    "gd": "noisy gradient descent",
    "phased": "phased ERM",
    "objective-bound": "objective perturbation with Λ of the bound",
    "objective-least": "objective perturbation with the least Λ",
    TIGHT: "our objective perturbation",
    "zero": "θ = 0",
}
_REASONS = {  # more of it, less of it
    "n": (
        "the noise stays the same, and more rows make the signal stronger",
        "the noise stays the same, and fewer rows make the signal weaker",
    ),
    "ε": ("less noise is needed", "more noise is needed"),
    "d": ("there is noise in every parameter", "there is noise in fewer parameters"),
    "M": ("the noise has more room", "the noise has less room"),
}
CERTIFIED = (
    "The two published methods keep their printed noise, private or not. The table shows the ε that is proved "
    "for this noise. All other methods meet the target."
)
STOPPED = "Stopped before the first fit."


class Methods(Learning, name="population", title="Methods side by side", snippet="methods"):
    """Excess risk of every method; `fresh` risks were drawn now, without them the stored ones are shown."""

    every: bool = set_by(EVERY, switch=True)
    fresh: Risks | None = field(default=None, compare=False)

    snippet_note = (
        "In the project’s folder these lines fit the best method again. They print its mean excess risk, and the "
        "excess risk of θ = 0."
    )

    @classmethod
    def of(cls, risks: Risks, *, every: bool = False) -> Self:
        """The view of these risks."""
        setting = risks.setting
        return cls(setting.n, setting.epsilon, setting.d, setting.population, setting.radius, every, risks)

    @property
    def risks(self) -> Risks:
        """What is shown."""
        risks = self.fresh or stored_risks(self.setting)
        assert risks is not None
        return risks

    @property
    def least(self) -> float:
        """The excess risk of the best private method."""
        risks = self.risks
        return risks.zero if risks.best == "zero" else risks.excess[risks.best].mean

    def blanks(self) -> dict[str, Any]:
        best = self.risks.best if self.risks.best != "zero" else TIGHT
        return {**super().blanks(), "method": best, "trials": self.risks.trials}

    def answer(self) -> str:
        risks, least = self.risks, self.least
        best = risks.best
        if best == "zero":
            return f"Here no private method beats θ = 0, whose excess risk is {risk(risks.zero)}."
        rivals = (TIGHT,) if best != TIGHT else PUBLISHED
        ratios = {name: risks.excess[name].mean / least for name in rivals if name in risks.excess}
        begun = f"{sentences.capital(_INSIDE[best])}: excess risk {risk(least)}"
        if best != TIGHT and ratios.get(TIGHT, 0.0) < 1.05:
            return f"{begun}; our objective perturbation is about as good."
        behind = [f"{_INSIDE[name]} {times(ratio)}×" for name, ratio in ratios.items()]
        return f"{begun}; {', '.join(behind)} as much." if behind else f"{begun}."

    def so_far(self) -> str:
        """The answer of a run that is under way."""
        answer = self.answer()
        return f"So far: {answer[0].lower()}{answer[1:]}"

    def changes(self, before: Self) -> str:
        return "" if before.loss != self.loss else super().changes(before)

    def went(self, before: Self) -> str:
        course = sentences.course("the least excess risk", before.least, self.least, risk)
        (name, old, new), *more = sentences.changed(before, self, self.named)
        return course if more or "stays" in course else f"{course}: {_REASONS[name][new < old]}"

    def note(self) -> str:
        draws, how = sentences.count(self.risks.trials, "draw"), "drawn now" if self.risks.live else "stored"
        return f"{self.line()}; {draws}, {how}, 95\u00a0% intervals."

    def table(self) -> list[dict[str, str]]:
        """Return a row for each method, the best first, and one for θ = 0."""
        risks = self.risks
        tight = risks.excess.get(TIGHT)
        known = tight is not None and tight.mean > 0
        listed = [item for item in risks.excess.items() if self.every or item[0] in (*CONTENDERS, "no-privacy")]
        rows = []
        for name, excess in sorted(listed, key=lambda item: item[1].mean):
            ours, printed = (bound(name, risks.setting, published=published) for published in (False, True))
            rows.append(
                {
                    "Method": LABELS[name],
                    "Excess risk": pair(excess.mean, excess.half_width) if excess.known else risk(excess.mean),
                    "Over ours": f"{excess.mean / tight.mean:.3g}" if tight is not None and known else "–",
                    "ε by the accountant": _promised(name, risks.setting),
                    "Proved bound": "–" if ours is None else proved(ours),
                    "Printed in the paper": "–" if printed is None else proved(printed),
                    "Gap to training": sentences.minus(risk(risks.gap[name].mean)),
                }
            )
        zero = {
            "Method": LABELS["zero"],
            "Excess risk": risk(risks.zero),
            "Over ours": f"{risks.zero / tight.mean:.3g}" if tight is not None and known else "–",
            "ε by the accountant": "0",
        }
        return [*rows, zero | {"Proved bound": "–", "Printed in the paper": "–", "Gap to training": "–"}]

    def numbers(self) -> Any:
        risks = self.risks
        rows = [
            {
                "method": name,
                "excess": excess.mean,
                "low": excess.low,
                "high": excess.high,
                "bound": bound(name, risks.setting),
                "gap": risks.gap[name].mean,
                "draws": excess.count,
            }
            for name, excess in risks.excess.items()
        ]
        rows.append({"method": "zero", "excess": risks.zero, "low": risks.zero, "high": risks.zero, "draws": 0})
        return rows

    def shows(self) -> str:
        risks = self.risks
        means = "; ".join(f"{LABELS[name]} {risk(excess.mean)}" for name, excess in risks.excess.items())
        return (
            f"Excess population risk of {LEARNT[self.loss]}, a logarithmic axis: {means}; θ = 0 {risk(risks.zero)}. "
            "Ticks to the right are proved bounds."
        )

    def chart(self, before: Self | None) -> figures.Figure:
        """Draw excess risk, its interval and its bound for private methods; θ = 0 and no privacy as lines."""
        risks, former = self.risks, None if before is None else before.risks
        names = [name for name in risks.excess if name in CONTENDERS or (self.every and name != "no-privacy")]
        up = (len(names) - 0.4, -0.6)  # the first on top
        levels = {"zero": risks.zero}
        if "no-privacy" in risks.excess:
            levels["no-privacy"] = risks.excess["no-privacy"].mean
        traces: list[dict[str, Any]] = [
            figures.series(f"{LEGEND[name]}: {level:.3g}", (level, level), up, role(name), hoverinfo="skip")
            for name, level in levels.items()
        ]
        values = list(levels.values())
        for place, name in enumerate(names):
            dot, seen = _dot(name, place, risks.excess[name])
            values += seen
            if former is not None and name in former.excess:
                mean = former.excess[name].mean
                hollow = figures.before(LABELS[name], place, mean, role(name))
                hollow |= {"x": hollow["y"], "y": hollow["x"] - 0.22}
                traces.append(hollow | {"hovertemplate": f"before: {mean:.3g}<extra>{LABELS[name]}</extra>"})
                values.append(mean)
            if (ours := bound(name, risks.setting)) is not None:
                first = not any(trace.get("legendgroup") == "bounds" for trace in traces)
                traces.append(_tick(name, place, ours, first=first))
                values.append(ours)
            traces.append(dot)
        labels = [LEGEND[name] for name in names]
        xaxis = figures.axis("excess population risk", figures.log_range(values), log=True)
        yaxis = draws.places("", labels, up)
        return figures.figure(traces, xaxis, yaxis, height=400, hovermode="closest")

    # --- stored, or drawn now ---

    def show(self, left: DeltaGenerator, *, ghost: bool = True) -> None:
        """Draw what is stored, else draw rows now and show how far that is."""
        asked_before, run = self.setting_before(), RUNS.latest()
        former = None if asked_before is None else stored_risks(asked_before)
        if stored_risks(self.setting) is not None:
            if run is not None:
                run.job.stop()
            self._draw(left, former, ghost=ghost)
            return
        with left:
            if self.n > MOST_ROWS:
                st.info(too_many(MOST_ROWS), icon=":material/info:")
                return
            if run is None or run.request != self.setting or draw_again(run):
                worth = RUNS.previous(lambda risks: risks.trials > 0)
                if RUNS.start(self.setting, partial(draw, self.setting, DRAWS), previous=worth):
                    st.rerun()  # only a whole run sets the timer
        seen = RUNS.seen()
        if seen is not None and seen.latest is not None and seen.run.request == self.setting:
            now = replace(self, fresh=seen.latest)
            now._draw(left, former or seen.run.previous, ghost=ghost, under_way=seen.view.active)
        else:
            look(left)

    def _draw(self, left: DeltaGenerator, former: Risks | None, *, ghost: bool, under_way: bool = False) -> None:
        before = None if former is None else Methods.of(former)
        picture = page.Picture(self.chart(before if ghost else None), self.alt(), self.numbers)
        with left:
            answer = self.so_far() if under_way and self.risks.trials < DRAWS / 2 else self.answer()
            page.answer(answer, promise=self.promise(), why=self.moved(before))
            if self.risks.live:
                look(left)
            page.show(picture, key="population_chart")
        if style.embedded():
            return
        st.caption(self.note(), help=CERTIFIED)
        page.evidence(picture, self.table(), name=self.name, code=self.code(), note=self.snippet_note)
        if not self.risks.live and (results := results_or_none(stored.load, self.loss)) is not None:
            st.caption(made_by(results))


def stored_risks(setting: Setting) -> Risks | None:
    """What is stored at a setting; None where nothing is."""
    found = results_or_none(stored.load, setting.population)
    if found is None or setting.radius != RADII[setting.population]:
        return None
    points = {
        name: point
        for name in setting.methods
        if (point := found.point(setting.n, setting.d, setting.epsilon, name)) is not None
    }
    if not points:
        return None
    return Risks(
        setting,
        {name: point.excess for name, point in points.items()},
        {name: point.gap for name, point in points.items()},
        min(point.excess.count for point in points.values()),
        False,
    )


def draw_again(run: Run[Risks]) -> bool:
    """Whether a run that was stopped, or failed, is to be made again."""
    return not run.job.view().active and run.job.view().state != "finished" and st.button("Draw again")


def look(left: DeltaGenerator) -> None:
    """How far the draws are, beside Stop, or how they ended."""

    def ended(view: JobView[Risks]) -> str | None:
        return runs.ended_early(view, STOPPED) if view.latest is None else runs.ended_early(view)

    with left:
        RUNS.look(lambda seen: progress(seen.view, DRAWS), ended)


def progress(view: JobView[Risks], draws: int) -> tuple[float, str]:
    """How far a live run is."""
    if view.state == "waiting":
        return 0.0, view.queue_words
    done, fitted, every = 0.0, 0, 1
    if view.latest is not None:
        counts = [excess.count for excess in view.latest.excess.values()]
        every = len(view.latest.setting.methods)
        done, fitted = sum(counts) / every, sum(counts) % every
    words = "Stopping …" if view.stopping else f"Draw {int(done) + 1} of {draws}: {fitted} of {every} methods fitted"
    return min(done / draws, 1.0), words


def too_many(most: int) -> str:
    """Why nothing is drawn."""
    return (
        f"This setting is not stored, and the page draws at most {most:,} rows. Choose fewer rows, or a stored setting."
    )


def _dot(name: str, place: int, excess: Interval) -> tuple[dict[str, Any], list[float]]:
    """The mean with its interval, and the values that the axis has to hold."""
    low, high = (excess.low, excess.high) if excess.known else (excess.mean, excess.mean)
    low = max(low, excess.mean / 10)  # an axis of logarithms has no zero
    bars: dict[str, Any] = {"symmetric": False, "array": [high - excess.mean], "arrayminus": [excess.mean - low]}
    hover = f"{excess.mean:.3g} ± {excess.half_width:.2g}" if excess.known else f"{excess.mean:.3g}"
    bars |= {"color": figures.look(role(name)).color, "thickness": 2}
    look: dict[str, Any] = {"showlegend": False, "error_x": bars}
    dot = figures.marks(LABELS[name], [excess.mean], [place], role(name), 12, hover=hover, **look)
    return dot, [excess.mean, low, high]


def _tick(name: str, place: int, ours: float, *, first: bool) -> dict[str, Any]:
    """What is proved; the first one stands for all in the legend."""
    label, ends = f"{LABELS[name]}, bound", (place - 0.3, place + 0.3)
    tick = figures.series(label, (ours, ours), ends, role(name), hover="%{x:.3g}")
    tick["line"] = tick["line"] | {"width": 3, "dash": "solid"}
    tick |= {"name": "proved at most"} if first else {}
    return tick | {"legendgroup": "bounds", "showlegend": first}


def _promised(name: str, setting: Setting) -> str:
    """The ε that a method has by the accountant; a published one that misses its target says so."""
    if name == "no-privacy":
        return "∞"
    if name not in PUBLISHED:
        return sentences.epsilon(setting.epsilon)
    epsilon = accounted(name, setting)
    if epsilon is None:
        return "not checked"
    return sentences.epsilon(epsilon) + (" > target" if epsilon > setting.epsilon else "")
