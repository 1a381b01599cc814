"""The noise and the schedules of Bassily, Feldman, Talwar and Thakurta (2019), as they print them.

Neighbours differ in one row that is replaced. n rows, d parameters, a ball of radius M, an L-Lipschitz loss. Two of the
paper's privacy theorems are false as printed. Theorem 3.1 has no condition on T, and fails at T = 1: its batches are
drawn with replacement, so one row may be in a batch many times. Theorem 5.2 has the noise for rows that are added or
removed, where rows are replaced. So these numbers certify nothing; an accountant has to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from objpert_core._validation import in_open_unit, positive, positive_integer


@dataclass(frozen=True)
class NoisySGDSchedule:
    """Algorithm 1's numbers.

    Attributes
    ----------
    steps : int
        T.
    batch_size : int
        m, drawn with replacement.
    noise : float
        σ, the standard deviation of the noise on every coordinate of a batch's mean gradient.
    step_size : float
        η.
    largest_smoothness : float
        2/η: a step does not drive neighbours apart as long as β is no larger.
    """

    steps: int
    batch_size: int
    noise: float
    step_size: float
    largest_smoothness: float


def published_sgd_schedule(
    n: int, d: int, epsilon: float, delta: float, *, radius: float = 1.0, lipschitz: float = 1.0, strict: bool = True
) -> NoisySGDSchedule:
    """Compute the schedule of Algorithm 1 and Theorem 3.2, as printed.

    Parameters
    ----------
    n, d : int >= 1
    epsilon, delta : float
    radius, lipschitz : float > 0
        M and L.
    strict : bool, default=True
        Refuse ε and δ for which the paper claims nothing. False is for comparisons.

    Raises
    ------
    ValueError
        If a number is out of range; with `strict` also for ε > 1 or δ > 1/n².

    Notes
    -----
    T = max(1, ⌊min(n/8, ε²n²/(32 d log(1/δ)))⌋), m = min(n, ⌈max(n√(ε/(4T)), 1)⌉), σ² = 8TL² log(1/δ)/(nε)² and
    η = M/(L√T).

    Examples
    --------
    >>> schedule = published_sgd_schedule(10_000, 50, 1.0, 1e-8)
    >>> schedule.steps, schedule.batch_size, round(schedule.noise, 5)
    (1250, 142, 0.04292)
    """
    n, d, epsilon, delta, m, slope = checked_sizes(n, d, epsilon, delta, radius, lipschitz, strict=strict)
    log = math.log(1 / delta)
    steps = max(1, math.floor(min(n / 8, (epsilon * n) ** 2 / (32 * d * log))))
    batch = min(n, math.ceil(max(n * math.sqrt(epsilon / (4 * steps)), 1)))
    step = m / (slope * math.sqrt(steps))
    return NoisySGDSchedule(steps, batch, slope * math.sqrt(8 * steps * log) / (n * epsilon), step, 2 / step)


def published_objective_noise(epsilon: float, delta: float, lipschitz: float = 1.0) -> float:
    """Compute σ of Algorithm 2, as printed: √(10 log(1/δ))·L/ε. It is too small where rows are replaced.

    Examples
    --------
    >>> round(published_objective_noise(1.0, 1e-6), 2)
    11.75
    """
    epsilon, delta = positive("epsilon", epsilon), in_open_unit("delta", delta)
    return positive("lipschitz", lipschitz) * math.sqrt(10 * math.log(1 / delta)) / epsilon


def corrected_objective_noise(epsilon: float, delta: float, lipschitz: float = 1.0) -> float:
    """Compute σ by the theorem that Theorem 5.2 restates, for gradients that move by 2L: 2L√(8 log(2/δ) + 4ε)/ε.

    Notes
    -----
    Kifer, Smith and Thakurta (2012), Theorem 2.

    Examples
    --------
    >>> round(corrected_objective_noise(1.0, 1e-6), 1)
    21.9
    """
    epsilon, delta = positive("epsilon", epsilon), in_open_unit("delta", delta)
    return 2 * positive("lipschitz", lipschitz) * math.sqrt(8 * math.log(2 / delta) + 4 * epsilon) / epsilon


def published_objective_lam(
    n: int, d: int, epsilon: float, delta: float, *, radius: float = 1.0, lipschitz: float = 1.0, strict: bool = True
) -> float:
    """Compute Λ = 2nλ of Algorithm 2 and Theorem 5.3, as printed: λ = (2L/M)√(2/n + 4d log(1/δ)/(εn)²).

    Λ is this package's λ, which multiplies ½‖θ‖² beside a *sum* of losses.

    Parameters
    ----------
    n, d, epsilon, delta, radius, lipschitz, strict
        As in `published_sgd_schedule`, which says what is refused.

    Examples
    --------
    >>> round(published_objective_lam(10_000, 10, 0.5, 1e-8, radius=4.0), 1)
    151.5
    """
    n, d, epsilon, delta, m, slope = checked_sizes(n, d, epsilon, delta, radius, lipschitz, strict=strict)
    spread = math.sqrt(2 / n + 4 * d * math.log(1 / delta) / (epsilon * n) ** 2)
    return 2 * n * (2 * slope / m) * spread


def checked_sizes(
    n: int, d: int, epsilon: float, delta: float, radius: float, lipschitz: float, *, strict: bool = False
) -> tuple[int, int, float, float, float, float]:
    """Check the six numbers that all methods need; with `strict` also that ε ≤ 1 and δ ≤ 1/n².

    Raises
    ------
    ValueError
        Naming the first that is out of range.
    """
    n, d = positive_integer("n", n), positive_integer("d", d)
    epsilon, delta = positive("epsilon", epsilon), in_open_unit("delta", delta)
    if strict and epsilon > 1:
        raise ValueError(f"epsilon must be at most 1 for what is published, got {epsilon!r}")
    if strict and delta > (1 + 1e-12) / n**2:
        raise ValueError(f"delta must be at most 1/n² = {1 / n**2:g} for what is published, got {delta!r}")
    return n, d, epsilon, delta, positive("radius", radius), positive("lipschitz", lipschitz)
