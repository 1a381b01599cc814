"""The words of the page Losses and clipping: pure functions from numbers to sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pages.losses import dimension as ld
from pages.losses import fits as lf
from pages.losses import numbers as lc
from ui import sentences

# the fits, in legends and in the table
PLAIN, CLIPPED, PRIVATE = "not clipped, no noise", "clipped at C, no noise", f"private, mean of {lf.NOISES}"

_FOUR = sentences.count(lf.NOISES, "private fit")
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
    if setting.unmoved:
        return _margin_answer(setting, setting.unmoved)
    if not setting.clips:
        return _clips_nothing(setting)
    if setting.plain.monotone:
        return f"Clipped at C = {clip}, {name} of a row of norm {norm} goes on straight below m = {_n(low)}."
    if setting.loss == "squared":
        return (
            f"Clipped at C = {clip}, the squared loss of a row of norm {norm} is Huber’s loss: beyond a residual of "
            f"±{_n(high)} it goes on as a straight line."
        )
    return (
        f"Clipped at C = {clip}, {name} of a row of norm {norm} is straight from a residual of ±{_n(high)} on already."
    )


def _clips_nothing(setting: lc.LossSetting) -> str:
    longest = _n(setting.plain.lipschitz * setting.norm)
    return (
        f"C = {_n(setting.clip)} clips nothing: on a row of norm {_n(setting.norm)} no gradient of "
        f"{_the(setting.loss)} is longer than {longest}."
    )


def _margin_answer(setting: lc.LossSetting, unmoved: lc.LossSetting) -> str:
    """What a margin k > 0 is good for."""
    share, without = (sentences.percent(one.pull, 0) for one in (setting, unmoved))
    force = f"its full force, as it would with k = 0: C = {_n(setting.clip)} already cuts it off there"
    if share != without:
        force = f"{share} of the largest force it could have, instead of {without}"
    return f"With a margin of k = {_n(setting.parameter)}, a row at m = 0 pulls with {force}; privacy costs the same."


def _pull(setting: lc.LossSetting) -> str:
    """Why the pull at m = 0 matters, for the logistic loss."""
    why = "The noise is set by that largest force, and keeps a private model near m = 0."
    if setting.unmoved:
        return f"{why} k moves the loss to the right and leaves its largest force, σ, λ and ε as they are."
    share = sentences.percent(setting.pull, 0)
    return (
        f"A row at m = 0 pulls with {share} of the largest force it could have. {why} A margin k raises that share and "
        "leaves σ, λ and ε as they are."
    )


def loss_more(setting: lc.LossSetting) -> list[str]:
    """What a privacy proof gets from clipping, and what a margin has to do with it."""
    more = [_clipping(setting)]
    if setting.unmoved:
        low = f"Clipped at C = {_n(setting.clip)}, the loss goes on straight below m = {_n(setting.kinks[0])}."
        more[0] = f"{low if setting.clips else _clips_nothing(setting)} {more[0]}"
    return [_pull(setting), *more] if setting.loss == "logistic" else more


def _clipping(setting: lc.LossSetting) -> str:
    curvature = _n(setting.plain.smoothness)
    if setting.clips:
        steep = "without a bound" if math.isinf(setting.plain.lipschitz) else f"up to {_n(setting.plain.lipschitz)}"
        return (
            f"The slope, {steep} before, is cut off at ±C/‖x‖ = {_n(setting.slope)}, so the row’s gradient has norm at "
            f"most C. The clipped loss is convex and its curvature still at most {curvature}: the proofs for f hold "
            "for it with L = C."
        )
    steepest = _n(setting.plain.lipschitz)
    return f"The proofs use the loss’s own slope, at most {steepest}, and curvature, at most {curvature}."


def loss_alt(setting: lc.LossSetting, what: str) -> str:
    """Alt text of a chart of f and f_C, or of their slopes."""
    places = [_n(value) for value in setting.kinks if math.isfinite(value)]
    where = f"They part at {' and '.join(places)}." if places else "The two coincide."
    k = _n(setting.parameter)
    name = f"{_the(setting.loss)} with a margin of k = {k}" if setting.unmoved else _the(setting.loss)
    thin = f" A thin grey line shows k = 0: the same curve, {k} further to the left." if setting.unmoved else ""
    return f"{what} of {name} and of its clipped form against the {setting.axis}. {where}{thin}"


# --- the fit --------------------------------------------------------------------------------------------------------


def _error(setting: lf.FitSetting, value: float) -> str:
    return _n(value) if setting.regression else sentences.percent(value)


def fit_answer(setting: lf.FitSetting, plain: float, clipped: float) -> str:
    """What clipping did to the fit, from the errors of f and of f_C without noise."""
    what = "is off the true line by" if setting.regression else "gets wrong"
    of = "" if setting.regression else " of fresh rows"
    margin = f" with a margin of {_n(setting.parameter)}" if setting.loss == "logistic" and setting.parameter else ""
    start = f"Clipped at C = {_n(setting.clip)}, the fit{margin} {what} {_error(setting, clipped)}{of}"
    if abs(clipped - plain) <= 0.02 * plain + 1e-6:
        return f"{start}, as it does unclipped."
    verdict = "clipping helps" if clipped < plain else "clipping hurts"
    return f"{start} instead of {_error(setting, plain)} unclipped: {verdict}."


def fit_more(setting: lf.FitSetting, private: float, best: float) -> str:
    """What privacy adds, and at which threshold it would be least, from mean errors of private fits."""
    mechanism = lf.mechanism(setting)
    wrong = "are off the true line by" if setting.regression else "get wrong"
    of = "" if setting.regression else " of fresh rows"
    return (
        f"With noise for ε = {sentences.epsilon(setting.epsilon)}, {_FOUR} (not those drawn here) {wrong} "
        f"{_error(setting, private)}{of} on average: σ = {_n(mechanism.objective.sigma)} is proportional to "
        f"{'C' if setting.lipschitz == setting.clip else 'the loss’s own slope, which C does not lower'}, "
        f"λ = {_n(mechanism.objective.lam)} does not depend on it. On these rows C ≈ {sentences.number(best, 2)} "
        "would have been best for the private fits, but finding that out from the data would itself cost privacy."
    )


FIT_LINES = (
    "Purple: the fit without noise if C were a quarter of what it is (dotted), or four times as large (dashed). Green: "
    "private fits, each with noise of its own."
)


def errors_lines() -> str:
    """What the chart of errors shows, beside its legend."""
    return (
        f"Green: the mean of {_FOUR} at each C, with a band from the best to the worst of them. The noise is drawn "
        f"{lf.NOISES} times and scaled to every C, so that the curve shows what C does and not luck. The upright line "
        "is the C in use."
    )


def fit_accounted(setting: lf.FitSetting) -> str:
    """The promise of one private fit."""
    return (
        f"Each private fit keeps ε = {sentences.epsilon(setting.epsilon)} at δ = {sentences.delta(setting.delta)}. "
        f"{sentences.accounted(_PROVED[setting.bound])}"
    )


def fit_alt(setting: lf.FitSetting, plain: float, clipped: float, draws: int) -> str:
    """Alt text of the chart of fits."""
    picture = "Points near a line" if setting.regression else "Two clouds of points"
    if setting.outliers:
        some = sentences.percent(setting.outliers, 0)
        where = "far below it on the right" if setting.regression else "of class −1 deep in the other’s half"
        picture += f", {some} of them {where}"
    return (
        f"{picture}, with the fit that is not clipped (error {_error(setting, plain)}), the clipped one (error "
        f"{_error(setting, clipped)}), those at C/4 and 4C, and {sentences.count(draws, 'private fit')}."
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
    for label, clip in ((PLAIN, None), (CLIPPED, setting.clip)):
        theta = lf.without_privacy(setting, clip)
        values = {name: _n(value) for name, value in zip(names, theta.tolist(), strict=True)}
        rows.append({"Fit": label} | values | {error: _error(setting, lf.error(setting, theta))})
    blank = dict.fromkeys(names, "varies")
    return [*rows, {"Fit": PRIVATE} | blank | {error: _error(setting, private)}]


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
        f"{ld.parameters(dimension)}."
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
        f"are flat. With {ld.parameters(dimension)}: {order}."
    )
