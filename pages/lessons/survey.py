"""Three pictures of a survey with a coin: one answer, two neighbouring data sets, the share that is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from pages.lessons.coin import Coin
from pages.lessons.scene import Drawn, Scene
from ui import figures, sentences
from ui.controls import Choice, SelectSlider

TRUTHS = tuple(round(0.05 * step, 2) for step in range(1, 20))
TRUTH = SelectSlider(
    "truth", "Chance of telling the truth", 0.5, TRUTHS, help="How likely the first coin says: answer truthfully."
)
ADJACENCY = "one person’s truth changes"
_POINTS = 181
_FINE = np.linspace(0.0, 1.0, 101)


def promise(coin: Coin, people: int = 1) -> str:
    """The promise of everybody's answers, for neighbours that differ in `people` people; without δ, which is 0.

    The first steps show it, and what δ is comes in a later one.
    """
    differ = ADJACENCY if people == 1 else f"the truths of {people} people change"
    return (
        f"Worst case over all people and data: ε = {sentences.epsilon(coin.loss * people)}; {differ}; "
        "accounted by the ratio of two chances."
    )


# --- one answer -------------------------------------------------------------------------------------------------------


def one_answer(truth: float) -> Drawn:
    """How likely a yes is, for those whose truth is yes and for the others, against the coin."""
    coin = Coin(truth)
    rarer, likelier = coin.yes
    curves = {
        "without": ("the truth is no", (1 - _FINE) / 2, rarer),
        "with": ("the truth is yes", (1 + _FINE) / 2, likelier),
    }
    traces = [figures.guide((truth, truth), (0.0, 1.0))]
    for role, (name, heights, here) in curves.items():
        traces.append(figures.series(name, _FINE, heights, role, hover="%{y:.3g}"))
        mark = figures.series(name, [truth], [here], role, mode="markers+text", showlegend=False, hoverinfo="skip")
        mark["marker"] |= {"size": 14}
        place = "top center" if role == "with" else "bottom center"
        traces.append(mark | {"text": [sentences.number(here)], "textposition": place, "cliponaxis": False})
    share: dict[str, Any] = {"tickvals": [0, 0.25, 0.5, 0.75, 1]}
    figure = figures.figure(
        traces,
        xaxis=figures.axis("chance that the first coin says: tell the truth", (-0.01, 1.01), **share),
        yaxis=figures.axis("chance of a yes", (-0.04, 1.08), **share),
    )
    times = sentences.number(coin.times, up=True)
    return Drawn(
        f"ε = ln {times} = {sentences.epsilon(coin.loss)}: a yes is {times} times as likely if it is true.",
        promise(coin),
        figure,
        f"The chance of a yes against the coin. At {truth:g}: {sentences.number(likelier)} where "
        f"the truth is yes, {sentences.number(rarer)} where it is no; their ratio is {times}.",
        pd.DataFrame({"truth": _FINE, "yes_if_true": (1 + _FINE) / 2, "yes_if_false": (1 - _FINE) / 2}),
        f"import math\n\ntruth = {truth!r}\nepsilon = math.log((1 + truth) / (1 - truth))\nprint(epsilon)\n",
    )


# --- neighbouring data sets -------------------------------------------------------------------------------------------

PEOPLE = (10, 20, 50, 100)


def neighbours(truth: float, people: int, differ: int) -> Drawn:
    """The law of the number of yes answers in two data sets that differ in `differ` people."""
    coin, truly = Coin(truth), 4 * people // 10
    counts = np.arange(people + 1)
    first, second = coin.counts(people, truly), coin.counts(people, truly + differ)
    top = 1.12 * float(max(first.max(), second.max()))
    named = {"without": (f"{truly} of {people} are truly yes", first), "with": (f"{truly + differ} are", second)}
    traces = [
        figures.series(name, counts, masses, role, mode="lines+markers", hover="%{y:.3g}")
        for role, (name, masses) in named.items()
    ]
    figure = figures.figure(
        traces,
        xaxis=figures.axis("how many answer yes", (-0.5, people + 0.5)),
        yaxis=figures.axis("probability", (0.0, top)),
    )
    epsilon, times = coin.loss * differ, sentences.number(coin.times**differ, up=True)
    others = "one truth" if differ == 1 else f"{differ} truths"
    return Drawn(
        f"ε = {sentences.epsilon(epsilon)}: with {others} changed, no count gets more than {times} times as likely.",
        promise(coin, differ),
        figure,
        f"Two laws of the number of yes answers of {people} people, for data sets that differ in {others}. At every "
        f"count their ratio is at most {times}.",
        pd.DataFrame({"count": counts, "first": first, "second": second}),
        f"""import math

truth, people = {truth!r}, {differ}
epsilon = people * math.log((1 + truth) / (1 - truth))
print(epsilon, math.exp(epsilon))
""",
    )


# --- what is learned about everybody ----------------------------------------------------------------------------------

CROWDS = (100, 1000, 10_000, 100_000, 1_000_000)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def group(truth: float, people: int, share: float) -> Drawn:
    """Where the estimated share of all who are truly yes falls, with your yes and with your no."""
    coin = Coin(truth)
    spread = coin.share_error(people)
    grid = np.union1d(_FINE, share + np.linspace(-5, 5, _POINTS) * spread)
    grid = grid[(grid >= 0) & (grid <= 1)]
    centres = {"without": share - 0.5 / people, "with": share + 0.5 / people}  # your truth is one among all
    laws = {role: norm.pdf(grid, centre, spread) for role, centre in centres.items()}
    names = {"without": "your truth is no", "with": "your truth is yes"}
    top = 1.12 * float(max(law.max() for law in laws.values()))
    figure = figures.figure(
        [
            figures.guide((share, share), (0.0, top)),
            *(figures.series(names[role], grid, law, role, hover="density %{y:.3g}") for role, law in laws.items()),
        ],
        xaxis=figures.axis("estimated share of those who are truly yes", (0.0, 1.0), tickformat=".0%"),
        yaxis=figures.axis("density", (0.0, top), showticklabels=False),
    )
    margin = 1.96 * spread
    told = sentences.number(100 * margin, 2, up=True)
    return Drawn(
        f"The share of all is known to ± {told} points, whether your truth is yes or no.",
        promise(coin),
        figure,
        f"Two laws of the estimated share among {people:,} people lie on each other around "
        f"{sentences.percent(share, 0)}: 95 % of the estimates are within {told} points.",
        pd.DataFrame({"share": grid, "your_no": laws["without"], "your_yes": laws["with"]}),
        f"""import math

truth, people = {truth!r}, {people}
yes_if_true, yes_if_false = (1 + truth) / 2, (1 - truth) / 2
margin = 1.96 * math.sqrt(yes_if_true * yes_if_false / people) / truth
print(100 * margin)
""",
    )


ANSWER = Scene({"truth": TRUTH}, one_answer)
NEIGHBOURS = Scene(
    {
        "truth": TRUTH,
        "people": SelectSlider("people", "People asked", 20, PEOPLE, str),
        "differ": SelectSlider(
            "differ", "People whose truth changes", 1, (1, 2, 3, 4, 5), str, help="Neighbours differ in one person."
        ),
    },
    neighbours,
)
GROUP = Scene(
    {
        "truth": TRUTH,
        "people": SelectSlider("people", "People asked", 10_000, CROWDS, str),
        "share": Choice("share", "Share of all who are truly yes", 0.3, SHARES, lambda value: f"{value:g}"),
    },
    group,
)
