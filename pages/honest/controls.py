"""The controls and presets of the page "Honest or not"."""

from __future__ import annotations

from objpert_core import datasets
from objpert_core.experiments import paper
from objpert_core.experiments.studies.tuning_runs import MAX_DRAWS
from ui.controls import (
    ROUND_STEPS,
    Choice,
    Control,
    Number,
    Preset,
    SelectSlider,
    log_values,
    powers_of_ten,
)
from ui.words import GRIDS, grid

DATA = Choice(
    "honest_data",
    "Data set",
    "synthetic-l",
    options=datasets.names(),
    help="synthetic-l takes seconds; Adult and its stand-in some seconds for each draw, gisette minutes.",
)
EPSILON = SelectSlider(
    "honest_epsilon",
    "Privacy budget ε",
    0.1,
    log_values(0.01, 20, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="What every model’s certificate says. Of the unpaid one it is the ε of one run.",
)
DELTA = SelectSlider("honest_delta", "Failure probability δ", 1e-5, powers_of_ten(-12, -2))
RATES = Choice(
    "honest_rates",
    "Learning rates on offer",
    "paper",
    options=tuple(name for name, rates in GRIDS.items() if len(rates) > 1),
    help="; ".join(f"{name}: {grid(rates)}" for name, rates in GRIDS.items() if len(rates) > 1) + ".",
)
JUDGES = SelectSlider(
    "honest_judges",
    "Judges: test rows that choose the unpaid model",
    200,
    (20, 50, 100, 200, 500, 1000, 2000),
    help="At most half of the test rows; the others are fresh. The fewer judges, the more they flatter their choice.",
)
MEAN_RUNS = SelectSlider(
    "honest_runs",
    "Mean runs μ of paid tuning",
    paper.MEAN_RUNS,
    (1, 2, 3, 5, 10, paper.MEAN_RUNS, 20, 30, 50),
    help=f"K ~ Poisson(μ) runs. The paper’s {paper.MEAN_RUNS} makes more than 10 with probability 0.9.",
)
BATCH = SelectSlider("honest_batch", "Expected batch size", 256, (64, 128, 256, 512, 1024, 2048, 4096))
EPOCHS = SelectSlider("honest_epochs", "Epochs", 10, (1, 2, 5, 10, 20, 30, 60, 100), help="The paper has 60.")
ACCOUNTANT = Choice(
    "honest_accountant",
    "Accountant of one run",
    "pld",
    options=("pld", "rdp"),
    format={"pld": "privacy loss distributions", "rdp": "Rényi, as in the paper"}.__getitem__,
)
DRAWS = Number(
    "honest_draws", "Noise draws", 4, help=f"Seeds to repeat everything with, 1 to {MAX_DRAWS}.", low=1, high=MAX_DRAWS
)
SPLIT_SEED = Number("honest_split", "Split seed", 0, help="Which fifth of the rows is the test set.", low=0, high=9999)
SEED = Number("honest_seed", "First noise seed", 0, help="Draw i uses this seed plus i.", low=0, high=9999)
SHOWN = Number("honest_shown", "Draw to look into", 1, help="Its K runs are drawn below.", low=1, high=MAX_DRAWS)

CONTROLS: tuple[Control, ...] = (DATA, EPSILON, DELTA, RATES, JUDGES, MEAN_RUNS, BATCH, EPOCHS, ACCOUNTANT, DRAWS)
CONTROLS += (SPLIT_SEED, SEED, SHOWN)

_START = {
    DATA: "synthetic-l",
    EPSILON: 0.1,
    DELTA: 1e-5,
    RATES: "paper",
    JUDGES: 200,
    MEAN_RUNS: paper.MEAN_RUNS,
    BATCH: 256,
}
_START |= {EPOCHS: 10, ACCOUNTANT: "pld", DRAWS: 4, SPLIT_SEED: 0, SEED: 0}
PRESETS = (
    Preset("Quick look (some seconds)", _START, "The paper’s grid on Synthetic-L at ε = 0.1, a sixth of its epochs."),
    Preset(
        "The paper’s recipe",
        _START | {EPOCHS: 60, ACCOUNTANT: "rdp", JUDGES: 1000},
        "Redberg et al. (2023), Table 1, ε = 0.1: 93.85 % unpaid, 77.34 % paid. 60 epochs, Rényi accounting.",
    ),
    Preset(
        "Few judges, many candidates",
        _START | {RATES: "fine", JUDGES: 50, EPSILON: 1.0},
        "25 learning rates and 50 judges: the winner’s curse at its clearest.",
    ),
    Preset("ε = 1", _START | {EPSILON: 1.0}, "With ten times the budget paying costs less."),
)
