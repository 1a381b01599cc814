"""What a picture of a lesson is: its sliders, and what it draws at their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from ui.controls import Control
from ui.lesson_text import Controls, LessonError


@dataclass(frozen=True)
class Drawn:
    """A picture at one setting.

    Attributes
    ----------
    answer : str
        At most 18 words.
    promise : str
        ε, δ, adjacency and accountant, or what stands in their place.
    figure : plotly.graph_objects.Figure
    alt : str
        What somebody who cannot see it should know.
    numbers : pandas.DataFrame
        What is plotted.
    code : str
        Python that prints the numbers of the answer.
    """

    answer: str
    promise: str
    figure: go.Figure
    alt: str
    numbers: pd.DataFrame
    code: str


@dataclass(frozen=True)
class Scene:
    """A picture by its sliders, each under the name that lessons use, and the function that draws their values."""

    controls: Mapping[str, Control]
    draw: Callable[..., Drawn]

    def placed(self, step: int, part: Controls) -> dict[str, Control]:
        """The sliders of the step number `step`, which begin where its directive says.

        Raises
        ------
        LessonError
            If the directive names a slider that is not here, or a value that it does not offer.
        """
        for name in part.values:
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise LessonError(part.line, f"the picture {part.picture} has the sliders {known}, got {name!r}.")
        return {
            name: replace(
                control,
                key=f"lessons_{part.picture}_{step}_{name}",
                default=_value(name, control, part) if name in part.values else control.default,
            )
            for name, control in self.controls.items()
        }


def _value(name: str, control: Any, part: Controls) -> Any:
    told = part.values[name]
    for option in control.options:
        if control.format(option) == told:
            return option
    offered = ", ".join(control.format(option) for option in control.options)
    raise LessonError(part.line, f"{name} must be one of {offered}, got {told!r}.")
