"""Distance to optimality (Figure 4 of Redberg et al. 2023): how far a bound is from what any proof could show."""

from functools import partial

import streamlit as st

from pages.distance import charts, numbers, words
from ui import controls as c
from ui import page, parameters, sentences, style, why
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
CONTROLS = (*MECHANISM, SHOW, READ_DELTA, READ_ALPHA, ALPHA_MAX, EPS_MAX, GHOST)


def preset(name: str, setting: Setting, hint: str, eps_view: float) -> c.Preset:
    values = parameters.in_order(MECHANISM, setting) | {ALPHA_MAX: 10_000.0, EPS_MAX: eps_view}
    return c.Preset(name, values, f"{setting}. {hint}")


OURS = "The paper’s text gives no numbers for this panel; these show what it says about it."
BELOW = "Rows of norm 1, so β = 1/4, and λ below it: the published proof falls silent."
PRESETS = (
    preset("Much λ: both are close", Setting(10.0, 100.0, 1.0, 1.0), f"Figure 4a: large σ, large λ. {OURS}", 1.0),
    preset("Little λ costs one proof", LARGE_SMALL, f"Figure 4b: large σ, small λ. {OURS}", 2.0),
    preset("Little noise, much λ", Setting(1.0, 100.0, 1.0, 1.0), f"Figure 4c: small σ, large λ. {OURS}", 10.0),
    preset("Little noise drowns λ", Setting(1.0, 2.0, 1.0, 1.0), f"Figure 4d: small σ, small λ. {OURS}", 10.0),
    preset("One proof falls silent", SILENT, BELOW, 2.0),
)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="distance")
    left, panel = page.columns()
    with panel:
        sigma, lam, smoothness, lipschitz = MECHANISM
        noise, regularisation = sigma.show(), lam.show()
        profiles = SHOW.show() == PROFILE
        delta = READ_DELTA.show()
        with page.tools(CONTROLS, PRESETS, name="distance"):
            curvature, gradient = smoothness.show(), lipschitz.show()
            alpha, alpha_max = (control.show(disabled=profiles) for control in (READ_ALPHA, ALPHA_MAX))
            eps_max, ghosts = EPS_MAX.show(disabled=not profiles), GHOST.show()
    setting = Setting(noise, regularisation, curvature, gradient)
    before = c.previous("distance", setting)
    ghost = before if ghosts else None
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
        eps = {reading.name: reading.epsilon for reading in found}
        with left:
            page.answer(
                words.answer(eps["glm"], eps["logistic"], eps["lower"]),
                promise=sentences.promise(eps["logistic"], delta, sentences.TIGHT),
                why=why.moved(before, setting, delta),
            )
            page.show(picture, key="distance_chart")
        if style.embedded():
            return
        notes(setting, eps, delta)
        page.evidence(picture, numbers.table_rows(found, delta, alpha), name="distance")
        maps(setting, delta, ghost)
        page.reproduce(words.snippet(setting, delta=delta, alpha=alpha))


def notes(setting: Setting, eps: dict[str, float], delta: float) -> None:
    """What stands under the picture: what the published ε is made of, and where the tight proof is exact."""
    if silent := setting.silent("glm"):
        st.info(f"**{numbers.NAMES['glm']}.** {silent}", icon=":material/info:")
    told = [
        words.prices(setting, eps["glm"], eps["half"], eps["lower"]),
        words.boundary(setting.lam, numbers.optimal_lam(setting, delta)),
    ]
    if setting.smoothness != setting.logistic_smoothness:
        told.append(sentences.logistic_curve(setting.smoothness, setting.logistic_smoothness, setting.lipschitz))
    st.caption(" ".join(told))


def maps(setting: Setting, delta: float, ghost: Setting | None) -> None:
    st.header("The distance for every σ and λ", anchor=False)
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
    "No proof about objective perturbation can go below the Gaussian mechanism with the same noise. What it certifies "
    "above that is the price of what it does not know.",
)
explore()
page.predict(page.Prediction.of("distance", revealed), key="distance__try")
page.about("distance")
