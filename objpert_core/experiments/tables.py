"""What stored results say: means with intervals, and the claim about DP-SGD."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from objpert_core.experiments.learners import (
    DPSGD_MARGIN,
    TIGHT,
    TIGHT_DISHONEST,
    TIGHT_LOGISTIC,
    TIGHT_RAW,
    UNPAID,
    UNPAID_STANDARDISED,
)
from objpert_core.experiments.methods import EVERY
from objpert_core.experiments.results import Results, Run
from objpert_core.experiments.summary import Interval, mean_interval

TENFOLD = 10.0  # "in a tenth of the time"
STANDARDISED = (*UNPAID, UNPAID_STANDARDISED)
"""The rivals of the claim, and the one on rows that were centred and scaled as ours are."""
VARIANTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "the rival standardised, too": (TIGHT, STANDARDISED),
    "ours on raw rows": (TIGHT_RAW, UNPAID),
    "ours on raw rows, no margin": (TIGHT_LOGISTIC, UNPAID),
    "the rival with our margin": (TIGHT, (DPSGD_MARGIN,)),
    "the same luck for both": (TIGHT_DISHONEST, UNPAID),
    "the same luck, the rival standardised, too": (TIGHT_DISHONEST, STANDARDISED),
}
"""The claim with something taken from one side or given to the other, as arguments of `claims`."""
WIDE = 0.04  # an interval of more than four points around "no difference" says nothing either way


@dataclass(frozen=True)
class Median:
    """A time, or a ratio of two: the median, which a busy machine does not move, and the range over the trials."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Median:
        """The median and the range of at least one value."""
        return cls(float(statistics.median(values)), min(values), max(values))

    def over(self, other: Median) -> Median:
        """The ratio of the medians, which lies within the range of all ratios of one trial's to one of `other`."""
        return Median(self.median / other.median, self.low / other.high, self.high / other.low)


@dataclass(frozen=True)
class Point:
    """One method at one ε over the trials, each with its own split, so that the interval allows for the choice of test
    rows as well. `runs` is the mean number of models trained, `peak_mb` the largest extra memory of any trial.
    """

    method: str
    epsilon: float
    accuracy: Interval
    seconds: Median
    runs: float
    peak_mb: float | None


@dataclass(frozen=True)
class Claim:
    """Algorithm 1 against the best DP-SGD whose tuning is not paid for, at one ε. The `rival` has the best mean
    accuracy over the trials in common, a choice in its favour; `difference` is `method`'s accuracy less the rival's,
    and `speedup` the ratio of the medians, the rival's seconds first.
    """

    epsilon: float
    rival: str
    difference: Interval
    speedup: Median
    method: str = TIGHT

    @property
    def verdict(self) -> str:
        """About accuracy: "ahead" or "behind" where the interval excludes 0, else "even"; "unknown" or "unclear" of too
        few."""
        if not self.difference.known:
            return "unknown"
        if self.difference.low > 0:
            return "ahead"
        if self.difference.high < 0:
            return "behind"
        return "unclear" if self.width > WIDE else "even"

    @property
    def width(self) -> float:
        """The length of the difference's interval, cut at −1 and 1, where a difference of two shares ends."""
        low, high = self.difference.within(-1.0, 1.0)
        return high - low

    @property
    def tenfold(self) -> bool:
        """Whether `method` took at most a tenth of the rival's time, by the medians."""
        return self.speedup.median >= TENFOLD


def summary(results: Results) -> tuple[Point, ...]:
    """A point for every method and ε that has rows, methods in the order of `EVERY`, ε rising.

    >>> run = Run("adult", "tight", 1.0, 1e-5, trial=0, split_seed=0, seed=7, accuracy=0.84, seconds=0.2)
    >>> summary(Results("adult", "0.1.0", {}, (), (run,)))[0].accuracy.mean
    0.84
    """
    targets = sorted({run.epsilon for run in results.runs})
    return tuple(
        _point(method, epsilon, runs)
        for method in EVERY
        for epsilon in targets
        if (runs := results.of(method, epsilon))
    )


def _point(method: str, epsilon: float, runs: tuple[Run, ...]) -> Point:
    peaks = [run.peak_mb for run in runs if run.peak_mb is not None]
    return Point(
        method,
        epsilon,
        accuracy=mean_interval([run.accuracy for run in runs]),
        seconds=_seconds(runs),
        runs=float(np.mean([run.runs for run in runs])),
        peak_mb=max(peaks) if peaks else None,
    )


def claims(results: Results, method: str = TIGHT, rivals: Sequence[str] = UNPAID) -> tuple[Claim, ...]:
    """A claim about `method` for every ε at which it and one of `rivals` have trials in common, ε rising.

    The rival at each ε is the most accurate of those that have the most trials in common.
    """
    found = []
    for epsilon in sorted({run.epsilon for run in results.runs if run.method == method}):
        ours = {run.trial: run for run in results.of(method, epsilon)}
        paired = {
            name: pairs
            for name in rivals
            if (pairs := [(ours[run.trial], run) for run in results.of(name, epsilon) if run.trial in ours])
        }
        if not paired:
            continue
        most = max(len(pairs) for pairs in paired.values())
        # A rival with few trials could look best by luck and would leave little to compare with.
        complete = {name: pairs for name, pairs in paired.items() if len(pairs) == most}
        rival = max(complete, key=lambda name: float(np.mean([theirs.accuracy for _, theirs in complete[name]])))
        pairs = complete[rival]
        found.append(
            Claim(
                epsilon,
                rival,
                difference=mean_interval([mine.accuracy - theirs.accuracy for mine, theirs in pairs]),
                speedup=_seconds(results.of(rival, epsilon)).over(_seconds(results.of(method, epsilon))),
                method=method,
            )
        )
    return tuple(found)


def _seconds(runs: Iterable[Run]) -> Median:
    return Median.of([run.seconds for run in runs])


def verdict(found: Iterable[Claim]) -> str:
    """The claim in one sentence: at how many ε Algorithm 1 is ahead, even or behind, and what the time says."""
    every = tuple(found)
    if not every:
        return "No ε has trials of both methods."
    parts = []
    for name, words in (
        ("ahead", "more accurate"),
        ("even", "not told apart"),
        ("behind", "less accurate"),
        ("unclear", "too few trials to tell"),
        ("unknown", "one trial only"),
    ):
        if at := [f"{claim.epsilon:g}" for claim in every if claim.verdict == name]:
            parts.append(f"{words} at {len(at)} of {len(every)} (ε = {', '.join(at)})")
    tenfold = sum(claim.tenfold for claim in every)
    slowest = min(claim.speedup.median for claim in every)
    return (
        f"Against {_called({claim.rival for claim in every})}, {every[0].method} is {'; '.join(parts)}. "
        f"It takes a tenth of the time or less at {tenfold} of {len(every)}; the smallest ratio is {slowest:.3g}."
    )


def _called(rivals: Collection[str]) -> str:
    if len(rivals) == 1 and not {*rivals} & {*UNPAID}:
        return next(iter(rivals))
    extra = f", {UNPAID_STANDARDISED} among them" if UNPAID_STANDARDISED in rivals else ""
    return f"the best dishonest DP-SGD at each ε{extra}"
