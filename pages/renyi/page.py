"""Rényi curves and DP-SGD (Figure 5 of Redberg et al. 2023): one fit against thousands of noisy steps."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from pages.renyi import numbers as rc
from pages.renyi import words as renyi_text
from ui import figures, page, sentences
from ui.controls import (
    ROUND_STEPS,
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

FIGURE_5 = rc.rounds(100, noise=2.5, lam=20.0)  # the paper prints n² rounds at q = 1/n, but neither n nor σ
MORE_ROUNDS = rc.rounds(1000, noise=5.0, lam=20.0)
TIGHT = replace(FIGURE_5, bound="logistic")
EARLY_START = replace(FIGURE_5, steps=1000)
ADULT_START = replace(FIGURE_5, sample_rate=0.0071, steps=8520)  # Section 5: batches of 256, 60 epochs

BOUND_NAMES = {bound: name for name, bound in rc.BOUNDS.items()}
ONE_PERCENT = tuple(sorted({round(10 ** (i / 192), 2) for i in range(192)} | {k / 10 for k in range(10, 100)}))

SIGMA = SelectSlider(
    "renyi_sigma",
    "Noise σ",
    FIGURE_5.sigma,
    log_values(0.1, 100, steps=ONE_PERCENT),
    help="Standard deviation of each coordinate of the random tilt b, for gradients of norm at most L = 1.",
)
LAM = SelectSlider(
    "renyi_lambda",
    "Regularisation λ",
    FIGURE_5.lam,
    log_values(0.01, 1000, steps=ONE_PERCENT),
    help="The objective is a sum over the rows plus λ/2 ‖θ‖²: λ is not divided by their number.",
)
BETA = SelectSlider(
    "renyi_beta",
    "Smoothness β",
    FIGURE_5.smoothness,
    log_values(0.01, 100),
    help="Largest curvature of one person’s loss. Only Theorem 3.2 uses it; the logistic loss has β = 1/4 here.",
)
BOUND = Choice(
    "renyi_bound",
    "Proof for the fit",
    "Theorem 3.2",
    tuple(rc.BOUNDS),
    help="The published bound for smooth losses, or this project’s bound for the logistic loss.",
)
NOISE = SelectSlider(
    "renyi_noise",
    "Noise multiplier",
    FIGURE_5.noise_multiplier,
    log_values(0.3, 100, steps=ONE_PERCENT),
    help="Standard deviation of the noise in one step, divided by the clipping norm.",
)
RATE = SelectSlider(
    "renyi_q",
    "Sample rate q",
    FIGURE_5.sample_rate,
    log_values(1e-5, 1, extra=[ADULT_START.sample_rate]),
    help="Probability with which a row is in the batch of a step.",
)
STEPS = SelectSlider(
    "renyi_steps",
    "Steps",
    float(FIGURE_5.steps),
    log_values(1, 1e6, steps=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), extra=[ADULT_START.steps]),
)
READ_DELTA = SelectSlider("renyi_delta", "δ", 1e-5, powers_of_ten(-12, -2))
MATCH_EPSILON = SelectSlider("renyi_epsilon", "ε to match at", 1.0, log_values(0.1, 10, steps=ROUND_STEPS))
ALPHA_MAX = SelectSlider("renyi_view", "α axis up to", 1e4, powers_of_ten(2, 5))
SHOWN = Choice(
    "renyi_show",
    "Vertical axis",
    "ε(α)",
    ("ε(α)", "ε(α) over the Gaussian’s"),
    horizontal=True,
    help="Divided by α/(2σ²), the Gaussian mechanism’s with the fit’s noise, the curves show where they cross.",
)
GHOST = Toggle("renyi_ghost", "Keep the previous setting as a ghost", True)
FIT, RUN = (SIGMA, LAM, BOUND, BETA), (NOISE, RATE, STEPS)
CONTROLS = (*FIT, *RUN, READ_DELTA, MATCH_EPSILON, ALPHA_MAX, SHOWN, GHOST)
OFFERED = {"sigma": SIGMA.options, "lam": LAM.options, "noise_multiplier": NOISE.options}
ADULT, EARLY = rc.matched(ADULT_START, 1.0, 1e-5, OFFERED), rc.matched(EARLY_START, 2.0, 1e-5, OFFERED)


def values(setting: rc.Setting) -> dict[Any, Any]:
    """The controls' values for a setting."""
    fit = {SIGMA: setting.sigma, LAM: setting.lam, BETA: setting.smoothness, BOUND: BOUND_NAMES[setting.bound]}
    return fit | {NOISE: setting.noise_multiplier, RATE: setting.sample_rate, STEPS: float(setting.steps)}


