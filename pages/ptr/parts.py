"""What several pictures of the page "Ask the data first" share: how numbers are written, bars, further charts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ui import figures, page, sentences

_DUST = 2e-12  # relative: .1 + .05 is 0.15


def without_dust(value: float) -> float:
    """ε, so that rounding up does not take the dust of floating point for a digit."""
    return value * (1 - _DUST)


def small(value: float) -> str:
    """ε rounded up, but for the dust of floating point; infinity as ∞."""
    return sentences.epsilon(without_dust(value))


def share(probability: float) -> str:
    """How often, to be read aloud: never 0 or 100 % unless it is."""
    if probability >= 1:
        return "always"
    if probability > 0.9995:
        return "in over 99.9 % of runs"
    if probability < 0.001:
        return "in under 0.1 % of runs"
    return f"in {sentences.number(100 * probability, 3)} % of runs"


def chance(probability: float) -> str:
    """A probability in a table: never 1 unless it is."""
    return "over 0.999" if 0.999 < probability < 1 else sentences.scientific(probability, 3)


def quantities(listed: Sequence[tuple[str, str, str]]) -> list[dict[str, str]]:
    """Every number, and who may see it."""
    return [{"Quantity": name, "Value": value, "Who sees it": who} for name, value, who in listed]


def further(name: str, picture: page.Picture) -> None:
    """A further chart with its files."""
    page.show(picture, key=f"{name}_chart")
    page.evidence(picture, name=name)


def bars(named: Sequence[tuple[str, float, str]], title: str, allowed: float | None = None) -> figures.Figure:
    """Named values as horizontal bars, in the colour of their roles; a thin line at what is allowed."""
    values = np.array([value for _, value, _ in named])
    colors = [figures.look(role).color for _, _, role in named]
    drawn: dict[str, Any] = {"type": "bar", "orientation": "h", "width": 0.5, "x": values, "y": np.arange(len(named))}
    drawn |= {"marker": {"color": colors}, "hovertemplate": "ε = %{x:.3g}<extra></extra>"}
    drawn |= {"text": [small(value) for value in values.tolist()], "textposition": "outside"}
    traces = [drawn]
    last = len(named) - 0.4
    far = 1.15 * max(float(values.max()), allowed or 0.0)
    if allowed is not None:
        traces.append(figures.guide((allowed, allowed), (-0.6, last)))
    names = [name for name, _, _ in named]
    xaxis = figures.axis(title, (0.0, far))
    yaxis = figures.axis("", (last, -0.6), showgrid=False, **figures.ticks(np.arange(len(named)), names))
    return figures.figure(traces, xaxis, yaxis, height=70 + 40 * len(named), legend=False)
