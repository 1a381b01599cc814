"""The Planner's words: pure functions from a setting and its numbers to sentences, and its snippet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from objpert_core.experiments.studies.noise_ratios import PUBLISHED, PUBLISHED_RATIO, RATIOS, TAU, Estimate, Plan, Point
from pages.planner import numbers as pc
from ui import sentences, words
from ui.bounds import NAMES
from ui.jobs import JobView
from ui.runs import ended_early, waiting

ACCOUNTANTS: Mapping[str, str] = {**words.ACCOUNTANTS, "rdp": "the Rényi curve of the published bound"}
UNDER: Mapping[str, str] = {
    **{key: f"the bound for {name[0].lower()}{name[1:]}" for key, name in pc.NAMES.items()},
    "rdp": "the Rényi bound",
    "glm": "the hockey-stick bound",
    "logistic": "the logistic bound",
}

_FIELDS = {
    "ratio": "f",
    "bound": "bound",
    "epsilon": "ε",
    "delta": "δ",
    "rows": "n",
    "features": "d",
    "intercept_scaling": "s",
    "norm": "‖θ₀‖",
}
_REASONS = {  # more of it, less of it
    "f": ("more noise leaves λ less to do", "less noise leaves λ more to do"),
    "ε": ("a weaker promise asks for less", "a stronger promise asks for more"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
    "s": ("the rows are longer", "the rows are shorter"),
}


def ratio(f: float) -> str:
    """A noise ratio with the digits it has: 1.02."""
    return f"{f:.6g}"


def _target(setting: pc.Setting) -> str:
    return f"ε = {sentences.epsilon(setting.epsilon)} at δ = {sentences.delta(setting.delta)}"


def answer(setting: pc.Setting) -> str:
    """The one large sentence: σ and λ at the point, and what they may cost."""
    here = pc.spot(setting, setting.bound, setting.ratio)
    if here is None:
        spots = pc.frontier(setting, setting.bound)
        more = f"take f ≥ {ratio(spots[0].ratio)} or so" if spots else "nor with f up to 3"
        wanted = f"No λ keeps ε = {sentences.epsilon(setting.epsilon)} with f = {ratio(setting.ratio)}"
        return f"{wanted} under {UNDER[setting.bound]}: {more}."
    sigma, lam = sentences.number(here.sigma, 3, up=True), _lam(here)
    kept = f"σ = {sigma}, λ = {lam} keep the promise ε = {sentences.epsilon(setting.epsilon)}"
    return f"{kept}; training loss rises by at most {pc.nats(here.excess)} nats a row on average."


def why(before: pc.Setting | None, now: pc.Setting) -> str:
    """What was changed since `before`, and what that did to λ, or to the loss where λ stays."""
    changes = [] if before is None else sentences.changed(before, now, _FIELDS)
    if before is None or not changes:
        return ""
    named = [(what, pc.NAMES[str(a)], pc.NAMES[str(b)]) if what == "bound" else (what, a, b) for what, a, b in changes]
    told = sentences.shift(named)
    then, here = (pc.spot(setting, setting.bound, setting.ratio) for setting in (before, now))
    if then is None or here is None:
        return f"{told}: {'some λ keeps the promise now' if here else 'no λ keeps the promise'}."
    if _lam(then) == _lam(here):
        loss = sentences.course("the loss’s bound", then.excess, here.excess, pc.nats)
        return f"{told}: λ stays at {_lam(here)}; {loss}."
    course = sentences.course("λ", then.lam, here.lam, lambda lam: sentences.scientific(lam, 3, up=True))
    what, old, new = changes[0]
    if len(changes) > 1 or what not in _REASONS:
        return f"{told}: {course}."
    return f"{told}: {course}; {_REASONS[what][new < old]}."


def closed_form(setting: pc.Setting) -> str:
    """What λ = R²/(ε + R²/(2σ²)) is, with its numbers."""
    point = pc.closed_form(setting)
    return (
        "The grey cross at f = 1 needs no search: σ is the Gaussian mechanism’s, "
        f"{sentences.number(point.sigma, 4, up=True)}, and λ = R²/(ε + R²/(2σ²)) = "
        f"{sentences.scientific(point.lam, 4, up=True)} with R = {setting.radius:.4g}."
    )


def caveats(setting: pc.Setting) -> str:
    """How to read the theorem's curve: what it is of, where it says nothing, where a larger λ is allowed."""
    lines = (
        "Upper bound on the mean training loss over the noise, minus the loss of θ₀. Always answering 50 : 50 costs "
        "log 2 = 0.69 nats (thin line): a bound above that says nothing."
    )
    if more := pc.raised(setting):
        lines += f" With a larger λ = {_lam(more)} the theorem allows {pc.nats(more.excess)} nats at this f."
    return lines


