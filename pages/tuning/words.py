"""The tuning page's words: pure functions from numbers to sentences and rows, tested, without Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui import sentences
from ui.sentences import delta, epsilon, number, percent, scientific


@dataclass(frozen=True)
class Need:
    """What one run must be for the whole tuning to cost the target: its noise multiplier and its own ε at δ."""

    noise_multiplier: float
    epsilon: float


Change = tuple[str, Any, Any]
"""What was changed, as (what, old, new)."""

WAYS: Mapping[str, str] = {
    "free": "Not at all",
    "composed": "Composing every run",
    "selection": "Papernot and Steinke 2022",
    "liu_talwar": "Liu and Talwar 2019",
}
MADE = ("composed", "selection")  # what the page's answer chooses from: the runs are those of the controls
RARE = 1e-3  # a probability that is not worth a number
TOO_MANY = 10_000  # runs on average, of a training that takes minutes
WHAT_IS_PAID_FOR = (
    "Papernot and Steinke, and Liu and Talwar, charge for a random number of runs of which only the best is released, "
    "not for each run. Composing charges for each run, and lets you publish all of them."
)
OBJECTIVE_PERTURBATION = (
    "**Objective perturbation hardly needs this page.** Its optimiser, learning rate and stopping rule do not touch "
    "the guarantee, and its σ and λ are functions of ε, δ and public quantities: there is nothing to choose by looking "
    "at the data, so one run is all there is to pay for."
)

AFFORD_NOTE = (
    "Each row is DP-SGD with the smallest noise multiplier for which the whole tuning, accounted for in this way, "
    "costs no more than one run costs now. The last column is what one such run costs by itself."
)

_DRAWN = ("K", "Pr[K > s]", "η")
_REASONS = {  # more of it, less of it
    "s": ("there is more to choose among", "there is less to choose among"),
    "δ": ("the promise allows more slack", "the promise allows less slack"),
    "Pr[K > s]": ("more runs are made", "fewer runs are made"),
    "ε of one run": ("each run may tell more", "each run may tell less"),
    "noise multiplier": ("each run is noisier", "each run is less noisy"),
    "q": ("each step sees more rows", "each step sees fewer rows"),
    "steps": ("each run takes more steps", "each run takes fewer steps"),
    "σ": ("each run is noisier", "each run is less noisy"),
    "λ": ("each run shows less of one person’s curvature", "each run shows more of one person’s curvature"),
}


def cheapest(ways: Mapping[str, float]) -> str:
    """Of composing and of selection with the K of the controls, the one with the smaller ε; composing if they tie."""
    return min(MADE, key=lambda way: ways[way])


def answer(settings: int, at_delta: float, ways: Mapping[str, float]) -> str:
    """The page's one large sentence, from ε at δ under every way of `WAYS`."""
    free, paid = ways["free"], ways[cheapest(ways)]
    at, trials = f"at δ = {delta(at_delta)}", sentences.count(settings, "trial")
    if math.isinf(free):
        return f"Not even one run has a finite ε {at}, so no choice among runs has."
    if settings == 1:
        return f"One run with settings fixed in advance costs ε = {epsilon(free)}: nothing chosen, nothing added."
    if math.isinf(paid):
        return f"Ignoring the {trials} reports ε = {epsilon(free)}; no finite cost is proved."
    if paid <= free * (1 + sentences.EXACT):
        return f"The {trials} cost no more than one run: ε = {epsilon(paid)}."
    return f"Ignoring the {trials} reports ε = {epsilon(free)}; the proven cost is {epsilon(paid)}."


def why(changes: Sequence[Change], before: Mapping[str, float], now: Mapping[str, float]) -> str:
    """What was changed, what that did to the proven ε, and why; `before` and `now` are ε under every way."""
    if not changes:
        return ""
    way, then, here = cheapest(now), before[cheapest(before)], now[cheapest(now)]
    told = f"{sentences.shift(changes)}: {sentences.course('ε', then, here)}"
    what, old, new = changes[0]
    if way != cheapest(before):
        return f"{told}; {WAYS[way]} is now the cheaper proof."
    if len(changes) > 1 or math.inf in (then, here):
        return f"{told}."
    if way == "composed" and what in _DRAWN:
        return f"{told}; composing every run does not ask how K is drawn."
    if what not in _REASONS or epsilon(then) == epsilon(here):
        return f"{told}."
    return f"{told}; {_REASONS[what][new < old]}."


def accountant(settings: int, ways: Mapping[str, float], law: str, *, renyi: bool) -> str:
    """Which proof the answer's ε comes from; `law` names the distribution of K."""
    if settings == 1:
        return f"the {'Rényi curve' if renyi else 'privacy profile'} of one run"
    if cheapest(ways) == "selection":
        return f"Papernot and Steinke (2022), {law}"
    return f"composing {sentences.count(settings, 'run')}, through {'Rényi curves' if renyi else 'privacy losses'}"


def law(family: str, mean: float, eta: float) -> str:
    """The distribution of K in words."""
    mu = scientific(mean, 3)
    if family == "Poisson":
        return f"K Poisson of mean {mu}"
    name = family if family in ("geometric", "logarithmic") else f"truncated negative binomial (η = {number(eta)})"
    return f"K {name} of mean {mu}"


