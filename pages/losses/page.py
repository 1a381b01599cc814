"""Losses and clipping (Theorems E.2, E.3 and G.2 of Redberg et al. 2023): f and f_C, the fit, and no GLM structure."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from objpert_core.experiments.studies import clipping
from pages.losses import charts, snippets, words
from pages.losses import dimension as ld
from pages.losses import numbers as lc
from pages.losses import ordinary as lo
from ui import bounds, page, sentences, style
from ui import controls as c
from ui import parameters as p

LOSS, FIT, DIMENSION = "The loss", "The fit", "Without GLM structure"
ROOT_2 = 2**0.5

VIEWS = "The clipped loss itself, what it does to a fit with outliers, or what a loss without GLM structure costs."
SHOW = c.Choice("losses_show", "Show", LOSS, (LOSS, FIT, DIMENSION), horizontal=True, help=VIEWS)
LOSS_NAME = c.Choice("losses_loss", "Loss f", "squared", tuple(lc.NAMES))
PARAMETER = c.SelectSlider(
    "losses_parameter",
    "Huber’s threshold, hinge’s width",
    0.5,
    c.log_values(0.05, 5, steps=p.FEW_STEPS),
    help="The residual from which Huber’s loss is straight, or half the width of the hinge’s rounded corner. The other "
    "losses have no constant of their own.",
)
MARGIN = c.SelectSlider(
    "losses_margin",
    "Margin k of the logistic loss",
    0.0,
    (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0),
    help="The loss is log(1 + exp(k − m)): a row counts until its signed score m = y·xᵀθ is well beyond k. "
    "The certificate is the same at every k; an ordinary row comes closer to it.",
)
THRESHOLDS, SHORTER = c.log_values(0.01, 10, extra=[ROOT_2]), "No row’s gradient gets longer than this."
CLIP = c.SelectSlider("losses_C", "Clipping threshold C", 1.0, THRESHOLDS, help=SHORTER)
LONG = "With the constant for the intercept. The slope f′ is cut off at C/‖x‖, so long rows are clipped first."
NORM = c.SelectSlider("losses_norm", "Row norm ‖x‖", 1.0, c.log_values(0.1, 2, extra=[ROOT_2]), help=LONG)
VIEW = p.view("losses", "Axis up to ±", 4.0, (1.0, 2.0, 4.0, 8.0, 16.0, 32.0))
WRONG = "Of 300 generated rows: targets far below the line, or wrong labels far from the border."
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
OUTLIERS = c.SelectSlider("losses_outliers", "Share of outliers", 0.1, SHARES, help=WRONG)
EPSILON = c.SelectSlider("losses_epsilon", "ε of a private fit", 1.0, c.log_values(0.05, 20, steps=p.FEW_STEPS))
DRAWS = c.SelectSlider("losses_draws", "Private fits drawn", 5, (0, 1, 2, 3, 5, 10, 20), format=str)
SEED = p.seed("losses", "Seed", help="Of the rows and of the noise.")
BETA = p.smoothness("losses", 1.0, help="Largest curvature of one row’s loss.")
LIPSCHITZ = p.lipschitz("losses", 1.0, help="Largest gradient norm of one row’s loss.")
PARAMETERS = c.SelectSlider("losses_d", "Number of parameters d", 100, ld.DIMENSIONS, format=str)
DELTA = p.read_delta("losses", label="At δ =")
GHOST = p.ghost("losses")

DATA = (OUTLIERS, EPSILON, DRAWS, SEED)
SIGMA, LAM = p.sigma("losses", 5.0), p.lam("losses", 20.0)
MECHANISM = (SIGMA, LAM, BETA, LIPSCHITZ)
CONTROLS = (SHOW, LOSS_NAME, PARAMETER, MARGIN, CLIP, NORM, VIEW, *DATA, *MECHANISM, PARAMETERS, DELTA, GHOST)
IN_SIGHT: dict[str, tuple[c.Control, ...]] = {
    LOSS: (CLIP, LOSS_NAME, NORM),
    FIT: (CLIP, LOSS_NAME, EPSILON, OUTLIERS),
    DIMENSION: (PARAMETERS, LAM, SIGMA),
}
OWN: dict[str, c.Control] = {"logistic": MARGIN, **dict.fromkeys(lc.WIDTHS, PARAMETER)}
IN_VIEW: dict[str, tuple[c.Control, ...]] = {
    LOSS: (VIEW,),
    FIT: (DRAWS, SEED, DELTA),
    DIMENSION: (BETA, LIPSCHITZ, DELTA),
}


def preset(name: str, hint: str, **values: Any) -> c.Preset:
    """All controls to their defaults, but for the ones given: nothing is left behind from another view."""
    reset = {control: control.default for control in CONTROLS if control is not GHOST}
    return c.Preset(name, reset | {KEYS[key]: value for key, value in values.items()}, hint)


KEYS = {control.key.removeprefix("losses_"): control for control in CONTROLS}
LONGEST = "The logistic loss on the longest rows of the paper’s experiments."
MOVED = "The logistic loss moved to the right: rows near 0 pull harder; σ, λ and the certified ε stay what they were."
DEEP = "Two classes, a fifth of the rows deep in the wrong half."
FIGURE_1 = "Theorem G.2 at the noise and regularisation of the paper’s Figure 1, left."
PRESETS = (
    preset("Huber is clipped squares", "The squared loss of a row of norm 1, clipped at C = 1.", loss="squared", C=1.0),
    preset("The paper’s C clips nothing", f"C = √2. {LONGEST}", loss="logistic", C=ROOT_2, norm=ROOT_2),
    preset("A margin is free", MOVED, loss="logistic", margin=1.5),
    preset("Clipping beats outliers", "A line through 300 points, a tenth of them far off.", show=FIT, C=0.2),
    preset("… and wrong labels", DEEP, show=FIT, loss="squared-hinge", C=0.5, outliers=0.2),
    preset("Clipping that hurts", "No outliers and a C so small that λ wins.", show=FIT, C=0.02, outliers=0.0),
    preset("No GLM: size counts", FIGURE_1, show=DIMENSION, sigma=5.0, d=100, **{"lambda": 20.0}),
)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="losses")
    left, panel = page.columns()
    with panel:
        show = SHOW.show()
        values = {control: control.show() for control in IN_SIGHT[show]}
        if constant := OWN.get(values.get(LOSS_NAME, "")):
            values[constant] = constant.show()
        with page.tools(CONTROLS, PRESETS, name="losses"):
            values |= {control: control.show() for control in IN_VIEW[show]}
            with_ghost = GHOST.show()
        page.keep(*(control for control in CONTROLS if control not in (SHOW, GHOST) and control not in values))
    with page.errors():
        if show == DIMENSION:
            mechanism = bounds.Setting(*(values[control] for control in MECHANISM))
            without_structure(left, mechanism, values[DELTA], values[PARAMETERS], with_ghost)
            return
        own = values[constant] if constant else PARAMETER.default
        name, clip = values[LOSS_NAME], values[CLIP]
        if show == LOSS:
            loss(left, lc.LossSetting(name, own, clip, values[NORM]), values[VIEW], with_ghost)
        else:
            some = clipping.Setting(name, own, clip, values[OUTLIERS], values[EPSILON], values[DELTA], values[SEED])
            fit(left, some, values[DRAWS], with_ghost)


def loss(left: DeltaGenerator, setting: lc.LossSetting, view: float, with_ghost: bool) -> None:
    before = c.previous("losses_loss", setting)
    ghost = before if with_ghost and before and before.axis == setting.axis else None
    title = f"A loss, clipped: {setting}"
    numbers = partial(lc.frame, setting, view)
    picture = page.Picture(
        charts.loss(setting, view=view, ghost=ghost), words.loss_alt(setting, "Value"), numbers, title
    )
    with left:
        page.answer(
            words.loss_answer(setting), promise=words.loss_proof(setting), why=words.loss_moved(before, setting)
        )
        page.show(picture, key="losses_chart")
    if style.embedded():
        return
    slope = charts.slope(setting, view=view, ghost=ghost)
    slopes = page.Picture(slope, words.loss_alt(setting, "Slope"), numbers, f"Slope. {title}")
    page.evidence(picture, lc.table_rows(setting), name="losses", code=snippets.loss(setting))
    st.header("Its slope: how hard a row pulls", anchor=False)
    if setting.loss == "logistic":
        st.caption(words.pull(setting))
    page.show(slopes, key="losses_slope")
    page.evidence(slopes, name="losses-slope")
    if setting.loss == "logistic":
        ordinary(setting.parameter)


def ordinary(margin: float) -> None:
    """What the margin costs one ordinary row, though not the worst case."""
    picture = page.Picture(charts.ordinary(margin), words.ordinary_alt(margin), lo.frame, "Exact ε of a row against k")
    st.header("What a margin costs an ordinary row", anchor=False)
    st.markdown(words.ordinary(margin))
    page.show(picture, key="losses_ordinary")
    st.caption(words.ordinary_design())
    note = "These lines print the ε of the row that agrees with most others, and the certified one."
    page.evidence(picture, lo.table_rows(margin), name="losses-ordinary", code=snippets.ordinary(margin), note=note)


def fit(left: DeltaGenerator, setting: clipping.Setting, draws: int, with_ghost: bool) -> None:
    before = c.previous("losses_fit", setting)
    ghost = before if with_ghost and before and before.regression == setting.regression else None
    same_curve = ghost is None or replace(ghost, clip=setting.clip) == setting
    plain, clipped = (clipping.error(setting, clipping.without_privacy(setting, clip)) for clip in (None, setting.clip))
    private = clipping.private_error(setting)
    picture = page.Picture(
        charts.fits(setting, draws=draws, ghost=ghost),
        words.fit_alt(setting, plain, clipped, draws),
        lambda: lc.fits_frame(setting, draws),
        f"Fits: {words.fit_title(setting)}",
    )
    by_threshold = page.Picture(
        charts.errors(setting, ghost=None if same_curve else ghost),
        words.errors_alt(setting, clipping.errors(setting)),
        lambda: pd.DataFrame(clipping.errors(setting)),
        f"Error against C: {words.fit_title(setting)}",
    )
    with left:
        page.answer(
            words.fit_answer(setting, plain, clipped),
            promise=sentences.promise(setting.epsilon, setting.delta, words.PROVED[setting.bound]),
            why=words.fit_moved(before, setting, clipping.private_error(before), private) if before else "",
        )
        page.show(picture, key="losses_fits")
    if style.embedded():
        return
    st.caption(words.FIT_LINES)
    note = "These lines print the first private fit on the chart."
    page.evidence(picture, words.fit_rows(setting, private), name="losses-fits", code=snippets.fit(setting), note=note)
    st.header("The error at every threshold", anchor=False)
    st.caption(words.best(setting, clipping.best_threshold(setting)))
    page.show(by_threshold, key="losses_errors")
    st.caption(words.errors_lines())
    page.evidence(by_threshold, name="losses-errors")


def without_structure(left: DeltaGenerator, setting: bounds.Setting, delta: float, at: int, with_ghost: bool) -> None:
    before = c.previous("losses_dimension", setting)
    read = ld.Read(setting, delta, at)
    then = c.previous("losses_read", read)
    found = ld.readings(setting, delta, at)
    picture = page.Picture(
        charts.dimension(setting, delta=delta, at=at, ghost=before if with_ghost else None),
        words.dimension_alt(found, delta, at),
        lambda: ld.frame(setting, delta),
        f"ε against the number of parameters, {setting}",
    )
    with left:
        page.answer(
            words.dimension_answer(found, at),
            promise=sentences.promise(found["non-glm"], delta, words.THEOREM_G2),
            why=words.dimension_moved(then, read) if then else "",
        )
        page.show(picture, key="losses_dimension")
    if style.embedded():
        return
    if silent := setting.mechanism("glm").explain():
        st.info(silent, icon=":material/info:")
    st.caption(words.dimension_more(ld.price(setting)))
    code = snippets.dimension(setting, delta=delta, at=at)
    page.evidence(picture, ld.table_rows(found, at), name="losses-dimension", code=code)


def revealed() -> None:
    setting = lc.LossSetting("squared", 1.0, 1.0, 0.5)
    figure = charts.loss(setting, view=4.0, ghost=replace(setting, norm=1.0))
    page.show(page.Picture(figure, words.loss_alt(setting, "Value")), key="losses_try_chart")
    st.caption("The faint line is the clipped loss of a row of norm 1.")


page.begin(
    "losses",
    "Privacy needs a limit on how hard one row can pull. Clipping sets it; for a linear model it amounts to another "
    "loss $f_C$: convex, as smooth as $f$, straight beyond its kinks.",
)
explore()
page.predict(page.Prediction.of("losses", revealed), key="losses__try")
page.about("losses")
