"""What was said in the games of one session; it never leaves the session."""

from __future__ import annotations

import streamlit as st

from pages.guess.game import Game
from pages.guess.rounds import ROUNDS, Setting

MOST_GAMES = 60
Guesses = dict[Setting, list[bool]]


def games() -> Guesses:
    """The guesses of this session, game by game, the latest game last."""
    guesses: Guesses = st.session_state.setdefault("guess__games", {})
    return guesses


def note(guesses: Guesses, setting: Setting, number: int, inside: bool) -> None:
    """Note what was said in round `number`, counted from 0; a second press on the same picture counts for nothing."""
    said = guesses.pop(setting, [])
    if len(said) == number < ROUNDS:
        said = [*said, inside]
    guesses[setting] = said
    while len(guesses) > MOST_GAMES:
        del guesses[next(iter(guesses))]


def finished(game: Game) -> dict[Setting, Game]:
    """This session's finished games, `game` among them if it is one."""
    games_over: dict[Setting, Game] = st.session_state.setdefault("guess__tries", {})
    if game.over:
        games_over[game.setting] = game
    for setting in games_over.keys() - games().keys():
        del games_over[setting]
    return games_over
