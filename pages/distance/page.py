"""Distance to optimality (Figure 4 of Redberg et al. 2023): how far a bound is from what any proof could show."""

import streamlit as st

from pages.distance import charts as charts
from pages.distance import numbers as dc
from pages.distance import words as words
from ui import bounds as bc
from ui import page, sentences
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

LARGE_SMALL = bc.Setting(sigma=10.0, lam=2.0, smoothness=1.0, lipschitz=1.0)
RENYI, PROFILE = "Rényi curves", "Privacy profiles"

SHOW = Choice(
    "distance_show",
    "Show",
    RENYI,
    (RENYI, PROFILE),
    horizontal=True,
    help="The same four privacy losses twice: their Rényi divergences, as in the paper’s figure, or δ against ε.",
)
SIGMA = SelectSlider(
    "distance_sigma",
    "Noise σ",
    LARGE_SMALL.sigma,
    log_values(0.1, 1000),
    help="Standard deviation of each coordinate of the random tilt b.",
)
LAM = SelectSlider(
    "distance_lambda",
    "Regularisation λ",
    LARGE_SMALL.lam,
    log_values(0.01, 10_000),
    help="The objective is a sum over the rows plus λ/2 ‖θ‖²: λ is not divided by their number.",
)
BETA = SelectSlider(
    "distance_beta",
    "Smoothness β",
    LARGE_SMALL.smoothness,
    log_values(0.01, 100, extra=[0.25]),
    help="Largest curvature of one person’s loss. The logistic loss on rows of norm at most L has β = L²/4.",
)
LIPSCHITZ = SelectSlider(
    "distance_L",
    "Lipschitz constant L",
    LARGE_SMALL.lipschitz,
    log_values(0.1, 10),
    help="Largest gradient norm of one person’s loss. For the logistic loss it is the largest row norm R.",
)
READ_DELTA = SelectSlider("distance_delta", "Compare ε at δ =", 1e-5, powers_of_ten(-12, -1))
READ_ALPHA = SelectSlider("distance_alpha", "Read ε(α) at α =", 10.0, log_values(1, 10_000, steps=(1, 1.5, 2, 3, 5, 7)))
ALPHA_MAX = SelectSlider("distance_view", "α axis up to", 10_000.0, powers_of_ten(1, 6))
EPS_MAX = SelectSlider(
    "distance_eps_view", "ε axis up to", 2.0, (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
)
GHOST = Toggle("distance_ghost", "Keep the previous setting as a ghost", True)
MECHANISM = (SIGMA, LAM, BETA, LIPSCHITZ)
CONTROLS = (SHOW, *MECHANISM, READ_DELTA, READ_ALPHA, ALPHA_MAX, EPS_MAX, GHOST)


def preset(name: str, setting: bc.Setting, hint: str, eps_view: float) -> Preset:
    values = {SIGMA: setting.sigma, LAM: setting.lam, BETA: setting.smoothness, LIPSCHITZ: setting.lipschitz}
    return Preset(name, values | {ALPHA_MAX: 10_000.0, EPS_MAX: eps_view}, f"{setting}. {hint}")


OURS = "The paper’s text gives no numbers for this panel; these show what it says about it."
PRESETS = (
    preset("Figure 4a: large σ, large λ", bc.Setting(10.0, 100.0, 1.0, 1.0), OURS, 1.0),
    preset("Figure 4b: large σ, small λ", LARGE_SMALL, OURS, 2.0),
    preset("Figure 4c: small σ, large λ", bc.Setting(1.0, 100.0, 1.0, 1.0), OURS, 10.0),
    preset("Figure 4d: small σ, small λ", bc.Setting(1.0, 2.0, 1.0, 1.0), OURS, 10.0),
    preset(
        "Logistic loss, small λ",
        bc.Setting(10.0, 0.2, 0.25, 1.0),
        "Rows of norm 1, so β = 1/4, and λ below it: the published proof falls silent.",
        2.0,
    ),
)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="distance")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        profiles = SHOW.show() == PROFILE
        setting = bc.Setting(*(control.show() for control in MECHANISM))
        delta, alpha = READ_DELTA.show(), READ_ALPHA.show(disabled=profiles)
        alpha_max, eps_max = ALPHA_MAX.show(disabled=profiles), EPS_MAX.show(disabled=not profiles)
        with_ghost = GHOST.show()
        copy_link(CONTROLS)
    before = previous("distance", setting)
    ghost = before if with_ghost else None
    with page.errors():
        found = dc.readings(setting, delta, alpha)
        with picture:
            answer(setting, found, delta)
            if profiles:
                alt = words.profile_alt({dc.NAMES[r.name]: r.epsilon for r in found}, delta)
                chart = charts.profiles(setting, eps_max=eps_max, delta=delta, ghost=ghost)
            else:
                alt = words.renyi_alt({dc.NAMES[r.name]: r.renyi for r in found}, alpha)
                chart = charts.renyi(setting, alpha_max=alpha_max, alpha=alpha, ghost=ghost)
            page.chart(chart, key="distance_chart", alt=alt, filename="distance")
            if silent := dc.mechanism("glm", setting).explain():
                st.info(f"**{dc.NAMES['glm']}.** {silent}", icon=":material/info:")
            if setting.smoothness != setting.logistic_smoothness:
                st.caption(sentences.logistic_curve(setting.smoothness, setting.logistic_smoothness, setting.lipschitz))
        page.table(dc.table_rows(found, delta, alpha), alt=alt)
        page.downloads(
            lambda: dc.frame(setting, eps_max=eps_max) if profiles else dc.frame(setting, alpha_max=alpha_max),
            chart,
            filename="distance",
            title=f"{PROFILE if profiles else RENYI} of objective perturbation, {setting}",
        )
        maps(setting, delta, ghost)
        page.reproduce(words.snippet(**vars(setting), delta=delta, alpha=alpha))


