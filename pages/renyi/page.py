"""Rényi curves and DP-SGD (Figure 5 of Redberg et al. 2023): one fit against thousands of noisy steps."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.renyi import charts, words
from pages.renyi import numbers as rc
from ui import controls as c
from ui import page, parameters, sentences, style

FIGURE_5 = rc.rounds(100, noise=2.5, lam=20.0)  # the paper prints n² rounds at q = 1/n, but neither n nor σ
MORE_ROUNDS = rc.rounds(1000, noise=5.0, lam=20.0)
TIGHT = replace(FIGURE_5, bound="logistic")
EARLY_START = replace(FIGURE_5, steps=1000)
ADULT_START = replace(FIGURE_5, sample_rate=0.0071, steps=8520)  # Section 5: batches of 256, 60 epochs

BOUND_NAMES = {bound: name for name, bound in rc.BOUNDS.items()}
ONE_PERCENT = tuple(sorted({round(10 ** (i / 192), 2) for i in range(192)} | {k / 10 for k in range(10, 100)}))

TILT = "Standard deviation of each coordinate of the random tilt b, for gradients of norm at most L = 1."
SIGMA = replace(
    parameters.sigma("renyi", FIGURE_5.sigma, high=100, steps=ONE_PERCENT, help=TILT), label="Noise σ of the fit"
)
LAM = replace(parameters.lam("renyi", FIGURE_5.lam, high=1000, steps=ONE_PERCENT), label="Regularisation λ of the fit")
CURVATURE = "Largest curvature of one person’s loss. Only Theorem 3.2 uses it; the logistic loss has β = 1/4 here."
BETA = parameters.smoothness("renyi", FIGURE_5.smoothness, help=CURVATURE)
WHOSE = "The published bound for smooth losses, or this project’s bound for the logistic loss."
BOUND = c.Choice("renyi_bound", "Proof for the fit", "Theorem 3.2", tuple(rc.BOUNDS), help=WHOSE)
NOISE = replace(
    parameters.noise_multiplier("renyi", FIGURE_5.noise_multiplier, high=100, steps=ONE_PERCENT),
    label="Noise multiplier of DP-SGD",
)
ADULTS, JOINS = [ADULT_START.sample_rate], "Probability with which a row is in the batch of a step."
RATE = parameters.sample_rate("renyi", FIGURE_5.sample_rate, 1e-5, extra=ADULTS, help=JOINS)
COUNTS = c.log_values(1, 1e6, steps=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), extra=[ADULT_START.steps])
STEPS = c.SelectSlider("renyi_steps", "Steps of DP-SGD", float(FIGURE_5.steps), COUNTS)
ONCE = (
    "Every row in exactly one of the 1/q steps of an epoch, drawn at random, instead of by a coin in each step. Shown "
    "by its privacy loss distribution, in this chart and the tables; that takes some seconds."
)
ALLOCATED = c.Toggle("renyi_allocation", "Random allocation", False, help=ONCE)
READ_DELTA = parameters.delta("renyi")
MATCH_EPSILON = c.SelectSlider("renyi_epsilon", "ε to match at", 1.0, c.log_values(0.1, 10, steps=c.ROUND_STEPS))
ALPHA_MAX = parameters.view("renyi", "α axis up to", 1e4, c.powers_of_ten(2, 5))
DIVIDED = "Divided by α/(2σ²), the Gaussian mechanism’s with the fit’s noise, the curves show where they cross."
SHOWN = parameters.show("renyi", ("ε(α)", "ε(α) over the Gaussian’s"), DIVIDED, label="Vertical axis")
GHOST = parameters.ghost("renyi")
FIT, RUN = (SIGMA, LAM, BOUND, BETA), (NOISE, RATE, STEPS)
IN_SIGHT = (SIGMA, NOISE, RATE, STEPS, LAM)
CONTROLS = (*FIT, *RUN, ALLOCATED, READ_DELTA, MATCH_EPSILON, ALPHA_MAX, SHOWN, GHOST)
OFFERED = {"sigma": SIGMA.options, "lam": LAM.options, "noise_multiplier": NOISE.options}
ADULT, EARLY = rc.matched(ADULT_START, 1.0, 1e-5, OFFERED), rc.matched(EARLY_START, 2.0, 1e-5, OFFERED)


def values(setting: rc.Setting) -> dict[Any, Any]:
    """The controls' values for a setting."""
    fit = {SIGMA: setting.sigma, LAM: setting.lam, BETA: setting.smoothness, BOUND: BOUND_NAMES[setting.bound]}
    return fit | {NOISE: setting.noise_multiplier, RATE: setting.sample_rate, STEPS: float(setting.steps)}


def preset(name: str, setting: rc.Setting, hint: str, *, epsilon: float = 1.0) -> c.Preset:
    return c.Preset(name, values(setting) | {READ_DELTA: 1e-5, MATCH_EPSILON: epsilon, ALPHA_MAX: 1e4}, hint)


