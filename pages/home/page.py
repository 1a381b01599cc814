"""Home: objective perturbation in one picture, and the way to the other pages."""

from dataclasses import replace

import streamlit as st

from pages.home import picture as home_picture
from ui import page, registry, sentences, snippets
from ui.controls import (
    Choice,
    Number,
    Preset,
    SelectSlider,
    copy_link,
    log_values,
    powers_of_ten,
    preset_buttons,
    previous,
)

SIGMA = SelectSlider(
    "home_sigma", "Noise σ", 2.5, log_values(0.1, 100, extra=[2.5]), help="Standard deviation of the random tilt b."
)
LAM = SelectSlider(
    "home_lambda",
    "Regularisation λ",
    1.0,
    log_values(0.05, 50),
    help="Pulls θ towards 0; the objective contains λ/2 θ².",
)
PERSON = Choice("home_person", "The person …", "disagrees with the others", tuple(home_picture.PERSON))
DELTA = SelectSlider("home_delta", "Read ε at δ =", 1e-5, powers_of_ten(-12, -1))
DRAW = Number("home_draw", "Draw number", 1, low=1, high=home_picture.DRAWS)
CONTROLS = (SIGMA, LAM, PERSON, DELTA, DRAW)
PRESETS = (
    Preset("Little noise", {SIGMA: 0.5, LAM: 1.0}, "σ = 0.5, λ = 1: the two curves part."),
    Preset("Some noise", {SIGMA: 2.5, LAM: 1.0}, "σ = 2.5, λ = 1"),
    Preset("Much noise", {SIGMA: 10.0, LAM: 1.0}, "σ = 10, λ = 1: hard to tell apart, and θ says little."),
)


def next_draw() -> None:
    st.session_state[DRAW.key] = DRAW.stored(DRAW.value() % home_picture.DRAWS + 1)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="home")
    picture, panel = st.columns([2.6, 1], gap="medium")
    with panel:
        st.button("Draw another b", key="home_another", icon=":material/casino:", on_click=next_draw, type="primary")
        sigma, lam, person, delta, draw = (control.show() for control in CONTROLS)
        copy_link(CONTROLS)
    with page.errors():
        scene = home_picture.Scene(sigma, lam, person, draw)
        told = home_picture.story(scene, delta)
        before = previous("home", replace(scene, draw=1))
        with picture:
            page.answer(
                sentences.home_answer(told.guess),
                f"Proved for every person and all data: {sentences.guarantee(told.epsilon, delta, sentences.TIGHT)} "
                f"{sentences.odds_sentence(told.epsilon, 'θ')} {sentences.except_with(delta)}",
            )
            chart = home_picture.release(scene, before)
            page.chart(chart, key="home_chart", alt=sentences.home_alt(person, told.epsilon), filename="release")
            st.caption(
                "Play shows one draw of b after another; each dot under the densities is one release. The draws are an "
                "illustration and the same for everybody; a real fit takes b from the operating system."
            )
        with panel:
            page.chart(
                home_picture.privacy_loss(scene, told.epsilon),
                key="home_loss",
                alt=sentences.loss_alt(told.epsilon),
                filename="privacy-loss",
            )
            st.caption(sentences.pair(told.epsilon, told.delta, told.exact_delta))
        page.table(home_picture.table_rows(scene), alt="The released θ without and with the person.")
        page.downloads(
            lambda: home_picture.frame(scene),
            chart,
            filename="home",
            title=f"Objective perturbation in one dimension, σ = {sigma:g}, λ = {lam:g}",
        )
        page.reproduce(
            snippets.one_dimension(
                sigma=sigma,
                lam=lam,
                features=list(home_picture.FEATURES),
                labels=list(home_picture.LABELS),
                person=home_picture.PERSON[person],
                radius=home_picture.RADIUS,
                delta=delta,
            )
        )


TRY_OPTIONS = (
    "They part: the person becomes easier to spot.",
    "Nothing happens: ε depends on σ alone.",
    "They move together: the person becomes harder to spot.",
)


@st.fragment
def predict() -> None:
    with st.expander("Try it: what does less regularisation do?", icon=":material/psychology:"):
        if not page.try_it(
            "Keep σ = 2.5 and lower λ from 1 to 0.1. What happens to the two densities?",
            TRY_OPTIONS,
            TRY_OPTIONS[0],
            key="home__try",
        ):
            return
        person = PERSON.default
        scenes = [home_picture.Scene(2.5, lam, person, 1) for lam in (1.0, 0.1)]
        view = float(scenes[0].grid()[0]), float(scenes[1].grid()[-1])
        for scene, column in zip(scenes, st.columns(2), strict=True):
            told = home_picture.story(scene, 1e-5)
            with column:
                st.markdown(
                    f"**λ = {scene.lam:g}.** {sentences.home_answer(told.guess)} "
                    f"{sentences.guarantee(told.epsilon, 1e-5, sentences.TIGHT)}"
                )
                page.chart(
                    home_picture.densities(scene, view),
                    key=f"home_try_{scene.lam:g}",
                    alt=sentences.home_alt(person, told.epsilon),
                    filename="try-it",
                )


page.begin(
    "home",
    "Training finds the lowest point of a curve. Objective perturbation tilts the curve at random before it looks, so "
    "that the lowest point it publishes could as well have come from the data without you.",
)
explore()
predict()
page.about("home")
st.subheader("Where to go from here", anchor=False)
st.html("<style>[data-testid=stPageLink] :is([data-testid=stMarkdownContainer], p) { white-space: normal; }</style>")
for other in registry.PAGES[1:]:
    page.see_also(other.name)
