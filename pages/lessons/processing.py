"""Something is computed from a release: privacy profiles of a noisy number and of what is left after rounding."""

from typing import Any, Self

import numpy as np
from scipy.stats import norm

from objpert_core._validation import FloatArray
from objpert_core.accounting import Gaussian
from objpert_core.accounting.laws.discrete import DiscreteLoss
from pages.lessons.scene import Scene
from ui import figures, sentences
from ui.controls import SelectSlider, log_values
from ui.view import set_by

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
