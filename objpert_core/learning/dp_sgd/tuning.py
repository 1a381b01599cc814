"""Choosing a learning rate for DP-SGD: honestly, by private selection, or by looking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np

from objpert_core._validation import FloatArray, IntArray, in_open_unit
from objpert_core.learning.dp_sgd.training import Schedule, StepCallback, TrainingOptions, train_candidates
from objpert_core.learning.lattice import FINENESS, power_of_two, release_on_lattice
from objpert_core.learning.problem.rows import Rows, each_row_by_itself
from objpert_core.learning.sampling import Streams, poisson_count, selected, uniform_choices

PAPER_LEARNING_RATES: tuple[float, ...] = tuple(float(rate) for rate in np.logspace(-8, -1, 10))
"""The grid of Redberg, Koskela and Wang (2023), Section 5: ten learning rates from 1e-8 to 0.1, for Adam."""
FINE_LEARNING_RATES: tuple[float, ...] = tuple(float(rate) for rate in np.logspace(-3, 0, 13))
"""Where the best learning rates for Adam lie, a quarter of a decade apart; found on synthetic data only."""

_SPLIT, _COUNT, _PICKS, _SCORES, _RUN = 2, 3, 4, 5, 6  # names of streams; training has 0 and 1

Score = Callable[[FloatArray], float]
RunCallback = Callable[[int, int, int, float], object]


@dataclass(frozen=True)
class Trial:
    """One run: its learning rate, its parameters, shape (D,), and the score that it was judged by."""

    learning_rate: float
    theta: FloatArray
    score: float


@dataclass(frozen=True)
class Selection:
    """What a choice released (θ, learning rate and score; θ = 0 without a run), and what it looked at.

    Honest tuning's guarantee covers these three; the other `trials` are outside the guarantee: do not publish them.
    """

    theta: FloatArray
    learning_rate: float | None
    score: float | None
    trials: tuple[Trial, ...]

    @classmethod
    def best(cls, trials: Sequence[Trial], dimension: int) -> Selection:
        """The trial of the highest score; θ = 0 where there is none."""
        if not trials:
            return cls(np.zeros(dimension), None, None, ())
        best = max(trials, key=lambda trial: trial.score)
        return cls(best.theta, best.learning_rate, best.score, tuple(trials))


def split_by_coins(n_rows: int, fraction: float, streams: Streams) -> tuple[IntArray, IntArray]:
    """(training rows, held-out rows), sorted: every row is held out with probability `fraction`, by its own coin."""
    held_out = selected(streams.stream(_SPLIT), n_rows, in_open_unit("fraction", fraction))
    keep = np.ones(n_rows, dtype=bool)
    keep[held_out] = False
    return np.flatnonzero(keep), held_out


def right_answers(rows: Rows, targets: FloatArray, thetas: FloatArray, members: IntArray | None = None) -> IntArray:
    """How many rows each model gets right among `members`, or among all; an undecided row counts as −1."""
    with each_row_by_itself():  # or the last digit of another row's score could decide
        right = [(rows.margins(theta) > 0) == (targets > 0) for theta in thetas]
    return np.array([np.count_nonzero(each if members is None else each[members]) for each in right], dtype=np.intp)


def private_score(
    rows: Rows, targets: FloatArray, held_out: IntArray, score_noise: float, scale: float, streams: Streams
) -> Score:
    """Judge by the number of right answers on held-out rows plus new N(0, score_noise²), divided by `scale`.

    The noise is rounded to a lattice on which whole numbers lie (T14); `scale` is the expected number of held-out rows.
    """
    source = streams.stream(_SCORES)

    def score(theta: FloatArray) -> float:
        right = right_answers(rows, targets, theta[None], held_out)[0]
        if not score_noise:
            return float(right / scale)
        spacing = power_of_two(min(1.0, score_noise / FINENESS))
        return float(release_on_lattice(np.array([float(right)]), score_noise, spacing, source)[0] / scale)

    return score


def exact_score(rows: Rows, targets: FloatArray, members: IntArray | None = None) -> Score:
    """Judge by the share of right answers on these rows, which is not private: for public rows."""
    total = max(1, rows.n_rows if members is None else len(members))
    return lambda theta: float(right_answers(rows, targets, theta[None], members)[0] / total)


def select_honestly(
    rows: Rows,
    targets: FloatArray,
    learning_rates: Sequence[float],
    schedule: Schedule,
    *,
    mean_runs: float,
    score: Score,
    callback: RunCallback | None = None,
    **options: Unpack[TrainingOptions],
) -> Selection:
    """Choose the best of K ~ Poisson(mean_runs) independent runs, each with a learning rate drawn with replacement.

    Papernot and Steinke (2022), Theorem 6. ``callback(run, runs, step, gradient_norm)`` learns K, which is private.
    """
    streams = options.get("streams") or Streams()
    runs = poisson_count(streams.stream(_COUNT), mean_runs)
    picks = uniform_choices(streams.stream(_PICKS), len(learning_rates), runs)
    trials = []
    for run, pick in enumerate(picks, start=1):
        rate = float(learning_rates[pick])
        heard = None if callback is None else partial(callback, run, runs)
        alone: TrainingOptions = {**options, "streams": streams.below(_RUN, run)}
        theta = train_candidates(rows, targets, [rate], schedule, callback=heard, **alone)[0]
        trials.append(Trial(rate, theta, score(theta)))
    return Selection.best(trials, rows.dimension)


def select_by_looking(
    rows: Rows,
    targets: FloatArray,
    learning_rates: Sequence[float],
    schedule: Schedule,
    *,
    score: Score,
    callback: StepCallback | None = None,
    **options: Unpack[TrainingOptions],
) -> Selection:
    """Choose the best of all candidates by a score that nobody pays for; only each trial alone is private."""
    thetas = train_candidates(rows, targets, learning_rates, schedule, callback=callback, **options)
    trials = [Trial(float(rate), theta, score(theta)) for rate, theta in zip(learning_rates, thetas, strict=True)]
    return Selection.best(trials, rows.dimension)
