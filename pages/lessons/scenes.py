"""The pictures that lessons can show, by name."""

from __future__ import annotations

from collections.abc import Mapping

from pages.lessons import bets, releases, survey
from pages.lessons.scene import Scene
from ui.lesson_text import Controls, LessonError

SCENES: Mapping[str, Scene] = {
    "coin": survey.ANSWER,
    "neighbours": survey.NEIGHBOURS,
    "bet": bets.BET,
    "slack": bets.SLACK,
    "processing": releases.PROCESSING,
    "several": releases.SEVERAL,
    "group": survey.GROUP,
}


def scene(part: Controls) -> Scene:
    """The picture that a directive names; `LessonError` where there is none."""
    if part.picture not in SCENES:
        raise LessonError(part.line, f"there is no picture {part.picture!r}; there are {', '.join(SCENES)}.")
    return SCENES[part.picture]
