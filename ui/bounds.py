"""The proofs about one fit that pages put side by side: their names, their order, and their numbers from the core.

Names, theorems and reasons come from the core's registry of bounds; a new entry there appears here by itself. Pages
remember answers with `at` and `along`: `st.cache_data` spends 0.3 ms a look-up on hashing and unpickling, and a rerun
needs twenty. Mechanisms are equal where a bound cannot tell them apart, so the memory hits where a control has no
effect.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
import pandas as pd

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from ui import sentences

POINTS = 241  # on the ε axis, ends included
_REMEMBERED = 6000  # curves of 2 kB at most, shared by everybody


@dataclass(frozen=True)
class Proof:
    """A bound of the core's registry, or None for what no bound can be below, read through one accountant."""

    name: str
    source: str
    bound: str | None = None
    accountant: str = "profile"


def _proofs() -> dict[str, Proof]:
    """Every bound that needs no number of parameters, from the most general to the smallest; the lower bound last."""
    proofs = {}
    for key in reversed(acc.BOUNDS):
        entry = acc.BOUND_REGISTRY[key]
        if entry.needs_dimension:
            continue
        if entry.rdp_label:  # published by its Rényi curve; "rdp" is how links and files have always named the first
            proofs["rdp" if key == "glm" else f"{key}-rdp"] = Proof(entry.named("rdp"), entry.cited("rdp"), key, "rdp")
        proofs[key] = Proof(entry.named(), entry.cited(), key)
    return proofs | {"lower": Proof("Gaussian lower bound", "Corollary 3.5")}


PROOFS: Mapping[str, Proof] = _proofs()
NAMES: Mapping[str, str] = {key: proof.name for key, proof in PROOFS.items()}
FORMER: Mapping[str, str] = {
    "Logistic (tight)": "logistic",
    "Hockey-stick": "glm",
    "Rényi": "rdp",
    "Kifer et al. 2012": "kifer2012",
    "Monotone losses": "monotone",
    "Two-signed losses": "two-signed",
}
"""Names that older links have for a proof."""
SOURCES: Mapping[str, str] = {key: proof.source for key, proof in PROOFS.items()}
PUBLISHED = ("kifer2012", "rdp", "glm")
SPECIAL = tuple(key for key in PROOFS if key not in (*PUBLISHED, "logistic", "lower"))
"""Bounds for other classes of losses: shown on request."""


def called(proof: str) -> str:
    """One of `NAMES` inside a sentence.

    >>> called("glm"), called("logistic")
    ('the 2023 theorem', 'our theorem')
    """
    name = NAMES[proof]
    return name[0].lower() + name[1:] if name.startswith("Our") else f"the {name}"


def grid(eps_max: float) -> FloatArray:
    """The ε at which curves are drawn."""
    return np.linspace(0.0, eps_max, POINTS)


def _orders() -> FloatArray:
    """α − 1 evenly spaced on a log scale from 0.01 to 10⁵; whole numbers from 10 on, where the core is fastest."""
    alpha = 1 + np.logspace(-2, 5, 281)
    return np.unique(np.where(alpha < 10, np.round(alpha, 6), np.round(alpha)))


ORDERS = _orders()
"""The Rényi orders of every chart and total, so that one call answers for all of them."""
ORDERS.setflags(write=False)


# --- memory -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_REMEMBERED)
def at(mechanism: acc.Mechanism, question: str, value: float) -> float:
    """What `mechanism` answers at one value; `question` is "epsilon", "delta", "tail", "rdp" or "tradeoff"."""
    return float(getattr(mechanism, question)(value))


@lru_cache(maxsize=_REMEMBERED)
def along(mechanism: acc.Mechanism, question: str, axis: Callable[..., FloatArray], *ends: float) -> FloatArray:
    """What `mechanism` answers at each value of ``axis(*ends)``; cannot be written to."""
    values = np.asarray(getattr(mechanism, question)(axis(*ends)))
    values.setflags(write=False)
    return values


def renyi_curve(mechanism: acc.Mechanism) -> FloatArray:
    """Rényi curve at `ORDERS`, inf where nothing is proved; cannot be written to."""
    return along(mechanism, "rdp", _orders)


# --- one setting ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One mechanism: noise σ, regularisation λ, and the loss's smoothness β and Lipschitz constant L."""

    sigma: float
    lam: float
    smoothness: float
    lipschitz: float

    def __str__(self) -> str:
        return f"σ = {self.sigma:g}, λ = {self.lam:g}, β = {self.smoothness:g}, L = {self.lipschitz:g}"

    def mechanism(self, name: str) -> acc.Mechanism:
        """The mechanism under one of `PROOFS`; raises `ValueError` for values out of range."""
        return _mechanism(name, self)

    def silent(self, name: str, epsilon: float | None = None) -> str | None:
        """Why that proof says nothing (at `epsilon`, if given), as one sentence; None where it does."""
        mechanism = self.mechanism(name)
        return (mechanism.base if isinstance(mechanism, acc.ViaRDP) else mechanism).explain(epsilon)

    @property
    def logistic_smoothness(self) -> float:
        """β of the logistic loss on rows of norm at most L, as the core derives it."""
        return acc.ObjectivePerturbation(self.sigma, self.lam, self.lipschitz).smoothness

    @property
    def logistic(self) -> Self:
        """The same at the logistic loss's own β: what other bounds prove there may be set against our theorem."""
        return replace(self, smoothness=self.logistic_smoothness)


