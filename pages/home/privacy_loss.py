"""The privacy loss of the page's pair of data sets, between the lines at ±ε."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.home.pair import Pair
from ui import figures, page, sentences


def show(pair: Pair) -> None:
    """What this pair of data sets needs, over the chart."""
    needed = f"only {sentences.delta(pair.exact_delta, 3)}" if pair.exact_delta > 0 else "less than 10⁻³⁰⁰"
    st.caption(
        f"The privacy loss of these two data sets. The grey lines mark ±ε. The two data sets need a slack of {needed}."
    )
    page.show(page.Picture(chart(pair), alt(pair)), key="home_loss")


def alt(pair: Pair) -> str:
    """The chart in words; any pair's loss passes ε with the probability of the mechanism's tail at most."""
    tail = sentences.delta(pair.mechanism.tail(pair.epsilon))
    return (
        "Privacy loss, the logarithm of the ratio of the two densities, against the released θ. Horizontal lines mark "
        f"±ε = ±{sentences.epsilon(pair.epsilon)}. The loss passes these lines with probability {tail} at most."
    )


def chart(pair: Pair) -> go.Figure:
    """The logarithm of how many times likelier each released θ is with the person than without."""
    theta, loss, epsilon = pair.grid, pair.loss, pair.epsilon
    view, ends = 1.15 * max(epsilon, float(np.abs(loss).max())), (float(theta[0]), float(theta[-1]))
    return figures.figure(
        [
            figures.guide(ends, (epsilon, epsilon)),
            figures.guide(ends, (-epsilon, -epsilon)),
            figures.series("privacy loss", theta, loss, "with", hover="log ratio %{y:.3g}"),
        ],
        xaxis=figures.axis("released θ", ends, hoverformat=".3g"),
        yaxis=figures.axis("privacy loss", (-view, view)),
        height=280,
        legend=False,
    )
