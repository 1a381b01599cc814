"""Normal numbers of which some binary digits are known, and as many more as are asked for, with exactly their law."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np

from objpert_core._validation import IntArray

FIRST_DIGITS = 50
"""Binary digits after the point that a normal number is drawn with at first."""
_MORE = 64


class NormalDigits:
    """Normal numbers, each known to lie in a cell, whose further digits are drawn as they are asked for."""

    def __init__(self, cells: IntArray, first: int) -> None:
        self._cells, self._first = cells, first
        self._known: list[int] | IntArray = cells  # counts cells of width 2^−digits from −½·2^−first on
        self._longer: dict[int, tuple[int, int]] = {}  # the few that have more digits already, with these
        self.digits = first

    def middles(self) -> np.ndarray:
        """The middles of all cells in units of 2^−(digits + 1), Python's integers: each number is within a unit."""
        return np.array([self.ends(place)[0] + 1 for place in range(len(self._cells))], dtype=object)

    def ends(self, place: int) -> tuple[int, int]:
        """The ends of a number's cell, in units of 2^−(digits + 1)."""
        low = 2 * int(self._known[place]) - (1 << self.digits - self._first)
        return low, low + 2

    def refine(self, read: Callable[[int], bytes]) -> None:
        """Draw 64 more digits of each number: the first time by rejection, then as they come, as they are uniform."""
        first_time = self.digits == self._first
        known = [int(cell) for cell in self._known]
        words = np.frombuffer(read(8 * len(known)), dtype="<u8").tolist()
        self.digits += _MORE
        for place, word in enumerate(words):
            if first_time:
                word, count = _within_cell(known[place], self._first, word, read)
                if count > _MORE:
                    self._longer[place] = word, count
                    word >>= count - _MORE
            elif place in self._longer:
                digits, count = self._longer[place]
                wanted = self.digits - self._first
                while count < wanted:
                    digits, count = digits << _MORE | _word(read), count + _MORE
                self._longer[place] = digits, count
                known[place] = (int(self._cells[place]) << wanted) + (digits >> count - wanted)
                continue
            known[place] = (known[place] << _MORE) + word
        self._known = known


def _within_cell(cell: int, first: int, place: int, read: Callable[[int], bytes]) -> tuple[int, int]:
    """Digits of where in its cell a normal number lies, and how many there are; the first 64 tried are `place`."""
    while True:
        height, digits = _word(read), _MORE
        if height + 2 + (((abs(cell) + 1) << _MORE) >> 2 * first) <= 1 << _MORE:  # (x² − x₀²)/2 is less than that
            return place, digits
        kept = None
        while kept is None:
            kept = _keeps(cell, first, place, height, digits)
            if kept is None:
                place, height, digits = place << _MORE | _word(read), height << _MORE | _word(read), digits + _MORE
        if kept:
            return place, digits
        place = _word(read)


def _keeps(cell: int, first: int, place: int, height: int, digits: int) -> bool | None:
    """Whether height < exp(−(x² − x₀²)/2) by these digits of x and height; None where they leave the question open."""
    with localcontext() as context:
        context.prec = 20 + digits
        width, step = Decimal(2) ** -first, Decimal(2) ** -digits
        origin = max(abs(cell) - Decimal("0.5"), Decimal(0))
        ends = (cell - Decimal("0.5") + (place + more) * step for more in (0, 1))
        far, near = sorted((-((end**2 - origin**2) * width**2) / 2).exp() for end in ends)
        slack = Decimal(10) ** -digits
        if (height + 1) * step <= far * (1 - slack):
            return True
        return False if height * step >= near * (1 + slack) else None


def _word(read: Callable[[int], bytes]) -> int:
    return int.from_bytes(read(8), "little")
