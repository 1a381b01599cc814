"""What a loss without GLM structure costs: Theorem G.2 against the dimension, beside the bounds that need no dimension.

Along the curve the Rényi divergence is converted on a grid of orders, which is a valid bound within a fraction of a
per cent of the best one; the number read out is the best one.
"""

import math
from collections.abc import Mapping
from dataclasses import astuple, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import objpert_core.accounting as acc
from pages.losses.controls import BETA, DELTA, DIMENSIONS, LAM, LIPSCHITZ, PARAMETERS, SIGMA
from ui import bounds, figures, sentences, why
from ui.controls import previous
from ui.view import Course, View, set_by

NAMES: Mapping[str, str] = {
    "non-glm": "2023 theorem, any smooth loss",
    **{key: bounds.NAMES[key] for key in ("rdp", "glm", "lower")},
}
_ORDERS = 1 + np.geomspace(1e-3, 1e5, 64)


def _theorem_g2(setting: bounds.Setting, dimension: int) -> acc.ObjectivePerturbation:
    parameters = (setting.sigma, setting.lam, setting.lipschitz, setting.smoothness)
    return acc.ObjectivePerturbation(*parameters, "non-glm", dimension)


def epsilon_at(bound: str, setting: bounds.Setting, delta: float, dimension: int) -> float:
    """Smallest ε at δ; the dimension matters to Theorem G.2 only."""
    if bound != "non-glm":
        return bounds.epsilon_at(bound, setting, delta)
    return bounds.at(acc.via_rdp(_theorem_g2(setting, dimension)), "epsilon", delta)


@lru_cache(maxsize=1000)
def curve(setting: bounds.Setting, delta: float) -> NDArray[np.float64]:
    """ε of Theorem G.2 at `DIMENSIONS`; inf where it proves nothing."""
    values = np.full(len(DIMENSIONS), np.inf)
    if setting.lam > setting.smoothness:
        curves = (_theorem_g2(setting, dimension).rdp(_ORDERS) for dimension in DIMENSIONS)
        values[:] = [acc.rdp_to_epsilon(_ORDERS, rdp, delta) for rdp in curves]
    values.setflags(write=False)
    return values


def readings(setting: bounds.Setting, delta: float, dimension: int) -> dict[str, float]:
    """ε at δ of every bound."""
    return {bound: epsilon_at(bound, setting, delta, dimension) for bound in NAMES}


def parameters(dimension: int) -> str:
    """'1 parameter', '1,000 parameters'."""
    return f"{dimension:,} parameter{'' if dimension == 1 else 's'}"


