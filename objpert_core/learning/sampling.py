"""Chance for DP-SGD, each draw with exactly the accountant's law: batches, coins and the number of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from objpert_core._validation import (
    FloatArray,
    IntArray,
    positive,
    positive_integer,
    random_state_argument,
    rate,
)
from objpert_core.learning.noise import NoiseSource, Unfolding, noise_source, with_digits

Answer = TypeVar("Answer")
_BLOCK = 2**15  # rows drawn at once, about
_FAR = 2.0**45  # tails: beyond all rows of all steps that are drawn at once, so that no more need be known of a gap
_ROUNDING = 2.0**-48  # more than a gap computed in doubles can be off, relatively


class Streams:
    """Independent noise sources with names, from one `random_state`: a stream depends on it and on its own name
    only."""

    def __init__(self, random_state: int | np.random.RandomState | np.random.Generator | None = None) -> None:
        self._root = noise_source(random_state_argument("random_state", random_state))
        self._name: tuple[int, ...] = ()
        self._entropy = int.from_bytes(self._root.read(32), "little") if self._root.reproducible else None

    @property
    def origin(self) -> str:
        """What a certificate says of the source; never the seed itself."""
        return self._root.origin

    @property
    def reproducible(self) -> bool:
        """True where somebody could draw the same numbers again."""
        return self._root.reproducible

    @property
    def provenance(self) -> dict[str, Any]:
        """The fields of a certificate that say where the noise came from."""
        return self._root.provenance

    def below(self, *name: int) -> Streams:
        """The streams whose names start with `name`."""
        other = Streams.__new__(Streams)
        other._root, other._entropy, other._name = self._root, self._entropy, (*self._name, *name)
        return other

    def stream(self, *name: int) -> NoiseSource:
        """The stream called `name`, from its start (the operating system has none)."""
        if self._entropy is None:
            return self._root
        seed = np.random.SeedSequence(self._entropy, spawn_key=(*self._name, *name))
        return NoiseSource(np.random.default_rng(seed).bytes, self.origin, reproducible=True)


def _gaps(source: NoiseSource, size: int, probability: float) -> FloatArray:
    """`size` independent numbers of tails before the first head: ⌊log V / log(1 − p)⌋ in full relative precision."""
    words = np.frombuffer(source.read(8 * size), dtype="<u8")
    digits, low = words >> np.uint64(1), (words & np.uint64(1)).astype(bool)
    half = digits * 2.0**-64
    scale = -1 / math.log1p(-probability)
    with np.errstate(divide="ignore"):
        gaps = -np.where(low, np.log(half), np.log1p(-half)) * scale
        error = np.where(low, 2 / half, 4.0) * 2.0**-64 * scale + gaps * _ROUNDING
    whole = np.floor(gaps)
    with np.errstate(invalid="ignore"):
        sure = (gaps - whole > error) & (whole + 1 - gaps > error) | (gaps - error > _FAR)
    for i in np.flatnonzero(~sure):
        whole[i] = _gap_exactly(Unfolding(int(digits[i]), 64, source.read), bool(low[i]), probability)
    return whole


def _gap_exactly(uniform: Unfolding, low: bool, probability: float) -> float:
    """⌊log V / log(1 − p)⌋ with as many digits as decide it."""
    digits, room = 40, 60 - 2 * math.floor(math.log10(probability))  # 1 − p and 1 − V lose as many digits
    while True:
        with with_digits(digits + room):
            log_tails = (1 - Decimal(probability)).ln()
            slack = Decimal(10) ** -digits
            ends = [end if low else 1 - end for end in uniform.bounds()]
            if min(ends) > 0:
                near, far = sorted(end.ln() / log_tails for end in ends)
                if (found := near * (1 - slack) // 1) == far * (1 + slack) // 1:
                    return float(found)
        uniform.unfold()
        digits += 40


def selected(source: NoiseSource, n: int, probability: float) -> IntArray:
    """The numbers among 0 … n − 1 whose own coin, each with that `probability`, fell heads; sorted."""
    if probability == 1:
        return np.arange(n)
    found, position = [], -1.0
    while position < n:
        expected = (n - position) * probability
        size = int(expected + 4 * math.sqrt(expected)) + 8
        places = position + np.cumsum(1.0 + _gaps(source, size, probability))
        found.append(places)
        position = float(places[-1])
    places = np.concatenate(found)
    return places[places < n].astype(np.intp)


def poisson_batches(source: NoiseSource, n_rows: int, sample_rate: float, steps: int) -> Iterator[IntArray]:
    """The batches of DP-SGD: in each of `steps` steps every row joins with probability `sample_rate`."""
    rate("sample_rate", sample_rate)
    at_once = max(1, min(int(_BLOCK / max(1.0, n_rows * sample_rate)), 2**40 // max(1, n_rows)))
    for start in range(0, steps, at_once):
        count = min(at_once, steps - start)
        places = selected(source, n_rows * count, sample_rate)
        ends = np.searchsorted(places, n_rows * np.arange(1, count + 1))
        for step, batch in enumerate(np.split(places, ends[:-1])):
            yield batch - n_rows * step


def allocated_batches(source: NoiseSource, n_rows: int, steps: int, epochs: int) -> Iterator[IntArray]:
    """The batches of random allocation: in each epoch every row is in one of the `steps` steps."""
    steps, epochs = positive_integer("steps", steps), positive_integer("epochs", epochs)
    for _ in range(epochs):
        step_of = uniform_choices(source, steps, n_rows)
        order = np.argsort(step_of, kind="stable")  # within a step the rows stay sorted
        yield from np.split(order, np.cumsum(np.bincount(step_of, minlength=steps))[:-1])


def poisson_count(source: NoiseSource, mean: float) -> int:
    """Draw a number with the Poisson law: the first that a uniform number's place in the unit interval allows."""
    rate_of = Decimal(positive("mean", mean))
    uniform, digits = Unfolding(0, 0, source.read), 40
    while True:
        uniform.unfold()
        with with_digits(digits):
            slack = Decimal(10) ** (12 - digits)  # the terms' errors add up; a trillion of them would fit
            low, high = uniform.bounds()
            term = total = (-rate_of).exp()
            count = 0
            while total * (1 + slack) <= low and total < 1 - slack:
                count += 1
                term *= rate_of / count
                total += term
            if high <= total * (1 - slack):
                return count
        digits += 20


def uniform_choices(source: NoiseSource, options: int, size: int) -> IntArray:
    """Draw `size` independent numbers from 0 … options − 1, each equally likely."""
    found, left = [np.empty(0, np.intp)], size
    limit = np.uint64(2**64 - 2**64 % options - 1)  # words above it would make some numbers likelier
    while left:
        words = np.frombuffer(source.read(8 * left), dtype="<u8")
        found.append((words[words <= limit] % np.uint64(options)).astype(np.intp))
        left -= len(found[-1])
    return np.concatenate(found)


def best_among(answers: Iterable[Answer], score: Callable[[Answer], float]) -> tuple[float, Answer] | None:
    """Find the highest score and its answer, the first of equals; a NaN is as bad as −∞, and no answers give None."""
    best: tuple[float, Answer] | None = None
    for answer in answers:
        own = float(score(answer))
        own = -math.inf if math.isnan(own) else own
        if best is None or own > best[0]:
            best = own, answer
    return best
