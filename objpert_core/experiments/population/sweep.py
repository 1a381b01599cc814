"""Excess population risk over n × d × ε × method, trial by trial: one row each in a file that can be continued."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

import objpert_core
from objpert_core._validation import choice, positive, positive_integer
from objpert_core.experiments.population.methods import LABELS, POPULATIONS, Setting, method
from objpert_core.experiments.results import Row
from objpert_core.experiments.runner import Outcome, carry_out, refuse_another_version
from objpert_core.experiments.store import Store

ROWS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DIMENSIONS: Mapping[str, tuple[int, ...]] = {
    "logistic": (3, 10, 30, 100),
    "absolute": (10, 100),
    "hard": (10, 100, 500),
}
EPSILONS = (0.5, 2.0)
TRIALS = 20
_MODEL, _NOISE = 1, 2  # names of seeds


@dataclass(frozen=True)
class RiskRun(Row):
    """One fit and its excess population risk; δ = 1/n², one row is replaced, and all methods of a trial learn from the
    same rows.

    `excess` is L(θ) − L(θ*), by quadrature or in closed form. `gap` is the generalisation gap, L(θ) less the mean loss
    on the rows learnt from, less the same difference for θ*: the mean does not change, as θ* did not see the rows, and
    the spread is far less. `seconds` are processor time with one thread, without calibration. `sigma` is the noise on
    the objective's gradient, or on a batch's sum in units of L.
    """

    TITLE = "# Excess population risk: a row for each setting, method and trial."
    KEYS = ("n", "d", "epsilon", "method", "trial")
    VALUE = "excess"
    CONSTANT = ("sigma", "lam", "steps")

    population: str
    n: int
    d: int
    epsilon: float
    radius: float
    method: str
    trial: int
    excess: float
    gap: float
    seconds: float
    sigma: float | None = None
    lam: float | None = None
    steps: int | None = None


@dataclass(frozen=True)
class Piece:
    """One trial of some methods at one setting: a `runner.Work`, with the package's version that started the sweep."""

    setting: Setting
    methods: tuple[str, ...]
    trial: int
    version: str = objpert_core.__version__

    @property
    def kind(self) -> str:
        """Settings of one size take about the same time."""
        return f"n = {self.setting.n}, d = {self.setting.d}"

    def seed(self, name: int) -> int:
        """The seed of this trial's rows (`_MODEL`), or of all methods' noise; the noise differs among settings."""
        setting = self.setting
        # Rows are the same for every ε, but for the hard instance, whose law goes by ε.
        epsilon = round(1e6 * setting.epsilon) if name == _NOISE or setting.population == "hard" else 0
        entropy = [name, self.trial, setting.n, setting.d, epsilon, list(POPULATIONS).index(setting.population)]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])

    def __call__(self) -> list[RiskRun]:
        """Draw the rows and learn from them by every method."""
        refuse_another_version(self.version)
        setting = self.setting
        law = setting.law
        X, y = law.sample(setting.n, self.seed(_MODEL))
        by_chance = law.generalisation_gap(law.minimiser, X, y)
        found = []
        for name in self.methods:
            ready = method(name, setting)
            began = time.process_time()
            theta = ready.learn(X, y, self.seed(_NOISE))
            seconds = time.process_time() - began
            numbers = ready.numbers
            found.append(
                RiskRun(
                    **vars(setting),
                    method=name,
                    trial=self.trial,
                    excess=float(law.excess(theta)),
                    gap=float(law.generalisation_gap(theta, X, y) - by_chance),
                    seconds=seconds,
                    sigma=numbers.get("sigma", numbers.get("noise")),
                    lam=numbers.get("lam"),
                    steps=int(numbers["steps"]) if "steps" in numbers else None,
                )
            )
        return found


@dataclass(frozen=True)
class Sweep:
    """What to run; without `methods` all that differ on this population."""

    population: str = "logistic"
    rows: tuple[int, ...] = ROWS
    dimensions: tuple[int, ...] = ()
    epsilons: tuple[float, ...] = EPSILONS
    trials: int = TRIALS
    methods: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choice("population", self.population, tuple(POPULATIONS))
        if not self.dimensions:
            object.__setattr__(self, "dimensions", DIMENSIONS[self.population])
        for name, values in (("rows", self.rows), ("dimensions", self.dimensions)):
            for value in values:
                positive_integer(name, value)
        for epsilon in self.epsilons:
            positive("epsilons", epsilon)
        positive_integer("trials", self.trials)
        for name in self.methods:
            choice("methods", name, tuple(name for name in LABELS if name != "zero"))

    def pieces(self, done: frozenset[tuple[Any, ...]] = frozenset()) -> list[Piece]:
        """The work that is not done yet, trial by trial, small settings first."""
        found = []
        for trial in range(self.trials):
            for n in self.rows:
                for d in self.dimensions:
                    for epsilon in self.epsilons:
                        setting = Setting(self.population, n, d, epsilon)
                        wanted = [name for name in setting.methods if not self.methods or name in self.methods]
                        left = tuple(name for name in wanted if (n, d, epsilon, name, trial) not in done)
                        if left:
                            found.append(Piece(setting, left, trial))
        return found


def run(
    sweep: Sweep,
    store: Store[RiskRun],
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    stream: TextIO | None = None,
) -> tuple[Outcome, ...]:
    """Do what is not in the store yet, and store each trial as it is done; as `figure2.run`."""
    stream = sys.stderr if stream is None else stream
    todo = sweep.pieces(frozenset(store.done))
    print(f"{sweep.population}: {len(todo)} trials to do", file=stream, flush=True)

    def keep(rows: list[RiskRun]) -> None:
        for row in rows:
            store.append(row)

    return carry_out(todo, keep, _describe, stream, jobs=jobs, backend=backend, scheduler=scheduler)


def _describe(outcome: Outcome) -> str:
    piece: Piece = outcome.work
    where = f"trial {piece.trial} {piece.kind}, ε = {piece.setting.epsilon:g}"
    if outcome.error is not None:
        return f"{where} FAILED: {outcome.error}"
    return f"{where}: {len(outcome.result)} methods in {outcome.seconds:.3g} s"