PRESETS = (
    preset("Rarer events: one fit wins", FIGURE_5, "Figure 5: n² rounds at q = 1/n, n = 100; σ = 2.5, β = 1, λ = 20."),
    preset("Ten times the rows", MORE_ROUNDS, "A million rounds at q = 1/1000; σ = 5 for both, β = 1, λ = 20."),
    preset("A tight proof is free", TIGHT, "Figure 5 with the tight bound for the logistic loss: no price at small α."),
    preset("Adult at ε = 1", ADULT, "DP-SGD on Adult with batches of 256 and 60 epochs; both matched at (1, 10⁻⁵)."),
    preset(
        "Little noise, early leap",
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
        c.Preset("match", values(found)).apply()


def matching(epsilon: float, delta: float) -> None:
    """The button that makes both alike, and why it could not."""
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


def panel() -> dict[str, Any]:
    """The controls, beside the chart; returns the view."""
    for control in IN_SIGHT:
        control.show()
    button = st.container()
    with page.tools(CONTROLS, PRESETS, name="renyi"):
        BOUND.show()
        BETA.show(disabled=BOUND.value() != BOUND.default)
        target = MATCH_EPSILON.show(), READ_DELTA.show()
        view = {"alpha_max": ALPHA_MAX.show(), "relative": SHOWN.show() != SHOWN.default, "ghost": GHOST.show()}
    with button:
        matching(*target)
    return view


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="renyi")
    left, side = page.columns()
    with side:
        view = panel()
    setting, delta = shown(), READ_DELTA.value()
    before = c.previous("renyi", setting)
    with page.errors():
        crossings, leap = rc.crossings(setting), rc.transition(setting)
        picture = page.Picture(
            charts.curves(setting, **view | {"ghost": before if view["ghost"] else None}),
            words.alt(crossings, leap),
            lambda: rc.frame(setting),
            f"Rényi curves of one fit and of DP-SGD, {setting}",
        )
        with left:
            answer(setting, before, delta)
            page.show(picture, key="renyi_chart")
        if style.embedded():
            page.keep(ALLOCATED)
            return
        st.caption(f"{words.transition(leap, setting)} {words.rare(rc.turns(setting), crossings)}")
        rows = words.readings(setting, delta, ALLOCATED.value())
        page.table(rows, alt=words.readings_alt(delta))
        page.evidence(picture, shown=rows, name="renyi")
        promises(setting, delta)
        page.reproduce(words.snippet(setting, delta, ALLOCATED.value()), name="renyi")


def answer(setting: rc.Setting, before: rc.Setting | None, delta: float) -> None:
    (_, fit), (_, run) = (rc.epsilon_at(which, setting, delta) for which in ("objective", "dpsgd"))
    page.answer(
        words.answer(delta, fit, run),
        promise=words.promise(fit, run, delta),
        why=rc.reason(setting) or words.moved(before, setting, delta),
    )


def promises(setting: rc.Setting, delta: float) -> None:
    """The second chart: ε over δ, both mechanisms, both accountants, and random allocation on request."""
    st.header("What the curves promise: ε at every δ", anchor=False)
    allocated = ALLOCATED.show()
    picture = page.Picture(
        charts.promises(setting, read=delta, allocated=allocated),
        words.promises_alt(setting, allocated),
        lambda: rc.promises(setting, allocated),
        f"ε over δ by Rényi and by privacy loss distributions, {setting}",
    )
    page.show(picture, key="renyi_promises")
    st.caption(words.certified(rc.promise("dpsgd", setting)))
    if allocated:
        st.caption(words.allocation(setting))
    with st.expander("The same numbers as a table", icon=":material/table_rows:"):
        table = words.promises(setting, allocated)
        page.table(table, alt="ε at δ from 10⁻² to 10⁻¹², both mechanisms, accounted both ways")
    page.evidence(picture, shown=table, name="renyi-epsilon")


TRY_BEFORE, TRY_AFTER = rc.rounds(100, noise=5.0, lam=20.0), rc.rounds(1000, noise=5.0, lam=20.0)


def revealed() -> None:
    leaps = [rc.transition(setting) for setting in (TRY_BEFORE, TRY_AFTER)]
    chart = charts.curves(TRY_AFTER, alpha_max=1e4, ghost=TRY_BEFORE, height=420)
    page.show(page.Picture(chart, words.alt(rc.crossings(TRY_AFTER), leaps[1])), key="renyi_try_chart")
    moved = " to ".join(words.order(leap.start) for leap in leaps if leap)
    st.markdown(
        "For small α only steps·q² counts, and that is 1 for both. The leap waits until a batch that has the person "
        "for certain outweighs its rarity q, at about α = 2σ² log(1/q); behind it nothing is amplified, and the number "
        "of steps counts in full. So the protection of very rare events gets worse with n; that of common ones stays. "
        f"Here the transition moves from α = {moved}; the faint lines are n = 100."
    )


page.begin(
    "renyi",
    "Objective perturbation pays once for one tilted fit. DP-SGD pays a little in each of many steps. Their Rényi "
    "curves show who pays more for rare events.",
)
explore()
page.predict(page.Prediction.of("renyi", revealed), key="renyi__try")
page.about("renyi")
