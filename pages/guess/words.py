"""The words of the game: pure functions from rounds to sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from objpert_core.theory.minimiser_law import Estimate, coin_hits
from pages.guess import people, rounds
from pages.guess.rounds import BARE, DIGITS, PRIVATE, ROUNDS, SMALL, Round, Setting
from ui import sentences

SEED_TOLD = (
    "The rounds follow from the seed, the game and the sliders: a class with one link plays the same ones. Who runs "
    "the page’s code can compute them beforehand; the address alone does not tell them. Guesses stay in this session."
)
_GAMES: Mapping[str, str] = {
    PRIVATE: "Real fits of the package: their noise is what the promise needs, on a lattice.",
    BARE: "No noise at all: the attacker compares two minimisers.",
    SMALL: f"Somebody divided σ by the {people.COUNT} rows once too often. The promise is still what the sliders say.",
    DIGITS: "Enough noise, but from a textbook sampler in floating point: the last digits tell.",
}
GAMES_TOLD = "\n".join(f"* {name}: {told}" for name, told in _GAMES.items())


@dataclass(frozen=True)
class Score:
    """Guesses so far: how many there are, how many are right, and the best attacker's on the same rounds."""

    played: int
    hits: int
    best: int

    @classmethod
    def of(cls, found: Sequence[Round], guesses: Sequence[bool]) -> Score:
        """Of the rounds that were played and what was said in each."""
        pairs = list(zip(found, guesses, strict=True))
        hits = sum(one.inside == said for one, said in pairs)
        return cls(len(pairs), hits, sum(one.best == one.inside for one, _ in pairs))

    @property
    def over(self) -> bool:
        """Whether all rounds are played."""
        return self.played >= ROUNDS


def answer(score: Score, eps: float) -> str:
    """The score so far and what is asked; in the end, the score beside what ε allows."""
    if not score.played:
        return f"Round 1 of {ROUNDS}: was the marked person in the data?"
    if not score.over:
        told = f"you {score.hits} of {score.played}, the best attacker {score.best}"
        return f"Round {score.played + 1} of {ROUNDS}: {told}."
    limit = "nothing limits this" if math.isinf(eps) else f"ε = {sentences.epsilon(eps)} allows {_most(eps)}"
    return f"You: {score.hits} of {ROUNDS}, the best attacker {score.best}; {limit}."


def _most(eps: float) -> str:
    """How many of the rounds anybody gets right at most in the long run, rounded up."""
    chance = rounds.success_allowed(eps, rounds.DELTA)
    return f"{math.ceil(10 * ROUNDS * chance - 1e-9) / 10:g} on average"


def told(last: Round, said: bool) -> str:
    """What the last round was, and what the best attacker would have said."""
    verdict = _right(said == last.inside).capitalize()
    return f"{verdict}: the person was {_in(last.inside)}. The best attacker would have said: {best(last)}."


def best(one: Round) -> str:
    """What the best attacker says, and how sure: 'in, at 71.2 %'."""
    chance = max(one.posterior, 1 - one.posterior)
    return f"{_in(one.best)}, {'certainly' if chance == 1 else 'at ' + sentences.percent(chance)}"


def _in(inside: bool) -> str:
    return "in" if inside else "out"


def _right(guessed: bool) -> str:
    return "right" if guessed else "wrong"


def promise(setting: Setting, eps: float) -> str:
    """What the game's model promises, and what is wrong with the promise."""
    if setting.game == PRIVATE:
        return sentences.promise(eps, rounds.DELTA, sentences.TIGHT)
    if setting.game == BARE:
        return f"No noise, so no finite ε; {sentences.ADJACENCY}."
    promised = f"Promised: ε = {sentences.epsilon(eps)}, with slack δ = {sentences.delta(rounds.DELTA)}"
    if setting.game == SMALL:
        real = sentences.epsilon(rounds.epsilon(setting.added, setting.lam))
        return f"{promised}; but the noise is {people.COUNT} times too small, and proves ε = {real} only."
    return f"{promised}; but the proof is about normal numbers, and floating point has others."


def scoreboard(setting: Setting, score: Score) -> list[dict[str, str]]:
    """You, the best attacker, a coin, and what the promise allows."""
    here = "Of the round played" if score.played == 1 else f"Of the {score.played} rounds played"
    long_run = "In the long run"
    found = rounds.by_digits(setting)[0] if setting.game == DIGITS and score.over else rounds.long_run(setting)
    by_epsilon, by_proof = rounds.allowed(0.0 if setting.game == BARE else setting.sigma, setting.lam)
    least, most = coin_hits(score.played)
    table = [
        {"Who": "You", here: str(score.hits), long_run: _chance(luck(score)) if score.over else "–"},
        {"Who": "The best attacker", here: str(score.best), long_run: _chance(found)},
        {"Who": "A coin", here: f"{least} to {most} in 95 % of games", long_run: "50 %"},
    ]
    if not score.played:
        table = [{name: cell for name, cell in row.items() if name != here} for row in table]
    if setting.game == BARE:
        return table
    table.append({"Who": "Anybody, as ε and δ promise", long_run: _at_most(by_epsilon)})
    table.append({"Who": "Anybody, as the whole proof promises", long_run: _at_most(by_proof)})
    if setting.game == SMALL:
        _, really = rounds.allowed(setting.added, setting.lam)
        table.append({"Who": "Anybody, by the noise really added", long_run: _at_most(really)})
    if setting.game == DIGITS and score.over:
        counted = rounds.by_digits(setting)[1]
        name = f"The same attack on {ROUNDS} other rounds, with the package’s noise"
        table.append({"Who": name, here: f"{counted.value * counted.draws:g}", long_run: _chance(counted)})
    return table


