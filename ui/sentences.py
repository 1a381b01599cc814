"""The words around the numbers: pure functions from numbers to sentences, tested, without Streamlit.

Privacy is rounded to the safe side: ε and δ up, odds up. δ is slack: any event may be likelier by δ than the odds of ε
allow. It is not the probability that they fail, which is larger (docs/theorems.md, T22).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from objpert_core.accounting.numerics.rounding import significant

ADJACENCY = "add or remove one row"
TIGHT = "the privacy profile of our theorem"

CERTAIN = math.log(1e6)  # the ε from which on odds are not worth a number
EXACT = 1e-6  # relative: what is closer than this is called equal, in sentences and in tables

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TOGETHER = re.compile(r"(\$[^$]*\$)| (?=[=:×→] |%)|(?<= [=:×→]) |(?<=±) ")
_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def scientific(value: float, digits: int = 2, *, up: bool = False) -> str:
    """A number as 4.2×10⁻⁵; powers of ten as 10⁻⁵; plain between 0.001 and 10,000. `up` rounds towards +∞."""
    if value == 0 or not math.isfinite(value):
        return _special(value)
    if 1e-3 <= abs(value) < 1e4:
        return number(value, max(digits, 2), up=up)
    rounded = significant(value, digits, up=up)
    mantissa, exponent = f"{rounded:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPT)
    text = power if mantissa == "1" else f"-{power}" if mantissa == "-1" else f"{mantissa}×{power}"
    return minus(text)


def number(value: float, digits: int = 3, *, up: bool = False) -> str:
    """A number to `digits` significant digits: 0.726, 12,400. No exponent, no superfluous zeros. `up`: towards +∞."""
    if value == 0 or not math.isfinite(value):
        return _special(value)
    text = minus(f"{significant(value, digits, up=up):,f}")
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded_up(value: float, digits: int) -> float:
    """The number that `number` shows when it rounds up."""
    return float(significant(value, digits, up=True))


def fixed(value: float, decimals: int = 3) -> str:
    """A number with that many decimals."""
    return minus(f"{value:.{decimals}f}")


def minus(text: str) -> str:
    """A number's text with a minus sign where Python writes a hyphen."""
    return text.replace("-", "−")


def epsilon(value: float, digits: int = 3) -> str:
    """ε rounded up to `digits` significant digits; ∞ where nothing is proved."""
    return number(value, digits, up=True) if value >= 1e-3 or value == 0 else scientific(value, digits, up=True)


def proved(value: float) -> str:
    """ε in a table; "nothing proved" where it is infinite."""
    return epsilon(value) if math.isfinite(value) else "nothing proved"


def delta(value: float, digits: int = 2) -> str:
    """δ rounded up, as 10⁻⁵ or 4.2×10⁻⁵; below the smallest double as a bound."""
    if value == 0:
        return "< 10⁻³⁰⁰"
    return scientific(value, digits, up=True)


def percent(value: float, digits: int = 1, *, up: bool = False) -> str:
    """A share of 1 as a percentage with `digits` decimals; what is less than 1 is not called 100 %: "> 99.9 %".

    `up` rounds towards 1.
    """
    step = 10.0**-digits
    text = f"{math.ceil(100 * value / step - 1e-9) * step if up else 100 * value:.{digits}f}"
    return f"> {100 - step:.{digits}f} %" if value < 1 and float(text) >= 100 else f"{text} %"


def ratio(value: float, *, up: bool = True) -> str:
    """How many times: 1.43×, from 10,000 on 7.6×10⁴; ∞ where nothing is proved; – where there is nothing to compare.

    Rounded up, or with ``up=False`` to the nearest.
    """
    if abs(value - 1) <= EXACT:
        return "1×"
    if 1 < value < 1.001:
        return "< 1.001×"
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{number(value, up=up)}×" if value < 1e4 else scientific(value, 2, up=up)


def times(value: float) -> str:
    """How many times, inside a sentence: 1.4, 12, 1,300."""
    return f"{round(value):,}" if value >= 10 else number(value, 2)


def capital(text: str) -> str:
    """The text with a large first letter."""
    return text[0].upper() + text[1:]


