"""The training page's controls and presets."""

from typing import Any

from objpert_core import datasets
from objpert_core.experiments import paper
from objpert_core.experiments.compare import MAX_REPEATS, METHODS, TIGHT_BOUNDS
from objpert_core.experiments.learners import (
    FORMER_LABELS,
    KIFER,
    LIVE,
    NON_PRIVATE,
    OUTPUT,
    PUBLISHED,
    SVC,
    TIGHT,
    TIGHT_RAW,
)
from pages.training import words as text
from ui import parameters
from ui.bounds import NAMES
from ui.controls import Choice, Control, Pills, Preset, Toggle
from ui.words import GRIDS


def data() -> Choice:
    """The choice of a data set; the default follows the files that are there, so it is made anew in every run."""
    return parameters.data_set(
        "training",
        datasets.default_name(),
        datasets.names(),
        help="adult and gisette are the real UCI files. Names with -synthetic and -like are stand-ins.",
    )


LEARNED = Pills(
    "training_methods",
    "Methods",
    METHODS,
    options=tuple(LIVE),
    format=text.LABELS.__getitem__,
    most=len(LIVE),
    help="Algorithm 1 is objective perturbation. The theorems calibrate its noise. With our theorem, the rows are "
    "centred and scaled privately, or raw. SVM: Algorithm 1 with a clipped hinge, either squared or with a rounded "
    "corner. Output perturbation: fit first, then add noise. DP-SGD unpaid and paid: without and with the cost of "
    "choosing the learning rate. Both kinds of DP-SGD wait for Run.",
    former={**FORMER_LABELS, "published": PUBLISHED, "tight": TIGHT, "output": OUTPUT, "Kifer 2012": KIFER},
)
EPSILON = parameters.epsilon(
    "training",
    1.0,
    100,
    label="ε of each private model",
    help="For each private model: adding or removing one row changes the probability of any result by a factor of at "
    "most e^ε (up to δ).",
)
DELTA = parameters.delta(
    "training",
    help="Any event may be likelier by δ than the odds of ε allow. Keep δ well below one over the number of rows.",
)
BOUND = Choice(
    "training_bound",
    "Bound behind “Algorithm 1 with our theorem”",
    "logistic",
    options=TIGHT_BOUNDS,
    format=NAMES.__getitem__,
    help="Our theorem is for the logistic loss. With a one-signed slope: any loss whose derivative keeps its sign. Any "
    "GLM loss: any smooth loss of a row’s score xᵀθ. The 2023 theorem is accounted here by its privacy profile instead "
    "of its Rényi curve.",
)
REPEATS = parameters.draws(
    "training",
    10,
    MAX_REPEATS,
    name="repeats",
    help=f"How often each private method is trained, 1 to {MAX_REPEATS}. More draws give narrower intervals. The "
    f"limit exists because people share this server.",
)
SPLIT_SEED = parameters.split_seed("training", help="Chooses which fifth of the rows is held out.")
SEED = parameters.seed(
    "training",
    "First noise seed",
    help="Draw i uses this seed plus i, for every method. Anyone who knows a noise seed can subtract the noise, so "
    "the certificates here are marked reproducible. Train a model for release without a seed.",
)
SCALING = parameters.intercept_scaling(
    "training",
    0.3,
    (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0),
    help="The constant appended to every row. The row norm R = √(1 + s²) grows with s, and the noise grows with R. "
    "All methods use the same s; the paper uses s = 1.",
)
SOLVER = Choice(
    "training_solver",
    "Solver",
    "newton",
    options=("newton", "newton-cg", "lbfgs", "accelerated"),
    help="The solver of every method except DP-SGD and no privacy. The solver does not affect privacy, and hardly "
    "affects the numbers: every solver goes on until the gradient’s norm is at most τ. The page Solvers compares them.",
)
BATCH = parameters.batch_size(
    "training",
    8192,
    help="Each row joins a batch by its own coin. The paper uses 256. Larger batches mean fewer steps, each with "
    "more noise.",
)
EPOCHS = parameters.epochs("training", 20)
RATES = parameters.learning_rates("training", "five", GRIDS)
MEAN_RUNS = parameters.mean_runs(
    "training",
    paper.MEAN_RUNS,
    (1, 2, 3, 5, 10, paper.MEAN_RUNS, 20, 30),
    help="Paid tuning makes K ~ Poisson(μ) runs, each with a learning rate drawn at random. The noise in all runs "
    f"pays for the choice. With μ = {paper.MEAN_RUNS}, K exceeds 10 with probability 0.9.",
)
ORIGIN = "where the accuracy comes from"
VIEW = Choice(
    "training_view",
    "Look closer",
    "certificate",  # the stage shows small ROC curves and coefficients
    options=("certificate", "ROC", "ROC corner", "coefficients", "gradient norm", ORIGIN),
    horizontal=True,
    former={"where it comes from": ORIGIN},
)
CLOSE_UP = Toggle(
    "training_closeup", "Close-up", False, help="Leaves the majority class out of the picture, to separate the methods."
)

