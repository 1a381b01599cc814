"""The training page's controls and presets."""

from __future__ import annotations

from objpert_core import datasets
from objpert_core.experiments import paper
from objpert_core.experiments.compare import MAX_REPEATS, METHODS, TIGHT_BOUNDS
from objpert_core.experiments.learners import KIFER, LIVE, OUTPUT, PUBLISHED, TIGHT
from pages.training import words as text
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Control,
    Number,
    Pills,
    Preset,
    SelectSlider,
    Toggle,
    log_values,
    powers_of_ten,
)


def data() -> Choice:
    """The choice of a data set; the default follows the files that are there, so it is made anew in every run."""
    return Choice(
        "training_data",
        "Data set",
        datasets.default_name(),
        options=datasets.names(),
        help="adult and gisette are the real UCI files; the names with -synthetic and -like are labelled stand-ins.",
    )


LEARNED = Pills(
    "training_methods",
    "Methods",
    METHODS,
    options=tuple(LIVE),
    format=text.LABELS.__getitem__,
    most=len(LIVE),
    help="Algorithm 1, objective perturbation, under two calibrations. SVM: Algorithm 1 with a clipped hinge, squared "
    "or with its corner rounded. Output perturbation: fit, then add noise. Kifer et al. 2012: the classical objective "
    "perturbation. DP-SGD unpaid and paid: without and with the cost of choosing its learning rate; they take longest.",
    former={"published": PUBLISHED, "tight": TIGHT, "output": OUTPUT, "Kifer 2012": KIFER},
)
EPSILON = SelectSlider(
    "training_epsilon",
    "Privacy budget ε",
    1.0,
    log_values(0.01, 100, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="Of each private model: adding or removing one row changes what is released by a factor of e^ε at most.",
)
DELTA = SelectSlider(
    "training_delta",
    "Failure probability δ",
    1e-5,
    powers_of_ten(-12, -2),
    help="Keep it well below one over the number of rows.",
)
BOUND = Choice(
    "training_bound",
    "Bound behind “Algorithm 1 tight”",
    "logistic",
    options=TIGHT_BOUNDS,
    help="logistic: our theorem for the logistic loss. monotone: any loss whose derivative keeps its sign. glm: the "
    "published theorem, but accounted by its hockey-stick divergence instead of Rényi.",
)
REPEATS = Number(
    "training_repeats",
    "Noise draws",
    10,
    help=f"How often each private method is trained, 1 to {MAX_REPEATS}. More draws, narrower intervals; the server is "
    "shared, hence the limit.",
    low=1,
    high=MAX_REPEATS,
)
SPLIT_SEED = Number("training_split", "Split seed", 0, help="Which fifth of the rows is held out.", low=0, high=9999)
SEED = Number(
    "training_seed", "First noise seed", 0, help="Draw i uses this seed plus i, for every method.", low=0, high=9999
)
SCALING = SelectSlider(
    "training_scaling",
    "Intercept scaling s",
    0.3,
    (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0),
    help="The constant appended to every row: the row norm R = √(1 + s²) and with it the noise grow with s. "
    "It is the same for all methods; the paper's is s = 1.",
)
SOLVER = Choice(
    "training_solver",
    "Solver",
    "newton",
    options=("newton", "newton-cg", "lbfgs", "accelerated"),
    help="Of every method but DP-SGD and no privacy. The page Solvers compares them, and others.",
)
BATCH = SelectSlider(
    "training_batch",
    "Expected batch size",
    256,
    (64, 128, 256, 512, 1024, 2048, 4096, 8192),
    help="Each row joins a batch by its own coin. The paper's 256; larger ones make fewer steps, each with more noise.",
)
EPOCHS = SelectSlider(
    "training_epochs",
    "Epochs",
    20,
    (1, 2, 5, 10, 20, 30, 60, 100),
    help="How often each row is drawn on average; the paper's experiments have 60.",
)
RATES = Choice(
    "training_rates",
    "Learning rates on offer",
    "five",
    options=tuple(text.GRIDS),
    help="; ".join(f"{name}: {text.grid(rates)}" for name, rates in text.GRIDS.items()) + ".",
)
MEAN_RUNS = SelectSlider(
    "training_runs",
    "Mean runs μ of paid tuning",
    paper.MEAN_RUNS,
    (1, 2, 3, 5, 10, paper.MEAN_RUNS, 20, 30),
    help="K ~ Poisson(μ) runs, each with a learning rate drawn at random; the noise in all of them pays for the "
    f"choice. {paper.MEAN_RUNS} makes more than 10 with probability 0.9.",
)
VIEW = Choice(
    "training_view",
    "Look closer",
    "ROC",
    options=("ROC", "ROC corner", "coefficients", "gradient norm", "certificate"),
    horizontal=True,
)
CLOSE_UP = Toggle(
    "training_closeup", "Close-up", False, help="Leave the majority class out of the picture to see the methods apart."
)

CONTROLS: tuple[Control, ...] = (LEARNED, EPSILON, DELTA, BOUND, REPEATS, SPLIT_SEED, SEED, SCALING)
CONTROLS += (SOLVER, BATCH, EPOCHS, RATES, MEAN_RUNS, CLOSE_UP, VIEW)


def presets(data: Choice) -> tuple[Preset, ...]:
    """A button for each ε of Table 2: Adult or, without its files, what `data` has by default."""
    return tuple(_table_2(data, epsilon) for epsilon in text.PAPER_TABLE_2)


def _table_2(data: Choice, epsilon: float) -> Preset:
    values = {data: data.default, EPSILON: epsilon, DELTA: 1e-5, BOUND: "logistic", REPEATS: 10}
    values |= {LEARNED: METHODS, SPLIT_SEED: 0, SEED: 0, SCALING: 0.3, SOLVER: "newton"}
    return Preset(
        text.preset_name(epsilon, data.default),
        values,
        f"Redberg et al. (2023), Table 2: Adult, δ = 1e-5, 10 trials. Runs {data.default}.",
    )
