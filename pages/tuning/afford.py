"""What is left for each run where the whole may cost what one run costs now; only while somebody looks."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import streamlit as st

import objpert_core.accounting as acc
from pages.tuning.numbers import DP_SGD, MADE, REMEMBERED, WAYS, Tuning
from ui import figures, page, sentences
from ui.sentences import delta, epsilon, number

OBJECTIVE_PERTURBATION = (
    "**Objective perturbation hardly needs this page.** Its optimiser, learning rate and stopping rule do not affect "
    "the guarantee. Its σ and λ are functions of ε, δ and public quantities. So there is nothing to choose by "
    "looking at the data, and you pay for one run only."
)
NOTE = (
    "Each row is one way of accounting, with the smallest noise multiplier for which the whole tuning costs no more "
    "than one run costs now. The last column is the cost of one such run alone."
)


@dataclass(frozen=True)
class Need:
    """What one run must be for the whole tuning to cost the target: its noise multiplier and its own ε at δ."""

    noise_multiplier: float
    epsilon: float


def needed(tuning: Tuning) -> dict[str, Need | None]:
    """The DP-SGD run that every way allows, so that the whole costs what one run costs now; None where none does."""
    needs: dict[str, Need | None] = dict.fromkeys(WAYS)
    for way in WAYS:
        with suppress(ValueError):
            noise = _noise(way, tuning.relevant(way))
            own = acc.DPSGD(noise, tuning.sample_rate, tuning.steps)
            needs[way] = Need(noise, float((acc.via_rdp(own) if tuning.renyi else own).epsilon(tuning.delta)))
    return needs


@lru_cache(maxsize=REMEMBERED)
def _noise(way: str, tuning: Tuning) -> float:
    target, delta, accountant = tuning.price("free"), tuning.delta, tuning.accountant
    rate, steps, settings = tuning.sample_rate, tuning.steps, tuning.settings
    if way == "free" or (way == "composed" and settings == 1):
        own = tuning.one_run
        run = own.base if isinstance(own, acc.ViaRDP) else own
    elif way == "composed":
        run = acc.calibrate_dpsgd(target, delta, rate, steps * settings, accountant)
    elif way == "selection" and tuning.law_eta is None:
        tuned = acc.calibrate_dpsgd(target, delta, rate, steps, accountant, tuning.mean_runs)
        assert isinstance(tuned, acc.PrivateSelection)
        run = tuned.base
    else:
        mean, eta = tuning.mean_runs, tuning.law_eta
        run = acc.calibrate_tuning(target, delta, rate, steps, mean, eta, accountant, proof=way)
    assert isinstance(run, acc.DPSGD)
    return run.noise_multiplier


@dataclass(frozen=True)
class Left:
    """What every way leaves for each run of a tuning."""

    tuning: Tuning
    needs: Mapping[str, Need | None]

    @cached_property
    def target(self) -> float:
        """What the whole may cost."""
        return self.tuning.price("free")

    def answer(self) -> str:
        """By how much the noise has to grow for the whole to cost the target."""
        free, found = self.needs["free"], [(need.noise_multiplier, way) for way in MADE if (need := self.needs[way])]
        if free is None or not found:
            return "No noise multiplier meets the target."
        (noise, way), settings = min(found), self.tuning.settings
        if settings == 1 and way == "composed":
            return f"With one setting there is nothing to choose: one run costs ε = {epsilon(self.target)}, as before."
        return (
            f"Each run needs {number(noise / free.noise_multiplier, up=True)} times the noise: a noise multiplier of "
            f"{number(noise, up=True)} instead of {number(free.noise_multiplier, up=True)}. Then the choice among "
            f"{settings} settings costs ε = {epsilon(self.target)} in all."
        )

    def alt(self) -> str:
        parts = [f"{WAYS[way]} {epsilon(need.epsilon) if need else 'nothing'}" for way, need in self.needs.items()]
        return f"ε left for each run where the whole may cost ε = {epsilon(self.target)}: {', '.join(parts)}."

    def table(self) -> list[dict[str, str]]:
        """Noise multiplier and ε of each run under every way."""
        free = self.needs["free"]
        return [
            {
                "Accounted for": WAYS[way],
                "Noise multiplier": number(need.noise_multiplier, 4, up=True) if need else "none is enough",
                "Noise / unpaid": sentences.ratio(need.noise_multiplier / free.noise_multiplier)
                if need and free
                else "–",
                f"ε of each run at δ = {delta(self.tuning.delta)}": epsilon(need.epsilon) if need else "–",
            }
            for way, need in self.needs.items()
        ]

    def chart(self) -> Any:
        """The ε of each run as bars under the total, with the noise multiplier that takes."""
        needs = self.needs.values()
        places, shares = np.arange(len(needs)), [need.epsilon if need else 0.0 for need in needs]
        bars: dict[str, Any] = {"type": "bar", "name": "ε left for each run", "x": places, "y": np.array(shares)}
        bars |= {"marker": {"color": [figures.look(way).color for way in self.needs]}, "showlegend": False}
        bars |= {"hovertemplate": "ε = %{y:.3g}<extra></extra>", "meta": {"role": "selection", "ghost": False}}
        noises = [f"noise {number(need.noise_multiplier, up=True)}" if need else "none" for need in needs]
        above = figures.series("noise multiplier", places, shares, "guide", mode="text", hoverinfo="skip")
        above |= {"text": noises, "textposition": "top center", "showlegend": False}
        ends = (-0.6, len(needs) - 0.4)
        total = figures.series("total ε", ends, (self.target, self.target), "free", mode="lines", hoverinfo="skip")
        names = [WAYS[way].replace(" ", "<br>", 1) for way in self.needs]
        across = figures.axis("", ends, tickvals=places, ticktext=names)
        upright = figures.axis("ε left for each run", (0.0, 1.2 * max(self.target, *shares)))
        return figures.figure([total, bars, above], across, upright, height=300, hovermode="closest")


def draw(tuning: Tuning) -> None:
    """Draw the box; its content is calibrated while the box is open, which takes a second."""
    question = "What is left for each run?"
    box = st.expander(question, icon=":material/payments:", key="tuning_afford", bind="query-params")
    with box:
        if not box.open:
            return
        if tuning.kind != DP_SGD:
            st.markdown(OBJECTIVE_PERTURBATION)
            return
        left = Left(tuning, needed(tuning))
        st.markdown(left.answer())
        page.show(page.Picture(left.chart(), left.alt()), key="tuning_left")
        alt = "Noise multiplier of each run under every accounting."
        page.table(left.table(), alt=alt, name="tuning_left")
        st.caption(NOTE)
