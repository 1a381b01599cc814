"""The controls of the Solvers page, at first Appendix F's fit at ε = 1; what it calls solvers, how it writes counts."""

from collections.abc import Mapping

from ui import parameters
from ui.controls import Choice, Pills, SelectSlider, powers_of_ten

NAMES: Mapping[str, str] = {
    "newton": "Newton",
    "newton-cg": "Newton-CG",
    "lbfgs": "L-BFGS",
    "gradient-descent": "Gradient descent",
    "accelerated": "Accelerated",
    "sag": "SAG",
    "svrg": "SVRG",
}
INSIDE: Mapping[str, str] = {
    **NAMES,
    "newton": "Newton’s method",
    "lbfgs": "L‑BFGS",  # does not break across lines
    "gradient-descent": "gradient descent",
    "accelerated": "accelerated descent",
}
"""Inside a sentence."""
COLUMNS: Mapping[str, str] = {
    "redundant": "redundant, like a one-hot table",
    "diverse": "diverse, every direction seen",
}


EVALUATIONS, RELATIVE = "Gradient evaluations", "Divided by n log n"

SOLVERS = Pills("solvers_shown", "Solvers", tuple(NAMES), tuple(NAMES), NAMES.__getitem__, most=len(NAMES))
ROWS = SelectSlider("solvers_n", "Rows n", 500, (100, 200, 500, 1000), format=str)
NOT_DIVIDED = (
    "λ is not divided by n. If ε is fixed, λ does not grow with n. The cost of descent grows with the largest "
    "curvature of the objective divided by λ."
)
LAM = parameters.lam("solvers", 1.0, high=1000, help=NOT_DIVIDED)
TILT = "Standard deviation of each coordinate of the tilt b. In directions that the data do not cover, θ goes to −b/λ."
SIGMA = parameters.sigma("solvers", 4.0, 0.01, 100, extra=[4.0], help=TILT)
ASKED = "The package uses 10⁻⁶; the paper’s experiments use 0.01."
TAU = SelectSlider("solvers_tau", "Gradient norm to reach, τ", 1e-6, powers_of_ten(-9, 0), help=ASKED)
ONE_HOT = (
    "The kind of the 50 synthetic features. Indicators of one attribute add up to 1, so only λ curves some directions."
)
KIND = Choice("solvers_columns", "Columns", "redundant", tuple(COLUMNS), COLUMNS.__getitem__, help=ONE_HOT)
SEED = parameters.seed("solvers")
FLAT = "Divided by n log n, the cost that Appendix F proves for SAG and SVRG is a flat line."
COST = Choice("solvers_cost", "Second chart shows", EVALUATIONS, (EVALUATIONS, RELATIVE), help=FLAT)
GHOST = parameters.ghost("solvers")
