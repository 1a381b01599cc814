"""The Composition page's words: pure functions from numbers to sentences and rows, tested, without Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from objpert_core.accounting.ledger import MOST_COPIES
from pages.composition.numbers import BOUNDS, RARE, Asked, Reading
from pages.composition.totals import Line, overrun
from ui import sentences
from ui.sentences import count, delta, epsilon, number, percent, proved, scientific

NEARLY = 0.9  # of the target: from here on a ledger is nearly used up
VISIBLE = 0.01  # relative width of ε from which the band can be seen on the chart
ACCOUNTANTS: Mapping[str, str] = {
    "glm": "convolution under Theorem 3.1",
    "glm-pair": "convolution under the symmetric pair of Theorem 3.1",
    "logistic": "convolution under the tight logistic bound",
    "logistic-pair": "convolution under the symmetric pair of the tight logistic bound",
}
LEDGER_ACCOUNTANT = "convolution of all privacy losses"
FIXED_BEFOREHAND = (
    "Fix the list and its noise beforehand. What a release is about may depend on earlier answers; how noisy it is, "
    "and what is added to the list, may not: that needs a privacy filter or odometer. There is a switch."
)
_FIELDS = {"sigma": "σ", "lam": "λ", "smoothness": "β", "lipschitz": "L"}
_PROOFS = {bound: name for name, bound in BOUNDS.items()}
_REASONS = {  # more of it, less of it
    "σ": ("every fit is noisier", "every fit is less noisy"),
    "λ": ("every fit shows less of one person’s curvature", "every fit shows more of one person’s curvature"),
    "β": ("one person’s curvature may be larger", "one person’s curvature is smaller"),
    "L": ("one person’s gradient may be larger", "one person’s gradient is smaller"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
}


def answer(k: int, total: float, one: float, at_delta: float) -> str:
    """What k fits cost together, against k times the ε of one."""
    at = f"at δ = {delta(at_delta)}"
    if math.isinf(total):
        return f"No bound proves a finite ε for {count(k, 'fit')} {at} with this setting."
    cost = _cost(k, "fit", total, at_delta)
    added = k * one
    if k == 1 or not 0 < added < math.inf:
        return f"{cost}."
    if total >= added * (1 - 1e-3):
        return f"{cost}; adding up gives no more, but at {k:,} × δ only."
    return f"{cost}, not {k:,} × {epsilon(one)} = {epsilon(added)}."


def _cost(k: int, what: str, total: float, at_delta: float) -> str:
    verb = "costs" if k == 1 else "cost"
    return f"{count(k, what).capitalize()} {verb} ε = {epsilon(total)} at δ = {delta(at_delta)}"


def why(before: Asked, now: Asked, then: float, total: float) -> str:
    """What was changed since `before`, and what that did to ε, which was `then`, of the largest number of fits."""
    proved_alike = before.fit.bound == now.fit.bound
    changes = sentences.changed(before.fit, now.fit, _FIELDS) if proved_alike else []
    changes += sentences.changed(before, now, {"most": "k", "delta": "δ"})
    if not proved_alike:
        changes.append(("proof", _PROOFS[before.fit.bound], _PROOFS[now.fit.bound]))
    if not changes:
        return ""
    told = f"{sentences.shift(changes)}: {sentences.course('ε', then, total)}"
    if len(changes) > 1 or not 0 < min(then, total) <= max(then, total) < math.inf:
        return f"{told}."
    what, old, new = changes[0]
    if what == "k":
        times, dearer = max(old, new) / min(old, new), max(total, then) / min(total, then)
        return f"{told}; {number(times)} times the fits cost {number(dearer, up=True)} times the ε."
    if what == "proof":
        return f"{told}; the fits are the same, another proof speaks."
    if epsilon(then) == epsilon(total):
        return f"{told}; {what} does not count here."
    return f"{told}; {_REASONS[what][new < old]}."


def band(reading: Reading) -> str:
    """How wide the validated band is, in words; it is mostly too thin to be seen."""
    if not 0 < reading.epsilon < math.inf:
        return ""
    thin = ", thinner than its line" if reading.share < VISIBLE else ""
    wide = scientific(reading.share, 2, up=True)
    return (
        f"The exact ε of this proof lies, validated numerically, in a band of {wide} of ε for "
        f"{count(reading.k, 'fit')}{thin}. Its upper end is the promise."
    )


def _down(value: float, digits: int) -> str:
    """A lower bound rounded down."""
    return number(-value, digits, up=True).removeprefix("−")


def _up(share: float, decimals: int = 1) -> float:
    """A share rounded up to what `percent` shows."""
    scale = 100 * 10**decimals
    return math.ceil(share * scale - 1e-9) / scale


def profiles_alt(found: Sequence[Reading], at_delta: float) -> str:
    parts = [
        f"{count(r.k, 'fit')} {epsilon(r.epsilon)}, by Rényi {epsilon(r.renyi)}"
        if math.isfinite(r.epsilon)
        else f"{count(r.k, 'fit')} nothing proved"
        for r in found
    ]
    return (
        "Privacy profile, δ on a logarithmic scale against ε, one solid curve for each number of fits and a dashed one "
        f"for its Rényi bound. ε at δ = {delta(at_delta)}: {'; '.join(parts)}."
    )


def widths_alt(found: Sequence[Reading]) -> str:
    parts = [f"{count(r.k, 'fit')} {percent(_up(r.delta_share))}" for r in found if math.isfinite(r.delta_share)]
    return (
        "Relative width of the validated band of δ, on a logarithmic scale against ε, one curve a number of fits. "
        f"Largest from δ = {number(RARE)} down: {'; '.join(parts) or 'nothing is proved'}."
    )


def fit_rows(found: Sequence[Reading], at_delta: float) -> list[dict[str, str]]:
    """The read-outs, one row a number of fits."""
    return [
        {
            "Fits k": f"{r.k:,}",
            f"ε at δ = {delta(at_delta)}": proved(r.epsilon),
            "Validated width": scientific(r.epsilon - r.low, 2, up=True) if math.isfinite(r.epsilon) else "–",
            "ε by Rényi": proved(r.renyi),
            "k × ε of one": proved(r.added),
            "k × ε of one / ε": sentences.ratio(r.added / r.epsilon if 0 < r.epsilon < math.inf else math.nan),
            "Even odds become at most": sentences.odds(r.epsilon).replace(" ", "\u00a0"),
        }
        for r in found
    ]


def ledger_answer(lines: Sequence[Line], light: str) -> str:
    """What the whole list costs, against adding the ε up; `light` is the budget's."""
    if not lines:
        return "Nothing has been released yet: ε = 0."
    last, n = lines[-1], sum(line.entry.count for line in lines)
    releases = count(n, "release")
    if math.isinf(last.total):
        return f"{light}: no finite ε is proved for {releases}."
    cost = f"{light}: {releases} {'costs' if n == 1 else 'cost'} ε = {epsilon(last.total)}"
    if n == 1 or last.total >= last.added * (1 - 1e-3):
        return f"{cost}."
    return f"{cost}; adding up their ε, and their δ, says {epsilon(last.added)}."


