"""The curves of the Composition page: k fits accounted for by convolution, with their validated band, and by Rényi.

Everything is computed by `objpert_core.accounting`; this file asks and remembers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from pages.composition import totals
from ui.bounds import ORDERS, renyi_curve

PAIRED = "-pair"  # ends the name of a bound that is composed through its symmetric pair
BOUNDS: Mapping[str, str] = {
    "Theorem 3.1": "glm",
    "Theorem 3.1, symmetric pair": "glm-pair",
    "tight, logistic loss": "logistic",
    "tight, symmetric pair": "logistic-pair",
}
RARE = 0.1  # the δ that anybody promises are below
POINTS = 201  # on the ε axis, ends included
_REMEMBERED = 500

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """One fit and the proof it is accounted by: noise σ, regularisation λ, smoothness β, Lipschitz constant L."""

    sigma: float
    lam: float
    smoothness: float
    lipschitz: float
    bound: str

    @property
    def base(self) -> str:
        """The bound of one fit, however it is composed."""
        return self.bound.removesuffix(PAIRED)

    def __str__(self) -> str:
        beta = f", β = {self.smoothness:g}" if self.base == "glm" else ""
        return f"σ = {self.sigma:g}, λ = {self.lam:g}{beta}, L = {self.lipschitz:g}"

    def mechanism(self) -> acc.Mechanism:
        """As the core describes it; the logistic bound has a smoothness of its own."""
        smoothness = self.smoothness if self.base == "glm" else None
        one = acc.ObjectivePerturbation(self.sigma, self.lam, self.lipschitz, smoothness, self.base)  # type: ignore[arg-type]
        return acc.symmetrised(one) if self.bound.endswith(PAIRED) else one


@dataclass(frozen=True)
class Asked:
    """What the controls ask for: a fit, how many of it, and the δ at which ε is read."""

    fit: Fit
    counts: tuple[int, ...]
    delta: float

    @property
    def most(self) -> int:
        """The largest number of fits, which the answer is about."""
        return self.counts[-1]


@dataclass(frozen=True)
class View:
    """What is drawn: ε from 0 to `eps_max`, δ from `floor` up, on a grid that aims at `width`, a share of ε."""

    eps_max: float
    floor: float
    width: float


@dataclass(frozen=True)
class Reading:
    """What k fits cost: validated interval [low, epsilon] of ε at δ, by Rényi, and k times the ε of one fit.

    `delta_share` is the largest relative width of the band of δ where it is drawn and δ is at most `RARE`.
    """

    k: int
    low: float
    epsilon: float
    renyi: float
    added: float
    delta_share: float

    @property
    def share(self) -> float:
        """(upper − lower)/upper of the validated interval of ε."""
        return (self.epsilon - self.low) / self.epsilon if 0 < self.epsilon < math.inf else math.nan


def grid(eps_max: float) -> Array:
    """The ε at which curves are drawn."""
    return np.linspace(0.0, eps_max, POINTS)


@lru_cache(maxsize=_REMEMBERED)
def profile(fit: Fit, k: int, view: View) -> tuple[Array, Array]:
    """Validated (lower, upper) bounds on δ of k fits on `grid(view.eps_max)`; NaN where both are below the floor.

    What is below the floor is not asked for: it takes longer the smaller it is.
    """
    inside = renyi_profile(fit, k, view.eps_max) >= view.floor  # it is above both bounds
    both = np.full((2, POINTS), np.nan)
    if inside.any():
        both[:, inside] = acc.repeat(fit.mechanism(), k).delta_bounds(grid(view.eps_max)[inside], view.width)
    both.setflags(write=False)
    return both[0], both[1]


@lru_cache(maxsize=_REMEMBERED)
def renyi_profile(fit: Fit, k: int, eps_max: float) -> Array:
    """δ of k fits on `grid(eps_max)` from the Rényi curve at `ORDERS`."""
    values = np.asarray(acc.rdp_to_delta(ORDERS, k * renyi_curve(fit.mechanism()), grid(eps_max)))
    values.setflags(write=False)
    return values


def readings(fit: Fit, counts: Sequence[int], delta: float, view: View) -> list[Reading]:
    """What each number of fits costs at δ."""
    return [_reading(fit, k, delta, view) for k in counts]


def last(asked: Asked, view: View) -> float:
    """ε of the largest number of fits."""
    return _reading(asked.fit, asked.most, asked.delta, view).epsilon


@lru_cache(maxsize=_REMEMBERED)
def _reading(fit: Fit, k: int, delta: float, view: View) -> Reading:
    mechanism = fit.mechanism()
    fits = frozenset({(mechanism, k)})
    below, above = profile(fit, k, view)
    drawn = (above >= view.floor) & (above <= RARE)
    share = float(np.max(1 - below[drawn] / above[drawn])) if drawn.any() else math.nan
    low, high = totals.epsilon_bounds(fits, delta, view.width)
    renyi, alone = totals.renyi_epsilon(fits, delta), totals.epsilon_alone(mechanism, delta)
    return Reading(k, low, high, renyi, k * alone, share)


def frame(fit: Fit, counts: Sequence[int], view: View) -> pd.DataFrame:
    """Every plotted number: ε, and for each number of fits both validated bounds on δ and the Rényi one."""
    columns = {"epsilon": grid(view.eps_max)}
    for k in counts:
        low, high = profile(fit, k, view)
        renyi = renyi_profile(fit, k, view.eps_max)
        columns |= {f"delta_lower_{k}": low, f"delta_{k}": high, f"delta_renyi_{k}": renyi}
    return pd.DataFrame(columns)
