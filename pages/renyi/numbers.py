"""The curves of the Rényi page: one objective-perturbation fit, the Gaussian mechanism and DP-SGD, from the core.

Everything is computed by `objpert_core.accounting`; this file asks, remembers (as `ui.bounds`) and compares. Every
Rényi curve is taken at the same orders, `ORDERS`, so that one call answers for the chart, for the crossings and for the
phase transition.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from ui import sentences
from ui.bounds import ORDERS, at, renyi_curve

NAMES: Mapping[str, str] = {
    "objective": "Objective perturbation",
    "gaussian": "Gaussian mechanism",
    "dpsgd": "DP-SGD",
}
ALLOCATION = "Random allocation"
AMPLIFIED, UNAMPLIFIED = "amplified", "not amplified"
BOUNDS: Mapping[str, str] = {"Theorem 3.2": "glm", "tight, logistic loss": "logistic"}
DELTAS = tuple(float(f"1e-{k}") for k in range(2, 13, 2))  # of the second chart
LEAVES = 2.0  # the phase transition: this many times the amplified line, …
ARRIVES = 0.5  # … up to this share of the curve without sampling
WIDTH = 0.002  # DP-SGD's ε on the second chart is bounded to within this share of itself
RESOLVED = 0.1  # random allocation's is shown where the bounds are at least as close as this share of it
LEAST_DELTA = 1e-13  # of a step: below that random allocation is not resolved
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

    @property
    def per_epoch(self) -> float:
        """How many steps an epoch of random allocation has: 1/q, to the nearest whole number where it is meant."""
        steps = 1 / self.sample_rate
        return round(steps) if abs(steps - round(steps)) < 1e-9 * steps else steps

    @property
    def allocates(self) -> bool:
        """Whether every row could be in one step of each epoch instead: epochs and their steps are whole numbers."""
        return isinstance(self.per_epoch, int) and self.steps % self.per_epoch == 0

    def mechanism(self, which: str) -> acc.Mechanism:
        """The mechanism of that name in `NAMES`, or "allocation"; raises `ValueError` for values out of range."""
        return _mechanism(which, self)


def rounds(n: int, noise: float, lam: float, smoothness: float = 1.0, bound: str = "glm") -> Setting:
    """The paper's example of DP-SGD, n² rounds at q = 1/n, beside a fit with the same noise."""
    return Setting(noise, lam, smoothness, bound, noise, 1 / n, n * n)


@lru_cache(maxsize=_REMEMBERED)
def _mechanism(which: str, setting: Setting) -> acc.Mechanism:
    if which == "dpsgd":
        return acc.DPSGD(setting.noise_multiplier, setting.sample_rate, setting.steps)
    if which == "allocation":
        if not isinstance(setting.per_epoch, int) or not setting.allocates:
            raise ValueError(f"sample_rate and steps must give whole epochs, got {setting}")
        return acc.RandomAllocation(
            setting.noise_multiplier, setting.per_epoch, epochs=setting.steps // setting.per_epoch
        )
    if which == "gaussian":
        return acc.Gaussian(setting.sigma)
    return acc.ObjectivePerturbation(setting.sigma, setting.lam, smoothness=setting.smoothness, bound=setting.bound)


def names(setting: Setting, allocated: bool) -> Mapping[str, str]:
    """`NAMES`, and random allocation where it is asked for and the setting has whole epochs."""
    return {**NAMES, "allocation": ALLOCATION} if allocated and setting.allocates else NAMES


def curve(which: str, setting: Setting) -> FloatArray:
    """Rényi curve at `ORDERS`; inf where nothing is proved."""
    return renyi_curve(setting.mechanism(which))


def amplified(setting: Setting) -> FloatArray:
    """The Gaussian mechanism's straight curve with DP-SGD's own Kullback–Leibler divergence, at `ORDERS`."""
    return ORDERS * at(setting.mechanism("dpsgd"), "rdp", 1.0)


def unamplified(setting: Setting) -> FloatArray:
    """DP-SGD with every row in every batch, at `ORDERS`."""
    return curve("dpsgd", replace(setting, sample_rate=1.0))


