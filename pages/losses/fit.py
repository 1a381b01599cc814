"""A fit with outliers: not clipped, clipped, and private; and the error of a fit at every threshold."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.experiments.studies import clipping
from pages.losses.controls import (
    CLIP,
    CLIPPED,
    DELTA,
    DRAWS,
    EPSILON,
    LOSS_NAME,
    OUTLIERS,
    PARAMETER,
    PLAIN,
    PRIVATE,
    SEED,
    WIDTHS,
    LossView,
    error,
    nice,
    own,
)
from ui import figures, page, sentences
from ui.snippets import Verbatim
from ui.view import Course, set_by

LINES = (
    f"Green: the mean of {sentences.count(clipping.NOISES, 'private fit')} at each C, with a band from the best fit "
    f"to the worst. Each C scales the same {clipping.NOISES} noise draws, so the curve shows the effect of C and not "
    f"luck. The vertical line marks the C in use."
)


def show_errors(setting: clipping.Setting, ghost: clipping.Setting | None) -> None:
    """Draw the picture, with a ghost of another setting's errors."""
    errors = clipping.errors(setting)
    title = f"Error against C: {setting}"
    picture = page.Picture(errors_chart(setting, ghost), errors_alt(setting, errors), lambda: errors, title)
    st.header("The error at every threshold", anchor=False)
    st.caption(best(setting, clipping.best_threshold(setting)))
    page.show(picture, key="losses_errors")
    st.caption(LINES)
    page.evidence(picture, name="losses-errors")


_OWN_SLOPE = "the loss’s own slope, which C does not lower", "this slope"


def best(setting: clipping.Setting, threshold: float) -> str:
    """At which threshold the error of private fits would be least."""
    objective = clipping.mechanism(setting).objective
    size, short = ("C", "C") if setting.lipschitz == setting.clip else _OWN_SLOPE
    return (
        f"σ = {sentences.number(objective.sigma)} is proportional to {size}; λ = {sentences.number(objective.lam)} "
        f"does not depend on {short}. On these rows C ≈ {sentences.number(threshold, 2)} would be best for private "
        f"fits, but finding this C costs privacy."
    )


def errors_alt(setting: clipping.Setting, errors: Mapping[str, np.ndarray]) -> str:
    """What the chart of errors shows."""
    at, (low, *_, high) = clipping.THRESHOLDS, (error(setting, float(value)) for value in errors["private"])
    return (
        f"Error of the fit against the clipping threshold, logarithmic, with and without noise. Private fits are best "
        f"at C = {sentences.number(clipping.best_threshold(setting), 2)}; at C = {at[0]:g} their error is {low}, at "
        f"C = {at[-1]:g} it is {high}."
    )


def errors_chart(setting: clipping.Setting, ghost: clipping.Setting | None) -> Any:
    """Error against the threshold C: too small a C loses the signal, too large a one lets outliers and noise in."""
    errors = clipping.errors(setting)
    top = nice(1.1 * float(max(errors["private_highest"].max(), errors["clipped"].max())))
    traces = []
    if ghost is not None:
        before = clipping.errors(ghost)
        traces.append(figures.series("private, before", before["C"], before["private"], "noise", ghost=True))
    x = errors["C"]
    look: dict[str, Any] = {"mode": "lines+markers", "hover": "%{y:.3f}"}
    traces += [
        figures.guide((setting.clip, setting.clip), (0.0, top)),
        figures.band(x, errors["private_lowest"], errors["private_highest"], "noise"),
        figures.series(CLIPPED, x, errors["clipped"], "tight", **look),
        figures.series(PRIVATE, x, errors["private"], "noise", **look),
    ]
    what = "distance from the true line" if setting.regression else "wrong labels on fresh rows"
    across = figures.axis("clipping threshold C", (x[0], x[-1]), log=True, hoverformat=".3g")
    return figures.figure(traces, across, figures.axis(what, (0.0, top)), height=300)


PROVED = {
    "monotone": "the privacy profile of our theorem for a one-signed slope",
    "glm": "the privacy profile of the 2023 theorem",
}
_ABSENT = (", huber_threshold=None", ", hinge_width=None", "loss=LogisticLoss(None), ")


