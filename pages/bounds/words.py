"""The words of the Bounds page: pure functions from numbers to sentences.

Rounded to the safe side: what an attacker misses is rounded down, how often a guess is right is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from pages.bounds.neighbours import Setting
from pages.bounds.neighbours import text as shown
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


def even_odds(guess: float, eps: float, at_delta: float) -> str:
    """The best guess from even odds, and what ε says about bets."""
    if guess >= 1:
        return sentences.bet(eps, at_delta)
    return (
        f"From even odds, the best guess whether you are in the data is right at most {at_most(guess)} of the time. "
        f"{sentences.bet(eps, at_delta)}"
    )


def whose_answer(at_delta: float, tight: float, replaced: bool, rows: int) -> str:
    """The profile view's large sentence where neighbours do not differ by one row more or less."""
    what = "when one row is replaced" if replaced else f"for somebody with {sentences.count(rows, 'row')}"
    if math.isinf(tight):
        return f"No bound proves a finite ε at δ = {sentences.delta(at_delta)} {what}."
    return f"One logistic fit costs ε = {sentences.epsilon(tight)} at δ = {sentences.delta(at_delta)} {what}."


def against_one(tight: float, one: float, lower: float, published: float, smoothness: float) -> str:
    """What one row more or less costs, what no proof can be below, and the published analysis for these neighbours."""
    if math.isinf(tight):
        return ""
    start = f"Adding or removing one row costs ε = {sentences.epsilon(one)}"
    if lower > 0 and tight <= lower * (1 + sentences.EXACT):
        start += "; no proof can be below what is proved here"
    elif lower > 0:
        start += f"; no proof can be below ε = {sentences.number(lower)} here"
    if math.isinf(published):
        return f"{start}, and the published bounds prove nothing for β = {sentences.number(smoothness)}."
    told = sentences.epsilon(published)
    return f"{start}, and the published analysis proves ε = {told} for β = {sentences.number(smoothness)}."


def about(text: str, setting: Setting) -> str:
    """A sentence about a bet or a guess where neighbours differ in what one row says, or in several rows."""
    if setting.replaced:
        text = text.replace("on you being in the data", "on either of two contents of your row")
        return text.replace("whether you are in the data", "which of two contents your row has")
    return text if setting.usual else text.replace("you being in the data", "all your rows being in the data")


def gdp(covers: tuple[float, float]) -> str:
    """What covers the mechanism at every ε and δ at once."""
    mu, rho = covers
    if math.isinf(mu):
        return ""
    return f"At every ε and δ at once: μ = {shown(mu)}, ρ = {shown(rho)}."


def accounted_for(neighbours: str, covers: tuple[float, float]) -> str:
    """Adjacency and accountant of the profile view's answer, and μ and ρ."""
    return f"Neighbouring data sets: {neighbours}. Accounted by {sentences.TIGHT}. {gdp(covers)}".rstrip()


def accounted(neighbours: str = sentences.ADJACENCY) -> str:
    """Adjacency and accountant; no δ, since the curve uses every pair of ε and δ at once."""
    return f"Neighbouring data sets: {neighbours}. Accounted by {sentences.TIGHT}: every pair of ε and δ at once."


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
