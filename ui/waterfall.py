"""Where the accuracy comes from: a waterfall from the published bound, one step after the other, to today's learner.

The pages Accuracy (stored runs) and Live training (draws made now) show the same chart, table and words; both get an
`objpert_core.experiments.waterfall.Waterfall`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from objpert_core.experiments.learners import PUBLISHED, TIGHT
from objpert_core.experiments.waterfall import Step, Waterfall
from ui import draws, figures, sentences
from ui.page import Picture
from ui.words import FEWEST, accuracy, ends, fall, signed, undecided

IN_ALL, SKIPPED = "in all", "skipped"
DOES: Mapping[str, str] = {
    "2023 theorem": "Algorithm 1 as published: Rényi curve, no margin, raw rows",
    "our theorem": "less noise and less λ for the same ε",
    "margin": "rows that are already right still move the model",
    "centring": "subtracts a noisy mean, which ε covers, from every row; the margin grows",
    "scaling": "evens out the columns by their noisy sizes, which ε covers",
    "centring and scaling": "both steps, by a noisy mean and noisy sizes, which ε covers; the margin grows",
}
"""What each step does."""
_CALLED = {"margin": "the margin"}  # inside a sentence
_HALF = 0.32  # of a bar's width
_LEAST = 0.004  # share of the axis, where no step changes much

Trace = dict[str, Any]


@dataclass(frozen=True)
class Level:
    """Somebody else's accuracy, to compare with."""

    method: str  # the learner, for its look
    name: str  # what the legend calls it
    share: float  # its mean accuracy


def picture(found: Waterfall, levels: Sequence[Level] = (), ghost: Waterfall | None = None) -> Picture:
    """The waterfall: a bar a step, where it ends with the interval of what the step changes, and the sum of all.

    `levels` are others to compare with, unless they are far away. Hollow marks show what each step of the `ghost`
    changed, where it is on the same rows.
    """
    steps, total = found.steps, len(found.steps)
    across = (-0.5, total + 0.5)
    former = [] if ghost is None or ghost.label != found.label else [_before(found, ghost)]
    view = _view(found, levels, [share for trace in former for share in trace["y"]])
    traces = [_level(level, across) for level in levels if view[0] <= level.share <= view[1]]
    traces.append(_link(steps))
    for place, (before, step) in enumerate(pairwise(steps), start=1):
        color = figures.VERMILION if step.accuracy.mean >= before.accuracy.mean else figures.GREY
        traces.append(_bar(place, before, step, figures.translucent(color, 0.55)))
    traces.append(_bar(total, steps[0], steps[-1], figures.translucent(figures.VERMILION, 0.25)))
    traces += [_mark(place, step) for place, step in enumerate(steps)]
    traces += former
    at = f"ε = {sentences.epsilon(found.epsilon)}, δ = {sentences.delta(found.delta)}"
    xaxis = draws.places(at, _labels(found), across)
    yaxis = figures.axis(f"test accuracy<br>on {found.label}", view, tickformat=_ticks(view), hoverformat=".2%")
    chart = figures.figure(traces, xaxis, yaxis, height=430, hovermode="closest")
    return Picture(chart, alt(found), lambda: frame(found))


def _bar(place: float, before: Step, step: Step, color: str) -> Trace:
    """A bar from one mean to the other; it stands on no ground, so the axis need not begin at 0."""
    x, low, high = place + _HALF * np.array([-1.0, 1.0, 1.0, -1.0]), before.accuracy.mean, step.accuracy.mean
    drawn = figures.series("", x, np.array([low, low, high, high]), TIGHT, showlegend=False, hoverinfo="skip")
    return drawn | {"fill": "toself", "fillcolor": color, "line": {"width": 0, "color": figures.VERMILION}}


def _link(steps: Sequence[Step]) -> Trace:
    """Thin lines from the end of each bar to the beginning of the next, and from the last to the sum."""
    x = [at for place in range(len(steps)) for at in (place, place + 1, math.nan)]
    y = [share for step in steps for share in (step.accuracy.mean, step.accuracy.mean, math.nan)]
    return figures.guide(x, y)


def _mark(place: int, step: Step) -> Trace:
    """A step's mean, with the interval of what the step changed; blue is as published."""
    role = PUBLISHED if step.gain is None else TIGHT
    hover = "%{y:.2%}" + (f", {signed(step.gain.mean)} points ({ends(step.gain)})" if step.gain else "")
    mark = figures.marks(step.name, [place], [step.accuracy.mean], role, 11, hover=hover, showlegend=False)
    if half := _half(step):
        mark["error_y"] = {"array": np.array([half]), "color": figures.look(role).color, "thickness": 1.5, "width": 5}
    return mark


def _half(step: Step) -> float:
    """Half the interval of what a step changes; 0 where the trials are too few for one."""
    told = step.gain is not None and step.gain.count >= FEWEST and not step.skipped
    return step.gain.half_width if told and step.gain else 0.0


def _labels(found: Waterfall) -> list[str]:
    """What stands under the bars: the step's name, and what it changes."""
    own = [f"{step.name.replace(' ', '<br>')}{f'<br>{_changed(step)}' if step.gain else ''}" for step in found.steps]
    return [*own, f"{IN_ALL}<br>{signed(found.total.mean)}"]


def _changed(step: Step) -> str:
    """What a step changes: '+0.35'; 'skipped' where its rule leaves it out; – for the first."""
    if step.gain is None:
        return "–"
    return SKIPPED if step.skipped else signed(step.gain.mean)


def _level(level: Level, across: tuple[float, float]) -> Trace:
    role = figures.of_learner(level.method)
    return figures.series(f"{level.name} {accuracy(level.share)}", across, [level.share] * 2, role, hoverinfo="skip")


