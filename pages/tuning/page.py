"""What tuning costs (Redberg et al. 2023, section 5): ε against the number of settings tried, paid in four ways."""

from typing import Any

import streamlit as st

from pages.tuning import charts, snippets
from pages.tuning import numbers as tc
from pages.tuning import words as text
from ui import controls as c
from ui import page, sentences, share
from ui import parameters as p

PAPER = tc.Base()  # DP-SGD on Adult with ε = 1 for one run: Redberg et al. (2023), section 5
DP_SGD, OBJECTIVE = "DP-SGD", "objective perturbation"
BY_EPSILON, BY_PARAMETERS = "ε of one run", "its parameters"

KIND = c.Choice("tuning_run", "Each run is", DP_SGD, options=(DP_SGD, OBJECTIVE), horizontal=True)
BY = c.Choice("tuning_by", "Given by", BY_EPSILON, options=(BY_EPSILON, BY_PARAMETERS), horizontal=True)
BUDGET = "Without any tuning, at the δ below. Noise is calibrated to it."
EPSILON = p.epsilon("tuning", 1.0, label="ε of one run", help=BUDGET)
SUMMED = "Standard deviation of the noise on the summed gradients divided by the clipping norm."
NOISE = p.noise_multiplier("tuning", PAPER.noise_multiplier, help=SUMMED)
JOINS = "Probability with which a row joins a batch: batch size over rows. The paper’s Adult: 256 of 36,177."
RATE = p.sample_rate("tuning", PAPER.sample_rate, 1e-4, extra=[PAPER.sample_rate], name="rate", help=JOINS)
COUNTS = c.log_values(1, 100_000, extra=[PAPER.steps], steps=p.FEW_STEPS)
WHOLE, BATCHES = tuple(int(v) for v in COUNTS if v == int(v)), "The paper’s Adult: 60 epochs of 142 batches."
STEPS = c.SelectSlider("tuning_steps", "Steps", PAPER.steps, WHOLE, str, help=BATCHES)
SIGMA = p.sigma("tuning", PAPER.sigma, extra=[PAPER.sigma], help="Of the random tilt b; rows have norm at most 1.")
LAM = p.lam("tuning", PAPER.lam)
DELTA = p.delta("tuning", help="Of one run, and of the whole tuning.")
SETTINGS = c.SelectSlider(
    "tuning_settings", "Settings to choose among, s", 10, tc.GRID, format=str, help="Size of the grid."
)
DRAWN = "How Papernot and Steinke’s tuner draws it. Liu and Talwar’s always draws it from a geometric distribution."
FAMILY = c.Choice("tuning_k", "Number of runs K is", "Poisson", options=tc.FAMILIES, help=DRAWN)
SHAPES = (-0.9, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0)
CONCENTRATED = "η = 1 is geometric, η = 0 logarithmic; the larger η, the more concentrated K."
ETA = c.SelectSlider("tuning_eta", "Shape η", 0.5, SHAPES, help=CONCENTRATED)
CHANCES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)
FIXES = "It fixes the mean of K. The paper asks for 0.9."
MORE = c.SelectSlider("tuning_more", "Pr[K > s]", 0.9, CHANCES, help=FIXES)
OFF = "Off: one run and the composition are accounted by privacy loss distributions, which are tighter; the two "
OFF += "selection theorems keep theirs."
RENYI = c.Toggle("tuning_renyi", "Rényi everywhere, as in the paper", True, help=OFF)
GHOST = p.ghost("tuning")
CONTROLS = (KIND, BY, EPSILON, NOISE, RATE, STEPS, SIGMA, LAM, DELTA, SETTINGS, FAMILY, ETA, MORE, RENYI, GHOST)

