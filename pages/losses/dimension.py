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
from ui import bounds, sentences

NAMES: Mapping[str, str] = {
    "non-glm": "Any smooth convex loss (Theorem G.2)",
    "rdp": "GLM, Rényi (Theorem 3.2)",
    "glm": "GLM, hockey-stick (Theorem 3.1)",
    "lower": "Gaussian lower bound",
}
DIMENSIONS = tuple(int(d) for d in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000))
_ORDERS = 1 + np.geomspace(1e-3, 1e5, 64)


def _theorem_g2(setting: bounds.Setting, dimension: int) -> acc.ObjectivePerturbation:
    parameters = (setting.sigma, setting.lam, setting.lipschitz, setting.smoothness)
    return acc.ObjectivePerturbation(*parameters, "non-glm", dimension)


def epsilon_at(bound: str, setting: bounds.Setting, delta: float, dimension: int) -> float:
    """Smallest ε at δ; the dimension matters to Theorem G.2 only."""
    if bound != "non-glm":
        return bounds.epsilon_at(bound, setting, delta)
    return bounds.at(acc.via_rdp(_theorem_g2(setting, dimension)), "epsilon", delta)


@lru_cache(maxsize=1000)
def curve(setting: bounds.Setting, delta: float) -> NDArray[np.float64]:
    """ε of Theorem G.2 at `DIMENSIONS`; inf where it proves nothing."""
    values = np.full(len(DIMENSIONS), np.inf)
    if setting.lam > setting.smoothness:
        curves = (_theorem_g2(setting, dimension).rdp(_ORDERS) for dimension in DIMENSIONS)
        values[:] = [acc.rdp_to_epsilon(_ORDERS, rdp, delta) for rdp in curves]
    values.setflags(write=False)
    return values


@dataclass(frozen=True)
class Read:
    """A mechanism, and the δ and the number of parameters at which ε is read off."""

    setting: bounds.Setting
    delta: float
    dimension: int

    @property
    def epsilon(self) -> float:
        """ε of Theorem G.2."""
        return epsilon_at("non-glm", self.setting, self.delta, self.dimension)


def readings(setting: bounds.Setting, delta: float, dimension: int) -> dict[str, float]:
    """ε at δ of every bound."""
    return {bound: epsilon_at(bound, setting, delta, dimension) for bound in NAMES}


def price(setting: bounds.Setting) -> float:
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
            "Bound": NAMES[bound],
            f"ε with {parameters(dimension)}": sentences.proved(eps),
            "ε / lower bound": sentences.ratio(eps / low if low > 0 else math.nan, up=False),
            "Grows with the dimension": "yes" if bound == "non-glm" else "no",
        }
        for bound, eps in found.items()
    ]


def frame(setting: bounds.Setting, delta: float) -> pd.DataFrame:
    """Every plotted number: one row a dimension."""
    columns = {"dimension": DIMENSIONS, "epsilon_non-glm": curve(setting, delta)}
    flat = {f"epsilon_{bound}": epsilon_at(bound, setting, delta, 1) for bound in NAMES if bound != "non-glm"}
    return pd.DataFrame(columns | flat)
