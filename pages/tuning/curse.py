"""The winner's curse: how much juries flatter the candidate they choose, beside a learning rate that nobody chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.tuning.result import ResultPicture
from ui import draws, page, sentences
from ui.figures import axis, figure, guide, series
from ui.words import SHOWS, between, given, points, unclear, undecided

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
        return figure(
            draws.faint(traces, self.stale),
            xaxis=axis("judges’ share of right answers<br>minus fresh rows’, points", (edges[0], edges[-1])),
            yaxis=axis("share of juries", (0, 1.08 * top), tickformat=".0%"),
            height=340,
            hovermode="closest",
        )
