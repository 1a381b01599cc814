"""How far replacing a row moves a model: fits of neighbouring data with the same batches and the same noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, positive_integer
from objpert_core.theory.populations import Population

LearnFrom = Callable[[FloatArray, FloatArray, int], FloatArray]
"""From rows X, y and a seed that decides all randomness, to a model θ of shape (d,)."""


@dataclass(frozen=True)
class Stability:
    """What replacing a row was seen to change; each number has its standard error beside it.

    Attributes
    ----------
    distance, distance_error : float
        L·E‖w − w'‖ over data and randomness, which bounds the change of any loss.
    change, change_error : float
        The largest mean change of the loss on one row that was found. The uniform stability of a method is the largest
        over all data and rows, so this is a look from below.
    gap, gap_error : float
        The population risk less the mean loss on the rows learnt from, on average: the generalisation gap.
    runs : int
        Pairs of fits.
    """

    distance: float
    distance_error: float
    change: float
    change_error: float
    gap: float
    gap_error: float
    runs: int


def measured_stability(
    learn: LearnFrom,
    population: Population,
    n: int,
    *,
    pairs: int = 5,
    repeats: int = 20,
    probes: int = 200,
    opposite: bool = True,
    seed: int = 0,
) -> Stability:
    """Fit neighbouring data with the same batches and the same noise, and see how far the models are apart.

    ``learn(X, y, seed)`` gives θ, and with the same seed must draw the same batches and the same noise. There are
    `pairs` >= 1 of neighbouring data sets of n rows, which differ in the first row, and `repeats` >= 2 fits of each,
    with seeds of their own. Losses are compared on `probes` rows besides the one replaced: by one that pulls the other
    way (`opposite`), or by a fresh one.

    >>> from objpert_core.theory.populations import MeanEstimation
    >>> population = MeanEstimation(3, 0.5)
    >>> found = measured_stability(lambda X, y, seed: X.mean(axis=0), population, 100, pairs=2, repeats=2)
    >>> round(found.distance, 12) == round(population.lipschitz * 2 / 100, 12)  # z becomes −z
    True
    """
    n, pairs, probes = positive_integer("n", n), positive_integer("pairs", pairs), positive_integer("probes", probes)
    if positive_integer("repeats", repeats) < 2:
        raise ValueError(f"repeats must be a whole number >= 2, got {repeats!r}")
    seeds = np.random.SeedSequence(seed).spawn(pairs)
    distances, gaps = [], []
    worst = (-math.inf, 0.0)
    for own in seeds:
        drawn = [int(value) for value in own.generate_state(repeats + 2)]
        X, y = population.sample(n, drawn[0])
        tests = population.sample(probes, drawn[1])
        first = population.opposite(X[:1], y[:1]) if opposite else (tests[0][:1], tests[1][:1])
        X_other, y_other = np.concatenate((first[0], X[1:])), np.concatenate((first[1], y[1:]))
        fits = [(learn(X, y, one), learn(X_other, y_other, one)) for one in drawn[2:]]
        here, there = (np.array(models, dtype=np.float64) for models in zip(*fits, strict=True))
        distances += list(np.linalg.norm(here - there, axis=1))
        gaps += list(population.generalisation_gap(here, X, y))
        rows = np.concatenate((tests[0], X[:1], first[0])), np.concatenate((tests[1], y[:1], first[1]))
        changes = population.losses(here, *rows) - population.losses(there, *rows)
        means = np.abs(changes.mean(axis=0))
        most = int(np.argmax(means))
        worst = max(worst, (float(means[most]), float(changes[:, most].std(ddof=1)) / math.sqrt(repeats)))
    runs = pairs * repeats
    root = math.sqrt(runs)
    return Stability(
        distance=population.lipschitz * float(np.mean(distances)),
        distance_error=population.lipschitz * float(np.std(distances, ddof=1)) / root,
        change=worst[0],
        change_error=worst[1],
        gap=float(np.mean(gaps)),
        gap_error=float(np.std(gaps, ddof=1)) / root,
        runs=runs,
    )