def runs(settings: int, mean: float, more: float, none: float) -> str:
    """What K does: its mean, Pr[K > s] = `more`, and Pr[K = 0] = `none` in words."""
    start = "One setting needs no random number of runs; if it were drawn all the same: " if settings == 1 else ""
    than = "the one setting" if settings == 1 else f"the {settings} settings"
    nothing = "It is never 0: something is always trained."
    if none > 0:
        often = "Very rarely" if none < RARE else f"With probability {scientific(none, 2, up=True)}"
        nothing = f"{often} no run happens; then a preset default is released."
    larger = f"is larger than {than} with probability {percent(more, 0)}."
    much = " That is more training than anybody does: lower Pr[K > s], or let K be Poisson." if mean > TOO_MANY else ""
    return f"{start}K has mean {scientific(mean, 3)} and {larger} {nothing}{much}"


def geometric(settings: int, ways: Mapping[str, float], mean: float, own_mean: float, family: str) -> str:
    """Where Liu and Talwar's geometric K is cheaper than the K of the controls: what it costs, and how many runs."""
    eps = ways["liu_talwar"]
    if settings == 1 or family == "geometric" or not eps < ways["selection"] * (1 - sentences.EXACT):
        return ""
    return (
        f"Liu and Talwar’s geometric K would cost ε = {epsilon(eps)} with the same Pr[K > s], and makes "
        f"{scientific(mean, 3)} runs on average instead of {scientific(own_mean, 3)}."
    )


def crossing(grid: Sequence[int], composed: Sequence[float], selection: Sequence[float]) -> str:
    """For which grids composing every run is cheaper than the random number of runs, said by the chart's points."""
    several = [i for i, s in enumerate(grid) if s > 1]
    if any(math.isinf(composed[i]) and math.isinf(selection[i]) for i in several):
        return ""
    wins = [i for i in several if composed[i] <= selection[i]]
    if not wins:
        return "From two settings on, composing every run is never cheaper here than the random number of runs."
    if len(wins) == len(several):
        return f"Composing every run is cheaper here than the random number of runs, up to s = {grid[-1]} at least."
    if wins == several[: len(wins)]:
        last, first = grid[wins[-1]], grid[wins[-1] + 1]
        return f"Composing every run is cheaper up to s = {last}; from s = {first} on the random number of runs is."
    return f"Composing every run is cheaper at s = {', '.join(str(grid[i]) for i in wins)}."


def tuning_alt(settings: int, at_delta: float, ways: Mapping[str, float]) -> str:
    """Alt text of the chart of ε against grid size: what is plotted, and the order at the marked size."""
    order = sentences.ranking({WAYS[way]: value for way, value in ways.items()})
    return (
        f"ε at δ = {delta(at_delta)} against the number of settings tried, for four ways of accounting. "
        f"At {sentences.count(settings, 'setting')}: {order}."
    )


def runs_alt(settings: int, more: float, name: str) -> str:
    """Alt text of the chart of K's distribution; `name` is what `law` says."""
    return (
        f"Probability of each number of runs, {name}. "
        f"It is larger than the grid size {settings} with probability {percent(more, 0)}."
    )


def ways_rows(ways: Mapping[str, float], trained: Mapping[str, str], at_delta: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a way; `trained` says how many runs each makes."""
    free = ways["free"]
    return [
        {
            "Accounted for": WAYS[way] + (" (wrong if the data chose)" if way == "free" else ""),
            "Runs": trained[way],
            f"ε at δ = {delta(at_delta)}": sentences.proved(value),
            "ε / one run": sentences.ratio(value / free if free > 0 and math.isfinite(free) else math.nan),
            "Odds": sentences.odds(value).replace(" ", "\u00a0"),
        }
        for way, value in ways.items()
    ]


def trained(settings: int, geometric_mean: float, mean: float) -> dict[str, str]:
    """How many runs each way is about."""
    drawn = {"liu_talwar": geometric_mean, "selection": mean}
    return {way: f"{scientific(drawn[way], 3)} on average" if way in drawn else f"{settings}" for way in WAYS}


def afford_rows(needs: Mapping[str, Need | None], at_delta: float) -> list[dict[str, str]]:
    """Noise multiplier and ε of each run under every way; None where no noise multiplier meets the target."""
    free = needs["free"]
    return [
        {
            "Accounted for": WAYS[way],
            "Noise multiplier": number(need.noise_multiplier, 4, up=True) if need else "none is enough",
            "Noise / unpaid": sentences.ratio(need.noise_multiplier / free.noise_multiplier) if need and free else "–",
            f"ε of each run at δ = {delta(at_delta)}": epsilon(need.epsilon) if need else "–",
        }
        for way, need in needs.items()
    ]


def left_alt(needs: Mapping[str, Need | None], target: float) -> str:
    """Alt text of the bars of what is left for each run."""
    parts = [f"{WAYS[way]} {epsilon(need.epsilon) if need else 'nothing'}" for way, need in needs.items()]
    return f"ε left for each run where the whole may cost ε = {epsilon(target)}: {', '.join(parts)}."


def afford_sentence(settings: int, noun: str, target: float, needs: Mapping[str, Need | None]) -> str:
    """What the table says: by how much the noise has to grow for the total to stay at `target`."""
    free, found = needs["free"], [(need.noise_multiplier, way) for way in MADE if (need := needs[way])]
    if free is None or not found:
        return "No noise multiplier meets the target."
    noise, way = min(found)
    if settings == 1 and way == "composed":
        return f"With one setting there is nothing to choose: the run stays as it is, ε = {epsilon(target)}."
    return (
        f"For the choice among {settings} {noun} to cost ε = {epsilon(target)} in all, each run needs a noise "
        f"multiplier of {number(noise, up=True)} instead of {number(free.noise_multiplier, up=True)}: "
        f"{number(noise / free.noise_multiplier, up=True)} times the noise."
    )
