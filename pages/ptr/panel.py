"""The controls of the page "Ask the data first", and its presets."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from objpert_core.experiments.ptr import pate, pca, regression, voting
from objpert_core.experiments.ptr.pate import SOURCES
from objpert_core.experiments.ptr.tables import TABLES
from pages.ptr import line
from pages.ptr import stored_words as kept
from pages.ptr.editor import PointsText, write
from pages.ptr.words import VIEWS
from ui import controls as c
from ui import page, parameters

TWELVE = (0.12, 0.3, 0.34, 0.37, 0.39, 0.4, 0.42, 0.44, 0.47, 0.5, 0.71, 0.9)

VIEW = c.Choice("ptr_view", "Picture", "line", tuple(VIEWS), VIEWS.__getitem__)
POINTS = PointsText("ptr_points", "Values", write(TWELVE))
PUBLISH = c.Choice("ptr_publish", "Publish", "number", tuple(line.PUBLISHED), line.PUBLISHED.__getitem__)
BETA = c.SelectSlider(
    "ptr_beta",
    "Proposal β",
    0.1,
    (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9),
    help="“One person moves the median by β at most.” How far one person does move it is the local sensitivity of "
    "these values. The test asks for D: how many people must change until that exceeds β. The noise is made for β: its "
    "scale is 2β/ε.",
)
EPSILON = c.SelectSlider("ptr_epsilon", "Privacy budget ε", 1.0, c.log_values(0.1, 10, steps=(1, 1.5, 2, 3, 5, 7)))
DELTA = c.SelectSlider("ptr_delta", "Slack δ", 1e-5, c.powers_of_ten(-9, -2))
PEOPLE = c.SelectSlider("ptr_people", "People with each value", 7, (1, 2, 4, 7, 20, 50), format=str)
FALLBACK = c.Toggle(
    "ptr_fallback",
    "Fallback: more noise, not ⊥",
    True,
    help="What a failed test is answered with. ⊥ reads “no answer”.",
)
GAP = c.SelectSlider(
    "ptr_gap",
    "Gap: votes ahead (secret)",
    10,
    (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 86, 100, 150, 200, 300),
    format=str,
)
NOISE = c.SelectSlider(
    "ptr_noise",
    "Proposed noise, its ε",
    1.0,
    c.log_values(0.1, 10, steps=(1, 2, 3, 5)),
    help="Of the Laplace noise on each count: its scale is 1 over this. The test asks whether ε/2 is enough for it.",
)
FIRST = c.SelectSlider("ptr_first", "Share who name the first class", 0.8, (0.2, 0.34, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95))
SECOND = c.SelectSlider(
    "ptr_second",
    "Of the others, who name the second",
    0.11,
    (0.11, 0.2, 0.33, 0.5, 0.75, 1.0),
    help="A share; 0.11: the nine other classes get the same.",
)
NUMBER = c.SelectSlider("ptr_teachers", "Teachers", 400, (50, 100, 200, 400, 700, 1000), format=str)
SIGMA = c.SelectSlider("ptr_sigma", "Noise σ on each count", 20.0, (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 100.0))
LABELS = c.SelectSlider(
    "ptr_labels",
    "Proposed ε′ of the labels",
    0.7,
    (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0),
    help="“All labels together cost ε′ with these votes.” Half of it goes to the conversion from Rényi orders.",
)
TEST = c.SelectSlider("ptr_test", "ε̂ of the test", 0.2, (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0))
RULE = "Public. A row’s leverage says how much of its own direction it supplies: at most 1/(λ + λₘᵢₙ)."
LAM = c.SelectSlider("ptr_lambda", "Regularisation λ", 3.0, c.log_values(1, 10_000, steps=(1, 2, 3, 5)), help=RULE)
EIGENVALUE = c.SelectSlider(
    "ptr_eigenvalue",
    "Least eigenvalue λₘᵢₙ of XᵀX",
    7.0,
    (0.0, *c.log_values(1, 10_000, steps=(1, 2, 3, 5, 7))),
    help="Of these data, so that it has to be asked for privately. It makes every row’s leverage small.",
)
PANEL = c.Choice("ptr_panel", "Panel of Figure 3", "b", tuple(kept.FIGURE3), kept.FIGURE3.__getitem__)
EQUAL = c.SelectSlider("ptr_equal", "Laplace noise that errs as often, ε", 0.3, voting.EPSILONS)
WIDE_GAP = c.SelectSlider("ptr_gap10", "Gap: votes ahead (secret)", 10, tuple(voting.GAPS[10.0]), format=str)
NARROW_GAP = c.SelectSlider("ptr_gap03", "Gap: votes ahead (secret)", 30, tuple(voting.GAPS[0.3]), format=str)
STORED = c.SelectSlider("ptr_stored", "Privacy budget ε", 1.0, regression.EPSILONS)
COUNTED = c.SelectSlider("ptr_counted", "Noise σ on each count", 20.0, pate.SIGMAS)
DIGITS = c.SelectSlider("ptr_digits", "Noise σ on each count", 10.0, pate.DIGITS_SIGMAS)
TABLE = c.Choice("ptr_data", "Data", "synthetic-r", tuple(TABLES), lambda name: TABLES[name].label)
SOURCE = c.Choice("ptr_source", "Whose votes", "high", tuple(SOURCES), SOURCES.__getitem__)
PAYS = c.Choice("ptr_pays", "Task", "glm", tuple(kept.PAYS), kept.PAYS.__getitem__)
ROWS = c.SelectSlider("ptr_n", "Rows n of the direction", pca.ROWS[-2], pca.ROWS, format=str)
SPREAD = c.SelectSlider("ptr_spread", "Spread of its first coordinate", 2.0, pca.SPREADS)
SEED = parameters.seed("ptr", "Seed of the run")
EVERY = c.Toggle("ptr_every", "All nine methods", False)
GHOST = c.Toggle("ptr_ghost", "Setting before, faintly", True)
HEADS: Mapping[str, c.Control] = {"line": PUBLISH, "figure3": PANEL, "figure2": SOURCE, "pays": PAYS}
"""What is chosen before the rest of a picture's controls."""
OWN: Mapping[tuple[str, str], tuple[c.Control, ...]] = {
    ("line", ""): (BETA, EPSILON, PEOPLE, DELTA, FALLBACK, SEED, POINTS),
    ("vote", ""): (GAP, EPSILON, NOISE, DELTA),
    ("figure3", "b"): (EQUAL,),
    ("figure3", "10"): (WIDE_GAP,),
    ("figure3", "0.3"): (NARROW_GAP,),
    ("gamma", ""): (LAM, EIGENVALUE, EPSILON, DELTA),
    ("figure1", ""): (TABLE, STORED, EVERY),
    ("pate", ""): (FIRST, LABELS, SIGMA, NUMBER, TEST, SECOND),
    ("figure2", ""): (COUNTED,),
    ("figure2", "digits"): (DIGITS,),
    ("pays", "glm"): (STORED,),
    ("pays", "pca"): (ROWS, SPREAD),
}
"""The controls of each picture, some of them only for one choice of its head."""
MOVED = tuple(dict.fromkeys((*HEADS.values(), *(control for controls in OWN.values() for control in controls))))
CONTROLS = (VIEW, *MOVED, GHOST)
ASIDE = (DELTA, FALLBACK, SECOND, SEED, POINTS, EVERY)
"""Controls that stand in "View"."""
LIVE = ("line", "vote", "pate", "gamma")
"""Pictures that are computed here, so that the setting before can be drawn as well."""


