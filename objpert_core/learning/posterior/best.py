"""The best of a geometric number of posterior draws, judged by public rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from objpert_core.learning.geometric import first_success
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.posterior.adaptive import Run
from objpert_core.learning.sampling import best_among, uniform_choices


def best_run(
    run: Callable[[float], Run | None],
    lams: Sequence[float],
    score: Callable[[Run], float],
    mean_runs: float,
    source: NoiseSource,
) -> Run | None:
    """Run K times, each with a λ drawn at random, K geometric; the run with the highest score, None if all refused.

    K and all other runs must stay secret: the accounting averages over K (Liu and Talwar, 2019; docs/theorems.md, T11).
    `score` may look at public rows only, and `mean_runs` is E[K]. Of equal scores the first wins: runs are
    exchangeable, so the first is as good as one drawn at random.
    """
    picks = uniform_choices(source, len(lams), first_success(source, 1 / mean_runs))
    best = best_among((found for pick in picks if (found := run(lams[pick])) is not None), score)
    return None if best is None else best[1]
