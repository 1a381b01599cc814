"""The trade-off view of the Bounds page: each bound as the curve of an attacker's errors, from the core.

The attacker decides from the release whether a person was in the data. False accusations (type I errors) run over
`RATES`; missed members (type II errors) are the mechanism's `tradeoff`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from pages.bounds import words
from ui import bounds as proofs
from ui import figures

POINTS = 241
RATES = np.sin(np.linspace(0.0, np.pi / 2, POINTS)) ** 2  # crowded at both ends, where the curves are steepest
RATES[0], RATES[-1] = 0.0, 1.0
RATES.setflags(write=False)


@dataclass(frozen=True)
class Reading(proofs.Told):
    """What one bound says about an attacker.

    Attributes
    ----------
    missed : float
        Share of the members that an attacker with the given rate of false accusations misses at least.
    guess : float
        How often the best guess is right at most, starting from even odds.
    """

    missed: float
    guess: float


def _rates() -> FloatArray:
    return RATES


def curve(bound: str, setting: proofs.Setting) -> FloatArray:
    """Smallest share of missed members at each of `RATES`."""
    return proofs.along(setting.mechanism(bound), "tradeoff", _rates)


def missed_at(bound: str, setting: proofs.Setting, rate: float) -> float:
    """Smallest share of missed members at one rate of false accusations."""
    return proofs.at(setting.mechanism(bound), "tradeoff", rate)


_guess = lru_cache(maxsize=2000)(acc.best_guess)


def readings(setting: proofs.Setting, bounds: Sequence[str], rate: float) -> list[Reading]:
    """What every bound says at one rate of false accusations."""
    return [Reading(b, setting.silent(b), missed_at(b, setting, rate), _guess(setting.mechanism(b))) for b in bounds]


def draw(
    setting: proofs.Setting, bounds: Sequence[str], *, rate: float, ghost: proofs.Setting | None = None
) -> go.Figure:
    """The curves of the bounds, perfect privacy, and the tight bound's reading at one rate of false accusations."""
    missed, names = missed_at("logistic", setting, rate), {b: proofs.NAMES[b] for b in bounds}
    guides = [figures.guide((0, rate), (missed, missed)), figures.guide((rate, rate), (0, missed))]
    guides.append(figures.series(words.PERFECT, RATES, 1 - RATES, "guide", hoverinfo="skip"))
    return figures.figure(
        figures.curves(names, RATES, curve, setting, ghost, between=guides, hover="misses %{y:.1%}"),
        xaxis=figures.axis("false accusations (type I error)", (0.0, 1.0), tickformat=".0%", hoverformat=".1%"),
        yaxis=figures.axis("missed members (type II error)", (0.0, 1.0), tickformat=".0%"),
        height=480,
        margin={"l": 8, "r": 28, "t": 8, "b": 8},  # room for the label of 100 %
    )


def table_rows(found: Sequence[Reading], rate: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a bound."""
    missed = f"Misses at {words.share(rate)} false accusations"
    return [
        {
            "Bound": f"{proofs.NAMES[r.bound]}, {proofs.SOURCES[r.bound]}",
            missed: f"at least {words.at_least(r.missed)}" if r.missed > 0 else "nothing proved",
            "Best guess right": f"at most {words.at_most(r.guess)}" if r.guess < 1 else "nothing proved",
        }
        for r in found
    ]


def frame(setting: proofs.Setting, bounds: Sequence[str]) -> pd.DataFrame:
    """Every plotted number: the rate of false accusations, and the share of missed members under each bound."""
    return pd.DataFrame({"false_accusations": RATES} | {f"missed_{b}": curve(b, setting) for b in bounds})
