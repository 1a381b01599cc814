"""Phrases that several pages share: accuracies and their differences, learning rates, data sets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from objpert_core import datasets
from objpert_core.experiments import methods
from objpert_core.experiments.compare import TIGHT_BOUNDS
from objpert_core.experiments.live import DataFacts
from objpert_core.experiments.summary import Interval
from objpert_core.learning.dp_sgd.tuning import PAPER_LEARNING_RATES
from ui import bounds as proofs
from ui import sentences

GRIDS: Mapping[str, tuple[float, ...]] = {
    "five": (0.003, 0.01, 0.03, 0.1, 0.3),
    "one": (0.03,),
    "paper": PAPER_LEARNING_RATES,
    "fine": methods.grid(-4, 0, 25, digits=3),
}
"""DP-SGD's learning rates on offer."""
ACCOUNTANTS: Mapping[str, str] = {key: f"the privacy profile of {proofs.called(key)}" for key in TIGHT_BOUNDS}
"""How (ε, δ) is accounted under a bound, inside a sentence."""
FEWEST = 5
"""Draws for the interval of a mean: with two, Student's t allows almost every value, and with four a great many."""
SHOWS = 0.05  # points of accuracy; less prints as 0.0
_TINY = 1e-12  # of a share: the last bits of a difference
T = TypeVar("T")


def accounted(accountant: str, center_noise: float | None, scale_noise: float | None) -> str:
    """How a learner is accounted, with the noisy sums that were released before its fit; a public rule may skip some.

    >>> accounted("the profile composed with the noisy centre and scales", 12.0, None)
    'the profile composed with the noisy centre'
    """
    released = [name for name, noise in (("centre", center_noise), ("scales", scale_noise)) if noise is not None]
    fit, beside, _ = accountant.partition(" composed with the noisy ")
    return f"{fit}{beside}{' and '.join(released)}" if released and beside else fit


def absent(name: str) -> str:
    """Why the files of a data set cannot be read: 'are damaged'; 'are not on this server'."""
    return "are damaged" if datasets.damage(name) else "are not on this server"


def given(value: T | None) -> T:
    """A value that is there wherever the page asks for it: the mean of a method that has been fitted."""
    if value is None:
        raise ValueError("there is no result yet")
    return value


def points(value: float) -> str:
    """Percentage points with one decimal: '0.9 points', '1.0 points'."""
    return f"{abs(value):.1f} points"


def accuracy(value: float) -> str:
    """An accuracy with the two decimals that it has everywhere on the page, so that differences can be checked."""
    return sentences.percent(value, 2)


def fall(before: float, after: float) -> tuple[str, str]:
    """The difference of two accuracies, as their two decimals have it so that a reader can check it, and both.

    >>> fall(0.84964, 0.84036)
    ('0.92 points', '84.96 → 84.04 %')
    """
    first, second = round(100 * before, 2), round(100 * after, 2)
    return f"{abs(first - second):.2f} points", f"{first:.2f} → {second:.2f} %"


def signed(value: float) -> str:
    """A difference of accuracies in points with its sign and two decimals: '+0.35', '−0.02'."""
    return f"{100 * value:+.2f}".replace("-", "−")


def ends(gap: Interval) -> str:
    """The ends of a difference's interval alone: '−0.10 to +0.06'; a dash where there is none."""
    if not gap.known:
        return "–"
    low, high = gap.within(-1.0, 1.0)
    return f"{signed(low)} to {signed(high)}"


def between(gap: Interval) -> str:
    """The ends of a difference's interval: '95 % interval −0.10 to +0.06'."""
    return f"95 % interval {ends(gap)}"


def undecided(gap: Interval) -> bool:
    """Whether a difference's interval holds 0, so that the draws do not say which way it goes."""
    return gap.known and gap.low - _TINY <= 0 <= gap.high + _TINY


def unclear(gap: Interval) -> str:
    """'is within the noise of two draws (+2.50 points, 95 % interval −1.80 to +6.80', the bracket still open.

    Empty where the draws tell the difference from 0, or tell that it is too small to show.
    """
    if not undecided(gap) or 100 * gap.half_width < SHOWS:
        return ""
    draws = sentences.count(gap.count, "draw")
    return f"is within the noise of {draws} ({signed(gap.mean)} points, {between(gap)}"


def times(rates: Sequence[float]) -> str:
    """Learning rates in order, repeated ones counted: '10⁻⁴, 0.03 (2 times)'; 'none'."""
    met = Counter(sorted(rates))
    found = [sentences.scientific(rate) + (f" ({many} times)" if many > 1 else "") for rate, many in met.items()]
    return ", ".join(found) or "none"


def in_points(difference: float) -> float:
    """A difference of accuracies in points, without the last bits' noise: 0.80 - 0.79 is one point, not more."""
    return round(100 * difference, 9)


def interval(value: Interval) -> str:
    """'83.91 to 84.13 %', or why there is none."""
    if value.count < FEWEST:
        return no_interval(value.count)
    low, high = value.within()
    return f"{100 * low:.2f} to {100 * high:.2f} %"


def no_interval(draws: int) -> str:
    """Why there is no interval: 'one draw, no interval'; 'two draws, too few for an interval'."""
    return "one draw, no interval" if draws == 1 else f"{sentences.count(draws, 'draw')}, too few for an interval"


def plus_minus(share: Interval) -> str:
    """A mean accuracy with half its interval: '84.02 % ± 0.31'; where that leaves 0 to 100 %, its ends instead."""
    if share.count < FEWEST:
        few = f" ({sentences.count(share.count, 'draw')}: too few for ±)" if share.known else ""
        return accuracy(share.mean) + few
    if (share.low, share.high) != share.within():
        return f"{accuracy(share.mean)} ({interval(share)})"
    return f"{accuracy(share.mean)} ± {100 * share.half_width:.2f}"


def grid(rates: Sequence[float]) -> str:
    """Learning rates in a few characters: '0.03', '0.003 to 0.3 (5)'."""
    if len(rates) == 1:
        return sentences.scientific(rates[0])
    return f"{sentences.scientific(min(rates))} to {sentences.scientific(max(rates))} ({len(rates)})"


def data_line(data: DataFacts) -> str:
    """Which rows the numbers are about."""
    rows = f"{data.train_rows:,} training rows, {data.test_rows:,} test rows"
    not_real = "; stand-in data, not the real data" if data.stand_in_for else ""
    return f"{data.label}: {rows}, {data.columns:,} columns{not_real}."