def answer(setting: bc.Setting, found: list[dc.Reading], delta: float) -> None:
    eps = {reading.name: reading.epsilon for reading in found}
    page.answer(
        words.answer(delta, eps["glm"], eps["logistic"], eps["lower"]),
        f"{sentences.odds_sentence(eps['logistic'])} {sentences.except_with(delta)}",
        words.prices(setting, eps["glm"], eps["half"], eps["lower"]),
        f"{words.boundary(setting.lam, dc.optimal_lam(setting, delta))} {words.accounted()}",
    )


def maps(setting: bc.Setting, delta: float, ghost: bc.Setting | None) -> None:
    st.subheader("The distance for every σ and λ", anchor=False)
    for bound, column in zip(dc.MAPS, st.columns(len(dc.MAPS), gap="medium"), strict=True):
        with column:
            title = words.map_title(bound, delta, setting)
            st.markdown(f"**{title}**")
            chart = charts.distance_map(bound, setting, delta=delta, ghost=ghost)
            alt = words.map_alt(bound, dc.distances(bound, setting, delta), delta)
            page.chart(chart, key=f"distance_map_{bound}", alt=alt, filename=f"distance-{bound}")
            page.downloads(
                lambda bound=bound: dc.map_frame(bound, setting, delta),
                chart,
                filename=f"distance-map-{bound}",
                title=title,
            )


TRY_QUESTION = (
    "Keep σ = 10 and let λ grow without end. How far does the published proof come down towards the Gaussian mechanism?"
)
TRY_OPTIONS = (
    "All the way: the price of the curvature, −log(1 − β/λ), goes to 0, and nothing else stands between them.",
    "Almost: it stays some way above, whatever λ.",
    "All the way, at a finite λ already.",
)
TRY_REASON = (
    "Large λ removes the price of the curvature, but the published proof also bounds a normal variable by its absolute "
    "value, since for a general loss the sign of a gradient may be either. That half-normal costs more than the normal "
    "at every λ. A logistic gradient has the sign of its label: the tight proof uses that and is exact from a finite λ."
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: is more regularisation enough?", icon=":material/psychology:"):
        if not page.try_it(TRY_QUESTION, TRY_OPTIONS, TRY_OPTIONS[1], key="distance__try"):
            return
        page.chart(
            charts.against_lam(10.0, 1.0, 1.0, 1e-5),
            key="distance_try_chart",
            alt=words.distance_alt(10.0, 1e-5),
            filename="distance-try-it",
        )
        st.markdown(TRY_REASON)


page.begin(
    "distance",
    "No proof about objective perturbation can go below the Gaussian mechanism with the same noise. What a proof "
    "certifies above that is a price for what it does not know: here is how much it is, and what it is paid for.",
)
explore()
predict()
page.about("distance")
