"""The numbers of the tuning page: one run, the law of K for a grid, ε under every way of accounting.

Everything is computed by `objpert_core.accounting`; this file asks, remembers and puts the answers side by side. It
remembers with `lru_cache` on frozen settings, as `ui.bounds` does: a curve is the same wherever the slider of the
grid size stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from pages.tuning.words import WAYS, Change, Need
from ui import sentences

GRID = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)  # grid sizes on offer, and the points of the curves
ETAS: Mapping[str, float | None] = {"Poisson": None, "geometric": 1.0, "logarithmic": 0.0}
GENERAL = "negative binomial"
FAMILIES = (*ETAS, GENERAL)
MOST_BARS = 400
_REMEMBERED = 2000
_RUN = {
    "epsilon": "ε of one run",
    "noise_multiplier": "noise multiplier",
    "sample_rate": "q",
    "steps": "steps",
    "sigma": "σ",
    "lam": "λ",
}


@dataclass(frozen=True)
class Base:
    """One run: DP-SGD or objective perturbation, by its ε at the page's δ or, with ``epsilon=None``, by parameters.

    The defaults are Redberg et al. (2023), section 5, on Adult: batches of 256 rows, 60 epochs, ε = 1.
    """

    kind: str = "dpsgd"
    epsilon: float | None = 1.0
    noise_multiplier: float = 3.0
    sample_rate: float = 0.0071
    steps: int = 8520
    sigma: float = 4.0
    lam: float = 1.0

    def __str__(self) -> str:
        if self.kind != "dpsgd":
            known = f"σ = {self.sigma:g}, λ = {self.lam:g}" if self.epsilon is None else f"ε = {self.epsilon:g}"
            return f"{self.name} with {known}"
        known = f"noise {self.noise_multiplier:g}" if self.epsilon is None else f"ε = {self.epsilon:g}"
        return f"{self.name} with {known}, q = {self.sample_rate:g}, {self.steps:,} steps"

    @property
    def name(self) -> str:
        """What one run is."""
        return "DP-SGD" if self.kind == "dpsgd" else "objective perturbation"

    @property
    def noun(self) -> str:
        """What is chosen among, plural."""
        return "learning rates" if self.kind == "dpsgd" else "settings"


@dataclass(frozen=True)
class Law:
    """How K is drawn for a grid of s settings: its family and Pr[K > s]."""

    family: str = "Poisson"
    more: float = 0.9
    shape: float = 0.5  # η of the general negative binomial

    @property
    def eta(self) -> float | None:
        """η as `PrivateSelection` takes it."""
        return ETAS.get(self.family, self.shape)

    def mean(self, settings: int) -> float:
        """E[K]."""
        return acc.mean_runs(settings, self.more, self.eta)

    def relevant(self) -> Law:
        """This law with what it does not depend on set to a constant, so that caches hit."""
        return self if self.family == GENERAL else Law(self.family, self.more)


@dataclass(frozen=True)
class Setting:
    """Everything ε depends on but the grid size. `renyi`: every curve is accounted through Rényi curves."""

    base: Base
    delta: float
    law: Law
    renyi: bool

    @property
    def one_run(self) -> acc.Mechanism:
        """One run; raises `ValueError` for values out of range."""
        return _one_run(self.base, self.delta, self.renyi)


def epsilon(way: str, setting: Setting, settings: int) -> float:
    """ε at δ of choosing among `settings` settings, under one way of `WAYS`."""
    law = setting.law.relevant()
    if way == "liu_talwar":
        law = Law("geometric", law.more)
    elif way != "selection":
        law = Law()
    return _epsilon(way, setting.one_run, setting.delta, law, 1 if way == "free" else settings)


def ways(setting: Setting, settings: int) -> dict[str, float]:
    """ε at δ under every way."""
    return {way: epsilon(way, setting, settings) for way in WAYS}


def curve(way: str, setting: Setting) -> NDArray[np.float64]:
    """ε at δ on `GRID`."""
    return np.array([epsilon(way, setting, settings) for settings in GRID])


def changes(before: Setting, few: int, now: Setting, many: int) -> list[Change]:
    """What was changed between two settings with their numbers of settings tried, without what else that undid."""
    found: list[Change] = [("s", few, many)] if few != many else []
    found += sentences.changed(before, now, {"delta": "δ", "renyi": "Rényi everywhere"})
    found += sentences.changed(before.law, now.law, {"family": "K", "more": "Pr[K > s]", "shape": "η"})
    if before.base.kind != now.base.kind:
        return [*found, ("each run", before.base.name, now.base.name)]
    run = sentences.changed(before.base, now.base, _RUN)
    return found + [change for change in run if None not in change]


@lru_cache(maxsize=_REMEMBERED)
def _one_run(base: Base, delta: float, renyi: bool) -> acc.Mechanism:
    found: acc.Mechanism
    if base.kind == "dpsgd":
        noise = base.noise_multiplier
        if base.epsilon is not None:
            accountant = "rdp" if renyi else "pld"
            found = acc.calibrate_dpsgd(base.epsilon, delta, base.sample_rate, base.steps, accountant=accountant)
            assert isinstance(found, acc.DPSGD)
            noise = found.noise_multiplier
        found = acc.DPSGD(noise, base.sample_rate, base.steps)
    elif base.epsilon is None:
        found = acc.ObjectivePerturbation(base.sigma, base.lam)
    else:
        found = acc.calibrate_objective_perturbation(base.epsilon, delta, accountant="rdp" if renyi else "profile")
    return acc.via_rdp(found) if renyi else found


@lru_cache(maxsize=_REMEMBERED)
def _tabulated(one_run: acc.Mechanism) -> acc.Tabulated:
    return acc.tabulated(one_run)


@lru_cache(maxsize=100 * _REMEMBERED)
def _epsilon(way: str, one_run: acc.Mechanism, delta: float, law: Law, settings: int) -> float:
    if way == "free" or (way == "composed" and settings == 1):
        return float(one_run.epsilon(delta))
    if way == "composed":
        return float(_composed(one_run, settings).epsilon(delta))
    if way == "liu_talwar":
        return float(acc.liu_talwar_epsilon(_tabulated(one_run), delta, law.mean(settings)))
    return float(selection(one_run, law, settings).epsilon(delta))


def _composed(one_run: acc.Mechanism, settings: int) -> acc.Mechanism:
    if isinstance(one_run, acc.ViaRDP):
        return acc.via_rdp(acc.repeat(_tabulated(one_run), settings))
    return acc.repeat(acc.symmetrised(one_run), settings)


def selection(one_run: acc.Mechanism, law: Law, settings: int) -> acc.PrivateSelection:
    """Papernot and Steinke's tuner over a grid of `settings` settings."""
    return acc.PrivateSelection(_tabulated(one_run), law.mean(settings), law.eta)