@lru_cache(maxsize=_REMEMBERED)
def _mechanism(name: str, setting: Setting) -> acc.Mechanism:
    proof = PROOFS[name]
    if proof.bound is None:
        return acc.Gaussian(setting.sigma, setting.lipschitz)
    objective = acc.ObjectivePerturbation(
        setting.sigma, setting.lam, setting.lipschitz, setting.smoothness, proof.bound
    )
    return acc.via_rdp(objective) if proof.accountant == "rdp" else objective


def rounded_up(mechanism: acc.ObjectivePerturbation | acc.ApproximateMinima) -> Setting:
    """A calibrated mechanism as a setting, σ and λ rounded up to four digits: its ε can only get smaller."""
    objective = mechanism.objective if isinstance(mechanism, acc.ApproximateMinima) else mechanism
    sigma, lam = (sentences.rounded_up(value, 4) for value in (objective.sigma, objective.lam))
    return Setting(sigma, lam, objective.smoothness, objective.lipschitz)


def curve(bound: str, setting: Setting, eps_max: float) -> FloatArray:
    """δ on `grid(eps_max)`; 1 where the bound proves nothing."""
    return along(setting.mechanism(bound), "delta", grid, eps_max)


def epsilon_at(bound: str, setting: Setting, delta: float) -> float:
    """Smallest ε that the bound proves at δ."""
    return at(setting.mechanism(bound), "epsilon", delta)


def delta_at(bound: str, setting: Setting, epsilon: float) -> float:
    """Smallest δ that the bound proves at ε."""
    return at(setting.mechanism(bound), "delta", epsilon)


def gaussian_from(setting: Setting) -> float:
    """The ε from which on the logistic bound is exactly the Gaussian lower bound."""
    mechanism = setting.mechanism("logistic")
    assert isinstance(mechanism, acc.ObjectivePerturbation)
    return mechanism.gaussian_from


# --- read-outs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """A read-out of a bound, a key of `PROOFS`, and why it says nothing, if so."""

    bound: str
    reason: str | None


@dataclass(frozen=True)
class Reading(Told):
    """What one bound says at one setting."""

    epsilon: float
    delta: float
    epsilon_ratio: float
    delta_ratio: float


def readings(setting: Setting, bounds: Sequence[str], delta: float, epsilon: float) -> list[Reading]:
    """ε at δ and δ at ε of every bound, and how many times the lower bound each is."""
    low_epsilon, low_delta = epsilon_at("lower", setting, delta), delta_at("lower", setting, epsilon)
    result = []
    for bound in bounds:
        eps, dlt = epsilon_at(bound, setting, delta), delta_at(bound, setting, epsilon)
        reason = setting.silent(bound) or (setting.silent(bound, epsilon) if dlt >= 1.0 else None)
        result.append(Reading(bound, reason, eps, dlt, _over(eps, low_epsilon), _over(dlt, low_delta)))
    return result


def _over(value: float, low: float) -> float:
    return value / low if low > 0 else math.nan


def table_rows(found: Sequence[Reading], delta: float, epsilon: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a bound."""
    at_delta, at_epsilon = sentences.delta(delta), sentences.epsilon(epsilon)
    return [
        {
            "Bound": f"{NAMES[r.bound]}, {SOURCES[r.bound]}",
            f"ε at δ = {at_delta}": sentences.proved(r.epsilon),
            "ε / lower bound": sentences.ratio(r.epsilon_ratio),
            f"δ at ε = {at_epsilon}": sentences.delta(r.delta) if r.delta < 1 else "nothing proved",
            "δ / lower bound": sentences.ratio(r.delta_ratio if r.delta < 1 else math.inf),
        }
        for r in found
    ]


def reasons(found: Iterable[Told]) -> list[tuple[str, str]]:
    """Which bounds prove nothing and why: (names, sentence), bounds with the same reason together."""
    names: dict[str, list[str]] = {}
    for reading in found:
        if reading.reason:
            names.setdefault(reading.reason, []).append(NAMES[reading.bound])
    return [(" and ".join(who), reason) for reason, who in names.items()]


def frame(setting: Setting, bounds: Sequence[str], eps_max: float) -> pd.DataFrame:
    """Every plotted number: one column for ε and one for the δ of each bound."""
    columns = {"epsilon": grid(eps_max)} | {f"delta_{b}": curve(b, setting, eps_max) for b in bounds}
    return pd.DataFrame(columns)