def luck(score: Score) -> Estimate:
    """What a finished game says of how often its player is right: little, as twenty rounds scatter."""
    return rounds.counted_success(score.hits, score.played)


def _at_most(chance: float) -> str:
    return f"at most {sentences.percent(chance, up=True)}"


def _chance(found: Estimate | None) -> str:
    """An estimate with its interval, an exact chance without."""
    if found is None:
        return "counted in the end"
    if found.low == found.high == 1:
        return "100 %"
    if found.low == found.high:
        return sentences.percent(found.value)
    ends = " to ".join(sentences.percent(end).removesuffix(" %") for end in (found.low, found.high))
    return f"{sentences.percent(found.value)} (95 %: {ends})"


def digits(setting: Setting, number: int) -> str:
    """What the attacker finds in the digits of round `number`, counted from 0."""
    joined, left = (_draws(count) for count in rounds.fitting_draws(setting, number))
    return f"Draws of the sampler that lead to exactly these digits: {joined} with the person, {left} without."


def _draws(count: int | None) -> str:
    return "too many to count" if count is None else str(count)


def round_rows(setting: Setting, found: Sequence[Round], guesses: Sequence[bool]) -> list[dict[str, str]]:
    """The rounds that were played, one row each."""
    rows = [
        {
            "Round": str(number),
            "The person was": _in(one.inside),
            "You said": f"{_in(said)}: {_right(said == one.inside)}",
            "The best attacker": f"{best(one)}: {_right(one.best == one.inside)}",
            "Published θ": ", ".join(sentences.fixed(value) for value in one.theta),
        }
        for number, (one, said) in enumerate(zip(found, guesses, strict=True), 1)
    ]
    if setting.game == DIGITS:
        for number, row in enumerate(rows):
            row["Draws that fit, with and without"] = ", ".join(map(_draws, rounds.fitting_draws(setting, number)))
    return rows


def tries(finished: Mapping[Setting, Score]) -> list[dict[str, str]]:
    """One's own finished games, the best first."""
    order = sorted(finished.items(), key=lambda item: (item[1].best - item[1].hits, -item[1].hits))
    return [
        {
            "Game": setting.game,
            "σ": "–" if setting.game == BARE else f"{setting.sigma:g}",
            "λ": f"{setting.lam:g}",
            "ε": "∞" if setting.game == BARE else sentences.epsilon(rounds.epsilon(setting.sigma, setting.lam)),
            "Where": setting.place,
            "Seed": str(setting.seed),
            "You": f"{score.hits} of {ROUNDS}",
            "The best attacker": f"{score.best} of {ROUNDS}",
        }
        for setting, score in order
    ]


def alt(setting: Setting, now: Round, number: int, over: bool) -> str:
    """The picture in words."""
    at = ", ".join(sentences.number(value) for value in now.theta)
    seen = "the last published model" if over else f"the model published in round {number}"
    if setting.place == people.PLANE:
        parts = "Left, twelve known people, the marked person and the line of", "Right, θ"
        laws = "the regions that hold half of all releases"
    else:
        parts = "Left, twelve known people on a line, the marked person and the curve of", "Right, θ"
        laws = "the densities of all releases"
    if setting.game == BARE:
        laws = "the two minimisers"
    return f"{parts[0]} {seen}. {parts[1]} = ({at}) beside {laws} without and with the person."


def no_more_noise(lam: float, most: float) -> str:
    """What stands under the sliders where σ is the largest on offer, as no σ keeps a smaller promise."""
    least = sentences.epsilon(rounds.epsilon(most, lam))
    return f"The largest σ on offer keeps ε = {least} at λ = {lam:g}. One person’s curvature shows: more λ helps."


def success_alt() -> str:
    """Alt text of the chart that the prediction reveals."""
    curves = rounds.success_curves()
    near = int(abs(curves["epsilon"] - 1).argmin())
    at = {name: sentences.percent(float(curves[name][near]), up=True) for name in list(curves)[1:]}
    told = "; ".join(f"{name} {chance}" for name, chance in at.items())
    return f"How often guesses are right against ε. Near ε = 1: {told}."