def short(name: str, longest: int) -> str:
    """A long name without its middle: beginnings such as "marital-status=" repeat, ends tell columns apart."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}"


def odds(eps: float) -> str:
    """e^ε as odds, rounded up: '2.72 : 1', 'over 10⁶ : 1', or 'any odds' where ε is infinite.

    They are those of the ε that `epsilon` shows, so that a calculator agrees with the screen.
    """
    if math.isinf(eps):
        return "any odds"
    shown = _printed(eps)
    return "over 10⁶ : 1" if shown > CERTAIN else f"{number(math.exp(shown), up=True)} : 1"


def chance(eps: float) -> str:
    """The odds of `odds` as a percentage, rounded up: '73.2 %' for ε = 1, '> 99.9 %' for ε = 8."""
    if math.isinf(eps):
        return "100 %"
    return percent(min(1 / (1 + math.exp(-_printed(eps))), 1 - 1e-9), up=True)  # e^ε is never all


def _printed(eps: float) -> float:
    """The ε that `epsilon` shows."""
    return rounded_up(eps, 3) if eps > 0 else 0.0


def bet(eps: float, at_delta: float) -> str:
    """What ε allows somebody who sees what is released, in one sentence.

    >>> bet(1.0, 1e-5)
    'Up to the slack δ = 10⁻⁵, seeing the model turns even odds into at most 2.72 : 1.'
    """
    if math.isinf(eps):
        return "Nothing is proved: seeing the model may make it certain that you took part."
    if eps == 0:
        return f"Seeing the model makes no event likelier by more than δ = {delta(at_delta)}."
    if _printed(eps) > CERTAIN:
        return "Such a large ε promises little: seeing the model may make a guess practically certain."
    return f"Up to the slack δ = {delta(at_delta)}, seeing the model turns even odds into at most {odds(eps)}."


def promise(eps: float, at_delta: float, accountant: str, *, adjacency: str = ADJACENCY) -> str:
    """The whole promise in one line: ε, δ, adjacency, accountant.

    >>> print(promise(1.0, 1e-5, "Rényi curves"))
    Worst case over all people and data: ε = 1, with slack δ = 10⁻⁵; add or remove one row; accounted by Rényi curves.
    """
    adjacency = adjacency.replace("add/remove", "add or remove")  # as certificates write it
    known = "no finite ε" if math.isinf(eps) else f"ε = {epsilon(eps)}"
    return (
        f"Worst case over all people and data: {known}, with slack δ = {delta(at_delta)}; {adjacency}; "
        f"accounted by {accountant}."
    )


def exactly_gaussian(from_epsilon: float) -> str:
    """From which ε on the tight bound for the logistic loss is the Gaussian mechanism's profile."""
    where = f"From ε = {epsilon(from_epsilon)} on," if from_epsilon > 0 else "At every ε,"
    return f"{where} the profile of our theorem is the Gaussian mechanism’s: no proof can show less."


def logistic_curve(smoothness: float, own: float, lipschitz: float) -> str:
    """What the logistic curve stands for when β is not the logistic loss's own L²/4."""
    return (
        f"The slider β = {number(smoothness)} does not move the curve of our theorem: on rows of norm at most "
        f"L = {number(lipschitz)} the logistic loss has β = L²/4 = {number(own)}."
    )


def ranking(values: Mapping[str, float]) -> str:
    """'A 0.54 · B 1.2 · C nothing', smallest first: the take-away of a chart of bounds, for its alt text."""
    order = sorted(values.items(), key=lambda item: item[1])
    return "; ".join(f"{name} {epsilon(v) if math.isfinite(v) else 'proves nothing'}" for name, v in order)


def bounds_alt(values: Mapping[str, float], at_delta: float) -> str:
    """Alt text of a chart of privacy profiles: what is plotted, and the order of the bounds."""
    curves = count(len(values), "bound")
    order = f"ε at δ = {delta(at_delta)}: {ranking(values)}."
    return f"Privacy profile, δ on a logarithmic scale against ε, for {curves}. {order}"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """'no curves', 'one curve', 'two curves', '12 curves'."""
    many = plural or f"{noun}s"
    if n == 0:
        return f"no {many}"
    word = _ONES[n] if n < len(_ONES) else f"{n:,}"
    return f"{word} {noun if n == 1 else many}"


def listing(items: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def changed(before: object, now: object, names: Mapping[str, str]) -> list[tuple[str, Any, Any]]:
    """The fields of two settings that differ, for `shift`; `names` is what each field is called."""
    pairs = ((name, getattr(before, field), getattr(now, field)) for field, name in names.items())
    return [(name, old, new) for name, old, new in pairs if old != new]


def shift(changes: Sequence[tuple[str, Any, Any]]) -> str:
    """What was changed, each as (what, old, new).

    >>> shift([("σ", 2.5, 5.0), ("proof", "published", "exact")])
    'σ 2.5 → 5, proof published → exact'
    """
    return ", ".join(f"{what} {_setting(old)} → {_setting(new)}" for what, old, new in changes)


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, int | float):
        return str(value)
    return scientific(value, 3) if 0 < abs(value) < 1e-3 else number(value, 6)


def course(what: str, before: float, now: float, told: Callable[[float], str] = epsilon) -> str:
    """Which way a number went, as `told` prints it.

    >>> course("ε", 1.56, 2.19), course("ε", 1.0, 1.0)
    ('ε rises from 1.56 to 2.19', 'ε stays at 1')
    """
    then, here = told(before), told(now)
    if then == here:
        return f"{what} stays at {here}"
    return f"{what} {'rises' if now > before else 'falls'} from {then} to {here}"


def sentence(message: str) -> str:
    """An error message with a capital letter and a full stop, to stand alone on a page."""
    text = message.strip()
    if not text:
        return "Something about this setting is not possible."
    first = text if text[0] in "σλβδετα" or "_" in text.split()[0] else capital(text)
    return first if first[-1] in ".!?" else first + "."


def unbroken(text: str) -> str:
    """Text in which no line ends within an equation, a product, a bet, a percentage, or beside a ± or an →.

    A formula between dollars sets its own spaces.
    """
    return _TOGETHER.sub(lambda found: found[1] or "\u00a0", text)


def _special(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "0" if value == 0 else "∞" if value > 0 else "−∞"
