"""The words of the page Losses and clipping: pure functions from numbers to sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from objpert_core.experiments.studies import clipping
from pages.losses import dimension as ld
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from ui import sentences

# the fits, in legends and in the table
PLAIN, CLIPPED, PRIVATE = "not clipped, no noise", "clipped at C, no noise", f"private, mean of {clipping.NOISES}"

_FOUR = sentences.count(clipping.NOISES, "private fit")
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
    if setting.unmoved:
        return _margin_answer(setting, setting.unmoved)
    if not setting.clips:
        return _clips_nothing(setting)
    low, high = (_n(kink) for kink in setting.kinks)
    start = f"Clipped at C = {_n(setting.clip)}, {_the(setting.loss)} of a row of norm {_n(setting.norm)}"
    if setting.plain.monotone:
        return f"{start} goes on straight below m = {low}."
    if setting.loss == "squared":
        return f"{start} is Huber’s loss: beyond a residual of ±{high} it goes on as a straight line."
    return f"{start} is straight from a residual of ±{high} on already."


def _clips_nothing(setting: lc.LossSetting) -> str:
    loss, longest = _the(setting.loss), _n(setting.plain.lipschitz * setting.norm)
    row = f"a row of norm {_n(setting.norm)}"
    return f"C = {_n(setting.clip)} clips nothing: on {row} no gradient of {loss} is longer than {longest}."


def _margin_answer(setting: lc.LossSetting, unmoved: lc.LossSetting) -> str:
    """What a margin k > 0 is good for."""
    share, without = (sentences.percent(one.pull, 0) for one in (setting, unmoved))
    force = "its full force, as it would with k = 0"
    if share != without:
        force = f"{share} of its largest force, not {without}"
    return f"With a margin of k = {_n(setting.parameter)}, a row at m = 0 pulls with {force}."


def _pull(setting: lc.LossSetting) -> str:
    """Why the pull at m = 0 matters, for the logistic loss."""
    why = "The noise is set by that largest force, and keeps a private model near m = 0."
    if setting.unmoved:
        return (
            f"{why} k moves the loss to the right and leaves its largest force, σ, λ and the certified ε as they are."
        )
    share = sentences.percent(setting.pull, 0)
    return (
        f"A row at m = 0 pulls with {share} of its largest force. {why} A margin k raises that share and leaves σ, λ "
        "and the certified ε as they are."
    )


def loss_more(setting: lc.LossSetting) -> list[str]:
    """What a privacy proof gets from clipping, and what a margin has to do with it."""
    proof = _proof(setting)
    if setting.unmoved:
        low = f"Clipped at C = {_n(setting.clip)}, the loss goes on straight below m = {_n(setting.kinks[0])}."
        proof = f"{low if setting.clips else _clips_nothing(setting)} {proof}"
    return [_pull(setting), proof] if setting.loss == "logistic" else [proof]


def ordinary(margin: float) -> str:
    """What the certificate says about every row, and what a margin costs an ordinary one."""
    before, here = (_n(lo.exact("agrees", k)) for k in (0.0, margin))
    moved = f"{before} without a margin and {here} with k = {_n(margin)}" if margin else f"{before} without a margin"
    return (
        f"The certificate holds for every row and all data, ε = {sentences.epsilon(lo.certified())} at every k. A "
        f"margin costs nothing in the worst case, but brings ordinary rows closer to it: the exact ε of one that "
        f"agrees with most others is {moved}."
    )


def ordinary_design() -> str:
    """The data of the chart of ordinary rows."""
    return (
        f"One parameter, {lo.AGREE + lo.DIFFER} rows with x = 1, {lo.AGREE} of them with label +1; one more row is "
        f"added or removed. σ = {lo.SIGMA:g}, λ = {lo.LAM:g}, δ = {sentences.delta(lo.DELTA)}. Both laws are "
        "integrated, so these ε are exact for this pair of data sets, and no promise to anybody."
    )


def ordinary_alt(margin: float) -> str:
    """Alt text of the chart of ordinary rows."""
    told = "; ".join(f"{lo.NAMES[row]} {_n(lo.exact(row, 0.0))} to {_n(lo.exact(row, 5.0))}" for row in lo.ROWS)
    return (
        f"Exact ε at δ = {sentences.delta(lo.DELTA)} of a row against the margin k from 0 to 5, rising towards the "
        f"certified ε = {sentences.epsilon(lo.certified())}, a flat line: {told}. An upright line marks "
        f"k = {_n(margin)}."
    )


def _proof(setting: lc.LossSetting) -> str:
    steepest, curvature = _n(setting.plain.lipschitz), _n(setting.plain.smoothness)
    if not setting.clips:
        return f"The proofs use the loss’s own slope, at most {steepest}, and curvature, at most {curvature}."
    steep = "without a bound" if math.isinf(setting.plain.lipschitz) else f"up to {steepest}"
    return (
        f"The slope, {steep} before, is cut off at ±C/‖x‖ = {_n(setting.slope)}, so the row’s gradient has norm at "
        f"most C. The clipped loss is convex and its curvature still at most {curvature}: the proofs for f hold "
        "for it with L = C."
    )


def loss_alt(setting: lc.LossSetting, what: str) -> str:
    """Alt text of a chart of f and f_C, or of their slopes."""
    places = [_n(value) for value in setting.kinks if math.isfinite(value)]
    where = f"They part at {' and '.join(places)}." if places else "The two coincide."
    k = _n(setting.parameter)
    name = f"{_the(setting.loss)} with a margin of k = {k}" if setting.unmoved else _the(setting.loss)
    thin = f" A thin grey line shows k = 0: the same curve, {k} further to the left." if setting.unmoved else ""
    return f"{what} of {name} and of its clipped form against the {setting.axis}. {where}{thin}"


# --- the fit --------------------------------------------------------------------------------------------------------


def _error(setting: clipping.Setting, value: float) -> str:
    return _n(value) if setting.regression else sentences.percent(value)


def _wrong(setting: clipping.Setting, how_much: str, *, many: bool = False) -> str:
    """How wrong a fit is, or `many` are: 'is off the true line by 0.08', 'get wrong 8.0 % of fresh rows'."""
    if setting.regression:
        return f"{'are' if many else 'is'} off the true line by {how_much}"
    return f"{'get' if many else 'gets'} wrong {how_much} of fresh rows"


def fit_title(setting: clipping.Setting) -> str:
    """What is fitted and how, to name a picture."""
    data = f"outliers {setting.outliers:g}, ε = {setting.epsilon:g}, seed {setting.seed}"
    return f"{setting.loss}{lc.own(setting)}, C = {setting.clip:.4g}, {data}"


def fit_answer(setting: clipping.Setting, plain: float, clipped: float) -> str:
    """What clipping did to the fit, from the errors of f and of f_C without noise."""
    margin = f" with a margin of {_n(setting.parameter)}" if setting.loss == "logistic" and setting.parameter else ""
    start = f"Clipped at C = {_n(setting.clip)}, the fit{margin} {_wrong(setting, _error(setting, clipped))}"
    if abs(clipped - plain) <= 0.02 * plain + 1e-6:
        return f"{start}, as it does unclipped."
    verdict = "clipping helps" if clipped < plain else "clipping hurts"
    return f"{start} instead of {_error(setting, plain)} unclipped: {verdict}."


def fit_more(setting: clipping.Setting, private: float, best: float) -> str:
    """What privacy adds, and at which threshold it would be least, from mean errors of private fits."""
    objective = clipping.mechanism(setting).objective
    size = "C" if setting.lipschitz == setting.clip else "the loss’s own slope, which C does not lower"
    return (
        f"With noise for ε = {sentences.epsilon(setting.epsilon)}, {_FOUR} (not those drawn here) "
        f"{_wrong(setting, _error(setting, private), many=True)} on average: σ = {_n(objective.sigma)} is proportional "
        f"to {size}, λ = {_n(objective.lam)} does not depend on it. On these rows C ≈ {sentences.number(best, 2)} "
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
        f"{clipping.NOISES} times and scaled to every C, so that the curve shows what C does and not luck. The upright "
        "line is the C in use."
    )


def fit_accounted(setting: clipping.Setting) -> str:
    """The promise of one private fit."""
    return (
        f"Each private fit keeps ε = {sentences.epsilon(setting.epsilon)} at δ = {sentences.delta(setting.delta)}. "
        f"{sentences.accounted(_PROVED[setting.bound])}"
    )


def fit_alt(setting: clipping.Setting, plain: float, clipped: float, draws: int) -> str:
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


def errors_alt(setting: clipping.Setting, found: Mapping[str, np.ndarray]) -> str:
    """Alt text of the chart of errors."""
    at, private = clipping.THRESHOLDS, found["private"]
    low, high = (_error(setting, float(private[end])) for end in (0, -1))
    return (
        f"Error of the fit against the clipping threshold, logarithmic, with and without noise. Private fits are best "
        f"at C = {sentences.number(clipping.best_threshold(setting), 2)}; at C = {at[0]:g} their error is {low}, at "
        f"C = {at[-1]:g} it is {high}."
    )


def fit_rows(setting: clipping.Setting, private: float) -> list[dict[str, str]]:
    """The fits as texts, one row each."""
    names = ["Slope", "Intercept"] if setting.regression else ["Weight of x₁", "Weight of x₂", "Intercept"]
    error = "Distance from the true line" if setting.regression else "Wrong labels on fresh rows"
    fits = [
        (label, clipping.without_privacy(setting, clip)) for label, clip in ((PLAIN, None), (CLIPPED, setting.clip))
    ]
    rows = [(label, *map(_n, theta.tolist()), _error(setting, clipping.error(setting, theta))) for label, theta in fits]
    rows.append((PRIVATE, *("varies" for _ in names), _error(setting, private)))
    return [dict(zip(("Fit", *names, error), row, strict=True)) for row in rows]


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


def dimension_more(price: float, found: Mapping[str, float], delta: float) -> str:
    """Why the dimension comes in."""
    if math.isinf(price):
        return "At λ ≤ β the price of the curvature, −log(1 − β/λ), is infinite."
    return (
        f"A row of a GLM pulls along its own direction only. Any other loss may bend along every parameter, and the "
        f"proof pays −log(1 − β/λ) = {sentences.epsilon(price)} for each; and noise of norm about σ√d in d dimensions "
        f"may all point along its gradient. {sentences.bet(found['non-glm'], delta)}"
    )


DIMENSION_ACCOUNTED = sentences.accounted(
    "the privacy profile of Theorem 3.1 and the Rényi curves of Theorems 3.2 and G.2 (the latter as corrected here)"
)


def dimension_alt(found: Mapping[str, float], delta: float, dimension: int) -> str:
    """Alt text of the chart of ε against the dimension."""
    order = sentences.ranking({ld.NAMES[bound]: value for bound, value in found.items()})
    return (
        f"ε at δ = {sentences.delta(delta)} against the number of parameters, both logarithmic. One curve rises, three "
        f"are flat. With {ld.parameters(dimension)}: {order}."
    )
