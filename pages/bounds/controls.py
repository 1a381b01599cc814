"""The controls of the Bounds page, and the settings that they offer exactly."""

import objpert_core.accounting as acc
from ui import bounds as proofs
from ui import parameters, sentences
from ui.controls import Choice, SelectSlider, Toggle, log_values

FIGURE_1_LEFT = proofs.Setting(sigma=5.0, lam=20.0, smoothness=1.0, lipschitz=1.0)  # Redberg et al. (2023), Figure 1
FIGURE_1_RIGHT = proofs.Setting(sigma=10.0, lam=5.0, smoothness=1.0, lipschitz=1.0)
BELOW_BETA = proofs.Setting(sigma=10.0, lam=0.9, smoothness=1.0, lipschitz=2.0)  # logistic loss, rows of norm 2
OURS = proofs.rounded_up(acc.calibrate_objective_perturbation(1.0, 1e-5))
RECIPE = proofs.rounded_up(acc.calibrate_published(1.0, 1e-5))

PROFILE, ERRORS = "Privacy profile", "Attacker’s errors"

TWICE = "Two pictures of the same proofs: δ against ε, or the errors of an attacker who looks for you in the data."
SHOW = parameters.show("bounds", (PROFILE, ERRORS), TWICE)
MECHANISM = parameters.mechanism("bounds", FIGURE_1_LEFT, BELOW_BETA, OURS, RECIPE)
ROWS_HELP = (
    "The releases of two data sets must look alike if the data sets differ in this: one row more or less, the content "
    "of one row, or all rows of one person, who has at most k rows."
)
ADDED, REPLACED, SEVERAL = sentences.ADJACENCY, "replace one row", "add or remove k rows of one person"
NEIGHBOURS = Choice("bounds_neighbours", "Neighbouring data sets", ADDED, (ADDED, REPLACED, SEVERAL), help=ROWS_HELP)
COUNTS = tuple(range(2, 21))
ROWS = SelectSlider("bounds_rows", "Rows of one person k", 2, COUNTS, format=str)
READ_DELTA = parameters.read_delta("bounds")
EPSILONS = log_values(0.01, 50, steps=parameters.FEW_STEPS)
READ_EPSILON = SelectSlider("bounds_epsilon", "Read δ at ε =", 0.5, EPSILONS)
RATES = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ACCUSED = "The share of people outside the data whom the attacker wrongly accuses."
READ_RATE = SelectSlider("bounds_accused", "False-accusation rate", 0.05, RATES, help=ACCUSED)
EPS_MAX = parameters.view("bounds", "ε axis up to", 2.0, (0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0))
FLOOR = parameters.floor("bounds", (1e-100, 1e-50, 1e-20, 1e-15, 1e-10, 1e-8, 1e-6, 1e-4))
SPECIAL = parameters.special_bounds("bounds")
COVERED = (
    "Adds two columns to the table: the smallest μ of Gaussian differential privacy (GDP) and the smallest ρ of "
    "zero-concentrated differential privacy (zCDP). These columns take the longest to compute."
)
COVERS = Toggle("bounds_covers", "Table with μ and ρ", False, help=COVERED)
GHOST = parameters.ghost("bounds")
