"""Gaussian noise on a lattice, exactly sampled, from the operating system's randomness or from a seed.

Whoever sees some output of a generator such as numpy's can work out the rest: private noise takes its bits from
`os.urandom`. A sampler in doubles reaches some doubles and not others, and the gaps tell data sets apart (Mironov
2012): here a normal number is sampled exactly, and only its rounding to a lattice leaves this file. A value on the
lattice plus such noise is a post-processing of the Gaussian mechanism (docs/theorems.md, T14).

How: the half-line is cut into blocks of equal width. A random word chooses a block with a probability that is a known
integer over 2⁶³ and above the normal density there; a second word is the place in the block; the rest of the first word
keeps the place or not. Where a margin for the rounding of doubles leaves that open, more digits are drawn to decide it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import MIN_EMIN, Context, Decimal, localcontext
from functools import lru_cache
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, IntArray, random_state_argument
from objpert_core.accounting.mechanisms.perturbation import NORMAL_SPACING

LARGEST_RATIO = 2.0**52
"""Of the noise to the lattice's spacing, at most: a number then fits 64 bits, with bits to spare."""
SMALLEST_RATIO = 2.0**-20
"""Of the noise to the lattice's spacing, at least."""
_REACH = 9.5  # standard deviations that the table of blocks covers; what lies beyond is sampled block by block
_WIDTH = 1 / 16  # of a block, at most, in standard deviations
_OPEN = 2.0**-30  # relative error of the density, at most: both of its rounding and of the digits not yet drawn
_WORD = 2**63


