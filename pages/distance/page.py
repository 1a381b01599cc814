"""Distance to optimality (Figure 4 of Redberg et al. 2023): how far a bound is from what any proof could show."""

from functools import partial

import streamlit as st

from pages.distance import charts, numbers, words
from ui import controls as c
from ui import page, parameters, sentences, share
from ui.bounds import Setting

LARGE_SMALL = Setting(sigma=10.0, lam=2.0, smoothness=1.0, lipschitz=1.0)
SILENT = Setting(sigma=10.0, lam=0.2, smoothness=0.25, lipschitz=1.0)
RENYI, PROFILE = "Rényi curves", "Privacy profiles"

TWICE = "The same four privacy losses twice: their Rényi divergences, as in the paper’s figure, or δ against ε."
SHOW = parameters.show("distance", (RENYI, PROFILE), TWICE)
MECHANISM = parameters.mechanism("distance", LARGE_SMALL, SILENT)
READ_DELTA = parameters.read_delta("distance", label="Compare ε at δ =")
READ_ALPHA = c.SelectSlider(
    "distance_alpha", "Read ε(α) at α =", 10.0, c.log_values(1, 10_000, steps=parameters.FEW_STEPS)
)
ALPHA_MAX = parameters.view("distance", "α axis up to", 10_000.0, c.powers_of_ten(1, 6))
EPS_ENDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
EPS_MAX = parameters.view("distance", "ε axis up to", 2.0, EPS_ENDS, name="eps_view")
GHOST = parameters.ghost("distance")
CONTROLS = (SHOW, *MECHANISM, READ_DELTA, READ_ALPHA, ALPHA_MAX, EPS_MAX, GHOST)


def preset(name: str, setting: Setting, hint: str, eps_view: float) -> c.Preset:
    values = parameters.in_order(MECHANISM, setting) | {ALPHA_MAX: 10_000.0, EPS_MAX: eps_view}
    return c.Preset(name, values, f"{setting}. {hint}")


OURS = "The paper’s text gives no numbers for this panel; these show what it says about it."
BELOW = "Rows of norm 1, so β = 1/4, and λ below it: the published proof falls silent."
PRESETS = (
    preset("Figure 4a: large σ, large λ", Setting(10.0, 100.0, 1.0, 1.0), OURS, 1.0),
    preset("Figure 4b: large σ, small λ", LARGE_SMALL, OURS, 2.0),
    preset("Figure 4c: small σ, large λ", Setting(1.0, 100.0, 1.0, 1.0), OURS, 10.0),
    preset("Figure 4d: small σ, small λ", Setting(1.0, 2.0, 1.0, 1.0), OURS, 10.0),
    preset("Logistic loss, small λ", SILENT, BELOW, 2.0),
)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="distance")
    left, panel = page.columns()
    with panel:
        profiles = SHOW.show() == PROFILE
        setting = Setting(*(control.show() for control in MECHANISM))
        delta, alpha = READ_DELTA.show(), READ_ALPHA.show(disabled=profiles)
        alpha_max, eps_max = ALPHA_MAX.show(disabled=profiles), EPS_MAX.show(disabled=not profiles)
        ghost = c.previous("distance", setting, GHOST.show())
        share.button(CONTROLS)
    with page.errors():
        found = numbers.readings(setting, delta, alpha)
        if profiles:
            picture = page.Picture(
                charts.profiles(setting, eps_max=eps_max, delta=delta, ghost=ghost),
                words.profile_alt({numbers.NAMES[r.name]: r.epsilon for r in found}, delta),
                partial(numbers.profile_frame, setting, eps_max),
                f"{PROFILE} of objective perturbation, {setting}",
            )
        else:
            picture = page.Picture(
                charts.renyi(setting, alpha_max=alpha_max, alpha=alpha, ghost=ghost),
                words.renyi_alt({numbers.NAMES[r.name]: r.renyi for r in found}, alpha),
                partial(numbers.renyi_frame, setting, alpha_max),
                f"{RENYI} of objective perturbation, {setting}",
            )
        with left:
            answer(setting, found, delta)
            page.show(picture, key="distance_chart")
            if silent := setting.silent("glm"):
                st.info(f"**{numbers.NAMES['glm']}.** {silent}", icon=":material/info:")
            if setting.smoothness != setting.logistic_smoothness:
                st.caption(sentences.logistic_curve(setting.smoothness, setting.logistic_smoothness, setting.lipschitz))
        page.evidence(picture, numbers.table_rows(found, delta, alpha), name="distance")
        maps(setting, delta, ghost)
        page.reproduce(words.snippet(setting, delta=delta, alpha=alpha))


def answer(setting: Setting, found: list[numbers.Reading], delta: float) -> None:
    eps = {reading.name: reading.epsilon for reading in found}
    page.answer(
        words.answer(delta, eps["glm"], eps["logistic"], eps["lower"]),
        sentences.bet(eps["logistic"], delta),
        words.prices(setting, eps["glm"], eps["half"], eps["lower"]),
        f"{words.boundary(setting.lam, numbers.optimal_lam(setting, delta))} {words.accounted()}",
    )


def maps(setting: Setting, delta: float, ghost: Setting | None) -> None:
    st.subheader("The distance for every σ and λ", anchor=False)
    for bound, column in zip(numbers.MAPS, st.columns(len(numbers.MAPS), gap="medium"), strict=True):
        picture = page.Picture(
            charts.distance_map(bound, setting, delta=delta, ghost=ghost),
            words.map_alt(bound, numbers.distances(bound, setting, delta), delta),
            partial(numbers.map_frame, bound, setting, delta),
            words.map_title(bound, delta, setting),
        )
        with column:
            st.markdown(f"**{picture.title}**")
            page.show(picture, key=f"distance_map_{bound}")
            page.evidence(picture, name=f"distance-map-{bound}")


def revealed() -> None:
    picture = page.Picture(charts.against_lam(10.0, 1.0, 1.0, 1e-5), words.distance_alt(10.0, 1e-5))
    page.show(picture, key="distance_try_chart")


page.begin(
    "distance",
    "No proof about objective perturbation can go below the Gaussian mechanism with the same noise. What a proof "
    "certifies above that is a price for what it does not know: here is how much it is, and what it is paid for.",
)
explore()
page.predict(page.Prediction.of("distance", revealed), key="distance__try")
page.about("distance")