def off_view(setting: pc.Setting, f_max: float) -> str | None:
    """Where Kifer's point is, when it is outside the picture."""
    point = pc.kifer(setting)
    if point.ratio <= f_max:
        return None
    return f"{NAMES['kifer2012']} ask for f = {point.ratio:.3g} and λ = {_lam(point)}: outside the picture."


def frontier_alt(setting: pc.Setting, bounds: Sequence[str] = tuple(pc.NAMES)) -> str:
    """Alt text of the frontier."""
    found = [f"{pc.NAMES[b]} {_lam(pc.spot(setting, b, setting.ratio))}" for b in bounds]
    return (
        f"Smallest regularisation λ against the noise ratio f for {_target(setting)}. "
        f"At f = {ratio(setting.ratio)}: {', '.join(found)}."
    )


def excess_alt(setting: pc.Setting, estimate: Estimate | None, bounds: Sequence[str] = tuple(pc.NAMES)) -> str:
    """Alt text of the excess loss."""
    lows = {b: pc.least(pc.frontier(setting, b)) for b in bounds}
    found = [f"{pc.NAMES[b]} {pc.nats(s.excess)} at f = {ratio(s.ratio)}" for b, s in lows.items() if s]
    text = f"Excess training loss per row that Theorem H.1 allows, against f. Least: {', '.join(found)}."
    return f"{text} {sampled(estimate)}" if estimate is not None and estimate.best() else text


def _lam(spot: pc.Spot | None) -> str:
    return "none" if spot is None else sentences.scientific(spot.lam, 3, up=True)


def shape(plan: Plan) -> str:
    """What a sample of this plan is: '19,047 × 105 synthetic rows (planned: 45,222 × 105)'."""
    rows, features = plan.sample_shape
    text = f"{rows:,} × {features:,} synthetic rows with {plan.columns} columns"
    return f"{text} (scaled down from {plan.rows:,} × {plan.features:,})" if plan.scaled_down else text


def sampled(estimate: Estimate) -> str:
    """Which f trained best, what cannot be told from it, and the two recipes."""
    best = estimate.best()
    if best is None:
        return "No private model was fitted along this frontier."
    where = f"On {shape(estimate.plan)}, f = {ratio(best.recipe.noise_ratio)} trains best along this frontier"
    count = best.mean_excess.count
    spread = words.no_interval(count) if count < words.FEWEST else f"95 % interval {_interval(best)}"
    text = f"{where}: {_loss(best)} nats per row above the model without privacy ({spread})."
    if alike := [ratio(p.recipe.noise_ratio) for p in estimate.undecided()]:
        draws = sentences.count(estimate.plan.draws, "draw").capitalize()
        text += f" {draws} cannot tell f = {sentences.listing(alike)} from it."
    return text


def recipes(estimate: Estimate) -> str | None:
    """The package's default beside the paper's recipe, in loss and accuracy."""
    ours, published = estimate.of(estimate.plan.ours), estimate.of(PUBLISHED)
    if ours is None or published is None:
        return None
    default = f"Our bound at its default f = {ratio(ours.recipe.noise_ratio)} and its smallest λ"
    reference = sentences.percent(estimate.reference_accuracy)
    return (
        f"{default}: {_loss(ours)} nats, {_right(ours)} of the test rows right. The paper’s recipe (Rényi, "
        f"f = {PUBLISHED_RATIO:g}): {_loss(published)} nats, {_right(published)}. Without privacy: {reference}."
    )


