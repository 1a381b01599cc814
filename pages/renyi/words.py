"""The words of the Rényi page: pure functions from numbers to sentences and table rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from objpert_core._literals import call
from pages.renyi import numbers as rc
from ui import sentences

SIMILAR = 1.015  # closer than this is "about the same": rounding to the sliders makes 1 %
_FIELDS = {
    "sigma": "σ",
    "lam": "λ",
    "smoothness": "β",
    "bound": "proof",
    "noise_multiplier": "noise multiplier",
    "sample_rate": "q",
    "steps": "steps",
}
_OF = {"objective": ("σ", "λ", "β", "proof"), "dpsgd": ("noise multiplier", "q", "steps")}
_PROOFS: Mapping[object, object] = {bound: name for name, bound in rc.BOUNDS.items()}
_REASONS = {  # more of it, less of it
    "σ": ("a wider tilt hides one person better", "a narrower tilt hides one person less"),
    "λ": ("one person’s curvature shows less", "one person’s curvature shows more"),
    "β": ("one person’s curvature may be larger", "one person’s curvature is smaller"),
    "noise multiplier": ("each step tells less", "each step tells more"),
    "q": ("the person is in more of the batches", "the person is in fewer of the batches"),
    "steps": ("more steps are paid for", "fewer steps are paid for"),
}


def order(alpha: float) -> str:
    """A Rényi order: three digits, whole from 100 on."""
    return f"{alpha:,.0f}" if alpha >= 100 else sentences.number(alpha)


def answer(delta: float, fit: float, run: float) -> str:
    """The page's one large sentence: who is more private at δ.

    `fit` and `run` are ε at `delta` by privacy loss distributions of the fit and of DP-SGD.
    """
    at = f"At δ = {sentences.delta(delta)}"
    if math.isinf(fit) and math.isinf(run):
        return f"{at} nothing finite is proved for either."
    if math.isinf(fit):
        return f"{at} nothing is proved for the fit, and ε = {sentences.epsilon(run)} for DP-SGD."
    if math.isinf(run):
        return f"{at} nothing finite is proved for DP-SGD, and ε = {sentences.epsilon(fit)} for one fit."
    a, b = sentences.epsilon(fit), sentences.epsilon(run)
    both = f"both ε = {a}" if a == b else f"ε = {a} and {b}"
    if max(fit, run) <= SIMILAR * min(fit, run):
        return f"{at} one fit and DP-SGD cost about the same: {both}."
    if fit < run:
        return f"{at} one fit is more private than DP-SGD: ε = {a} against {b}."
    return f"{at} DP-SGD is more private than one fit: ε = {b} against {a}."


def promise(fit: float, run: float, delta: float) -> str:
    """The promise of both in one line."""
    found = f"ε = {sentences.epsilon(fit)} (fit), {sentences.epsilon(run)} (DP-SGD)"
    return (
        f"Worst case over all people and data: {found}, slack δ = {sentences.delta(delta)}; {sentences.ADJACENCY}; "
        "by privacy loss distributions."
    )


def moved(before: rc.Setting | None, now: rc.Setting, delta: float) -> str:
    """What was changed since `before`, what that did to ε at `delta`, and why; empty where nothing was."""
    if before is None or not (changes := sentences.changed(before, now, _FIELDS)):
        return ""
    shift = sentences.shift([(name, _PROOFS.get(a, a), _PROOFS.get(b, b)) for name, a, b in changes])
    courses = []
    for which, fields in _OF.items():
        if any(name in fields for name, *_ in changes):
            then, here = (rc.epsilon_at(which, setting, delta)[1] for setting in (before, now))
            courses.append(sentences.course("ε of the fit" if which == "objective" else "ε of DP-SGD", then, here))
    name, old, new = changes[0]
    if len(changes) > 1 or name not in _REASONS:
        return f"{shift}: {', '.join(courses)}." if len(changes) <= 2 else f"{', '.join(courses)}."
    reason = _REASONS[name][new < old]
    return f"{shift}: {courses[0]}: {'this does not count here' if 'stays' in courses[0] else reason}."


def crossing_clause(crossings: Sequence[rc.Crossing]) -> str:
    """Where the curves cross, as half a sentence."""
    if not crossings:
        return "their Rényi curves do not cross"
    orders = [order(c.alpha) for c in crossings]
    places = orders[0] if len(orders) == 1 else f"{', '.join(orders[:-1])} and {orders[-1]}"
    return f"their Rényi curves cross at α = {places}, from where {_lower(crossings[-1].lower_after)} is the lower one"


def _lower(which: str) -> str:
    return "objective perturbation" if which == "objective" else "DP-SGD"


def rare(turns: Sequence[tuple[float, str]], crossings: Sequence[rc.Crossing]) -> str:
    """What the crossing means for rare events: from which δ on which of the two promises less by Rényi."""
    told = [(delta, who) for delta, who in turns if who]
    if not told:
        return "Read through their Rényi curves, the two promise the same at every δ."
    last_delta, last = told[-1]
    if len({who for _, who in told}) == 1:
        start = f"Read through the Rényi curves, {_lower(last)} promises the smaller ε at every δ from 0.1 to 10⁻³⁰⁰"
        if crossings and crossings[-1].lower_after != last:
            return f"{start}: the orders beyond the crossing weigh events that are rarer still."
        return f"{start}."
    return (
        f"Large α stand for rare events: read through the Rényi curves, {_lower(last)} promises the smaller ε from "
        f"δ = {sentences.scientific(last_delta)} on down, and {_lower(_before(told))} just above."
    )


def _before(told: Sequence[tuple[float, str]]) -> str:
    last = told[-1][1]
    return next(who for _, who in reversed(told) if who != last)


def transition(found: rc.Transition | None, setting: rc.Setting) -> str:
    """Where DP-SGD's phase transition is and why."""
    if found is None:
        if setting.sample_rate == 1:
            return "At q = 1 every row is in every batch: there is no amplification, and no phase transition."
        return f"DP-SGD has no phase transition up to α = {rc.ORDERS[-1]:,.0f}."
    text = (
        f"Phase transition: at about α = {order(found.start)} DP-SGD’s curve leaps off its amplified line, since the "
        "rare runs that have the person in many batches outweigh all others"
    )
    if math.isinf(found.end):
        return f"{text}."
    return f"{text}; from α = {order(found.end)} on it is at least half the curve without sampling."


