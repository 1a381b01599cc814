"""One answer by a coin: how likely a yes is, for those whose truth is yes and for the others, against the coin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from pages.lessons.survey import FINE, TRUTH, Survey
from ui import figures, sentences

NEAR_THE_AXIS = 0.1  # a number on the left of a mark further left would lie on the axis


@dataclass(frozen=True)
class OneAnswer(Survey):
    """The ratio of two chances."""

    name = "lessons_coin"
    controls = {"truth": TRUTH}
    snippet = "coin"

    def answer(self) -> str:
        times, ln = sentences.number(self.coin.times), sentences.number(self.coin.loss, 4)
        return f"ε = ln {times} = {ln}: a yes is {times} times as likely if it is true."

    def shows(self) -> str:
        rarer, likelier = map(sentences.number, self.coin.yes)
        return (
            f"The chance of a yes against the coin. At {self.truth:g}: {likelier} where the truth is yes, {rarer} "
            f"where it is no; their ratio is {sentences.number(self.coin.times)}."
        )

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame({"truth": FINE, "yes_if_true": (1 + FINE) / 2, "yes_if_false": (1 - FINE) / 2})

    def chart(self, before: OneAnswer | None) -> go.Figure:
        rarer, likelier = self.coin.yes
        curves = {
            "without": ("the truth is no", (1 - FINE) / 2, rarer),
            "with": ("the truth is yes", (1 + FINE) / 2, likelier),
        }
        side = "left" if self.truth > NEAR_THE_AXIS else "right"  # beside the guide, not on it
        traces = [figures.guide((self.truth, self.truth), (0.0, 1.0))]
        for role, (name, heights, here) in curves.items():
            traces.append(figures.series(name, FINE, heights, role, hover="%{y:.3g}"))
            look: dict[str, Any] = {"mode": "markers+text", "showlegend": False, "hoverinfo": "skip"}
            mark = figures.series(name, [self.truth], [here], role, **look)
            mark["marker"] |= {"size": 14}
            place = f"{'top' if role == 'with' else 'bottom'} {side}"
            traces.append(mark | {"text": [sentences.number(here)], "textposition": place, "cliponaxis": False})
        share: dict[str, Any] = {"tickvals": [0, 0.25, 0.5, 0.75, 1]}
        return figures.figure(
            traces,
            xaxis=figures.axis("chance that the first coin says: tell the truth", (-0.01, 1.01), **share),
            yaxis=figures.axis("chance of a yes", (-0.04, 1.08), **share),
        )
