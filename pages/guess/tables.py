"""The tables of the game, and what was said in the games of one session; it never leaves the session."""

from collections.abc import Mapping

import streamlit as st

from objpert_core.theory.minimiser_law import Estimate, coin_hits
from pages.guess import rounds
from pages.guess.game import Game, best, in_or_out, right
from pages.guess.rounds import BARE, DIGITS, ROUNDS, SMALL, Setting
from ui import sentences

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


def scoreboard(game: Game) -> list[dict[str, str]]:
    """You, the best attacker, a coin, and what the promise allows."""
    setting, number = game.setting, len(game.said)
    here = "The round you played" if number == 1 else f"The {number} rounds you played"
    long_run = "In the long run"
    estimate = rounds.by_digits(setting)[0] if setting.game == DIGITS and game.over else rounds.long_run(setting)
    by_epsilon, by_proof = rounds.allowed(setting.sigma, setting.lam)
    least, most = coin_hits(number)
    luck = _chance(rounds.counted_success(game.hits, number)) if game.over else "–"  # little: twenty rounds scatter
    table = [
        {"Who": "You", here: str(game.hits), long_run: luck},
        {"Who": "The best attacker", here: str(game.best), long_run: _chance(estimate)},
        {"Who": "A coin", here: f"{least} to {most} in 95 % of games", long_run: "50 %"},
    ]
    if not number:
        table = [{name: cell for name, cell in row.items() if name != here} for row in table]
    if setting.game == BARE:
        return table
    table.append({"Who": "Anybody, as ε and δ promise", long_run: _at_most(by_epsilon)})
    table.append({"Who": "Anybody, as the whole proof promises", long_run: _at_most(by_proof)})
    if setting.game == SMALL:
        _, really = rounds.allowed(setting.added, setting.lam)
        table.append({"Who": "Anybody, with the noise really added", long_run: _at_most(really)})
    if setting.game == DIGITS and game.over:
        counted = rounds.by_digits(setting)[1]
        name = f"The same attack on {ROUNDS} other rounds, with the package’s noise"
        table.append({"Who": name, here: f"{counted.value * counted.draws:g}", long_run: _chance(counted)})
    return table


def _at_most(chance: float) -> str:
    return f"at most {sentences.percent(chance, up=True)}"


def _chance(estimate: Estimate | None) -> str:
    """An estimate with its interval, an exact chance without."""
    if estimate is None:
        return "counted at the end"
    if estimate.low == estimate.high:
        return "100 %" if estimate.high == 1 else sentences.percent(estimate.value)
    ends = " to ".join(sentences.percent(end).removesuffix(" %") for end in (estimate.low, estimate.high))
    return f"{sentences.percent(estimate.value)} (95 %: {ends})"


def round_rows(game: Game) -> list[dict[str, str]]:
    """The rounds that were played, one row each."""
    rows = []
    for number, (played, said) in enumerate(zip(game.played, game.said, strict=True)):
        row = {
            "Round": str(number + 1),
            "The person was": in_or_out(played.inside),
            "You said": f"{in_or_out(said)}: {right(said == played.inside)}",
            "The best attacker": f"{best(played)}: {right(played.best == played.inside)}",
            "Published θ": ", ".join(sentences.fixed(value) for value in played.theta),
        }
        if game.setting.game == DIGITS:
            row["Draws that fit, with and without"] = ", ".join(game.draws(number))
        rows.append(row)
    return rows


def tries(finished: Mapping[Setting, Game]) -> list[dict[str, str]]:
    """One's own finished games, the best first."""
    return [
        {
            "Game": setting.game,
            "σ": "–" if setting.game == BARE else f"{setting.sigma:g}",
            "λ": f"{setting.lam:g}",
            "ε": sentences.epsilon(game.epsilon),
            "Where": setting.place,
            "Seed": str(setting.seed),
            "You": f"{game.hits} of {ROUNDS}",
            "The best attacker": f"{game.best} of {ROUNDS}",
        }
        for setting, game in sorted(finished.items(), key=lambda item: (item[1].best - item[1].hits, -item[1].hits))
    ]
