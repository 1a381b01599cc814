"""What a loss without GLM structure costs: Theorem G.2 against the dimension, beside the bounds that need no dimension.

Along the curve the Rényi divergence is converted on a grid of orders, which is a valid bound within a fraction of a
per cent of the best one; the number read out is the best one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from ui import sentences

Array = NDArray[np.float64]

NAMES: Mapping[str, str] = {
    "non-glm": "Any smooth convex loss (Theorem G.2)",
    "rdp": "GLM, Rényi (Theorem 3.2)",
    "glm": "GLM, hockey-stick (Theorem 3.1)",
    "lower": "Gaussian lower bound",
}
DIMENSIONS = tuple(int(d) for d in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000))
_ORDERS = 1 + np.geomspace(1e-3, 1e5, 64)
_REMEMBERED = 1000


@dataclass(frozen=True)
class DimensionSetting:
    """One mechanism: noise σ, regularisation λ, and the loss's smoothness β and Lipschitz constant L."""

    sigma: float
    lam: float
    smoothness: float
    lipschitz: float

    def __str__(self) -> str:
        return f"σ = {self.sigma:g}, λ = {self.lam:g}, β = {self.smoothness:g}, L = {self.lipschitz:g}"

    def mechanism(self, bound: str, dimension: int | None = None) -> acc.Mechanism:
        """The mechanism under one bound of `NAMES`."""
        if bound == "lower":
            return acc.Gaussian(self.sigma, self.lipschitz)
        base = "glm" if bound == "rdp" else bound
        objective = acc.ObjectivePerturbation(
            self.sigma, self.lam, self.lipschitz, self.smoothness, base, dimension if base == "non-glm" else None
        )
        return objective if bound == "glm" else acc.via_rdp(objective)


@lru_cache(maxsize=_REMEMBERED)
def epsilon_at(bound: str, setting: DimensionSetting, delta: float, dimension: int) -> float:
    """Smallest ε at δ; the dimension matters to Theorem G.2 only."""
    if bound != "non-glm" and dimension != 1:
        return epsilon_at(bound, setting, delta, 1)
    return float(setting.mechanism(bound, dimension).epsilon(delta))


@lru_cache(maxsize=_REMEMBERED)
def curve(setting: DimensionSetting, delta: float) -> Array:
    """ε of Theorem G.2 at `DIMENSIONS`; inf where it proves nothing."""
    values = np.full(len(DIMENSIONS), np.inf)
    if setting.lam > setting.smoothness:
        for i, dimension in enumerate(DIMENSIONS):
            objective = acc.ObjectivePerturbation(
                setting.sigma, setting.lam, setting.lipschitz, setting.smoothness, "non-glm", dimension
            )
            values[i] = acc.rdp_to_epsilon(_ORDERS, objective.rdp(_ORDERS), delta)
    values.setflags(write=False)
    return values


def readings(setting: DimensionSetting, delta: float, dimension: int) -> dict[str, float]:
    """ε at δ of every bound."""
    return {bound: epsilon_at(bound, setting, delta, dimension) for bound in NAMES}


def price(setting: DimensionSetting) -> float:
    """−log(1 − β/λ): what each dimension costs without GLM structure; inf for λ ≤ β."""
    return -math.log1p(-setting.smoothness / setting.lam) if setting.lam > setting.smoothness else math.inf


def parameters(dimension: int) -> str:
    """'1 parameter', '1,000 parameters'."""
    return f"{dimension:,} parameter{'' if dimension == 1 else 's'}"


def table_rows(found: Mapping[str, float], dimension: int) -> list[dict[str, str]]:
    """The read-outs as texts, one row a bound."""
    low = found["lower"]
    return [
        {
            "Bound": name,
            f"ε with {parameters(dimension)}": (
                sentences.epsilon(found[bound]) if math.isfinite(found[bound]) else "nothing proved"
            ),
            "ε / lower bound": sentences.ratio(found[bound] / low if low > 0 else math.nan, up=False),
            "Grows with the dimension": "yes" if bound == "non-glm" else "no",
        }
        for bound, name in NAMES.items()
    ]


def frame(setting: DimensionSetting, delta: float) -> pd.DataFrame:
    """Every plotted number: one row a dimension."""
    columns = {"dimension": DIMENSIONS, "epsilon_non-glm": curve(setting, delta)}
    flat = {f"epsilon_{bound}": epsilon_at(bound, setting, delta, 1) for bound in NAMES if bound != "non-glm"}
    return pd.DataFrame(columns | flat)
