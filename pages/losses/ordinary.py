"""What a margin costs an ordinary row: the exact ε of two neighbouring data sets with one parameter."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from objpert_core.theory.one_dimensional import OneDimensionalLogistic
from ui import sentences

AGREE, DIFFER = 48, 32  # rows of the data set with label +1, and with label −1, all with x = 1
SIGMA, LAM, DELTA = 4.0, 1.0, 1e-5
MARGINS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
ROWS = {"agrees": 1, "differs": -1}
"""Labels of the row that is added or removed."""
NAMES = {"agrees": "agrees with most rows", "differs": "differs from most rows"}

Array = NDArray[np.float64]


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


def curve(row: str) -> Array:
    """`exact` at `MARGINS`."""
    return np.array([exact(row, margin) for margin in MARGINS])


def frame() -> pd.DataFrame:
    """Every plotted number."""
    columns: dict[str, Any] = {"margin": MARGINS} | {f"epsilon_{row}": curve(row) for row in ROWS}
    return pd.DataFrame(columns | {"epsilon_certified": certified()})


def table_rows(margin: float) -> list[dict[str, str]]:
    """The exact ε without a margin and with one, as texts, one row a row."""
    return [
        {
            "The row": NAMES[row],
            **{f"exact ε at k = {k:g}": sentences.number(exact(row, k)) for k in sorted({0.0, margin})},
            "certified at every k": sentences.epsilon(certified()),
        }
        for row in ROWS
    ]
