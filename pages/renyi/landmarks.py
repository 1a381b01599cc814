"""Where the Rényi curves of a fit and of a run of DP-SGD cross, where DP-SGD's leaps, and what either means."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from ui import sentences
from ui.bounds import ORDERS, at, renyi_curve

LEAVES = 2.0  # the phase transition: this many times the amplified line, …
ARRIVES = 0.5  # … up to this share of the curve without sampling
_RARE = 10.0 ** -np.arange(1.0, 301.0)
_REFINE = 257
_REMEMBERED = 1000


def order(alpha: float) -> str:
    """A Rényi order: three digits, whole from 100 on."""
    return f"{alpha:,.0f}" if alpha >= 100 else sentences.number(alpha)


# --- the phase transition ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transition:
    """Where DP-SGD's Rényi curve leaves its amplified line, and where it nears the curve without sampling."""

    start: float
    end: float  # inf beyond the last of `ORDERS`
    height: float  # ε at `start`


@lru_cache(maxsize=_REMEMBERED)
def transition(run: acc.DPSGD) -> Transition | None:
    """DP-SGD's phase transition; None where sampling never helps, or up to the last of `ORDERS` always does."""
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


def transition_told(leap: Transition | None, sample_rate: float) -> str:
    """Where DP-SGD's phase transition is and why."""
    if leap is None:
        if sample_rate == 1:
            return "At q = 1 every row is in every batch: there is no amplification, and no phase transition."
        return f"DP-SGD has no phase transition up to α = {ORDERS[-1]:,.0f}."
    text = (
        f"Phase transition: at about α = {order(leap.start)} DP-SGD’s curve leaps off its amplified line, because "
        "rare runs with the person in many batches outweigh all other runs"
    )
    if math.isinf(leap.end):
        return f"{text}."
    return f"{text}; from α = {order(leap.end)} on, the curve is at least half the curve without sampling."


# --- crossings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crossing:
    """An order at which the curves of the fit and of DP-SGD cross, the ε there, and which is lower from there on."""

    alpha: float
    height: float
    lower_after: str


@lru_cache(maxsize=_REMEMBERED)
def crossings(fit: acc.Mechanism, run: acc.Mechanism) -> tuple[Crossing, ...]:
    """Where the Rényi curves of objective perturbation and DP-SGD cross, by increasing order."""
    if not np.isfinite(renyi_curve(fit)).all():
        return ()

    def gap(alpha: FloatArray) -> FloatArray:
        return np.log(run.rdp(alpha)) - np.log(fit.rdp(alpha))

    table = np.log(renyi_curve(run)) - np.log(renyi_curve(fit))
    result = []
    for alpha in _roots(table, gap):
        beyond = table[np.searchsorted(ORDERS, alpha, side="right") :]
        after = next((value for value in beyond if abs(value) > sentences.EXACT), 0.0)
        result.append(Crossing(alpha, float(fit.rdp(alpha)), "objective" if after > 0 else "dpsgd"))
    return tuple(result)


def _roots(values: FloatArray, function: Callable[[FloatArray], FloatArray]) -> list[float]:
    """Orders at which `function`, whose values at `ORDERS` are given, changes sign; equal is not yet a change."""
    unequal = np.flatnonzero(np.abs(values) > sentences.EXACT)
    turns = np.flatnonzero(np.sign(values[unequal[1:]]) != np.sign(values[unequal[:-1]]))
    roots = []
    for low, high in zip(unequal[turns], unequal[turns + 1], strict=True):
        alpha = np.linspace(ORDERS[low], ORDERS[high], _REFINE)
        fine = function(alpha)
        turn = int(np.flatnonzero(np.sign(fine) != np.sign(fine[0]))[0])
        share = fine[turn - 1] / (fine[turn - 1] - fine[turn])
        roots.append(float(alpha[turn - 1] + share * (alpha[turn] - alpha[turn - 1])))
    return roots


def crossings_told(found: Sequence[Crossing]) -> str:
    """Where the curves cross, as half a sentence."""
    if not found:
        return "their Rényi curves do not cross"
    places = sentences.listing([order(crossing.alpha) for crossing in found])
    return f"their Rényi curves cross at α = {places}; from there on {_NAMED[found[-1].lower_after]} is lower"


_NAMED = {"objective": "objective perturbation", "dpsgd": "DP-SGD"}


# --- rare events ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_REMEMBERED)
def turns(fit: acc.Mechanism, run: acc.Mechanism) -> tuple[tuple[float, str], ...]:
    """Who promises the smaller ε by the Rényi route: (the largest power of ten δ from which on down, name), in turn.

    The first entry starts at δ = 0.1; "" stands for equal within `sentences.EXACT`. Down to δ = 1e-300.
    """
    one = acc.rdp_to_epsilon(ORDERS, renyi_curve(fit), _RARE)
    many = acc.rdp_to_epsilon(ORDERS, renyi_curve(run), _RARE)
    result: list[tuple[float, str]] = []
    for delta, first, second in zip(_RARE, one, many, strict=True):
        larger = max(first, second)  # ∞ where nothing is proved, which no finite ε is close to
        equal = first == second or (larger < np.inf and abs(first - second) <= sentences.EXACT * larger)
        winner = "" if equal else "objective" if first < second else "dpsgd"
        if not result or result[-1][1] != winner:
            result.append((float(f"{delta:.0e}"), winner))
    return tuple(result)


def rare(turns: Sequence[tuple[float, str]], found: Sequence[Crossing]) -> str:
    """What the crossing means for rare events: from which δ on which of the two promises less by Rényi."""
    unequal = [(delta, who) for delta, who in turns if who]
    if not unequal:
        return "By their Rényi curves, both mechanisms promise the same at every δ."
    last_delta, last = unequal[-1]
    other = next((who for _, who in reversed(unequal) if who != last), None)
    if other is None:
        start = f"By the Rényi curves, {_NAMED[last]} promises the smaller ε at every δ from 0.1 to 10⁻³⁰⁰"
        if found and found[-1].lower_after != last:
            return f"{start}: the orders beyond the crossing weigh events that are rarer still."
        return f"{start}."
    return (
        f"Large α stand for rare events: by the Rényi curves, {_NAMED[last]} promises the smaller ε at "
        f"δ = {sentences.scientific(last_delta)} and below, and {_NAMED[other]} just above."
    )
