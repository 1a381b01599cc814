"""The words of the Bounds page: pure functions from numbers to sentences.

Rounded to the safe side: what an attacker misses is rounded down, how often a guess is right is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ui import sentences

PERFECT = "Perfect privacy (guessing)"


def share(value: float) -> str:
    """A round share as it is: 5 %, 0.1 %."""
    return f"{100 * value:.6g} %"


def at_least(value: float) -> str:
    """A share rounded down: one decimal from 1 % on, two digits below."""
    return _percent(value, ROUND_FLOOR)


def at_most(value: float) -> str:
    """A share rounded up, likewise."""
    return _percent(value, ROUND_CEILING)


def _percent(value: float, rounding: str) -> str:
    exact = Decimal(repr(float(value))) * 100
    step = Decimal("0.1") if exact >= 1 or exact == 0 else Decimal(1).scaleb(exact.adjusted() - 1)
    text = f"{exact.quantize(step, rounding=rounding):f}"
    return f"{text} %" if len(text) < 10 else "0 %" if rounding == ROUND_FLOOR else f"{float(text):.1e} %"


def profile_answer(
    at_delta: float, tight: float, lower: float, published: float, own: float, smoothness: float, own_smoothness: float
) -> str:
    """The profile view's one large sentence, from ε at δ of the tight, the lower and the published bounds.

    `published` is the smallest ε that the published bounds prove at the page's β = `smoothness`, `own` at the logistic
    loss's own β = `own_smoothness` (`math.inf` when they prove nothing): the tight bound is about that loss only.
    """
    start = f"One fit of logistic regression costs ε = {sentences.epsilon(tight)} at δ = {sentences.delta(at_delta)}"
    if math.isinf(tight):
        return f"No bound proves a finite ε at δ = {sentences.delta(at_delta)} with this setting."
    if lower > 0 and tight <= lower * (1 + sentences.EXACT):
        start += ", exactly what the Gaussian mechanism with this noise costs"
    elif 0 < tight < 1.001 * lower:
        start += ", less than a thousandth above what the Gaussian mechanism with this noise costs"
    elif lower > 0:
        start += f", {sentences.number(tight / lower, up=True)} times what the Gaussian mechanism with this noise costs"
    if math.isinf(own):
        return start + "; the published bounds prove nothing here."
    if own <= tight * (1 + sentences.EXACT):
        return start + "; the published analysis proves the same."
    start += f"; the published analysis proves only ε = {sentences.epsilon(own)}"
    if math.isclose(smoothness, own_smoothness):
        return start + "."
    other = f"ε = {sentences.epsilon(published)}" if math.isfinite(published) else "nothing"
    start += f" for this loss (β = {sentences.number(own_smoothness)})"
    return f"{start}, and {other} for β = {sentences.number(smoothness)}."


def answer(rate: float, tight: float, lower: float) -> str:
    """The trade-off view's one large sentence: what an attacker misses under the tight and under the Gaussian bound."""
    if tight <= 0:
        return f"Nothing is proved about an attacker who accepts {share(rate)} false accusations with this setting."
    start = f"An attacker who accepts {share(rate)} false accusations misses at least {at_least(tight)} of the members"
    if at_least(tight) == at_least(lower):
        return f"{start}; no proof can promise more."
    return f"{start}; no proof can promise more than {at_least(lower)}."


def comparison(rate: float, published: float, own: float, smoothness: float, own_smoothness: float) -> str:
    """Guessing and the published analysis next to it, at the page's β = `smoothness` and at the logistic loss's own."""
    start = f"Guessing without the model they would miss {share(1 - rate)}; the published analysis"
    if math.isclose(smoothness, own_smoothness):
        return f"{start} {_promises(own)}."
    return (
        f"{start} {_promises(own)} for this loss (β = {sentences.number(own_smoothness)}), and "
        f"{_promises(published).removeprefix('promises ')} for β = {sentences.number(smoothness)}."
    )


def _promises(missed: float) -> str:
    return f"promises at least {at_least(missed)}" if missed > 0 else "promises nothing"


def even_odds(guess: float, eps: float, at_delta: float, tail: float | None = None) -> str:
    """The best guess from even odds, and what ε says about bets."""
    if guess >= 1:
        return sentences.bet(eps, at_delta, tail=tail)
    return (
        f"From even odds, the best guess whether you are in the data is right at most {at_most(guess)} of the time. "
        f"{sentences.bet(eps, at_delta, tail=tail)}"
    )


def accounted() -> str:
    """Adjacency and accountant; no δ, since the curve uses every pair of ε and δ at once."""
    return (
        f"Neighbouring data sets: {sentences.ADJACENCY}. Accounted by {sentences.TIGHT}: every pair of ε and δ at once."
    )


def alt(missed: Mapping[str, float], rate: float) -> str:
    """Alt text: what is plotted, and the order of the bounds."""
    order = sorted(missed.items(), key=lambda item: -item[1])
    listed = "; ".join(f"{name} {at_least(value) if value > 0 else 'proves nothing'}" for name, value in order)
    return (
        f"Trade-off curves: missed members against false accusations, both from 0 to 100 %, for "
        f"{sentences.count(len(missed), 'bound')} and for perfect privacy, the diagonal. "
        f"Missed at {share(rate)} false accusations: {listed}."
    )
