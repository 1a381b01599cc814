"""The pictures of a survey with a coin: one answer, several answers, neighbouring data sets, everybody."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy.stats import norm

from objpert_core._validation import FloatArray
from pages.lessons.coin import Coin
from pages.lessons.scene import Bet, Processing, Scene, Slack, marks
from ui import figures, sentences
from ui.controls import Choice, SelectSlider, powers_of_ten
from ui.lesson_text import Controls, LessonError
from ui.view import set_by

TRUTHS = tuple(round(0.05 * step, 2) for step in range(1, 20))
TRUTH = SelectSlider(
    "truth", "Chance of telling the truth", 0.5, TRUTHS, help="The chance that the first coin says: tell the truth."
)
ADJACENCY = "one person’s truth changes"
FINE = np.linspace(0.0, 1.0, 101)


class Survey(Scene):
    """A picture of everybody's answers."""

    truth: float = set_by(TRUTH)

    @property
    def coin(self) -> Coin:
        """One answer."""
        return Coin(self.truth)

    @property
    def differing(self) -> int:
        """How many people neighbours differ in."""
        return 1

    def promise(self) -> str:
        """Without δ, which is 0: the first steps show it, and what δ is comes in a later one."""
        number = self.differing
        differ = ADJACENCY if number == 1 else f"the truths of {number} people change"
        return (
            f"Worst case over all people and data: ε = {sentences.epsilon(self.coin.loss * number)}, rounded up; "
            f"{differ}; accounted by the ratio of two chances."
        )


NEAR_THE_AXIS = 0.1  # a number on the left of a mark further left would lie on the axis


class OneAnswer(Survey, name="lessons_coin", snippet="coin"):
    """The ratio of two chances."""

    def answer(self) -> str:
        times, ln = sentences.number(self.coin.times), sentences.number(self.coin.loss, 4)
        return f"ε = ln {times} = {ln}: a yes is {times} times as likely if it is true."

    def shows(self) -> str:
        rarer, likelier = map(sentences.number, self.coin.yes)
        return (
            f"The chance of a yes against the coin. At {self.truth:g}: {likelier} where the truth is yes, {rarer} "
            f"where it is no; their ratio is {sentences.number(self.coin.times)}."
        )

    def numbers(self) -> dict[str, Any]:
        return {"truth": FINE, "yes_if_true": (1 + FINE) / 2, "yes_if_false": (1 - FINE) / 2}

    def chart(self, before: Self | None) -> figures.Figure:
        rarer, likelier = self.coin.yes
        curves = {
            "without": ("the truth is no", (1 - FINE) / 2, rarer),
            "with": ("the truth is yes", (1 + FINE) / 2, likelier),
        }
        side = "left" if self.truth > NEAR_THE_AXIS else "right"  # beside the guide, not on it
        traces = [figures.guide((self.truth, self.truth), (0.0, 1.0))]
        for role, (name, heights, here) in curves.items():
            traces.append(figures.series(name, FINE, heights, role, hover="%{y:.3g}"))
            look: dict[str, Any] = {"mode": "markers+text", "showlegend": False, "hoverinfo": "skip"}
            mark = figures.series(name, [self.truth], [here], role, **look)
            place = f"{'top' if role == 'with' else 'bottom'} {side}"
            mark["marker"] |= {"size": 14}
            traces.append(mark | {"text": [sentences.number(here)], "textposition": place, "cliponaxis": False})
        share: dict[str, Any] = {"tickvals": [0, 0.25, 0.5, 0.75, 1]}
        xaxis = figures.axis("chance that the first coin says: tell the truth", (-0.01, 1.01), **share)
        yaxis = figures.axis("chance of a yes", (-0.04, 1.08), **share)
        return figures.figure(traces, xaxis, yaxis)


PEOPLE = SelectSlider("people", "People asked", 20, (10, 20, 50, 100), str)
DIFFER = SelectSlider(
    "differ", "People whose truth changes", 1, (1, 2, 3, 4, 5), str, help="Neighbours differ in one person."
)


class Neighbours(Survey, name="lessons_neighbours", snippet="neighbours"):
    """Two laws, whose ratio is bounded."""

    people: int = set_by(PEOPLE)
    differ: int = set_by(DIFFER)

    @property
    def differing(self) -> int:
        return self.differ

    @property
    def truly(self) -> int:
        """Whose truth is yes in the first data set."""
        return 4 * self.people // 10

    @property
    def texts(self) -> tuple[str, str]:
        """What is changed, and how many times likelier a count becomes at most."""
        others = "one truth" if self.differ == 1 else f"{self.differ} truths"
        return others, sentences.number(self.coin.times**self.differ, up=True)

    def answer(self) -> str:
        epsilon, (others, times) = sentences.number(self.coin.loss * self.differ, 4), self.texts
        return f"ε = {epsilon}: with {others} changed, no count becomes more than {times} times as likely."

    def shows(self) -> str:
        laws = f"Two laws of the number of yes answers of {self.people} people"
        return "{}, for data sets that differ in {}. At every count their ratio is at most {}.".format(
            laws, *self.texts
        )

    def numbers(self) -> dict[str, Any]:
        first, second = (self.coin.counts(self.people, truly) for truly in (self.truly, self.truly + self.differ))
        return {"count": np.arange(self.people + 1), "first": first, "second": second}

    def chart(self, before: Self | None) -> figures.Figure:
        counts, first, second = self.numbers().values()
        named = {
            "without": (f"{self.truly} of {self.people} are truly yes", first),
            "with": (f"{self.truly + self.differ} are truly yes", second),
        }
        traces = [
            figures.series(name, counts, masses, role, mode="lines+markers", hover="%{y:.3g}")
            for role, (name, masses) in named.items()
        ]
        xaxis = figures.axis("how many answer yes", (-0.5, self.people + 0.5))
        yaxis = figures.axis("probability", (0.0, 1.12 * float(max(first.max(), second.max()))))
        return figures.figure(traces, xaxis, yaxis)