def status(lines: Sequence[Line], target: float) -> tuple[str, str]:
    """The budget's light in words, and the sentence beside it."""
    aim = f"the target ε = {number(target)}"
    if not lines:
        return "Nothing used", f"All of {aim} is left."
    total, over = lines[-1].total, overrun(lines, target)
    if math.isinf(total):
        return "Not accounted for", "Nothing is proved about this list, so no target is kept."
    if over is not None:
        end = f"the list ends {epsilon(total - target)} above it"
        return "Over budget", f"Entry {over + 1} ({lines[over].entry.label}) takes the total past {aim}; {end}."
    left = f"{percent(_up(total / target))} of {aim} is used, {_down(target - total, 3)} is left."
    return ("Nearly used up" if total / target >= NEARLY else "Within budget"), left


def remaining(line: Line, target: float) -> str:
    """What a table cell says about the target after an entry."""
    if math.isinf(line.total):
        return "nothing proved"
    left = target - line.total
    return f"{_down(left, 3)} left" if left >= 0 else f"over by {epsilon(-left)}"


def ledger_rows(
    lines: Sequence[Line], at_delta: float, target: float, left: Sequence[int] | None = None
) -> list[dict[str, str]]:
    """The list, one row an entry; `left` says how many more of each entry still fit, where that was asked."""
    fits = [None] * len(lines) if left is None else left
    return [
        {
            "": f"{position}",
            "Release": f"{line.entry.label}: {describe(line)}",
            "Times": f"{line.entry.count:,}",
            "ε of one": proved(line.alone),
            f"Total so far at δ = {delta(at_delta)}": proved(line.total),
            f"Target ε = {number(target)}": remaining(line, target),
            "By Rényi": proved(line.renyi),
            "Sum of ε": proved(line.added),
        }
        | ({} if more is None else {"Still fits": _still_fits(more)})
        for position, (line, more) in enumerate(zip(lines, fits, strict=True), 1)
    ]


def _still_fits(n: int) -> str:
    return "none" if n == 0 else f"{n:,} or more" if n >= MOST_COPIES else f"{n:,} more"


def events(numbers: Sequence[int], there: float, here: float) -> str:
    """What the ledger's events say; `numbers` are those of the entries without one, ε is `there` and `here`."""
    about = "One event of Google’s dp_accounting for the whole list, in JSON, for ADD_OR_REMOVE_ONE."
    if not numbers:
        return f"{about} It costs what the list costs."
    one = len(numbers) == 1
    which = f"{'Entry' if one else 'Entries'} {', '.join(map(str, numbers))} {'has' if one else 'have'} none"
    instead = f"Gaussian noise that covers {'it' if one else 'them'} is written instead"
    return f"{about} {which}: {instead}, and the total there is ε = {epsilon(there)}, not {epsilon(here)}."


def describe(line: Line) -> str:
    """An entry's parameters in the page's symbols."""
    parts = []
    for parameter, value in line.entry.given:
        if isinstance(value, str):
            parts.append(parameter.options[value])
        else:
            shown = f"{value:,}" if parameter.whole else scientific(value, 3 if parameter.name == "delta" else 4)
            parts.append(f"{parameter.symbol} = {shown}")
    return ", ".join(parts)


def ledger_alt(lines: Sequence[Line], at_delta: float, target: float) -> str:
    if not lines:
        return "Running total of ε against the entries of the list; it is empty."
    end = lines[-1]
    ways = {"together": end.total, "by Rényi": end.renyi, "added up": end.added}
    told = ", ".join(f"{proved(value)} {way}" for way, value in ways.items())
    return (
        f"Running total of ε at δ = {delta(at_delta)} after each of {count(len(lines), 'entry', 'entries')}: "
        f"it ends at {told}. The target is {number(target)}. {status(lines, target)[0]}."
    )
