"""What tuning costs (Redberg et al. 2023, section 5): ε against the number of settings tried, paid in four ways."""

from typing import Any

import streamlit as st

from pages.tuning import charts as charts
from pages.tuning import numbers as tc
from pages.tuning import words as text
from pages.tuning.snippets import tuning
from ui import page, sentences
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

PAPER = tc.Base()  # DP-SGD on Adult with ε = 1 for one run: Redberg et al. (2023), section 5
DP_SGD, OBJECTIVE = "DP-SGD", "objective perturbation"
BY_EPSILON, BY_PARAMETERS = "ε of one run", "its parameters"

KIND = Choice("tuning_run", "Each run is", DP_SGD, options=(DP_SGD, OBJECTIVE), horizontal=True)
BY = Choice("tuning_by", "Given by", BY_EPSILON, options=(BY_EPSILON, BY_PARAMETERS), horizontal=True)
EPSILON = SelectSlider(
    "tuning_epsilon",
    "ε of one run",
    PAPER.epsilon,
    log_values(0.01, 20, extra=[0.025, 0.05, 0.25], steps=ROUND_STEPS),
    help="Without any tuning, at the δ below. Noise is calibrated to it.",
)
NOISE = SelectSlider(
    "tuning_noise",
    "Noise multiplier",
    PAPER.noise_multiplier,
    log_values(0.3, 30),
    help="Standard deviation of the noise on the summed gradients divided by the clipping norm.",
)
RATE = SelectSlider(
    "tuning_rate",
    "Sample rate q",
    PAPER.sample_rate,
    log_values(1e-4, 1, extra=[PAPER.sample_rate]),
    help="Probability with which a row joins a batch: batch size over rows. The paper’s Adult: 256 of 36,177.",
)
STEPS = SelectSlider(
    "tuning_steps",
    "Steps",
    PAPER.steps,
    tuple(int(v) for v in log_values(1, 100_000, extra=[PAPER.steps], steps=(1, 1.5, 2, 3, 5, 7)) if v == int(v)),
    format=lambda steps: f"{steps}",
    help="The paper’s Adult: 60 epochs of 142 batches.",
)
SIGMA = SelectSlider(
    "tuning_sigma",
    "Noise σ",
    PAPER.sigma,
    log_values(0.1, 1000, extra=[PAPER.sigma]),
    help="Of the random tilt b; rows have norm at most 1.",
)
LAM = SelectSlider("tuning_lambda", "Regularisation λ", PAPER.lam, log_values(0.01, 10_000))
DELTA = SelectSlider(
    "tuning_delta", "Failure probability δ", 1e-5, powers_of_ten(-12, -2), help="Of one run, and of the whole tuning."
)
SETTINGS = SelectSlider(
    "tuning_settings", "Settings to choose among, s", 10, tc.GRID, format=lambda s: f"{s}", help="Size of the grid."
)
FAMILY = Choice(
    "tuning_k",
    "Number of runs K is",
    "Poisson",
    options=tc.FAMILIES,
    help="How Papernot and Steinke’s tuner draws it. Liu and Talwar’s always draws it from a geometric distribution.",
)
ETA = SelectSlider(
    "tuning_eta",
    "Shape η",
    0.5,
    (-0.9, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0),
    help="η = 1 is geometric, η = 0 logarithmic; the larger η, the more concentrated K.",
)
MORE = SelectSlider(
    "tuning_more",
    "Pr[K > s]",
    0.9,
    (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99),
    help="It fixes the mean of K. The paper asks for 0.9.",
)
RENYI = Toggle(
    "tuning_renyi",
    "Rényi everywhere, as in the paper",
    True,
    help="Off: one run and the composition are accounted by privacy loss distributions, which are tighter; the two "
    "selection theorems keep theirs.",
)
GHOST = Toggle("tuning_ghost", "Keep the previous setting as a ghost", True)
CONTROLS = (KIND, BY, EPSILON, NOISE, RATE, STEPS, SIGMA, LAM, DELTA, SETTINGS, FAMILY, ETA, MORE, RENYI, GHOST)


TUNER = {KIND: DP_SGD, BY: BY_EPSILON, EPSILON: 1.0, RATE: PAPER.sample_rate, STEPS: PAPER.steps, DELTA: 1e-5}
TUNER |= {SETTINGS: 10, FAMILY: "Poisson", MORE: 0.9, RENYI: True}

PRESETS = (
    Preset(
        "The paper’s μ ≈ 15.4",
        TUNER,
        "Redberg et al. (2023), section 5, on Adult: 10 learning rates, K Poisson with Pr[K > 10] = 0.9.",
    ),
    Preset(
        "Geometric K",
        TUNER | {FAMILY: "geometric", MORE: 0.5},
        "About as many runs on average, spread more widely: cheaper, but half the time fewer runs than settings.",
    ),
    Preset("Three settings", TUNER | {SETTINGS: 3}, "So few that composing every run is the cheaper proof."),
    Preset("Tighter accountants", TUNER | {RENYI: False}, "The paper’s setting by privacy loss distributions."),
    Preset(
        "No tuning",
        TUNER | {KIND: OBJECTIVE, SETTINGS: 1, RENYI: False},
        "Objective perturbation with σ and λ computed from ε and δ: one setting.",
    ),
)


