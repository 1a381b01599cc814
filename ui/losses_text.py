"""The words of the page Losses and clipping: pure functions from numbers to sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ui import losses_curves as lc
from ui import losses_fits as lf
from ui import sentences

_PROVED = {
    "monotone": "the privacy profile of the bound for losses whose slope keeps its sign",
    "glm": "the privacy profile of Theorem 3.1",
}


def _n(value: float) -> str:
    return sentences.number(value)


def _the(loss: str) -> str:
    """The loss's name as part of a sentence."""
    return lc.NAMES[loss] if loss == "huber" else f"the {lc.NAMES[loss]}"


# --- the loss -------------------------------------------------------------------------------------------------------


def loss_answer(setting: lc.LossSetting) -> str:
    """What clipping at C does to this loss, in one sentence."""
    name, clip, norm = _the(setting.loss), _n(setting.clip), _n(setting.norm)
    low, high = setting.kinks
    if not setting.clips:
        return (
            f"C = {clip} clips nothing: on a row of norm {norm} no gradient of {name} is longer than "
            f"{_n(setting.plain.lipschitz * setting.norm)}."
        )
    if setting.plain.monotone:
        return f"Clipped at C = {clip}, {name} of a row of norm {norm} goes on straight below a margin of {_n(low)}."
    if setting.loss == "squared":
        return (
            f"Clipped at C = {clip}, the squared loss of a row of norm {norm} is Huber’s loss: beyond a residual of "
            f"±{_n(high)} it goes on as a straight line."
        )
    return (
        f"Clipped at C = {clip}, {name} of a row of norm {norm} is straight from a residual of ±{_n(high)} on already."
    )


def loss_more(setting: lc.LossSetting) -> str:
    """What a privacy proof gets from clipping."""
    curvature = _n(setting.plain.smoothness)
    at_zero = abs(float(setting.clipped.derivatives(np.zeros(1), setting.target)[0][0])) / setting.clipped.lipschitz
    margin = (
        f" At m = 0, where noise keeps a model, a row pulls with {sentences.percent(at_zero, 0)} of the steepest "
        "slope, which is what its privacy is paid by; a margin k raises that share and leaves σ, λ and ε as they are."
        if setting.loss == "logistic"
        else ""
    )
    if setting.clips:
        steep = "without a bound" if math.isinf(setting.plain.lipschitz) else f"up to {_n(setting.plain.lipschitz)}"
        return (
            f"The slope, {steep} before, is cut off at ±C/‖x‖ = {_n(setting.slope)}, so the row’s gradient has norm at "
            f"most C. f_C is convex and its curvature still at most {curvature}: the proofs for f hold for f_C with "
            f"L = C.{margin}"
        )
    steepest = _n(setting.plain.lipschitz)
    return f"The proofs use the loss’s own slope, at most {steepest}, and curvature, at most {curvature}.{margin}"


def loss_alt(setting: lc.LossSetting, what: str) -> str:
    """Alt text of a chart of f and f_C, or of their slopes."""
    places = [f"{value:.3g}" for value in setting.kinks if math.isfinite(value)]
    where = f"They part at {' and '.join(places)}." if places else "The two coincide."
    return f"{what} of {_the(setting.loss)} and of its clipped form against the {setting.axis}. {where}"


# --- the fit --------------------------------------------------------------------------------------------------------


def _error(setting: lf.FitSetting, value: float) -> str:
    return _n(value) if setting.regression else sentences.percent(value)


def fit_answer(setting: lf.FitSetting, plain: float, clipped: float) -> str:
    """What clipping did to the fit, from the errors of f and of f_C without noise."""
    what = "is off the true line by" if setting.regression else "gets wrong"
    of = "" if setting.regression else " of fresh rows"
    start = f"Clipped at C = {_n(setting.clip)}, the fit {what} {_error(setting, clipped)}{of}"
    if abs(clipped - plain) <= 0.02 * plain + 1e-6:
        return f"{start}, as it does unclipped."
    verdict = "clipping helps" if clipped < plain else "clipping hurts"
    return f"{start} instead of {_error(setting, plain)} unclipped: {verdict}."


def fit_more(setting: lf.FitSetting, private: float, best: float) -> str:
    """What privacy adds, and at which threshold it would be least, from mean errors of private fits."""
    mechanism = lf.mechanism(setting)
    return (
        f"With noise for ε = {sentences.epsilon(setting.epsilon)}, private fits are wrong by "
        f"{_error(setting, private)} on average: σ = {_n(mechanism.objective.sigma)} is proportional to "
        f"{'C' if setting.lipschitz == setting.clip else 'the loss’s own slope, which C does not lower'}, "
        f"λ = {_n(mechanism.objective.lam)} does not depend on it. On these rows C ≈ {sentences.number(best, 2)} is "
        "best for them, which one must know without looking at the data."
    )


