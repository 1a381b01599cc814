"""Two pictures of what becomes of a promise: something is computed from a release, and releases add up."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.stats import norm

from objpert_core._validation import FloatArray
from objpert_core.accounting import Gaussian
from objpert_core.accounting.laws.discrete import DiscreteLoss
from pages.lessons.coin import Coin
from pages.lessons.scene import Drawn, Scene
from pages.lessons.survey import ADJACENCY, TRUTH
from ui import figures, sentences
from ui.controls import SelectSlider, log_values, powers_of_ten

WIDTHS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
MOST_ANSWERS = 60
ANSWERS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60)
_EPSILONS = np.linspace(0.0, 3.0, 121)
_CELLS = 60.0  # σ to either side: what is left out is less than any double


def rounded(sigma: float, width: float, epsilon: FloatArray) -> FloatArray:
    """δ of a noisy number that is rounded to whole multiples of `width`, where you change it by 1.

    The worse of both directions; the true number is 0 without you, so that 0 and 1 fall into cells of the rounding.
    """
    last = np.ceil((_CELLS * sigma + 1) / width)
    edges = (np.arange(-last, last) + 0.5) * width
    logs = [_log_cells((edges - centre) / sigma) for centre in (0.0, 1.0)]
    kept = np.isfinite(logs[0]) & np.isfinite(logs[1])
    first, second = (log[kept] for log in logs)
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


def processing(sigma: float, width: float) -> Drawn:
    """Privacy profiles of a noisy number and of what is left after rounding."""
    noisy = Gaussian(sigma)
    raw, coarse = noisy.delta(_EPSILONS), rounded(sigma, width, _EPSILONS)
    figure = figures.figure(
        [
            figures.series("the noisy number", _EPSILONS, raw, "without", hover="%{y:.3g}"),
            figures.series("rounded", _EPSILONS, np.maximum(coarse, 1e-12), "with", hover="%{y:.3g}"),
        ],
        xaxis=figures.axis("ε", (0.0, 3.0)),
        yaxis=figures.axis("δ", (1e-6, 1.0), log=True),
    )
    at = float(rounded(sigma, width, np.ones(1))[0])
    before, now = sentences.delta(noisy.delta(1.0), 3), sentences.delta(at, 3)
    return Drawn(
        f"At ε = 1 the noisy number needs δ = {before}; rounded, it needs no more: {now}.",
        f"Gaussian noise σ = {sentences.number(sigma)}, then rounded to multiples of {sentences.number(width)}; add or "
        "remove one row; exact.",
        figure,
        f"δ against ε for a noisy number and for the same number rounded, whose curve is nowhere above. At ε = 1: "
        f"{before} and {now}.",
        pd.DataFrame({"epsilon": _EPSILONS, "noisy": raw, "rounded": coarse}),
        f"from objpert_core.accounting import Gaussian\n\nprint(Gaussian(sigma={sigma!r}).delta(1.0))  # not rounded\n",
    )


@lru_cache(maxsize=500)
def _composed(truth: float, delta: float) -> FloatArray:
    """ε at δ of each number of answers."""
    return np.array([Coin(truth, count).epsilon(delta) for count in ANSWERS])


def several(truth: float, answers: int, delta: float) -> Drawn:
    """ε of several answers to the same question, added up and composed."""
    counts, added = np.array(ANSWERS), np.array([Coin(truth, count).loss for count in ANSWERS])
    composed = _composed(truth, delta)
    place = ANSWERS.index(answers)
    total, least = float(added[place]), float(composed[place])
    top = 1.1 * float(added[-1])
    mark = figures.series("here", [answers, answers], [total, least], "with", mode="markers", showlegend=False)
    mark |= {"hoverinfo": "skip", "marker": mark["marker"] | {"size": 13}}
    slack = sentences.delta(delta)
    figure = figures.figure(
        [
            figures.series("added up, δ = 0", counts, added, "without", hover="ε = %{y:.3g}"),
            figures.series(f"composed, δ = {slack}", counts, composed, "with", hover="ε = %{y:.3g}"),
            figures.guide((answers, answers), (0.0, total)),
            mark,
        ],
        xaxis=figures.axis("answers to the same question", (0.0, MOST_ANSWERS + 1.0)),
        yaxis=figures.axis("ε of all together", (0.0, top)),
    )
    cost = "One answer costs" if answers == 1 else f"{answers} answers cost"
    told, sum_told = sentences.epsilon(least), sentences.epsilon(total)
    return Drawn(
        f"{cost} ε = {told} with slack {slack}; added up, ε = {sum_told}.",
        sentences.promise(least, delta, "the exact law of the privacy loss", adjacency=ADJACENCY),
        figure,
        f"ε of all answers against their number: a straight line where they are added up, a lower curve where they are "
        f"composed. {cost} {sum_told} or {told}.",
        pd.DataFrame({"answers": counts, "added": added, "composed": composed}),
        f"""import math

truth, answers = {truth!r}, {answers}
print(answers * math.log((1 + truth) / (1 - truth)))  # added up
""",
    )


PROCESSING = Scene(
    {
        "sigma": SelectSlider("sigma", "Noise σ", 1.0, log_values(0.5, 5, steps=(1, 1.5, 2, 3, 5))),
        "width": SelectSlider("width", "Round to multiples of", 2.0, WIDTHS, help="You change the number by 1."),
    },
    processing,
)
SEVERAL = Scene(
    {
        "truth": TRUTH,
        "answers": SelectSlider("answers", "Answers to the same question", 20, ANSWERS, str),
        "delta": SelectSlider("delta", "Slack δ", 1e-5, powers_of_ten(-10, -1)),
    },
    several,
)
