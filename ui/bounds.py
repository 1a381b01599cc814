"""The curves of the Bounds page: which bounds there are, what they are called, and their numbers from the core.

Everything is computed by `objpert_core.accounting`; this file asks, remembers and puts the answers side by side. It
remembers with `lru_cache` on frozen settings: `st.cache_data` spends 0.3 ms a look-up on hashing and unpickling, and a
rerun needs twenty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from ui import sentences

NAMES: Mapping[str, str] = {
    "kifer2012": "Kifer et al. 2012",
    "rdp": "Rényi",
    "glm": "Hockey-stick",
    "monotone": "Monotone losses",
    "logistic": "Logistic (tight)",
    "lower": "Gaussian lower bound",
}
SOURCES: Mapping[str, str] = {
    "kifer2012": "Theorem 2.8",
    "rdp": "Theorem 3.2",
    "glm": "Theorem 3.1, corrected",
    "monotone": "README",
    "logistic": "README",
    "lower": "Corollary 3.5",
}
PUBLISHED = ("kifer2012", "rdp", "glm")
POINTS = 241  # on the ε axis, ends included
_REMEMBERED = 2000  # curves of 2 kB, shared by everybody


def _orders() -> NDArray[np.float64]:
    """α − 1 evenly spaced on a log scale from 0.01 to 10⁵; whole numbers from 10 on, where the core is fastest."""
    alpha = 1 + np.logspace(-2, 5, 281)
    orders = np.unique(np.where(alpha < 10, np.round(alpha, 6), np.round(alpha)))
    orders.setflags(write=False)
    return orders


ORDERS = _orders()
"""The Rényi orders of every chart and total, so that one call answers for all of them."""


@dataclass(frozen=True)
class Setting:
    """One mechanism: noise σ, regularisation λ, and the loss's smoothness β and Lipschitz constant L."""

    sigma: float
    lam: float
    smoothness: float
    lipschitz: float

    def __str__(self) -> str:
        return f"σ = {self.sigma:g}, λ = {self.lam:g}, β = {self.smoothness:g}, L = {self.lipschitz:g}"

    def mechanism(self, bound: str) -> acc.Mechanism:
        """The mechanism under one bound of `NAMES`; raises `ValueError` for values out of range."""
        if bound == "lower":
            return acc.Gaussian(self.sigma, self.lipschitz)
        base = "glm" if bound == "rdp" else bound
        objective = acc.ObjectivePerturbation(self.sigma, self.lam, self.lipschitz, self.smoothness, base)
        return acc.via_rdp(objective) if bound == "rdp" else objective

    def relevant_to(self, bound: str) -> Setting:
        """This setting with what the bound does not depend on set to 1, so that caches hit."""
        if bound == "lower":
            return replace(self, lam=1.0, smoothness=1.0)
        return replace(self, smoothness=1.0) if bound == "logistic" else self

    @property
    def logistic_smoothness(self) -> float:
        """β of the logistic loss on rows of norm at most L, as the core derives it."""
        return acc.ObjectivePerturbation(self.sigma, self.lam, self.lipschitz).smoothness


def rounded_up(mechanism: acc.ObjectivePerturbation | acc.ApproximateMinima) -> Setting:
    """A calibrated mechanism as a setting, σ and λ rounded up to four digits: its ε can only get smaller."""
    objective = mechanism.objective if isinstance(mechanism, acc.ApproximateMinima) else mechanism
    sigma, lam = (sentences.rounded_up(value, 4) for value in (objective.sigma, objective.lam))
    return Setting(sigma, lam, objective.smoothness, objective.lipschitz)


@dataclass(frozen=True)
class Reading:
    """What one bound says at one setting."""

    bound: str
    epsilon: float
    delta: float
    epsilon_ratio: float
    delta_ratio: float
    reason: str | None


def grid(eps_max: float) -> NDArray[np.float64]:
    """The ε at which curves are drawn."""
    return np.linspace(0.0, eps_max, POINTS)


