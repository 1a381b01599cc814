"""The stored runs behind Figure 2 as the accuracy page reads them: one file of results, summarised and indexed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from objpert_core import datasets
from objpert_core.experiments import paper, results, tables
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.learners import (
    DISHONEST_LARGE,
    DISHONEST_PLD,
    DISHONEST_RDP,
    DPSGD_AGAIN,
    DPSGD_MARGIN,
    HONEST,
    NON_PRIVATE,
    PUBLISHED,
    TIGHT,
    TIGHT_DISHONEST,
    TIGHT_LOGISTIC,
)
from objpert_core.experiments.methods import EVERY, Parameters
from objpert_core.experiments.results import Results, Run
from objpert_core.experiments.summary import Interval, mean_interval

BARS = 3  # trials: with fewer, Student's t has bars that fill the plot
USUAL = (NON_PRIVATE, DISHONEST_RDP, DISHONEST_PLD, DISHONEST_LARGE, HONEST, PUBLISHED, TIGHT)
PAPERS = (NON_PRIVATE, DISHONEST_RDP, HONEST, PUBLISHED, TIGHT)  # what Tables 1 and 2 compare, and ours
LUCK = (NON_PRIVATE, DISHONEST_PLD, TIGHT, TIGHT_DISHONEST, DPSGD_AGAIN)
MARGINS = (NON_PRIVATE, DISHONEST_LARGE, TIGHT, TIGHT_LOGISTIC, DPSGD_MARGIN)
PAPER_CONSTANT = paper.INTERCEPT_SCALING
PAPER_TABLE = paper.TABLES
PAPER: Mapping[tuple[str, str], Mapping[float, float]] = {
    (dataset, method): paper.printed(dataset, method) for dataset in paper.TABLES for method in paper.COLUMNS
}
"""The paper's accuracies by ε, for each (data set, method) of its tables."""


@dataclass(frozen=True, eq=False)
class Stored:
    """One file of results.

    Attributes:
        key: the file's name without "figure2_" and ".csv": the data set's, unless the run was a variant.
        results: header and runs.
        points: mean accuracy and time of each method at each ε.
        claims: tight against the best DP-SGD whose tuning is not paid for, at every ε that has both.
        index: the runs of each method at each ε, by trial.
    """

    key: str
    results: Results
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
    def methods(self) -> tuple[str, ...]:
        """The methods that have runs, in the order of legends."""
        there = {method for method, _ in self.points}
        return tuple(method for method in EVERY if method in there)

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Every ε of a private run, increasing."""
        return tuple(sorted({epsilon for _, epsilon in self.points if math.isfinite(epsilon)}))

    @property
    def constant(self) -> float:
        """The constant feature that every private method of the file has; the paper's is `PAPER_CONSTANT`."""
        return float(self.results.configuration.get("intercept_scaling", Parameters().intercept_scaling))

    @property
    def delta(self) -> float | None:
        """δ of the private runs, the largest if they differ."""
        return max((run.delta for run in self.results.runs if run.delta is not None), default=None)

    @property
    def parameters(self) -> Parameters:
        """What all runs of the file share, as `objpert_core.experiments.methods.fit` takes it.

        Raises:
            ValueError: the file's configuration is not one that this version knows.
        """
        return Parameters.from_configuration(self.results.configuration)

    def point(self, method: str, epsilon: float) -> tables.Point | None:
        """Mean accuracy and time at one ε; the model without privacy is the same at each."""
        return self.points.get((method, _target(method, epsilon)))

    def runs(self, method: str, epsilon: float) -> tuple[Run, ...]:
        """The runs of one point, by trial."""
        return self.index.get((method, _target(method, epsilon)), ())

    def run(self, method: str, epsilon: float, trial: int) -> Run | None:
        """One trial of one point; None if it is not there."""
        return next((run for run in self.runs(method, epsilon) if run.trial == trial), None)

    def typical_seconds(self, method: str, epsilon: float) -> float | None:
        """Median time of the stored trials of one point, tuning included; None without one."""
        point = self.point(method, epsilon)
        return point.seconds.median if point else None

    def rival(self, epsilon: float) -> str | None:
        """The best unpaid DP-SGD at one ε, with which the answer compares tight; None without a claim there."""
        claim = self.claims.get(epsilon)
        return claim.rival if claim else None

    def with_rival(self, methods: Sequence[str], epsilon: float) -> tuple[str, ...]:
        """`methods` and the rival at one ε, in the order of legends; nothing where nothing is shown."""
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


def _target(method: str, epsilon: float) -> float:
    return math.inf if method == NON_PRIVATE else epsilon


def indexed(key: str, found: Results) -> Stored:
    """`found`, summarised."""
    points = {(point.method, point.epsilon): point for point in tables.summary(found)}
    claims = {claim.epsilon: claim for claim in tables.claims(found)}
    return Stored(key, found, points, claims, {point: found.of(*point) for point in points})


def files() -> tuple[str, ...]:
    """The files there are, in the order in which `datasets.names` lists their data sets."""
    order = datasets.names()
    return tuple(sorted(results.stored(), key=lambda key: (order.index(key) if key in order else len(order), key)))


def default_key(found: tuple[str, ...]) -> str:
    """Adult, the data set of Table 2, if it is among them; else the first."""
    return "adult" if "adult" in found else found[0]


def epsilons(found: tuple[str, ...]) -> tuple[float, ...]:
    """Figure 2's ε and every other one that a readable file of `found` has."""
    more: set[float] = set(EPSILONS)
    for key in found:
        if stored := load_or_none(key):  # what is wrong with a file is said where it is shown
            more |= set(stored.epsilons)
    return tuple(sorted(more))


def constants(found: tuple[str, ...]) -> tuple[float, ...]:
    """The constant features of the readable files of `found`; the default where there is none."""
    stored = {one.constant for key in found if (one := load_or_none(key))}
    return tuple(sorted(stored)) or (Parameters().intercept_scaling,)


def load(key: str) -> Stored:
    """One file of `files()`, read again when it has changed.

    Raises:
        ValueError: the file is damaged, or gone.
    """
    path = results.path_of(key)
    try:
        state = path.stat()
        return _load(key, path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        raise ValueError(f"the stored results of {key!r} cannot be read: {error.strerror}") from error


def load_or_none(key: str) -> Stored | None:
    """As `load`; None where the file is damaged or gone, for what may be left out."""
    try:
        return load(key)
    except ValueError:
        return None


@lru_cache(maxsize=32)
def _load(key: str, path: Path, changed: int, size: int) -> Stored:
    return indexed(key, results.read(path))
