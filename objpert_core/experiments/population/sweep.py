"""Excess population risk at one setting, trial by trial: one row for each method."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from objpert_core.experiments.population.methods import POPULATIONS, Setting, method
from objpert_core.experiments.results import Row

_MODEL, _NOISE = 1, 2  # names of seeds


@dataclass(frozen=True)
class RiskRun(Row):
    """One fit and its excess population risk; δ = 1/n², one row is replaced, and methods of a trial share their rows.

    `gap` is the generalisation gap less that of θ*, whose mean is 0 and which varies alike. `seconds` are processor
    time with one thread, without calibration. `sigma` is the noise on the objective's gradient, or on a batch's sum in
    units of L."""

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
    """One trial of some methods at one setting."""

    setting: Setting
    methods: tuple[str, ...]
    trial: int

    def seed(self, name: int) -> int:
        """The seed of this trial's rows (`_MODEL`), or of all methods' noise; the noise differs among settings."""
        setting = self.setting
        # Rows are the same for every ε, but for the hard instance, whose law goes by ε.
        epsilon = round(1e6 * setting.epsilon) if name == _NOISE or setting.population == "hard" else 0
        entropy = [name, self.trial, setting.n, setting.d, epsilon, list(POPULATIONS).index(setting.population)]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])

    def __call__(self) -> list[RiskRun]:
        """Draw the rows and learn from them by every method."""
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
