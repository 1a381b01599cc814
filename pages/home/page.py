"""Home: objective perturbation in one picture, and the way to the other pages."""

import base64
from dataclasses import replace

import streamlit as st

from pages.home import picture as drawn
from pages.home import words
from ui import controls as c
from ui import page, parameters, registry, sentences

SIGMA = parameters.sigma("home", 2.5, 0.1, 100, extra=[2.5], help="Standard deviation of the random tilt b.")
LAM = parameters.lam("home", 1.0, 0.05, 50, help="Pulls θ towards 0; the objective contains λ/2 θ².")
PERSON = c.Choice("home_person", "The person …", "disagrees with the others", tuple(drawn.PERSON))
DELTA = parameters.read_delta("home")
DRAW = parameters.draws("home", 1, drawn.DRAWS, label="Draw number", name="draw")
CONTROLS: tuple[c.Control, ...] = (SIGMA, LAM, PERSON, DELTA, DRAW)
PRESETS = (
    c.Preset("Little noise", {SIGMA: 0.5, LAM: 1.0}, "σ = 0.5, λ = 1: the two curves part."),
    c.Preset("Some noise", {SIGMA: 2.5, LAM: 1.0}, "σ = 2.5, λ = 1"),
    c.Preset("Much noise", {SIGMA: 10.0, LAM: 1.0}, "σ = 10, λ = 1: hard to tell apart, and θ says little."),
)
CARDS_A_ROW = 3


def next_draw() -> None:
    st.session_state[DRAW.key] = DRAW.stored(DRAW.value() % drawn.DRAWS + 1)


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="home")
    left, panel = page.columns()
    with panel:
        st.button("Draw another b", key="home_another", icon=":material/casino:", on_click=next_draw, type="primary")
        sigma, lam, person, delta, draw = (control.show() for control in CONTROLS)
        c.copy_link(CONTROLS)
    with page.errors():
        scene = drawn.Scene(sigma, lam, person, draw)
        told = drawn.story(scene, delta)
        before = c.previous("home", replace(scene, draw=1))
        picture = page.Picture(
            drawn.release(scene, before),
            words.alt(person, told.epsilon),
            lambda: drawn.frame(scene),
            f"Objective perturbation in one dimension, σ = {sigma:g}, λ = {lam:g}",
        )
        with left:
            page.answer(
                words.answer(told.guess),
                f"Proved for every person and all data: {sentences.guarantee(told.epsilon, delta, sentences.TIGHT)} "
                f"{sentences.exactly_gaussian(scene.mechanism.gaussian_from)} "
                f"{sentences.bet(told.epsilon, delta, 'θ', tail=told.tail)}",
            )
            page.show(picture, key="home_chart")
            st.caption(
                "Play shows one draw of b after another; each dot under the densities is one release. The draws are an "
                "illustration and the same for everybody; a real fit takes b from the operating system."
            )
        with panel:
            loss = page.Picture(drawn.privacy_loss(scene, told.epsilon), words.loss_alt(told.epsilon, told.tail))
            page.show(loss, key="home_loss")
            st.caption(words.pair(told.epsilon, told.delta, told.exact_delta, told.tail))
        page.table(drawn.table_rows(scene), alt="The released θ without and with the person.")
        page.evidence(picture, name="home", code=words.snippet(scene, delta))


def revealed() -> None:
    person = PERSON.default
    scenes = [drawn.Scene(2.5, lam, person, 1) for lam in (1.0, 0.1)]
    view = float(scenes[0].grid()[0]), float(scenes[1].grid()[-1])
    for scene, column in zip(scenes, st.columns(2), strict=True):
        told = drawn.story(scene, 1e-5)
        with column:
            st.markdown(
                f"**λ = {scene.lam:g}.** {words.answer(told.guess)} "
                f"{sentences.guarantee(told.epsilon, 1e-5, sentences.TIGHT)}"
            )
            densities = page.Picture(drawn.densities(scene, view), words.alt(person, told.epsilon))
            page.show(densities, key=f"home_try_{scene.lam:g}")


def cards() -> None:
    """A card for every other page: its picture, where there is one, and the link to it."""
    # The link's own area covers the whole card.
    st.html(
        "<style>[data-testid=stPageLink] :is([data-testid=stMarkdownContainer], p) { white-space: normal; } "
        "[class*=st-key-home_card_] { position: relative; } "
        "[class*=st-key-home_card_] :is(div, a) { position: static; } "
        "[class*=st-key-home_card_] [data-testid=stPageLink] a::after "
        "{ content: ''; position: absolute; inset: 0; z-index: 1; }</style>"
    )
    others = registry.PAGES[1:]
    for start in range(0, len(others), CARDS_A_ROW):
        for other, column in zip(others[start : start + CARDS_A_ROW], st.columns(CARDS_A_ROW), strict=False):
            with column, st.container(border=True, height="stretch", key=f"home_card_{other.name}"):
                if other.thumbnail.exists():
                    drawing = base64.b64encode(other.thumbnail.read_bytes()).decode()
                    st.html(f'<img src="data:image/svg+xml;base64,{drawing}" alt="" style="width: 100%; height: auto">')
                page.see_also(other.name)


page.begin(
    "home",
    "Training finds the lowest point of a curve. Objective perturbation tilts the curve at random before it looks, so "
    "that the lowest point it publishes could as well have come from the data without you.",
)
explore()
page.predict(page.Prediction.of("home", revealed), key="home__try")
page.about("home")
st.subheader("Where to go from here", anchor=False)
cards()
