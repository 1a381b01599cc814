"""Home: what ε is, objective perturbation in one picture, and the way to the other pages."""

from dataclasses import replace

import streamlit as st

from pages.home import cards, gauge, words
from pages.home import picture as drawn
from ui import bounds as proofs
from ui import controls as c
from ui import page, parameters, sentences, style, why

SIGMA = parameters.sigma("home", 2.5, 0.1, 100, extra=[2.5], help="Standard deviation of the random tilt b.")
LAM = parameters.lam("home", 1.0, 0.05, 50, help="Pulls θ towards 0; the objective contains λ/2 θ².")
PERSON = c.Choice("home_person", "The person …", "disagrees with the others", tuple(drawn.PERSON))
DELTA = parameters.read_delta("home")
DRAW = parameters.draws("home", 1, drawn.DRAWS, label="Draw number", name="draw")
HELD = "At first the axes stay while σ and λ move, so that more noise looks wider."
FIT = c.Toggle("home_fit", "Fit axes", False, help=HELD)
CONTROLS: tuple[c.Control, ...] = (SIGMA, LAM, PERSON, DELTA, DRAW, FIT)
PRESETS = (
    c.Preset("Too little noise", {SIGMA: 0.5, LAM: 1.0}, "σ = 0.5, λ = 1: the two curves part."),
    c.Preset("Some noise", {SIGMA: 2.5, LAM: 1.0}, "σ = 2.5, λ = 1: the two curves overlap."),
    c.Preset("Too much noise", {SIGMA: 10.0, LAM: 1.0}, "σ = 10, λ = 1: hard to tell apart, and θ says little."),
    c.Preset("Too little λ", {SIGMA: 2.5, LAM: 0.1}, "σ = 2.5, λ = 0.1: one person’s curvature shows, too."),
)

# Somebody who asked for less motion is not offered any; "Draw another b" shows one still picture after another.
STYLE = "@media (prefers-reduced-motion: reduce) { .js-plotly-plot .menulayer { display: none; } }"


def next_draw() -> None:
    st.session_state[DRAW.key] = DRAW.stored(DRAW.value() % drawn.DRAWS + 1)


def as_setting(scene: drawn.Scene) -> proofs.Setting:
    """The scene's mechanism, as `why` compares it."""
    mechanism = scene.mechanism
    return proofs.Setting(scene.sigma, scene.lam, mechanism.smoothness, mechanism.lipschitz)


@st.fragment
def explore() -> None:
    shift = st.container()
    c.preset_buttons(PRESETS, prefix="home")
    left, panel = page.columns()
    with panel:
        sigma, lam = SIGMA.show(), LAM.show()
        st.button("Draw another b", key="home_another", icon=":material/casino:", on_click=next_draw)
        person = PERSON.show()
        with page.tools(CONTROLS, PRESETS, name="home"):
            delta, draw, fit = DELTA.show(), DRAW.show(), FIT.show()
    with page.errors():
        scene = drawn.Scene(sigma, lam, person, draw)
        told = drawn.story(scene, delta)
        before = c.previous("home", replace(scene, draw=1))
        moved = why.moved(as_setting(before) if before else None, as_setting(scene), delta)
        then = c.previous("home_read", (as_setting(scene), delta))
        if then and then[0] == as_setting(scene):
            moved = why.reread(then[0], then[1], delta)
        picture = page.Picture(
            drawn.release(scene, before, fit=fit),
            words.alt(person, told.epsilon),
            lambda: drawn.frame(scene),
            f"Objective perturbation in one dimension, σ = {sigma:g}, λ = {lam:g}",
        )
        shift.html(gauge.gauge(told.guess, told.epsilon, delta))
        with left:
            page.answer(
                words.answer(told.guess, told.epsilon),
                promise=sentences.promise(told.epsilon, delta, sentences.TIGHT),
                why=moved,
            )
            page.show(picture, key="home_chart")
        if style.embedded():
            return
        st.caption(words.playing(draw))
        table, loss = st.columns(2, gap="medium")
        with table:
            rows = drawn.table_rows(scene)
            page.table(rows, alt="The released θ without and with the person.")
        with loss:
            st.caption(words.pair(told.exact_delta))
            shown = page.Picture(drawn.privacy_loss(scene, told.epsilon), words.loss_alt(told.epsilon, told.tail))
            page.show(shown, key="home_loss")
        note = "The screen shows this ε rounded up."
        page.evidence(picture, shown=rows, name="home", code=words.snippet(scene, delta), note=note)


def compare(scenes: list[drawn.Scene], view: tuple[float, float], key: str) -> None:
    """Two settings beside each other, on the same axis."""
    for scene, column in zip(scenes, st.columns(2), strict=True):
        told = drawn.story(scene, 1e-5)
        with column:
            st.markdown(f"**σ = {scene.sigma:g}, λ = {scene.lam:g}.** {words.answer(told.guess, told.epsilon)}")
            densities = page.Picture(drawn.densities(scene, view), words.alt(scene.person, told.epsilon))
            page.show(densities, key=f"{key}_{scene.sigma:g}_{scene.lam:g}")


def less_noise() -> None:
    compare([drawn.Scene(sigma, 1.0, PERSON.default, 1) for sigma in (2.5, 0.5)], (-1.5, 4.0), "home_try_sigma")


def less_regularisation() -> None:
    compare([drawn.Scene(2.5, lam, PERSON.default, 1) for lam in (1.0, 0.1)], (-4.0, 14.0), "home_try_lambda")


page.begin(
    "home",
    "**ε limits how far any release can shift the odds that you took part: at most by the factor $e^{\\varepsilon}$.** "
    "Objective perturbation keeps that promise: it tilts the training curve at random.",
)
st.html(f"<style>{STYLE}{gauge.STYLE}{cards.STYLE}</style>")
explore()
page.predict(page.Prediction.of("home", less_noise), key="home__try")
page.predict(page.Prediction(**words.SECOND_QUESTION, draw=less_regularisation), key="home__try_lambda")
page.about("home")
cards.show()
