"""Two settings beside each other, on the same axis: what the page's two predictions reveal."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.home.pair import POINTS
from pages.home.release import Release
from ui import figures, page
from ui.page import Prediction


def less_noise() -> None:
    show([Release(sigma, 1.0) for sigma in (2.5, 0.5)], (-1.5, 4.0), "home_try_sigma")


def less_regularisation() -> None:
    show([Release(2.5, lam) for lam in (1.0, 0.1)], (-4.0, 14.0), "home_try_lambda")


FIRST_QUESTION = Prediction.of("home", less_noise)
SECOND_QUESTION = Prediction.of("home", less_regularisation, text="lambda")


def show(releases: Sequence[Release], view: tuple[float, float], key: str) -> None:
    """The answer and the densities of each."""
    for release, column in zip(releases, st.columns(2), strict=True):
        with column:
            st.markdown(f"**σ = {release.sigma:g}, λ = {release.lam:g}.** {release.answer()}")
            picture = page.Picture(densities(release, view), release.alt())
            page.show(picture, key=f"{key}_{release.sigma:g}_{release.lam:g}")


def densities(release: Release, view: tuple[float, float]) -> go.Figure:
    """The two densities alone, over θ from view[0] to view[1]."""
    theta = np.linspace(*view, 2 * POINTS)
    curves = {role: law.density(theta) for role, law in release.laws.items()}
    return figures.figure(
        [figures.series(f"{role} the person", theta, y, role, hover="density %{y:.3g}") for role, y in curves.items()],
        xaxis=figures.axis("released θ", (float(theta[0]), float(theta[-1])), hoverformat=".3g"),
        yaxis=figures.axis("density", (0.0, 1.08 * max(float(y.max()) for y in curves.values())), showticklabels=False),
        height=280,
    )
