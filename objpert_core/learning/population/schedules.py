"""How noisy gradient descent walks through the data, from public numbers only: as published, and with less noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TypedDict

from objpert_core._validation import check_fields, choice, positive, positive_integer
from objpert_core.accounting import (
    DPSGD,
    REPLACE_ONE,
    SampledWithoutReplacement,
    SampledWithReplacement,
    calibrate_dpsgd,
    calibrate_sampled,
)
from objpert_core.accounting.mechanisms.base import ADJACENCIES
from objpert_core.accounting.mechanisms.group import calibrate_group
from objpert_core.accounting.population.published import DRAWINGS, SCHEDULES, published_sgd_schedule, sampled
from objpert_core.accounting.population.sizes import Sizes


class About(TypedDict):
    """Which data sets are neighbours."""

    adjacency: str
    rows_per_person: int


Sampled = DPSGD | SampledWithoutReplacement | SampledWithReplacement

MOST_DRAWN = 10**7
"""Rows that a batch drawn with replacement may have: accounting looks at each number of times that a row is drawn."""

MOST_STEPS = 10**8
"""Steps of a plan: more would not end."""

_DROWNED = 4.5  # noise on a batch's sum, in units of L, from which on sampling is as good as taking all rows
_CURVED = 0.25  # η·β: the bound pays 1/(1 − ηβ) on the noise, and rows are used in proportion to its root
_PROX_STEP = 0.05  # η·L/M on envelopes


@dataclass(frozen=True)
class DescentPlan:
    """All that noisy gradient descent is told before it sees the data.

    `batch_size` is how many rows a step draws (for Poisson sampling on average). A batch's sum has noise of deviation
    noise_multiplier·L. `step_size` is η, `radius` M, `lipschitz` L, `envelope` β, or None for the loss itself.
    """

    schedule: str
    sampling: str
    rows: int
    batch_size: float
    steps: int
    noise_multiplier: float
    step_size: float
    radius: float
    lipschitz: float
    envelope: float | None = None
    adjacency: str = REPLACE_ONE
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        choice("schedule", self.schedule, SCHEDULES)
        how = choice("sampling", self.sampling, DRAWINGS)
        check_fields(self, positive_integer, "rows", "steps", "rows_per_person")
        if choice("adjacency", self.adjacency, ADJACENCIES) != REPLACE_ONE and self.of_fixed_size:
            raise ValueError(
                f"adjacency must be {REPLACE_ONE!r} for sampling={how!r}, which draws from a known number of rows, got "
                f"{self.adjacency!r}"
            )
        check_fields(self, positive, "noise_multiplier", "step_size", "radius", "lipschitz")
        positive("batch_size", self.batch_size)
        if self.envelope is not None:
            object.__setattr__(self, "envelope", positive("envelope", self.envelope))
        if not could_be_drawn(how, self.batch_size, self.rows):
            allowed = f"at most rows = {self.rows}" if how == "poisson" else f"a whole number from 1 to {self.rows}"
            allowed = f"rows = {self.rows}" if how == "full batch" else allowed
            most = f", and at most {MOST_DRAWN}" if self.rows > MOST_DRAWN and how == "with replacement" else ""
            raise ValueError(f"batch_size must be {allowed}{most}, got {self.batch_size!r}")

    @property
    def sample_rate(self) -> float:
        """The share of the rows that a step draws."""
        return 1.0 if self.sampling == "full batch" else self.batch_size / self.rows

    @property
    def of_fixed_size(self) -> bool:
        """Whether a batch is drawn from a known number of rows, and not made of rows that join on their own."""
        return self.sampling in ("without replacement", "with replacement")

    @property
    def mechanism(self) -> Sampled:
        """The mechanism that all the noisy sums together are, about one row."""
        return sampled(self.sampling, self.noise_multiplier, self.batch_size, self.rows, self.steps, self.adjacency)


def could_be_drawn(sampling: str, batch_size: float, rows: int) -> bool:
    """Whether batches of this size can be drawn from so many rows; with replacement the accountant sets a limit."""
    if sampling == "full batch":
        return batch_size == rows
    if not 0 < batch_size <= rows:
        return False
    whole = sampling == "poisson" or batch_size == int(batch_size)
    return whole and (sampling != "with replacement" or batch_size <= MOST_DRAWN)


def published_plan(
    sizes: Sizes, *, smoothness: float, sampling: str = "with replacement", strict: bool = True
) -> DescentPlan:
    """Plan Algorithm 1 of the paper as printed; nothing here makes its (ε, δ) true: ask the plan's `mechanism`."""
    found = published_sgd_schedule(sizes, strict=strict)
    n, radius, lipschitz, envelope = sizes.n, sizes.radius, sizes.lipschitz, None
    if math.isinf(smoothness):
        envelope = lipschitz / radius * min(math.sqrt(n) / 4, 1 / (8 * sizes.a))
    elif smoothness > found.largest_smoothness:
        raise ValueError(
            f"radius must be smaller or the loss less curved: Algorithm 1 needs a curvature of at most 2/η = "
            f"{found.largest_smoothness:g}, got {smoothness:g}"
        )
    whole = choice("sampling", sampling, DRAWINGS) == "full batch"
    return DescentPlan(
        "bassily2019",
        sampling,
        n,
        n if whole else found.batch_size,
        found.steps,
        found.noise * (n if whole else found.batch_size) / lipschitz,
        found.step_size,
        radius,
        lipschitz,
        envelope,
    )


def tight_plan(sizes: Sizes, *, smoothness: float, sampling: str = "poisson", step_scale: float = 1.0) -> DescentPlan:
    """Plan noisy descent with the least noise for (ε, δ): ηT = M/(L√(2/n + dσ²/n²)), η ≤ 1/(4β) (T24). σ is the
    Gaussian mechanism's for what a person moves, 2σ_G where one row is replaced.
    """
    n, radius, lipschitz, noise = sizes.n, sizes.radius, sizes.lipschitz, sizes.swing * sizes.noise
    length = positive("step_scale", step_scale) * radius / lipschitz / math.sqrt(2 / n + sizes.d * (noise / n) ** 2)
    corners = math.isinf(smoothness)
    longest = _PROX_STEP * radius / lipschitz if corners or smoothness == 0 else _CURVED / smoothness
    if not length <= MOST_STEPS * longest:
        raise ValueError(
            f"radius times step_scale must be smaller, or the loss less curved: more than {MOST_STEPS:.0e} steps of "
            f"{longest:.3g} would be needed, for radius = {radius:g}"
        )
    about: About = {"adjacency": sizes.adjacency, "rows_per_person": sizes.rows_per_person}
    steps = max(1, math.ceil(length / longest))
    step = length / steps
    share = min(1.0, _DROWNED / (math.sqrt(steps) * noise))
    batch: float = n if choice("sampling", sampling, DRAWINGS) == "full batch" else share * n
    if sampling in ("poisson", "full batch"):
        found = calibrate_dpsgd(sizes.epsilon, sizes.delta, batch / n, steps, **about)
        multiplier = found.noise_multiplier if isinstance(found, DPSGD) else math.nan  # no tuning was asked for
    else:
        batch = min(n, math.ceil(batch))
        drawn = partial(calibrate_sampled, replacement=sampling == "with replacement")
        multiplier = calibrate_group(
            lambda left: drawn(left, sizes.delta, batch, n, steps), sizes.epsilon, sizes.delta, sizes.rows_per_person
        ).noise_multiplier
    envelope = 2 / step if corners else None
    return DescentPlan("tight", sampling, n, batch, steps, multiplier, step, radius, lipschitz, envelope, **about)