def measured_norm(estimate: Estimate) -> str:
    """The sampled data's own ‖θ₀‖ and what it is for."""
    return (
        f"The model without privacy has ‖θ₀‖ = {estimate.reference_norm:.3g} on these rows; the dotted line is Theorem "
        "H.1 for them. The rows come from a seeded generator and are nobody’s, so choosing f by them costs no privacy; "
        "choosing it by private data would."
    )


def _loss(point: Point) -> str:
    return sentences.scientific(point.mean_excess.mean, 2)


def _right(point: Point) -> str:
    return sentences.percent(point.mean_accuracy.mean)


def _interval(point: Point) -> str:
    low, high = point.mean_excess.low, point.mean_excess.high
    return f"{sentences.scientific(low, 2)} to {sentences.scientific(high, 2)}" if math.isfinite(low) else "–"


def sample_rows(estimate: Estimate) -> list[dict[str, str]]:
    """The sampled points as texts."""
    return [
        {
            "Recipe": f"{pc.NAMES[p.recipe.bound]}, f = {ratio(p.recipe.noise_ratio)}",
            "λ": sentences.scientific(p.mechanism.objective.lam, 3, up=True),
            "excess loss": _loss(p),
            "95 % interval": _interval(p),
            "test rows right": _right(p),
        }
        for p in estimate.points
        if p.measured
    ]


def failures(estimate: Estimate) -> str | None:
    """Which recipes could not be fitted."""
    lost = [ratio(p.recipe.noise_ratio) for p in estimate.points if p.failed]
    if not lost:
        return None
    where = f"At f = {sentences.listing(lost)} λ is so small that the solver"
    return f"{where} did not reach τ = {TAU:g}: nothing to show there."


def invitation(plan: Plan) -> str:
    """What Sample will do."""
    return (
        f"Fits private models on {shape(plan)} at up to {len(RATIOS) + 1} f along the frontier, "
        f"{sentences.count(plan.draws, 'noise draw')} each, and the two recipes."
    )


def progress(view: JobView[Estimate]) -> tuple[float, str]:
    """Share done, and the words beside the bar."""
    if view.latest is None or view.state == "waiting" or view.stopping:
        return waiting(view) or (0.0, "Drawing the rows and fitting them without privacy …")
    done, planned = view.latest.fits, view.latest.fits_planned
    return done / max(planned, 1), f"{done} of {planned} models fitted."


def outcome(view: JobView[Estimate]) -> str | None:
    """Why a job ended early; None when it did not."""
    done = view.latest.fits if view.latest else 0
    return ended_early(view, f"Stopped after {sentences.count(done, 'model')}.")


def snippet(setting: pc.Setting) -> str:
    """The point's σ and λ, the theorem's value, and an estimator with them; where the point keeps the promise.

    Defines ``mechanism``, ``excess`` and ``model``.
    """
    bound = "glm" if setting.bound == "rdp" else setting.bound
    rdp = ', accountant="rdp"' if setting.bound == "rdp" else ""
    target = f"epsilon={setting.epsilon!r}, delta={setting.delta!r}"
    scaling = setting.intercept_scaling
    intercept = f"intercept_scaling={scaling!r}" if scaling else "fit_intercept=False"
    fitted = pc.fitted_ratio(setting)
    note = "" if fitted == setting.ratio else f"  # f = {ratio(fitted)}: room for the output noise"
    return f"""import objpert_core.accounting as acc
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.theory.excess_risk import excess_risk_bound

mechanism = acc.calibrate_objective_perturbation(
    {target}, lipschitz={setting.radius!r}, bound={bound!r}, noise_ratio={setting.ratio!r}{rdp}
)
excess = excess_risk_bound(
    mechanism, rows={setting.rows!r}, dimension={setting.dimension!r}, comparator_norm={setting.norm!r}
)
print("sigma", mechanism.sigma, "lambda", mechanism.lam)
print("excess training loss per row, at most", excess / {setting.rows!r})

model = ObjPertLogisticRegression({note}
    {target}, bound={bound!r}, noise_ratio={fitted!r}{rdp}, {intercept}
)
"""
