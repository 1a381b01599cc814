"""The curves of the page Losses and clipping: a loss, its clipped form, their slopes and kinks, from the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from objpert_core.experiments.studies import clipping
from objpert_core.learning import ClippedLoss, Loss
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


def own(setting: clipping.Clipping) -> str:
    """The loss's own constant, to follow its name; empty where there is none."""
    constant = setting.loss in PARAMETERS and setting.parameter
    return f" ({PARAMETERS[setting.loss]} {setting.parameter:g})" if constant else ""


@dataclass(frozen=True)
class LossSetting(clipping.Clipping):
    """What is looked at: a clipped loss, for a row of this norm."""

    norm: float

    def __str__(self) -> str:
        return f"{NAMES[self.loss]}{own(self)}, C = {self.clip:.4g}, row norm {self.norm:.4g}"

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
        return _force_at_zero(self.clipped, self.target) / self.clipped.lipschitz

    @property
    def kinks(self) -> tuple[float, float]:
        """Where f_C leaves f; ∓inf where it never does."""
        low, high = self.clipped.kinks(targets=self.target)
        return float(low), float(high)

    @property
    def clips(self) -> bool:
        """Whether f_C differs from f anywhere."""
        return bool(np.isfinite(self.kinks).any())


def _force_at_zero(loss: Loss, target: float) -> float:
    return abs(float(loss.derivatives(np.zeros(1), target)[0][0]))


def curves(setting: LossSetting, view: float) -> dict[str, Array]:
    """Scores from −view to view, kinks among them; there f, f_C, their slopes; with a margin k, also f at k = 0."""
    kinks = [kink for kink in setting.kinks if abs(kink) < view]
    scores = np.unique(np.concatenate([np.linspace(-view, view, POINTS), kinks]))
    losses: dict[str, Loss] = {"f": setting.plain, "f_C": setting.clipped}
    moved: dict[str, Loss] = {"f_k0": setting.unmoved.plain} if setting.unmoved else {}
    drawn = {"score": scores}
    for some in (losses, moved):
        drawn |= {name: loss.value(scores, setting.target) for name, loss in some.items()}
        drawn |= {f"slope_{name}": loss.derivatives(scores, setting.target)[0] for name, loss in some.items()}
    return drawn


def frame(setting: LossSetting, view: float) -> pd.DataFrame:
    """Every plotted number."""
    return pd.DataFrame(curves(setting, view))


def fits_frame(setting: clipping.Setting, draws: int) -> pd.DataFrame:
    """Every plotted fit, one a row: which, its threshold, its coefficients and its error."""
    fits = [("f", np.inf, clipping.without_privacy(setting, None))]
    fits.append(("f_C", setting.clip, clipping.without_privacy(setting, setting.clip)))
    fits += [(f"private {draw + 1}", setting.clip, clipping.private(setting, draw)) for draw in range(draws)]
    names = ["slope", "intercept"] if setting.regression else ["weight_1", "weight_2", "intercept"]
    rows = [(name, clip, *theta, clipping.error(setting, theta)) for name, clip, theta in fits]
    return pd.DataFrame(rows, columns=["fit", "C", *names, "error"])


def table_rows(setting: LossSetting) -> list[dict[str, str]]:
    """What the loss and its clipped form are like, as texts, one row each."""
    kinks = tuple(sentences.number(kink) for kink in setting.kinks)
    shown: list[tuple[str, Loss, tuple[str, ...]]] = [("f", setting.plain, ("−∞", "∞"))]
    shown.append(("f, clipped at C", setting.clipped, kinks))
    if unmoved := setting.unmoved:
        shown.append(("f at k = 0", unmoved.plain, ("–", "–")))
    rows = [
        {
            "Loss": name,
            "Follows f from": low,
            "to": high,
            "Largest |f′|": sentences.number(loss.lipschitz),
            "Gradient of this row ≤": sentences.number(loss.lipschitz * setting.norm),
            "Curvature ≤": sentences.number(loss.smoothness),
            "f′ keeps its sign": "yes" if loss.monotone else "no",
            "|f′| at m = 0": sentences.number(_force_at_zero(loss, setting.target)),
        }
        for name, loss, (low, high) in shown
    ]
    if setting.loss != "logistic":
        for row in rows:
            del row["|f′| at m = 0"]
    return rows