class Fit(clipping.Setting, LossView, name="losses_fit", title="The fit"):
    """A fit to rows of which some are far off, and some private fits, drawn."""

    clip: float = set_by(CLIP)
    loss: str = set_by(LOSS_NAME)
    epsilon: float = set_by(EPSILON)
    outliers: float = set_by(OUTLIERS)
    parameter: float = set_by(PARAMETER)
    draws: int = set_by(DRAWS, aside=True, compare=False)
    seed: int = set_by(SEED, aside=True)
    delta: float = set_by(DELTA, aside=True)

    chart_key = "losses_fits"
    files = "losses-fits"
    reasons = {
        "C": "; a larger C means more noise, and a stronger pull of outliers",
        "ε": "; noise and λ fall as ε grows",
    }
    snippet_note = "These lines print the first private fit in the chart."
    answers_in_alt = False

    @property
    def named(self) -> Mapping[str, str]:  # type: ignore[override]
        """The letters in the picture; the loss's own constant is called as everywhere on the page."""
        constant = WIDTHS.get(self.loss, "k")
        names = {"clip": "C", "epsilon": "ε", "outliers": "outliers", "parameter": constant}
        return names | {"delta": "δ", "seed": "seed"}

    def __str__(self) -> str:
        data = f"outliers {self.outliers:g}, ε = {self.epsilon:g}, seed {self.seed}"
        return f"{self.loss}{own(self)}, C = {self.clip:.4g}, {data}"

    @property
    def fits(self) -> dict[str, float]:
        """The errors of f and of f_C without noise."""
        clips = {PLAIN: None, CLIPPED: self.clip}
        return {name: clipping.error(self, clipping.without_privacy(self, clip)) for name, clip in clips.items()}

    def answer(self) -> str:
        """What clipping did to the fit."""
        plain, clipped = self.fits.values()
        start, wrong = f"Clipping at C = {sentences.number(self.clip)}", error(self, clipped)
        wrong = f"is off the true line by {wrong}" if self.regression else f"gets {wrong} of fresh rows wrong"
        if abs(clipped - plain) <= 0.02 * plain + 1e-6:
            return f"{start} hardly matters: either way the fit {wrong}."
        than = f"not {'by ' if self.regression else ''}{error(self, plain)}"
        return f"{start} {'helps' if clipped < plain else 'hurts'}: the fit {wrong}, {than}."

    def promise(self) -> str:
        return sentences.promise(self.epsilon, self.delta, PROVED[self.bound])

    def moved(self, before: Self | None) -> str:
        return super().moved(before) if before and before.loss == self.loss else ""

    def courses(self) -> list[Course]:
        return [("the error of private fits", clipping.private_error(self), partial(error, self))]

    def note(self) -> str:
        return (
            "C/4 and 4C: fits without noise at a quarter of C and at four times C. Each private fit has its own noise."
        )

    def shows(self) -> str:
        picture = "Points near a line" if self.regression else "Two clouds of points"
        if self.outliers:
            where = "far below it on the right" if self.regression else "of class −1 deep in the other class’s half"
            picture += f", {sentences.percent(self.outliers, 0)} of them {where}"
        plain, clipped = (error(self, value) for value in self.fits.values())
        return (
            f"{picture}, with the fit that is not clipped (error {plain}), the clipped one (error "
            f"{clipped}), those at C/4 and 4C, and {sentences.count(self.draws, 'private fit')}."
        )

    def svg_title(self) -> str:
        return f"Fits: {self}"

    def table(self) -> list[dict[str, str]]:
        names = ["Slope", "Intercept"] if self.regression else ["Weight of x₁", "Weight of x₂", "Intercept"]
        wrong_by = "Distance from the true line" if self.regression else "Wrong labels on fresh rows"
        rows = []
        for (label, wrong), clip in zip(self.fits.items(), (None, self.clip), strict=True):
            theta = clipping.without_privacy(self, clip)
            rows.append((label, *map(sentences.number, theta.tolist()), error(self, wrong)))
        rows.append((PRIVATE, *("varies" for _ in names), error(self, clipping.private_error(self))))
        return [dict(zip(("Fit", *names, wrong_by), row, strict=True)) for row in rows]

    def numbers(self) -> pd.DataFrame:
        """Every plotted fit, one a row: which, its threshold, its coefficients and its error."""
        fits = [("f", np.inf, clipping.without_privacy(self, None))]
        fits.append(("f_C", self.clip, clipping.without_privacy(self, self.clip)))
        fits += [(f"private {draw + 1}", self.clip, clipping.private(self, draw)) for draw in range(self.draws)]
        names = ["slope", "intercept"] if self.regression else ["weight_1", "weight_2", "intercept"]
        rows = [(name, clip, *theta, clipping.error(self, theta)) for name, clip, theta in fits]
        return pd.DataFrame(rows, columns=["fit", "C", *names, "error"])

    @property
    def snippet(self) -> str:  # type: ignore[override]
        """The logistic loss's class has no margin: its fit is perturbed and solved."""
        return "fit_logistic" if self.loss == "logistic" else "fit"

    def blanks(self) -> dict[str, Any]:
        constant = self.parameter if self.loss in ("huber", "huberised-hinge", "logistic") else None
        fixed = {"tau": clipping.TAU, "constant": clipping.CONSTANT, "noise_seed": clipping.noise_seed(self.seed, 0)}
        own = ("ObjPertRegressor", "huber_threshold") if self.regression else ("ObjPertSVC", "hinge_width")
        named = dict(zip(("estimator", "width"), map(Verbatim, own), strict=True))
        return {**super().blanks(), **fixed, **named, "parameter": constant or None}

    def code(self) -> str:
        code = super().code().replace("X, y = GENERATED", f"\n{_generator(self)}")
        for absent in _ABSENT:
            code = code.replace(absent, "")
        return code if "LogisticLoss(" in code else code.replace("LogisticLoss, ", "")

    def chart(self, before: Self | None) -> Any:
        """The rows, the fits of f and of f_C without noise, also at a quarter and at four times C, and private fits."""
        traces = _rows(self)

        def draw(name: str, theta: np.ndarray, role: str, of: clipping.Setting = self, **look: Any) -> None:
            line = look.pop("line", {})
            trace = figures.series(name, *_line(of, theta), role, **look)
            traces.append(trace | ({"line": line} if line else {}))

        thin = {"color": figures.look("noise").color, "dash": "dashdot", "width": 1.2}
        for k in range(self.draws):
            theta, first = clipping.private(self, k), k == 0
            draw("private fits", theta, "noise", opacity=0.6, showlegend=first, hoverinfo="skip", line=thin)
        if before := self.comparable(before):
            draw("clipped, before", clipping.without_privacy(before, before.clip), "tight", before, ghost=True)
        for name, times, dash in (("clipped at C/4", 0.25, "dot"), ("clipped at 4C", 4.0, "longdash")):
            line = {"color": figures.BROWN, "dash": dash, "width": 1.5}
            draw(name, clipping.without_privacy(self, times * self.clip), "kifer2012", hoverinfo="skip", line=line)
        draw(PLAIN, clipping.without_privacy(self, None), "published", hoverinfo="skip")
        draw(CLIPPED, clipping.without_privacy(self, self.clip), "tight", hoverinfo="skip")
        x, y = ("feature x", "target y") if self.regression else ("feature x₁", "feature x₂")
        across = figures.axis(x, (-1.05, 1.05))
        up = figures.axis(y, (-3.8, 1.5) if self.regression else (-1.05, 1.05))
        return figures.figure(traces, across, up, height=430, hovermode="closest")

    def comparable(self, before: Self | None) -> Self | None:
        """The setting before, where it is in the same picture: a line through points, or between classes."""
        return before if before and before.regression == self.regression else None

    def below(self, before: Self | None) -> None:
        """The error at every threshold; with the ghost of a setting that differs in more than the threshold."""
        before = self.comparable(before)
        show_errors(self, None if before is None or replace(before, clip=self.clip) == self else before)


