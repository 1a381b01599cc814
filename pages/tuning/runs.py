"""How many runs there are: the distribution of K."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from pages.tuning.numbers import REMEMBERED, Tuning
from ui import figures, page
from ui.sentences import percent, scientific

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
    return figures.figure(traces, xaxis=across, yaxis=figures.axis("probability", (0.0, top)), height=280, **look)


def _upright(name: str, x: float, top: float, role: str) -> dict[str, Any]:
    return figures.series(name, np.array([x, x]), np.array([0.0, top]), role, mode="lines", hoverinfo="skip")