def geometric_mean(setting: Setting, settings: int) -> float:
    """E[K] of Liu and Talwar's tuner, whose K is geometric, for the same Pr[K > s]."""
    return acc.mean_runs(settings, setting.law.more, eta=1)


@dataclass(frozen=True)
class Runs:
    """The law of K for one grid: probabilities of k = 0, 1, …, its mean, Pr[K > s] and Pr[K = 0]."""

    probability: NDArray[np.float64]
    mean: float
    more: float
    none: float

    @property
    def k(self) -> NDArray[np.int_]:
        """The numbers of runs."""
        return np.arange(self.probability.size)


def runs(setting: Setting, settings: int) -> Runs:
    """K for a grid of `settings` settings; the probabilities reach as far as they matter, or as a chart can show."""
    return _runs(setting.one_run, setting.law.relevant(), settings)


@lru_cache(maxsize=_REMEMBERED)
def _runs(one_run: acc.Mechanism, law: Law, settings: int) -> Runs:
    chosen = selection(one_run, law, settings)
    spread = 4 * math.sqrt(chosen.mean_runs) if law.eta is None else 2.5 * chosen.mean_runs
    last = int(min(max(2 * settings, chosen.mean_runs + spread, 12), MOST_BARS))
    probability = chosen.pmf(np.arange(last + 1))
    probability.setflags(write=False)
    return Runs(probability, chosen.mean_runs, law.more, float(probability[0]))


def afford(setting: Setting, settings: int) -> dict[str, Need | None]:
    """The DP-SGD run that every way allows, so that the total costs what one run costs now; None where none does."""
    target = epsilon("free", setting, settings)
    needs: dict[str, Need | None] = dict.fromkeys(WAYS)
    for way in WAYS:
        with suppress(ValueError):
            noise = _noise(way, setting, settings, target)
            own = acc.DPSGD(noise, setting.base.sample_rate, setting.base.steps)
            needs[way] = Need(noise, float((acc.via_rdp(own) if setting.renyi else own).epsilon(setting.delta)))
    return needs


@lru_cache(maxsize=_REMEMBERED)
def _noise(way: str, setting: Setting, settings: int, target: float) -> float:
    base, delta, accountant = setting.base, setting.delta, "rdp" if setting.renyi else "pld"
    if way == "free" or (way == "composed" and settings == 1):
        own = setting.one_run
        run = own.base if isinstance(own, acc.ViaRDP) else own
    elif way == "composed":
        run = acc.calibrate_dpsgd(target, delta, base.sample_rate, base.steps * settings, accountant)
    elif way == "selection" and setting.law.eta is None:
        mean = setting.law.mean(settings)
        tuned = acc.calibrate_dpsgd(target, delta, base.sample_rate, base.steps, accountant, mean)
        assert isinstance(tuned, acc.PrivateSelection)
        run = tuned.base
    else:
        eta = 1.0 if way == "liu_talwar" else setting.law.eta
        mean = acc.mean_runs(settings, setting.law.more, eta)
        run = acc.calibrate_tuning(target, delta, base.sample_rate, base.steps, mean, eta, accountant, proof=way)
    assert isinstance(run, acc.DPSGD)
    return run.noise_multiplier


def frame(setting: Setting) -> pd.DataFrame:
    """Every plotted ε: one row a grid size."""
    columns = {"settings": np.array(GRID), "mean_runs": np.array([setting.law.mean(s) for s in GRID])}
    return pd.DataFrame(columns | {f"epsilon_{way}": curve(way, setting) for way in WAYS})
