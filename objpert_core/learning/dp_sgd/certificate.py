"""The certificate of DP-SGD: one run, or the best of a random number of runs, and whether the choice is paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from objpert_core.accounting import DPSGD, Mechanism, PrivateSelection, RandomAllocation, parallel
from objpert_core.accounting.dp_sgd.calibration import ACCOUNTANTS
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    LATER,
    NONNEGATIVE,
    OPEN_UNIT,
    POSITIVE,
    RATE,
    TRUTH,
    fact,
    number,
    one_of,
    or_nothing,
    several,
)
from objpert_core.learning.certificates.model import FAR
from objpert_core.learning.dp_sgd.budget import Budget, Run, accounted, check_allocated, run_of, score_mechanism
from objpert_core.learning.dp_sgd.optimizers import OPTIMIZERS
from objpert_core.learning.dp_sgd.training import (
    ALLOCATION,
    LARGEST_RATE,
    POISSON,
    SAMPLINGS,
    Schedule,
    fine_enough,
)
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.sampling import Streams

TUNINGS = ("none", "honest", "dishonest")
_COVERED = {
    "none": "one run with the learning rate given",
    "honest": "the runs and the choice among them",
    "dishonest": "ONE run only: the choice of its learning rate looked at the data and is NOT covered",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class DPSGDCertificate(PrivacyCertificate, mechanisms=("DPSGD", "PrivateSelection", "RandomAllocation")):
    """The certificate of `DPSGDLogisticRegression`; common fields: `PrivacyCertificate`.

    Attributes
    ----------
    noise_multiplier : float
        Standard deviation of the noise on the sum of the gradients divided by `clip`.
    sample_rate, steps : float, int
        Probability with which a row joined a batch, and the steps of one run.
    clip : float
        Norm to which every row's gradient was clipped.
    optimizer : str
    batch_size, epochs : int
        With `public_rows` they give `sample_rate` and `steps`.
    public_rows : int
        The number of rows, treated as public. `rows_declared` says whether the number was read off the data.
    tuning : {"none", "honest", "dishonest"}
    choice_covered : bool
        False where the promise is about one run but the run was chosen by looking at the data.
    candidates : tuple of float
        The learning rates on offer.
    mean_runs : float or None
        μ, where the number of runs was Poisson(μ).
    score_noise : float or None
        Standard deviation of the noise on the count of right answers by which private rows chose.
    validation_fraction : float or None
        Probability with which a row was held out for the choice; None where no training row was.
    margin : float or None
        The loss's margin, which costs nothing (docs/theorems.md, T2). None in form 1 only.
    sampling : {"poisson", "allocation"}
        Whether each row joined each batch by its own coin, or was in one step of each epoch (docs/theorems.md, T28).
    """

    accountant: str = fact(one_of(*ACCOUNTANTS))
    noise_multiplier: float = fact(POSITIVE)
    sample_rate: float = fact(RATE)
    steps: int = fact(COUNT)
    clip: float = fact(POSITIVE)
    optimizer: str = fact(one_of(*OPTIMIZERS))
    batch_size: int = fact(COUNT)
    epochs: int = fact(COUNT)
    public_rows: int = fact(COUNT)
    tuning: str = fact(one_of(*TUNINGS))
    choice_covered: bool = fact(TRUTH)
    candidates: tuple[float, ...] = fact(
        several(number(f"a float above 0 and at most {LARGEST_RATE:g}", lambda value: 0 < value <= LARGEST_RATE))
    )
    mean_runs: float | None = fact(or_nothing(POSITIVE), default=None)
    score_noise: float | None = fact(or_nothing(POSITIVE), default=None)
    validation_fraction: float | None = fact(or_nothing(OPEN_UNIT), default=None)
    margin: float | None = fact(NONNEGATIVE, since=2, default=None)
    sampling: str = fact(one_of(*SAMPLINGS), since=LATER, default=POISSON)

    @classmethod
    def of(
        cls,
        budget: Budget,
        streams: Streams,
        *,
        tuning: str,
        clip: float | None,
        intercept_scaling: float,
        **values: Any,
    ) -> Self:
        """Write the certificate of a fit with this budget and randomness; a `clip` of None stands for √(1 + s²)."""
        return cls.from_mechanism(
            budget.mechanism,
            **streams.provenance,
            score_noise=budget.score_noise,
            clip=row_radius(intercept_scaling) if clip is None else float(clip),
            tuning=tuning,
            choice_covered=tuning != "dishonest",
            intercept_scaling=intercept_scaling,
            **values,
        )

    @classmethod
    def numbers(cls, mechanism: Run | PrivateSelection) -> dict[str, Any]:
        """Name the noise, the sampling and, where the choice is paid for, the mean number of runs."""
        run, mean_runs = run_of(mechanism)
        own: dict[str, Any] = {"noise_multiplier": run.noise_multiplier, "mean_runs": mean_runs}
        if isinstance(run, RandomAllocation):
            return own | {"sample_rate": 1 / run.steps, "steps": run.steps * run.epochs, "sampling": ALLOCATION}
        return own | {"sample_rate": run.sample_rate, "steps": run.steps, "sampling": POISSON}

    def reach(self, dimension: int) -> float | None:
        """Add up the longest steps that the optimiser can take; see `PrivacyCertificate.reach`."""
        if self.optimizer == "adam":  # no coordinate moves by more than 7.3 learning rates a step
            longest = FAR * math.sqrt(dimension)
        else:
            rows = max(2**17, FAR * self.public_rows)  # a batch may hold all of them
            longest = (rows + FAR * math.sqrt(dimension) * self.noise_multiplier) * self.clip / self.batch_size
        return self.steps * max(self.candidates) * longest

    def rebuild(self) -> Run | PrivateSelection:
        """See `PrivacyCertificate.rebuild`; the result is a selection if the choice is paid for."""
        if self.sampling == ALLOCATION:
            return RandomAllocation(self.noise_multiplier, self.steps // self.epochs, epochs=self.epochs)
        run = DPSGD(
            self.noise_multiplier,
            self.sample_rate,
            self.steps,
            adjacency=self.mechanism_adjacency,
            group_size=self.rows_per_person,
        )
        return run if self.mean_runs is None else PrivateSelection(run, self.mean_runs)

    def accounted(self, mechanism: Run | PrivateSelection) -> Mechanism:
        """Choose where (ε, δ) of one run come from; a held-out row that is private meets another case (T12)."""
        if self.score_noise is None or self.mean_runs is None:
            return accounted(mechanism, self.accountant)
        held_out = score_mechanism(self.score_noise, self.mean_runs, mechanism.adjacency)
        return parallel(*(accounted(case, self.accountant) for case in (mechanism, held_out)))

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether every step's sum may be rounded to a lattice of this `spacing`."""
        return fine_enough(spacing, self.clip, self.noise_multiplier, dimension)

    def holds(self) -> bool:
        """Say whether the fields fit together: rate and steps are those of the public number of rows, for example."""
        honest = self.tuning == "honest"
        fraction = self.validation_fraction
        private_score = honest and fraction is not None
        if self.sampling == ALLOCATION and not self._allocated():
            return False
        return not (
            self._schedule() != (self.sample_rate, self.steps)
            or honest is (self.mean_runs is None)
            or self.choice_covered is (self.tuning == "dishonest")
            or private_score is (self.score_noise is None)
            or (private_score and self.rows_per_person > 1)  # one person's rows may be on both sides (T12)
            or (self.tuning == "none" and (len(self.candidates) != 1 or fraction is not None))
        )

    def _allocated(self) -> bool:
        """Whether the fields are as random allocation needs them; form 1 did not know random allocation."""
        try:
            check_allocated(
                accountant=self.accountant,
                mean_runs=self.mean_runs,
                adjacency=self.mechanism_adjacency,
                rows_per_person=self.rows_per_person,
            )
        except ValueError:
            return False
        return self.schema > 1

    def _schedule(self) -> tuple[float, int]:
        expected = Schedule.of_epochs(
            self.public_rows * (1 - (self.validation_fraction or 0.0)), self.batch_size, self.epochs, self.sampling
        )
        return expected.sample_rate, expected.steps

    def _lines(self) -> list[str]:
        known = "a declared one" if self.rows_declared else "treated as public"
        selection = "" if self.mean_runs is None else f", best of K ~ Poisson({self.mean_runs:g}) runs"
        allocated = " by random allocation" if self.sampling == ALLOCATION else ""
        joining = f"sample rate {self.sample_rate:.6g} of {self.public_rows} rows"
        if self.sampling == ALLOCATION:
            joining = f"each of {self.public_rows} rows once in {self.steps // self.epochs} steps"
        lines = [
            f"  covers     {_COVERED[self.tuning]}",
            f"  proof      DP-SGD{allocated}{selection}, accountant {self.accountant!r}",
            f"  run        noise multiplier {self.noise_multiplier:.6g}, {joining} (their number is {known}), "
            f"{self.steps} steps of {self.optimizer}",
            f"  gradients  clipped to norm {self.clip:.6g}, {self._rows()}",
        ]
        if self.tuning != "none":
            offered = ", ".join(f"{rate:g}" for rate in self.candidates)
            lines.append(f"  choice     among learning rates {offered}, by {self._judge()}")
        return lines

    def _judge(self) -> str:
        if self.validation_fraction is None:
            return "exact accuracy on rows declared public" if self.choice_covered else "exact accuracy on rows given"
        held_out = f"rows held out with probability {self.validation_fraction:g}"
        if self.score_noise is None:
            return f"exact accuracy on {held_out}"
        return f"the count of right answers on {held_out}, noise {self.score_noise:.6g}"