def fit_accounted(setting: lf.FitSetting) -> str:
    """The promise of one private fit."""
    return (
        f"Each private fit keeps ε = {sentences.epsilon(setting.epsilon)} at δ = {sentences.delta(setting.delta)}. "
        f"{sentences.accounted(_PROVED[setting.bound])}"
    )


def fit_alt(setting: lf.FitSetting, plain: float, clipped: float, draws: int) -> str:
    """Alt text of the chart of fits."""
    picture = (
        "Points near a line, some of them far below it on the right"
        if setting.regression
        else "Two clouds of points, some points of class −1 deep in the other’s half"
    )
    return (
        f"{picture}, with the fit of f (error {_error(setting, plain)}), that of f_C (error "
        f"{_error(setting, clipped)}) and {sentences.count(draws, 'private fit')}."
    )


def errors_alt(setting: lf.FitSetting, found: Mapping[str, np.ndarray]) -> str:
    """Alt text of the chart of errors."""
    best, low, high = (lf.THRESHOLDS[int(np.argmin(found["private"]))], *found["private"][[0, -1]])
    return (
        f"Error of the fit against the clipping threshold, logarithmic, with and without noise. Private fits are best "
        f"at C = {sentences.number(best, 2)}; at C = {lf.THRESHOLDS[0]:g} their error is "
        f"{_error(setting, float(low))}, at C = {lf.THRESHOLDS[-1]:g} it is {_error(setting, float(high))}."
    )


def fit_rows(setting: lf.FitSetting, private: float) -> list[dict[str, str]]:
    """The fits as texts, one row each."""
    names = ["Slope", "Intercept"] if setting.regression else ["Weight of x₁", "Weight of x₂", "Intercept"]
    error = "Distance from the true line" if setting.regression else "Wrong labels on fresh rows"
    rows = []
    for label, clip in (("f, no noise", None), ("f_C, no noise", setting.clip)):
        theta = lf.without_privacy(setting, clip)
        values = {name: _n(value) for name, value in zip(names, theta.tolist(), strict=True)}
        rows.append({"Fit": label} | values | {error: _error(setting, lf.error(setting, theta))})
    blank = dict.fromkeys(names, "varies")
    return [*rows, {"Fit": "private, mean"} | blank | {error: _error(setting, private)}]


# --- without GLM structure ------------------------------------------------------------------------------------------


def dimension_answer(found: Mapping[str, float], delta: float, dimension: int) -> str:
    """The price of not being a generalised linear model, in one sentence."""
    glm = min(found["glm"], found["rdp"])
    at = f"At δ = {sentences.delta(delta)}"
    if math.isinf(glm):
        return f"{at} neither theorem proves a finite ε: both need λ > β."
    start = f"{at} a generalised linear model costs ε = {sentences.epsilon(glm)} whatever its number of parameters"
    if math.isinf(found["non-glm"]):
        return f"{start}; without that structure nothing is proved."
    return (
        f"{start}; without that structure Theorem G.2 proves only ε = {sentences.epsilon(found['non-glm'])} for "
        f"{dimension:,}."
    )


def dimension_more(price: float, found: Mapping[str, float]) -> str:
    """Why the dimension comes in."""
    if math.isinf(price):
        return "At λ ≤ β the price of the curvature, −log(1 − β/λ), is infinite."
    return (
        f"A row of a GLM pulls along its own direction only. Any other loss may bend along every parameter, and the "
        f"proof pays −log(1 − β/λ) = {sentences.epsilon(price)} for each; and noise of norm about σ√d in d dimensions "
        f"may all point along its gradient. {sentences.odds_sentence(found['non-glm'])}"
    )


def dimension_accounted() -> str:
    """Adjacency and accountants."""
    return sentences.accounted(
        "the privacy profile of Theorem 3.1 and the Rényi curves of Theorems 3.2 and G.2 (the latter as corrected here)"
    )


def dimension_alt(found: Mapping[str, float], names: Mapping[str, str], delta: float, dimension: int) -> str:
    """Alt text of the chart of ε against the dimension."""
    order = sentences.ranking({names[bound]: value for bound, value in found.items()})
    return (
        f"ε at δ = {sentences.delta(delta)} against the number of parameters, both logarithmic. One curve rises, three "
        f"are flat. With {dimension:,} parameters: {order}."
    )
