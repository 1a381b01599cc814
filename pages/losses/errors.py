"""The error of a fit at every threshold, without noise and private."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.experiments.studies import clipping
from pages.losses.names import CLIPPED, PRIVATE, error, nice
from ui import figures, page, sentences

LINES = (
    f"Green: the mean of {sentences.count(clipping.NOISES, 'private fit')} at each C, with a band from the best fit "
    f"to the worst. Each C scales the same {clipping.NOISES} noise draws, so the curve shows the effect of C and not "
    f"luck. The vertical line marks the C in use."
)


def show(setting: clipping.Setting, ghost: clipping.Setting | None) -> None:
    """Draw the picture, with a ghost of another setting's errors."""
    errors = clipping.errors(setting)
    title = f"Error against C: {setting}"
    picture = page.Picture(chart(setting, ghost), alt(setting, errors), lambda: pd.DataFrame(errors), title)
    st.header("The error at every threshold", anchor=False)
    st.caption(best(setting, clipping.best_threshold(setting)))
    page.show(picture, key="losses_errors")
    st.caption(LINES)
    page.evidence(picture, name="losses-errors")


_OWN_SLOPE = "the loss’s own slope, which C does not lower", "this slope"


def best(setting: clipping.Setting, threshold: float) -> str:
    """At which threshold the error of private fits would be least."""
    objective = clipping.mechanism(setting).objective
    size, short = ("C", "C") if setting.lipschitz == setting.clip else _OWN_SLOPE
    return (
        f"σ = {sentences.number(objective.sigma)} is proportional to {size}; λ = {sentences.number(objective.lam)} "
        f"does not depend on {short}. On these rows C ≈ {sentences.number(threshold, 2)} would be best for private "
        f"fits, but finding this C costs privacy."
    )


def alt(setting: clipping.Setting, errors: Mapping[str, np.ndarray]) -> str:
    """What the chart of errors shows."""
    at, (low, *_, high) = clipping.THRESHOLDS, (error(setting, float(value)) for value in errors["private"])
    return (
        f"Error of the fit against the clipping threshold, logarithmic, with and without noise. Private fits are best "
        f"at C = {sentences.number(clipping.best_threshold(setting), 2)}; at C = {at[0]:g} their error is {low}, at "
        f"C = {at[-1]:g} it is {high}."
    )


def chart(setting: clipping.Setting, ghost: clipping.Setting | None) -> Any:
    """Error against the threshold C: too small a C loses the signal, too large a one lets outliers and noise in."""
    errors = clipping.errors(setting)
    top = nice(1.1 * float(max(errors["private_highest"].max(), errors["clipped"].max())))
    traces = []
    if ghost is not None:
        before = clipping.errors(ghost)
        traces.append(figures.series("private, before", before["C"], before["private"], "noise", ghost=True))
    x = errors["C"]
    look: dict[str, Any] = {"mode": "lines+markers", "hover": "%{y:.3f}"}
    traces += [
        figures.guide((setting.clip, setting.clip), (0.0, top)),
        figures.band(x, errors["private_lowest"], errors["private_highest"], "noise"),
        figures.series(CLIPPED, x, errors["clipped"], "tight", **look),
        figures.series(PRIVATE, x, errors["private"], "noise", **look),
    ]
    what = "distance from the true line" if setting.regression else "wrong labels on fresh rows"
    across = figures.axis("clipping threshold C", (x[0], x[-1]), log=True, hoverformat=".3g")
    return figures.figure(traces, xaxis=across, yaxis=figures.axis(what, (0.0, top)), height=300)
