"""The controls of the page "Losses", what losses are called, and what the charts of losses and of fits share."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from objpert_core._literals import plain
from objpert_core.experiments.studies import clipping
from ui import parameters, sentences
from ui.controls import Choice, Control, SelectSlider, log_values
from ui.view import View

NAMES: Mapping[str, str] = {
    "squared": "squared loss",
    "huber": "Huber’s loss",
    "logistic": "logistic loss",
    "squared-hinge": "squared hinge",
    "huberised-hinge": "rounded hinge",
}
WIDTHS: Mapping[str, str] = {"huber": "threshold", "huberised-hinge": "half width of the rounded corner"}
CONSTANTS: Mapping[str, str] = {**WIDTHS, "logistic": "margin"}
"""What the loss's own constant is called, for the losses that have one."""

# the fits, in legends and in the table
PLAIN, CLIPPED, PRIVATE = "not clipped, no noise", "clipped at C, no noise", f"private, mean of {clipping.NOISES}"


def own(setting: clipping.Clipping) -> str:
    """The loss's own constant, to follow its name; empty where there is none."""
    constant = setting.loss in CONSTANTS and setting.parameter
    return f" ({CONSTANTS[setting.loss]} {setting.parameter:g})" if constant else ""


def nice(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7, 10) if step * power >= value * (1 - 1e-12))


def error(setting: clipping.Setting, value: float) -> str:
    """An error of a fit as it is written: a distance, or a share of wrong labels."""
    return sentences.number(value) if setting.regression else sentences.percent(value)


LOSS, FIT, DIMENSION = "The loss", "The fit", "Without GLM structure"
ROOT_2 = 2**0.5
DIMENSIONS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)

VIEWS = (
    "Choose a picture: the clipped loss itself, a fit to data with outliers, or the cost of a loss without GLM "
    "structure."
)
SHOW = Choice("losses_show", "Show", LOSS, (LOSS, FIT, DIMENSION), horizontal=True, help=VIEWS)
LOSS_NAME = Choice("losses_loss", "Loss f", "squared", tuple(NAMES))
PARAMETER = SelectSlider(
    "losses_parameter",
    "Huber’s threshold, hinge’s width",
    0.5,
    log_values(0.05, 5, steps=parameters.FEW_STEPS),
    help="Huber’s loss is straight from this residual on. For the hinge, this is half the width of the rounded "
    "corner. The other losses have no constant.",
)
MARGIN = SelectSlider(
    "losses_margin",
    "Margin k of the logistic loss",
    0.0,
    (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0),
    help="The loss is log(1 + exp(k − m)): a row pulls until its signed score m = y·xᵀθ is well beyond k. The "
    "certificate is the same at every k, but an ordinary row’s own ε comes closer to the certificate.",
)
THRESHOLDS, SHORTER = log_values(0.01, 10, extra=[ROOT_2]), "No row’s gradient is longer than C."
# √2 is written as people read it; addresses had all of its digits before.
SHORT: dict[str, Any] = {
    "format": lambda value: "1.414" if value == ROOT_2 else plain(value),
    "former": {plain(ROOT_2): ROOT_2},
}
CLIP = SelectSlider("losses_C", "Clipping threshold C", 1.0, THRESHOLDS, help=SHORTER, **SHORT)
LONG = "Includes the constant for the intercept. The slope f′ is cut off at C/‖x‖, so long rows are clipped first."
NORM = SelectSlider("losses_norm", "Row norm ‖x‖", 1.0, log_values(0.1, 2, extra=[ROOT_2]), help=LONG, **SHORT)
REACH = parameters.view("losses", "Axis up to ±", 4.0, (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0))
WRONG = (
    "The share of outliers among 300 generated rows: a target far below the line, or a wrong label far from the border."
)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
OUTLIERS = SelectSlider("losses_outliers", "Share of outliers", 0.1, SHARES, help=WRONG)
EPSILON = SelectSlider("losses_epsilon", "ε of a private fit", 1.0, log_values(0.05, 20, steps=parameters.FEW_STEPS))
DRAWS = SelectSlider("losses_draws", "Private fits drawn", 5, (0, 1, 2, 3, 5, 10, 20), format=str)
SEED = parameters.seed("losses", "Seed", help="The seed of the rows and the noise.")
BETA = parameters.smoothness("losses", 1.0, help="Largest curvature of one row’s loss.")
LIPSCHITZ = parameters.lipschitz("losses", 1.0, help="Largest gradient norm of one row’s loss.")
PARAMETERS = SelectSlider("losses_d", "Number of parameters d", 100, DIMENSIONS, format=str)
DELTA = parameters.read_delta("losses", label="At δ =")
GHOST = parameters.ghost("losses")
SIGMA, LAM = parameters.sigma("losses", 5.0), parameters.lam("losses", 20.0)

OWN: dict[str, Control] = {"logistic": MARGIN, **dict.fromkeys(WIDTHS, PARAMETER)}
"""The control of each loss's own constant."""
LINKED: tuple[Control, ...] = (SHOW, LOSS_NAME, PARAMETER, MARGIN, CLIP, NORM, REACH, OUTLIERS, EPSILON, DRAWS, SEED)
LINKED += (SIGMA, LAM, BETA, LIPSCHITZ, PARAMETERS, DELTA, GHOST)


class LossView(View):
    """A picture of a loss, whose own constant has a control of its own for each loss."""

    loss: str
    parameter: float

    @classmethod
    def now(cls) -> Self:
        view = super().now()
        return replace(view, parameter=parameter(view.loss))


def parameter(loss: str) -> float:
    """What the control of the loss's own constant is at; the width's default where it has none."""
    return float(OWN[loss].value() if loss in OWN else PARAMETER.default)
