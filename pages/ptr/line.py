"""Words and tables of the first picture: a few points, their median, and the test in front of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from objpert_core.experiments.ptr.points import Outcome, Points
from ui import sentences

_DUST = 2e-12  # relative: .1 + .05 is 0.15
PUBLISHED = {"number": "the number", "side": "only the side of ½"}


@dataclass(frozen=True)
class Shown:
    """The points, and one run.

    Attributes
    ----------
    points : Points
    seed : int
    fallback : bool
        Whether a failed test is answered with more noise.
    """

    points: Points
    seed: int
    fallback: bool

    @property
    def outcome(self) -> Outcome:
        """The run."""
        return self.points.run(self.seed, self.fallback)


def without_dust(value: float) -> float:
    """ε, so that rounding up does not take the dust of floating point for a digit."""
    return value * (1 - _DUST)


def small(value: float) -> str:
    """ε rounded up, but for the dust of floating point; infinity as ∞."""
    return sentences.epsilon(without_dust(value))


def share(probability: float) -> str:
    """How often, to be read aloud: never 0 or 100 % unless it is."""
    if probability >= 1:
        return "always"
    if probability > 0.9995:
        return "in over 99.9 % of runs"
    if probability < 0.001:
        return "in under 0.1 % of runs"
    return f"in {sentences.number(100 * probability, 3)} % of runs"


def answer(shown: Shown) -> str:
    """What the test lets through."""
    points = shown.points
    if points.published == "side":
        return (
            f"Local sensitivity (secret) asks for ε = {small(points.local_epsilon)}, the published side (secret) for "
            f"{small(points.own_epsilon)}; {small(points.epsilon)} is allowed."
        )
    moved = sentences.number(points.local_sensitivity)
    moved = f"{moved}, over β" if points.distance == 0 else f"at most {moved}"
    return f"Secret: one person moves this median by {moved}; the test passes {share(points.pass_probability)}."


def promise(shown: Shown) -> str:
    """The promise of the whole."""
    points = shown.points
    accountant, adjacency = "the test and the release, half of ε each", "one person’s value replaced"
    return sentences.promise(without_dust(2 * points.epsilon), points.delta, accountant, adjacency=adjacency)


_FIELDS = {"people": "people", "bound": "β", "delta": "δ"}


def moved(before: Shown | None, now: Shown) -> str:
    """What was changed since `before`, and what that did to the test; empty where the test is the same."""
    if before is None or before.points == now.points:
        return ""
    old, new = before.points, now.points
    changes = sentences.changed(old, new, _FIELDS)
    changes += [("ε", 2 * old.epsilon, 2 * new.epsilon)] if old.epsilon != new.epsilon else []
    told = [*([sentences.shift(changes)] if changes else []), *(["other values"] if old.values != new.values else [])]
    told += [f"published: {PUBLISHED[new.published]}"] if old.published != new.published else []
    distance = sentences.course(
        "D (secret)", old.distance, new.distance, lambda value: f"{value:g}".replace("inf", "∞")
    )
    threshold = sentences.course("the threshold", old.threshold, new.threshold, "{:g}".format)
    return f"{', '.join(told)}: {distance}, {threshold}."


def happened(shown: Shown, outcome: Outcome) -> str:
    """The run in one sentence."""
    what = released(shown.points, outcome)
    if outcome.passed:
        return f"This run passes and publishes {what} with noise of scale {_scale(shown.points.scale)}."
    if outcome.value is None:
        return "This run fails and publishes ⊥, no answer."
    return f"This run fails and publishes {what} with noise of scale {_scale(1 / shown.points.epsilon)}, for any data."


def _scale(value: float) -> str:
    return sentences.number(value)


def released(points: Points, outcome: Outcome) -> str:
    """What leaves."""
    if outcome.value is None:
        return "⊥"
    if points.published == "side":
        return "“above ½”" if outcome.value else "“not above ½”"
    cut = f" (cut off at {outcome.value:g})" if outcome.value in (0.0, 1.0) else ""
    return sentences.fixed(outcome.value) + cut


def _distance(value: float) -> str:
    return "no data contradict β" if math.isinf(value) else f"{value:g}"


def chance(probability: float) -> str:
    """A probability in a table: never 1 unless it is."""
    return "over 0.999" if 0.999 < probability < 1 else sentences.scientific(probability, 3)


def rows(shown: Shown) -> list[dict[str, str]]:
    """Every number, and who may see it."""
    points, outcome = shown.points, shown.outcome
    secret, public = "secret", "public"
    found = (
        ("ε of this noise for the worst data", small(points.global_epsilon), public),
        ("ε by local sensitivity", small(points.local_epsilon), secret),
        ("data-dependent ε of what is published", small(points.own_epsilon), secret),
        ("Distance D to data that contradict β", _distance(points.distance), secret),
        ("Noisy D of this run", _distance(outcome.noisy_distance), "nobody; only whether it passes"),
        ("Threshold of the test", sentences.number(points.threshold), public),
        ("Probability to pass", chance(points.pass_probability), secret),
        ("Published in this run", released(points, outcome), public),
    )
    return [{"Quantity": name, "Value": value, "Who sees it": who} for name, value, who in found]


def frame(shown: Shown) -> pd.DataFrame:
    """The numbers without rounding."""
    points, outcome = shown.points, shown.outcome
    found = {
        "median": points.median,
        "local_sensitivity": points.local_sensitivity,
        "global_epsilon": points.global_epsilon,
        "local_epsilon": points.local_epsilon,
        "own_epsilon": points.own_epsilon,
        "distance": points.distance,
        "noisy_distance": outcome.noisy_distance,
        "threshold": points.threshold,
        "pass_probability": points.pass_probability,
        "passed": float(outcome.passed),
        "published": math.nan if outcome.value is None else outcome.value,
    }
    return pd.DataFrame({"quantity": list(found), "value": list(found.values())})


def epsilons_frame(shown: Shown) -> pd.DataFrame:
    """The bars without rounding."""
    points = shown.points
    found = {"worst": points.global_epsilon, "local": points.local_epsilon, "own": points.own_epsilon}
    return pd.DataFrame({"of": [*found, "allowed"], "epsilon": [*found.values(), points.epsilon]})


def test_frame(shown: Shown) -> pd.DataFrame:
    """The law of the noisy distance."""
    places, chances = shown.points.test_law()
    return pd.DataFrame({"noisy_distance": places, "probability": chances})


def alt(shown: Shown) -> str:
    """Alt text of the points."""
    points = shown.points
    return (
        f"{answer(shown)} {len(points.values)} points on a line from 0 to 1, {points.people} people each, their median "
        f"{points.median:g} (secret), and the two noises: narrow where the test passes, wide where it fails."
    )


def epsilons_alt(shown: Shown) -> str:
    """Alt text of the bars."""
    points = shown.points
    return (
        f"Three bars: ε of this noise is {small(points.global_epsilon)} for the worst data, "
        f"{small(points.local_epsilon)} by local sensitivity, {small(points.own_epsilon)} as the data-dependent ε of "
        f"what is published, both secret; allowed is {small(points.epsilon)}."
    )


def distance_alt(shown: Shown) -> str:
    """Alt text of the test."""
    points = shown.points
    if math.isinf(points.distance):
        return "No data contradict the proposal: the test always passes."
    return (
        f"Probabilities of the noisy distance around D = {points.distance:g} (secret), and the threshold "
        f"{sentences.number(points.threshold)}: it passes {share(points.pass_probability)}."
    )
