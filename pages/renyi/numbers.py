"""The curves of the Rényi page: one objective-perturbation fit, the Gaussian mechanism and DP-SGD, from the core.

Everything is computed by `objpert_core.accounting`; this file asks, remembers (`lru_cache` on frozen settings, as
`ui.bounds`) and compares. Every Rényi curve is taken at the same orders, `ORDERS`, so that one call answers for
the chart, for the crossings and for the phase transition.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import objpert_core.accounting as acc
from ui import sentences
from ui.bounds import ORDERS

NAMES: Mapping[str, str] = {
    "objective": "Objective perturbation",
    "gaussian": "Gaussian mechanism",
    "dpsgd": "DP-SGD",
}
AMPLIFIED, UNAMPLIFIED = "DP-SGD, amplified at every α", "DP-SGD, not amplified"
BOUNDS: Mapping[str, str] = {"Theorem 3.2": "glm", "tight, logistic loss": "logistic"}
DELTAS = tuple(float(f"1e-{k}") for k in range(2, 13, 2))  # of the second chart
LEAVES = 2.0  # the phase transition: this many times the amplified line, …
ARRIVES = 0.5  # … up to this share of the curve without sampling
WIDTH = 0.002  # DP-SGD's ε on the second chart is certified to within this share of itself
_RARE = 10.0 ** -np.arange(1.0, 301.0)
_REFINE = 257
_REMEMBERED = 1000


@dataclass(frozen=True)
class Setting:
    """One fit of objective perturbation and one run of DP-SGD; gradients of norm at most L = 1 in both."""

    sigma: float
    lam: float
    smoothness: float
    bound: str  # "glm" or "logistic"
    noise_multiplier: float
    sample_rate: float
    steps: int

    def __str__(self) -> str:
        fit = f"σ = {self.sigma:g}, λ = {self.lam:g}"
        fit += f", β = {self.smoothness:g}" if self.bound == "glm" else ", logistic loss"
        return f"{fit}; q = {self.sample_rate:g}, noise multiplier {self.noise_multiplier:g}, {self.steps:,} steps"

    def mechanism(self, which: str) -> acc.Mechanism:
        """The mechanism of that name in `NAMES`; raises `ValueError` for values out of range."""
        if which == "dpsgd":
            return acc.DPSGD(self.noise_multiplier, self.sample_rate, self.steps)
        if which == "gaussian":
            return acc.Gaussian(self.sigma)
        if self.bound == "logistic":  # with the logistic loss's own β
            return acc.ObjectivePerturbation(self.sigma, self.lam, bound="logistic")
        return acc.ObjectivePerturbation(self.sigma, self.lam, smoothness=self.smoothness, bound=self.bound)

    def relevant_to(self, which: str) -> Setting:
        """This setting with what the mechanism does not depend on set to 1, so that caches hit."""
        if which == "dpsgd":
            return replace(self, sigma=1.0, lam=1.0, smoothness=1.0, bound="")
        fit = replace(self, noise_multiplier=1.0, sample_rate=1.0, steps=1)
        if which == "gaussian":
            return replace(fit, lam=1.0, smoothness=1.0, bound="")
        return fit if self.bound == "glm" else replace(fit, smoothness=1.0)


def rounds(n: int, noise: float, lam: float, smoothness: float = 1.0, bound: str = "glm") -> Setting:
    """The paper's example of DP-SGD, n² rounds at q = 1/n, beside a fit with the same noise."""
    return Setting(noise, lam, smoothness, bound, noise, 1 / n, n * n)


def curve(which: str, setting: Setting) -> NDArray[np.float64]:
    """Rényi curve at `ORDERS`; inf where nothing is proved."""
    return _curve(which, setting.relevant_to(which))


@lru_cache(maxsize=_REMEMBERED)
def _mechanism(which: str, setting: Setting) -> acc.Mechanism:
    return setting.mechanism(which)


@lru_cache(maxsize=_REMEMBERED)
def _curve(which: str, setting: Setting) -> NDArray[np.float64]:
    values = np.asarray(_mechanism(which, setting).rdp(ORDERS))
    values.setflags(write=False)
    return values