PREDICT = Toggle(
    "training_predict", "Predict first", False, help="Hides each new picture until you have guessed what it shows."
)
PUBLISHABLE = Toggle(
    "training_publishable",
    "Scores that may be published",
    False,
    help="Only one noise draw. A coin for each row puts some rows aside. The score comes from noisy counts of these "
    "rows. Fit and score together cost ε once.",
)
GHOST = parameters.ghost("training")

MODEL: tuple[Control, ...] = (DELTA, BOUND, SPLIT_SEED, SEED, SCALING, SOLVER)
FEW_DRAWS = 2
"""Draws with DP-SGD to begin with: each of its models takes seconds to minutes."""
DESCENT: tuple[Control, ...] = (BATCH, EPOCHS, RATES, MEAN_RUNS)
FIVE = (NON_PRIVATE, PUBLISHED, TIGHT, SVC, OUTPUT, KIFER)
CONTROLS: tuple[Control, ...] = (
    *(EPSILON, LEARNED, REPEATS, PREDICT, PUBLISHABLE),
    *(*MODEL, *DESCENT, CLOSE_UP, GHOST, VIEW),
)


def presets(data: Choice) -> tuple[Preset, ...]:
    """What a lecture shows one after the other; ε of Table 2 first, on Adult or what stands in for it."""
    same: dict[Control, Any] = {
        control: control.default for control in (data, LEARNED, EPSILON, REPEATS, PUBLISHABLE, CLOSE_UP, *MODEL)
    }
    table = f"ε = {{}} of Redberg et al. (2023), Table 2: δ = 10⁻⁵, ten draws. On {data.default}."

    def preset(name: str, hint: str, values: dict[Control, Any]) -> Preset:
        return Preset(name, same | values, hint)

    few = "Ten draws of five private methods on 455 rows: the noise is the same, but the signal is weak."
    raw = "The same budget on 455 rows: once on the rows as they are, once on centred and scaled rows."
    ten = "Ten classes, one certificate: ten fits, each of one class against the rest, share one ε."
    five = "Objective perturbation under three calibrations, an SVM and output perturbation, all at ε = 0.1."
    return (
        preset("Strong privacy, ε = 0.1", table.format(0.1), {EPSILON: 0.1}),
        preset("The usual, ε = 1", table.format(1), {EPSILON: 1.0}),
        preset("Weak privacy, ε = 8", table.format(8), {EPSILON: 8.0}),
        preset("Few people", few, {data: "breast-cancer", LEARNED: FIVE}),
        preset("Centred and scaled", raw, {data: "breast-cancer", LEARNED: (NON_PRIVATE, TIGHT, TIGHT_RAW)}),
        preset("Ten digits", ten, {data: "digits", LEARNED: (NON_PRIVATE, TIGHT, TIGHT_RAW), CLOSE_UP: True}),
        preset("Five ways to be private", five, {EPSILON: 0.1, LEARNED: FIVE}),
        preset("The luck of one draw", "One draw, ε = 0.1: change the noise seed.", {EPSILON: 0.1, REPEATS: 1}),
    )
