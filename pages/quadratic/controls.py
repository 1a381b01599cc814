"""The controls of the page "Tilt or bend?"."""

from objpert_core.experiments.quadratic import figure1
from objpert_core.experiments.quadratic.stored import Excess, NewError, Risk
from pages.quadratic.numbers import BEST, PANELS, PROOFS
from ui import parameters
from ui.controls import Choice, SelectSlider, Toggle, log_values, plain, powers_of_ten

EPSILON = SelectSlider("quadratic_epsilon", "Privacy budget ε", 1.0, log_values(0.1, 10, steps=(1, 1.5, 2, 3, 5, 7)))
DELTA = SelectSlider("quadratic_delta", "Slack δ", 1e-5, powers_of_ten(-9, -2))
ROWS = SelectSlider("quadratic_n", "Rows n", 100, (100, 300, 1000, 3000, 10_000, 30_000, 100_000), format=str)
STORED_ROWS = SelectSlider("quadratic_rows", "Rows n", Excess.ROWS[-1], Excess.ROWS, format=str)
RADIUS = SelectSlider(
    "quadratic_radius", "Radius κ of the disc C", 1.0, (1.0, 2.0, 5.0, 10.0), help="The tilt’s noise grows with κ."
)
SEED = parameters.seed("quadratic", "Seed of the draw")
SIZE = SelectSlider("quadratic_d", "Parameters d", 12, (1, 2, 5, 12, 20, 50, 100), format=str)
BEST_M = (
    "W is a sum of m squares of Gaussian vectors, so m is its number of degrees of freedom. “Best” is the m with the "
    "least mean bend σ²m. Every m is larger than d."
)
DEGREES = SelectSlider(
    "quadratic_m",
    "Degrees of freedom m over d",
    BEST,
    (BEST, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0),
    lambda value: "best" if value == BEST else plain(value),
    help=BEST_M,
)
BY = Choice("quadratic_by", "Noise calibrated by", "published", tuple(PROOFS), PROOFS.__getitem__)
KAPPA = SelectSlider("quadratic_kappa", "Half side κ of the box C", 1.0, Risk.KAPPAS)
OFF = SelectSlider("quadratic_off", "The label is off by", 0.1, (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0))
TILT = Toggle("quadratic_tilt", "Add a tilt, clip residuals to 1", False)
PANEL = Choice("quadratic_panel", "Panel of Figure 1", "exact", tuple(PANELS), PANELS.__getitem__)
PROOF = Choice("quadratic_proof", "Bound", "published", tuple(figure1.PROOFS), figure1.PROOFS.__getitem__)
CASE = Choice(
    "quadratic_case",
    "Rows, parameters, ε",
    NewError.CASES[0],
    NewError.CASES,
    lambda case: "n = {:,}, d = {}, ε = {:g}".format(*case),
)
GAUSSIAN = Toggle("quadratic_gaussian", "Gaussian mechanism beside the proofs", False)
ZETA = (
    "ζ is the largest gradient of one row. Theorem 5.1 gives the noise for a row that is added or removed, but a "
    "replaced row moves the sum by up to 2ζ."
)
EVERY = Toggle("quadratic_every", "Tilt at 2ζ, for replaced rows", False, help=ZETA)
GHOST = Toggle("quadratic_ghost", "Show the previous setting faintly", True)