MANY = SelectSlider("people", "People asked", 10_000, (100, 1000, 10_000, 100_000, 1_000_000), str)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHARE = Choice("share", "Share of people whose truth is yes", 0.3, SHARES, lambda value: f"{value:g}")
_POINTS = 181


class Group(Survey, name="lessons_group", snippet="group"):
    """Two laws that lie on each other."""

    people: int = set_by(MANY)
    share: float = set_by(SHARE)

    @property
    def points(self) -> str:
        """Within how many points of the true share 95 % of the estimates fall."""
        return sentences.number(100 * (1.96 * self.coin.share_error(self.people)), 2, up=True)

    def answer(self) -> str:
        return f"The share whose truth is yes is estimated to ± {self.points} points (95 %), whatever your truth is."

    def shows(self) -> str:
        return (
            f"Two laws of the estimated share among {self.people:,} people lie almost on top of each other around "
            f"{sentences.percent(self.share, 0)}: 95 % of the estimates are within {self.points} points."
        )

    def numbers(self) -> dict[str, Any]:
        spread, one = self.coin.share_error(self.people), 0.5 / self.people  # your truth is one among all
        grid = np.union1d(FINE, self.share + np.linspace(-5, 5, _POINTS) * spread)
        grid = grid[(grid >= 0) & (grid <= 1)]
        your_no, your_yes = (norm.pdf(grid, centre, spread) for centre in (self.share - one, self.share + one))
        return {"share": grid, "your_no": your_no, "your_yes": your_yes}

    def chart(self, before: Self | None) -> figures.Figure:
        grid, your_no, your_yes = self.numbers().values()
        top = 1.12 * float(max(your_no.max(), your_yes.max()))
        traces = [
            figures.guide((self.share, self.share), (0.0, top)),
            figures.series("your truth is no", grid, your_no, "without", hover="density %{y:.3g}"),
            figures.series("your truth is yes", grid, your_yes, "with", hover="density %{y:.3g}"),
        ]
        xaxis = figures.axis("estimated share of people whose truth is yes", (0.0, 1.0), tickformat=".0%")
        yaxis = figures.axis("density", (0.0, top), showticklabels=False)
        return figures.figure(traces, xaxis, yaxis)


NUMBERS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60)
ANSWERS = SelectSlider("answers", "Answers to the same question", 20, NUMBERS, str)
DELTA = SelectSlider("delta", "Slack δ", 1e-5, powers_of_ten(-10, -1))


@lru_cache(maxsize=500)
def composed(truth: float, delta: float) -> FloatArray:
    """ε at δ of each number of answers."""
    return np.array([Coin(truth, number).epsilon(delta) for number in NUMBERS])


class Several(Scene, name="lessons_several", snippet="several"):
    """A straight line and a curve below it."""

    truth: float = set_by(TRUTH)
    answers: int = set_by(ANSWERS)
    delta: float = set_by(DELTA)

    @property
    def together(self) -> tuple[float, float]:
        """ε of all answers, added up and composed."""
        place = NUMBERS.index(self.answers)
        return Coin(self.truth, self.answers).loss, float(composed(self.truth, self.delta)[place])

    @property
    def cost(self) -> str:
        """The beginning of two sentences."""
        return "One answer costs" if self.answers == 1 else f"{self.answers} answers cost"

    def answer(self) -> str:
        added, least = (sentences.number(epsilon, 4) for epsilon in self.together)
        return f"{self.cost} ε = {least} with slack {sentences.delta(self.delta)}; added up, ε = {added}."

    def promise(self) -> str:
        law = "the exact law of the privacy loss, rounded up"
        return sentences.promise(self.together[1], self.delta, law, adjacency=ADJACENCY)

    def shows(self) -> str:
        return (
            "ε of all answers against their number: a straight line where they are added up, a lower curve where they "
            f"are composed. {self.cost} {' or '.join(map(sentences.epsilon, self.together))}."
        )

    def numbers(self) -> dict[str, Any]:
        added = [Coin(self.truth, number).loss for number in NUMBERS]
        return {"answers": NUMBERS, "added": added, "composed": composed(self.truth, self.delta)}

    def chart(self, before: Self | None) -> figures.Figure:
        counts, added, least = self.numbers().values()
        here, slack = (self.answers, self.answers), sentences.delta(self.delta)
        traces = [
            figures.series("added up, δ = 0", counts, added, "without", hover="ε = %{y:.3g}"),
            figures.series(f"composed, δ = {slack}", counts, least, "with", hover="ε = %{y:.3g}"),
            figures.guide(here, (0.0, self.together[0])),
            marks(here, dict(zip(("without", "with"), self.together, strict=True))),
        ]
        xaxis = figures.axis("answers to the same question", (0.0, NUMBERS[-1] + 1.0))
        yaxis = figures.axis("ε of all together", (0.0, 1.1 * float(added[-1])))
        return figures.figure(traces, xaxis, yaxis)


ALL: tuple[type[Scene], ...] = (OneAnswer, Neighbours, Bet, Slack, Processing, Several, Group)
SCENES: Mapping[str, type[Scene]] = {scene.name.removeprefix("lessons_"): scene for scene in ALL}


def scene(part: Controls) -> type[Scene]:
    """The picture that a directive names; `LessonError` where there is none."""
    if part.picture not in SCENES:
        raise LessonError(part.line, f"there is no picture {part.picture!r}; there are {', '.join(SCENES)}.")
    return SCENES[part.picture]
