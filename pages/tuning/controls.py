"""The controls of the tuning page, by the field that each one sets."""

from collections.abc import Mapping

from pages.tuning.numbers import BY_EPSILON, BY_PARAMETERS, DP_SGD, FAMILIES, GRID, OBJECTIVE, Tuning
from ui import parameters
from ui.controls import Choice, Control, SelectSlider, Toggle, log_values

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
RATE, COUNTS = Tuning.sample_rate, log_values(1, 100_000, extra=[Tuning.steps], steps=parameters.FEW_STEPS)
WHOLE = tuple(int(count) for count in COUNTS if count == int(count))
SHAPES = (-0.9, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0)
CHANCES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)
CONTROLS: Mapping[str, Control] = {
    "kind": Choice("tuning_run", "Each run is", Tuning.kind, options=(DP_SGD, OBJECTIVE), horizontal=True),
    "by": Choice("tuning_by", "Given by", Tuning.by, options=(BY_EPSILON, BY_PARAMETERS), horizontal=True),
    "epsilon": parameters.epsilon("tuning", Tuning.epsilon, label="ε of one run", help=BUDGET),
    "noise_multiplier": parameters.noise_multiplier("tuning", Tuning.noise_multiplier),
    "sample_rate": parameters.sample_rate("tuning", RATE, 1e-4, extra=[RATE], name="rate", help=JOINS),
    "steps": SelectSlider("tuning_steps", "Steps", Tuning.steps, WHOLE, str, help=BATCHES),
    "sigma": parameters.sigma("tuning", Tuning.sigma, extra=[Tuning.sigma], help=TILT),
    "lam": parameters.lam("tuning", Tuning.lam),
    "delta": parameters.delta("tuning", help="The δ of one run, and of the whole tuning."),
    "settings": SelectSlider(
        "tuning_settings",
        "Settings to choose among, s",
        Tuning.settings,
        GRID,
        format=str,
        help="The size of the grid.",
    ),
    "family": Choice("tuning_k", "Number of runs K is", Tuning.family, options=FAMILIES, help=DRAWN),
    "eta": SelectSlider("tuning_eta", "Shape η", Tuning.eta, SHAPES, help=CONCENTRATED),
    "more": SelectSlider("tuning_more", "More runs than settings, Pr[K > s]", Tuning.more, CHANCES, help=FIXES),
    "renyi": Toggle("tuning_renyi", "Rényi everywhere, as in the paper", Tuning.renyi, help=OFF),
}
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
