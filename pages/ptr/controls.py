"""The controls of the page "Ask the data first": among them the twelve values, as text and moved by sliders."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import streamlit as st

from objpert_core.experiments.ptr.stored import Cost, Error, Lost, Price
from ui import parameters
from ui.controls import Choice, Control, SelectSlider, Toggle, TypedText, log_values, powers_of_ten

FEWEST, MOST = 3, 24
_PLACE, _REFUSED = "ptr__place", "ptr__refused"


def parse(text: Any) -> tuple[float, ...]:
    """The values of a text, to three decimals; ValueError where it is no list of numbers from 0 to 1."""
    parts = str(text).replace(";", " ").replace(",", " ").split()
    try:
        values = tuple(round(float(part), 3) for part in parts)
    except ValueError:
        values = ()
    if not FEWEST <= len(values) <= MOST or not all(0 <= value <= 1 for value in values):
        raise ValueError(
            f"values must be {FEWEST} to {MOST} numbers from 0 to 1, such as 0.2, 0.45, 1; got {str(text)[:80]!r}"
        )
    return values


def write(values: tuple[float, ...]) -> str:
    """The one text of these values."""
    return ", ".join(f"{value:g}" for value in values)


@dataclass(frozen=True)
class PointsText(TypedText):
    """The values as text."""

    def parse(self, text: Any) -> tuple[float, ...]:
        return parse(text)

    def offers(self, value: Any) -> bool:
        """Whether it can be read."""
        return self.readable(value)

    def _draw(self, **common: Any) -> str:
        text = super()._draw(max_chars=200, **common)
        if reason := st.session_state.pop(_REFUSED, ""):
            st.caption(reason)
        return text

    def _typed(self) -> None:
        typed = st.session_state[self.key]
        try:
            st.session_state[self.key] = write(parse(typed))
        except ValueError:
            st.session_state[self.key] = st.session_state.get(self.good, self.default)
            st.session_state[_REFUSED] = (
                f"Type {FEWEST} to {MOST} numbers from 0 to 1. The page still uses the old list."
            )


@dataclass(frozen=True)
class Mover(Control):
    """Two sliders: which of the points, the first being the lowest, and where it goes."""

    _: KW_ONLY
    points: PointsText

    def show(self, **look: Any) -> None:
        values = sorted(self.points.parsed())
        held = st.session_state.get(self.key, self.default)
        which = st.session_state[self.key] = min(max(int(held), 1), len(values))
        st.slider(self.label, 1, len(values), key=self.key)
        st.session_state[_PLACE] = values[which - 1]
        st.slider("to", 0.0, 1.0, step=0.01, key=_PLACE, on_change=self._moved)

    def _moved(self) -> None:
        """Write the list with one point elsewhere; the slider stays with that point."""
        values = sorted(self.points.parsed())
        place = round(float(st.session_state[_PLACE]), 3)
        values[int(st.session_state[self.key]) - 1] = place
        values.sort()
        st.session_state[self.key] = values.index(place) + 1
        st.session_state[self.points.key] = write(tuple(values))


TWELVE = (0.12, 0.3, 0.34, 0.37, 0.39, 0.4, 0.42, 0.44, 0.47, 0.5, 0.71, 0.9)

PUBLISHED = {"number": "the number", "side": "only whether it is above ½"}
FIGURE3 = {
    "b": "ε at equal error (3b)",
    "10": "ε against the gap, noise of ε = 10 (3a)",
    "0.3": "ε against the gap, noise of ε = 0.3 (3a)",
}
TASKS = {"glm": "Logistic regression", "pca": "First principal direction"}

POINTS = PointsText("ptr_points", "Values", write(TWELVE))
MOVER = Mover("ptr__which", "Move point", 1, points=POINTS)
PUBLISH = Choice("ptr_publish", "Publish", "number", tuple(PUBLISHED), PUBLISHED.__getitem__)
BETA = SelectSlider(
    "ptr_beta",
    "Proposal β",
    0.1,
    (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9),
    help="The proposal says: “One person moves the median by at most β.” How far one person really moves the median "
    "is the local sensitivity of these values. The test asks for the distance D: how many people must change "
    "until the local sensitivity exceeds β. The noise fits the proposal: its scale is 2β/ε.",
)
EPSILON = SelectSlider("ptr_epsilon", "Privacy budget ε", 1.0, log_values(0.1, 10, steps=(1, 1.5, 2, 3, 5, 7)))
DELTA = SelectSlider("ptr_delta", "Slack δ", 1e-5, powers_of_ten(-9, -2))
PEOPLE = SelectSlider("ptr_people", "People with each value", 7, (1, 2, 4, 7, 20, 50), format=str)
FALLBACK = Toggle(
    "ptr_fallback",
    "After a failed test: more noise instead of ⊥",
    True,
    help="If on, a failed test is answered with more noise. If off, a failed test is answered with ⊥, “no answer”.",
)
GAP = SelectSlider(
    "ptr_gap",
    "Gap: votes ahead (secret)",
    10,
    (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 86, 100, 150, 200, 300),
    format=str,
)
NOISE = SelectSlider(
    "ptr_noise",
    "Proposed noise, its ε",
    1.0,
    log_values(0.1, 10, steps=(1, 2, 3, 5)),
    help="The ε of the Laplace noise on each count; the noise has the scale 1 divided by this ε. The test asks whether "
    "this noise costs at most half of the privacy budget with these votes.",
)
FIRST = SelectSlider(
    "ptr_first", "Share of teachers who vote for the first class", 0.8, (0.2, 0.34, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
)
SECOND = SelectSlider(
    "ptr_second",
    "Share of the other teachers who vote for the second class",
    0.11,
    (0.11, 0.2, 0.33, 0.5, 0.75, 1.0),
    help="At 0.11 all nine other classes get equally many votes.",
)
NUMBER = SelectSlider("ptr_teachers", "Teachers", 400, (50, 100, 200, 400, 700, 1000), format=str)
SIGMA = SelectSlider("ptr_sigma", "Noise σ on each count", 20.0, (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 100.0))
LABELS = SelectSlider(
    "ptr_labels",
    "Proposed ε′ of the labels",
    0.7,
    (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0),
    help="The proposal says: “With these votes, all labels together cost ε′.” The conversion from Rényi orders uses "
    "half of ε′.",
)
TEST = SelectSlider("ptr_test", "ε̂ of the test", 0.2, (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0))
RULE = "λ is public. A row’s leverage says how much of its own direction the row supplies: at most 1/(λ + λₘᵢₙ)."
LAM = SelectSlider("ptr_lambda", "Regularisation λ", 3.0, log_values(1, 10_000, steps=(1, 2, 3, 5)), help=RULE)
EIGENVALUE = SelectSlider(
    "ptr_eigenvalue",
    "Least eigenvalue λₘᵢₙ of XᵀX",
    7.0,
    (0.0, *log_values(1, 10_000, steps=(1, 2, 3, 5, 7))),
    help="The eigenvalue belongs to these data, so a release has to ask for it privately. A large eigenvalue makes "
    "every row’s leverage small.",
)
PANEL = Choice("ptr_panel", "Panel of Figure 3", "b", tuple(FIGURE3), FIGURE3.__getitem__)
EQUAL = SelectSlider("ptr_equal", "ε of Laplace noise that errs as often", 0.3, Cost.EPSILONS)
WIDE_GAP = SelectSlider("ptr_gap10", "Gap: votes ahead (secret)", 10, tuple(Cost.GAPS[10.0]), format=str)
NARROW_GAP = SelectSlider("ptr_gap03", "Gap: votes ahead (secret)", 30, tuple(Cost.GAPS[0.3]), format=str)
STORED = SelectSlider("ptr_stored", "Privacy budget ε", 1.0, Error.EPSILONS)
COUNTED = SelectSlider("ptr_counted", "Noise σ on each count", 20.0, Price.SIGMAS)
DIGITS = SelectSlider("ptr_digits", "Noise σ on each count", 10.0, Price.DIGITS_SIGMAS)
TABLE = Choice("ptr_data", "Data", "synthetic-r", tuple(Error.TABLES), Error.TABLES.__getitem__)
SOURCE = Choice("ptr_source", "Whose votes", "high", tuple(Price.SOURCES), Price.SOURCES.__getitem__)
PAYS = Choice("ptr_pays", "Task", "glm", tuple(TASKS), TASKS.__getitem__)
ROWS = SelectSlider("ptr_n", "Rows n", Lost.ROWS[-2], Lost.ROWS, format=str)
SPREAD = SelectSlider("ptr_spread", "Spread of the first coordinate", 2.0, Lost.SPREADS)
SEED = parameters.seed("ptr", "Seed of the run")
EVERY = Toggle("ptr_every", "All nine methods", False)
GHOST = Toggle("ptr_ghost", "Show the previous setting faintly", True)
