"""The small pictures of lessons: what all of them have; the bet; the slack; noise that is processed."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from objpert_core._validation import FloatArray
from objpert_core.accounting import Gaussian
from objpert_core.accounting.laws.discrete import DiscreteLoss
from ui import figures, sentences
from ui.controls import ROUND_STEPS, Control, SelectSlider, log_values
from ui.lesson_text import Controls, LessonError
from ui.view import View, set_by


class Scene(View):
    """A picture with its sliders, each under the name that lessons use; it answers at their values."""

    answers_in_alt = False
    ghosts = False

    @classmethod
    def placed(cls, step: int, part: Controls) -> dict[str, Control]:
        """The sliders of a step, which begin where its directive says; `LessonError` for what is not offered."""
        for name in part.values:
            if name not in cls.controls:
                known = ", ".join(cls.controls)
                raise LessonError(part.line, f"the picture {part.picture} has the sliders {known}, got {name!r}.")
        return {
            name: replace(
                control,
                key=f"{cls.name}_{step}_{name}",
                default=_value(name, control, part) if name in part.values else control.default,
            )
            for name, control in cls.controls.items()
        }


def _value(name: str, control: Any, part: Controls) -> Any:
    given = part.values[name]
    for option in control.options:
        if control.format(option) == given:
            return option
    offered = ", ".join(control.format(option) for option in control.options)
    raise LessonError(part.line, f"{name} must be one of {offered}, got {given!r}.")


EPSILON = SelectSlider("epsilon", "ε", 1.0, (0.0, *log_values(0.1, 8, steps=ROUND_STEPS)))
PRIORS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
PRIOR = SelectSlider("prior", "Chance before the release", 0.5, PRIORS, lambda value: f"{value:g}")
_CHANCES = np.concatenate(
    [[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.12, 0.88, 80), 1 - np.geomspace(0.1, 1e-4, 40), [1.0]]
)


def after(chance: float | FloatArray, epsilon: float) -> FloatArray:
    """The chance whose odds are e^ε times those of `chance`: the most that an ε-private release can make of it."""
    with np.errstate(divide="ignore"):
        return np.asarray(expit(logit(chance) + epsilon))


class Bet(Scene, name="lessons_bet", snippet="bet"):
    """The most and the least that a chance becomes."""

    epsilon: float = set_by(EPSILON)
    prior: float = set_by(PRIOR)

    @property
    def ends(self) -> tuple[float, float]:
        """What the chance becomes at least and at most."""
        return float(after(self.prior, -self.epsilon)), float(after(self.prior, self.epsilon))

    @property
    def texts(self) -> tuple[str, str, str]:
        """The chance before, at least and at most, rounded outwards."""
        least, most = self.ends
        lowest = sentences.percent(math.floor(1000 * least) / 1000)
        return sentences.percent(self.prior), lowest, sentences.percent(most, up=True)

    def answer(self) -> str:
        before, least, most = self.texts
        return (
            f"ε = {sentences.epsilon(self.epsilon)}: a chance of {before} becomes at most {most} and at least {least}."
        )

    def promise(self) -> str:
        factor = sentences.odds(self.epsilon).removesuffix(" : 1")
        known = "whatever else is known; the chances are rounded outwards"
        return f"Up or down, the odds change by a factor of at most e^ε = {factor}, {known}."

    def shows(self) -> str:
        before, least, most = self.texts
        return (
            f"The chance after a release against the chance before: a band about the diagonal. From {before} it "
            f"reaches from {least} to {most}."
        )

    def numbers(self) -> dict[str, Any]:
        low, high = after(_CHANCES, -self.epsilon), after(_CHANCES, self.epsilon)
        return {"before": _CHANCES, "least": low, "most": high}

    def chart(self, before: Self | None) -> figures.Figure:
        _, low, high = self.numbers().values()
        here, (least, most) = (self.prior, self.prior), self.ends
        share: dict[str, Any] = {"tickformat": ".0%"}
        traces = [
            figures.guide((0.0, 1.0), (0.0, 1.0)),
            figures.band(_CHANCES, low, high, "with"),
            figures.series("at most", _CHANCES, high, "with", hover="%{y:.1%}"),
            figures.series("at least", _CHANCES, low, "without", hover="%{y:.1%}"),
            figures.guide(here, (least, most)),
            marks(here, {"with": most, "without": least}),
        ]
        xaxis = figures.axis("chance before the release", (0.0, 1.0), **share)
        yaxis = figures.axis("chance after the release", (-0.02, 1.04), **share)
        return figures.figure(traces, xaxis, yaxis)


def marks(x: tuple[float, float], heights: Mapping[str, float]) -> dict[str, Any]:
    """A mark on each role's curve where the sliders are."""
    looks = [figures.look(role) for role in heights]
    look = {"color": [each.color for each in looks], "symbol": [each.symbol for each in looks], "size": 13}
    trace = figures.series("here", list(x), list(heights.values()), "with", mode="markers", showlegend=False)
    return trace | {"hoverinfo": "skip", "marker": look}


WIDE = SelectSlider("sigma", "Noise σ", 1.0, (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0))


