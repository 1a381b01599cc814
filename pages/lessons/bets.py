"""Two pictures of what ε and δ are: a chance before and after a release, and the slack between two densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm

from objpert_core._validation import FloatArray
from objpert_core.accounting import Gaussian
from pages.lessons.scene import Drawn, Scene
from ui import figures, sentences
from ui.controls import ROUND_STEPS, SelectSlider, log_values

EPSILON = SelectSlider("epsilon", "ε", 1.0, (0.0, *log_values(0.1, 8, steps=ROUND_STEPS)))
PRIORS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
_CHANCES = np.concatenate(
    [[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.12, 0.88, 80), 1 - np.geomspace(0.1, 1e-4, 40), [1.0]]
)


def after(chance: float | FloatArray, epsilon: float) -> FloatArray:
    """The chance whose odds are e^ε times those of `chance`: the most that an ε-private release can make of it."""
    with np.errstate(divide="ignore"):
        return np.asarray(expit(logit(chance) + epsilon))


def bet(epsilon: float, prior: float) -> Drawn:
    """What a guess about you can become, against what it was."""
    high, low = after(_CHANCES, epsilon), after(_CHANCES, -epsilon)
    most, least = float(after(prior, epsilon)), float(after(prior, -epsilon))
    marks = figures.series("here", [prior, prior], [most, least], "with", mode="markers", showlegend=False)
    marks |= {"hoverinfo": "skip", "marker": marks["marker"] | {"size": 13}}
    share: dict[str, Any] = {"tickformat": ".0%"}
    figure = figures.figure(
        [
            figures.guide((0.0, 1.0), (0.0, 1.0)),
            figures.band(_CHANCES, low, high, "with"),
            figures.series("at most", _CHANCES, high, "with", hover="%{y:.1%}"),
            figures.series("at least", _CHANCES, low, "without", hover="%{y:.1%}"),
            figures.guide((prior, prior), (least, most)),
            marks,
        ],
        xaxis=figures.axis("chance that you took part, before", (0.0, 1.0), **share),
        yaxis=figures.axis("the same chance, after", (-0.02, 1.04), **share),
    )
    told, lowest = sentences.percent(most, up=True), sentences.percent(math.floor(1000 * least) / 1000)
    before = sentences.percent(prior)
    return Drawn(
        f"ε = {sentences.epsilon(epsilon)}: a chance of {before} becomes {told} at most, {lowest} at least.",
        f"The odds change by the factor e^ε = {sentences.odds(epsilon).removesuffix(' : 1')} at most, either way, "
        "whatever else is known.",
        figure,
        f"The chance after a release against the chance before: a band about the diagonal. From {before} it "
        f"reaches from {lowest} to {told}.",
        pd.DataFrame({"before": _CHANCES, "least": low, "most": high}),
        f"""import math

epsilon, before = {epsilon!r}, {prior!r}
odds = before / (1 - before)
print([odds * factor / (1 + odds * factor) for factor in (math.exp(-epsilon), math.exp(epsilon))])
""",
    )


def slack(sigma: float, epsilon: float) -> Drawn:
    """Two densities of a noisy number, one step apart; δ is the part of one above e^ε times the other."""
    noisy = Gaussian(sigma)
    delta, tail = noisy.delta(epsilon), noisy.tail(epsilon)
    edge = sigma**2 * epsilon + 0.5  # from here on the loss is above ε
    # the axis stays while ε moves
    low, high = -3 * sigma, 1 + 4 * sigma
    grid = np.union1d(np.linspace(low, high, 241), [min(edge, high)])
    yours, limit = norm.pdf(grid, 1, sigma), math.exp(epsilon) * norm.pdf(grid, 0, sigma)
    beyond = grid >= edge
    top = 1.15 * norm.pdf(0, 0, sigma)
    area = [figures.band(grid[beyond], limit[beyond], yours[beyond], "tight", name="δ")] if beyond.any() else []
    above = np.where(limit <= 1.2 * top, limit, np.nan)
    figure = figures.figure(
        [
            *(trace | {"showlegend": True, "name": "the slack δ"} for trace in area),
            figures.series("with you", grid, yours, "with", hover="%{y:.3g}"),
            figures.series("without you", grid, norm.pdf(grid, 0, sigma), "without", hover="%{y:.3g}"),
            figures.series("without you, times e^ε", grid, above, "noise", hover="%{y:.3g}"),
        ],
        xaxis=figures.axis("released number", (low, high)),
        yaxis=figures.axis("density", (0.0, top), showticklabels=True),
    )
    told, often = sentences.delta(delta, 3), sentences.scientific(tail, 3, up=True)
    return Drawn(
        f"At ε = {sentences.epsilon(epsilon)} the slack is δ = {told}; with chance {often} the odds rise by more.",
        f"You change the number by 1; Gaussian noise σ = {sentences.number(sigma)}; {sentences.ADJACENCY}; exact.",
        figure,
        f"Two bell curves one apart, and the lower one times e^ε. The area of the first above the last is δ = {told}.",
        pd.DataFrame({"released": grid, "with": yours, "without": norm.pdf(grid, 0, sigma), "limit": limit}),
        f"""from objpert_core.accounting import Gaussian

noisy = Gaussian(sigma={sigma!r})
print(noisy.delta({epsilon!r}), noisy.tail({epsilon!r}))
""",
    )


BET = Scene(
    {
        "epsilon": EPSILON,
        "prior": SelectSlider("prior", "Chance before the release", 0.5, PRIORS, lambda value: f"{value:g}"),
    },
    bet,
)
SLACK = Scene(
    {
        "epsilon": EPSILON,
        "sigma": SelectSlider("sigma", "Noise σ", 1.0, (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)),
    },
    slack,
)
