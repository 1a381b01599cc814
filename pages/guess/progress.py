"""What was said in the games of one session; it never leaves the session."""

from __future__ import annotations

import streamlit as st

from pages.guess.rounds import ROUNDS, Setting
from pages.guess.words import Score

MOST_GAMES = 60
Games = dict[Setting, list[bool]]


def games() -> Games:
    """The guesses of this session, game by game, the latest game last."""
    kept: Games = st.session_state.setdefault("guess__games", {})
    return kept


def note(kept: Games, setting: Setting, number: int, inside: bool) -> None:
    """Note what was said in round `number`, counted from 0; a second press on the same picture counts for nothing."""
    said = kept.pop(setting, [])
    if len(said) == number < ROUNDS:
        said = [*said, inside]
    kept[setting] = said
    while len(kept) > MOST_GAMES:
        del kept[next(iter(kept))]


def tries() -> dict[Setting, Score]:
    """The scores of this session's finished games."""
    kept: dict[Setting, Score] = st.session_state.setdefault("guess__tries", {})
    return kept
