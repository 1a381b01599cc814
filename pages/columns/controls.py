"""The controls of the page "What does each column do?"."""

from objpert_core.datasets.adult_codebook import CATEGORIES
from ui import parameters
from ui.controls import Choice, SelectSlider, Toggle

NUMBERS = ("age", "hours-per-week", "capital-gain", "capital-loss")
COLUMNS = (*NUMBERS, *CATEGORIES)
"""Columns of Adult that the model learns from; `education-num` says `education` again, and `fnlwgt` is no answer."""


def called(column: str) -> str:
    """A column's name in a sentence."""
    return column.replace("-", " ")


def _is(column: str, default: str) -> Choice:
    """What the invented person answers."""
    return Choice(f"columns_{column.replace('-', '_')}", called(column).capitalize(), default, CATEGORIES[column])


EPSILON = SelectSlider(
    "columns_epsilon", "Privacy budget ε", 1.0, (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
)
DELTA = parameters.delta("columns")
SEED = parameters.seed("columns", "Noise seed")
COLUMN = Choice("columns_which", "Column", "age", COLUMNS, called)
DRAWS = Toggle("columns_draws", "Five other draws of the noise", False, help="Fits to the same people at the same ε.")
GHOST = parameters.ghost("columns")

AGE = SelectSlider("columns_age", "Age", 39, tuple(range(17, 91)), format=str)
HOURS = SelectSlider("columns_hours", "Hours per week", 40, tuple(range(1, 100)), format=str)
GAINS = (0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 15_000, 20_000, 30_000, 50_000, 99_999)
GAIN = SelectSlider("columns_gain", "Capital gain, dollars", 0, GAINS, format=str)
LOSS = SelectSlider(
    "columns_loss", "Capital loss, dollars", 0, (0, 500, 1000, *range(1400, 2600, 100), 3000), format=str
)
EDUCATION = _is("education", "Bachelors")
OCCUPATION = _is("occupation", "Prof-specialty")
MARRIED = _is("marital-status", "Never-married")
RELATED = _is("relationship", "Not-in-family")
WORK = _is("workclass", "Private")
SEX = _is("sex", "Female")
RACE = _is("race", "White")
COUNTRY = _is("native-country", "United-States")
