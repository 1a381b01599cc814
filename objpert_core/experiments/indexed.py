"""A file of results, summarised and indexed by method and ε, and remembered until the file changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from objpert_core import datasets
from objpert_core.experiments import results, tables
from objpert_core.experiments.learners import NON_PRIVATE
from objpert_core.experiments.methods import EVERY, Parameters
from objpert_core.experiments.results import Results, Run
from objpert_core.experiments.summary import Interval, mean_interval


@dataclass(frozen=True, eq=False)
class Stored:
    """One file of results, with its header and runs in `results`. `key` is the file's name without "figure2_" and
    ".csv"; `points` and `index` have mean accuracy and time, and the runs by trial, by (method, ε); `claims` compare
    "tight" with the best DP-SGD whose tuning is not paid for, by ε.
    """

    key: str
    results: Results[Run]
    points: Mapping[tuple[str, float], tables.Point]
    claims: Mapping[float, tables.Claim]
    index: Mapping[tuple[str, float], tuple[Run, ...]]

    @property
    def dataset(self) -> str:
        """The data set's name in `objpert_core.datasets`."""
        return self.results.dataset

    @property
    def label(self) -> str:
        """The data set's name; a stand-in says so, and a variant names its file."""
        name = self.dataset
        if self.stand_in:
            first = datasets.describe(name).partition(",")[0]  # "Stand-in for adult"
            name += f" ({first[0].lower()}{first[1:]})"
        return name if self.key == self.dataset else f"{name}, variant {self.key}"

    @property
    def known(self) -> bool:
        """Whether the package has this data set, so that a point can be run again."""
        return self.dataset in datasets.names()

    @property
    def stand_in(self) -> bool:
        """Whether the rows stand in for another data set."""
        return self.known and datasets.describe(self.dataset).startswith("Stand-in")

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Every ε of a private run, rising."""
        return tuple(sorted({epsilon for _, epsilon in self.points if math.isfinite(epsilon)}))

    @property
    def constant(self) -> float:
        """The constant feature that every private method of the file has."""
        return float(self.results.configuration.get("intercept_scaling", Parameters().intercept_scaling))

    @property
    def delta(self) -> float | None:
        """δ of the private runs, the largest if they differ."""
        return max((run.delta for run in self.results.runs if run.delta is not None), default=None)

    @property
    def parameters(self) -> Parameters:
        """What all runs of the file share; `ValueError` where this version does not know the file's configuration."""
        return Parameters.from_configuration(self.results.configuration)

    def point(self, method: str, epsilon: float) -> tables.Point | None:
        """Mean accuracy and time at one ε; the model without privacy is the same at each ε."""
        return self.points.get((method, target(method, epsilon)))

    def runs(self, method: str, epsilon: float) -> tuple[Run, ...]:
        """The runs of one point, by trial."""
        return self.index.get((method, target(method, epsilon)), ())

    def run(self, method: str, epsilon: float, trial: int) -> Run | None:
        """One trial of one point; None if it is not there."""
        return next((run for run in self.runs(method, epsilon) if run.trial == trial), None)

    def typical_seconds(self, method: str, epsilon: float) -> float | None:
        """Median time of the stored trials of one point, tuning included; None without one."""
        point = self.point(method, epsilon)
        return point.seconds.median if point else None

    def rival(self, epsilon: float) -> str | None:
        """The best unpaid DP-SGD at one ε, with which tight is compared; None without a claim there."""
        claim = self.claims.get(epsilon)
        return claim.rival if claim else None

    def with_rival(self, methods: Sequence[str], epsilon: float) -> tuple[str, ...]:
        """`methods` and the rival at one ε, in the order of `methods.EVERY`; nothing without a method."""
        shown = {*methods, self.rival(epsilon)} if methods else set()
        return tuple(method for method in EVERY if method in shown)

    def counts(self, methods: Sequence[str]) -> tuple[int, int]:
        """The least and the greatest number of trials of any point of `methods`; zeros where there is none."""
        found = [point.accuracy.count for (method, _), point in self.points.items() if method in methods]
        return min(found, default=0), max(found, default=0)

    def difference(self, method: str, rival: str, epsilon: float) -> Interval | None:
        """Accuracy of `method` minus that of `rival` over the trials that both have; None without a common one."""
        others = {run.trial: run.accuracy for run in self.runs(rival, epsilon)}
        pairs = [(run.accuracy, others[run.trial]) for run in self.runs(method, epsilon) if run.trial in others]
        return mean_interval([own - other for own, other in pairs]) if pairs else None


def target(method: str, epsilon: float) -> float:
    """The ε that a method's runs have at the target `epsilon`: infinite without privacy."""
    return math.inf if method == NON_PRIVATE else epsilon


def indexed(key: str, found: Results[Run]) -> Stored:
    """`found`, summarised."""
    points = {(point.method, point.epsilon): point for point in tables.summary(found)}
    claims = {claim.epsilon: claim for claim in tables.claims(found)}
    return Stored(key, found, points, claims, {point: found.of(*point) for point in points})


_indexed = lru_cache(maxsize=32)(indexed)


def load(key: str) -> Stored:
    """One file of `results.stored`, read again when it has changed; `ValueError` where the file is damaged or gone."""
    try:
        return _indexed(key, results.read_again(results.to_read(results.path_of(key))))
    except OSError as error:
        raise ValueError(f"the stored results of {key!r} cannot be read: {error.strerror}") from error


def load_or_none(key: str) -> Stored | None:
    """As `load`; None where the file is damaged or gone, for what may be left out."""
    try:
        return load(key)
    except ValueError:
        return None
