"""Bounds (Figure 1 of Redberg et al. 2023): one fit under every bound, as its profile or as an attacker's errors."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st

import objpert_core.accounting as acc
from pages.bounds import errors as tc
from pages.bounds import words as tradeoff_text
from ui import bounds as bc
from ui import figures, page, sentences, snippets
from ui.controls import (
    Choice,
    Preset,
    SelectSlider,
    Toggle,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)

FIGURE_1_LEFT = bc.Setting(sigma=5.0, lam=20.0, smoothness=1.0, lipschitz=1.0)  # Redberg et al. (2023), Figure 1
FIGURE_1_RIGHT = bc.Setting(sigma=10.0, lam=5.0, smoothness=1.0, lipschitz=1.0)
BELOW_BETA = bc.Setting(sigma=10.0, lam=0.9, smoothness=1.0, lipschitz=2.0)  # logistic loss, rows of norm 2
OURS = bc.rounded_up(acc.calibrate_objective_perturbation(1.0, 1e-5))
RECIPE = bc.rounded_up(acc.calibrate_published(1.0, 1e-5))

PROFILE, ERRORS = "Privacy profile", "Attacker’s errors"

SHOW = Choice(
    "bounds_show",
    "Show",
    PROFILE,
    (PROFILE, ERRORS),
    horizontal=True,
    help="The same proofs twice: δ against ε, or what somebody who looks for you in the data gets wrong.",
)
SIGMA = SelectSlider(
    "bounds_sigma",
    "Noise σ",
    FIGURE_1_LEFT.sigma,
    log_values(0.1, 1000, extra=[OURS.sigma, RECIPE.sigma]),
    help="Standard deviation of each coordinate of the random tilt b.",
)
LAM = SelectSlider(
    "bounds_lambda",
    "Regularisation λ",
    FIGURE_1_LEFT.lam,
    log_values(0.01, 10_000, extra=[BELOW_BETA.lam, OURS.lam, RECIPE.lam]),
    help="The objective is a sum over the rows plus λ/2 ‖θ‖²: λ is not divided by their number.",
)
BETA = SelectSlider(
    "bounds_beta",
    "Smoothness β",
    FIGURE_1_LEFT.smoothness,
    log_values(0.01, 100, extra=[OURS.smoothness]),
    help="Largest curvature of one person’s loss. The logistic loss on rows of norm at most L has β = L²/4.",
)
LIPSCHITZ = SelectSlider(
    "bounds_L",
    "Lipschitz constant L",
    FIGURE_1_LEFT.lipschitz,
    log_values(0.1, 10),
    help="Largest gradient norm of one person’s loss. For the logistic loss it is the largest row norm R.",
)
READ_DELTA = SelectSlider("bounds_delta", "Read ε at δ =", 1e-5, powers_of_ten(-12, -1))
READ_EPSILON = SelectSlider("bounds_epsilon", "Read δ at ε =", 0.5, log_values(0.01, 50, steps=(1, 1.5, 2, 3, 5, 7)))
READ_RATE = SelectSlider(
    "bounds_accused",
    "Read misses at false accusations =",
    0.05,
    (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
    help="Share of the people who are not in the data that the attacker is willing to accuse.",
)
EPS_MAX = SelectSlider("bounds_view", "ε axis up to", 2.0, (0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0))
FLOOR = SelectSlider("bounds_floor", "δ axis down to", 1e-10, (1e-100, 1e-50, 1e-20, 1e-15, 1e-10, 1e-8, 1e-6, 1e-4))
MONOTONE = Toggle(
    "bounds_monotone",
    "Curve for monotone losses",
    False,
    help="Any GLM loss whose derivative keeps its sign: logistic, squared hinge, Huberised hinge, softplus.",
)
GHOST = Toggle("bounds_ghost", "Keep the previous setting as a ghost", True)
MECHANISM = (SIGMA, LAM, BETA, LIPSCHITZ)
CONTROLS = (SHOW, *MECHANISM, READ_DELTA, READ_EPSILON, READ_RATE, EPS_MAX, FLOOR, MONOTONE, GHOST)


def preset(name: str, setting: bc.Setting, hint: str, *, epsilon: float = 0.5, view: float = 2.0) -> Preset:
    mechanism = {SIGMA: setting.sigma, LAM: setting.lam, BETA: setting.smoothness, LIPSCHITZ: setting.lipschitz}
    return Preset(name, mechanism | {READ_DELTA: 1e-5, READ_EPSILON: epsilon, EPS_MAX: view, FLOOR: 1e-10}, hint)


PRESETS = (
    preset("Figure 1 left", FIGURE_1_LEFT, "σ = 5, β = 1, λ = 20, L = 1"),
    preset("Figure 1 right", FIGURE_1_RIGHT, "σ = 10, β = 1, λ = 5, L = 1"),
    preset(
        "λ below β",
        BELOW_BETA,
        "Logistic loss on rows of norm 2 (β = 1), λ = 0.9: Theorems 3.1 and 3.2 prove nothing, the tight bound does.",
        epsilon=1.0,
        view=5.0,
    ),
    preset(
        "Ours at ε = 1",
        OURS,
        "What the package picks for the logistic loss on rows of norm 1 at ε = 1, δ = 10⁻⁵.",
        epsilon=1.0,
    ),
    preset(
        "Published recipe at ε = 1",
        RECIPE,
        "What the paper’s recipe picks for the same promise: more noise and a larger λ.",
        epsilon=1.0,
    ),
)


def draw(
    setting: bc.Setting,
    bounds: tuple[str, ...],
    *,
    eps_max: float,
    floor: float,
    ghost: bc.Setting | None = None,
    read: tuple[float, float] | None = None,
    height: int = 480,
) -> Any:
    x, top = bc.grid(eps_max), 2.0
    traces = [
        figures.series(f"{bc.NAMES[b]}, before", x, bc.curve(b, ghost, eps_max), b, ghost=True)
        for b in (bounds if ghost else ())
    ]
    if read:
        traces += [figures.guide((0, eps_max), (read[1], read[1])), figures.guide((read[0], read[0]), (floor, top))]
    traces += [figures.series(bc.NAMES[b], x, bc.curve(b, setting, eps_max), b, hover="δ = %{y:.3g}") for b in bounds]
    return figures.figure(
        traces,
        xaxis=figures.axis("privacy budget ε", (0.0, eps_max), hoverformat=".3g"),
        yaxis=figures.axis("failure probability δ", (floor, top), log=True),
        height=height,
    )


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="bounds")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        errors = SHOW.show() == ERRORS
        setting = bc.Setting(*(control.show() for control in MECHANISM))
        delta = READ_DELTA.show()
        epsilon, rate = READ_EPSILON.show(disabled=errors), READ_RATE.show(disabled=not errors)
        eps_max, floor = EPS_MAX.show(disabled=errors), FLOOR.show(disabled=errors)
        monotone, with_ghost = MONOTONE.show(), GHOST.show()
        copy_link(CONTROLS)
    bounds = tuple(b for b in bc.NAMES if b != "monotone" or monotone)
    before = previous("bounds", setting)
    ghost = before if with_ghost else None
    with page.errors():
        if errors:
            tradeoff(picture, setting, bounds, delta=delta, rate=rate, ghost=ghost)
        else:
            profile(picture, setting, bounds, delta=delta, epsilon=epsilon, view=(eps_max, floor), ghost=ghost)


def profile(
    picture: Any,
    setting: bc.Setting,
    bounds: tuple[str, ...],
    *,
    delta: float,
    epsilon: float,
    view: tuple[float, float],
    ghost: bc.Setting | None,
) -> None:
    found = bc.readings(setting, bounds, delta, epsilon)
    eps_max, floor = view
    alt = sentences.bounds_alt(by_name(found), delta)
    with picture:
        answer(setting, found, delta)
        chart = draw(setting, bounds, eps_max=eps_max, floor=floor, ghost=ghost, read=(epsilon, delta))
        page.chart(chart, key="bounds_chart", alt=alt, filename="bounds")
        notes(setting, bc.reasons(found))
    page.table(bc.table_rows(found, delta, epsilon), alt=alt)
    page.downloads(
        lambda: bc.frame(setting, bounds, eps_max),
        chart,
        filename="bounds",
        title=f"Privacy profile of objective perturbation, {setting}",
    )
    page.reproduce(snippets.bounds(**vars(setting), epsilon=epsilon, delta=delta))


def tradeoff(
    picture: Any,
    setting: bc.Setting,
    bounds: tuple[str, ...],
    *,
    delta: float,
    rate: float,
    ghost: bc.Setting | None,
) -> None:
    found = tc.readings(setting, bounds, rate)
    by_bound = {reading.bound: reading for reading in found}
    own = replace(setting, smoothness=setting.logistic_smoothness)
    published, at_own = (max(tc.missed_at(b, s, rate) for b in bc.PUBLISHED) for s in (setting, own))
    alt = tradeoff_text.alt({bc.NAMES[b]: reading.missed for b, reading in by_bound.items()}, rate)
    with picture:
        page.answer(
            tradeoff_text.answer(rate, by_bound["logistic"].missed, by_bound["lower"].missed),
            tradeoff_text.comparison(rate, published, at_own, setting.smoothness, own.smoothness),
            tradeoff_text.even_odds(by_bound["logistic"].guess, bc.epsilon_at("logistic", setting, delta), delta),
            tradeoff_text.accounted(),
        )
        chart = tc.draw(setting, bounds, rate=rate, ghost=ghost)
        page.chart(chart, key="bounds_errors", alt=alt, filename="errors")
        notes(setting, tc.reasons(found))
    page.table(tc.table_rows(found, rate), alt=alt)
    page.downloads(
        lambda: tc.frame(setting, bounds),
        chart,
        filename="bounds-errors",
        title=f"An attacker’s errors under objective perturbation, {setting}",
    )
    page.reproduce(tradeoff_text.snippet(**vars(setting), rate=rate))


def notes(setting: bc.Setting, silent: list[tuple[str, str]]) -> None:
    if silent:
        st.info("  \n".join(f"**{who}.** {why}" for who, why in silent), icon=":material/info:")
    if not math.isclose(setting.smoothness, setting.logistic_smoothness):
        st.caption(sentences.logistic_curve(setting.smoothness, setting.logistic_smoothness, setting.lipschitz))


def answer(setting: bc.Setting, found: list[bc.Reading], delta: float) -> None:
    eps = {reading.bound: reading.epsilon for reading in found}
    own = replace(setting, smoothness=setting.logistic_smoothness)
    page.answer(
        sentences.bounds_answer(
            delta,
            eps["logistic"],
            eps["lower"],
            published=min(eps[b] for b in bc.PUBLISHED),
            own=min(bc.epsilon_at(b, own, delta) for b in bc.PUBLISHED),
            smoothness=setting.smoothness,
            own_smoothness=own.smoothness,
        ),
        f"{sentences.odds_sentence(eps['logistic'])} {sentences.except_with(delta)}",
        sentences.accounted(sentences.TIGHT),
    )


def by_name(found: list[bc.Reading]) -> dict[str, float]:
    return {bc.NAMES[reading.bound]: reading.epsilon for reading in found}


TRY_QUESTION = (
    "Take the logistic loss on rows of norm 2 (so β = 1), σ = 10, and lower λ to 0.9, just below β. Which of Kifer et "
    "al., Rényi, hockey-stick and the logistic bound still prove a finite ε at δ = 10⁻⁵?"
)
TRY_OPTIONS = (
    "All of them.",
    "Kifer et al. and the logistic bound.",
    "Only the logistic bound.",
    "None of them.",
)
TRY_REASON = (
    "Theorems 3.1 and 3.2 pay −log(1 − β/λ) for the curvature, which is infinite from λ = β down. Kifer et al. "
    "ask only for λ ≥ 2β/ε, so their curve starts at ε = 2.2. The logistic bound pays nothing where the gradient is "
    "largest, because there the curvature vanishes. **λ below β** at the top of the page takes you to this setting."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what does a smaller λ do?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[1], key="bounds__try"):
            return
        bounds = tuple(b for b in bc.NAMES if b != "monotone")
        eps = {bc.NAMES[b]: bc.epsilon_at(b, BELOW_BETA, 1e-5) for b in bounds}
        page.chart(
            draw(BELOW_BETA, bounds, eps_max=5.0, floor=1e-10, height=380),
            key="bounds_try_chart",
            alt=sentences.bounds_alt(eps, 1e-5),
            filename="bounds-try-it",
        )
        st.markdown(TRY_REASON)


page.begin(
    "bounds",
    "Objective perturbation adds a random tilt bᵀθ, b ~ N(0, σ²I), and λ/2 ‖θ‖² to the training objective and releases "
    "the minimiser. Each curve is a proof about that same release: the lower the curve, the stronger the proof.",
)
explore()
predict()
page.about("bounds")
