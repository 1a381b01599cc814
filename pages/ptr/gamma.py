"""The picture of one posterior draw: γ by the printed theorem and exactly, and the true δ of the printed one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray
from objpert_core.accounting import PosteriorSampling, posterior_precision, published_posterior_precision
from ui import figures, sentences

EPSILONS = np.geomspace(0.1, 10.0, 61)


@dataclass(frozen=True)
class Draw:
    """One draw from a posterior over rows of norm 1 with residuals of at most 1.

    Attributes
    ----------
    lam, eigenvalue : float
        λ, and the least eigenvalue of XᵀX.
    epsilon, delta : float
        The target.
    """

    lam: float
    eigenvalue: float
    epsilon: float
    delta: float

    @property
    def star(self) -> float:
        """λ* = λ + λ_min."""
        return self.lam + self.eigenvalue

    @property
    def leverage(self) -> float:
        """1/λ*."""
        return 1 / self.star

    def exact(self, epsilon: float) -> float:
        """The largest γ; 0 where none is private."""
        return posterior_precision(epsilon, self.delta, self.leverage)

    def printed(self, epsilon: float) -> float:
        """γ by Theorem 5.1 as printed; 0 where it allows none."""
        return published_posterior_precision(epsilon, self.delta, self.leverage)

    def true_delta(self, epsilon: float) -> float:
        """The true δ of the printed γ; NaN where there is none."""
        gamma = self.printed(epsilon)
        return float(PosteriorSampling(self.leverage, gamma).delta(epsilon)) if gamma > 0 else np.nan


@lru_cache(maxsize=128)
def curves(draw: Draw) -> tuple[FloatArray, FloatArray, FloatArray]:
    """At every of `EPSILONS`: the printed γ, the exact one, the true δ of the printed; NaN where there is none."""
    found = np.array([(draw.printed(e), draw.exact(e), draw.true_delta(e)) for e in EPSILONS.tolist()]).T
    printed, exact, true = found
    return np.where(printed > 0, printed, np.nan), np.where(exact > 0, exact, np.nan), true


def frame(draw: Draw) -> pd.DataFrame:
    """The curves as a table."""
    printed, exact, true = curves(draw)
    return pd.DataFrame({"epsilon": EPSILONS, "printed": printed, "exact": exact, "true_delta": true})


def _over(draw: Draw, true: float) -> str:
    """A true δ over the promised one, in three digits: 12.9×."""
    return sentences.ratio(true / draw.delta)


def answer(draw: Draw) -> str:
    """What the printed γ is worth."""
    printed, exact = draw.printed(draw.epsilon), draw.exact(draw.epsilon)
    if printed <= 0:
        if exact <= 0:
            return "No γ is private here, however small: the row’s leverage alone says too much."
        return f"The printed formula allows no γ here; exactly, γ = {sentences.number(exact)} is private."
    true = draw.true_delta(draw.epsilon)
    if true > draw.delta:
        return f"The paper’s δ is {_over(draw, true)} its promise: its γ breaks (ε, δ)."
    more = sentences.number(exact / printed)
    return f"Here the printed γ keeps its promise; exactly, γ may be {more} times as large."


def line(draw: Draw) -> str:
    """What is promised, to whom."""
    text = (
        f"ε = {sentences.epsilon(draw.epsilon)} (odds of {sentences.odds(draw.epsilon)}), "
        f"δ = {sentences.delta(draw.delta)}, one row added or removed, exactly accounted; "
        f"λ* = λ + λₘᵢₙ = {sentences.number(draw.star)} is secret as λₘᵢₙ is, and so is γ made from it: a release asks "
        "for λₘᵢₙ privately. Rows of norm 1, |y − xᵀθ*| ≤ 1."
    )
    return text.replace(" = ", "\u00a0=\u00a0").replace(" : ", "\u00a0:\u00a0")


def rows(draw: Draw) -> list[dict[str, str]]:
    """Both γ with their true δ."""
    found = (("Theorem 5.1 as printed", draw.printed(draw.epsilon)), ("exactly", draw.exact(draw.epsilon)))
    listed = []
    for name, gamma in found:
        there = gamma > 0
        true = float(PosteriorSampling(draw.leverage, gamma).delta(draw.epsilon)) if there else 0.0
        listed.append(
            {
                "Calibrated by": name,
                "γ": sentences.scientific(gamma, 3) if there else "none",
                "Noise, standard deviations 1/√(γλ*)": sentences.number((gamma * draw.star) ** -0.5) if there else "–",
                "True δ": sentences.delta(true, 3) if there else "–",
                "Over the promise": _over(draw, true) if there else "–",
                "Who sees it": "nobody: λ* is secret",
            }
        )
    return listed


def alt(draw: Draw) -> str:
    """Alt text."""
    return (
        f"{answer(draw)} Two panels against ε from 0.1 to 10, logarithmic: above, the true δ of the printed γ over the "
        "promised one; below, γ as printed and exactly."
    )


def chart(now: Draw, before: Draw | None = None) -> Any:
    """Above: by how much the promise is broken. Below: γ."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        printed, exact, true = curves(before)
        over = true / before.delta
        traces.append(figures.series("true δ, before", EPSILONS, over, "published", ghost=True))
        traces.append(figures.series("γ exactly, before", EPSILONS, exact, "tight", ghost=True, yaxis="y2"))
        traces.append(figures.series("γ as printed, before", EPSILONS, printed, "published", ghost=True, yaxis="y2"))
    printed, exact, true = curves(now)
    over = true / now.delta
    top = 2 * max(50.0, float(np.nanmax(over))) if np.isfinite(over).any() else 100.0
    low = min(0.1, float(np.nanmin(over)) / 2) if np.isfinite(over).any() else 0.1
    gammas = np.concatenate([printed, exact])
    known = gammas[np.isfinite(gammas)]
    view = (float(known.min()) / 2, float(known.max()) * 2) if known.size else (0.01, 100.0)
    traces.append(figures.guide((now.epsilon, now.epsilon), (low, top)))
    traces.append(figures.guide((now.epsilon, now.epsilon), view) | {"yaxis": "y2"})
    ends = EPSILONS[[0, -1]]
    traces.append(figures.series("promised", ends, (1.0, 1.0), "non-private", hoverinfo="skip"))
    times, hover = "%{y:.3g} times the promise", "γ = %{y:.3g}"
    if np.isfinite(printed).any():
        traces.append(
            figures.series("true δ of the printed γ", EPSILONS, over, "published", hover=times, showlegend=False)
        )
        traces.append(figures.series("as printed", EPSILONS, printed, "published", hover=hover, yaxis="y2"))
    else:
        traces.append(_note("the printed formula allows no γ at any ε here", (low, top)))
    if np.isfinite(exact).any():
        traces.append(figures.series("exactly", EPSILONS, exact, "tight", hover=hover, yaxis="y2"))
    else:
        traces.append(_note("exactly, no γ is private at any ε here", view) | {"yaxis": "y2"})
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.1, 10.0), log=True, anchor="y2"),
        yaxis=figures.axis("true δ / promised δ", (low, top), log=True, domain=[0.56, 1.0]),
        yaxis2=figures.axis("γ", view, log=True, domain=[0.0, 0.46]),
        height=480,
        hovermode="closest",
    )


def _note(told: str, view: tuple[float, float]) -> dict[str, Any]:
    """A sentence low in a logarithmic panel, where a curve would be."""
    height = view[0] ** 0.85 * view[1] ** 0.15
    note = figures.series(told, [1.0], [height], "guide", mode="text", hoverinfo="skip", showlegend=False)
    return note | {"text": [told], "textposition": "top center"}