PRESET = (KIND, BY, EPSILON, RATE, STEPS, DELTA, SETTINGS, FAMILY, MORE, RENYI)  # at first on the paper's setting
TUNER: dict[c.Control, Any] = {control: control.default for control in PRESET}
PAPERS = "Redberg et al. (2023), section 5, on Adult: 10 learning rates, K Poisson with Pr[K > 10] = 0.9."
WIDER = "About as many runs on average, spread more widely: cheaper, but half the time fewer runs than settings."
NOTHING = "Objective perturbation with σ and λ computed from ε and δ: one setting."
PRESETS = (
    c.Preset("The paper’s μ ≈ 15.4", TUNER, PAPERS),
    c.Preset("Geometric K", TUNER | {FAMILY: "geometric", MORE: 0.5}, WIDER),
    c.Preset("Three settings", TUNER | {SETTINGS: 3}, "So few that composing every run is the cheaper proof."),
    c.Preset("Tighter accountants", TUNER | {RENYI: False}, "The paper’s setting by privacy loss distributions."),
    c.Preset("No tuning", TUNER | {KIND: OBJECTIVE, SETTINGS: 1, RENYI: False}, NOTHING),
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
    c.preset_buttons(PRESETS, prefix="tuning")
    left, panel = page.columns()
    with panel:
        settings, chosen = SETTINGS.show(), law()
        one_run, delta = base(), DELTA.show()
        setting = tc.Setting(one_run, delta, chosen, RENYI.show())
        ghost = c.previous("tuning", (setting, settings), GHOST.show())
        share.button(CONTROLS)
    with page.errors():
        ways, found = tc.ways(setting, settings), tc.runs(setting, settings)
        geometric, name = tc.geometric_mean(setting, settings), text.law(chosen.family, found.mean, chosen.shape)
        picture = page.Picture(
            charts.price(setting, settings, ghost[0] if ghost else None),
            text.tuning_alt(settings, delta, ways),
            lambda: tc.frame(setting),
            f"What tuning costs: ε at δ = {sentences.delta(delta)}, {setting.base}, {name}",
        )
        runs = charts.number_of_runs(found, settings, tc.runs(*ghost) if ghost else None)
        with left:
            page.answer(
                text.answer(settings, one_run.noun, delta, ways),
                text.consequence(settings, delta, ways),
                text.accountant(settings, ways, name, renyi=setting.renyi),
            )
            page.show(picture, key="tuning_chart")
            crossing = text.crossing(tc.GRID, *(tc.curve(way, setting).tolist() for way in text.MADE))
            st.markdown(f"{crossing} {text.geometric(settings, ways, geometric, found.mean, chosen.family)}")
            st.caption(text.WHAT_IS_PAID_FOR)
            st.markdown(f"**How many runs?** {text.runs(settings, found.mean, found.more, found.none)}")
            page.show(page.Picture(runs, text.runs_alt(settings, found.more, name)), key="tuning_runs")
        page.evidence(
            picture, text.ways_rows(ways, text.trained(settings, geometric, found.mean), delta), name="tuning"
        )
        afford(setting, settings, ways["free"])
        page.reproduce(snippets.tuning(setting, settings))


def afford(setting: tc.Setting, settings: int, target: float) -> None:
    """The noise that pays for the choice; calibrated only while somebody looks, it takes up to a second."""
    question = "What must each run be to afford it?"
    box = st.expander(question, icon=":material/payments:", key="tuning_afford", bind="query-params")
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


def revealed() -> None:
    setting = tc.Setting(PAPER, 1e-5, tc.Law(), renyi=True)
    alt = text.tuning_alt(3, setting.delta, tc.ways(setting, 3))
    page.show(page.Picture(charts.price(setting, 3, height=380), alt), key="tuning_try_chart")


page.begin(
    "tuning",
    "Training with DP-SGD needs a learning rate. Each value that is tried looks at the data once more, and keeping the "
    "best one tells which it was. Four ways to account for that: the first ignores it, the others are proved.",
)
explore()
st.markdown(text.OBJECTIVE_PERTURBATION)
page.see_also("training", "what one fit without tuning reaches")
page.predict(page.Prediction.of("tuning", revealed), key="tuning__try")
page.about("tuning")
