"""A few values in [0, 1], their lower median behind a private test: every number of propose-test-release, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import dlaplace

from objpert_core._validation import (
    FloatArray,
    check_fields,
    choice,
    in_open_unit,
    nonnegative_integer,
    positive,
    positive_integer,
)
from objpert_core.experiments.ptr.ballot import passing
from objpert_core.learning.geometric import tail_point

PUBLISHED = ("number", "side")
MIDDLE = 0.5
_DIGITS = 9  # of a difference between values: 0.4 − 0.3 is 0.1
_UP = 1 + 1e-12


@dataclass(frozen=True)
class Outcome:
    """One run. `noisy_distance` is infinite where no data at all contradict the proposal."""

    noisy_distance: float
    passed: bool
    value: float | None


@dataclass(frozen=True)
class Points:
    """Values in [0, 1], each of `people` people, and a release of their median ("number"), or of its side of ½
    ("side"), behind a test. `bound` is β, the proposal: how far one person moves the median at most. Test and release
    have `epsilon` each, and the whole is (2ε, δ)-DP: docs/theorems.md, T36.
    """

    values: tuple[float, ...]
    people: int = 1
    bound: float = 0.1
    epsilon: float = 1.0
    delta: float = 1e-5
    published: str = "number"

    def __post_init__(self) -> None:
        numbers = tuple(float(value) for value in self.values)
        if len(numbers) < 2 or not all(0 <= value <= 1 for value in numbers):
            raise ValueError(f"values must be at least two numbers from 0 to 1, got {self.values!r}")
        object.__setattr__(self, "values", tuple(sorted(numbers)))
        check_fields(self, positive_integer, "people")
        check_fields(self, in_open_unit, "bound", "delta")
        check_fields(self, positive, "epsilon")
        choice("published", self.published, PUBLISHED)

    @property
    def scale(self) -> float:
        """β/ε, the scale of the Laplace noise that the proposal asks for."""
        return self.bound / self.epsilon

    @cached_property
    def _edges(self) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
        """(rank, value) of the median's possible starts, and of its possible ends: 0 and 1 lie beyond the data."""
        ranked = np.repeat(self.values, self.people)
        n = ranked.size
        m = (n + 1) // 2
        low = {0.0: 0} | {float(ranked[rank - 1]): rank for rank in range(1, m + 1)}
        high = {1.0: n + 1} | {float(ranked[rank - 1]): rank for rank in range(n, m - 1, -1)}
        return (
            tuple((rank, value) for value, rank in low.items()),
            tuple((rank, value) for value, rank in high.items()),
        )

    @property
    def median(self) -> float:
        """The lower median."""
        return self._edges[0][-1][1]

    def _moves(self) -> Iterator[tuple[int, float, float]]:
        """(k, u, v): with k values changed, one more takes the median from u to v or back. Every widest such move."""
        lows, highs = self._edges
        for i, low in lows:
            for j, high in highs:
                if i < j:
                    yield j - i - 1, low, high

    @property
    def local_sensitivity(self) -> float:
        """How far replacing one person's value moves the median at most."""
        return max((round(high - low, _DIGITS) for changed, low, high in self._moves() if changed == 0), default=0.0)

    @property
    def global_epsilon(self) -> float:
        """ε of this noise for the worst data: the median may move by 1."""
        return 1 / self.scale

    @property
    def local_epsilon(self) -> float:
        """ε of this noise for the local sensitivity."""
        return self.local_sensitivity / self.scale

    @property
    def own_epsilon(self) -> float:
        """The data-dependent ε, at δ, of the release: for a number `local_epsilon`."""
        return max((self._epsilon_of(low, high) for changed, low, high in self._moves() if changed == 0), default=0.0)

    def _epsilon_of(self, low: float, high: float) -> float:
        if self.published == "number":
            return round(high - low, _DIGITS) / self.scale
        return side_epsilon(low, high, self.scale, self.delta)

    @cached_property
    def distance(self) -> float:
        """D: how many people have to change until the data-dependent ε exceeds ε; infinite where none suffice."""
        worst = self.epsilon * (_UP if self.published == "number" else 1.0)
        wrong = (changed for changed, low, high in self._moves() if self._epsilon_of(low, high) > worst)
        return min(wrong, default=math.inf)

    @property
    def threshold(self) -> int:
        """The least whole number that the noise alone reaches with probability δ at most, as in `DistanceTest`."""
        return tail_point(self.epsilon, self.delta)

    @property
    def pass_probability(self) -> float:
        """How often the test passes."""
        return passing(self.distance, self.threshold, self.epsilon)

    def test_law(self, mass: float = 1e-3) -> tuple[FloatArray, FloatArray]:
        """The noisy distances that occur, but for a probability of `mass` either way, and the probability of each."""
        if math.isinf(self.distance):
            return np.zeros(0), np.zeros(0)
        reach = float(dlaplace.ppf(1 - mass, self.epsilon))
        noise = np.arange(-reach, reach + 1)
        return noise + self.distance, dlaplace.pmf(noise, self.epsilon)

    @property
    def above(self) -> float:
        """How often the noisy median of a run that passes is above ½."""
        return math.exp(log_above(self.median, self.scale))

    def run(self, seed: int, fallback: bool = True) -> Outcome:
        """One run; the same seed gives the same uniform numbers, whatever else is set."""
        first, second = np.random.default_rng(nonnegative_integer("seed", seed)).random(2)
        noisy = self.distance
        if math.isfinite(noisy):
            noisy += float(dlaplace.ppf(first, self.epsilon))
        passed = noisy >= self.threshold
        if not passed and not fallback:
            return Outcome(noisy, False, None)
        scale = self.scale if passed else 1 / self.epsilon
        noise = math.copysign(math.log1p(-abs(2 * second - 1)), 0.5 - second)
        shown = min(max(self.median + scale * noise, 0.0), 1.0)
        return Outcome(noisy, passed, shown if self.published == "number" else float(shown > MIDDLE))


def log_above(median: float, scale: float) -> float:
    """log P[median + Laplace noise > ½]."""
    away = (MIDDLE - median) / positive("scale", scale)
    return -math.log(2) - away if away >= 0 else math.log1p(-math.exp(away) / 2)


def side_epsilon(low: float, high: float, scale: float, delta: float) -> float:
    """Exact ε at δ of whether a median plus Laplace noise is above ½, for data sets with medians `low` <= `high`."""
    in_open_unit("delta", delta)
    gaps: list[Any] = [0.0]
    for more, less in (
        (log_above(high, scale), log_above(low, scale)),
        (log_above(1 - low, scale), log_above(1 - high, scale)),
    ):
        if math.exp(more) > delta:
            gaps.append((more + math.log1p(-delta * math.exp(-more)) - less) * _UP)
    return float(max(gaps))
