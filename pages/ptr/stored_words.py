"""The words of stored results on the page "Ask the data first": answers, captions, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from objpert_core.experiments.ptr import glm, pate, pca, regression, voting
from objpert_core.experiments.ptr.tables import TABLES
from objpert_core.experiments.results import Results
from pages.ptr.stored_numbers import Curve, by_method
from ui import sentences

FIGURE3 = {
    "b": "ε at equal error (3b)",
    "10": "ε against the gap, noise of ε = 10 (3a)",
    "0.3": "ε against the gap, noise of ε = 0.3 (3a)",
}
PAYS = {"glm": "Logistic regression", "pca": "First principal direction"}


def promise(epsilon: float | None, delta: float, neighbours: str) -> str:
    """The promise in one line; without ε where each method has its own."""
    if epsilon is not None:
        return sentences.promise(epsilon, delta, "each method’s own proof", adjacency=neighbours)
    return (
        f"Worst case over all people and data: ε as in the chart, with slack δ = {sentences.delta(delta)}; "
        f"{neighbours}; accounted by each method’s own proof."
    )


VOTER = "one voter joins or leaves"
TEACHER = "one teacher replaced, with all its votes"


def _e(value: float) -> str:
    return sentences.epsilon(value) if math.isfinite(value) else "∞"


def equal_error_answer(shown: Sequence[Curve], at: float) -> str:
    """Figure 3b: who pays what for the same error."""
    found = by_method(shown, at)
    verdict = "pays" if found["passing"] < found["laplace"] else "does not pay"
    return (
        f"Asking {verdict} at equal error: it costs ε = {_e(found['passing'])}, Laplace noise {_e(found['laplace'])}, "
        f"the optimal vote {_e(found['optimal'])}."
    )


def equal_error_note(at: float) -> str:
    """What is compared."""
    return (
        f"Gap {voting.GAP}; all err as often as Laplace noise of ε = {at:g}. Asking costs what it promises and passes "
        f"{100 * voting.SURE:.0f} % of the time. The mean cost over runs is no promise; it falls between 0.3 and 0.4, "
        "from where ε at δ is mostly 0 and only the bound on the gap is paid for."
    )


def gap_answer(shown: Sequence[Curve], at: float) -> str:
    """Figure 3a: ε at a gap."""
    found = by_method(shown, at)
    return f"At a gap of {at:g} this noise has ε = {_e(found['pure'])} without δ and {_e(found['from-here'])} with it."


GAP_NOTE = (
    "Laplace noise. Printed: the formula of Theorem C.2, which drops a summand ε and falls. The gap is secret, and so "
    "is ε at this gap."
)


def teachers_answer(shown: Sequence[Curve], at: float) -> str:
    """Figure 2: whether asking pays, and ε three ways."""
    found = by_method(shown, at)
    verdict = "pays" if found["distance-tight"] < found["exact"] else "does not pay"
    return (
        f"Asking {verdict} at σ = {at:g}: the distance test costs ε = {_e(found['distance-tight'])}, smooth "
        f"sensitivity ε = {_e(found['smooth'])}, any votes ε = {_e(found['exact'])}."
    )


def teachers_note(source: str, right: float) -> str:
    """Whose votes."""
    return (
        f"{pate.SOURCES[source]}, {pate.QUERIES} rows, {100 * right:.0f} % of labels right. Budgets are the best for "
        "these votes, and that choice is not paid for. Smooth sensitivity is the paper’s Algorithm 4, corrected."
    )


def _inside(label: str) -> str:
    """A label within a sentence."""
    return label[0].lower() + label[1:]


def regression_answer(shown: Sequence[Curve], at: float) -> str:
    """Figure 1: the private method with the lowest mean against the public rows alone; no winner within intervals."""
    known = {curve.method: (curve.label, dict(curve.points)[at]) for curve in shown}
    public, alone = known["judges"]
    private = [one for method, one in known.items() if method not in regression.UNPAID]
    best, least = min(private, key=lambda one: one[1].mean)
    if alone.high < least.low:
        return f"{public} wins, {_value(alone.mean)}; lowest private mean: {best}, {_value(least.mean)}."
    if least.high >= alone.low:
        told = f"Nothing private is seen to beat {_inside(public)}, {_value(alone.mean)}"
        return f"{told}; {best} has {_value(least.mean)}."
    sole = all(least.high < other.low for label, other in private if label != best)
    told = "errs least" if sole else "has the lowest mean"
    return f"At ε = {at:g} {best} {told}, {_value(least.mean)}; {_inside(public)} has {_value(alone.mean)}."


def regression_note(table: str, refused: float) -> str:
    """What was learnt, and how often there was no answer."""
    shy = f" OPS-PTR with shares gives no answer (⊥) in {100 * refused:.0f} % of its runs." if refused > 0 else ""
    return (
        f"{TABLES[table].label}, mean squared test error, 95 % intervals. The validation rows, 10 % of all, count as "
        f"public.{shy}"
    )


def glm_answer(shown: Sequence[Curve], at: float) -> str:
    """Logistic regression: who is right how often, and whether asking first is seen to pay."""
    found = by_method(shown, at)
    intervals = {curve.method: dict(curve.points)[at] for curve in shown}
    pays = intervals["ptr"].low > intervals["objective"].high
    verdict = "asking first pays" if pays else "asking first does not pay"
    return (
        f"At ε = {at:g} asking first gets {100 * found['ptr']:.1f} % right, objective perturbation "
        f"{100 * found['objective']:.1f} %: {verdict}."
    )


GLM_NOTE = (
    f"{glm.DATASET}, {len(glm.SEEDS)} splits, 95 % intervals. All but objective perturbation have their best λ for "
    "free."
)


def pca_answer(shown: Sequence[Curve], at: float) -> str:
    """First direction: whose error is smaller, where intervals are apart."""
    known = {curve.method: dict(curve.points)[at] for curve in shown}
    if known["ptr"].low <= known["gram"].high and known["gram"].low <= known["ptr"].high:
        return f"At n = {at:,g} asking for the gap first and noise on AᵀA err alike within intervals."
    first, plain = known["ptr"].mean, known["gram"].mean
    ratio = max(first, plain) / max(min(first, plain), 1e-300)
    side = "less" if first < plain else "more"
    times = sentences.number(ratio, 2)
    return f"At n = {at:,g} asking for the gap first has {times} times {side} error than noise on AᵀA."


def pca_note(spread: float) -> str:
    """What was drawn."""
    return (
        f"Unit rows in {pca.DIMENSION} dimensions, one spread {spread:g} times as wide, {len(pca.SEEDS)} draws, 95 % "
        "intervals."
    )


def rows(shown: Sequence[Curve], at: float, what: str, *, percent: bool = False) -> list[dict[str, str]]:
    """Every method at the place that is read off, with its interval where draws have one; ε is rounded up."""
    privacy = what.startswith("ε")
    head = what if privacy else f"{what[0].upper()}{what[1:]}"
    scale, unit = (100, " %") if percent else (1, "")
    listed, spread = [], False
    for curve in shown:
        interval = next((one for place, one in curve.points if place == at), None)
        if interval is None:
            continue
        half = scale * interval.half_width if interval.known else 0.0
        spread = spread or half > 0
        value = _e(interval.mean) if privacy else f"{_value(scale * interval.mean)}{unit}"
        listed.append({"Method": curve.label, head: value, "± (95 %)": _value(half) if half > 0 else "–"})
    return listed if spread else [{"Method": row["Method"], head: row[head]} for row in listed]


def _value(value: float) -> str:
    if not math.isfinite(value):
        return "∞"
    return sentences.number(value) if abs(value) >= 1e-3 or value == 0 else sentences.scientific(value, 3)


def alt(answer: str, shown: Sequence[Curve], what: str) -> str:
    """Alt text."""
    return f"{answer} {what}: {', '.join(curve.label for curve in shown)}."


def nothing_stored(name: str) -> str:
    """What a picture says where there are no results."""
    return f"This picture needs stored results: python -m objpert_core.experiments ptr {name}"


def made_by(notes: Mapping[str, str]) -> str:
    """How the stored results were made."""
    told = f"Stored results of `{notes['command']}`, commit {notes['commit']}, {notes['versions']}"
    return f"{told}; seeds: {notes['seeds']}."


def made(found: Results) -> str:
    """The same, of a file."""
    return made_by(found.notes)