def alt(crossings: Sequence[rc.Crossing], found: rc.Transition | None) -> str:
    """Alt text of the Rényi curves."""
    text = (
        "Rényi divergence ε against order α, both logarithmic, for objective perturbation, the Gaussian mechanism with "
        f"the same noise and DP-SGD: {crossing_clause(crossings)}."
    )
    if found is not None:
        text += f" DP-SGD’s curve leaves its amplified line at α = {order(found.start)}."
    return text


def promises_alt(setting: rc.Setting, allocated: bool = False) -> str:
    """Alt text of ε over δ: both ends, exact."""
    parts = []
    for which in ("objective", "dpsgd"):
        exact = rc.promise(which, setting).exact
        parts.append(f"{rc.NAMES[which]} from {sentences.epsilon(exact[0])} to {sentences.epsilon(exact[-1])}")
    if allocated and setting.allocates:
        shown = [(d, e) for d, e in zip(rc.DELTAS, rc.promise("allocation", setting).resolved, strict=True) if e >= 0]
        if shown:
            (_, first), (delta, last) = shown[0], shown[-1]
            parts.append(
                f"{rc.ALLOCATION} from {sentences.epsilon(first)} to {sentences.epsilon(last)} at "
                f"δ = {sentences.delta(delta)}"
            )
    return f"ε from δ = 10⁻² to 10⁻¹², by privacy loss distributions: {'; '.join(parts)}. By Rényi it is larger."


def readings(setting: rc.Setting, delta: float, allocated: bool = False) -> list[dict[str, str]]:
    """ε at δ of every mechanism, accounted both ways, as texts."""
    at = sentences.delta(delta)
    rows = []
    for which, name in rc.names(setting, allocated).items():
        renyi, exact = rc.epsilon_at(which, setting, delta)
        rows.append(
            {
                "Mechanism": name,
                f"ε at δ = {at}, Rényi": sentences.proved(renyi),
                "privacy loss distribution": sentences.proved(exact),
                "Rényi / distribution": sentences.ratio(renyi / exact if exact > 0 else math.nan),
                "Even odds become at most": sentences.odds(exact),
            }
        )
    return rows


def readings_alt(delta: float) -> str:
    """What the table of `readings` is."""
    return f"ε at δ = {sentences.delta(delta)} of the mechanisms, accounted both ways"


