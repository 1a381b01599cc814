"""Why ε moved, or why it did not: one sentence from two settings of one fit.

The tight bound has two terms: the Gaussian one, which σ and L decide, and the curvature's, which λ decides. Where the
bound equals the Gaussian lower bound, only the first one counts.
"""

from __future__ import annotations

from dataclasses import astuple

from ui import bounds as proofs
from ui import sentences

SYMBOLS = ("σ", "λ", "β", "L")
"""The fields of a `Setting`, in their order."""

_MORE = {
    "σ": "a wider tilt hides one person’s gradient better",
    "λ": "more regularisation leaves one person’s curvature less to show",
    "L": "one person’s gradient may be larger, the tilt is the same",
}
_LESS = {
    "σ": "a narrower tilt hides one person’s gradient less",
    "λ": "less regularisation leaves one person’s curvature more to show",
    "L": "one person’s gradient must be smaller, the tilt is the same",
}


def moved(before: proofs.Setting | None, now: proofs.Setting, delta: float) -> str:
    """What was changed since `before`, what it did to the tight bound's ε at `delta`, and which term decided it.

    Empty where nothing was changed.

    >>> moved(proofs.Setting(2.5, 1, 0.25, 1), proofs.Setting(2.5, 10, 0.25, 1), 1e-5)
    'λ 1 → 10: ε did not move: the Gaussian term decides here, not λ.'
    """
    values = zip(SYMBOLS, astuple(before or now), astuple(now), strict=False)
    changed = [(symbol, old, new) for symbol, old, new in values if old != new]
    if before is None or not changed:
        return ""
    shift = ", ".join(f"{symbol} {sentences.number(old)} → {sentences.number(new)}" for symbol, old, new in changed)
    (symbol, old, new), *more = changed
    told, tells = (proofs.epsilon_at("logistic", setting, delta) for setting in (before, now))
    then, here = sentences.epsilon(told), sentences.epsilon(tells)
    gaussian = tells <= proofs.epsilon_at("lower", now, delta) * (1 + sentences.EXACT)
    if then == here:
        return f"{shift}: ε did not move: {_still(symbol, gaussian) if not more else _decides(gaussian)}."
    course = f"ε {'rises' if tells > told else 'falls'} from {then} to {here}"
    if more or symbol not in _MORE:
        return f"{shift}: {course}; {_decides(gaussian)}."
    return f"{shift}: {course}: {(_MORE if new > old else _LESS)[symbol]}."


def _still(symbol: str, gaussian: bool) -> str:
    if symbol == "β":
        return "the tight bound knows the logistic loss’s own β; only the published curves use this one"
    return f"the Gaussian term decides here, not {symbol}" if gaussian else f"{symbol} hardly counts here"


def _decides(gaussian: bool) -> str:
    return "the Gaussian term, L/σ, decides" if gaussian else "the curvature’s term counts too, so λ does"