def shown(values: FloatArray, setting: Setting, relative: bool, alpha: FloatArray = ORDERS) -> FloatArray:
    """A curve as it is drawn: itself, or `relative` to the Gaussian mechanism with the fit's noise."""
    return values / setting.mechanism("gaussian").rdp(alpha) if relative else values


def drawn(setting: Setting, relative: bool) -> dict[str, FloatArray]:
    """Every mechanism's curve as it is drawn."""
    return {which: shown(curve(which, setting), setting, relative) for which in NAMES}


def reason(setting: Setting) -> str | None:
    """Why the bound proves nothing about the fit; None where it does."""
    return setting.mechanism("objective").explain()


@dataclass(frozen=True)
class Transition:
    """Where DP-SGD's Rényi curve leaves its amplified line, and where it nears the curve without sampling."""

    start: float
    end: float  # inf beyond the last of `ORDERS`
    height: float  # ε at `start`


def transition(setting: Setting) -> Transition | None:
    """DP-SGD's phase transition; None where sampling never helps, or up to the last of `ORDERS` always does."""
    run = setting.mechanism("dpsgd")
    assert isinstance(run, acc.DPSGD)
    return _transition(run)


@lru_cache(maxsize=_REMEMBERED)
def _transition(run: acc.DPSGD) -> Transition | None:
    whole, rate = replace(run, sample_rate=1.0), at(run, "rdp", 1.0)
    if run.sample_rate == 1 or rate == 0 or LEAVES * rate >= ARRIVES * float(whole.rdp(1.0)):
        return None  # too little amplification for a transition

    def leaves(alpha: FloatArray) -> FloatArray:
        return np.log(run.rdp(alpha)) - np.log(LEAVES * rate * alpha)

    def arrives(alpha: FloatArray) -> FloatArray:
        return np.log(run.rdp(alpha)) - np.log(ARRIVES * whole.rdp(alpha))

    own = np.log(renyi_curve(run))
    starts = _roots(own - np.log(LEAVES * rate * ORDERS), leaves)
    if not starts:
        return None
    ends = [end for end in _roots(own - np.log(ARRIVES * renyi_curve(whole)), arrives) if end >= starts[0]]
    return Transition(starts[0], ends[0] if ends else math.inf, float(run.rdp(starts[0])))


@dataclass(frozen=True)
class Crossing:
    """An order at which the curves of the fit and of DP-SGD cross, the ε there, and which is lower from there on."""

    alpha: float
    height: float
    lower_after: str


