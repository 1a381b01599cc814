"""What is learned about everybody: where the estimated share of all who are truly yes falls, whatever your truth is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.stats import norm

from pages.lessons.survey import FINE, TRUTH, Survey
from ui import figures, sentences
from ui.controls import Choice, SelectSlider

PEOPLE = SelectSlider("people", "People asked", 10_000, (100, 1000, 10_000, 100_000, 1_000_000), str)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHARE = Choice("share", "Share of people whose truth is yes", 0.3, SHARES, lambda value: f"{value:g}")
_POINTS = 181


@dataclass(frozen=True)
class Group(Survey):
    """Two laws that lie on each other."""

    people: int
    share: float

    name = "lessons_group"
    controls = {"truth": TRUTH, "people": PEOPLE, "share": SHARE}
    snippet = "group"

    @property
    def points(self) -> str:
        """Within how many points of the true share 95 % of the estimates fall."""
        return sentences.number(100 * (1.96 * self.coin.share_error(self.people)), 2, up=True)

    def answer(self) -> str:
        return f"The share whose truth is yes is estimated to ± {self.points} points (95 %), whatever your truth is."

    def shows(self) -> str:
        return (
            f"Two laws of the estimated share among {self.people:,} people lie almost on top of each other around "
            f"{sentences.percent(self.share, 0)}: 95 % of the estimates are within {self.points} points."
        )

    def frame(self) -> pd.DataFrame:
        spread, one = self.coin.share_error(self.people), 0.5 / self.people  # your truth is one among all
        grid = np.union1d(FINE, self.share + np.linspace(-5, 5, _POINTS) * spread)
        grid = grid[(grid >= 0) & (grid <= 1)]
        your_no, your_yes = (norm.pdf(grid, centre, spread) for centre in (self.share - one, self.share + one))
        return pd.DataFrame({"share": grid, "your_no": your_no, "your_yes": your_yes})

    def chart(self, before: Group | None) -> go.Figure:
        grid, your_no, your_yes = self.frame().to_numpy().T
        top = 1.12 * float(max(your_no.max(), your_yes.max()))
        return figures.figure(
            [
                figures.guide((self.share, self.share), (0.0, top)),
                figures.series("your truth is no", grid, your_no, "without", hover="density %{y:.3g}"),
                figures.series("your truth is yes", grid, your_yes, "with", hover="density %{y:.3g}"),
            ],
            xaxis=figures.axis("estimated share of people whose truth is yes", (0.0, 1.0), tickformat=".0%"),
            yaxis=figures.axis("density", (0.0, top), showticklabels=False),
        )
