"""What one run is, how K is drawn, and ε under every way of accounting: what the pictures of the tuning page share.

Everything is computed by `objpert_core.accounting`; this file asks, remembers and puts the answers side by side. It
remembers with `lru_cache` on settings of which only what matters is kept, as `ui.bounds` does: a curve is the same
wherever the slider of the grid size stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from ui import parameters
from ui.controls import Choice, Control, SelectSlider, Toggle, log_values
from ui.sentences import number, scientific
from ui.view import set_by

GRID = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)  # grid sizes on offer, and the points of the curves
WAYS: Mapping[str, str] = {
    "free": "Not at all",
    "composed": "Composing every run",
    "selection": "Papernot and Steinke 2022",
    "liu_talwar": "Liu and Talwar 2019",
}
MADE = ("composed", "selection")  # what the page's answer chooses from: the runs are those of the controls
DP_SGD, OBJECTIVE = "DP-SGD", "objective perturbation"
BY_EPSILON, BY_PARAMETERS = "ε of one run", "its parameters"
RUNS: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    (DP_SGD, BY_EPSILON): ("calibrate_dpsgd", ("epsilon", "sample_rate", "steps")),
    (DP_SGD, BY_PARAMETERS): ("DPSGD", ("noise_multiplier", "sample_rate", "steps")),
    (OBJECTIVE, BY_EPSILON): ("calibrate_objective_perturbation", ("epsilon",)),
    (OBJECTIVE, BY_PARAMETERS): ("ObjectivePerturbation", ("sigma", "lam")),
}
"""What makes one run of `objpert_core.accounting`, and of which fields, by its kind and by what it is given."""
ETAS: Mapping[str, float | None] = {"Poisson": None, "geometric": 1.0, "logarithmic": 0.0}
GENERAL = "negative binomial"
FAMILIES = (*ETAS, GENERAL)
REMEMBERED = 2000


BUDGET = "The ε of one run without tuning, at the δ below. The noise is calibrated to this ε."
JOINS = "Probability with which a row joins a batch: batch size over rows. The paper’s Adult: 256 of 36,177."
BATCHES = "The paper’s Adult: 60 epochs of 142 batches. In an epoch each row is drawn once on average."
TILT = "Standard deviation of the random tilt b; rows have norm at most 1."
DRAWN = (
    "K is the number of training runs. Papernot and Steinke’s tuner draws K at random; Liu and Talwar’s K is geometric."
)
CONCENTRATED = "η = 1 is geometric, η = 0 logarithmic; the larger η, the more concentrated K."
FIXES = "The probability of more runs than settings. This probability fixes μ, the mean of K. The paper asks for 0.9."
OFF = (
    "If off, privacy loss distributions account for one run and for the composition. The theorems about random "
    "numbers of runs get a sharper privacy profile of one run. For the same noise no ε is larger. A run of a given ε "
    "then has less noise."
)
WHOLE_SEARCH = "The promise for everything: the fits, their scores, and the choice."
SEARCHED = ("synthetic-l", "breast-cancer", "digits-4-9", "adult-synthetic")
RATE, STEPS = 0.0071, 8520
COUNTS = log_values(1, 100_000, extra=[STEPS], steps=parameters.FEW_STEPS)
WHOLE = tuple(int(count) for count in COUNTS if count == int(count))
SHAPES = (-0.9, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0)
CHANCES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Tuning:
    """One run, by its ε or by its parameters, and K, the number of runs, for a grid of `settings` settings.

    At first Redberg et al. (2023), section 5, on Adult: DP-SGD in batches of 256 rows, 60 epochs, ε = 1 for one run,
    ten learning rates. `renyi`: every curve is accounted through Rényi curves.
    """

    kind: str = set_by(Choice("tuning_run", "Each run is", DP_SGD, options=(DP_SGD, OBJECTIVE), horizontal=True))
    by: str = set_by(Choice("tuning_by", "Given by", BY_EPSILON, options=(BY_EPSILON, BY_PARAMETERS), horizontal=True))
    epsilon: float = set_by(parameters.epsilon("tuning", 1.0, label="ε of one run", help=BUDGET))
    noise_multiplier: float = set_by(parameters.noise_multiplier("tuning", 3.0))
    sample_rate: float = set_by(parameters.sample_rate("tuning", RATE, 1e-4, extra=[RATE], name="rate", help=JOINS))
    steps: int = set_by(SelectSlider("tuning_steps", "Steps", STEPS, WHOLE, str, help=BATCHES))
    sigma: float = set_by(parameters.sigma("tuning", 4.0, extra=[4.0], help=TILT))
    lam: float = set_by(parameters.lam("tuning", 1.0))
    delta: float = set_by(parameters.delta("tuning", help="The δ of one run, and of the whole tuning."))
    settings: int = set_by(
        SelectSlider("tuning_settings", "Settings to choose among, s", 10, GRID, str, help="The size of the grid.")
    )
    family: str = set_by(Choice("tuning_k", "Number of runs K is", "Poisson", options=FAMILIES, help=DRAWN))
    eta: float = set_by(SelectSlider("tuning_eta", "Shape η", 0.5, SHAPES, help=CONCENTRATED))
    more: float = set_by(SelectSlider("tuning_more", "More runs than settings, Pr[K > s]", 0.9, CHANCES, help=FIXES))
    renyi: bool = set_by(Toggle("tuning_renyi", "Rényi everywhere, as in the paper", True, help=OFF))

    @property
    def run_in_words(self) -> str:
        """One run."""
        known = f"ε = {self.epsilon:g}"
        if self.kind == OBJECTIVE:
            known = f"σ = {self.sigma:g}, λ = {self.lam:g}" if self.by == BY_PARAMETERS else known
            return f"{self.kind} with {known}"
        known = f"noise {self.noise_multiplier:g}" if self.by == BY_PARAMETERS else known
        return f"{self.kind} with {known}, q = {self.sample_rate:g}, {self.steps:,} steps"

    @property
    def accountant(self) -> str:
        """By what DP-SGD is accounted."""
        return "rdp" if self.renyi else "pld"

    @property
    def own_fields(self) -> tuple[str, ...]:
        """Those that describe one run."""
        return RUNS[self.kind, self.by][1]

    @property
    def recipe(self) -> tuple[str, dict[str, Any]]:
        """The function that makes one run, and its arguments."""
        given = {field: getattr(self, field) for field in self.own_fields}
        if self.by == BY_EPSILON:
            given = {"epsilon": self.epsilon, "delta": self.delta} | given
            given |= {"accountant": self.accountant} if self.kind == DP_SGD or self.renyi else {}
        return RUNS[self.kind, self.by][0], given

    @property
    def one_run(self) -> acc.Mechanism:
        """One run; raises `ValueError` for values out of range."""
        return _one_run(self.relevant("free"))

    @property
    def tabulated(self) -> acc.Tabulated:
        """One run's curves, looked up."""
        return _tabulated(self.one_run)

    @property
    def law_eta(self) -> float | None:
        """η as `PrivateSelection` takes it."""
        return ETAS.get(self.family, self.eta)

    @property
    def mean_runs(self) -> float:
        """E[K]."""
        return acc.mean_runs(self.settings, self.more, self.law_eta)

    @property
    def law_in_words(self) -> str:
        """The distribution of K."""
        name = f"truncated negative binomial (η = {number(self.eta)})" if self.family == GENERAL else self.family
        return f"K {name} of mean {scientific(self.mean_runs, 3)}"

    def relevant(self, way: str) -> Self:
        """This tuning with what one of `WAYS` does not depend on set to a constant, so that caches hit."""
        if way in ("free", "composed"):
            few = 1 if way == "free" else self.settings
            return replace(self, settings=few, family=Tuning.family, eta=Tuning.eta, more=Tuning.more)
        family = "geometric" if way == "liu_talwar" else self.family
        return replace(self, family=family, eta=self.eta if family == GENERAL else Tuning.eta)

    def price(self, way: str) -> float:
        """ε at δ of choosing among the settings, under one of `WAYS`."""
        return _price(way, self.relevant(way))

    def ways(self) -> dict[str, float]:
        """ε at δ under every way."""
        return {way: self.price(way) for way in WAYS}

    def curve(self, way: str) -> FloatArray:
        """ε at δ on `GRID`."""
        return np.array([replace(self, settings=settings).price(way) for settings in GRID])


