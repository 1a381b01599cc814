"""The accuracy page's controls and presets, which stored runs it offers, and which methods it shows together."""

from typing import Any, NamedTuple

from objpert_core import datasets
from objpert_core.experiments import learners, paper, results
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.indexed import Stored, load_or_none
from objpert_core.experiments.learners import FORMER_LABELS, HONEST, NON_PRIVATE, PUBLISHED, TIGHT
from objpert_core.experiments.methods import EVERY, Parameters
from objpert_core.experiments.studies.subsampling import GENERATED, MAX_DRAWS
from pages.accuracy.figure import EVERYTHING, SMALL, VIEWS
from pages.accuracy.reading import LABELS
from ui import parameters
from ui.controls import Choice, Control, Number, Pills, Preset, SelectSlider, Toggle

USUAL = (NON_PRIVATE, HONEST, TIGHT)  # both private ones have paid for all they did
COMPARED = (NON_PRIVATE, learners.DISHONEST_LARGE, HONEST, learners.UNPAID_STANDARDISED, PUBLISHED, TIGHT)
PAPERS = (NON_PRIVATE, learners.DISHONEST_RDP, HONEST, PUBLISHED, TIGHT)  # what Tables 1 and 2 compare, and ours
SAME_ROWS = (NON_PRIVATE, learners.DISHONEST_LARGE, learners.UNPAID_STANDARDISED, TIGHT, learners.TIGHT_RAW)
ORIGINS = {
    "synthetic-h": "Gained by scaling",
    "breast-cancer": "Gained by centring",
    "digits-4-9": "Gained by the margin",
}
"""Data sets on which one step does most, and the presets that show it."""
FEW_ROWS = {"breast-cancer": 0.25}
"""A data set, and the ε at which the rival is ahead once it has the same preprocessing, and not before."""
LUCK = (NON_PRIVATE, learners.DISHONEST_PLD, TIGHT, learners.TIGHT_DISHONEST, learners.DPSGD_AGAIN)
MARGINS = (
    NON_PRIVATE,
    learners.DISHONEST_LARGE,
    TIGHT,
    learners.TIGHT_RAW,
    learners.TIGHT_LOGISTIC,
    learners.DPSGD_MARGIN,
)
TAKEN_APART = "synthetic-l"
"""The large data set on which every method of `LUCK` and `MARGINS` has runs."""


def files() -> tuple[str, ...]:
    """The files there are, in the order in which `datasets.names` lists their data sets."""
    order = datasets.names()
    return tuple(sorted(results.stored(), key=lambda key: (order.index(key) if key in order else len(order), key)))


def default_key(found: tuple[str, ...]) -> str:
    """Adult, the data set of Table 2, if it is among them; else the first."""
    return "adult" if "adult" in found else found[0]


def epsilons(found: tuple[str, ...]) -> tuple[float, ...]:
    """Figure 2's ε and every other one that a readable file of `found` has."""
    return tuple(sorted({*EPSILONS, *(epsilon for stored in _readable(found) for epsilon in stored.epsilons)}))


def constants(found: tuple[str, ...]) -> tuple[float, ...]:
    """The constant features of the readable files of `found`; the default where there is none."""
    return tuple(sorted({stored.constant for stored in _readable(found)})) or (Parameters().intercept_scaling,)


def _readable(found: tuple[str, ...]) -> list[Stored]:
    """The files that can be read; what is wrong with another is said where it is shown."""
    return [stored for key in found if (stored := load_or_none(key))]


NAMES = tuple(EVERY)
COST, AHEAD, ORIGIN = "what privacy costs", "who is ahead", "where the accuracy comes from"
"""The questions that the page answers."""
QUESTION = Choice(
    "accuracy_question",
    "Question",
    COST,
    options=(COST, AHEAD, ORIGIN),
    help="The last picture switches on our changes to the published Algorithm 1, one at a time.",
)
SHOWN = Pills(
    "accuracy_methods",
    "Methods",
    USUAL,
    NAMES,
    format=LABELS.__getitem__,
    most=len(NAMES),
    help="Unpaid: the learning rate was chosen by looking at the data, and ε does not cover this choice. Paid: ε "
    "covers the choice. The line “Names” under the chart explains the rest.",
    former=FORMER_LABELS,
)
VIEW = Choice(
    "accuracy_view",
    "Show",
    EVERYTHING,
    options=tuple(VIEWS),
    help="Small ε: up to 0.25. Large ε: from 1. Top: the best three points of accuracy.",
)
PAPER = Toggle("accuracy_paper", "The paper’s numbers as hollow marks", False)
GHOST = parameters.ghost("accuracy", "data set")
ROWS_DATA = parameters.data_set(
    "accuracy_rows",
    GENERATED[0],
    (*GENERATED, "adult"),
    help="The first two are generated and can have any number of rows. Adult has 36,177 training rows.",
)
ROWS_EPSILON = parameters.epsilon("accuracy_rows", 0.1, help="The same promise for every number of rows, at δ = 10⁻⁵.")
DRAWS = parameters.draws("accuracy_rows", 5, MAX_DRAWS, label="Draws", help="How often rows and noise are drawn.")
SEED = parameters.seed("accuracy_rows", "First seed", help="The seed of rows and noise. Draw i uses this seed plus i.")
ROWS_CONTROLS: tuple[Control, ...] = (ROWS_DATA, ROWS_EPSILON, DRAWS, SEED)


