"""What releases cost together: by composition, next to adding the ε up and to the Rényi route.

Releases are asked for as sets of (mechanism, how often), so that moving an entry keeps what is known of the others.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import objpert_core.accounting as acc
from objpert_core.accounting import ledger_file
from objpert_core.accounting.ledger import MOST_COPIES, Entry, Ledger
from ui import sentences
from ui.bounds import ORDERS, renyi_curve

WIDTH = 1e-3  # validated width asked for, a share of ε: several times faster than the core's own
_REMEMBERED = 1000
Counts = frozenset[tuple[acc.Mechanism, int]]


@dataclass(frozen=True)
class Line:
    """One entry and what the releases up to and with it cost, as ε at δ."""

    entry: Entry
    alone: float  # of one release
    added: float  # added up; holds at the sum of the δ only
    low: float
    total: float  # bounded from below by `low`; this is what is promised
    renyi: float  # the same through Rényi curves


def totals(ledger: Sequence[Entry], delta: float) -> list[Line]:
    lines: list[Line] = []
    counts: Counter[acc.Mechanism] = Counter()
    added = 0.0
    for entry in ledger:
        mechanism = entry.mechanism()
        counts[mechanism] += entry.count
        so_far = frozenset(counts.items())
        alone = epsilon_alone(mechanism, delta)
        added += entry.count * alone
        low, total = epsilon_bounds(so_far, delta)
        lines.append(Line(entry, alone, added, low, total, renyi_epsilon(so_far, delta)))
    return lines


@lru_cache(maxsize=_REMEMBERED)
def epsilon_alone(mechanism: acc.Mechanism, delta: float) -> float:
    if isinstance(mechanism, acc.DPSGD):
        return float(mechanism.epsilon_bounds(delta, WIDTH)[1])
    return float(mechanism.epsilon(delta))


@lru_cache(maxsize=_REMEMBERED)
def epsilon_bounds(counts: Counts, delta: float, width: float = WIDTH) -> tuple[float, float]:
    """Validated (lower, upper) bounds on ε at δ of everything in `counts` together."""
    together = acc.compose(*(acc.repeat(mechanism, k) for mechanism, k in _in_order(counts)))
    low, high = together.epsilon_bounds(delta, width)
    return float(low), float(high)


def renyi_epsilon(counts: Counts, delta: float) -> float:
    """ε at δ from the sum of the Rényi curves at `ORDERS`."""
    curve = sum(k * renyi_curve(mechanism) for mechanism, k in _in_order(counts))
    return float(acc.rdp_to_epsilon(ORDERS, curve, delta))


def _in_order(counts: Counts) -> list[tuple[acc.Mechanism, int]]:
    """In an order that does not depend on how the set came about, so that sums agree to the last digit."""
    return sorted(counts, key=repr)


def overrun(lines: Sequence[Line], target: float) -> int | None:
    """Index of the first entry with which the total passes the target; None where it does not."""
    return next((index for index, line in enumerate(lines) if line.total > target), None)


def copies_left(ledger: Ledger, entry: Entry, delta: float, target: float) -> int:
    """How many further releases like `entry` keep the total within the target, at most `MOST_COPIES`."""

    def fits(k: int) -> bool:
        counts = Counter({entry.mechanism(): k})
        for known in ledger:
            counts[known.mechanism()] += known.count
        return epsilon_bounds(frozenset(counts.items()), delta)[1] <= target

    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= MOST_COPIES and fits(high):
        low, high = high, 2 * high
    high = min(high, MOST_COPIES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def epsilon_of_events(ledger: Ledger, delta: float) -> float:
    """ε at δ of the ledger as it is written for dp_accounting, where Gaussian noise covers what has no event."""
    whole = ledger_file.written(ledger)
    parts = whole.parts if isinstance(whole, acc.Composition) else ((whole, 1),)
    return epsilon_bounds(frozenset(parts), delta)[1]


def reason(ledger: Sequence[Entry]) -> str | None:
    """Why nothing is proved about the ledger: the first entry about which nothing is; None otherwise."""
    return next((why for entry in ledger if (why := entry.mechanism().explain())), None)


# --- how both are written: what is spent is rounded up, what is left down ---------------------------------------------


def up(value: float) -> str:
    """A price rounded up; √(0.2²), a little more than 0.2 in doubles, is shown as 0.2."""
    return sentences.epsilon(value * (1 - 1e-14))


def down(value: float) -> str:
    """A budget, or what is left of it, rounded down."""
    return sentences.number(-value, 3, up=True).removeprefix("−")


def share_up(share: float) -> str:
    """A share of 1 as a percentage, rounded up to a decimal."""
    return sentences.percent(math.ceil(1000 * share - 1e-9) / 1000)
