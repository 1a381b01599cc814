"""The controls of the page "How sure is a model?"."""

from objpert_core.experiments.intervals import coverage
from ui import parameters
from ui.controls import Choice, SelectSlider, Toggle, powers_of_ten

SHAPES = {
    "even": "even columns",
    "correlated": "correlated columns",
    "skewed": "skewed columns",
    "rare": "a rare class",
    "steep": "strong effects",
}
"""Generated people, by the name of `objpert_core.experiments.intervals.shapes`."""
OTHERS = {"collinear": "nearly collinear columns", "bent": "a wrong model", "half-steep": "effects half as strong"}

EPSILON = SelectSlider(
    "sure_epsilon", "Privacy budget ε", 1.0, (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
)
DELTA = SelectSlider("sure_delta", "Slack δ", 1e-6, powers_of_ten(-9, -4))
PEOPLE = SelectSlider(
    "sure_n", "People n", 10_000, (1000, 2000, 3000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000), format=str
)
SHAPE = Choice("sure_shape", "Generated data", "even", tuple(SHAPES), SHAPES.__getitem__)
ADULT = "adult"
_DATA = SHAPES | {ADULT: "Adult, ten columns"}
DATA = Choice("sure_data", "Data", "even", tuple(_DATA), _DATA.__getitem__)
REPEATED = SelectSlider("sure_people", "People n", 2000, (1000, 2000, 3000, 5000, 10_000, 20_000), format=str)
COLUMNS = SelectSlider("sure_d", "Columns d", 5, (2, 3, 5, 8, 10), format=str)
SEED = parameters.seed("sure", "Seed of people and noise")
SHARE = SelectSlider("sure_share", "Share of test people", 0.3, (0.1, 0.2, 0.3, 0.5))
CURVES = {"roc": "ROC curve", "calibration": "calibration"}
CURVE = Choice("sure_curve", "Curve", "roc", tuple(CURVES), CURVES.__getitem__, horizontal=True)
CASES = tuple(dict.fromkeys((*coverage.CORNERS, *coverage.GRID)))


def case_name(case: tuple[str, int, int, float]) -> str:
    """A stored case, for a sentence or a list."""
    shape, n, d, epsilon = case
    return f"{(SHAPES | OTHERS)[shape]}, n = {n:,}, d = {d}, ε = {epsilon:g}"


CASE = Choice("sure_case", "Data", ("even", 1000, 2, 0.3), CASES, case_name)
GHOST = Toggle("sure_ghost", "Show the previous setting faintly", True)
