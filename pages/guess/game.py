"""A game of twenty rounds as far as it is played: its picture, and what is said of it."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from plotly.graph_objects import Figure

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
        """The picture in words."""
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
        """What the picture's file is called inside."""
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
