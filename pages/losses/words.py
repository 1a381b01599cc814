"""The words of the page Losses and clipping: pure functions from numbers to sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from objpert_core.experiments.studies import clipping
from pages.losses import dimension as ld
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from ui import sentences, why

# the fits, in legends and in the table
PLAIN, CLIPPED, PRIVATE = "not clipped, no noise", "clipped at C, no noise", f"private, mean of {clipping.NOISES}"

_FOUR = sentences.count(clipping.NOISES, "private fit")
PROVED = {
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
        longest = _n(setting.plain.lipschitz * setting.norm)
        return (
            f"C = {_n(setting.clip)} clips nothing: no gradient of {_the(setting.loss)} on this row exceeds {longest}."
        )
    low, high = (_n(kink) for kink in setting.kinks)
    start = f"Clipped at C = {_n(setting.clip)}, {_the(setting.loss)}"
    if setting.plain.monotone:
        return f"{start} goes on straight below m = {low}."
    if setting.loss == "squared":
        return f"{start} is Huber’s: a straight line beyond a residual of ±{high}."
    return f"{start} is straight from a residual of ±{high} on already."


def _margin_answer(setting: lc.LossSetting, unmoved: lc.LossSetting) -> str:
    """What a margin k > 0 is good for."""
    share, without = (sentences.percent(one.pull, 0) for one in (setting, unmoved))
    force = f"{share} of its largest force, not {without}" if share != without else "its full force, as without it"
    return f"With k = {_n(setting.parameter)} a row at m = 0 pulls with {force}."


def pull(setting: lc.LossSetting) -> str:
    """Why the pull at m = 0 matters, for the logistic loss."""
    return (
        f"A row at m = 0 pulls with {sentences.percent(setting.pull, 0)} of its largest force. That force sets the "
        "noise, which keeps a private model near m = 0. A margin k raises the share."
    )


def loss_proof(setting: lc.LossSetting) -> str:
    """What a privacy proof gets from clipping."""
    steepest, curvature = _n(setting.plain.lipschitz), _n(setting.plain.smoothness)
    if not setting.clips:
        return f"The proofs use the loss’s own slope, at most {steepest}, and curvature, at most {curvature}."
    steep = "without a bound" if math.isinf(setting.plain.lipschitz) else f"up to {steepest}"
    return (
        f"The slope, {steep} before, is cut off at C/‖x‖ = {_n(setting.slope)}; the proofs for f hold for it with "
        f"L = C, curvature at most {curvature}."
    )


def loss_moved(before: lc.LossSetting | None, now: lc.LossSetting) -> str:
    """What a change did to privacy; empty where nothing was changed, or another loss was chosen."""
    if before is None or before.loss != now.loss:
        return ""
    changes = sentences.changed(before, now, {"clip": "C", "norm": "‖x‖", "parameter": "k"})
    name = changes[0][0] if len(changes) == 1 else ""
    if not name or (name == "k" and now.loss != "logistic"):
        return ""
    told = {
        "C": "for one and the same ε the noise is in proportion to C",
        "‖x‖": "long rows are clipped first",
        "k": "the loss moves along; its largest force, σ, λ and ε stay",
    }[name]
    if name == "C" and not (before.clips and now.clips):
        told = "where nothing is clipped, C has no effect"
    return f"{sentences.shift(changes)}: {told}."


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


def _wrong(setting: clipping.Setting, how_much: str) -> str:
    """How wrong a fit is: 'is off the true line by 0.08', 'gets 8.0 % of fresh rows wrong'."""
    return f"is off the true line by {how_much}" if setting.regression else f"gets {how_much} of fresh rows wrong"


def fit_title(setting: clipping.Setting) -> str:
    """What is fitted and how, to name a picture."""
    data = f"outliers {setting.outliers:g}, ε = {setting.epsilon:g}, seed {setting.seed}"
    return f"{setting.loss}{lc.own(setting)}, C = {setting.clip:.4g}, {data}"


def fit_answer(setting: clipping.Setting, plain: float, clipped: float) -> str:
    """What clipping did to the fit, from the errors of f and of f_C without noise."""
    start, error = f"Clipping at C = {_n(setting.clip)}", _wrong(setting, _error(setting, clipped))
    if abs(clipped - plain) <= 0.02 * plain + 1e-6:
        return f"{start} hardly matters: the fit {error} either way."
    than = f"not {'by ' if setting.regression else ''}{_error(setting, plain)}"
    return f"{start} {'helps' if clipped < plain else 'hurts'}: the fit {error}, {than}."


def fit_moved(before: clipping.Setting, now: clipping.Setting, then: float, private: float) -> str:
    """What a change did to the mean error of private fits, `then` and now; empty where another loss was chosen."""
    if before.loss != now.loss:
        return ""
    changes = sentences.changed(before, now, _FIT)
    if not changes:
        return ""
    course = sentences.course("the error of private fits", then, private, partial(_error, now))
    reason = _REASONS.get(changes[0][0], "") if len(changes) == 1 else ""
    return f"{sentences.shift(changes)}: {course}{reason}."


_FIT = {"clip": "C", "epsilon": "ε", "outliers": "outliers", "parameter": "k", "delta": "δ", "seed": "seed"}
_REASONS = {
    "C": "; noise grows with C, and so does the pull of rows far off",
    "ε": "; noise and λ fall as ε grows",
}


def best(setting: clipping.Setting, threshold: float) -> str:
    """At which threshold the error of private fits would be least."""
    objective = clipping.mechanism(setting).objective
    size = "C" if setting.lipschitz == setting.clip else "the loss’s own slope, which C does not lower"
    return (
        f"σ = {_n(objective.sigma)} is proportional to {size}; λ = {_n(objective.lam)} does not depend on it. On these "
        f"rows C ≈ {sentences.number(threshold, 2)} would be best for private fits; to find that out costs privacy."
    )


FIT_LINES = (
    "C/4 and 4C: the fit without noise at a quarter of C and at four times it. Each private fit has noise of its own."
)


def errors_lines() -> str:
    """What the chart of errors shows, beside its legend."""
    return (
        f"Green: the mean of {_FOUR} at each C, with a band from the best to the worst of them. The noise is drawn "
        f"{clipping.NOISES} times and scaled to every C, so that the curve shows what C does and not luck. The upright "
        "line is the C in use."
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


def dimension_answer(found: Mapping[str, float], dimension: int) -> str:
    """The price of not being a generalised linear model, in one sentence."""
    glm = min(found["glm"], found["rdp"])
    if math.isinf(glm):
        return "Neither theorem proves a finite ε: both need λ > β."
    with_it = f"with it any number costs ε = {sentences.epsilon(glm)}"
    if math.isinf(found["non-glm"]):
        return f"Without GLM structure nothing is proved; {with_it}."
    cost = f"cost{'s' if dimension == 1 else ''} ε = {sentences.epsilon(found['non-glm'])}"
    return f"Without GLM structure {ld.parameters(dimension)} {cost}; {with_it}."


def dimension_moved(before: ld.Read, now: ld.Read) -> str:
    """Why Theorem G.2's ε moved, or why it did not; empty where nothing was changed."""
    changes = sentences.changed(before.setting, now.setting, why.NAMES)
    changes += sentences.changed(before, now, {"dimension": "d", "delta": "δ"})
    if not changes:
        return ""
    told = sentences.course("ε", before.epsilon, now.epsilon, sentences.proved)
    reason = {"d": "; every parameter costs −log(1 − β/λ)", "λ": "; it decides what every parameter costs"}
    return f"{sentences.shift(changes)}: {told}{reason.get(changes[0][0], '') if len(changes) == 1 else ''}."


def dimension_more(price: float) -> str:
    """Why the dimension comes in."""
    if math.isinf(price):
        return "At λ ≤ β the price of the curvature, −log(1 − β/λ), is infinite."
    return (
        "A row of a GLM pulls along its own direction only. Any other loss may bend along every parameter, and the "
        f"proof pays −log(1 − β/λ) = {sentences.epsilon(price)} for each."
    )


THEOREM_G2 = "the Rényi curve of Theorem G.2, as corrected here"


def dimension_alt(found: Mapping[str, float], delta: float, dimension: int) -> str:
    """Alt text of the chart of ε against the dimension."""
    order = sentences.ranking({ld.NAMES[bound]: value for bound, value in found.items()})
    return (
        f"ε at δ = {sentences.delta(delta)} against the number of parameters, both logarithmic. One curve rises, three "
        f"are flat. With {ld.parameters(dimension)}: {order}."
    )
