"""An attacker's errors under each bound: the share of missed members against the share of false accusations.

The attacker decides from the release whether a person was in the data. False accusations (type I errors) run over
`RATES`; missed members (type II errors) are the mechanism's `tradeoff`. Rounded to the safe side: what an attacker
misses is rounded down, how often a guess is right is rounded up.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property, lru_cache
from typing import Self

import numpy as np
import pandas as pd

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from pages.bounds.controls import ERRORS, READ_DELTA, READ_RATE, SPECIAL
from pages.bounds.picture import FIT, Proofs
from ui import bounds as proofs
from ui import figures, sentences

POINTS = 241
RATES = np.sin(np.linspace(0.0, np.pi / 2, POINTS)) ** 2  # crowded at both ends, where the curves are steepest
RATES[0], RATES[-1] = 0.0, 1.0
RATES.setflags(write=False)
PERFECT = "Perfect privacy (guessing)"
_NEITHER = "the theorems of 2012 and 2023 promise nothing"


@dataclass(frozen=True)
class Reading(proofs.Told):
    """What one bound says about an attacker."""

    missed: float  # share of the members that an attacker with the given rate of false accusations misses at least
    guess: float  # how often the best guess is right at most, starting from even odds


def _rates() -> FloatArray:
    return RATES


def curve(bound: str, setting: proofs.Setting) -> FloatArray:
    """Smallest share of missed members at each of `RATES`."""
    return proofs.along(setting.mechanism(bound), "tradeoff", _rates)


_guess = lru_cache(maxsize=2000)(acc.best_guess)


@dataclass(frozen=True)
class Errors(Proofs, name="bounds_errors", title=ERRORS, snippet="errors"):
    """What an attacker misses."""

    rate: float = READ_RATE.default

    chart_key = "bounds_errors"
    files = "bounds-errors"
    controls = {**FIT, "delta": READ_DELTA, "rate": READ_RATE}
    switches = SPECIAL

    @cached_property
    def readings(self) -> Mapping[str, Reading]:
        setting = self.setting
        return {
            bound: Reading(bound, setting.silent(bound), self.missed(bound, setting), _guess(setting.mechanism(bound)))
            for bound in self.shown
        }

    def missed(self, bound: str, setting: proofs.Setting) -> float:
        """The smallest share of missed members."""
        return proofs.at(setting.mechanism(bound), "tradeoff", self.rate)

    def answer(self) -> str:
        tight, rate = self.missed("logistic", self.setting), share(self.rate)
        if self.setting.replaced:
            return _about_contents(tight, rate)
        if tight <= 0:
            return f"Nothing is proved about an attacker who accuses {rate} of outsiders."
        return f"An attacker who wrongly accuses {rate} of outsiders misses at least {at_least(tight)} of participants."

    def caption(self) -> str:
        return f"{self.best_guess()} {self.comparison()}".lstrip()

    def best_guess(self) -> str:
        """How often the best guess from even odds is right, about what these neighbours differ in."""
        guess = self.readings["logistic"].guess
        if guess >= 1:
            return ""
        what = "whether you took part" if self.setting.usual else "whether your rows are in the data"
        what = "which of two contents your row has" if self.setting.replaced else what
        return f"Starting from even odds, the best guess about {what} is right at most {at_most(guess)} of the time."

    def comparison(self) -> str:
        """What no proof can promise, and the published analysis: about the logistic loss, and at the page's β."""
        setting, tight, lower = self.setting, self.missed("logistic", self.setting), self.missed("lower", self.setting)
        beyond = "" if at_least(tight) == at_least(lower) else f" than {at_least(lower)}"
        start = "" if tight <= 0 else f"No proof can promise more{beyond}. "
        own = self.published(setting.logistic)
        if math.isclose(setting.smoothness, setting.logistic_smoothness):
            return f"{start}{sentences.capital(own)}."
        beta = sentences.number(setting.smoothness)
        return f"{start}For the logistic loss {own}. For β = {beta} {self.published(setting)}."

    def published(self, setting: proofs.Setting) -> str:
        """Which published theorem promises most, and what."""
        best = max(reversed(proofs.PUBLISHED), key=lambda bound: self.missed(bound, setting))
        missed = self.missed(best, setting)
        return f"{proofs.called(best)} promises at least {at_least(missed)}" if missed > 0 else _NEITHER

    def table(self) -> list[dict[str, str]]:
        missed = f"Misses at {share(self.rate)} false accusations"
        return [
            {
                "Bound": f"{proofs.NAMES[bound]}, {proofs.SOURCES[bound]}",
                missed: f"at least {at_least(reading.missed)}" if reading.missed > 0 else "nothing proved",
                "Best guess right": f"at most {at_most(reading.guess)}" if reading.guess < 1 else "nothing proved",
            }
            for bound, reading in self.readings.items()
        ]

    def numbers(self) -> pd.DataFrame:
        curves = {f"missed_{bound}": curve(bound, self.setting) for bound in self.shown}
        return pd.DataFrame({"false_accusations": RATES} | curves).assign(neighbours=self.setting.neighbours)

    def svg_title(self) -> str:
        return f"An attacker’s errors under objective perturbation, {self.setting}"

    def shows(self) -> str:
        order = sorted(self.readings.items(), key=lambda item: -item[1].missed)
        listed = "; ".join(
            f"{proofs.NAMES[bound]} {at_least(reading.missed) if reading.missed > 0 else 'proves nothing'}"
            for bound, reading in order
        )
        return (
            f"Trade-off curves: missed participants against false accusations, both from 0 to 100 %, for "
            f"{sentences.count(len(order), 'bound')} and for perfect privacy, the diagonal. "
            f"Missed at {share(self.rate)} false accusations: {listed}.{self.whose()}"
        )

    def chart(self, before: Self | None) -> figures.Figure:
        rate, missed = self.rate, self.missed("logistic", self.setting)
        guides = [figures.guide((0, rate), (missed, missed)), figures.guide((rate, rate), (0, missed))]
        guides.append(figures.series(PERFECT, RATES, 1 - RATES, "guide", hoverinfo="skip"))
        names, ghost = {bound: proofs.NAMES[bound] for bound in self.shown}, before.setting if before else None
        return figures.figure(
            figures.curves(names, RATES, curve, self.setting, ghost, between=guides, hover="misses %{y:.1%}"),
            xaxis=figures.axis("false accusations (type I error)", (0.0, 1.0), tickformat=".0%", hoverformat=".1%"),
            yaxis=figures.axis("missed participants (type II error)", (0.0, 1.0), tickformat=".0%"),
            height=480,
            margin={"l": 8, "r": 28, "t": 8, "b": 8},  # room for the label of 100 %
        )


def _about_contents(missed: float, rate: str) -> str:
    """The answer where a row is replaced: nobody is outside, and the attacker tells one content from another."""
    if missed <= 0:
        return f"Nothing is proved about an attacker who calls {rate} of first contents “second”."
    return (
        f"An attacker who calls {rate} of first contents “second” calls at least {at_least(missed)} of second ones "
        "“first”."
    )


def share(value: float) -> str:
    """A round share as it is: 5 %, 0.1 %."""
    return f"{100 * value:.6g} %"


def at_least(value: float) -> str:
    """A share rounded down: one decimal from 1 % on, two digits below."""
    return _percent(value, ROUND_FLOOR)


def at_most(value: float) -> str:
    """A share rounded up, likewise."""
    return _percent(value, ROUND_CEILING)


def _percent(value: float, rounding: str) -> str:
    exact = Decimal(repr(float(value))) * 100
    step = Decimal("0.1") if exact >= 1 or exact == 0 else Decimal(1).scaleb(exact.adjusted() - 1)
    text = f"{exact.quantize(step, rounding=rounding):f}"
    return f"{text} %" if len(text) < 10 else "0 %" if rounding == ROUND_FLOOR else f"{float(text):.1e} %"
