"""What a margin costs an ordinary row: the exact ε of two neighbouring data sets with one parameter."""

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from ui import figures, page, sentences, snippets

AGREE, DIFFER = 48, 32  # rows of the data set with label +1, and with label −1, all with x = 1
SIGMA, LAM, DELTA = 4.0, 1.0, 1e-5
MARGINS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
ROWS = {"agrees": 1, "differs": -1}
"""Labels of the row that is added or removed."""
NAMES = {"agrees": "agrees with most rows", "differs": "differs from most rows"}
DESIGN = (
    f"One parameter, {AGREE + DIFFER} rows with x = 1, {AGREE} of them with label +1; one more row is "
    f"added or removed. σ = {SIGMA:g}, λ = {LAM:g}, δ = {sentences.delta(DELTA)}. The two laws are integrated "
    f"exactly, so these ε are exact for this pair of data sets. These ε are no promise to anybody."
)


def crowd(margin: float) -> OneDimensionalLogistic:
    """The law of the release without the row."""
    rows = AGREE + DIFFER
    return OneDimensionalLogistic([1.0] * rows, [1] * AGREE + [-1] * DIFFER, sigma=SIGMA, lam=LAM, margin=margin)


@lru_cache(maxsize=100)
def exact(row: str, margin: float) -> float:
    """ε at `DELTA` of this pair of data sets, from below; exact to more digits than are shown."""
    without = crowd(margin)
    return without.pair_epsilon(without.add(1.0, ROWS[row]), DELTA)


def certified() -> float:
    """ε at `DELTA` for every row and all data, whatever the margin."""
    return float(acc.ObjectivePerturbation(SIGMA, LAM).epsilon(DELTA))


def curve(row: str) -> NDArray[np.float64]:
    """`exact` at `MARGINS`."""
    return np.array([exact(row, margin) for margin in MARGINS])


def show(margin: float) -> None:
    """Draw what the margin costs one ordinary row, though not the worst case."""
    picture = page.Picture(chart(margin), alt(margin), frame, "Exact ε of a row against k")
    st.header("What a margin costs an ordinary row", anchor=False)
    st.markdown(price(margin))
    page.show(picture, key="losses_ordinary")
    st.caption(DESIGN)
    note = "These lines print the ε of the row that agrees with most others, and the certified ε."
    page.evidence(picture, table(margin), name="losses-ordinary", code=code(margin), note=note)


def price(margin: float) -> str:
    """What the certificate says about every row, and what a margin costs an ordinary one."""
    before, here = (sentences.number(exact("agrees", k)) for k in (0.0, margin))
    moved = f"{before} without a margin"
    if margin:
        moved += f" and {here} with k = {sentences.number(margin)}"
    return (
        f"The certificate holds for every row and all data: ε = {sentences.epsilon(certified())} at every k. A "
        f"margin costs nothing in the worst case, but brings ordinary rows closer to the worst case. For a row that "
        f"agrees with most others, the exact ε is {moved}."
    )


def alt(margin: float) -> str:
    """What the chart shows."""
    ends = {row: " to ".join(sentences.number(exact(row, k)) for k in (0.0, 5.0)) for row in ROWS}
    return (
        f"Exact ε at δ = {sentences.delta(DELTA)} of a row against the margin k from 0 to 5, rising towards the "
        f"certified ε = {sentences.epsilon(certified())}, a flat line: "
        f"{'; '.join(f'{NAMES[row]} {told}' for row, told in ends.items())}. An upright line marks "
        f"k = {sentences.number(margin)}."
    )


def table(margin: float) -> list[dict[str, str]]:
    """The exact ε without a margin and with one, one row a row."""
    return [
        {
            "The row": NAMES[row],
            **{f"exact ε at k = {k:g}": sentences.number(exact(row, k)) for k in sorted({0.0, margin})},
            "certified at every k": sentences.epsilon(certified()),
        }
        for row in ROWS
    ]


def frame() -> pd.DataFrame:
    """Every plotted number."""
    columns: dict[str, Any] = {"margin": MARGINS} | {f"epsilon_{row}": curve(row) for row in ROWS}
    return pd.DataFrame(columns | {"epsilon_certified": certified()})


def code(margin: float) -> str:
    """The lines of Python."""
    design = {"agree": AGREE, "differ": DIFFER, "sigma": SIGMA, "lam": LAM, "delta": DELTA}
    return snippets.filled("losses", "ordinary", design | {"margins": (0.0, margin) if margin else (0.0,)})


def chart(margin: float) -> Any:
    """The exact ε of two ordinary rows against the margin k, below the certificate's."""
    k, top, hover = np.array(MARGINS), 1.1 * certified(), "ε ≈ %{y:.3f}"
    look: dict[str, Any] = {"mode": "lines+markers", "hover": hover}
    roles = {"agrees": "with", "differs": "without"}
    traces = [
        figures.guide((margin, margin), (0.0, top)),
        figures.series("certified for every row", k, np.full(len(k), certified()), "lower", hover=hover),
        *(figures.series(NAMES[row], k, curve(row), role, **look) for row, role in roles.items()),
    ]
    xaxis = figures.axis("margin k", (k[0], k[-1]), hoverformat=".3g")
    yaxis = figures.axis("ε at δ = 10⁻⁵", (0.0, top))
    return figures.figure(traces, xaxis, yaxis, height=300)
