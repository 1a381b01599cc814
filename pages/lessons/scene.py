"""What a picture of a lesson is: a view whose sliders stand once in each step that shows it."""

from dataclasses import replace
from typing import Any

from ui.controls import Control
from ui.lesson_text import Controls, LessonError
from ui.view import View


class Scene(View):
    """A picture with its sliders, each under the name that lessons use; it answers at their values."""

    answers_in_alt = False
    ghosts = False

    @classmethod
    def placed(cls, step: int, part: Controls) -> dict[str, Control]:
        """The sliders of the step number `step`, which begin where its directive says.

        Raises
        ------
        LessonError
            If the directive names a slider that is not here, or a value that it does not offer.
        """
        for name in part.values:
            if name not in cls.controls:
                known = ", ".join(cls.controls)
                raise LessonError(part.line, f"the picture {part.picture} has the sliders {known}, got {name!r}.")
        return {
            name: replace(
                control,
                key=f"{cls.name}_{step}_{name}",
                default=_value(name, control, part) if name in part.values else control.default,
            )
            for name, control in cls.controls.items()
        }


def _value(name: str, control: Any, part: Controls) -> Any:
    given = part.values[name]
    for option in control.options:
        if control.format(option) == given:
            return option
    offered = ", ".join(control.format(option) for option in control.options)
    raise LessonError(part.line, f"{name} must be one of {offered}, got {given!r}.")