def crossings(setting: Setting) -> tuple[Crossing, ...]:
    """Where the Rényi curves of objective perturbation and DP-SGD cross, by increasing order."""
    return _crossings(setting.mechanism("objective"), setting.mechanism("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _crossings(fit: acc.Mechanism, run: acc.Mechanism) -> tuple[Crossing, ...]:
    if not np.isfinite(renyi_curve(fit)).all():
        return ()

    def gap(alpha: FloatArray) -> FloatArray:
        return np.log(run.rdp(alpha)) - np.log(fit.rdp(alpha))

    table = np.log(renyi_curve(run)) - np.log(renyi_curve(fit))
    found = []
    for alpha in _roots(table, gap):
        beyond = table[np.searchsorted(ORDERS, alpha, side="right") :]
        after = next((value for value in beyond if abs(value) > sentences.EXACT), 0.0)
        found.append(Crossing(alpha, float(fit.rdp(alpha)), "objective" if after > 0 else "dpsgd"))
    return tuple(found)


def _roots(values: FloatArray, function: Callable[[FloatArray], FloatArray]) -> list[float]:
    """Orders at which `function`, whose values at `ORDERS` are given, changes sign; equal is not yet a change."""
    told = np.flatnonzero(np.abs(values) > sentences.EXACT)
    turns = np.flatnonzero(np.sign(values[told[1:]]) != np.sign(values[told[:-1]]))
    roots = []
    for low, high in zip(told[turns], told[turns + 1], strict=True):
        alpha = np.linspace(ORDERS[low], ORDERS[high], _REFINE)
        fine = function(alpha)
        turn = int(np.flatnonzero(np.sign(fine) != np.sign(fine[0]))[0])
        share = fine[turn - 1] / (fine[turn - 1] - fine[turn])
        roots.append(float(alpha[turn - 1] + share * (alpha[turn] - alpha[turn - 1])))
    return roots


def turns(setting: Setting) -> tuple[tuple[float, str], ...]:
    """Who promises the smaller ε by the Rényi route: (the largest power of ten δ from which on down, name), in turn.

    The first entry starts at δ = 0.1; "" stands for equal within `sentences.EXACT`. Down to δ = 1e-300.
    """
    return _turns(setting.mechanism("objective"), setting.mechanism("dpsgd"))


@lru_cache(maxsize=_REMEMBERED)
def _turns(fit: acc.Mechanism, run: acc.Mechanism) -> tuple[tuple[float, str], ...]:
    one = acc.rdp_to_epsilon(ORDERS, renyi_curve(fit), _RARE)
    many = acc.rdp_to_epsilon(ORDERS, renyi_curve(run), _RARE)
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

    renyi: FloatArray
    exact: FloatArray
    least: FloatArray  # the numbers in `exact` are upper bounds; no smaller ones than these are true

    @property
    def resolved(self) -> FloatArray:
        """`exact`, and NaN where the bounds are too far apart to be worth a mark."""
        return np.where(self.exact - self.least <= RESOLVED * self.exact, self.exact, np.nan)


def promise(which: str, setting: Setting) -> Promise:
    """ε at every δ of `DELTAS`, accounted both ways; inf where nothing is proved."""
    return _promise(setting.mechanism(which))


@lru_cache(maxsize=_REMEMBERED)
def _promise(mechanism: acc.Mechanism) -> Promise:
    deltas = np.array(DELTAS)
    renyi = np.asarray(acc.via_rdp(mechanism).epsilon(deltas))
    if isinstance(mechanism, acc.DPSGD):
        least, exact = mechanism.epsilon_bounds(deltas, relative_width=WIDTH)
        return Promise(renyi, np.minimum(exact, renyi), least)  # both are proved
    if isinstance(mechanism, acc.RandomAllocation):
        least, exact = np.zeros(deltas.size), renyi.copy()
        told = deltas >= LEAST_DELTA * mechanism.steps * mechanism.epochs
        if told.any():
            least[told], above = mechanism.epsilon_bounds(deltas[told], relative_width=WIDTH)
            exact[told] = np.minimum(above, renyi[told])
        return Promise(renyi, exact, least)
    exact = np.asarray(mechanism.epsilon(deltas))
    return Promise(renyi, exact, exact)


def epsilon_at(which: str, setting: Setting, delta: float) -> tuple[float, float]:
    """ε at one δ by the Rényi curve and by the privacy loss distribution."""
    mechanism = setting.mechanism(which)
    return at(acc.via_rdp(mechanism), "epsilon", delta), at(mechanism, "epsilon", delta)


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
    place = bisect.bisect_left(offered, value)
    if place == len(offered):
        raise ValueError(f"{name} would have to be {value:.4g}; this page offers at most {offered[-1]:g}")
    return offered[place]


def frame(setting: Setting) -> pd.DataFrame:
    """Every number of the first chart: one column for α, one for each curve, and the two lines DP-SGD moves between."""
    columns = {"alpha": ORDERS} | {f"rdp_{which}": curve(which, setting) for which in NAMES}
    return pd.DataFrame(columns | {"dpsgd_amplified": amplified(setting), "dpsgd_unamplified": unamplified(setting)})


def promises(setting: Setting, allocated: bool = False) -> pd.DataFrame:
    """Every number of the second chart: one column for δ, and ε of each mechanism accounted both ways."""
    columns: dict[str, object] = {"delta": np.array(DELTAS)}
    for which in names(setting, allocated):
        found = promise(which, setting)
        columns |= {f"{which}_renyi": found.renyi, f"{which}_pld": found.exact, f"{which}_pld_at_least": found.least}
    return pd.DataFrame(columns)