class Slack(Scene, name="lessons_slack", snippet="slack"):
    """δ as an area."""

    epsilon: float = set_by(EPSILON)
    sigma: float = set_by(WIDE)

    @property
    def delta(self) -> str:
        """The area."""
        return sentences.delta(Gaussian(self.sigma).delta(self.epsilon), 3)

    @property
    def edge(self) -> float:
        """From here on the loss is above ε."""
        return self.sigma**2 * self.epsilon + 0.5

    @property
    def ends(self) -> tuple[float, float]:
        """The axis, which stays while ε moves."""
        return -3 * self.sigma, 1 + 4 * self.sigma

    def answer(self) -> str:
        often = sentences.scientific(Gaussian(self.sigma).tail(self.epsilon), 3, up=True)
        start = f"At ε = {sentences.epsilon(self.epsilon)} the slack is δ = {self.delta}"
        return f"{start}; the odds rise by more than e^ε with chance {often}."

    def promise(self) -> str:
        noise = f"Gaussian noise σ = {sentences.number(self.sigma)}"
        return f"You change the number by 1; {noise}; {sentences.ADJACENCY}; computed exactly."

    def shows(self) -> str:
        return (
            "Two bell curves one apart, and the lower one times e^ε. The area of the first above the last is "
            f"δ = {self.delta}."
        )

    def numbers(self) -> dict[str, Any]:
        low, high = self.ends
        grid = np.union1d(np.linspace(low, high, 241), [min(self.edge, high)])
        yours, others = norm.pdf(grid, 1, self.sigma), norm.pdf(grid, 0, self.sigma)
        limit = math.exp(self.epsilon) * others
        return {"released": grid, "with": yours, "without": others, "limit": limit}

    def chart(self, before: Self | None) -> figures.Figure:
        grid, yours, others, limit = self.numbers().values()
        beyond, top = grid >= self.edge, 1.15 * norm.pdf(0, 0, self.sigma)
        area = [figures.band(grid[beyond], limit[beyond], yours[beyond], "tight", name="δ")] if beyond.any() else []
        above = np.where(limit <= 1.2 * top, limit, np.nan)
        traces = [
            *(trace | {"showlegend": True, "name": "the slack δ"} for trace in area),
            figures.series("with you", grid, yours, "with", hover="%{y:.3g}"),
            figures.series("without you", grid, others, "without", hover="%{y:.3g}"),
            figures.series("without you, times e^ε", grid, above, "noise", hover="%{y:.3g}"),
        ]
        xaxis = figures.axis("released number", self.ends)
        yaxis = figures.axis("density", (0.0, top), showticklabels=True)
        return figures.figure(traces, xaxis, yaxis)


WIDTHS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
SIGMA = SelectSlider("sigma", "Noise σ", 1.0, log_values(0.5, 5, steps=(1, 1.5, 2, 3, 5)))
WIDTH = SelectSlider("width", "Round to multiples of", 2.0, WIDTHS, help="You change the number by 1.")
_EPSILONS = np.linspace(0.0, 3.0, 121)
_CELLS = 60.0  # σ to either side: what is left out is less than any double


class Processing(Scene, name="lessons_processing", snippet="processing"):
    """Two profiles, the second nowhere above the first."""

    sigma: float = set_by(SIGMA)
    width: float = set_by(WIDTH)

    @property
    def deltas(self) -> list[str]:
        """δ at ε = 1 of the noisy number, and rounded."""
        coarse = float(rounded(self.sigma, self.width, np.ones(1))[0])
        return [sentences.delta(delta, 3) for delta in (Gaussian(self.sigma).delta(1.0), coarse)]

    def answer(self) -> str:
        noisy, coarse = self.deltas
        return f"At ε = 1 the noisy number needs δ = {noisy}; rounded, the number needs no more: {coarse}."

    def promise(self) -> str:
        sigma, width = sentences.number(self.sigma), sentences.number(self.width)
        return (
            f"Gaussian noise σ = {sigma}, then rounded to multiples of {width}; {sentences.ADJACENCY}; computed "
            "exactly."
        )

    def shows(self) -> str:
        return (
            "δ against ε for a noisy number and for the same number rounded, whose curve is never higher. At ε = 1: "
            f"{' and '.join(self.deltas)}."
        )

    def numbers(self) -> dict[str, Any]:
        noisy, coarse = Gaussian(self.sigma).delta(_EPSILONS), rounded(self.sigma, self.width, _EPSILONS)
        return {"epsilon": _EPSILONS, "noisy": noisy, "rounded": coarse}

    def chart(self, before: Self | None) -> figures.Figure:
        _, noisy, coarse = self.numbers().values()
        traces = [
            figures.series("the noisy number", _EPSILONS, noisy, "without", hover="%{y:.3g}"),
            figures.series("rounded", _EPSILONS, np.maximum(coarse, 1e-12), "with", hover="%{y:.3g}"),
        ]
        xaxis = figures.axis("ε", (0.0, 3.0))
        yaxis = figures.axis("δ", (1e-6, 1.0), log=True)
        return figures.figure(traces, xaxis, yaxis)


def rounded(sigma: float, width: float, epsilon: FloatArray) -> FloatArray:
    """δ of a noisy number that is rounded to whole multiples of `width`, where you change it by 1.

    The worse of both directions; the true number is 0 without you, so that 0 and 1 fall into cells of the rounding.
    """
    last = np.ceil((_CELLS * sigma + 1) / width)
    edges = (np.arange(-last, last) + 0.5) * width
    logs = [_log_cells((edges - centre) / sigma) for centre in (0.0, 1.0)]
    finite = np.isfinite(logs[0]) & np.isfinite(logs[1])
    first, second = (log[finite] for log in logs)
    pairs = ((first, second), (second, first))
    return np.exp(
        np.max([DiscreteLoss(one - other, one, -np.inf).log_profile(epsilon) for one, other in pairs], axis=0)
    )


def _log_cells(edges: FloatArray) -> FloatArray:
    """log of the normal mass between neighbouring edges, to full precision in both tails."""
    low, high = edges[:-1], edges[1:]
    flip = low > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    below, upto = norm.logcdf(low), norm.logcdf(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        return upto + np.log1p(-np.exp(below - upto))