def promises(setting: rc.Setting, allocated: bool = False) -> list[dict[str, str]]:
    """The second chart's numbers as texts, one row a δ."""
    found = {which: rc.promise(which, setting) for which in ("objective", "dpsgd")}
    rows = [
        {
            "δ": sentences.delta(delta),
            "Objective perturbation, Rényi": sentences.proved(found["objective"].renyi[i]),
            "… distribution": sentences.proved(found["objective"].exact[i]),
            "DP-SGD, Rényi": sentences.proved(found["dpsgd"].renyi[i]),
            "… distribution ": sentences.proved(found["dpsgd"].exact[i]),
        }
        for i, delta in enumerate(rc.DELTAS)
    ]
    if allocated and setting.allocates:
        for row, epsilon in zip(rows, rc.promise("allocation", setting).resolved, strict=True):
            row[f"{rc.ALLOCATION}, distribution"] = sentences.proved(epsilon) if epsilon >= 0 else "not resolved"
    return rows


def allocation(setting: rc.Setting) -> str:
    """What random allocation would be here, from which δ on down it is not resolved, or why it is left out."""
    if not isinstance(setting.per_epoch, int):
        return (
            f"{rc.ALLOCATION} is left out: an epoch would have 1/q = {setting.per_epoch:,.1f} steps, which is no whole "
            "number. With q = 0.01, 0.02 or 0.05 it is one."
        )
    if not setting.allocates:
        return (
            f"{rc.ALLOCATION} is left out: {setting.steps:,} steps are no whole number of epochs of "
            f"1/q = {setting.per_epoch:,} steps."
        )
    promise = rc.promise("allocation", setting)
    epochs = setting.steps // setting.per_epoch
    text = (
        f"{rc.ALLOCATION}: in each of {epochs:,} {'epoch' if epochs == 1 else 'epochs'} every row is in one of "
        f"{setting.per_epoch:,} {'step' if setting.per_epoch == 1 else 'steps'}, drawn at random. "
        "Its Rényi curve makes nothing of the drawing; its distribution does."
    )
    if shown := [i for i in range(len(rc.DELTAS)) if promise.resolved[i] > 0]:
        width = max((promise.exact[i] - promise.least[i]) / promise.exact[i] for i in shown)
        text += f" Its ε, too, are upper bounds; the true ones are at most {_per_mille_up(width)} smaller."
    if missing := [delta for delta, e in zip(rc.DELTAS, promise.resolved, strict=True) if math.isnan(e)]:
        text += f" From δ = {sentences.delta(max(missing))} on down its distribution is not resolved."
    return text


def certified(run: rc.Promise) -> str:
    """How sharp DP-SGD's ε on the second chart are."""
    known = run.exact > 0
    width = float(((run.exact - run.least)[known] / run.exact[known]).max(initial=0.0))
    return (
        "DP-SGD’s ε by its privacy loss distribution are upper bounds from a convolution that is validated "
        f"numerically; the true ones are here at most {_per_mille_up(width)} smaller "
        "(both ends are in the file)."
    )


def _per_mille_up(share: float) -> str:
    return sentences.percent(math.ceil(1000 * share) / 1000)


def snippet(setting: rc.Setting, delta: float, allocated: bool = False) -> str:
    """The curves and every ε at `delta`; defines the dictionary ``mechanisms`` and the array ``alpha``."""
    smooth = {"smoothness": setting.smoothness} if setting.bound == "glm" else {}
    fit = {"sigma": setting.sigma, "lam": setting.lam, **smooth, "bound": setting.bound}
    run = {name: getattr(setting, name) for name in ("noise_multiplier", "sample_rate", "steps")}
    last = ""
    if "allocation" in rc.names(setting, allocated):
        epochs = setting.steps // round(setting.per_epoch)
        each = {"noise_multiplier": setting.noise_multiplier, "steps": setting.per_epoch, "epochs": epochs}
        last = f"""
    "allocation": {call("acc.RandomAllocation", each)},"""
    return f"""import numpy as np

import objpert_core.accounting as acc

mechanisms = {{
    "objective": {call("acc.ObjectivePerturbation", fit)},
    "gaussian": acc.Gaussian(sigma={setting.sigma!r}),
    "dpsgd": {call("acc.DPSGD", run)},{last}
}}
alpha = np.array([1.5, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, 4096.0])
for name, mechanism in mechanisms.items():
    by_renyi, by_distribution = acc.via_rdp(mechanism).epsilon({delta!r}), mechanism.epsilon({delta!r})
    print(name, by_renyi, by_distribution, *mechanism.rdp(alpha))
"""
