"""Propose-test-release, generalised (Redberg, Zhu and Wang 2023): what kind data save, and what asking them costs."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from objpert_core.experiments.ptr.ballot import Ballot
from objpert_core.experiments.ptr.points import Points
from pages.ptr import gamma, line, line_charts, snippets, vote
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
    help="“One person moves the median by β at most.” The noise is made for it: its scale is β/ε.",
)
EPSILON = c.SelectSlider("ptr_epsilon", "Privacy budget ε", 1.0, c.log_values(0.1, 10, steps=(1, 1.5, 2, 3, 5, 7)))
DELTA = c.SelectSlider("ptr_delta", "Slack δ", 1e-5, c.powers_of_ten(-9, -2))
PEOPLE = c.SelectSlider("ptr_people", "People with each value", 4, (1, 2, 4, 8, 20, 50), format=str)
FALLBACK = c.Toggle(
    "ptr_fallback",
    "Fallback: more noise, not ⊥",
    True,
    help="What a failed test is answered with. ⊥ reads “no answer”.",
)
GAP = c.SelectSlider(
    "ptr_gap", "Gap: votes ahead", 10, (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 86, 100, 150, 200, 300), format=str
)
NOISE = c.SelectSlider(
    "ptr_noise",
    "Proposed noise, its ε",
    1.0,
    c.log_values(0.1, 10, steps=(1, 2, 3, 5)),
    help="Of the Laplace noise on each count: its scale is 1 over this. The test asks whether ε/2 is enough for it.",
)
LAM = c.SelectSlider("ptr_lambda", "Regularisation λ", 3.0, c.log_values(1, 10_000, steps=(1, 2, 3, 5)), help="Public.")
EIGENVALUE = c.SelectSlider(
    "ptr_eigenvalue",
    "Least eigenvalue λ_min of XᵀX",
    7.0,
    (0.0, *c.log_values(1, 10_000, steps=(1, 2, 3, 5, 7))),
    help="Of these data, so that it has to be asked for privately. It makes every row’s leverage small.",
)
SEED = parameters.seed("ptr", "Seed of the run")
GHOST = c.Toggle("ptr_ghost", "Setting before, faintly", True)
OWN: Mapping[str, tuple[c.Control, ...]] = {
    "line": (PUBLISH, BETA, EPSILON, DELTA, PEOPLE, FALLBACK, POINTS, SEED),
    "vote": (GAP, EPSILON, DELTA, NOISE),
    "gamma": (LAM, EIGENVALUE, EPSILON, DELTA),
}
MOVED = tuple(dict.fromkeys(control for controls in OWN.values() for control in controls))
CONTROLS = (VIEW, *MOVED, GHOST)


def panel() -> str:
    """The controls of one picture; the others keep their place in the address."""
    view = VIEW.show()
    own = OWN[view]
    for control in own:
        if control not in (POINTS, SEED):
            control.show()
    if SEED in own:
        st.button("Draw again", key="ptr_again", icon=":material/casino:", on_click=another)
    if POINTS in own:
        with st.expander("Move the points", icon=":material/drag_indicator:"):
            POINTS.show()
            POINTS.mover()
    with st.popover("View", icon=":material/visibility:"):
        if SEED in own:
            SEED.show()
        GHOST.show()
    if unseen := [control for control in MOVED if control not in own]:
        page.keep(*unseen)
    c.copy_link(CONTROLS)
    return view


def another() -> None:
    """Move on to the next seed."""
    st.session_state[SEED.key] = SEED.stored((SEED.value() + 1) % (SEED.high + 1))


def on_a_line() -> None:
    data = Points(POINTS.points(), PEOPLE.value(), BETA.value(), EPSILON.value(), DELTA.value(), PUBLISH.value())
    shown = line.Shown(data, SEED.value(), FALLBACK.value())
    before = c.previous("ptr_line", shown, GHOST.value())
    page.answer(line.answer(shown))
    st.caption(line.line(shown))
    picture = page.Picture(line_charts.points(shown, before), line.alt(shown), partial(line.frame, shown))
    page.show(picture, key="ptr_chart")
    page.chart(line_charts.epsilons(shown), key="ptr_epsilons_chart", alt=line.epsilons_alt(shown))
    test = line_charts.noisy_distance(shown)
    if test is None:
        st.info(line.distance_alt(shown), icon=":material/info:")
    else:
        page.chart(test, key="ptr_test_chart", alt=line.distance_alt(shown))
    page.evidence(picture, line.rows(shown), name="ptr", code=snippets.points(shown))


def ballot() -> None:
    shown = vote.Shown(Ballot(EPSILON.value(), DELTA.value(), NOISE.value()), GAP.value())
    before = c.previous("ptr_vote", shown, GHOST.value())
    page.answer(vote.answer(shown))
    st.caption(vote.line(shown))
    picture = page.Picture(vote.chart(shown, before), vote.alt(shown), partial(vote.frame, shown))
    page.show(picture, key="ptr_vote_chart")
    page.evidence(picture, vote.rows(shown), name="ptr_vote", code=snippets.vote(shown))


def precision() -> None:
    shown = gamma.Draw(LAM.value(), EIGENVALUE.value(), EPSILON.value(), DELTA.value())
    before = c.previous("ptr_gamma", shown, GHOST.value())
    page.answer(gamma.answer(shown))
    st.caption(gamma.line(shown))
    picture = page.Picture(gamma.chart(shown, before), gamma.alt(shown), partial(gamma.frame, shown))
    page.show(picture, key="ptr_gamma_chart")
    page.evidence(picture, gamma.rows(shown), name="ptr_gamma", code=snippets.gamma(shown))


DRAWN: Mapping[str, Callable[[], None]] = {"line": on_a_line, "vote": ballot, "gamma": precision}


def preset(name: str, hint: str, view: str, **values: Any) -> c.Preset:
    controls = {control.key.removeprefix("ptr_"): control for control in CONTROLS}
    first = {control: control.default for control in CONTROLS if control is not GHOST}
    return c.Preset(name, first | {VIEW: view} | {controls[key]: value for key, value in values.items()}, hint)


PRESETS = ()


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="ptr")
    left, right = page.columns()
    with right, page.errors():
        view = panel()
    with left, page.errors():
        DRAWN[view]()


page.begin(
    "ptr",
    "Most data need less noise than the worst data do. Propose little noise, test privately whether these data allow "
    "it, release only then.",
)
POINTS.mend()
explore()
page.predict(page.Prediction.of("ptr"), key="ptr__try")
page.about("ptr")
