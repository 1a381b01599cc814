"""The controls of the page "Population risk"."""

from objpert_core.experiments.population.methods import POPULATIONS
from ui.controls import Choice, SelectSlider, Toggle, log_values, plain

KINDS = tuple(POPULATIONS)
LOSS = Choice("population_loss", "What to learn", "logistic", KINDS, POPULATIONS.__getitem__)
ROWS = SelectSlider("population_n", "Rows n", 10_000, (100, 300, 1000, 3000, 10_000, 30_000, 100_000), format=str)
SIZE = SelectSlider("population_d", "Parameters d", 10, (2, 3, 10, 30, 100, 300, 500), format=str)
DELTA = "δ = 1/n². Neighbours differ in one row that is replaced."
EPSILON = SelectSlider(
    "population_epsilon", "Privacy budget ε", 0.5, log_values(0.1, 5, steps=(1, 2, 5), extra=[8.0]), help=DELTA
)
STANDARD = "standard"
BALL = (
    "The model lies in the ball ‖θ‖ ≤ M. Standard: 4 for logistic regression, 2 for the absolute loss, 1 for the "
    "linear loss."
)
RADIUS = SelectSlider(
    "population_M",
    "Radius M",
    0.0,
    (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    lambda value: STANDARD if value == 0 else plain(value),
    help=BALL,
)
T_VALUES = tuple(int(f"{m}{'0' * k}") for k in range(6) for m in (1, 2, 5))[:16]  # from 1 to 100,000
STEPS = SelectSlider("population_T", "Steps T", 200, T_VALUES, format=str)
BOUNDS = Toggle("population_bounds", "Proved bounds in the charts against n", False)
EVERY = Toggle("population_every", "Objective perturbation with every choice of Λ", False)
GHOST = Toggle("population_ghost", "Show the previous setting faintly", True)
