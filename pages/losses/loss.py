"""A loss and its clipped form for a row of some norm, their slopes, and how hard the row pulls."""

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from objpert_core.experiments.studies import clipping
from objpert_core.learning import ClippedLoss, Loss
from pages.losses import ordinary
from pages.losses.controls import CLIP, CONSTANTS, LOSS_NAME, NAMES, NORM, PARAMETER, REACH, LossView, nice, own
from ui import figures, page, parameters, sentences
from ui.view import set_by

POINTS = 241  # on the axis, ends included; the kinks come on top


def _number(value: float) -> str:
    return sentences.number(value)


class Clipped(clipping.Clipping, LossView, name="losses_loss", title="The loss", snippet="loss"):
    """A loss, clipped, for a row of this norm; drawn at scores up to ±`reach`."""

    clip: float = set_by(CLIP, "C")
    loss: str = set_by(LOSS_NAME)
    norm: float = set_by(NORM, "‖x‖")
    parameter: float = set_by(PARAMETER, "k")
    reach: float = set_by(REACH, aside=True, compare=False)

    chart_key = "losses_chart"
    files = "losses"
    answers_in_alt = False

    @classmethod
    def now(cls) -> Self:
        """With an axis that goes beyond the kinks, unless it is held."""
        view = super().now()
        end = max(view.reach, parameters.fitted(REACH, view.shown)) if view.reach == REACH.default else view.reach
        return replace(view, reach=end)

    @classmethod
    def beside_axes(cls) -> None:
        parameters.fit_axis(REACH, cls.now().shown)

    def __str__(self) -> str:
        return f"{NAMES[self.loss]}{own(self)}, C = {self.clip:.4g}, row norm {self.norm:.4g}"

    @property
    def called(self) -> str:
        """The loss's name as part of a sentence."""
        return NAMES[self.loss] if self.loss == "huber" else f"the {NAMES[self.loss]}"

    @property
    def slope(self) -> float:
        """c = C/‖x‖: where f′ is cut off."""
        return self.clip / self.norm

    @property
    def clipped(self) -> ClippedLoss:
        """f_C."""
        return ClippedLoss(self.plain, self.slope)

    @property
    def target(self) -> float:
        """The target at which score and margin, or score and residual, are the same number."""
        return 1.0 if self.plain.monotone else 0.0

    @property
    def axis(self) -> str:
        """What f is a function of."""
        return "signed score m = y·xᵀθ" if self.plain.monotone else "residual r = xᵀθ − y"

    @property
    def unmoved(self) -> Self | None:
        """The same without its margin k; None where there is none."""
        return replace(self, parameter=0.0) if self.loss == "logistic" and self.parameter > 0 else None

    @property
    def pull(self) -> float:
        """Force of a row at score 0 as a share of the largest it could have once it is clipped."""
        return self.force_at_zero(self.clipped) / self.clipped.lipschitz

    def force_at_zero(self, loss: Loss) -> float:
        """Force of a row at score 0 under this loss."""
        return abs(float(loss.derivatives(np.zeros(1), self.target)[0][0]))

    @property
    def kinks(self) -> tuple[float, float]:
        """Where f_C leaves f; ∓inf where it never does."""
        low, high = self.clipped.kinks(targets=self.target)
        return float(low), float(high)

    @property
    def shown(self) -> float:
        """How far out the farthest kink is; without a kink, what the usual axis shows."""
        return max((abs(kink) for kink in self.kinks if math.isfinite(kink)), default=REACH.default / 2)

    @property
    def clips(self) -> bool:
        """Whether f_C differs from f anywhere."""
        return bool(np.isfinite(self.kinks).any())

    def curves(self) -> dict[str, NDArray[np.float64]]:
        """Scores, kinks among them; there f, f_C, their slopes; with a margin k, also f at k = 0."""
        kinks = [kink for kink in self.kinks if abs(kink) < self.reach]
        scores = np.unique(np.concatenate([np.linspace(-self.reach, self.reach, POINTS), kinks]))
        losses: dict[str, Loss] = {"f": self.plain, "f_C": self.clipped}
        moved: dict[str, Loss] = {"f_k0": self.unmoved.plain} if self.unmoved else {}
        drawn = {"score": scores}
        for some in (losses, moved):
            drawn |= {name: loss.value(scores, self.target) for name, loss in some.items()}
            drawn |= {f"slope_{name}": loss.derivatives(scores, self.target)[0] for name, loss in some.items()}
        return drawn

    def answer(self) -> str:
        if self.unmoved:
            share, without = (sentences.percent(view.pull, 0) for view in (self, self.unmoved))
            force = f"{share} of its largest force instead of {without}"
            force = force if share != without else "its full force, as without a margin"
            return f"With k = {_number(self.parameter)} a row at m = 0 pulls with {force}."
        if not self.clips:
            longest = _number(self.plain.lipschitz * self.norm)
            return (
                f"C = {_number(self.clip)} clips nothing: no gradient of {self.called} on this row exceeds {longest}."
            )
        low, high = map(_number, self.kinks)
        start = f"Clipped at C = {_number(self.clip)}, {self.called}"
        if self.plain.monotone:
            return f"{start} goes on straight below m = {low}."
        if self.loss == "squared":
            return f"{start} is Huber’s: a straight line beyond a residual of ±{high}."
        return f"{start} is a straight line from a residual of ±{high} on."

    def promise(self) -> str:
        """What a privacy proof gets from clipping."""
        steepest, curvature = _number(self.plain.lipschitz), _number(self.plain.smoothness)
        if not self.clips:
            return f"The proofs use the loss’s own slope, at most {steepest}, and curvature, at most {curvature}."
        steep = "without a bound" if math.isinf(self.plain.lipschitz) else f"up to {steepest}"
        return (
            f"The slope, {steep} before, is cut off at C/‖x‖ = {_number(self.slope)}. The proofs for f hold for the "
            f"clipped f with L = C, curvature at most {curvature}."
        )

    def moved(self, before: Self | None) -> str:
        """What a change did to privacy; empty where nothing was changed, or another loss was chosen."""
        changes = sentences.changed(before, self, self.named) if before and before.loss == self.loss else []
        name = changes[0][0] if len(changes) == 1 else ""
        if before is None or not name or (name == "k" and self.loss != "logistic"):
            return ""
        effect = {
            "C": "at a fixed ε the noise is in proportion to C",
            "‖x‖": "long rows are clipped first",
            "k": "the loss moves by k; its largest force, σ, λ and ε stay the same",
        }[name]
        if name == "C" and not (before.clips and self.clips):
            effect = "where nothing is clipped, C has no effect"
        return f"{sentences.shift(changes)}: {effect}."

    def shows(self, what: str = "Value") -> str:
        """The alternative text of the chart of f and f_C, or of their slopes."""
        places = [_number(kink) for kink in self.kinks if math.isfinite(kink)]
        where = f"They part at {' and '.join(places)}." if places else "The two coincide."
        k = _number(self.parameter)
        name = f"{self.called} with a margin of k = {k}" if self.unmoved else self.called
        thin = f" A thin grey line shows k = 0: the same curve, {k} further to the left." if self.unmoved else ""
        return f"{what} of {name} and of its clipped form against the {self.axis}. {where}{thin}"

    def svg_title(self) -> str:
        return f"A loss, clipped: {self}"

    def table(self) -> list[dict[str, str]]:
        """What the loss and its clipped form are like."""
        low, high = map(_number, self.kinks)
        shown: list[tuple[str, Loss, str, str]] = [("f", self.plain, "−∞", "∞")]
        shown.append(("f, clipped at C", self.clipped, low, high))
        if self.unmoved:
            shown.append(("f at k = 0", self.unmoved.plain, "–", "–"))
        return [
            {
                "Loss": name,
                "Follows f from": start,
                "to": end,
                "Largest |f′|": _number(loss.lipschitz),
                "Gradient of this row ≤": _number(loss.lipschitz * self.norm),
                "Curvature ≤": _number(loss.smoothness),
                "f′ keeps its sign": "yes" if loss.monotone else "no",
            }
            | ({"|f′| at m = 0": _number(self.force_at_zero(loss))} if self.loss == "logistic" else {})
            for name, loss, start, end in shown
        ]

    def numbers(self) -> Any:
        return self.curves()

    def blanks(self) -> dict[str, Any]:
        constant = self.parameter if self.loss in CONSTANTS else None
        return {**super().blanks(), "parameter": constant, "target": self.target}

    def code(self) -> str:
        return super().code().replace(", None)", ")")

    def chart(self, before: Self | None) -> Any:
        """f, dashed on top of f_C, with the kinks marked; where there is a margin k, also f at k = 0."""
        drawn = self.curves()
        top = nice(min(float(drawn["f"].max()), 2.5 * float(drawn["f_C"].max())))
        kinks = np.array([kink for kink in self.kinks if abs(kink) <= self.reach])
        traces = self._traces(before, "f", [figures.guide((kink, kink), (0.0, top)) for kink in kinks])
        if len(kinks):
            values = self.clipped.value(kinks, self.target)
            traces.append(figures.series("kinks", kinks, values, "tight", mode="markers", hover="kink at %{x:.3g}"))
        across = figures.axis(self.axis, (-self.reach, self.reach), hoverformat=".3g")
        return figures.figure(traces, across, figures.axis("loss", (0.0, top)), height=380)

    def slopes(self, before: Self | None) -> Any:
        """f′ and f_C′ with the cut-off ±c; where there is a margin k, also f′ at k = 0."""
        steepest, cut = float(np.abs(self.curves()["slope_f"]).max()), self.slope
        reach = nice(max(1.15 * min(cut, 1.5 * steepest), 0.5 * cut, 0.1))
        high = 0.1 * reach if self.plain.monotone else reach
        cuts = (-cut,) if self.plain.monotone else (-cut, cut)
        guides = [figures.guide((-self.reach, self.reach), (level, level)) for level in cuts]
        across = figures.axis(self.axis, (-self.reach, self.reach), hoverformat=".3g")
        traces = self._traces(before, "f′", guides, "slope_")
        return figures.figure(traces, across, figures.axis("slope", (-reach, high)), height=300)

    def _traces(self, before: Self | None, f: str, guides: list[Any], what: str = "") -> list[Any]:
        """The clipped curve of the setting before, then of this one, with the unclipped one on top; `f` is its name.

        A loss of margins is no ghost of a loss of residuals.
        """
        drawn, traces = self.curves(), []
        x = drawn["score"]
        if before is not None and before.axis == self.axis:
            then = before.curves()
            traces.append(
                figures.series(f"{f} clipped, before", then["score"], then[f"{what}f_C"], "tight", ghost=True)
            )
        traces += guides
        if self.unmoved:
            name = f"{f} at k = 0"
            traces.append(figures.series(name, x, drawn[f"{what}f_k0"], "guide", hover=f"{name}: %{{y:.3g}}"))
        clipped = figures.series(f"{f} clipped at C", x, drawn[f"{what}f_C"], "tight", hover="clipped %{y:.3g}")
        return [*traces, clipped, figures.series(f, x, drawn[f"{what}f"], "published", hover=f"{f} = %{{y:.3g}}")]

    def about_pull(self) -> str:
        """Why the pull at m = 0 matters, for the logistic loss."""
        return (
            f"A row at m = 0 pulls with {sentences.percent(self.pull, 0)} of its largest force. The largest force "
            f"sets the noise, and the noise keeps a private model near m = 0. A margin k raises this share."
        )

    def below(self, before: Self | None) -> None:
        """The slopes; for the logistic loss also what its margin costs an ordinary row."""
        picture = page.Picture(self.slopes(before), self.shows("Slope"), self.numbers, f"Slope. {self.svg_title()}")
        st.header("The slope of the loss: how hard a row pulls", anchor=False)
        if self.loss == "logistic":
            st.caption(self.about_pull())
        page.show(picture, key="losses_slope")
        page.evidence(picture, name="losses-slope")
        if self.loss == "logistic":
            ordinary.show(self.parameter)