def _before(found: Waterfall, ghost: Waterfall) -> Trace:
    """Hollow marks where the bars would end if each step changed what it changed before."""
    gains = {step.name: step.gain.mean for step in ghost.steps if step.gain} | {IN_ALL: ghost.total.mean}
    bases = [step.accuracy.mean for step in (*found.steps[:-1], found.steps[0])]
    names = [*(step.name for step in found.steps[1:]), IN_ALL]
    told = [(place, base, gains[n]) for place, (n, base) in enumerate(zip(names, bases, strict=True), 1) if n in gains]
    x, y = np.array([place - 0.2 for place, _, _ in told]), np.array([base + gain for _, base, gain in told])
    drawn = figures.series("before", x, y, TIGHT, ghost=True, mode="markers")
    drawn |= {"marker": drawn["marker"] | {"symbol": "circle-open", "size": 9}, "opacity": 0.8, "hoverinfo": None}
    at = f"ε = {sentences.epsilon(ghost.epsilon)} on {ghost.label}"
    return drawn | {
        "text": [signed(gain) for _, _, gain in told],
        "hovertemplate": f"%{{text}} points<extra>{at}</extra>",
    }


def _view(found: Waterfall, levels: Sequence[Level], former: Sequence[float]) -> tuple[float, float]:
    """An axis that holds the steps and their intervals, ghosts, and the levels that are near."""
    low = min([*(step.accuracy.mean - _half(step) for step in found.steps), *former])
    high = max([*(step.accuracy.mean + _half(step) for step in found.steps), *former])
    span = max(high - low, _LEAST)
    near = [level.share for level in levels if low - span <= level.share <= high + span]
    return min([low, *near]) - 0.06 * span, max([high, *near]) + 0.06 * span


def _ticks(view: tuple[float, float]) -> str:
    """As many decimals as tell the ticks apart."""
    return ".1%" if view[1] - view[0] > _LEAST else ".2%"


def alt(found: Waterfall) -> str:
    """Alt text of the chart: every step's accuracy and what it changes."""
    parts = [
        f"{step.name} {accuracy(step.accuracy.mean)}" + (f" ({_changed(step)})" if step.gain else "")
        for step in found.steps
    ]
    return (
        f"Where the accuracy on {found.label} comes from at ε = {sentences.epsilon(found.epsilon)}: "
        f"{', '.join(parts)}; {IN_ALL} {signed(found.total.mean)} points."
    )


def answer(found: Waterfall) -> str:
    """The page's one large sentence: which step brings most."""
    at, most = f"At ε = {sentences.epsilon(found.epsilon)} on {found.label}", found.largest
    _, course = fall(found.steps[0].accuracy.mean, found.steps[-1].accuracy.mean)
    if most.gain is None or most.gain.mean <= 0 or undecided(most.gain):
        return f"{at} every step’s gain is within its noise ({course})."
    name, gain = _CALLED.get(most.name, most.name), f"{100 * most.gain.mean:.2f}"
    if found.total.mean < most.gain.mean:
        return f"{at} {name} brings {gain} points, all steps together {signed(found.total.mean)}."
    return f"{at} {name} brings the most: {gain} of {100 * found.total.mean:.2f} points."


def why(before: Waterfall | None, now: Waterfall) -> str:
    """How the sum of all steps moved since the setting before; empty at first."""
    if before is None or before == now:
        return ""
    moved = sentences.course("the sum of all steps", before.total.mean, now.total.mean, lambda gain: signed(gain))
    if before.label != now.label:
        return f"{now.label} instead of {before.label}: {moved} points."
    return f"{sentences.shift([('ε', before.epsilon, now.epsilon)])}: {moved} points."


def table(found: Waterfall) -> list[dict[str, str]]:
    """A row for each step, and one for all of them."""
    rows = [
        {
            "Step": step.name,
            "Change, points": _changed(step),
            "95 % interval": ends(step.gain) if step.gain and _half(step) else "–",
            "Accuracy then": accuracy(step.accuracy.mean),
            "What the step does": DOES[step.name],
        }
        for step in found.steps
    ]
    sure = ends(found.total) if found.total.count >= FEWEST else "–"
    last = {"Change, points": signed(found.total.mean), "95 % interval": sure}
    return [*rows, {"Step": IN_ALL, **last, "Accuracy then": rows[-1]["Accuracy then"], "What the step does": ""}]


def caption(found: Waterfall, pairs: str) -> str:
    """What the bars and marks are; `pairs` is what the differences are paired by."""
    bars = (
        f"95 % intervals of the step’s change, paired by {pairs}"
        if found.total.count >= FEWEST
        else f"{sentences.count(found.total.count, 'trial')}, too few for intervals"
    )
    skipped = " A step that a public rule skips at this ε changes nothing."
    return (
        f"Each step is switched on after those to its left, at the same total ε; {bars}. In another order each step "
        "would gain a different amount, but the sum stays the same."
        f"{skipped if any(s.skipped for s in found.steps) else ''}"
    )


def frame(found: Waterfall) -> pd.DataFrame:
    """The plotted numbers, with all digits."""
    rows = [(step.name, step.method, step.accuracy.mean, step.gain) for step in found.steps]
    rows.append((IN_ALL, "", found.steps[-1].accuracy.mean, found.total))
    shared = {"data_set": found.label, "epsilon": found.epsilon, "delta": found.delta, "trials": found.total.count}
    return pd.DataFrame(
        [
            {
                **shared,
                "step": name,
                "method": method,
                "accuracy": share,
                **{f"gain{end}": getattr(gain, field, None) for end, field in _ENDS.items()},
            }
            for name, method, share, gain in rows
        ]
    )


_ENDS = {"": "mean", "_low": "low", "_high": "high"}
