"""Guess who: attack a published model, round by round, against a coin, the best attacker and what ε allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.guess import charts, linked, people, progress, rounds, snippets, words
from pages.guess.linked import EPSILON, LAM, SIGMA
from pages.guess.rounds import BARE, DIGITS, PRIVATE, ROUNDS, SMALL, Round, Setting
from ui import controls as c
from ui import page, parameters, style, why

GAME = c.Choice("guess_game", "Attack a …", PRIVATE, rounds.GAMES, help=words.GAMES_TOLD)
PLACE = c.Choice("guess_place", "People stand in the …", people.PLANE, people.PLACES, horizontal=True)
PERSON = c.Choice("guess_person", "The person …", people.DISAGREES, tuple(people.LABEL))
SEED = parameters.seed("guess", "Seed of the rounds", help=words.SEED_TOLD)
SEES = "A line where the two laws are equally likely; with careless digits, how many draws lead to them."
BORDER = c.Toggle("guess_border", "Show what the best attacker sees", False, help=SEES)
CONTROLS: tuple[c.Control, ...] = (GAME, EPSILON, SIGMA, LAM, PLACE, PERSON, SEED, BORDER)


def preset(name: str, hint: str, game: str, *linked_values: float, place: str = people.PLANE) -> c.Preset:
    """`linked_values` are those of ε, σ and λ."""
    sliders = dict[c.Control, Any](zip(linked.LINKED, linked_values, strict=True))
    return c.Preset(name, {GAME: game, **sliders, PLACE: place}, hint)


PRESETS = (
    preset("ε = 1: toss a coin", "The best attacker is hardly better than a coin.", PRIVATE, 1.0, 3.8, 2.0),
    preset("ε = 8: look closely", "Little noise: the best attacker is right in seven of ten.", PRIVATE, 8.0, 0.61, 2.0),
    preset("No privacy: certain", "Two minimisers, nothing between them.", BARE, 1.0, 3.8, 2.0),
    preset("A wrong promise", "The promise of ε = 1, a twelfth of its noise.", SMALL, 1.0, 3.8, 2.0),
    preset("The last digits tell", "Noise for ε = 0.3, from a textbook sampler.", DIGITS, 0.3, 12.0, 10.0),
    preset("On a line", "One number a person: all laws can be drawn.", PRIVATE, 1.0, 3.8, 2.0, place=people.LINE),
)


def guess(setting: Setting, number: int, inside: bool) -> None:
    progress.note(progress.games(), setting, number, inside)


def play_on(seed: int) -> None:
    st.session_state[SEED.key] = SEED.stored((seed + 1) % (SEED.high + 1))


def buttons(setting: Setting, number: int) -> None:
    """In or out, by a press or by a key; when all is said, on to the next game."""
    look: dict[str, Any] = {"type": "primary", "width": "stretch"}
    with st.container(horizontal=True, key="guess_say"):
        if number == ROUNDS:
            onward = f"Next {ROUNDS} rounds"
            st.button(onward, key="guess_next", shortcut="N", on_click=play_on, args=(setting.seed,), **look)
            return
        for label, key, inside in (("In", "I", True), ("Out", "O", False)):
            said = (setting, number, inside)
            st.button(label, key=f"guess_{label.lower()}", shortcut=key, on_click=guess, args=said, **look)


def numbers(found: Sequence[Round], said: Sequence[bool]) -> pd.DataFrame:
    """The rounds that were played, and no other."""
    return pd.DataFrame(
        [
            {"round": k, "inside": one.inside, "said_inside": mine, "posterior": one.posterior}
            | {f"theta_{i}": value for i, value in enumerate(one.theta, 1)}
            for k, (one, mine) in enumerate(zip(found, said, strict=True), 1)
        ]
    )


@st.fragment
def explore() -> None:
    c.preset_buttons(PRESETS, prefix="guess")
    left, panel = page.columns()
    with panel:
        linked.follow()
        place = st.container()
        game = GAME.show()
        EPSILON.show(disabled=game == BARE)
        sigma, lam = SIGMA.show(disabled=game == BARE), LAM.show()
        if sigma == linked.SIGMAS[-1]:
            st.caption(words.no_more_noise(lam, sigma))
        with page.tools(CONTROLS, PRESETS, name="guess"):
            shown_in, person, seed, border = PLACE.show(), PERSON.show(), SEED.show(), BORDER.show()
    setting = Setting(game, 0.0 if game == BARE else sigma, lam, shown_in, person, seed)
    said = progress.games().get(setting, [])
    with page.errors():
        found = [rounds.round_of(setting, k) for k in range(len(said))]
        score, eps = words.Score.of(found, said), rounds.epsilon(setting.sigma, lam)
        now = found[-1] if score.over else rounds.round_of(setting, len(said))
        before = c.previous("guess", setting)
        with place:
            buttons(setting, len(said))
        if said:
            moved = words.told(found[-1], said[-1])
        elif before and before.sigma and setting.sigma:
            moved = why.moved(before.as_proved(before.sigma), setting.as_proved(sigma), rounds.DELTA)
        else:
            moved = ""
        if border and game == DIGITS and not score.over:
            moved = f"{moved} {words.digits(setting, len(said))}".lstrip()
        picture = page.Picture(
            charts.stage(setting, now, found, border=border or score.over),
            words.alt(setting, now, len(said) + 1, score.over),
            (lambda: numbers(found, said)) if said else None,
            f"Guess who: {game}, σ = {setting.sigma:g}, λ = {lam:g}",
        )
        with left:
            page.answer(words.answer(score, eps), promise=words.promise(setting, eps), why=moved)
            page.show(picture, key="guess_chart")
        if style.embedded():
            return
        below(setting, score, picture, found, said, now)


def below(
    setting: Setting, score: words.Score, picture: page.Picture, found: list[Round], said: list[bool], now: Round
) -> None:
    """The scores, the rounds that were played, one's own games."""
    board, mine = st.columns(2, gap="medium")
    with board:
        st.caption("The score")
        alt = "You, the best attacker, a coin, and what is allowed."
        page.table(words.scoreboard(setting, score), alt=alt, name="guess_score")
    finished = progress.tries()
    if score.over and setting in progress.games():
        finished[setting] = score
    for one in finished.keys() - progress.games().keys():
        del finished[one]
    with mine:
        if finished:
            st.caption("Your games in this session, nearest to the best attacker first")
            page.table(words.tries(finished), alt="Your finished games.", name="guess_tries")
        else:
            st.caption(words.SEED_TOLD)
    page.evidence(
        picture,
        words.round_rows(setting, found, said),
        name="guess",
        code=snippets.posterior(setting, now),
        note="These lines print the chance of “in” after the round on the screen, as the best attacker has it.",
    )


def revealed() -> None:
    picture = page.Picture(charts.success(), words.success_alt())
    page.show(picture, key="guess_try_chart")


page.begin(
    "guess",
    "Somebody published a model. You know its method, its noise level and everybody’s data, but not whether the "
    "marked person took part: a coin decided. **Look at θ and guess.** Keys: I and O.",
)
explore()
page.predict(page.Prediction.of("guess", revealed), key="guess__try")
page.about("guess")