def preset(name: str, setting: rc.Setting, hint: str, *, epsilon: float = 1.0) -> Preset:
    return Preset(name, values(setting) | {READ_DELTA: 1e-5, MATCH_EPSILON: epsilon, ALPHA_MAX: 1e4}, hint)


PRESETS = (
    preset("Figure 5", FIGURE_5, "n² rounds at q = 1/n with n = 100; σ = 2.5 for both, β = 1, λ = 20."),
    preset("n = 1,000", MORE_ROUNDS, "A million rounds at q = 1/1000; σ = 5 for both, β = 1, λ = 20."),
    preset("Logistic loss", TIGHT, "Figure 5 with the tight bound for the logistic loss: no price at small α."),
    preset("Adult at ε = 1", ADULT, "DP-SGD on Adult with batches of 256 and 60 epochs; both matched at (1, 10⁻⁵)."),
    preset(
        "Early transition",
        EARLY,
        "1,000 steps at q = 1/100, both matched at (2, 10⁻⁵): little noise, and so an early phase transition.",
        epsilon=2.0,
    ),
)


def shown() -> rc.Setting:
    """The setting that the controls are at."""
    sigma, lam, bound, beta, noise, rate, steps = (control.value() for control in (*FIT, *RUN))
    return rc.Setting(sigma, lam, beta, rc.BOUNDS[bound], noise, rate, round(steps))


def match() -> None:
    """Move σ, λ and the noise multiplier to where both mechanisms are (ε, δ)-DP; the button's callback."""
    try:
        found = rc.matched(shown(), MATCH_EPSILON.value(), READ_DELTA.value(), OFFERED)
    except ValueError as error:
        st.session_state["renyi__refused"] = sentences.sentence(str(error))
    else:
        Preset("match", values(found)).apply()


def finite(curve: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(curve), curve, np.nan)


def draw(
    setting: rc.Setting, *, alpha_max: float, relative: bool = False, ghost: rc.Setting | None = None, height: int = 520
) -> Any:
    at = alpha_max >= rc.ORDERS
    x = rc.ORDERS[at]
    curves = {which: finite(rc.shown(rc.curve(which, setting), setting, relative))[at] for which in rc.NAMES}
    bottom, top = decades(list(curves.values()))
    if relative:
        bottom, top = min(0.5, bottom) if np.nanmin(list(curves.values())) < 0.5 else 0.5, 20.0
    traces = [
        figures.series(f"{rc.NAMES[which]}, before", x, finite(old)[at], role(which, ghost), ghost=True)
        for which, old in (rc.before(ghost, relative) if ghost else {}).items()
    ]
    for name, line, dash in (
        (rc.AMPLIFIED, rc.amplified(setting), "dot"),
        (rc.UNAMPLIFIED, rc.unamplified(setting), "dash"),
    ):
        look = {"color": figures.ROLES["guide"].color, "width": 1.5, "dash": dash}
        values = rc.shown(line, setting, relative)[at]
        traces.append(figures.series(name, x, values, "guide", line=look, hoverinfo="skip"))
    leap = rc.transition(setting)
    marks = [("Crossing", crossing.alpha, crossing.height, "x") for crossing in rc.crossings(setting)]
    if leap and leap.start <= alpha_max:
        traces.append(figures.guide((leap.start, leap.start), (bottom, top)))
        marks.append(("Phase transition", leap.start, leap.height, "diamond"))
    traces += [figures.series(rc.NAMES[w], x, curves[w], role(w, setting), hover=HOVER) for w in rc.NAMES]
    for name, alpha, height_at, symbol in marks:
        if alpha <= alpha_max:
            y = rc.shown(np.array([height_at]), setting, relative, np.array([alpha]))
            traces.append(mark(f"{name}, α = {renyi_text.order(alpha)}", alpha, float(y[0]), symbol))
    return figures.figure(
        traces,
        xaxis=figures.axis("Rényi order α", (1.0, alpha_max), log=True, hoverformat=".4g"),
        yaxis=figures.axis("ε(α) / Gaussian’s" if relative else "Rényi divergence ε(α)", (bottom, top), log=True),
        height=height,
    )