def amplified(setting: Setting) -> NDArray[np.float64]:
    """The Gaussian mechanism's straight curve with DP-SGD's own Kullback–Leibler divergence, at `ORDERS`."""
    return ORDERS * _kullback_leibler(setting.relevant_to("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _kullback_leibler(setting: Setting) -> float:
    return float(_mechanism("dpsgd", setting).rdp(1.0))


def unamplified(setting: Setting) -> NDArray[np.float64]:
    """DP-SGD with every row in every batch, at `ORDERS`."""
    return curve("dpsgd", replace(setting, sample_rate=1.0))


def shown(
    values: NDArray[np.float64], setting: Setting, relative: bool, alpha: NDArray[np.float64] = ORDERS
) -> NDArray[np.float64]:
    """A curve as it is drawn: itself, or `relative` to the Gaussian mechanism with the fit's noise."""
    return values / _mechanism("gaussian", setting.relevant_to("gaussian")).rdp(alpha) if relative else values


def before(setting: Setting, relative: bool) -> dict[str, NDArray[np.float64]]:
    """Every mechanism's curve as it is drawn, for the ghosts."""
    return {which: shown(curve(which, setting), setting, relative) for which in NAMES}


def reason(setting: Setting) -> str | None:
    """Why the bound proves nothing about the fit; None where it does."""
    return _mechanism("objective", setting.relevant_to("objective")).explain()


@dataclass(frozen=True)
class Transition:
    """Where DP-SGD's Rényi curve leaves its amplified line, and where it nears the curve without sampling."""

    start: float
    end: float  # inf beyond the last of `ORDERS`
    height: float  # ε at `start`


def transition(setting: Setting) -> Transition | None:
    """DP-SGD's phase transition; None where sampling never helps, or up to the last of `ORDERS` always does."""
    return _transition(setting.relevant_to("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _transition(setting: Setting) -> Transition | None:
    mechanism, rate = _mechanism("dpsgd", setting), _kullback_leibler(setting)
    whole = _mechanism("dpsgd", replace(setting, sample_rate=1.0))
    if setting.sample_rate == 1 or rate == 0 or LEAVES * rate >= ARRIVES * float(whole.rdp(1.0)):
        return None  # too little amplification for a transition

    def leaves(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(mechanism.rdp(alpha)) - np.log(LEAVES * rate * alpha)

    def arrives(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(mechanism.rdp(alpha)) - np.log(ARRIVES * whole.rdp(alpha))

    own = np.log(curve("dpsgd", setting))
    starts = _roots(own - np.log(LEAVES * amplified(setting)), leaves)
    if not starts:
        return None
    ends = [end for end in _roots(own - np.log(ARRIVES * unamplified(setting)), arrives) if end >= starts[0]]
    return Transition(starts[0], ends[0] if ends else math.inf, float(mechanism.rdp(starts[0])))


@dataclass(frozen=True)
class Crossing:
    """An order at which the curves of the fit and of DP-SGD cross, the ε there, and which is lower from there on."""

    alpha: float
    height: float
    lower_after: str


def crossings(setting: Setting) -> tuple[Crossing, ...]:
    """Where the Rényi curves of objective perturbation and DP-SGD cross, by increasing order."""
    return _crossings(setting.relevant_to("objective"), setting.relevant_to("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _crossings(fit: Setting, run: Setting) -> tuple[Crossing, ...]:
    one, many = _mechanism("objective", fit), _mechanism("dpsgd", run)
    if not np.isfinite(curve("objective", fit)).all():
        return ()

    def gap(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log(many.rdp(alpha)) - np.log(one.rdp(alpha))

    table = np.log(curve("dpsgd", run)) - np.log(curve("objective", fit))
    found = []
    for alpha in _roots(table, gap):
        beyond = table[np.searchsorted(ORDERS, alpha, side="right") :]
        after = next((value for value in beyond if abs(value) > sentences.EXACT), 0.0)
        found.append(Crossing(alpha, float(one.rdp(alpha)), "objective" if after > 0 else "dpsgd"))
    return tuple(found)


def _roots(values: NDArray[np.float64], function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> list[float]:
    """Orders at which `function`, whose values at `ORDERS` are given, changes sign; equal is not yet a change."""
    told = np.flatnonzero(np.abs(values) > sentences.EXACT)
    turns = np.flatnonzero(np.sign(values[told[1:]]) != np.sign(values[told[:-1]]))
    roots = []
    for low, high in zip(told[turns], told[turns + 1], strict=True):
        alpha = np.linspace(ORDERS[low], ORDERS[high], _REFINE)
        fine = function(alpha)
        at = int(np.flatnonzero(np.sign(fine) != np.sign(fine[0]))[0])
        share = fine[at - 1] / (fine[at - 1] - fine[at])
        roots.append(float(alpha[at - 1] + share * (alpha[at] - alpha[at - 1])))
    return roots


def turns(setting: Setting) -> tuple[tuple[float, str], ...]:
    """Who promises the smaller ε by the Rényi route: (the largest power of ten δ from which on down, name), in turn.

    The first entry starts at δ = 0.1; "" stands for equal within `sentences.EXACT`. Down to δ = 1e-300.
    """
    return _turns(setting.relevant_to("objective"), setting.relevant_to("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _turns(fit: Setting, run: Setting) -> tuple[tuple[float, str], ...]:
    one = acc.rdp_to_epsilon(ORDERS, curve("objective", fit), _RARE)
    many = acc.rdp_to_epsilon(ORDERS, curve("dpsgd", run), _RARE)
    found: list[tuple[float, str]] = []
    for delta, first, second in zip(_RARE, one, many, strict=True):
        larger = max(first, second)  # ∞ where nothing is proved, which no finite ε is close to
        equal = first == second or (larger < np.inf and abs(first - second) <= sentences.EXACT * larger)
        winner = "" if equal else "objective" if first < second else "dpsgd"
        if not found or found[-1][1] != winner:
            found.append((float(f"{delta:.0e}"), winner))
    return tuple(found)


@dataclass(frozen=True)
class Promise:
    """What one mechanism promises at a list of δ: ε by its Rényi curve, and by its privacy loss distribution."""

    renyi: NDArray[np.float64]
    exact: NDArray[np.float64]
    least: NDArray[np.float64]  # the numbers in `exact` are upper bounds; no smaller ones than these are true


def promise(which: str, setting: Setting) -> Promise:
    """ε at every δ of `DELTAS`, accounted both ways; inf where nothing is proved."""
    return _promise(which, setting.relevant_to(which))


@lru_cache(maxsize=_REMEMBERED)
def _promise(which: str, setting: Setting) -> Promise:
    mechanism, at = _mechanism(which, setting), np.array(DELTAS)
    renyi = np.asarray(acc.via_rdp(mechanism).epsilon(at))
    if isinstance(mechanism, acc.DPSGD):
        least, exact = mechanism.epsilon_bounds(at, relative_width=WIDTH)
        return Promise(renyi, np.minimum(exact, renyi), least)  # both are proved
    exact = np.asarray(mechanism.epsilon(at))
    return Promise(renyi, exact, exact)


def epsilon_at(which: str, setting: Setting, delta: float) -> tuple[float, float]:
    """ε at one δ by the Rényi curve and by the privacy loss distribution."""
    return _epsilon(which, setting.relevant_to(which), delta)


@lru_cache(maxsize=_REMEMBERED)
def _epsilon(which: str, setting: Setting, delta: float) -> tuple[float, float]:
    mechanism = _mechanism(which, setting)
    return float(acc.via_rdp(mechanism).epsilon(delta)), float(mechanism.epsilon(delta))


def matched(setting: Setting, epsilon: float, delta: float, options: Mapping[str, Sequence[float]]) -> Setting:
    """`setting` with the noise (and λ) with which the fit and DP-SGD both are (ε, δ)-DP, from the values offered.

    Each of sigma, lam and noise_multiplier becomes the smallest of its `options` that is not below the calibrated
    value: more noise and a larger λ can only make ε smaller. β, q and the number of steps stay.
    """
    smoothness = setting.smoothness if setting.bound == "glm" else None
    fit = acc.calibrate_objective_perturbation(epsilon, delta, smoothness=smoothness, bound=setting.bound)
    run = acc.calibrate_dpsgd(epsilon, delta, setting.sample_rate, setting.steps)
    if not isinstance(fit, acc.ObjectivePerturbation) or not isinstance(run, acc.DPSGD):
        raise TypeError("calibration without tau and without mean_runs gives plain mechanisms")
    return replace(
        setting,
        sigma=_offered("sigma", fit.sigma, options),
        lam=_offered("lam", fit.lam, options),
        noise_multiplier=_offered("noise_multiplier", run.noise_multiplier, options),
    )


def _offered(name: str, value: float, options: Mapping[str, Sequence[float]]) -> float:
    offered = options[name]
    at = bisect.bisect_left(offered, value)
    if at == len(offered):
        raise ValueError(f"{name} would have to be {value:.4g}; this page offers at most {offered[-1]:g}")
    return offered[at]


def frame(setting: Setting) -> pd.DataFrame:
    """Every number of the first chart: one column for α, one for each curve, and the two lines DP-SGD moves between."""
    columns = {"alpha": ORDERS} | {f"rdp_{which}": curve(which, setting) for which in NAMES}
    return pd.DataFrame(columns | {"dpsgd_amplified": amplified(setting), "dpsgd_unamplified": unamplified(setting)})


def promises(setting: Setting) -> pd.DataFrame:
    """Every number of the second chart: one column for δ, and ε of each mechanism accounted both ways."""
    columns: dict[str, object] = {"delta": np.array(DELTAS)}
    for which in NAMES:
        found = promise(which, setting)
        columns |= {f"{which}_renyi": found.renyi, f"{which}_pld": found.exact, f"{which}_pld_at_least": found.least}
    return pd.DataFrame(columns)
