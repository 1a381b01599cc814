"""One posterior draw: the true δ of the printed γ; below, γ by the printed theorem and exactly."""

from functools import lru_cache
from typing import Any, Self

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import PosteriorSampling, posterior_precision, published_posterior_precision
from pages.ptr.controls import DELTA, EIGENVALUE, EPSILON, LAM
from pages.ptr.parts import further
from ui import figures, page, sentences
from ui.view import View, set_by

EPSILONS = np.geomspace(0.1, 10.0, 61)


class Gamma(View, name="ptr_gamma", title="Regression: printed against exact", snippet="gamma"):
    """A draw from a posterior over rows of norm 1 with residuals of at most 1; `eigenvalue` is the least of XᵀX."""

    lam: float = set_by(LAM, "λ")
    eigenvalue: float = set_by(EIGENVALUE, "λₘᵢₙ")
    epsilon: float = set_by(EPSILON, "ε")
    delta: float = set_by(DELTA, "δ", aside=True)

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

    def true_delta(self, gamma: float, epsilon: float) -> float:
        """The true δ of a γ; NaN where there is none."""
        return float(PosteriorSampling(self.leverage, gamma).delta(epsilon)) if gamma > 0 else np.nan

    def blanks(self) -> dict[str, Any]:
        return {**super().blanks(), "leverage": self.leverage}

    def over(self, true: float) -> str:
        """A true δ over the promised one, in three digits: 12.9×."""
        return sentences.ratio(true / self.delta)

    def answer(self) -> str:
        printed, exact = self.printed(self.epsilon), self.exact(self.epsilon)
        if printed <= 0:
            if exact <= 0:
                return "No γ is private here, however small: the row’s leverage alone reveals too much."
            return f"The printed formula allows no γ here; the exact formula allows γ = {sentences.number(exact)}."
        true = self.true_delta(printed, self.epsilon)
        if true > self.delta:
            return f"The printed γ breaks its promise: the true δ is {self.over(true)} the promised δ."
        more = sentences.number(exact / printed)
        return f"Here the printed γ keeps its promise; the exact formula allows a γ {more} times as large."

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, "the exact profile of a draw")

    def note(self) -> str:
        """Return what is secret, and which rows."""
        return (
            f"γ is the precision of the draw. λ* = λ + λₘᵢₙ = {sentences.number(self.star)} is secret, because λₘᵢₙ "
            "is secret. So is every γ made from λ*: a release asks for λₘᵢₙ privately. Rows of norm 1, |y − xᵀθ*| ≤ "
            "1."
        )

    def went(self, before: Self) -> str:
        exact = sentences.course("the exact γ", before.exact(before.epsilon), self.exact(self.epsilon), _gamma)
        return f"{exact}; {sentences.course('a row’s leverage', before.leverage, self.leverage, sentences.number)}"

    def table(self) -> list[dict[str, str]]:
        rows = []
        calibrations = (("Theorem 5.1 as printed", self.printed), ("exactly", self.exact))
        for name, gamma in ((name, precision(self.epsilon)) for name, precision in calibrations):
            there, true = gamma > 0, self.true_delta(gamma, self.epsilon)
            rows.append(
                {
                    "Calibrated by": name,
                    "γ": _gamma(gamma),
                    "Noise, standard deviations 1/√(γλ*)": sentences.number((gamma * self.star) ** -0.5)
                    if there
                    else "–",
                    "True δ": sentences.delta(true, 3) if there else "–",
                    "Over the promise": self.over(true) if there else "–",
                    "Who sees it": "nobody: λ* is secret",
                }
            )
        return rows

    def numbers(self) -> dict[str, Any]:
        printed, exact, true = curves(self)
        return {"epsilon": EPSILONS, "printed": printed, "exact": exact, "true_delta": true}

    def shows(self) -> str:
        return "The true δ of the printed γ over the promised one against ε from 0.1 to 10, logarithmic."

    def chart(self, before: Self | None) -> figures.Figure:
        traces: list[dict[str, Any]] = []
        if before is not None:
            over = curves(before)[2] / before.delta
            traces.append(figures.series("true δ, before", EPSILONS, over, "published", ghost=True))
        over = curves(self)[2] / self.delta
        known = over[np.isfinite(over)]
        top = 2 * max(50.0, float(known.max())) if known.size else 100.0
        low = min(0.1, float(known.min()) / 2) if known.size else 0.1
        traces.append(figures.guide((self.epsilon, self.epsilon), (low, top)))
        traces.append(figures.series("promised δ", EPSILONS[[0, -1]], (1.0, 1.0), "non-private", hoverinfo="skip"))
        if known.size:
            times = "%{y:.3g} times the promise"
            traces.append(figures.series("true δ of the printed γ", EPSILONS, over, "published", hover=times))
        else:
            traces.append(_note("the printed formula allows no γ at any ε here", (low, top)))
        xaxis = figures.axis("privacy budget ε", (0.1, 10.0), log=True)
        yaxis = figures.axis("true δ / promised δ", (low, top), log=True)
        return figures.figure(traces, xaxis, yaxis, height=400, hovermode="closest")

    def below(self, before: Self | None) -> None:
        further("ptr_gammas", self.gammas(before))

    def gammas(self, before: Self | None = None) -> page.Picture:
        """γ as printed and exactly."""
        traces: list[dict[str, Any]] = []
        if before is not None:
            printed, exact, _ = curves(before)
            traces.append(figures.series("exactly, before", EPSILONS, exact, "tight", ghost=True))
            traces.append(figures.series("as printed, before", EPSILONS, printed, "published", ghost=True))
        printed, exact, _ = curves(self)
        known = np.concatenate([printed, exact])
        known = known[np.isfinite(known)]
        view = (float(known.min()) / 2, float(known.max()) * 2) if known.size else (0.01, 100.0)
        traces.append(figures.guide((self.epsilon, self.epsilon), view))
        if np.isfinite(printed).any():
            traces.append(figures.series("as printed", EPSILONS, printed, "published", hover="γ = %{y:.3g}"))
        if np.isfinite(exact).any():
            traces.append(figures.series("exactly", EPSILONS, exact, "tight", hover="γ = %{y:.3g}"))
        else:
            traces.append(_note("exactly, no γ is private at any ε here", view))
        xaxis = figures.axis("privacy budget ε", (0.1, 10.0), log=True)
        yaxis = figures.axis("γ", view, log=True)
        chart = figures.figure(traces, xaxis, yaxis, height=320, hovermode="closest")
        here = " and ".join(_gamma(gamma(self.epsilon)) for gamma in (self.printed, self.exact))
        alt = f"γ as printed and exactly against ε from 0.1 to 10, logarithmic: {here} here."
        return page.Picture(chart, alt, self.numbers)


@lru_cache(maxsize=128)
def curves(draw: Gamma) -> tuple[FloatArray, FloatArray, FloatArray]:
    """At every of `EPSILONS`: the printed γ, the exact one, the true δ of the printed; NaN where there is none."""
    gammas = [(draw.printed(e), draw.exact(e)) for e in EPSILONS.tolist()]
    true = [draw.true_delta(printed, e) for (printed, _), e in zip(gammas, EPSILONS.tolist(), strict=True)]
    printed, exact = (np.where(values > 0, values, np.nan) for values in np.array(gammas).T)
    return printed, exact, np.array(true)


def _gamma(value: float) -> str:
    return sentences.scientific(value, 3) if value > 0 else "none"


def _note(told: str, view: tuple[float, float]) -> dict[str, Any]:
    """A sentence low in a logarithmic panel, where a curve would be."""
    height = view[0] ** 0.85 * view[1] ** 0.15
    note = figures.series(told, [1.0], [height], "guide", mode="text", hoverinfo="skip", showlegend=False)
    return note | {"text": [told], "textposition": "top center"}