HOVER = "%{y:.3g}"


def decades(curves: list[np.ndarray]) -> tuple[float, float]:
    """The powers of ten around the curves, so that the axis stays while a slider moves a little."""
    low, high = np.nanmin(curves), np.nanmax(curves)
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))


def mark(name: str, x: float, y: float, symbol: str) -> dict[str, Any]:
    look = {"symbol": symbol, "size": 13, "color": figures.ROLES["guide"].color}
    return figures.series(name, [x], [y], "guide", mode="markers", marker=look, hoverinfo="skip")


def role(which: str, setting: rc.Setting) -> str:
    """The role in `figures.ROLES` of a mechanism's curves."""
    return {"objective": setting.bound, "gaussian": "lower", "dpsgd": "dpsgd"}[which]


def draw_promises(setting: rc.Setting, *, read: float) -> Any:
    traces, deltas = [], np.array(rc.DELTAS)
    found = {which: rc.promise(which, setting) for which in ("objective", "dpsgd")}
    known = [curve for p in found.values() for curve in (finite(p.renyi), finite(p.exact))]
    top = 1.05 * max((float(curve.max()) for curve in known if not np.isnan(curve).all()), default=1.0)
    traces.append(figures.guide((read, read), (0, top)))
    for which, told in found.items():
        look = figures.ROLES[role(which, setting)]
        thin = {"color": look.color, "dash": "dot", "width": 1.5}
        extra = {"mode": "lines+markers", "line": thin, "hover": HOVER}
        name = f"{rc.NAMES[which]}, Rényi"
        traces.append(figures.series(name, deltas, finite(told.renyi), role(which, setting), **extra))
    for which, told in found.items():
        name = f"{rc.NAMES[which]}, privacy loss distribution"
        traces.append(figures.series(name, deltas, finite(told.exact), role(which, setting), hover=HOVER))
    return figures.figure(
        traces,
        xaxis=figures.axis("failure probability δ: rarer events to the right", (1.4e-2, 7e-13), log=True),
        yaxis=figures.axis("privacy budget ε", (0.0, top)),
        height=400,
    )


def panel() -> tuple[rc.Setting, float, dict[str, Any], bool]:
    """The controls, beside the chart; returns the setting, δ, the view and whether to keep a ghost."""
    st.markdown("**One fit**")
    for control in FIT:
        control.show(disabled=control is BETA and BOUND.value() != BOUND.default)
    st.markdown("**DP-SGD**")
    for control in RUN:
        control.show()
    st.markdown("**Compare at**")
    delta, epsilon = READ_DELTA.show(), MATCH_EPSILON.show()
    st.button(
        f"Match both at ({sentences.number(epsilon)}, {sentences.delta(delta)})",
        key="renyi_match",
        icon=":material/balance:",
        on_click=match,
        help="Moves σ, λ and the noise multiplier to where both keep this promise by their privacy loss distributions, "
        "rounded up to the next step of the slider. β, q and the number of steps stay.",
    )
    if refused := st.session_state.pop("renyi__refused", None):
        st.error(refused, icon=":material/error:")
    view = {"alpha_max": ALPHA_MAX.show(), "relative": SHOWN.show() != SHOWN.default}
    ghost = GHOST.show()
    copy_link(CONTROLS)
    return shown(), delta, view, ghost


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="renyi")
    picture, side = st.columns([2.6, 1], gap="medium")
    with side:
        setting, delta, view, with_ghost = panel()
    before = previous("renyi", setting)
    with page.errors():
        crossings, leap = rc.crossings(setting), rc.transition(setting)
        with picture:
            answer(setting, delta)
            chart = draw(setting, **view, ghost=before if with_ghost else None)
            page.chart(chart, key="renyi_chart", alt=renyi_text.alt(crossings, leap), filename="renyi")
            if why := rc.reason(setting):
                st.info(f"**{rc.NAMES['objective']}.** {why}", icon=":material/info:")
            st.markdown(renyi_text.transition(leap, setting))
            st.markdown(renyi_text.rare(rc.turns(setting), crossings))
            page.table(renyi_text.readings(setting, delta), alt=renyi_text.readings_alt(delta))
            title = f"Rényi curves of one fit and of DP-SGD, {setting}"
            page.downloads(lambda: rc.frame(setting), chart, filename="renyi", title=title)
        promises(setting, delta)
        page.reproduce(renyi_text.snippet(setting, delta))


