"""What K did: paid tuning's runs in one draw, by learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.experiments.studies.tuning_runs import Draw
from pages.tuning.result import ResultPicture
from ui import draws, page, sentences
from ui.figures import axis, figure, guide, series
from ui.sentences import scientific
from ui.words import accuracy, given, points, times

DO_NOT_PUBLISH = (
    "The promise of paid tuning covers the released model, its learning rate and its own score. K and the other runs "
    "are not covered, so do not publish this picture."
)


@dataclass(frozen=True)
class WhatKDid(ResultPicture):
    """One draw's runs; `number` from 1, and the last draw where there are fewer."""

    number: int = 1

    @property
    def draw(self) -> Draw:
        """The draw that is looked into."""
        return self.result.draws[min(self.number, len(self.result.draws)) - 1]

    def show(self) -> None:
        """Draw it with its caption and files."""
        st.markdown(self.answer())
        picture = page.Picture(self.chart(), self.alt(), self.frame)
        page.show(picture, key="honest_runs_chart")
        st.caption(f"{self.scores()} {DO_NOT_PUBLISH}")
        page.evidence(picture, name=f"honest_runs_{self.result.data.name}")

    def answer(self) -> str:
        """K, the candidates it met, the winner, and what a better winner would have been."""
        draw = self.draw
        if draw.released is None:
            return (
                f"**K was 0** with noise seed {draw.seed}: nothing was trained, and θ = 0 was released, as fixed in "
                f"advance. This model is right on {accuracy(draw.honest)} of fresh rows."
            )
        best = int(draw.accuracy.argmax())
        other = (
            f"The best of the runs, with {scientific(draw.runs[best])}, is right on {accuracy(draw.accuracy[best])}."
        )
        if best == draw.released or draw.accuracy[best] <= draw.honest:
            other = "No other run would have been better."
        return (
            f"**K was {len(draw.runs)}** with noise seed {draw.seed}. The learning rates drawn: "
            f"{times(draw.runs.tolist())}. The noisy score was highest for {scientific(draw.runs[draw.released])}. "
            f"This model was released, and is right on {accuracy(draw.honest)} of fresh rows. {other}"
        )

    def scores(self) -> str:
        """How noisy the private score is."""
        result = self.result
        noise, held_out = given(result.paid.score_noise), result.data.train_rows * result.settings.validation_fraction
        return (
            f"The private score counts right answers on about {held_out:,.0f} held-out training rows, with noise of "
            f"standard deviation {sentences.number(noise)}: {points(100 * noise / held_out)}."
        )

    def alt(self) -> str:
        draw = self.draw
        if draw.released is None:
            return "No run was made: K was 0."
        return (
            f"{sentences.count(len(draw.runs), 'run')} of paid tuning: noisy score and accuracy on fresh rows against "
            f"the learning rate; released is {scientific(draw.runs[draw.released])} with {accuracy(draw.honest)} on "
            "fresh rows."
        )

    def frame(self) -> pd.DataFrame:
        """A row for each run of paid tuning, of every draw."""
        return pd.DataFrame(
            [
                self.about()
                | {"noise_seed": draw.seed, "run": number + 1, "learning_rate": draw.runs[number]}
                | {"score": draw.scores[number], "fresh": draw.accuracy[number], "released": number == draw.released}
                for draw in self.result.draws
                for number in range(len(draw.runs))
            ]
        )

    def chart(self) -> Any:
        """The noisy score that judged every run, and what fresh rows say."""
        draw, rates = self.draw, np.array(self.result.settings.learning_rates)
        edges = (float(rates.min()) / 1.6, float(rates.max()) * 1.6)
        traces: list[dict[str, Any]] = []
        values = np.concatenate([draw.scores, draw.accuracy, [draw.honest]])
        if len(draw.runs):
            gaps = np.full(len(draw.runs), np.nan)
            between = np.column_stack([draw.scores, draw.accuracy, gaps]).ravel()
            traces.append(guide(np.repeat(draw.runs, 3), between))  # type: ignore[arg-type]
            hover = "learning rate %{x:.2g}: %{y:.1%}"
            for name, shares, role in (
                ("private score, noise included", draw.scores, "dpsgd-honest"),
                ("on fresh rows", draw.accuracy, "published"),
            ):
                traces.append(series(name, draw.runs, shares, role, mode="markers", hover=hover))
        if draw.released is not None:
            at, name = [draw.runs[draw.released]], "released, on fresh rows"
            best = series(name, at, [draw.honest], "tight", mode="markers", hover="%{y:.2%}")
            traces.append(best | {"marker": {**best["marker"], "size": 14}})
        else:
            traces.append(guide(edges, [draw.honest, draw.honest], name="θ = 0, released") | {"showlegend": True})
        low, high = float(values.min()), float(values.max())
        pad = max(0.02, 0.06 * (high - low))
        return figure(
            draws.faint(traces, self.stale),
            xaxis=axis("learning rate", edges, log=True),
            yaxis=axis("share of right answers", (low - pad, high + pad), tickformat=".0%"),
            height=340,
            hovermode="closest",
        )
