"""Where the accuracy of Algorithm 1 comes from: from the published bound to the default, one step after the other.

`CHAIN` is in the order in which the steps were found. What a step gains depends on that order, and the sum does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from objpert_core.experiments.compare import Comparison
from objpert_core.experiments.indexed import Stored
from objpert_core.experiments.learners import PUBLISHED, TIGHT, TIGHT_CENTRED, TIGHT_LOGISTIC, TIGHT_RAW
from objpert_core.experiments.summary import Interval, mean_interval

CHAIN: Mapping[str, str] = {
    PUBLISHED: "2023 theorem",
    TIGHT_LOGISTIC: "our theorem",
    TIGHT_RAW: "margin",
    TIGHT_CENTRED: "centring",
    TIGHT: "scaling",
}
"""The learners in which one step after the other is switched on, and what each step is called."""
BOTH = "centring and scaling"
"""What the last step is called where nobody fitted with centring alone."""
_NOISES: Mapping[str, tuple[str, ...]] = {TIGHT_CENTRED: ("center_noise",), TIGHT: ("scale_noise",)}
"""What is None where a rule skips the learner's step."""


@dataclass(frozen=True)
class Step:
    """One step of the chain: the learner `method`, a key of `CHAIN`, has this step and all before it.

    `gain` is the accuracy with the step minus the accuracy without it, paired by trial; None for the first. A step that
    its public rule leaves out here is `skipped`, and changes nothing.
    """

    method: str
    name: str
    accuracy: Interval
    gain: Interval | None
    skipped: bool = False


@dataclass(frozen=True)
class Waterfall:
    """What each step changes on one data set at one ε over common trials; `total` is the sum of the gains."""

    label: str
    epsilon: float
    delta: float
    steps: tuple[Step, ...]
    total: Interval

    @property
    def largest(self) -> Step:
        """The step that gains most, in the mean."""
        return max(self.steps[1:], key=lambda step: step.gain.mean if step.gain else 0.0)


def of_stored(stored: Stored, epsilon: float) -> Waterfall | None:
    """The waterfall of stored runs at one of their ε; None where a step has no trial in common with the others."""
    runs = {method: stored.runs(method, epsilon) for method in CHAIN}
    shares = {method: {run.trial: run.accuracy for run in found} for method, found in runs.items()}
    releases = {method: found[0] for method, found in runs.items() if found}
    return None if stored.delta is None else _waterfall(stored.label, epsilon, stored.delta, shares, releases)


def of_comparison(comparison: Comparison) -> Waterfall | None:
    """The waterfall of a live comparison over its noise draws, as `of_stored`."""
    settings = comparison.settings
    fits = {method: comparison.of(method) for method in CHAIN}
    shares = {method: {fit.seed or 0: fit.accuracy for fit in found} for method, found in fits.items()}
    releases = {method: found[0].privacy for method, found in fits.items() if found}
    return _waterfall(comparison.data.label, settings.epsilon, settings.delta, shares, releases)


def _waterfall(
    label: str, epsilon: float, delta: float, shares: Mapping[str, Mapping[int, float]], releases: Mapping[str, Any]
) -> Waterfall | None:
    """The waterfall of accuracies by learner and trial; the noises of `releases` say which steps were skipped."""
    names, noises = dict(CHAIN), dict(_NOISES)
    if not shares[TIGHT_CENTRED]:
        del names[TIGHT_CENTRED]
        names[TIGHT], noises = BOTH, {TIGHT: (*noises[TIGHT_CENTRED], *noises[TIGHT])}
    trials = sorted(set.intersection(*(set(shares[method]) for method in names)))
    if not trials:
        return None
    columns = {method: [shares[method][trial] for trial in trials] for method in names}
    skipped = {m for m, own in noises.items() if all(getattr(releases[m], noise) is None for noise in own)}
    for before, method in reversed(tuple(pairwise(names))):
        if method in skipped:
            columns[before] = columns[method]
    steps: list[Step] = []
    for method, name in names.items():
        gain = _difference(columns[method], columns[steps[-1].method]) if steps else None
        steps.append(Step(method, name, mean_interval(columns[method]), gain, method in skipped))
    return Waterfall(label, epsilon, delta, tuple(steps), _difference(columns[TIGHT], columns[PUBLISHED]))


def _difference(one: list[float], other: list[float]) -> Interval:
    return mean_interval([own - its for own, its in zip(one, other, strict=True)])