def answer(setting: rc.Setting, delta: float) -> None:
    (_, fit), (_, run) = (rc.epsilon_at(which, setting, delta) for which in ("objective", "dpsgd"))
    page.answer(
        renyi_text.answer(delta, fit, run, rc.crossings(setting)),
        f"{renyi_text.odds(fit, run)} {sentences.except_with(delta)}",
        sentences.accounted(renyi_text.accountant(setting.bound)),
    )


def promises(setting: rc.Setting, delta: float) -> None:
    """The second chart: ε over δ, both mechanisms, both accountants."""
    st.subheader("What the curves promise: ε at every δ", anchor=False)
    chart = draw_promises(setting, read=delta)
    page.chart(chart, key="renyi_promises", alt=renyi_text.promises_alt(setting), filename="renyi-epsilon")
    st.caption(renyi_text.certified(rc.promise("dpsgd", setting)))
    with st.expander("The same numbers as a table", icon=":material/table_rows:"):
        page.table(renyi_text.promises(setting), alt="ε at δ from 10⁻² to 10⁻¹², both mechanisms, accounted both ways")
    page.downloads(
        lambda: rc.promises(setting),
        chart,
        filename="renyi-epsilon",
        title=f"ε over δ by Rényi and by privacy loss distributions, {setting}",
    )


TRY_BEFORE, TRY_AFTER = rc.rounds(100, noise=5.0, lam=20.0), rc.rounds(1000, noise=5.0, lam=20.0)
TRY_QUESTION = (
    "DP-SGD does 10,000 steps at q = 1/100 with noise multiplier 5. Now the data are ten times as large: a million "
    "steps at q = 1/1000, with the same noise. What happens to its Rényi curve?"
)
TRY_OPTIONS = (
    "All of it moves up: a hundred times as many steps leak more.",
    "Nothing: a hundred times as many steps and a tenth of the rate cancel at every α.",
    "Small α stay where they are; the leap comes later and goes a hundred times as high.",
)
TRY_REASON = (
    "For small α only steps·q² counts, and that is 1 for both. The leap waits until a batch that has the person for "
    "certain outweighs its rarity q, at about α = 2σ² log(1/q); behind it nothing is amplified, and the number of "
    "steps counts in full. So the protection of very rare events gets worse with n; that of common ones stays."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what do more, smaller batches do?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[2], key="renyi__try"):
            return
        leaps = [rc.transition(setting) for setting in (TRY_BEFORE, TRY_AFTER)]
        page.chart(
            draw(TRY_AFTER, alpha_max=1e4, ghost=TRY_BEFORE, height=420),
            key="renyi_try_chart",
            alt=renyi_text.alt(rc.crossings(TRY_AFTER), leaps[1]),
            filename="renyi-try-it",
        )
        moved = " to ".join(renyi_text.order(leap.start) for leap in leaps if leap)
        st.markdown(f"{TRY_REASON} Here the transition moves from α = {moved}; the faint lines are n = 100.")


page.begin(
    "renyi",
    "Objective perturbation pays once for one tilted fit. DP-SGD pays a little in each of many steps, made cheap by "
    "random batches. Their Rényi curves show which of the two pays more for rare events.",
)
explore()
predict()
page.about("renyi")