CONTROLS: Mapping[str, Control] = {field.name: control for field in fields(Tuning) for control in field.metadata}
GHOST = parameters.ghost("tuning")
PRICE, TRAINED, SEARCH = "In ε", "In accuracy", "A search"
SHOW = parameters.show(
    "tuning",
    (PRICE, TRAINED, SEARCH),
    "What a choice among settings adds to ε, or takes from accuracy; and one private search, seen from inside.",
)
SEARCH_CONTROLS: Mapping[str, Control] = {
    "data": parameters.data_set("tuning", "synthetic-l", SEARCHED, help="Data sets on which a search takes a moment."),
    "epsilon": parameters.epsilon("tuning", 1.0, name="whole", label="ε of the whole search", help=WHOLE_SEARCH),
    "delta": CONTROLS["delta"],
    "seed": parameters.seed("tuning", "Seed of coins and noise", help="Another seed is another search."),
}


@lru_cache(maxsize=REMEMBERED)
def _one_run(tuning: Tuning) -> acc.Mechanism:
    name, given = tuning.recipe
    run: acc.Mechanism = getattr(acc, name)(**given)
    return acc.via_rdp(run) if tuning.renyi else run


@lru_cache(maxsize=REMEMBERED)
def _tabulated(one_run: acc.Mechanism) -> acc.Tabulated:
    return acc.tabulated(one_run)


@lru_cache(maxsize=100 * REMEMBERED)
def _price(way: str, tuning: Tuning) -> float:
    one_run = tuning.one_run
    if way == "free" or (way == "composed" and tuning.settings == 1):
        return float(one_run.epsilon(tuning.delta))
    if way == "liu_talwar":
        return float(acc.liu_talwar_epsilon(tuning.tabulated, tuning.delta, tuning.mean_runs))
    whole: acc.Mechanism
    if way == "selection":
        whole = acc.PrivateSelection(tuning.tabulated, tuning.mean_runs, tuning.law_eta)
    elif tuning.renyi:
        whole = acc.via_rdp(acc.repeat(tuning.tabulated, tuning.settings))
    else:
        whole = acc.repeat(acc.symmetrised(one_run), tuning.settings)
    return float(whole.epsilon(tuning.delta))
