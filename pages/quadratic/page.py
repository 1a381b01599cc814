"""Quadratic objective perturbation (Cortild and Cartis 2026): what a random curvature hides, and what it does not."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.quadratic import figure1, figure2, matter, regression
from objpert_core.experiments.quadratic.plane import Plane
from objpert_core.experiments.quadratic.spectrum import Spectrum
from objpert_core.experiments.results import Results
from pages.quadratic import charts, numbers, snippets, stored_charts
from pages.quadratic import stored_words as kept
from pages.quadratic import words as text
from pages.quadratic.numbers import BEST, Labels, Noise
from ui import controls as c
from ui import page, parameters, style

T = TypeVar("T")

VIEW = c.Choice("quadratic_view", "Picture", "bowls", tuple(text.VIEWS), text.VIEWS.__getitem__)
EPSILON = c.SelectSlider(
    "quadratic_epsilon", "Privacy budget ε", 1.0, c.log_values(0.1, 10, steps=(1, 1.5, 2, 3, 5, 7))
)
DELTA = c.SelectSlider("quadratic_delta", "Slack δ", 1e-5, c.powers_of_ten(-9, -2))
ROWS = c.SelectSlider("quadratic_n", "Rows n", 100, (100, 300, 1000, 3000, 10_000, 30_000, 100_000), format=str)
STORED_ROWS = c.SelectSlider("quadratic_rows", "Rows n", matter.ROWS[-1], matter.ROWS, format=str)
RADIUS = c.SelectSlider(
    "quadratic_radius", "Radius κ of the disc C", 1.0, (1.0, 2.0, 5.0, 10.0), help="The tilt’s noise grows with it."
)
SEED = parameters.seed("quadratic", "Seed of the draw")
SIZE = c.SelectSlider("quadratic_d", "Parameters d", 12, (1, 2, 5, 12, 20, 50, 100), format=str)
BEST_M = (
    "W is a sum of m squares of Gaussian vectors: m is its degrees of freedom. Best: the m for which the bend’s mean "
    "σ²m is least. More than d in any case."
)
DEGREES = c.SelectSlider(
    "quadratic_m",
    "Degrees of freedom m over d",
    BEST,
    (BEST, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0),
    lambda value: "best" if value == BEST else c.plain(value),
    help=BEST_M,
)
BY = c.Choice("quadratic_by", "Noise calibrated by", "published", tuple(numbers.PROOFS), numbers.PROOFS.__getitem__)
KAPPA = c.SelectSlider("quadratic_kappa", "Half side κ of the box C", 1.0, figure2.KAPPAS)
OFF = c.SelectSlider("quadratic_off", "The label is off by", 0.1, (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0))
TILT = c.Toggle("quadratic_tilt", "Add a tilt, clip residuals to 1", False)
PANEL = c.Choice("quadratic_panel", "Panel of Figure 1", "exact", tuple(kept.PANELS), kept.PANELS.__getitem__)
PROOF = c.Choice("quadratic_proof", "Bound", "published", tuple(figure1.PROOFS), figure1.PROOFS.__getitem__)
CASE = c.Choice(
    "quadratic_case",
    "Rows, parameters, ε",
    regression.CASES[0],
    regression.CASES,
    lambda case: "n = {:,}, d = {}, ε = {:g}".format(*case),
)
GAUSSIAN = c.Toggle("quadratic_gaussian", "Gaussian mechanism beside the proofs", False)
ZETA = (
    "ζ is the largest gradient of one row. Theorem 5.1 has the noise for a row that is added or removed; a replaced "
    "row moves the sum by up to 2ζ."
)
EVERY = c.Toggle("quadratic_every", "Tilt at 2ζ, for replaced rows", False, help=ZETA)
GHOST = c.Toggle("quadratic_ghost", "Setting before, faintly", True)
OWN: Mapping[str, tuple[c.Control, ...]] = {  # what moves each picture
    "bowls": (EPSILON, DELTA, ROWS, RADIUS, SEED),
    "spectrum": (EPSILON, DELTA, SIZE, DEGREES, SEED),
    "profile": (EPSILON, DELTA, SIZE, DEGREES, BY),
    "kappa": (KAPPA,),
    "matter": (STORED_ROWS,),
    "regression": (CASE,),
    "labels": (OFF, TILT, EPSILON, ROWS, DELTA),
    "heat": (EPSILON, DELTA, PANEL, PROOF),
}
ASIDE: Mapping[str, tuple[c.Control, ...]] = {"heat": ()}  # in "View" elsewhere: the seed, and δ
MOVED = tuple(dict.fromkeys(control for controls in OWN.values() for control in controls))
CONTROLS = (VIEW, *MOVED, GAUSSIAN, EVERY, GHOST)
SWITCHES = {GAUSSIAN: ("profile",), EVERY: ("kappa",), GHOST: ("bowls", "spectrum", "profile", "labels")}


def preset(name: str, hint: str, view: str, **values: Any) -> c.Preset:
    controls = {control.key.removeprefix("quadratic_"): control for control in CONTROLS}
    first = {control: control.default for control in CONTROLS if control is not GHOST}
    return c.Preset(name, first | {VIEW: view} | {controls[key]: value for key, value in values.items()}, hint)


PRESETS = (
    preset("Every bound is above 1", "Figure 1, left: the least bound on the risk, exact solver.", "heat", delta=1e-4),
    preset("An inexact solver", "Figure 1, right: the same for τ = η = 0.001.", "heat", delta=1e-4, panel="inexact"),
    preset(
        "The anchor does as well",
        "Figure 2: the risk against the box, ε = 0.5, δ = 0.01.",
        "kappa",
        epsilon=0.5,
        delta=1e-2,
    ),
    preset("Where data matter", "n = 100,000: here noise that is too large costs something.", "matter"),
    preset(
        "δ has a floor",
        "The calibrated bend beside the Gaussian mechanism of the same (ε, δ).",
        "profile",
        by="exact",
        gaussian=True,
    ),
    preset("Two records disagree", "One label is off: the bend’s promise breaks.", "labels", n=1000),
)


def panel() -> str:
    """The controls of one picture; the others keep their place in the address."""
    view = page.choose(VIEW)
    aside = ASIDE.get(view, (DELTA, SEED))
    for control in OWN[view]:
        if control not in aside:
            control.show()
    if SEED in OWN[view]:
        st.button("Draw again", key="quadratic_again", icon=":material/casino:", on_click=another)
    live = [switch for switch, views in SWITCHES.items() if view in views]
    hidden = [*(control for control in OWN[view] if control in aside), *live]
    with page.tools(CONTROLS, PRESETS, name="quadratic"):
        for control in hidden:
            control.show()
        if not hidden:
            st.caption("This picture has all its controls in sight.")
    if unseen := [control for control in (*MOVED, *SWITCHES) if control not in (*OWN[view], *live)]:
        page.keep(*unseen)
    return view


def another() -> None:
    """Move on to the next seed."""
    st.session_state[SEED.key] = SEED.stored((SEED.value() + 1) % (SEED.high + 1))


def stage(left: DeltaGenerator, picture: page.Picture, key: str, told: str, promise: str, why: str = "") -> bool:
    """The answer and its chart; whether there is more to draw, which a slide has not."""
    with left:
        page.answer(told, promise=promise, why=why)
        page.show(picture, key=key)
    return not style.embedded()


def ghost(before: T) -> T | None:
    """The setting before, where it is to be seen."""
    return before if GHOST.value() else None


def bowls(left: DeltaGenerator) -> None:
    plane = Plane(EPSILON.value(), DELTA.value(), ROWS.value(), RADIUS.value(), SEED.value())
    before = c.previous("quadratic_bowls", plane)
    figure = charts.contours(plane, ghost(before))
    picture = page.Picture(figure, text.bowls_alt(plane), partial(numbers.moved_frame, plane))
    told, why = text.bowls_answer(plane), text.bowls_moved(before, plane)
    if stage(left, picture, "quadratic_chart", told, text.bowls_promise(plane), why):
        st.caption(text.bowls_note(plane))
        page.evidence(picture, text.bowls_rows(plane), name="quadratic", code=snippets.bowls(plane))


def noise() -> Noise:
    return Noise(EPSILON.value(), DELTA.value(), SIZE.value(), DEGREES.value(), BY.value())


def spectrum(left: DeltaGenerator) -> None:
    asked = Noise(EPSILON.value(), DELTA.value(), SIZE.value(), DEGREES.value(), "exact")
    shown = Spectrum(asked.dimension, asked.bend.degrees_of_freedom, asked.delta, seed=SEED.value())
    before = c.previous("quadratic_spectrum", shown)
    figure = charts.spectrum(shown, ghost(before))
    picture = page.Picture(figure, text.spectrum_alt(shown), partial(numbers.spectrum_frame, shown))
    told, why = text.spectrum_answer(shown), text.spectrum_moved(before, shown)
    if stage(left, picture, "quadratic_spectrum_chart", told, text.noise_promise(asked), why):
        st.caption(text.spectrum_note(shown))
        code = snippets.spectrum(shown)
        page.evidence(picture, text.spectrum_rows(shown), name="quadratic_spectrum", code=code)


def profile(left: DeltaGenerator) -> None:
    shown, gaussian = noise(), GAUSSIAN.value()
    before = c.previous("quadratic_profile", shown)
    figure = charts.profiles(shown, ghost(before), gaussian=gaussian)
    picture = page.Picture(figure, text.profile_alt(shown, gaussian), partial(numbers.profile_frame, shown))
    told, why = text.profile_answer(shown, gaussian), text.profile_moved(before, shown)
    if stage(left, picture, "quadratic_profile_chart", told, text.noise_promise(shown), why):
        st.caption(text.profile_note(shown))
        page.evidence(picture, text.profile_rows(shown), name="quadratic_profile", code=snippets.profile(shown))


def labels(left: DeltaGenerator) -> None:
    shown = Labels(EPSILON.value(), DELTA.value(), ROWS.value(), OFF.value(), TILT.value())
    before = c.previous("quadratic_labels", shown)
    figure = charts.labels(shown, ghost(before))
    picture = page.Picture(figure, text.labels_alt(shown), partial(numbers.labels_frame, shown))
    told, why = text.labels_answer(shown), text.labels_moved(before, shown)
    if stage(left, picture, "quadratic_labels_chart", told, text.labels_promise(shown), why):
        st.caption(text.labels_note(shown))
        page.evidence(picture, text.labels_rows(shown), name="quadratic_labels", code=snippets.labels(shown))


def stored(name: str, draw: Callable[[DeltaGenerator, Results], None], left: DeltaGenerator) -> None:
    """A picture of stored results; a word about them where there are none."""
    found = numbers.file_of(name)
    if found is None:
        st.info(kept.nothing_stored(name), icon=":material/info:")
        return
    draw(left, found)
    if not style.embedded():
        st.caption(kept.made_by(found))


def kappa(left: DeltaGenerator, found: Results) -> None:
    at = KAPPA.value()
    told = kept.kappa_answer(found, at)
    alt = kept.against_alt(told, "Empirical risk", "half the side of the box")
    figure = stored_charts.figure_2(found, at, every=EVERY.value())
    picture = page.Picture(figure, alt, partial(numbers.frame_of, found))
    if stage(left, picture, "quadratic_kappa_chart", told, kept.KAPPA_PROMISE):
        st.caption(kept.KAPPA_NOTE)
        rows = kept.against_rows(found, "kappa", figure2.LABELS)
        code = snippets.means("figure2", "kappa", at, tuple(figure2.LABELS))
        page.evidence(picture, rows, name="quadratic_kappa", code=code, note=snippets.STORED)


def where_data_matter(left: DeltaGenerator, found: Results) -> None:
    n = STORED_ROWS.value()
    told = kept.matter_answer(found, n)
    alt = kept.against_alt(told, "Excess risk", "the number of rows")
    picture = page.Picture(stored_charts.where_data_matter(found, n), alt, partial(numbers.frame_of, found))
    if stage(left, picture, "quadratic_matter_chart", told, kept.MATTER_PROMISE):
        st.caption(kept.MATTER_NOTE)
        rows = kept.against_rows(found, "n", matter.LABELS)
        code = snippets.means("matter", "n", n, tuple(matter.LABELS))
        page.evidence(picture, rows, name="quadratic_matter", code=code, note=snippets.STORED)


def regressions(left: DeltaGenerator, found: Results) -> None:
    case = CASE.value()
    told = kept.regression_answer(found, case)
    rows = kept.regression_rows(found, case)
    listed = "; ".join(f"{row['Method']} {row['Excess test error']}" for row in rows)
    alt = f"{told} Excess test error, a logarithmic axis: {listed}."
    picture = page.Picture(stored_charts.regressions(found, case), alt, partial(numbers.frame_of, found))
    if stage(left, picture, "quadratic_regression_chart", told, kept.regression_promise(case)):
        st.caption(kept.regression_note(case))
        code = snippets.regression(case, tuple(regression.LABELS))
        page.evidence(picture, rows, name="quadratic_regression", code=code, note=snippets.STORED)


def heat(left: DeltaGenerator, found: Results) -> None:
    which = PANEL.value()
    proof = PROOF.value()
    if proof not in figure1.PANELS[which]:
        st.info(kept.NO_TIGHT, icon=":material/info:")
        proof = "sharpened"
    asked = EPSILON.value(), DELTA.value()
    at = numbers.nearest(figure1.EPSILONS, asked[0]), numbers.nearest(figure1.DELTAS, asked[1])
    if not found.values(panel=which, proof=proof, epsilon=at[0], delta=at[1]):
        st.info(kept.nothing_stored("figure1"), icon=":material/info:")
        return
    figure = stored_charts.figure_1(found, which, proof, at)
    picture = page.Picture(figure, kept.heat_alt(found, which, proof, at), partial(numbers.frame_of, found))
    told = kept.heat_answer(found, which, proof, at)
    if not stage(left, picture, "quadratic_heat_chart", told, kept.heat_promise(proof, at)):
        return
    if note := kept.nearest_line(asked, at):
        st.info(note, icon=":material/info:")
    st.caption(kept.heat_note(which))
    rows = kept.heat_rows(found, which, proof)
    note = "These lines compute the marked cell again."
    page.evidence(picture, rows, name="quadratic_heat", code=snippets.heat(which, proof, at), note=note)


DRAWN: Mapping[str, Callable[[DeltaGenerator], None]] = {
    "bowls": bowls,
    "spectrum": spectrum,
    "profile": profile,
    "labels": labels,
    "kappa": partial(stored, "figure2", kappa),
    "matter": partial(stored, "matter", where_data_matter),
    "regression": partial(stored, "regression", regressions),
    "heat": partial(stored, "figure1", heat),
}


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="quadratic")
    left, right = page.columns()
    with right, page.errors():
        view = panel()
    with page.errors():
        DRAWN[view](left)


page.begin(
    "quadratic",
    "A tilt adds a random slope to the objective. A bend adds a random curvature around an anchor θ* that suits every "
    "record.",
)
explore()
page.see_also("bounds", "what a tilt costs")
page.predict(page.Prediction.of("quadratic"), key="quadratic__try")
page.about("quadratic")
