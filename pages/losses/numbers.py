"""The curves of the page Losses and clipping: a loss, its clipped form, their slopes and kinks, from the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from objpert_core.learning import ClippedLoss, Loss, loss_named
from ui import sentences

NAMES: Mapping[str, str] = {
    "squared": "squared loss",
    "huber": "Huber’s loss",
    "logistic": "logistic loss",
    "squared-hinge": "squared hinge",
    "huberised-hinge": "rounded hinge",
}
WIDTHS: Mapping[str, str] = {"huber": "threshold", "huberised-hinge": "half width of the rounded corner"}
PARAMETERS: Mapping[str, str] = {**WIDTHS, "logistic": "margin"}
"""What the loss's own constant is called, for the losses that have one."""
POINTS = 241  # on the axis, ends included; the kinks come on top

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LossSetting:
    """A loss, the threshold C on gradient norms and the norm of the row that is looked at."""

    loss: str
    parameter: float
    clip: float
    norm: float

    def __str__(self) -> str:
        own = f" ({PARAMETERS[self.loss]} {self.parameter:g})" if self.loss in PARAMETERS and self.parameter else ""
        return f"{NAMES[self.loss]}{own}, C = {self.clip:.4g}, row norm {self.norm:.4g}"

    @property
    def plain(self) -> Loss:
        """f."""
        return loss_named(self.loss, self.parameter if self.loss in PARAMETERS else None)

    @property
    def slope(self) -> float:
        """c = C/‖x‖: where f′ is cut off."""
        return self.clip / self.norm

    @property
    def clipped(self) -> ClippedLoss:
        """f_C."""
        return ClippedLoss(self.plain, self.slope)

    @property
    def target(self) -> float:
        """The target at which score and margin, or score and residual, are the same number."""
        return 1.0 if self.plain.monotone else 0.0

    @property
    def axis(self) -> str:
        """What f is a function of."""
        return "signed score m = y·xᵀθ" if self.plain.monotone else "residual r = xᵀθ − y"

    @property
    def unmoved(self) -> LossSetting | None:
        """The same without its margin k; None where there is none."""
        return replace(self, parameter=0.0) if self.loss == "logistic" and self.parameter > 0 else None

    @property
    def pull(self) -> float:
        """Force of a row at score 0 as a share of the largest it could have once it is clipped."""
        at_zero = self.clipped.derivatives(np.zeros(1), self.target)[0]
        return abs(float(at_zero[0])) / self.clipped.lipschitz

    @property
    def kinks(self) -> tuple[float, float]:
        """Where f_C leaves f; ∓inf where it never does."""
        low, high = self.clipped.kinks(targets=self.target)
        return float(low), float(high)

    @property
    def clips(self) -> bool:
        """Whether f_C differs from f anywhere."""
        return bool(np.isfinite(self.kinks).any())


def grid(setting: LossSetting, view: float) -> Array:
    """Scores from −view to view, kinks among them."""
    kinks = [kink for kink in setting.kinks if abs(kink) < view]
    return np.unique(np.concatenate([np.linspace(-view, view, POINTS), kinks]))


def curves(setting: LossSetting, view: float) -> dict[str, Array]:
    """Scores, f, f_C and their slopes; where there is a margin k, also f and its slope at k = 0."""
    scores, plain, clipped = grid(setting, view), setting.plain, setting.clipped
    drawn = {
        "score": scores,
        "f": plain.value(scores, setting.target),
        "f_C": clipped.value(scores, setting.target),
        "slope_f": plain.derivatives(scores, setting.target)[0],
        "slope_f_C": clipped.derivatives(scores, setting.target)[0],
    }
    if unmoved := setting.unmoved:
        drawn["f_k0"] = unmoved.plain.value(scores, setting.target)
        drawn["slope_f_k0"] = unmoved.plain.derivatives(scores, setting.target)[0]
    return drawn


def frame(setting: LossSetting, view: float) -> pd.DataFrame:
    """Every plotted number."""
    return pd.DataFrame(curves(setting, view))


def table_rows(setting: LossSetting) -> list[dict[str, str]]:
    """What the loss and its clipped form are like, as texts, one row each."""
    rows = []
    everywhere = (-np.inf, np.inf)
    shown = [("f", setting.plain, everywhere), ("f, clipped at C", setting.clipped, setting.kinks)]
    if unmoved := setting.unmoved:
        shown.append(("f at k = 0", unmoved.plain, everywhere))
    for name, loss, (low, high) in shown:
        pull = abs(float(loss.derivatives(np.zeros(1), setting.target)[0][0]))
        rows.append(
            {
                "": name,
                "Follows f from": sentences.number(low) if name != "f at k = 0" else "–",
                "to": sentences.number(high) if name != "f at k = 0" else "–",
                "Largest |f′|": sentences.number(loss.lipschitz),
                "Gradient of this row ≤": sentences.number(loss.lipschitz * setting.norm),
                "Curvature ≤": sentences.number(loss.smoothness),
                "f′ keeps its sign": "yes" if loss.monotone else "no",
            }
            | ({"|f′| at m = 0": sentences.number(pull)} if setting.loss == "logistic" else {})
        )
    return rows
