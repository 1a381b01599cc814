"""The privacy loss of the page's pair of data sets, between the lines at ±ε."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from ui import figures, page, sentences

if TYPE_CHECKING:
    from pages.home.release import Release


def show(release: Release) -> None:
    """What this pair of data sets needs, over the chart."""
    exact = exact_delta(release)
    needed = f"only {sentences.delta(exact, 3)}" if exact > 0 else "less than 10⁻³⁰⁰"
    st.caption(f"Privacy loss of this pair. The grey lines mark ±ε. This pair needs a slack of {needed}.")
    page.show(page.Picture(chart(release), alt(release)), key="home_loss")


def exact_delta(release: Release) -> float:
    """The exact δ of this pair at the proved ε, in the worse direction."""
    without, joined = release.laws.values()
    return max(first.hockey_stick(second, release.epsilon) for first, second in ((without, joined), (joined, without)))


def alt(release: Release) -> str:
    """The chart in words; any pair's loss passes ε with the probability of the mechanism's tail at most."""
    tail = sentences.delta(release.mechanism.tail(release.epsilon))
    return (
        "Privacy loss, the logarithm of the ratio of the two densities, against the released θ. Horizontal lines mark "
        f"±ε = ±{sentences.epsilon(release.epsilon)}, which it passes with probability {tail} at most."
    )


def chart(release: Release) -> go.Figure:
    """The logarithm of how many times likelier each released θ is with the person than without."""
    theta, loss, epsilon = release.grid, release.loss, release.epsilon
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
