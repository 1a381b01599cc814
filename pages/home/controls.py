"""The controls of the Home page, and its people: twelve, and a thirteenth who may be in the data or not."""

from ui import parameters
from ui.controls import Choice, Control, Preset, Toggle

# Twelve invented people: one number |x| <= 1 each, and a label. Most follow the sign of x.
FEATURES = (0.9, 0.7, 0.5, 0.8, 0.3, 0.6, -0.8, -0.6, -0.9, -0.4, -0.7, 0.2)
LABELS = (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1)
RADIUS = 1.0
PEOPLE = {"agrees with the others": (1.0, 1), "disagrees with the others": (1.0, -1)}
DRAWS = 1000

SIGMA = parameters.sigma("home", 2.5, 0.1, 100, extra=[2.5], help="Standard deviation of the random tilt b.")
LAM = parameters.lam("home", 1.0, 0.05, 50, help="Pulls θ towards 0; the objective contains λ/2 θ².")
PERSON = Choice("home_person", "The person …", "disagrees with the others", tuple(PEOPLE))
DELTA = parameters.read_delta("home")
DRAW = parameters.draws("home", 1, DRAWS, label="Draw number", name="draw")
HELD = "If off, the axes stay while σ and λ move, so more noise looks wider. With very much noise the axes follow."
FIT = Toggle("home_fit", "Fit axes", False, help=HELD)
CONTROLS: tuple[Control, ...] = (SIGMA, LAM, PERSON, DELTA, DRAW, FIT)
PRESETS = (
    Preset("Too little noise", {SIGMA: 0.5, LAM: 1.0}, "σ = 0.5, λ = 1: the two curves part."),
    Preset("Some noise", {SIGMA: 2.5, LAM: 1.0}, "σ = 2.5, λ = 1: the two curves overlap."),
    Preset(
        "Too much noise",
        {SIGMA: 10.0, LAM: 1.0},
        "σ = 10, λ = 1: the curves are hard to tell apart, and θ says little.",
    ),
    Preset("Too little λ", {SIGMA: 2.5, LAM: 0.1}, "σ = 2.5, λ = 0.1: one person’s curvature shows as well."),
)
