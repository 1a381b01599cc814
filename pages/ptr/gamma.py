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


def promise(draw: Draw) -> str:
    """What is promised, to whom."""
    return sentences.promise(draw.epsilon, draw.delta, "the exact profile of a draw")


def note(draw: Draw) -> str:
    """What is secret, and which rows."""
    return (
        f"λ* = λ + λₘᵢₙ = {sentences.number(draw.star)} is secret as λₘᵢₙ is, and so is γ made from it: a release asks "
        "for λₘᵢₙ privately. Rows of norm 1, |y − xᵀθ*| ≤ 1."
    )


_FIELDS = {"lam": "λ", "eigenvalue": "λₘᵢₙ", "epsilon": "ε", "delta": "δ"}


def moved(before: Draw | None, now: Draw) -> str:
    """What was changed since `before`, and what that did to the exact γ; empty where nothing was."""
    if before is None or before == now:
        return ""
    course = sentences.course("the exact γ", before.exact(before.epsilon), now.exact(now.epsilon), _gamma)
    leverage = sentences.course("a row’s leverage", before.leverage, now.leverage, sentences.number)
    return f"{sentences.shift(sentences.changed(before, now, _FIELDS))}: {course}; {leverage}."


def _gamma(value: float) -> str:
    return sentences.scientific(value, 3) if value > 0 else "none"


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
                "γ": _gamma(gamma),
                "Noise, standard deviations 1/√(γλ*)": sentences.number((gamma * draw.star) ** -0.5) if there else "–",
                "True δ": sentences.delta(true, 3) if there else "–",
                "Over the promise": _over(draw, true) if there else "–",
                "Who sees it": "nobody: λ* is secret",
            }
        )
    return listed


def alt(draw: Draw) -> str:
    """Alt text of the broken promise."""
    return f"{answer(draw)} The true δ of the printed γ over the promised one against ε from 0.1 to 10, logarithmic."


def gammas_alt(draw: Draw) -> str:
    """Alt text of γ."""
    printed, exact = _gamma(draw.printed(draw.epsilon)), _gamma(draw.exact(draw.epsilon))
    return f"γ as printed and exactly against ε from 0.1 to 10, logarithmic: {printed} and {exact} here."


def chart(now: Draw, before: Draw | None = None) -> Any:
    """By how much the promise is broken."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        over = curves(before)[2] / before.delta
        traces.append(figures.series("true δ, before", EPSILONS, over, "published", ghost=True))
    over = curves(now)[2] / now.delta
    known = over[np.isfinite(over)]
    top = 2 * max(50.0, float(known.max())) if known.size else 100.0
    low = min(0.1, float(known.min()) / 2) if known.size else 0.1
    traces.append(figures.guide((now.epsilon, now.epsilon), (low, top)))
    traces.append(figures.series("promised δ", EPSILONS[[0, -1]], (1.0, 1.0), "non-private", hoverinfo="skip"))
    if known.size:
        times = "%{y:.3g} times the promise"
        traces.append(figures.series("true δ of the printed γ", EPSILONS, over, "published", hover=times))
    else:
        traces.append(_note("the printed formula allows no γ at any ε here", (low, top)))
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.1, 10.0), log=True),
        yaxis=figures.axis("true δ / promised δ", (low, top), log=True),
        height=400,
        hovermode="closest",
    )


def gammas(now: Draw, before: Draw | None = None) -> Any:
    """γ as printed and exactly."""
    traces: list[dict[str, Any]] = []
    if before is not None:
        printed, exact, _ = curves(before)
        traces.append(figures.series("exactly, before", EPSILONS, exact, "tight", ghost=True))
        traces.append(figures.series("as printed, before", EPSILONS, printed, "published", ghost=True))
    printed, exact, _ = curves(now)
    known = np.concatenate([printed, exact])
    known = known[np.isfinite(known)]
    view = (float(known.min()) / 2, float(known.max()) * 2) if known.size else (0.01, 100.0)
    traces.append(figures.guide((now.epsilon, now.epsilon), view))
    if np.isfinite(printed).any():
        traces.append(figures.series("as printed", EPSILONS, printed, "published", hover="γ = %{y:.3g}"))
    if np.isfinite(exact).any():
        traces.append(figures.series("exactly", EPSILONS, exact, "tight", hover="γ = %{y:.3g}"))
    else:
        traces.append(_note("exactly, no γ is private at any ε here", view))
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.1, 10.0), log=True),
        yaxis=figures.axis("γ", view, log=True),
        height=320,
        hovermode="closest",
    )


def _note(told: str, view: tuple[float, float]) -> dict[str, Any]:
    """A sentence low in a logarithmic panel, where a curve would be."""
    height = view[0] ** 0.85 * view[1] ** 0.15
    note = figures.series(told, [1.0], [height], "guide", mode="text", hoverinfo="skip", showlegend=False)
    return note | {"text": [told], "textposition": "top center"}