def _rows(setting: clipping.Setting) -> list[dict[str, Any]]:
    X, y = clipping.data(setting)
    if setting.regression:
        shown = [("rows", X[:, 0], y, "lower", "circle", 0.55)]
    else:
        classes = (("rows of class +1", 1.0, "lower", "circle"), ("rows of class −1", -1.0, "monotone", "x"))
        shown = [(name, *X[y == label].T, role, symbol, 0.6) for name, label, role, symbol in classes]
    traces = []
    for name, across, up, role, symbol, opacity in shown:
        trace = figures.series(name, across, up, role, mode="markers", hoverinfo="skip", opacity=opacity)
        traces.append(trace | {"marker": {"color": figures.look(role).color, "size": 6, "symbol": symbol}})
    return traces


def _line(setting: clipping.Setting, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two ends of the fitted line; in the plane, of the line on which the score is 0, within the unit square."""
    if setting.regression:
        x = np.array([-1.05, 1.05])
        return x, theta[0] * x + theta[1]
    weights, size = theta[:2], float(np.linalg.norm(theta[:2]))
    if size == 0:
        return np.array([np.nan, np.nan]), np.array([np.nan, np.nan])
    foot, along = -theta[2] * weights / size**2, np.array([-weights[1], weights[0]]) / size
    ends = foot[:, None] + along[:, None] * np.array([-3.0, 3.0])
    return ends[0], ends[1]


def _generator(setting: clipping.Setting) -> str:
    """The source of the data's generator, its constants filled in."""
    generator = clipping.regression_data if setting.regression else clipping.classification_data
    body, centre = inspect.getsource(generator).split('"""', 2)[2], f"np.array({clipping.CENTRE.tolist()})"
    constants = {
        "TRUE_SLOPE": clipping.TRUE_SLOPE,
        "TRUE_INTERCEPT": clipping.TRUE_INTERCEPT,
        "CENTRE": centre,
        "ROWS": clipping.ROWS,
    }
    for constant, value in constants.items():
        body = body.replace(constant, str(value))
    name, arguments = generator.__name__, "outliers, seed" + ("" if setting.regression else f", rows={clipping.ROWS}")
    return f"def {name}({arguments}):{body.rstrip()}\n\n\nX, y = {name}({setting.outliers!r}, {setting.seed!r})"
