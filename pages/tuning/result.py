"""The three charts of the picture "In accuracy" show one result; below the stage, what K did and the winner's curse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from objpert_core.experiments.studies.tuning_runs import Draw, TuningRuns
from ui import draws, page, sentences
from ui.figures import axis, figure, guide, marks, series
from ui.sentences import scientific
from ui.words import SHOWS, accuracy, between, given, points, times, unclear, undecided


@dataclass(frozen=True)
class ResultPicture:
    """A picture of a result; it is faint where it is `stale`: the controls have been moved since."""

    result: TuningRuns
    stale: bool = False

    def about(self) -> dict[str, Any]:
        """What every row of the numbers begins with."""
        fields = ("epsilon", "delta", "batch_size", "epochs", "accountant", "mean_runs")
        settings = {field: getattr(self.result.settings, field) for field in fields}
        data = {"data_set": self.result.data.label, "split_seed": self.result.data.split_seed}
        return data | settings | {"judges": self.result.judges}


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
                traces.append(marks(name, draw.runs, shares, role, hover=hover))
        if draw.released is not None:
            at, name = [draw.runs[draw.released]], "released, on fresh rows"
            traces.append(marks(name, at, [draw.honest], "tight", 14, hover="%{y:.2%}"))
        else:
            traces.append(guide(edges, [draw.honest, draw.honest], name="θ = 0, released") | {"showlegend": True})
        low, high = float(values.min()), float(values.max())
        pad = max(0.02, 0.06 * (high - low))
        xaxis = axis("learning rate", edges, log=True)
        yaxis = axis("share of right answers", (low - pad, high + pad), tickformat=".0%")
        return figure(draws.faint(traces, self.stale), xaxis, yaxis, height=340, hovermode="closest")


_BINS = 16


@dataclass(frozen=True)
class Curse(ResultPicture):
    """What all juries said too much."""

    def show(self) -> None:
        """Draw it with what is said about it, and its files."""
        st.header("The winner’s curse", anchor=False)
        st.markdown(f"{self.flattery()} {self.answer()}")
        picture = page.Picture(self.chart(), self.alt(), self.frame)
        page.show(picture, key="honest_curse_chart")
        page.evidence(picture, name=f"honest_curse_{self.result.data.name}")

    def flattery(self) -> str:
        """What a jury says of its choice against what the other rows say, on average over all that were drawn."""
        result = self.result
        gap, drawn = given(result.optimism), f"{result.juries:,} drawn"
        jury = (
            f"The {result.judges} test rows that choose a model are its judges, together its jury. Juries of "
            f"{result.judges} such rows flatter the candidate they choose by"
        )
        if words := unclear(gap):
            return f"{jury} an amount that {words}; {drawn})."
        if 100 * gap.mean < SHOWS:
            return f"{jury} less than 0.1 points on average ({drawn})."
        size = points(100 * gap.mean)
        return f"{jury} {size} on average against the rows left over ({drawn}): the winner’s curse."

    def answer(self) -> str:
        """How often juries flatter their choice, and whether they do where there was nothing to choose."""
        result = self.result
        gaps = [gap for draw in result.draws for gap in draw.curse]
        share = sum(gap > 0 for gap in gaps) / len(gaps)
        return (
            f"A jury is a set of judges: test rows that choose together. {result.juries:,} juries of {result.judges} "
            f"test rows were drawn, {result.juries // len(result.draws)} for each draw of noise: "
            f"{sentences.percent(share, 0)} of them rate the candidate they choose higher than the other rows do. "
            f"For a learning rate fixed in advance, where nothing was chosen, {self.without_choice()}."
        )

    def without_choice(self) -> str:
        """The mean difference with its interval: 'the mean is +0.3 points, not told apart from 0 (…)'."""
        gap = given(self.result.without_choice)
        words = f"the mean is {100 * gap.mean:+.1f} points".replace("-", "−")
        if not gap.known:
            return words
        return f"{words}, {'not told' if undecided(gap) else 'told'} apart from 0 ({between(gap)})"

    def alt(self) -> str:
        flattered = 100 * given(self.result.optimism).mean
        return (
            f"How much {self.result.judges} judges flatter the candidate they choose: {flattered:+.1f} points on "
            f"average; for a learning rate fixed in advance {self.without_choice()}."
        )

    def frame(self) -> pd.DataFrame:
        """A row for each jury."""
        return pd.DataFrame(
            [
                self.about() | {"noise_seed": draw.seed, "jury": number + 1, "chosen": chosen, "fixed": fixed}
                for draw in self.result.draws
                for number, (chosen, fixed) in enumerate(zip(draw.curse, draw.no_curse, strict=True))
            ]
        )

    def chart(self) -> Any:
        """Both histograms."""
        chosen = np.concatenate([draw.curse for draw in self.result.draws])
        nobody = np.concatenate([draw.no_curse for draw in self.result.draws])
        low, high = 100 * min(chosen.min(), nobody.min(), 0.0), 100 * max(chosen.max(), nobody.max(), 0.0)
        edges = np.linspace(low, high + 1e-9 + 0.001 * (high - low), _BINS + 1)
        traces, top = [], 0.0
        for name, gaps, role in (
            ("chosen by these judges", chosen, "dpsgd-dishonest-rdp"),
            ("fixed in advance", nobody, "tight"),
        ):
            share = np.histogram(100 * gaps, edges)[0] / len(gaps)
            top = max(top, float(share.max()))
            x, y = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(share, 2), [0.0]])
            label = f"{name}, mean {100 * gaps.mean():+.1f}"
            traces.append(series(label, x, y, role, hover="%{y:.0%} at %{x:.1f} points"))
        traces.insert(0, guide([0, 0], [0, 1.08 * top]))
        xaxis = axis("judges’ share of right answers<br>minus fresh rows’, points", (edges[0], edges[-1]))
        yaxis = axis("share of juries", (0, 1.08 * top), tickformat=".0%")
        return figure(draws.faint(traces, self.stale), xaxis, yaxis, height=340, hovermode="closest")
