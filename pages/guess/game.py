"""The game as it stands: the picture, the sentences, the verdict, what was played and guessed in this session."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st
from plotly.graph_objects import Figure

from objpert_core.theory.minimiser_law import Estimate, coin_hits
from pages.guess import rounds
from pages.guess.rounds import BARE, DELTA, DIGITS, PRIVATE, ROUNDS, SMALL, Round, Setting
from pages.guess.stage import stage
from ui import sentences, snippets, why

SNIPPETS = {BARE: "bare", DIGITS: "digits"}  # of the other games, a cell for each place


@dataclass(frozen=True)
class Game:
    """The rounds of one setting, and what was said in each: whether the person was in."""

    setting: Setting
    said: tuple[bool, ...] = ()

    @cached_property
    def played(self) -> list[Round]:
        """The rounds whose truth is known."""
        return [rounds.round_of(self.setting, number) for number in range(len(self.said))]

    @property
    def over(self) -> bool:
        """Whether all rounds are played."""
        return len(self.said) >= ROUNDS

    @property
    def now(self) -> Round:
        """The round on the screen: the one to guess, or the last."""
        return self.played[-1] if self.over else rounds.round_of(self.setting, len(self.said))

    @property
    def hits(self) -> int:
        """How many guesses are right."""
        return sum(played.inside == said for played, said in zip(self.played, self.said, strict=True))

    @property
    def best(self) -> int:
        """How often the best attacker is right on the same rounds."""
        return sum(played.best == played.inside for played in self.played)

    @property
    def epsilon(self) -> float:
        """What the sliders promise; inf where there is no noise."""
        return rounds.epsilon(self.setting.sigma, self.setting.lam)

    def answer(self) -> str:
        """The score so far and what is asked; in the end, the score beside what ε allows."""
        number, eps = len(self.said), self.epsilon
        if not number:
            return f"Round 1 of {ROUNDS}: was the marked person in the data?"
        if not self.over:
            return f"Round {number + 1} of {ROUNDS}: you {self.hits} of {number}, the best attacker {self.best}."
        limit = "nothing limits the attacker" if math.isinf(eps) else f"ε = {sentences.epsilon(eps)} allows {most(eps)}"
        return f"You: {self.hits} of {ROUNDS}, the best attacker {self.best}; {limit}."

    def promise(self) -> str:
        """What the game's model promises, and what is wrong with the promise."""
        setting, eps = self.setting, self.epsilon
        if setting.game == PRIVATE:
            return sentences.promise(eps, DELTA, sentences.TIGHT)
        if setting.game == BARE:
            return f"Without noise there is no finite ε; {sentences.ADJACENCY}."
        promised = f"Promised: ε = {sentences.epsilon(eps)}, with slack δ = {sentences.delta(DELTA)}"
        if setting.game == SMALL:
            real = sentences.epsilon(rounds.epsilon(setting.added, setting.lam))
            return f"{promised}; but the noise is {rounds.COUNT} times too small and proves only ε = {real}."
        return f"{promised}; but the proof is about real numbers, and this computer has only finitely many."

    def verdict(self) -> str:
        """What the last round was, and what the best attacker would have said."""
        last = self.played[-1]
        verdict = right(self.said[-1] == last.inside).capitalize()
        return f"{verdict}: the person was {in_or_out(last.inside)}. The best attacker would have said: {best(last)}."

    def moved(self, before: Setting | None) -> str:
        """The verdict on the last round; before the first, why ε moved."""
        if self.said:
            return self.verdict()
        if before and before.sigma and self.setting.sigma:
            return why.moved(before.proved, self.setting.proved, DELTA)
        return ""

    def digits(self) -> str:
        """What the attacker finds in the digits of the round to guess."""
        joined, left = self.draws(len(self.said))
        return f"Draws of the sampler that lead to exactly these digits: {joined} with the person, {left} without."

    def draws(self, number: int) -> list[str]:
        """How many draws lead to the digits of a round, with the person and without."""
        counts = rounds.fitting_draws(self.setting, number)
        return ["too many to count" if count is None else str(count) for count in counts]

    def frame(self) -> pd.DataFrame:
        """The rounds that were played, and no other."""
        return pd.DataFrame(
            [
                {"round": number, "inside": played.inside, "said_inside": said, "posterior": played.posterior}
                | {f"theta_{i}": value for i, value in enumerate(played.theta, 1)}
                for number, (played, said) in enumerate(zip(self.played, self.said, strict=True), 1)
            ]
        )

    def chart(self, border: bool) -> Figure:
        """The round on the screen; `border` shows what the best attacker sees."""
        return stage(self.setting, self.now, self.played, border=border or self.over)

    def alt(self) -> str:
        at = ", ".join(sentences.number(value) for value in self.now.theta)
        seen = "the last published model" if self.over else f"the model published in round {len(self.said) + 1}"
        if self.setting.place == rounds.PLANE:
            known = "Left, twelve known people, the marked person and the line of"
            laws = "the regions that hold half of all releases"
        else:
            known = "Left, twelve known people on a line, the marked person and the curve of"
            laws = "the densities of all releases"
        if self.setting.game == BARE:
            laws = "the two minimisers"
        return f"{known} {seen}. Right, θ = ({at}) beside {laws} without and with the person."

    def svg_title(self) -> str:
        return f"Attack a model: {self.setting.game}, σ = {self.setting.sigma:g}, λ = {self.setting.lam:g}"

    def code(self) -> str:
        """Defines ``posterior``, the chance of "in" after this round; and ``success``, where a law gives it."""
        setting = self.setting
        blanks: dict[str, Any] = {
            "rows": rounds.rows(setting.place),
            "labels": list(rounds.LABELS),
            "sigma": setting.left.sigma,
            "lam": setting.lam,
            "row": list(rounds.ROW[setting.place]),
            "label": rounds.LABEL[setting.person],
            "theta": list(self.now.theta),
        }
        return snippets.filled("guess", SNIPPETS.get(setting.game, setting.place), blanks)


def most(eps: float) -> str:
    """How many of the rounds anybody gets right at most in the long run, rounded up."""
    chance = rounds.success_allowed(eps, DELTA)
    return f"{math.ceil(10 * ROUNDS * chance - 1e-9) / 10:g} on average"


def best(played: Round) -> str:
    """What the best attacker says, and how sure: 'in, at 71.2 %'."""
    chance = max(played.posterior, 1 - played.posterior)
    return f"{in_or_out(played.best)}, {'certainly' if chance == 1 else sentences.percent(chance) + ' sure'}"


def in_or_out(inside: bool) -> str:
    """In words."""
    return "in" if inside else "out"


def right(guessed: bool) -> str:
    """In words."""
    return "right" if guessed else "wrong"


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
