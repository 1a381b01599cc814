"""The words of the Bounds page: pure functions from numbers to sentences.

Rounded to the safe side: what an attacker misses is rounded down, how often a guess is right is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from pages.bounds.neighbours import Setting
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


# --- the profile view -------------------------------------------------------------------------------------------------


def profile_answer(tight: float, published: float, setting: Setting) -> str:
    """The profile view's one large sentence, from ε of the tight and of the published bounds.

    `published` is the smallest ε that the published bounds prove at the logistic loss's own β (`math.inf` when they
    prove nothing): the tight bound is about that loss only.
    """
    if math.isinf(tight):
        return "No bound proves a finite ε with this setting."
    start = f"One logistic fit costs ε = {sentences.epsilon(tight)} (odds {sentences.odds(tight)})"
    if setting.replaced:
        return f"{start} when one row is replaced."
    if not setting.usual:
        return f"{start} for somebody with {sentences.count(setting.rows, 'row')}."
    if math.isinf(published):
        return f"{start}; the published proofs guarantee nothing."
    if published <= tight * (1 + sentences.EXACT):
        return f"{start}; the published proof guarantees the same."
    own = sentences.number(setting.logistic_smoothness)
    return f"{start}; the published proof, with its β = {own}, guarantees less: ε = {sentences.epsilon(published)}."


def limits(tight: float, lower: float, from_epsilon: float) -> str:
    """How much less any proof could show, from ε of the tight and of the Gaussian lower bound."""
    if lower <= 0 or math.isinf(tight):
        return ""
    if tight <= lower * (1 + sentences.EXACT):
        return sentences.exactly_gaussian(from_epsilon)
    above = "less than a thousandth" if tight < 1.001 * lower else f"{sentences.percent(tight / lower - 1, up=True)}"
    return f"The proof is {above} above the Gaussian mechanism’s ε = {sentences.number(lower)}, the least possible."


def at_smoothness(published: float, smoothness: float) -> str:
    """What the published curves prove, which are drawn for the page's β = `smoothness`."""
    known = f"ε = {sentences.epsilon(published)}" if math.isfinite(published) else "nothing"
    return f"The published curves are drawn for β = {sentences.number(smoothness)} and guarantee {known}."


def against_one(tight: float, one: float, lower: float, published: float, smoothness: float) -> str:
    """What one row more or less costs, what no proof can be below, and the published analysis for these neighbours."""
    if math.isinf(tight):
        return ""
    start = f"Adding or removing one row costs ε = {sentences.epsilon(one)}."
    if lower > 0 and tight <= lower * (1 + sentences.EXACT):
        start += " No proof can be below what is proved here."
    elif lower > 0:
        start += f" No proof can be below ε = {sentences.number(lower)} here."
    return f"{start} {at_smoothness(published, smoothness)}"


# --- the attacker's errors --------------------------------------------------------------------------------------------


def answer(rate: float, tight: float) -> str:
    """The trade-off view's one large sentence: what an attacker misses under the tight bound, and by guessing."""
    if tight <= 0:
        return f"Nothing is proved about an attacker who accuses {share(rate)} of outsiders."
    return (
        f"Accusing {share(rate)} of outsiders, an attacker misses at least {at_least(tight)} of members; guessing "
        f"misses {share(1 - rate)}."
    )


def comparison(
    tight: float, lower: float, published: float, own: float, smoothness: float, own_smoothness: float
) -> str:
    """What no proof can promise, and the published analysis, at the page's β = `smoothness` and at the loss's own."""
    start = "" if tight <= 0 else "No proof can promise more" + _beyond(tight, lower) + ". "
    start += f"The published analysis {_promises(own)}"
    if math.isclose(smoothness, own_smoothness):
        return f"{start}."
    return (
        f"{start} for this loss (β = {sentences.number(own_smoothness)}), and "
        f"{_promises(published).removeprefix('promises ')} for β = {sentences.number(smoothness)}."
    )


def _beyond(tight: float, lower: float) -> str:
    return "" if at_least(tight) == at_least(lower) else f" than {at_least(lower)}"


def _promises(missed: float) -> str:
    return f"promises at least {at_least(missed)}" if missed > 0 else "promises nothing"


def best_guess(guess: float, setting: Setting) -> str:
    """How often the best guess from even odds is right, about what these neighbours differ in."""
    if guess >= 1:
        return ""
    what = "whether you took part" if setting.usual else "whether your rows are in the data"
    what = "which of two contents your row has" if setting.replaced else what
    return f"From even odds, the best guess {what} is right at most {at_most(guess)} of the time."


def alt_of(setting: Setting) -> str:
    """What the alternative text adds where neighbours do not differ by one row more or less."""
    return "" if setting.usual else f" Neighbouring data sets: {setting.neighbours}."


def alt(missed: Mapping[str, float], rate: float) -> str:
    """Alt text: what is plotted, and the order of the bounds."""
    order = sorted(missed.items(), key=lambda item: -item[1])
    listed = "; ".join(f"{name} {at_least(value) if value > 0 else 'proves nothing'}" for name, value in order)
    return (
        f"Trade-off curves: missed members against false accusations, both from 0 to 100 %, for "
        f"{sentences.count(len(missed), 'bound')} and for perfect privacy, the diagonal. "
        f"Missed at {share(rate)} false accusations: {listed}."
    )
