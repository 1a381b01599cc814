"""What tuning costs (Redberg et al. 2023, section 5): ε against the number of settings tried, paid in four ways."""

from typing import Any

import streamlit as st

from pages.tuning import charts, snippets
from pages.tuning import numbers as tc
from pages.tuning import words as text
from ui import controls as c
from ui import page, sentences, style
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
DRAWN = (
    "K is how often training is run, drawn at random by Papernot and Steinke’s tuner; Liu and Talwar’s K is geometric."
)
FAMILY = c.Choice("tuning_k", "Number of runs K is", "Poisson", options=tc.FAMILIES, help=DRAWN)
SHAPES = (-0.9, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0, 5.0, 10.0)
CONCENTRATED = "η = 1 is geometric, η = 0 logarithmic; the larger η, the more concentrated K."
ETA = c.SelectSlider("tuning_eta", "Shape η", 0.5, SHAPES, help=CONCENTRATED)
CHANCES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)
FIXES = "How likely there are more runs than settings. It fixes μ, the mean of K. The paper asks for 0.9."
MORE = c.SelectSlider("tuning_more", "More runs than settings, Pr[K > s]", 0.9, CHANCES, help=FIXES)
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
    c.Preset("Ten trials are not free", TUNER, PAPERS),
    c.Preset("A wider K costs less", TUNER | {FAMILY: "geometric", MORE: 0.5}, WIDER),
    c.Preset("Three settings: compose", TUNER | {SETTINGS: 3}, "So few that composing every run is the cheaper proof."),
    c.Preset("Tighter accountants", TUNER | {RENYI: False}, "The paper’s setting by privacy loss distributions."),
    c.Preset("Nothing to choose", TUNER | {KIND: OBJECTIVE, SETTINGS: 1, RENYI: False}, NOTHING),
)


def panel() -> tuple[tc.Setting, int]:
    """The controls, of one run only those that matter; returns the setting and the number of settings tried."""
    settings, budget, family = SETTINGS.show(), st.container(), FAMILY.show()
    more, kind = MORE.show(), KIND.show()
    run: dict[str, Any] = {"kind": "dpsgd" if kind == DP_SGD else "objective", "epsilon": None}
    with page.tools(CONTROLS, PRESETS, name="tuning"):
        by_epsilon = BY.show() == BY_EPSILON
        if kind == DP_SGD:
            run |= {"sample_rate": RATE.show(), "steps": STEPS.show()}
        elif not by_epsilon:
            run["lam"] = LAM.show()
        eta = ETA.show() if family == tc.GENERAL else ETA.default
        delta, renyi = DELTA.show(), RENYI.show()
        GHOST.show()
    with budget:
        if by_epsilon:
            run["epsilon"] = EPSILON.show()
        elif kind == DP_SGD:
            run["noise_multiplier"] = NOISE.show()
        else:
            run["sigma"] = SIGMA.show()
    return tc.Setting(tc.Base(**run), delta, tc.Law(family, more, eta), renyi), settings


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="tuning")
    left, beside = page.columns()
    with beside:
        setting, settings = panel()
    before = c.previous("tuning", (setting, settings))
    ghost = before if GHOST.value() else None
    with page.errors():
        ways, found = tc.ways(setting, settings), tc.runs(setting, settings)
        name = text.law(setting.law.family, found.mean, setting.law.shape)
        picture = page.Picture(
            charts.price(setting, settings, ghost[0] if ghost else None),
            text.tuning_alt(settings, setting.delta, ways),
            lambda: tc.frame(setting),
            f"What tuning costs: ε at δ = {sentences.delta(setting.delta)}, {setting.base}, {name}",
        )
        with left:
            accountant = text.accountant(settings, ways, name, renyi=setting.renyi)
            page.answer(
                text.answer(settings, setting.delta, ways),
                promise=sentences.promise(ways[text.cheapest(ways)], setting.delta, accountant),
                why=text.why(tc.changes(*before, setting, settings), tc.ways(*before), ways) if before else "",
            )
            page.show(picture, key="tuning_chart")
        if not style.embedded():
            below(picture, setting, settings, name, tc.runs(*ghost) if ghost else None)


def below(picture: page.Picture, setting: tc.Setting, settings: int, name: str, ghost: tc.Runs | None) -> None:
    """What stands under the stage: where each way is cheaper, the law of K, what is left for each run, the evidence."""
    ways, found, family = tc.ways(setting, settings), tc.runs(setting, settings), setting.law.family
    geometric = tc.geometric_mean(setting, settings)
    crossing = text.crossing(tc.GRID, *(tc.curve(way, setting).tolist() for way in text.MADE))
    st.markdown(f"{crossing} {text.geometric(settings, ways, geometric, found.mean, family)}")
    rows = text.ways_rows(ways, text.trained(settings, geometric, found.mean), setting.delta)
    page.table(rows, alt=picture.alt)
    st.caption(text.WHAT_IS_PAID_FOR)
    page.evidence(picture, shown=rows, name="tuning")
    afford(setting, settings, ways["free"])
    st.markdown(f"**How many runs?** {text.runs(settings, found.mean, found.more, found.none)}")
    runs = charts.number_of_runs(found, settings, ghost)
    page.show(page.Picture(runs, text.runs_alt(settings, found.more, name)), key="tuning_runs")
    page.reproduce(snippets.tuning(setting, settings))


def afford(setting: tc.Setting, settings: int, target: float) -> None:
    """What is left for each run where the whole may cost the target; only while somebody looks, it takes a second."""
    question = "What is left for each run?"
    box = st.expander(question, icon=":material/payments:", key="tuning_afford", bind="query-params")
    with box:
        if not box.open:
            return
        if setting.base.kind != "dpsgd":
            st.markdown(text.OBJECTIVE_PERTURBATION)
            return
        needs = tc.afford(setting, settings)
        st.markdown(text.afford_sentence(settings, setting.base.noun, target, needs))
        shares = page.Picture(charts.left(needs, target), text.left_alt(needs, target))
        page.show(shares, key="tuning_left")
        alt = "Noise multiplier of each run under every accounting."
        page.table(text.afford_rows(needs, setting.delta), alt=alt, name="tuning_left")
        st.caption(text.AFFORD_NOTE)


def revealed() -> None:
    setting = tc.Setting(PAPER, 1e-5, tc.Law(), renyi=True)
    alt = text.tuning_alt(3, setting.delta, tc.ways(setting, 3))
    page.show(page.Picture(charts.price(setting, 3, height=380), alt), key="tuning_try_chart")


page.begin(
    "tuning",
    "Each learning rate that is tried looks at the data once more, and publishing the best one tells something of "
    "each look. Four ways to account for that: the first ignores it, the others are proved.",
)
explore()
st.markdown(text.OBJECTIVE_PERTURBATION)
page.see_also("training", "what one fit without tuning reaches")
page.predict(page.Prediction.of("tuning", revealed), key="tuning__try")
page.about("tuning")
