"""The controls of "Choose σ and λ"."""

from objpert_core.experiments.studies.noise_ratios import COLUMNS, MAX_DRAWS
from pages.planner.numbers import NAMES, Setting
from ui import parameters
from ui.bounds import FORMER
from ui.controls import Choice, Control, SelectSlider, log_values

ADULT = (45_222, 105)  # rows without missing values, and columns after one-hot encoding
PAPER = Setting(1.0, 1e-5, *ADULT, intercept_scaling=1.0, norm=50.0, bound="rdp", ratio=1.3)

NEAR_1 = (1.0, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.12, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4)
RATIOS = (*NEAR_1, 1.45, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)
ALONG = (
    "Moves the point along the frontier. f is σ divided by the σ of the Gaussian mechanism with the same sensitivity."
)
RATIO = SelectSlider("planner_f", "Noise ratio f", PAPER.ratio, RATIOS, help=ALONG)
WHOSE = (
    "The 2023 theorem is here twice: by its Rényi curve, as in the paper, and by its privacy profile. The theorems "
    "called “ours” are this project’s."
)
BOUND = Choice(
    "planner_bound", "Proof behind the point", PAPER.bound, tuple(NAMES), NAMES.__getitem__, help=WHOSE, former=FORMER
)
EPSILON = parameters.epsilon("planner", PAPER.epsilon, help="The ε of one fit, for adding or removing one row.")
DELTA = parameters.delta("planner")
PER_ROW = (
    "The total loss that the theorem allows hardly depends on n, so the loss per row falls as 1/n. A public guess is "
    "enough."
)
ROWS = parameters.counts("planner", "rows", "Rows n", PAPER.rows, 100, 1_000_000, help=PER_ROW)
FEATURES = parameters.counts("planner", "features", "Features d", PAPER.features, 1, 5000)
APPENDED = "Rows have norm 1 and the constant s is appended: R = √(1 + s²). The paper has s = 1, the package s = 0.3; "
APPENDED += "0 means no intercept."
CONSTANTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
SCALING = parameters.intercept_scaling("planner", PAPER.intercept_scaling, CONSTANTS, help=APPENDED)
SIZE, SIZES = "Size of the model without privacy, ‖θ₀‖", log_values(0.1, 1000, steps=parameters.FEW_STEPS)
GUESS = "Type a guess; do not measure the size on private data. The synthetic rows below show an example."
NORM = SelectSlider("planner_norm", SIZE, PAPER.norm, SIZES, help=GUESS)
F_MAX = parameters.view("planner", "f axis up to", 3.0, (1.1, 1.2, 1.5, 2.0, 3.0, 5.0))
SPECIAL = parameters.special_bounds("planner")
GHOST = parameters.ghost("planner")
COLUMN = Choice("planner_columns", "Synthetic columns", "even", options=tuple(COLUMNS), horizontal=True)
SAMPLE: tuple[Control, ...] = (COLUMN, parameters.draws("planner", 6, MAX_DRAWS), parameters.seed("planner"))
SETTING = (EPSILON, DELTA, ROWS, FEATURES, SCALING, NORM, BOUND, RATIO)  # as the fields of `Setting`
LINKED = (RATIO, EPSILON, BOUND, ROWS, FEATURES, NORM, DELTA, SCALING, F_MAX, *SPECIAL.values(), GHOST, *SAMPLE)
