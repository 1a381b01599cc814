"""The trade-off view of the Bounds page: each bound as the curve of an attacker's errors, from the core.

The attacker decides from the release whether a person was in the data. False accusations (type I errors) run over
`RATES`; missed members (type II errors) are the mechanism's `tradeoff`. As in `bound_curves`, `lru_cache` remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

import objpert_core.accounting as acc
from pages.bounds import words as tradeoff_text
from ui import bounds as bc
from ui import figures

POINTS = 241
RATES = np.sin(np.linspace(0.0, np.pi / 2, POINTS)) ** 2  # crowded at both ends, where the curves are steepest
RATES[0], RATES[-1] = 0.0, 1.0
RATES.setflags(write=False)
_REMEMBERED = 2000  # curves of 2 kB, shared by everybody


@dataclass(frozen=True)
class Reading:
    """What one bound says about an attacker.

    Attributes:
        bound: a key of `bound_curves.NAMES`.
        missed: share of the members that an attacker with the given rate of false accusations misses at least.
        guess: how often the best guess is right at most, starting from even odds.
        reason: why the bound proves nothing, or None.
    """

    bound: str
    missed: float
    guess: float
    reason: str | None


def curve(bound: str, setting: bc.Setting) -> NDArray[np.float64]:
    """Smallest share of missed members at each of `RATES`."""
    return _curve(bound, setting.relevant_to(bound))


def missed_at(bound: str, setting: bc.Setting, rate: float) -> float:
    """Smallest share of missed members at one rate of false accusations."""
    return _missed(bound, setting.relevant_to(bound), rate)


@lru_cache(maxsize=_REMEMBERED)
def _curve(bound: str, setting: bc.Setting) -> NDArray[np.float64]:
    values = np.asarray(setting.mechanism(bound).tradeoff(RATES))
    values.setflags(write=False)
    return values


@lru_cache(maxsize=_REMEMBERED)
def _missed(bound: str, setting: bc.Setting, rate: float) -> float:
    return float(setting.mechanism(bound).tradeoff(rate))


@lru_cache(maxsize=_REMEMBERED)
def _guess(bound: str, setting: bc.Setting) -> float:
    return acc.best_guess(setting.mechanism(bound))


def readings(setting: bc.Setting, bounds: Sequence[str], rate: float) -> list[Reading]:
    """What every bound says at one rate of false accusations."""
    result = []
    for bound in bounds:
        guess = _guess(bound, setting.relevant_to(bound))
        reason = setting.mechanism("glm" if bound == "rdp" else bound).explain()
        result.append(Reading(bound, missed_at(bound, setting, rate), guess, reason))
    return result


def draw(setting: bc.Setting, bounds: Sequence[str], *, rate: float, ghost: bc.Setting | None = None) -> go.Figure:
    """The curves of the bounds, perfect privacy, and the tight bound's reading at one rate of false accusations."""
    missed = missed_at("logistic", setting, rate)
    traces = [figures.series(f"{bc.NAMES[b]}, before", RATES, curve(b, ghost), b, ghost=True) for b in bounds if ghost]
    traces += [figures.guide((0, rate), (missed, missed)), figures.guide((rate, rate), (0, missed))]
    traces.append(figures.series(tradeoff_text.PERFECT, RATES, 1 - RATES, "guide", hoverinfo="skip"))
    traces += [figures.series(bc.NAMES[b], RATES, curve(b, setting), b, hover="misses %{y:.1%}") for b in bounds]
    return figures.figure(
        traces,
        xaxis=figures.axis("false accusations (type I error)", (0.0, 1.0), tickformat=".0%", hoverformat=".1%"),
        yaxis=figures.axis("missed members (type II error)", (0.0, 1.0), tickformat=".0%"),
        height=480,
        margin={"l": 8, "r": 28, "t": 8, "b": 8},  # room for the label of 100 %
    )


def table_rows(found: Sequence[Reading], rate: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a bound."""
    return [
        {
            "Bound": f"{bc.NAMES[r.bound]}, {bc.SOURCES[r.bound]}",
            f"Misses at {tradeoff_text.share(rate)} false accusations": (
                f"at least {tradeoff_text.at_least(r.missed)}" if r.missed > 0 else "nothing proved"
            ),
            "Best guess right": f"at most {tradeoff_text.at_most(r.guess)}" if r.guess < 1 else "nothing proved",
        }
        for r in found
    ]


def reasons(found: Sequence[Reading]) -> list[tuple[str, str]]:
    """Which bounds prove nothing and why: (names, sentence), bounds with the same reason together."""
    return bc.grouped((r.bound, r.reason) for r in found)


def frame(setting: bc.Setting, bounds: Sequence[str]) -> pd.DataFrame:
    """Every plotted number: the rate of false accusations, and the share of missed members under each bound."""
    return pd.DataFrame({"false_accusations": RATES} | {f"missed_{b}": curve(b, setting) for b in bounds})
