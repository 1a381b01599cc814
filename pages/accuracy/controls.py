"""The accuracy page's controls and presets."""

from __future__ import annotations

from typing import Any, NamedTuple

from objpert_core.experiments import paper
from objpert_core.experiments.learners import FORMER_LABELS
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.studies.subsampling import GENERATED, MAX_DRAWS
from pages.accuracy import offered
from pages.accuracy.figure import EVERYTHING, SMALL, VIEWS
from pages.accuracy.names import LABELS
from ui import parameters
from ui.controls import Choice, Control, Number, Pills, Preset, SelectSlider, Toggle

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
    offered.USUAL,
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
        offered.epsilons(keys),
        help="The answer and the table are read at this ε. Not every data set has runs at every ε; the page says so "
        "where runs are missing.",
    )
    return Controls(
        parameters.data_set("accuracy", offered.default_key(keys), keys),
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
            offered.PAPERS,
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
        papers.append(preset("Figure 2, Gisette: why it is a stand-in", why, offered.PAPERS, stand_in, epsilon=1.0))
    lucky = "Equal luck for both: Algorithm 1 keeps the best of as many noises as DP-SGD has learning rates, and "
    lucky += "DP-SGD runs its chosen rate again with fresh noise."
    margins = "Algorithm 1 without the margin of its loss, and DP-SGD with this margin."
    ours = "On few rows that are centred and scaled, DP-SGD with a free learning rate beats our theorem."
    chain = "From the 2023 theorem to our theorem, margin, centring and scaling: what each step changes on {} at ε = 1."
    origins = [
        preset(name, chain.format(key), offered.USUAL, key, epsilon=1.0, question=ORIGIN)
        for key, name in offered.ORIGINS.items()
        if key in controls.data.options
    ]
    same = [
        preset("The rival with our steps", ours, offered.SAME_ROWS, key, epsilon=epsilon, question=AHEAD)
        for key, epsilon in offered.FEW_ROWS.items()
        if key in controls.data.options
    ]
    apart = offered.TAKEN_APART if offered.TAKEN_APART in controls.data.options else own
    return [
        preset("Strong privacy costs", "ε = 0.1: no privacy, Algorithm 1, and paid DP-SGD.", offered.USUAL),
        *papers,
        preset("Weak privacy is nearly free", "ε = 8, the same three methods.", offered.USUAL, epsilon=8.0),
        preset(
            "Who is ahead at small ε",
            "Where learners differ most.",
            offered.COMPARED,
            question=AHEAD,
            view=SMALL,
        ),
        *same,
        *origins,
        preset("The luck of choosing", lucky, offered.LUCK, apart, view=SMALL),
        preset("The margin for both", margins, offered.MARGINS, apart, view=SMALL),
    ]
