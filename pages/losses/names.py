"""What losses are called, and what the charts of losses and of fits share."""

from __future__ import annotations

import math
from collections.abc import Mapping

from objpert_core.experiments.studies import clipping
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

# the fits, in legends and in the table
PLAIN, CLIPPED, PRIVATE = "not clipped, no noise", "clipped at C, no noise", f"private, mean of {clipping.NOISES}"


def own(setting: clipping.Clipping) -> str:
    """The loss's own constant, to follow its name; empty where there is none."""
    constant = setting.loss in PARAMETERS and setting.parameter
    return f" ({PARAMETERS[setting.loss]} {setting.parameter:g})" if constant else ""


def nice(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7, 10) if step * power >= value * (1 - 1e-12))


def error(setting: clipping.Setting, value: float) -> str:
    """An error of a fit as it is written: a distance, or a share of wrong labels."""
    return sentences.number(value) if setting.regression else sentences.percent(value)
