"""The controls and presets of the picture "In accuracy"; their addresses are those of its former page."""

from __future__ import annotations

from objpert_core import datasets
from objpert_core.experiments import paper
from objpert_core.experiments.studies.tuning_runs import MAX_DRAWS
from pages.tuning.controls import SHOW, TRAINED
from ui import parameters
from ui.controls import Choice, Control, Number, Preset, SelectSlider
from ui.words import FEWEST, GRIDS

DATA = parameters.data_set(
    "honest",
    "synthetic-l",
    datasets.names(classes=2),
    help="Each draw takes about a second on synthetic-l, some seconds on Adult and its stand-in, and minutes on "
    "gisette.",
)
EPSILON = parameters.epsilon(
    "honest", 0.1, help="The ε on every model’s certificate. For the unpaid model this is the ε of one run."
)
DELTA = parameters.delta("honest")
RATES = parameters.learning_rates("honest", "paper", {name: rates for name, rates in GRIDS.items() if len(rates) > 1})
JUDGES = SelectSlider(
    "honest_judges",
    "Judges",
    200,
    (20, 50, 100, 200, 500, 1000, 2000),
    help="The number of test rows that choose the unpaid model: at most half of all test rows. The other test rows "
    "are fresh. The fewer judges there are, the more they flatter their choice.",
)
MEAN_RUNS = parameters.mean_runs(
    "honest",
    paper.MEAN_RUNS,
    (1, 2, 3, 5, 10, paper.MEAN_RUNS, 20, 30, 50),
    help=f"Paid tuning makes K ~ Poisson(μ) runs. At the paper’s μ = {paper.MEAN_RUNS}, K exceeds 10 nine times in "
    "ten.",
)
BATCH = parameters.batch_size("honest", 4096)
EPOCHS = parameters.epochs("honest", 10)
ACCOUNTANT = Choice(
    "honest_accountant",
    "Accountant of one run",
    "pld",
    options=("pld", "rdp"),
    format={"pld": "privacy loss distributions", "rdp": "Rényi, as in the paper"}.__getitem__,
)
DRAWS = parameters.draws(
    "honest",
    FEWEST,
    MAX_DRAWS,
    help=f"How many seeds to run everything with, 1 to {MAX_DRAWS}. Intervals need {FEWEST}.",
)
SPLIT_SEED = parameters.split_seed("honest", help="Chooses which fifth of the rows is the test set.")
SEED = parameters.seed("honest", "First noise seed", help="Draw i uses this seed plus i.")
SHOWN = Number("honest_shown", "Draw to look into", 1, help="The K runs of this draw are below.", low=1, high=MAX_DRAWS)

FIRST: dict[str, Control] = {"epsilon": EPSILON}
SECOND: dict[str, Control] = {"learning_rates": RATES, "draws": DRAWS}
VIEW: dict[str, Control] = {
    "judges": JUDGES,
    "mean_runs": MEAN_RUNS,
    "batch_size": BATCH,
    "epochs": EPOCHS,
    "accountant": ACCOUNTANT,
    "delta": DELTA,
    "split_seed": SPLIT_SEED,
    "seed": SEED,
}
"""What stands above the data set, under it, and in View, in order, by what the settings call it."""

DECIDES = (DATA, *FIRST.values(), *SECOND.values(), *VIEW.values())
CONTROLS: tuple[Control, ...] = (*DECIDES, SHOWN)

_START = {SHOW: TRAINED} | {control: control.default for control in DECIDES}
PRESETS = (
    Preset(
        "Quick look",
        _START,
        "The paper’s grid on Synthetic-L at ε = 0.1 with a sixth of the epochs. Takes some seconds.",
    ),
    Preset(
        "The paper’s recipe",
        _START | {EPOCHS: 60, ACCOUNTANT: "rdp", JUDGES: 1000},
        "Redberg et al. (2023), Table 1, ε = 0.1: 93.85 % unpaid, 77.34 % paid. 60 epochs, Rényi accounting.",
    ),
    Preset(
        "Few judges, many candidates",
        _START | {RATES: "fine", JUDGES: 50, EPSILON: 1.0},
        "25 learning rates and 50 judges show the winner’s curse most clearly.",
    ),
    Preset("ε = 1: paying costs less", _START | {EPSILON: 1.0}, "Paying costs less with ten times the budget."),
)
