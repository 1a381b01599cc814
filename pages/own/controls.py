"""The controls of the page "Your own data", and its presets."""

from objpert_core.estimators.own_table import ADDITIVE, BY_RULE, LINEAR
from pages.own.jobs import INTERVALS, SCORES
from ui import parameters
from ui.controls import Choice, Pills, Preset, presets

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
ALSO = Pills("own_also", "Also release", (), help=ALSO_HELP, options=(SCORES, INTERVALS), format=str)
MODELS = {BY_RULE: "automatic", LINEAR: "straight lines", ADDITIVE: "a curve for each column"}
MODEL = Choice("own_kind", "Model", BY_RULE, options=tuple(MODELS), format=MODELS.__getitem__)
GHOST = parameters.ghost("own", "release")
HANDED_IN = Preset("A file is handed in", {TABLE: OWN})
CONTROLS = (TABLE, EPSILON, ALSO, MODEL, DELTA, GHOST)
PRESETS = presets("own", (TABLE, EPSILON, ALSO, MODEL, DELTA))
