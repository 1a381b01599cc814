"""The noise and the schedules of Bassily, Feldman, Talwar and Thakurta (2019), as they print them.

Neighbours differ in one row that is replaced. Theorem 3.1 is false at T = 1, as one row may be in a batch many times.
Theorem 5.2 has the noise for rows that are added or removed. These numbers certify nothing; the mechanisms built of
them can be asked. With `strict` what the paper claims nothing for is refused: ε > 1, δ > 1/n² or β > εΛ/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from objpert_core._validation import choice, in_open_unit, positive, positive_integer
from objpert_core.accounting.dp_sgd.mechanism import DPSGD
from objpert_core.accounting.dp_sgd.sampled import SampledWithoutReplacement, SampledWithReplacement
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.population.sizes import Sizes

SCHEDULES = ("tight", "bassily2019")
"""How noise and steps, or noise and λ, are chosen: by this project's theorems, or as published."""
WITH_REPLACEMENT, WITHOUT_REPLACEMENT = "with replacement", "without replacement"
POISSON, FULL_BATCH = "poisson", "full batch"
DRAWINGS = (WITH_REPLACEMENT, WITHOUT_REPLACEMENT, POISSON, FULL_BATCH)
"""How the rows of a batch may be drawn; the first is the paper's."""
_PHASES = 10


@dataclass(frozen=True)
class NoisySGDSchedule:
    """Algorithm 1's numbers."""

    steps: int  # T
    batch_size: int  # m, drawn with replacement
    noise: float  # σ, standard deviation of the noise on every coordinate of a batch's mean gradient
    step_size: float  # η
    largest_smoothness: float  # 2/η: a step does not drive neighbours apart as long as β is no larger


def published_sgd_schedule(sizes: Sizes, *, strict: bool = True, steps: int | None = None) -> NoisySGDSchedule:
    """Compute the schedule of Algorithm 1 and Theorem 3.2, as printed; Theorem 3.1 claims privacy for any `steps`.

    T = max(1, ⌊min(n/8, ε²n²/(32 d log(1/δ)))⌋), m = min(n, ⌈max(n√(ε/(4T)), 1)⌉), σ² = 8TL² log(1/δ)/(nε)², η =
    M/(L√T).
    """
    n, d, epsilon, delta, m, slope = sizes.claimed(strict).numbers
    log = math.log(1 / delta)
    if steps is None:
        steps = max(1, math.floor(min(n / 8, (epsilon * n) ** 2 / (32 * d * log))))
    steps = positive_integer("steps", steps)
    batch = min(n, math.ceil(max(n * math.sqrt(epsilon / (4 * steps)), 1)))
    step = m / (slope * math.sqrt(steps))
    return NoisySGDSchedule(steps, batch, slope * math.sqrt(8 * steps * log) / (n * epsilon), step, 2 / step)


def published_sgd_mechanism(
    n: int,
    d: int,
    epsilon: float,
    delta: float,
    *,
    lipschitz: float = 1.0,
    sampling: str = WITH_REPLACEMENT,
    radius: float = 1.0,
    strict: bool = True,
    steps: int | None = None,
) -> SampledWithReplacement | SampledWithoutReplacement | DPSGD:
    """Build Algorithm 1 with its published schedule as a mechanism, whose ε can stand beside the published target."""
    how = choice("sampling", sampling, DRAWINGS)
    sizes = Sizes(n, d, epsilon, delta, radius, lipschitz)
    plan = published_sgd_schedule(sizes, strict=strict, steps=steps)
    batch = n if how == FULL_BATCH else plan.batch_size
    return sampled(how, plan.noise * batch / lipschitz, batch, n, plan.steps)


def sampled(
    how: str, noise_multiplier: float, batch_size: float, rows: int, steps: int, adjacency: str = REPLACE_ONE
) -> SampledWithReplacement | SampledWithoutReplacement | DPSGD:
    """Build the mechanism of that many noisy sums, drawn by one of `DRAWINGS`."""
    if choice("sampling", how, DRAWINGS) == WITHOUT_REPLACEMENT:
        return SampledWithoutReplacement(noise_multiplier, int(batch_size), rows, steps)
    if how == WITH_REPLACEMENT:
        return SampledWithReplacement(noise_multiplier, int(batch_size), rows, steps)
    share = 1.0 if how == FULL_BATCH else batch_size / rows
    return DPSGD(noise_multiplier, min(share, 1.0), steps, adjacency=adjacency)


def published_objective_noise(epsilon: float, delta: float, lipschitz: float = 1.0) -> float:
    """Compute σ of Algorithm 2, as printed: √(10 log(1/δ))·L/ε. It is too small where rows are replaced."""
    epsilon, delta = positive("epsilon", epsilon), in_open_unit("delta", delta)
    return positive("lipschitz", lipschitz) * math.sqrt(10 * math.log(1 / delta)) / epsilon


def corrected_objective_noise(epsilon: float, delta: float, lipschitz: float = 1.0) -> float:
    """Compute σ by the theorem that Theorem 5.2 restates, for gradients that move by 2L: 2L√(8 log(2/δ) + 4ε)/ε. Kifer,
    Smith and Thakurta (2012), Theorem 2."""
    epsilon, delta = positive("epsilon", epsilon), in_open_unit("delta", delta)
    return 2 * positive("lipschitz", lipschitz) * math.sqrt(8 * math.log(2 / delta) + 4 * epsilon) / epsilon


def published_objective_lam(sizes: Sizes, *, strict: bool = True) -> float:
    """Compute Λ = 2nλ of Algorithm 2 and Theorem 5.3, as printed: λ = (2L/M)√(2/n + 4d log(1/δ)/(εn)²). Λ is this
    package's λ, which multiplies ½‖θ‖² beside a *sum* of losses."""
    n, d, epsilon, delta, m, slope = sizes.claimed(strict).numbers
    spread = math.sqrt(2 / n + 4 * d * math.log(1 / delta) / (epsilon * n) ** 2)
    return 2 * n * (2 * slope / m) * spread


def phased_schedule(sizes: Sizes) -> list[tuple[int, float]]:
    """Plan phased empirical risk minimisation: (rows, η) of every phase, half of the rows left and a quarter of η."""
    n, noise = sizes.n, sizes.noise
    first = math.sqrt(2 / (n * (4 / 3 + 32 * sizes.d * noise**2 / n))) * sizes.radius / sizes.lipschitz
    count = min(max(1, int(math.log2(n))), _PHASES)
    return [(max(1, n >> i), first * 4.0 ** (1 - i)) for i in range(1, count + 1)]