class Dimension(bounds.Setting, View, name="losses_dimension", title="Without GLM structure", snippet="dimension"):
    """A mechanism against the number of parameters; ε is read off at δ and one dimension, `was` is the read-out before.

    The ghost is the mechanism before, whatever was read off since.
    """

    dimension: int = set_by(PARAMETERS, compare=False)
    lam: float = set_by(LAM)
    sigma: float = set_by(SIGMA)
    smoothness: float = set_by(BETA, aside=True)
    lipschitz: float = set_by(LIPSCHITZ, aside=True)
    delta: float = set_by(DELTA, aside=True, compare=False)
    was: Self | None = field(default=None, compare=False)

    chart_key = "losses_dimension"
    files = "losses-dimension"
    named = {**why.NAMES, "dimension": "d", "delta": "δ"}
    reasons = {"d": "; every parameter costs −log(1 − β/λ)", "λ": "; λ decides what every parameter costs"}
    answers_in_alt = False

    @classmethod
    def now(cls) -> Self:
        view = super().now()
        before = previous("losses_read", astuple(view))
        return replace(view, was=cls(*before) if before else None)

    @property
    def found(self) -> dict[str, float]:
        """ε at δ of every bound."""
        return readings(self, self.delta, self.dimension)

    @property
    def price(self) -> float:
        """−log(1 − β/λ): what each dimension costs without GLM structure; inf for λ ≤ β."""
        return -math.log1p(-self.smoothness / self.lam) if self.lam > self.smoothness else math.inf

    def answer(self) -> str:
        """The price of not being a generalised linear model."""
        glm, other = min(self.found["glm"], self.found["rdp"]), self.found["non-glm"]
        if math.isinf(glm):
            return "Neither theorem proves a finite ε here: both need λ > β."
        with_it = f"with GLM structure any number costs ε = {sentences.epsilon(glm)}"
        if math.isinf(other):
            return f"Without GLM structure nothing is proved; {with_it}."
        cost = f"cost{'s' if self.dimension == 1 else ''} ε = {sentences.epsilon(other)}"
        return f"Without GLM structure {parameters(self.dimension)} {cost}; {with_it}."

    def promise(self) -> str:
        proof = "the Rényi curve of the 2023 theorem for any smooth loss, as corrected here"
        return sentences.promise(self.found["non-glm"], self.delta, proof)

    def moved(self, before: Self | None) -> str:
        return super().moved(self.was)

    def courses(self) -> list[Course]:
        return [("ε", self.found["non-glm"], sentences.proved)]

    def remarks(self) -> list[str]:
        silent = self.silent("glm")
        return [silent] if silent else []

    def note(self) -> str:
        """Why the dimension comes in."""
        if math.isinf(self.price):
            return "At λ ≤ β the price of the curvature, −log(1 − β/λ), is infinite."
        return (
            "In a GLM a row pulls only along its own direction. Any other loss may bend along every parameter, and "
            f"the proof pays −log(1 − β/λ) = {sentences.epsilon(self.price)} for each parameter."
        )

    def shows(self) -> str:
        order = sentences.ranking({NAMES[bound]: value for bound, value in self.found.items()})
        return (
            f"ε at δ = {sentences.delta(self.delta)} against the number of parameters, both logarithmic. One curve "
            f"rises, three are flat. With {parameters(self.dimension)}: {order}."
        )

    def svg_title(self) -> str:
        return f"ε against the number of parameters, {self}"

    def table(self) -> list[dict[str, str]]:
        low = self.found["lower"]
        return [
            {
                "Bound": NAMES[bound],
                f"ε with {parameters(self.dimension)}": sentences.proved(eps),
                "ε / lower bound": sentences.ratio(eps / low if low > 0 else math.nan, up=False),
                "Grows with the dimension": "yes" if bound == "non-glm" else "no",
            }
            for bound, eps in self.found.items()
        ]

    def numbers(self) -> Any:
        """One row a dimension."""
        columns = {"dimension": DIMENSIONS, "epsilon_non-glm": curve(self, self.delta)}
        flat = {f"epsilon_{bound}": eps for bound, eps in self.found.items() if bound != "non-glm"}
        return columns | flat

    def chart(self, before: bounds.Setting | None) -> Any:
        d, rising = np.array(DIMENSIONS, dtype=float), curve(self, self.delta)
        shown = [value for value in (*rising, *self.found.values()) if 0 < value < math.inf]
        low = 10.0 ** math.floor(math.log10(min(shown))) if shown else 0.1
        high = max(10.0 ** math.ceil(math.log10(max(shown))), 10 * low) if shown else 10.0
        traces = []
        if before is not None:
            faint = figures.finite(curve(before, self.delta))
            traces.append(figures.series(f"{NAMES['non-glm']}, before", d, faint, "kifer2012", ghost=True))
        traces.append(figures.guide((self.dimension, self.dimension), (low, high)))
        hover = "ε ≈ %{y:.3g}"
        for bound in ("lower", "glm", "rdp"):
            level = figures.finite(np.full(len(d), self.found[bound]))
            traces.append(figures.series(NAMES[bound], d, level, bound, hover=hover))
        curved = figures.finite(rising)
        traces.append(figures.series(NAMES["non-glm"], d, curved, "kifer2012", mode="lines+markers", hover=hover))
        xaxis = figures.axis("number of parameters d", (DIMENSIONS[0], DIMENSIONS[-1]), log=True)
        yaxis = figures.axis("privacy budget ε", (low, high), log=True)
        return figures.figure(traces, xaxis, yaxis, height=440)