@dataclass(frozen=True)
class NoiseSource:
    """Normal numbers and where their bits come from.

    Attributes
    ----------
    read : callable
        ``read(count)`` returns that many random bytes.
    origin : str
        What a certificate says of the source; never the seed itself.
    reproducible : bool
        True where somebody could draw the same noise again.
    """

    read: Callable[[int], bytes]
    origin: str
    reproducible: bool

    @property
    def provenance(self) -> dict[str, Any]:
        """The fields of a certificate that say where the noise came from."""
        return {"noise_source": self.origin, "reproducible": self.reproducible}

    def __reduce__(self) -> Any:
        """Refuse: noise is drawn where the fit was called."""
        raise TypeError("a source of noise cannot be pickled")

    def rounded_normal(self, ratio: float, size: int) -> IntArray:
        """Draw `size` independent numbers N(0, ratio²), each rounded to the nearest integer, exactly; int64.

        `ratio`, from 2⁻²⁰ to 2⁵², is the noise's standard deviation by the lattice's spacing. Rejection from blocks as
        in Karney (2016); docs/theorems.md, T14. Not the discrete Gaussian of Canonne, Kamath and Steinke (2020).
        """
        if not SMALLEST_RATIO <= ratio <= LARGEST_RATIO:
            raise ValueError(f"ratio must be a number from 2**-20 to 2**52, got {ratio!r}")
        blocks = _blocks(float(ratio))
        found, left = [np.empty(0, np.int64)], size
        while left > 0:
            found.append(blocks.draw(self.read, left + left // 24 + 8)[:left])
            left -= len(found[-1])
        return np.concatenate(found)

    def standard_normal(self, size: int) -> FloatArray:
        """Draw `size` independent N(0, 1) numbers, shape (size,), each rounded to a multiple of `NORMAL_SPACING`."""
        return np.asarray(self.rounded_normal(1 / NORMAL_SPACING, size) * NORMAL_SPACING, dtype=np.float64)


def with_noise(exact: np.ndarray, noise: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """`exact` plus noise of its own shape, written to `out` if given; ValueError for another shape."""
    if np.shape(noise) != np.shape(exact):
        raise ValueError(f"noise must have the shape {np.shape(exact)} of what it is added to, got {np.shape(noise)}")
    return np.asarray(np.add(exact, noise, out=out))


def noise_source(random_state: int | np.random.RandomState | np.random.Generator | None = None) -> NoiseSource:
    """Return the source of noise that a `random_state` argument asks for; ValueError for any other type.

    None reads `os.urandom`. Everything else can be replayed and is marked `reproducible`: such noise protects nobody.

    >>> noise_source().origin
    'operating system'
    """
    state = random_state_argument("random_state", random_state)
    if state is None:
        return NoiseSource(os.urandom, "operating system", reproducible=False)
    if isinstance(state, int):
        return NoiseSource(np.random.default_rng(state).bytes, "integer seed", reproducible=True)
    return NoiseSource(state.bytes, f"numpy {type(state).__name__}", reproducible=True)


@dataclass(frozen=True)
class _Blocks:
    """The half-line of |x|, x ~ N(0, ratio²), in blocks of 2^bits lattice points; word w is of block j with
    `starts[j]` <= w < `starts[j + 1]`, and a place is kept if w − start is less than peak·exp(−x²/(2·ratio²)).
    """

    ratio: float
    width: float
    bits: int
    peak: int
    starts: np.ndarray

    def draw(self, read: Callable[[int], bytes], tries: int) -> IntArray:
        """The numbers that `tries` tries give: fewer than tries, as a rule by a thirtieth."""
        narrow = self.bits < 28  # then 32 bits hold the place in the block with some digits to spare
        digits = 32 if narrow else 64
        words = np.frombuffer(read(8 * tries), dtype="<u8")
        places = np.frombuffer(read(digits // 8 * tries), dtype="<u4" if narrow else "<u8")
        heights = words >> np.uint64(1)
        block = np.searchsorted(self.starts, heights, side="right") - 1
        heights -= self.starts[block]
        height = heights.astype(np.float64)
        x = places * 2.0**-digits
        x += block
        x *= self.width
        density = np.exp(-0.5 * np.square(x)) * self.peak
        kept = height + 1 <= density * (1 - _OPEN)
        unsure = ~kept & (height <= density * (1 + _OPEN))
        beyond = block == len(self.starts) - 1
        if narrow:
            halves = ((block << digits) + places) >> (digits - 1 - self.bits)
        else:
            halves = (block << (self.bits + 1)) + (places >> np.uint64(digits - 1 - self.bits)).astype(np.int64)
        for i in np.flatnonzero(unsure | beyond):
            where, boost, place = int(block[i]), 1, int(places[i])
            if beyond[i]:
                where, boost = self._beyond(read)
                halves[i] = ((where << digits) + place) >> (digits - 1 - self.bits)
            kept[i] = self._keeps(where, boost, Unfolding(place, digits, read), Unfolding(int(heights[i]), 0, read))
        magnitude = (halves + 1) >> 1  # halves of lattice points, rounded down: the nearest point is the middle of two
        return np.where(words & np.uint64(1), -magnitude, magnitude)[kept]

    def _beyond(self, read: Callable[[int], bytes]) -> tuple[int, int]:
        """Choose a block beyond the table, and say by how much its share is smaller than the common one."""
        fours = 0
        while True:
            for bit in f"{int.from_bytes(read(8), 'little'):064b}":
                if bit == "1":
                    within = int.from_bytes(read(1), "little") % 4
                    return len(self.starts) - 1 + 4 * fours + within, 2 ** (fours + 3)
                fours += 1

    def _keeps(self, block: int, boost: int, place: Unfolding, height: Unfolding) -> bool:
        """Whether height < boost·peak·exp(−x²/(2·ratio²)) at x = (block + place)·2^bits, all digits counted."""
        digits = 40
        while True:
            with with_digits(digits):
                scale = Decimal(2) ** self.bits / Decimal(self.ratio)
                slack = Decimal(10) ** (8 - digits)
                near, far = (boost * self.peak * (-((scale * (block + end)) ** 2) / 2).exp() for end in place.bounds())
                low, high = height.bounds()
                if high <= far * (1 - slack):
                    return True
                if low >= near * (1 + slack):
                    return False
            place.unfold()
            height.unfold()
            digits += 40


def with_digits(digits: int) -> AbstractContextManager[Context]:
    """A decimal context with so many digits, in which no number that occurs here underflows to 0."""
    return localcontext(prec=digits, Emin=max(-(10**9), MIN_EMIN))  # on 32 bits decimal has smaller exponents


class Unfolding:
    """A uniform random number of which some binary digits are known; further digits are drawn as they are asked for."""

    def __init__(self, known: int, bits: int, read: Callable[[int], bytes]) -> None:
        self._known, self._bits, self._read = known, bits, read

    def bounds(self) -> tuple[Decimal, Decimal]:
        """The least and the largest value that the number can have."""
        unit = Decimal(2) ** -self._bits
        return self._known * unit, (self._known + 1) * unit

    def unfold(self) -> None:
        """Draw 64 more binary digits."""
        self._known = self._known << 64 | int.from_bytes(self._read(8), "little")
        self._bits += 64


@lru_cache(maxsize=256)
def _blocks(ratio: float) -> _Blocks:
    return _table(ratio, _REACH)


def _table(ratio: float, reach: float) -> _Blocks:
    """Cut up the half-line; blocks beyond `reach` standard deviations have to share what words are left."""
    bits = math.floor(math.log2(ratio * _WIDTH))
    width = 2.0**bits / ratio
    steps = math.ceil(reach / width)
    density = np.exp(-0.5 * np.square(np.arange(steps + 1) * width))
    peak = int((1 - 2.0**-30) * _WORD / (density[:-1].sum() + 16 * density[-1]))
    shares = [math.ceil(peak * float(value) * (1 + 2.0**-40)) + 1 for value in density[:-1]]
    return _Blocks(ratio, width, bits, peak, np.cumsum([0, *shares], dtype=np.uint64))