def curve(bound: str, setting: Setting, eps_max: float) -> NDArray[np.float64]:
    """δ on `grid(eps_max)`; 1 where the bound proves nothing."""
    return _curve(bound, setting.relevant_to(bound), eps_max)


def epsilon_at(bound: str, setting: Setting, delta: float) -> float:
    """Smallest ε that the bound proves at δ."""
    return _epsilon(bound, setting.relevant_to(bound), delta)


def delta_at(bound: str, setting: Setting, epsilon: float) -> float:
    """Smallest δ that the bound proves at ε."""
    return _delta(bound, setting.relevant_to(bound), epsilon)


@lru_cache(maxsize=_REMEMBERED)
def _mechanism(bound: str, setting: Setting) -> acc.Mechanism:
    return setting.mechanism(bound)


@lru_cache(maxsize=_REMEMBERED)
def _curve(bound: str, setting: Setting, eps_max: float) -> NDArray[np.float64]:
    values = np.asarray(_mechanism(bound, setting).delta(grid(eps_max)))
    values.setflags(write=False)
    return values


@lru_cache(maxsize=_REMEMBERED)
def _epsilon(bound: str, setting: Setting, delta: float) -> float:
    return float(_mechanism(bound, setting).epsilon(delta))


@lru_cache(maxsize=_REMEMBERED)
def _delta(bound: str, setting: Setting, epsilon: float) -> float:
    return float(_mechanism(bound, setting).delta(epsilon))


def readings(setting: Setting, bounds: Sequence[str], delta: float, epsilon: float) -> list[Reading]:
    """ε at δ and δ at ε of every bound, and how many times the lower bound each is."""
    low_epsilon, low_delta = epsilon_at("lower", setting, delta), delta_at("lower", setting, epsilon)
    result = []
    for bound in bounds:
        eps, dlt = epsilon_at(bound, setting, delta), delta_at(bound, setting, epsilon)
        mechanism = setting.mechanism("glm" if bound == "rdp" else bound)
        reason = mechanism.explain() or (mechanism.explain(epsilon) if dlt >= 1.0 else None)
        result.append(Reading(bound, eps, dlt, _over(eps, low_epsilon), _over(dlt, low_delta), reason))
    return result


def _over(value: float, low: float) -> float:
    return value / low if low > 0 else math.nan


def table_rows(found: Sequence[Reading], delta: float, epsilon: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a bound."""
    at_delta, at_epsilon = sentences.delta(delta), sentences.epsilon(epsilon)
    return [
        {
            "Bound": f"{NAMES[r.bound]}, {SOURCES[r.bound]}",
            f"ε at δ = {at_delta}": sentences.epsilon(r.epsilon) if math.isfinite(r.epsilon) else "nothing proved",
            "ε / lower bound": sentences.ratio(r.epsilon_ratio),
            f"δ at ε = {at_epsilon}": sentences.delta(r.delta) if r.delta < 1 else "nothing proved",
            "δ / lower bound": sentences.ratio(r.delta_ratio if r.delta < 1 else math.inf),
        }
        for r in found
    ]


def reasons(found: Sequence[Reading]) -> list[tuple[str, str]]:
    """Which bounds prove nothing and why: (names, sentence), bounds with the same reason together."""
    return grouped((reading.bound, reading.reason) for reading in found)


def grouped(reasons: Iterable[tuple[str, str | None]]) -> list[tuple[str, str]]:
    """(names, reason) of the bounds that have one, bounds with the same reason together."""
    names: dict[str, list[str]] = {}
    for bound, reason in reasons:
        if reason:
            names.setdefault(reason, []).append(NAMES[bound])
    return [(" and ".join(who), reason) for reason, who in names.items()]


def frame(setting: Setting, bounds: Sequence[str], eps_max: float) -> pd.DataFrame:
    """Every plotted number: one column for ε and one for the δ of each bound."""
    columns = {"epsilon": grid(eps_max)} | {f"delta_{b}": curve(b, setting, eps_max) for b in bounds}
    return pd.DataFrame(columns)