def panel() -> str:
    """The controls of one picture; the others keep their place in the address."""
    view = page.choose(VIEW)
    head = HEADS.get(view)
    chosen = page.choose(head) if head else ""
    own = OWN.get((view, chosen)) or OWN[view, ""]
    for control in own:
        if control not in ASIDE:
            control.show()
    if SEED in own:
        st.button("Draw again", key="ptr_again", icon=":material/casino:", on_click=another)
    live = (GHOST,) if view in LIVE else ()
    with page.tools(CONTROLS, PRESETS, name="ptr"):
        for control in (*(control for control in own if control in ASIDE), *live):
            control.show()
        if POINTS in own:
            POINTS.mover()
        if not live:
            st.caption("This picture has all its controls in sight.")
    shown = (*own, VIEW, head, *live)
    page.keep(*(control for control in (*MOVED, GHOST) if control not in shown))
    return view


def another() -> None:
    """Move on to the next seed."""
    st.session_state[SEED.key] = SEED.stored((SEED.value() + 1) % (SEED.high + 1))


def preset(name: str, hint: str, view: str, **values: Any) -> c.Preset:
    controls = {control.key.removeprefix("ptr_"): control for control in CONTROLS}
    first = {control: control.default for control in CONTROLS if control is not GHOST}
    return c.Preset(name, first | {VIEW: view} | {controls[key]: value for key, value in values.items()}, hint)


FAR = "0.02, 0.03, 0.05, 0.05, 0.06, 0.08, 0.22, 0.25, 0.26, 0.3, 0.4, 0.9"
PRESETS = (
    preset(
        "Throwing away hides",
        "Only the side of ½ is published: the local sensitivity is too large, the data-dependent ε is 0.",
        "line",
        publish="side",
        beta=0.02,
        delta=1e-2,
        points=FAR,
    ),
    preset(
        "Too bold: no answer, ⊥",
        "⊥ reads “no answer”: β is small and no fallback stands ready.",
        "line",
        beta=0.02,
        fallback=False,
    ),
    preset("Does asking win?", "Figure 1: test error of private regressions against ε.", "figure1", stored=1.0),
    preset("Teachers agree", "Figure 2, high: four in five teachers agree, asking is cheap.", "figure2", source="high"),
    preset(
        "Teachers disagree", "Figure 2, low: one teacher in three agrees, asking costs more.", "figure2", source="low"
    ),
    preset(
        "ε rises with the gap",
        "Figure 3a: without δ a wide lead is no more private.",
        "figure3",
        panel="10",
        gap10=10,
    ),
    preset(
        "The paper errs: 13 × δ",
        "Theorem 5.1 as printed, λ* = 10, breaks its promise.",
        "gamma",
        epsilon=5.0,
        delta=1e-6,
    ),
)
