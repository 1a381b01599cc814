"""The pictures that lessons can show, by name."""

from collections.abc import Mapping

from pages.lessons.bet import Bet
from pages.lessons.processing import Processing
from pages.lessons.scene import Scene
from pages.lessons.slack import Slack
from pages.lessons.survey import Group, Neighbours, OneAnswer, Several
from ui.lesson_text import Controls, LessonError

ALL: tuple[type[Scene], ...] = (OneAnswer, Neighbours, Bet, Slack, Processing, Several, Group)
SCENES: Mapping[str, type[Scene]] = {scene.name.removeprefix("lessons_"): scene for scene in ALL}


def scene(part: Controls) -> type[Scene]:
    """The picture that a directive names; `LessonError` where there is none."""
    if part.picture not in SCENES:
        raise LessonError(part.line, f"there is no picture {part.picture!r}; there are {', '.join(SCENES)}.")
    return SCENES[part.picture]