class Controls(NamedTuple):
    """The controls whose options are what the stored files hold."""

    data: Choice
    epsilon: SelectSlider
    again: Choice
    trial: Number

    @property
    def linked(self) -> tuple[Control, ...]:
        """All controls of the page, as its links name them."""
        stage = (self.data, QUESTION, SHOWN, self.epsilon, VIEW, PAPER, GHOST)
        return (*stage, self.again, self.trial, *ROWS_CONTROLS)


def controls_of(keys: tuple[str, ...]) -> Controls:
    """Those for the stored files of these names."""
    epsilon = SelectSlider(
        "accuracy_epsilon",
        "Read at ε =",
        0.1,
        epsilons(keys),
        help="The answer and the table are read at this ε. Not every data set has runs at every ε; the page says so "
        "where runs are missing.",
    )
    return Controls(
        parameters.data_set("accuracy", default_key(keys), keys),
        epsilon,
        Choice("accuracy_again", "Method", "tight", options=NAMES, format=LABELS.__getitem__, former=FORMER_LABELS),
        Number("accuracy_trial", "Trial", 0, help="The number is the seed of the trial’s split.", low=0, high=99),
    )


def presets(controls: Controls) -> list[Preset]:
    """What a lecture shows one after the other, as far as its data sets are stored."""
    own = controls.data.default

    def preset(name: str, hint: str, methods: tuple[str, ...], key: str = own, **more: Any) -> Preset:
        values: dict[Control, Any] = {controls.data: key, controls.epsilon: more.get("epsilon", 0.1), SHOWN: methods}
        values |= {QUESTION: more.get("question", COST), VIEW: more.get("view", EVERYTHING)}
        return Preset(name, values | {PAPER: "paper" in more}, hint)

    papers = [
        preset(
            name,
            f"Figure 2 of Redberg et al. (2023), {dataset.title()}: the paper’s three methods, our theorem and no "
            f"privacy, beside the numbers of the paper’s {paper.TABLES[dataset]}.",
            PAPERS,
            dataset,
            epsilon=1.0,
            paper=True,
        )
        for dataset, name in (("adult", "Figure 2, Adult"), ("synthetic-l", "Table 1, generated rows"))
        if dataset in controls.data.options
    ]
    stand_in = "gisette-like"
    if stand_in in controls.data.options:
        why = "Gisette has to be downloaded, so the stored runs are about rows made by Gisette’s recipe."
        papers.append(preset("Figure 2, Gisette: why it is a stand-in", why, PAPERS, stand_in, epsilon=1.0))
    lucky = "Equal luck for both: Algorithm 1 keeps the best of as many noises as DP-SGD has learning rates, and "
    lucky += "DP-SGD runs its chosen rate again with fresh noise."
    margins = "Algorithm 1 without the margin of its loss, and DP-SGD with this margin."
    ours = "On few rows that are centred and scaled, DP-SGD with a free learning rate beats our theorem."
    chain = "From the 2023 theorem to our theorem, margin, centring and scaling: what each step changes on {} at ε = 1."
    origins = [
        preset(name, chain.format(key), USUAL, key, epsilon=1.0, question=ORIGIN)
        for key, name in ORIGINS.items()
        if key in controls.data.options
    ]
    same = [
        preset("The rival with our steps", ours, SAME_ROWS, key, epsilon=epsilon, question=AHEAD)
        for key, epsilon in FEW_ROWS.items()
        if key in controls.data.options
    ]
    apart = TAKEN_APART if TAKEN_APART in controls.data.options else own
    return [
        preset("Strong privacy costs", "ε = 0.1: no privacy, Algorithm 1, and paid DP-SGD.", USUAL),
        *papers,
        preset("Weak privacy is nearly free", "ε = 8, the same three methods.", USUAL, epsilon=8.0),
        preset(
            "Who is ahead at small ε",
            "Where learners differ most.",
            COMPARED,
            question=AHEAD,
            view=SMALL,
        ),
        *same,
        *origins,
        preset("The luck of choosing", lucky, LUCK, apart, view=SMALL),
        preset("The margin for both", margins, MARGINS, apart, view=SMALL),
    ]
