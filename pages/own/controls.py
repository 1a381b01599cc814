"""The controls of the page "Your own data", and its presets."""

from typing import Any

from pages.own.jobs import INTERVALS, SCORES
from ui import parameters
from ui.controls import Choice, Control, Pills, Preset

TWO, NUMBER, OWN = "two", "number", "own"
NAMES = {TWO: "example: two values", NUMBER: "example: a number", OWN: "your own file"}
TABLE = Choice("own_table", "Table", TWO, options=tuple(NAMES), format=NAMES.__getitem__)
EPSILON = parameters.epsilon("own", 1.0)
DELTA = parameters.delta("own")
ALSO_HELP = (
    "Scores and intervals are inside the same ε and δ. Scores: a coin puts about one person in five aside, and the "
    "model is scored on these people, with noise. Intervals: how far each coefficient may be off, for a target of two "
    "values."
)
ALSO = Pills("own_also", "Release with the model", (), help=ALSO_HELP, options=(SCORES, INTERVALS), format=str)
GHOST = parameters.ghost("own", "release")
HANDED_IN = Preset("A file is handed in", {TABLE: OWN})
CONTROLS = (TABLE, EPSILON, ALSO, DELTA, GHOST)
USUAL: dict[Control, Any] = {TABLE: TWO, EPSILON: 1.0, ALSO: (), DELTA: 1e-5}
PRESETS = (
    Preset("An example: two values", USUAL, "Who repays a loan? 2,000 invented people."),
    Preset("An example: a number", USUAL | {TABLE: NUMBER}, "What does a flat cost a month? 2,000 invented flats."),
    Preset("Ten times the privacy", USUAL | {EPSILON: 0.1}, "See what a tenth of the ε does to the coefficients."),
    Preset("With scores", USUAL | {ALSO: (SCORES,)}, "The accuracy that may be published, for the same ε."),
    Preset(
        "With intervals",
        USUAL | {EPSILON: 5.0, ALSO: (INTERVALS,)},
        "How far coefficients may be off. At small ε this table is too small to tell.",
    ),
    Preset("Your own file", USUAL | {TABLE: OWN}, "Upload a table and type what is public about it."),
)
