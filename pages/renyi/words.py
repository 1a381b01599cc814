"""The words of the Rényi page: pure functions from numbers to sentences and table rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pages.renyi import numbers as rc
from ui import sentences
from ui.snippets import call

SIMILAR = 1.015  # closer than this is "about the same": rounding to the sliders makes 1 %
_FIT = "one fit of objective perturbation"


def order(alpha: float) -> str:
    """A Rényi order: three digits, whole from 100 on."""
    return f"{alpha:,.0f}" if alpha >= 100 else sentences.number(alpha)


def answer(delta: float, fit: float, run: float, crossings: Sequence[rc.Crossing]) -> str:
    """The page's one large sentence: who is more private at δ, and where the Rényi curves cross.

    `fit` and `run` are ε at `delta` by privacy loss distributions of the fit and of DP-SGD.
    """
    at = f"At δ = {sentences.delta(delta)}"
    if math.isinf(fit) and math.isinf(run):
        return f"{at} nothing finite is proved for either."
    if math.isinf(fit):
        return f"{at} nothing is proved for the fit, and ε = {sentences.epsilon(run)} for DP-SGD."
    if math.isinf(run):
        return f"{at} nothing finite is proved for DP-SGD, and ε = {sentences.epsilon(fit)} for {_FIT}."
    a, b = sentences.epsilon(fit), sentences.epsilon(run)
    if max(fit, run) <= SIMILAR * min(fit, run):
        start = f"{at} {_FIT} and DP-SGD cost about the same, ε = {a} and {b}"
    elif fit < run:
        start = f"{at} {_FIT} is more private than DP-SGD, ε = {a} against {b}"
    else:
        start = f"{at} DP-SGD is more private than {_FIT}, ε = {b} against {a}"
    return f"{start}; {crossing_clause(crossings)}."


def crossing_clause(crossings: Sequence[rc.Crossing]) -> str:
    """Where the curves cross, as half a sentence."""
    if not crossings:
        return "their Rényi curves do not cross"
    orders = [order(c.alpha) for c in crossings]
    places = orders[0] if len(orders) == 1 else f"{', '.join(orders[:-1])} and {orders[-1]}"
    return f"their Rényi curves cross at α = {places}, from where {_lower(crossings[-1].lower_after)} is the lower one"


def _lower(which: str) -> str:
    return "objective perturbation" if which == "objective" else "DP-SGD"


def odds(fit: float, run: float, at_delta: float) -> str:
    """Both ε in words that need no mathematics."""
    if math.isinf(fit) or math.isinf(run):
        known = "DP-SGD" if math.isinf(fit) else "the fit"
        finite = min(fit, run)
        return sentences.bet(finite, at_delta, f"the model of {known}")
    return (
        f"Apart from the slack δ = {sentences.delta(at_delta)}, seeing the model turns even odds into at most "
        f"{sentences.odds(fit)} after the fit, and {sentences.odds(run)} after DP-SGD."
    )


def accountant(bound: str) -> str:
    """How the ε of the answer were found."""
    fit = "Theorem 3.1" if bound == "glm" else "the tight bound for the logistic loss"
    return f"the privacy profile of {fit} and DP-SGD’s privacy loss distributions"


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
        f"Phase transition: up to about α = {order(found.start)} DP-SGD costs what one Gaussian mechanism would, "
        "because the person is in few of the batches; there its curve is twice that line. At larger α the rare runs in "
        "which the person is in many batches weigh more than all others"
    )
    if math.isinf(found.end):
        return f"{text}."
    return f"{text}, and from α = {order(found.end)} on the curve is at least half the one without sampling."


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