def base() -> tc.Base:
    """The controls of one run, only those that matter, and what they say."""
    kind, by_epsilon = KIND.show(), BY.show() == BY_EPSILON
    chosen: dict[str, Any] = {"kind": "dpsgd" if kind == DP_SGD else "objective"}
    chosen["epsilon"] = EPSILON.show() if by_epsilon else None
    if kind == DP_SGD:
        if not by_epsilon:
            chosen["noise_multiplier"] = NOISE.show()
        chosen |= {"sample_rate": RATE.show(), "steps": STEPS.show()}
    elif not by_epsilon:
        chosen |= {"sigma": SIGMA.show(), "lam": LAM.show()}
    return tc.Base(**chosen)


def law() -> tc.Law:
    family = FAMILY.show()
    return tc.Law(family, MORE.show(), ETA.show() if family == tc.GENERAL else ETA.default)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="tuning")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        settings, chosen = SETTINGS.show(), law()
        one_run, delta = base(), DELTA.show()
        setting = tc.Setting(one_run, delta, chosen, RENYI.show())
        with_ghost = GHOST.show()
        copy_link(CONTROLS)
    before = previous("tuning", (setting, settings))
    with page.errors():
        ways = tc.ways(setting, settings)
        found = tc.runs(setting, settings)
        geometric = tc.geometric_mean(setting, settings)
        name = text.law(chosen.family, found.mean, chosen.shape)
        with picture:
            page.answer(
                text.answer(settings, one_run.noun, delta, ways),
                text.consequence(settings, delta, ways),
                text.accountant(settings, ways, name, renyi=setting.renyi),
            )
            chart = charts.price(setting, settings, before[0] if before and with_ghost else None)
            page.chart(chart, key="tuning_chart", alt=text.tuning_alt(settings, delta, ways), filename="tuning")
            crossing = text.crossing(tc.GRID, tc.curve("composed", setting), tc.curve("selection", setting))
            cheaper = text.geometric(settings, ways, geometric, found.mean, chosen.family)
            st.markdown(f"{crossing} {cheaper}")
            st.caption(text.WHAT_IS_PAID_FOR)
            st.markdown(f"**How many runs?** {text.runs(settings, found.mean, found.more, found.none)}")
            page.chart(
                charts.number_of_runs(found, settings, tc.runs(*before) if before and with_ghost else None),
                key="tuning_runs",
                alt=text.runs_alt(settings, found.more, name),
                filename="tuning-runs",
            )
        page.table(
            text.ways_rows(ways, text.trained(settings, geometric, found.mean), delta),
            alt=text.tuning_alt(settings, delta, ways),
        )
        page.downloads(
            lambda: tc.frame(setting),
            chart,
            filename="tuning",
            title=f"What tuning costs: ε at δ = {sentences.delta(delta)}, {setting.base}, {name}",
        )
        afford(setting, settings, ways["free"])
        page.reproduce(tuning(setting, settings))


AFFORD = "What must each run be to afford it?"


def afford(setting: tc.Setting, settings: int, target: float) -> None:
    """The noise that pays for the choice; calibrated only while somebody looks, it takes up to a second."""
    box = st.expander(AFFORD, icon=":material/payments:", key="tuning_afford", bind="query-params")
    with box:
        if not box.open:
            return
        if setting.base.kind != "dpsgd":
            st.markdown(text.OBJECTIVE_PERTURBATION)
            return
        needs = tc.afford(setting, settings)
        st.markdown(text.afford_sentence(settings, setting.base.noun, target, needs))
        page.table(text.afford_rows(needs, setting.delta), alt="Noise multiplier of each run under every accounting.")
        st.caption(text.AFFORD_NOTE)


TRY_QUESTION = (
    "Each run of DP-SGD costs ε = 1 at δ = 10⁻⁵. You try three learning rates and publish the best model. Which valid "
    "way of accounting proves the smaller ε: composing the three runs, or Papernot and Steinke’s with K Poisson and "
    "Pr[K > 3] = 0.9?"
)
TRY_OPTIONS = (
    "Composing the three runs.",
    "Papernot and Steinke: only the best model is released.",
    "They are the same.",
)
TRY_REASON = (
    "A random number of runs has to be paid for before the first setting has won: to try more than three settings with "
    "probability 0.9 it makes 6.7 runs on average, and its proof carries the term log μ/(α − 1) from the start. "
    "Composing three runs costs about √3 times one run. From four settings on the random number is the cheaper way; "
    "for 100 settings it costs about 0.6 times what composing costs."
)
TRY = tc.Setting(tc.Base(), 1e-5, tc.Law(), renyi=True)


@st.fragment
def predict() -> None:
    with st.expander("Try it: two or three settings", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[0], key="tuning__try"):
            return
        ways = tc.ways(TRY, 3)
        page.chart(
            charts.price(TRY, 3, height=380),
            key="tuning_try_chart",
            alt=text.tuning_alt(3, TRY.delta, ways),
            filename="tuning-try-it",
        )
        st.markdown(TRY_REASON)


page.begin(
    "tuning",
    "Training with DP-SGD needs a learning rate. Each value that is tried looks at the data once more, and keeping the "
    "best one tells which it was. Four ways to account for that: the first ignores it, the others are proved.",
)
explore()
st.markdown(text.OBJECTIVE_PERTURBATION)
page.see_also("training", "what one fit without tuning reaches")
predict()
page.about("tuning")
