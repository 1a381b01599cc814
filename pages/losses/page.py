"""Losses and clipping (Theorems E.2, E.3 and G.2 of Redberg et al. 2023): f and f_C, the fit, and no GLM structure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.losses import charts as charts
from pages.losses import dimension as ld
from pages.losses import fits as lf
from pages.losses import numbers as lc
from pages.losses import snippets as snippets
from pages.losses import words as words
from ui import page
from ui.controls import (
    Choice,
    Control,
    Number,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)

LOSS, FIT, DIMENSION = "The loss", "The fit", "Without GLM structure"
ROOT_2 = 2**0.5

SHOW = Choice(
    "losses_show",
    "Show",
    LOSS,
    (LOSS, FIT, DIMENSION),
    horizontal=True,
    help="The clipped loss itself, what it does to a fit with outliers, or what a loss without GLM structure costs.",
)
LOSS_NAME = Choice("losses_loss", "Loss f", "squared", tuple(lc.NAMES))
PARAMETER = SelectSlider(
    "losses_parameter",
    "Huber’s threshold, hinge’s width",
    0.5,
    log_values(0.05, 5, steps=(1, 1.5, 2, 3, 5, 7)),
    help="The residual from which Huber’s loss is straight, or half the width of the hinge’s rounded corner. The other "
    "losses have no constant of their own.",
)
MARGIN = SelectSlider(
    "losses_margin",
    "Margin k of the logistic loss",
    0.0,
    (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0),
    help="The loss is log(1 + exp(k − m)): a row counts until its signed score m = y·xᵀθ is well beyond k. "
    "Privacy costs the same at every k.",
)
CLIP = SelectSlider(
    "losses_C",
    "Clipping threshold C",
    1.0,
    log_values(0.01, 10, extra=[ROOT_2]),
    help="No row’s gradient gets longer than this.",
)
NORM = SelectSlider(
    "losses_norm",
    "Row norm ‖x‖",
    1.0,
    log_values(0.1, 2, extra=[ROOT_2]),
    help="With the constant for the intercept. The slope f′ is cut off at C/‖x‖, so long rows are clipped first.",
)
VIEW = SelectSlider("losses_view", "Axis up to ±", 4.0, (1.0, 2.0, 4.0, 8.0, 16.0, 32.0))
OUTLIERS = SelectSlider(
    "losses_outliers",
    "Share of outliers",
    0.1,
    (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
    help="Of 300 generated rows: targets far below the line, or wrong labels far from the border.",
)
EPSILON = SelectSlider("losses_epsilon", "ε of a private fit", 1.0, log_values(0.05, 20, steps=(1, 1.5, 2, 3, 5, 7)))
DRAWS = SelectSlider("losses_draws", "Private fits drawn", 5, (0, 1, 2, 3, 5, 10, 20), format=str)
SEED = Number("losses_seed", "Seed", 0, low=0, high=9999, help="Of the rows and of the noise.")
SIGMA = SelectSlider("losses_sigma", "Noise σ", 5.0, log_values(0.1, 1000))
LAM = SelectSlider("losses_lambda", "Regularisation λ", 20.0, log_values(0.01, 10_000))
BETA = SelectSlider(
    "losses_beta", "Smoothness β", 1.0, log_values(0.01, 100), help="Largest curvature of one row’s loss."
)
LIPSCHITZ = SelectSlider(
    "losses_L", "Lipschitz constant L", 1.0, log_values(0.1, 10), help="Largest gradient norm of one row’s loss."
)
PARAMETERS = SelectSlider("losses_d", "Number of parameters d", 100, ld.DIMENSIONS, format=str)
DELTA = SelectSlider("losses_delta", "At δ =", 1e-5, powers_of_ten(-12, -1))
GHOST = Toggle("losses_ghost", "Keep the previous setting as a ghost", True)

SHARED = (LOSS_NAME, PARAMETER, MARGIN, CLIP)
MECHANISM = (SIGMA, LAM, BETA, LIPSCHITZ)
CONTROLS = (SHOW, *SHARED, NORM, VIEW, OUTLIERS, EPSILON, DRAWS, SEED, *MECHANISM, PARAMETERS, DELTA, GHOST)


def preset(name: str, hint: str, values: Mapping[Control, Any]) -> Preset:
    """All controls to their defaults, but for the ones given: nothing is left behind from another view."""
    return Preset(name, {control: control.default for control in CONTROLS if control is not GHOST} | values, hint)


PRESETS = (
    preset(
        "Huber is clipped squares",
        "The squared loss of a row of norm 1, clipped at C = 1.",
        {SHOW: LOSS, LOSS_NAME: "squared", CLIP: 1.0, NORM: 1.0},
    ),
    preset(
        "C = √2, the paper’s",
        "The logistic loss on the longest rows of the paper’s experiments.",
        {SHOW: LOSS, LOSS_NAME: "logistic", CLIP: ROOT_2, NORM: ROOT_2},
    ),
    preset(
        "A margin, for free",
        "The logistic loss moved to the right: rows near 0 pull harder, and σ, λ and ε stay what they were.",
        {SHOW: LOSS, LOSS_NAME: "logistic", MARGIN: 1.5, CLIP: 1.0, NORM: 1.0},
    ),
    preset(
        "Clipping against outliers",
        "A line through 300 points, a tenth of them far off.",
        {SHOW: FIT, LOSS_NAME: "squared", CLIP: 0.2, OUTLIERS: 0.1, EPSILON: 1.0},
    ),
    preset(
        "Wrong labels",
        "Two classes, a fifth of the rows deep in the wrong half.",
        {SHOW: FIT, LOSS_NAME: "squared-hinge", CLIP: 0.5, OUTLIERS: 0.2, EPSILON: 1.0},
    ),
    preset(
        "Clipping that hurts",
        "No outliers and a C so small that λ wins.",
        {SHOW: FIT, LOSS_NAME: "squared", CLIP: 0.02, OUTLIERS: 0.0, EPSILON: 1.0},
    ),
    preset(
        "Without GLM structure",
        "Theorem G.2 at the noise and regularisation of the paper’s Figure 1, left.",
        {SHOW: DIMENSION, SIGMA: 5.0, LAM: 20.0, BETA: 1.0, LIPSCHITZ: 1.0, PARAMETERS: 100},
    ),
)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="losses")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        show = SHOW.show()
        dimension = show == DIMENSION
        name = LOSS_NAME.show(disabled=dimension)
        constant = PARAMETER.show(disabled=dimension or name not in lc.WIDTHS)
        margin = MARGIN.show(disabled=dimension or name != "logistic")
        own, clip = margin if name == "logistic" else constant, CLIP.show(disabled=dimension)
        with st.expander("The row and the axis", expanded=show == LOSS):
            norm, view = NORM.show(disabled=show != LOSS), VIEW.show(disabled=show != LOSS)
        with st.expander("Data and privacy of the fit", expanded=show == FIT):
            outliers, epsilon, draws, seed = (
                control.show(disabled=show != FIT) for control in (OUTLIERS, EPSILON, DRAWS, SEED)
            )
        with st.expander("Mechanism without GLM structure", expanded=dimension):
            mechanism = ld.DimensionSetting(*(control.show(disabled=not dimension) for control in MECHANISM))
            at = PARAMETERS.show(disabled=not dimension)
        delta = DELTA.show(disabled=show == LOSS)
        with_ghost = GHOST.show()
        copy_link(CONTROLS)
    with page.errors():
        if show == LOSS:
            loss(picture, lc.LossSetting(name, own, clip, norm), view=view, with_ghost=with_ghost)
        elif show == FIT:
            setting = lf.FitSetting(name, own, clip, outliers, epsilon, delta, seed)
            fit(picture, setting, draws=draws, with_ghost=with_ghost)
        else:
            without_structure(picture, mechanism, delta=delta, at=at, with_ghost=with_ghost)


def loss(picture: Any, setting: lc.LossSetting, *, view: float, with_ghost: bool) -> None:
    before = previous("losses_loss", setting)
    ghost = before if with_ghost and before and before.axis == setting.axis else None
    alt = words.loss_alt(setting, "Value")
    with picture:
        page.answer(words.loss_answer(setting), *words.loss_more(setting))
        chart = charts.loss(setting, view=view, ghost=ghost)
        page.chart(chart, key="losses_chart", alt=alt, filename="loss")
        slopes = charts.slope(setting, view=view, ghost=ghost)
        page.chart(slopes, key="losses_slope", alt=words.loss_alt(setting, "Slope"), filename="slope")
    page.table(lc.table_rows(setting), alt=alt)
    page.downloads(lambda: lc.frame(setting, view), chart, filename="losses", title=f"A loss, clipped: {setting}")
    page.reproduce(snippets.loss(setting))


def fit(picture: Any, setting: lf.FitSetting, *, draws: int, with_ghost: bool) -> None:
    before = previous("losses_fit", setting)
    ghost = before if with_ghost and before and before.regression == setting.regression else None
    plain, clipped = (lf.error(setting, lf.without_privacy(setting, c)) for c in (None, setting.clip))
    found = lf.errors(setting)
    private, best = lf.private_error(setting), lf.best_threshold(setting)
    alt = words.fit_alt(setting, plain, clipped, draws)
    with picture:
        page.answer(
            words.fit_answer(setting, plain, clipped),
            words.fit_more(setting, private, best),
            words.fit_accounted(setting),
        )
        chart = charts.fits(setting, draws=draws, ghost=ghost)
        page.chart(chart, key="losses_fits", alt=alt, filename="fits")
        st.caption(words.FIT_LINES)
        st.markdown("**The error at every threshold**")
        same_curve = ghost is None or replace(ghost, clip=setting.clip) == setting
        by_threshold = charts.errors(setting, ghost=None if same_curve else ghost)
        page.chart(by_threshold, key="losses_errors", alt=words.errors_alt(setting, found), filename="errors")
        st.caption(words.errors_lines())
        page.downloads(
            lambda: lf.errors_frame(setting),
            by_threshold,
            filename="losses-errors",
            title=f"Error against C: {setting}",
        )
    page.table(words.fit_rows(setting, private), alt=alt)
    page.downloads(lambda: lf.frame(setting, draws), chart, filename="losses-fits", title=f"Fits: {setting}")
    page.reproduce(snippets.fit(setting), note="These lines print the first private fit on the chart.")


def without_structure(picture: Any, setting: ld.DimensionSetting, *, delta: float, at: int, with_ghost: bool) -> None:
    before = previous("losses_dimension", setting)
    found = ld.readings(setting, delta, at)
    alt = words.dimension_alt(found, ld.NAMES, delta, at)
    with picture:
        page.answer(
            words.dimension_answer(found, delta, at),
            words.dimension_more(ld.price(setting), found),
            words.dimension_accounted(),
        )
        chart = charts.dimension(setting, delta=delta, at=at, ghost=before if with_ghost else None)
        page.chart(chart, key="losses_dimension", alt=alt, filename="dimension")
        if silent := setting.mechanism("glm").explain():
            st.info(silent, icon=":material/info:")
    page.table(ld.table_rows(found, at), alt=alt)
    page.downloads(
        lambda: ld.frame(setting, delta),
        chart,
        filename="losses-dimension",
        title=f"ε against the number of parameters, {setting}",
    )
    page.reproduce(snippets.dimension(setting, delta=delta, at=at))


TRY_QUESTION = (
    "Gradients are clipped at C = 1. From which residual on is the squared loss of a short row, ‖x‖ = 0.5, a straight "
    "line?"
)
TRY_OPTIONS = ("From 0.5 on.", "From 1 on, as for every row.", "From 2 on.")
TRY_REASON = (
    "The gradient of a row is its residual times x, so it has norm |r| ‖x‖, which reaches C at |r| = C/‖x‖ = 2. A "
    "short row moves the model little and may be further off before it is clipped: clipping limits influence, not "
    "residuals. With rows of one and the same norm the clipped fit is Huber’s regression, otherwise not quite."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: which rows are clipped first?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[2], key="losses__try"):
            return
        setting = lc.LossSetting("squared", 1.0, 1.0, 0.5)
        page.chart(
            charts.loss(setting, view=4.0, ghost=replace(setting, norm=1.0)),
            key="losses_try_chart",
            alt=words.loss_alt(setting, "Value"),
            filename="losses-try-it",
        )
        st.markdown(TRY_REASON)
        st.caption("The faint line is the clipped loss of a row of norm 1.")


page.begin(
    "losses",
    "Privacy needs a limit on how hard one row can pull. Clipping sets it, and for a linear model it amounts to "
    "another loss $f_C$ in closed form: convex, as smooth as $f$, and straight beyond its kinks.",
)
explore()
predict()
page.about("losses")
