"""How the ledger and the filter round: what is spent up, what is left down."""

import math

from ui import sentences


def up(value: float) -> str:
    """A price rounded up; √(0.2²), a little more than 0.2 in doubles, is shown as 0.2."""
    return sentences.epsilon(value * (1 - 1e-14))


def down(value: float) -> str:
    """A budget, or what is left of it, rounded down."""
    return sentences.number(-value, 3, up=True).removeprefix("−")


def share_up(share: float) -> str:
    """A share of 1 as a percentage, rounded up to a decimal."""
    return sentences.percent(math.ceil(1000 * share - 1e-9) / 1000)
