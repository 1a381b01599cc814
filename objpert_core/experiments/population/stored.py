"""Stored excess risks, summarised: means with intervals, slopes in n, and who wins where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from objpert_core.experiments.family import Family
from objpert_core.experiments.population.methods import CONTENDERS, LABELS, POPULATIONS, Setting
from objpert_core.experiments.population.sweep import RiskRun
from objpert_core.experiments.results import Results, Row, to_read
from objpert_core.experiments.summary import Interval, mean_interval

TIE = 0.01
"""By which share less than θ = 0 a method must have to win against it: θ = 0 needs no data."""
FROM = 1000
"""The least n that a slope is fitted to."""


@dataclass(frozen=True)
class Promise(Row):
    """A published algorithm's promise: its noise is published for the ε `target`, the accountant finds `epsilon`."""

    VALUE = "epsilon"

    method: str
    n: int
    d: int
    target: float
    epsilon: float


FAMILY = Family("population", {**dict.fromkeys(POPULATIONS, RiskRun), "promises": Promise})


def names() -> tuple[str, ...]:
    """The populations that have stored results."""
    return tuple(name for name in POPULATIONS if to_read(FAMILY.path(name)).is_file())


@dataclass(frozen=True)
class Point:
    """Mean excess risk and gap of one method over the trials, the former's standard error, and a fit's median time."""

    excess: Interval
    gap: Interval
    error: float
    seconds: float


@dataclass(frozen=True, eq=False)
class ExcessRisks:
    """One file of results, summarised; `points` by (n, d, ε, method)."""

    population: str
    results: Results[RiskRun]
    points: Mapping[tuple[Any, ...], Point]

    def _every(self, place: int) -> tuple:
        return tuple(sorted({key[place] for key in self.points}))

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Every n."""
        return self._every(0)

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        """Every d."""
        return self._every(1)

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """Every ε."""
        return self._every(2)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Every method, in the order of `LABELS`."""
        there = {key[3] for key in self.points}
        return tuple(name for name in LABELS if name in there)

    def point(self, n: int, d: int, epsilon: float, method: str) -> Point | None:
        """One point; None where there is none."""
        return self.points.get((n, d, epsilon, method))

    def zero(self, n: int, d: int, epsilon: float) -> float:
        """The excess risk of θ = 0."""
        return Setting(self.population, n, d, epsilon).zero

    def curve(self, d: int, epsilon: float, method: str) -> tuple[list[int], list[Point]]:
        """n and the points of one method, n rising."""
        found = [(n, point) for n in self.rows if (point := self.point(n, d, epsilon, method)) is not None]
        return [n for n, _ in found], [point for _, point in found]

    def slope(self, d: int, epsilon: float, method: str) -> float:
        """The exponent p of a least-squares fit excess ∝ n^p for n >= 1,000; NaN for fewer than two points."""
        found = [(n, point.excess.mean) for n, point in zip(*self.curve(d, epsilon, method), strict=True) if n >= FROM]
        found = [(n, mean) for n, mean in found if mean > 0]
        if len(found) < 2:
            return math.nan
        n, means = np.log([n for n, _ in found]), np.log([mean for _, mean in found])
        return float(np.polyfit(n, means, 1)[0])

    def winner(self, n: int, d: int, epsilon: float) -> tuple[str, bool] | None:
        """Which of `CONTENDERS` or "zero" has the least mean excess risk, and whether by more than the error bars."""
        means = {
            name: (point.excess.mean, point.error)
            for name in CONTENDERS
            if (point := self.point(n, d, epsilon, name)) is not None
        }
        if not means:
            return None
        means["zero"] = self.zero(n, d, epsilon) * (1 - TIE), 0.0
        (first, (least, error)), (_, (next_best, other)) = sorted(means.items(), key=lambda item: item[1][0])[:2]
        return first, next_best - least > 2 * math.hypot(error, other)


def _error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.inf


def load(population: str, where: Path | None = None) -> ExcessRisks:
    """The stored results of one population, summarised; what is raised is as for `Family.load`."""
    return _summarised(FAMILY.load(population, where))


@lru_cache(maxsize=8)
def _summarised(found: Results[RiskRun]) -> ExcessRisks:
    groups: dict[tuple[Any, ...], list[RiskRun]] = {}
    for run in found.runs:
        groups.setdefault(run.group, []).append(run)
    points = {
        group: Point(
            mean_interval([run.excess for run in runs]),
            mean_interval([run.gap for run in runs]),
            _error([run.excess for run in runs]),
            float(np.median([run.seconds for run in runs])),
        )
        for group, runs in groups.items()
    }
    return ExcessRisks(found.dataset, found, points)
