"""Attack a model: attack a published model, round by round, against a coin, the best attacker and what ε allows."""

from typing import Any

import streamlit as st

from pages.guess import linked, rounds
from pages.guess.game import Game, finished, games, note, round_rows, scoreboard, tries
from pages.guess.linked import EPSILON, LAM, SIGMA
from pages.guess.rounds import BARE, DIGITS, PRIVATE, ROUNDS, SMALL, Setting
from pages.guess.stage import revealed
from ui import page, parameters, style
from ui.controls import Choice, Control, Toggle, preset_buttons, presets, previous

SEED_TOLD = (
    "The rounds follow from the seed, the game and the sliders: everyone who opens the same link plays the same "
    "rounds. Anyone who runs this code can compute the answers; the address alone does not reveal them. Your guesses "
    "stay in this session."
)
GAMES = {
    PRIVATE: "Real fits of the package, with the noise that the promise needs, on a lattice (a grid of numbers).",
    BARE: "No noise at all: the attacker compares two minimisers.",
    SMALL: f"Somebody divided σ by the {rounds.COUNT} rows by mistake. The stated promise is still the sliders’ "
    "promise.",
    DIGITS: "Enough noise, but from a textbook sampler in floating point. The last digits give the person away.",
}
GAMES_TOLD = "\n".join(f"* {name}: {told}" for name, told in GAMES.items())

GAME = Choice("guess_game", "Attack a …", PRIVATE, rounds.GAMES, help=GAMES_TOLD)
PLACE = Choice("guess_place", "People stand in the …", rounds.PLANE, rounds.PLACES, horizontal=True)
PERSON = Choice("guess_person", "The person …", rounds.DISAGREES, tuple(rounds.LABEL))
SEED = parameters.seed("guess", "Seed of the rounds", help=SEED_TOLD)
SEES = (
    "Shows where a model is as likely with the person as without. With careless digits, shows how many draws lead "
    "to these digits."
)
BORDER = Toggle("guess_border", "Show what the best attacker sees", False, help=SEES)
CONTROLS: tuple[Control, ...] = (GAME, EPSILON, SIGMA, LAM, PLACE, PERSON, SEED, BORDER)
PRESETS = presets("guess", (GAME, *linked.LINKED, PLACE))


def guess(setting: Setting, number: int, inside: bool) -> None:
    note(games(), setting, number, inside)


def play_on(seed: int) -> None:
    st.session_state[SEED.key] = SEED.stored((seed + 1) % (SEED.high + 1))


def buttons(game: Game) -> None:
    """In or out, by a press or by a key; when all is said, on to the next game."""
    look: dict[str, Any] = {"type": "primary", "width": "stretch"}
    with st.container(horizontal=True, key="guess_say"):
        if game.over:
            onward = f"Next {ROUNDS} rounds"
            st.button(onward, key="guess_next", shortcut="N", on_click=play_on, args=(game.setting.seed,), **look)
            return
        for label, key, inside in (("In", "I", True), ("Out", "O", False)):
            said = (game.setting, len(game.said), inside)
            st.button(label, key=f"guess_{label.lower()}", shortcut=key, on_click=guess, args=said, **look)


@st.fragment
def explore() -> None:
    preset_buttons(PRESETS, prefix="guess")
    left, panel = page.columns()
    with panel:
        linked.follow()
        place = st.container()
        bare = GAME.show() == BARE
        EPSILON.show(disabled=bare)
        sigma, lam = SIGMA.show(disabled=bare), LAM.show()
        if sigma == linked.SIGMAS[-1]:
            st.caption(linked.no_more_noise())
        with page.tools(CONTROLS, PRESETS, name="guess"):
            shown_in, person, seed, border = PLACE.show(), PERSON.show(), SEED.show(), BORDER.show()
    setting = Setting(GAME.value(), 0.0 if bare else sigma, lam, shown_in, person, seed)
    game = Game(setting, tuple(games().get(setting, ())))
    with page.errors():
        moved = game.moved(previous("guess", setting))
        if border and setting.game == DIGITS and not game.over:
            moved = f"{moved} {game.digits()}".lstrip()
        with place:
            buttons(game)
        picture = page.Picture(game.chart(border), game.alt(), game.frame if game.said else None, game.svg_title())
        with left:
            page.answer(game.answer(), promise=game.promise(), why=moved)
            page.show(picture, key="guess_chart")
        if not style.embedded():
            below(game, picture)


def below(game: Game, picture: page.Picture) -> None:
    """The scores, the rounds that were played, one's own games."""
    board, mine = st.columns(2, gap="medium")
    with board:
        st.caption("The score")
        alt = "You, the best attacker, a coin, and the limit."
        page.table(scoreboard(game), alt=alt, name="guess_score")
    with mine:
        if ended := finished(game):
            st.caption("Your games in this session; games closest to the best attacker come first")
            page.table(tries(ended), alt="Your finished games.", name="guess_tries")
        else:
            st.caption(SEED_TOLD)
    told = "These lines print the best attacker’s chance of “in” after the round on the screen."
    page.evidence(picture, round_rows(game), name="guess", code=game.code(), note=told)


page.begin(
    "guess",
    "You know the method, the noise and everybody’s data. **Did the marked person take part?**",
)
explore()
page.predict(page.Prediction.of("guess", revealed), key="guess__try")
page.about("guess")
