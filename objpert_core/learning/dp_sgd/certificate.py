"""The certificate of DP-SGD: one run, or the best of a random number of runs, and whether the choice is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from objpert_core.accounting import DPSGD, PrivateSelection
from objpert_core.learning.certificate import ROUNDING, PrivacyCertificate
from objpert_core.learning.dp_sgd.budget import ACCOUNTANTS, Budget, accounted, score_mechanism
from objpert_core.learning.dp_sgd.optimizers import OPTIMIZERS
from objpert_core.learning.dp_sgd.training import Schedule
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.sampling import Streams

TUNINGS = ("none", "honest", "dishonest")
_COVERED = {
    "none": "one run with the learning rate given",
    "honest": "the runs and the choice among them",
    "dishonest": "ONE run only: the choice of its learning rate looked at the data and is NOT covered",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class DPSGDCertificate(PrivacyCertificate, mechanisms=("DPSGD", "PrivateSelection")):
    """The certificate of `DPSGDLogisticRegression`; common fields: `PrivacyCertificate`.

    Attributes
    ----------
    noise_multiplier : float
        Standard deviation of the noise on the sum of the gradients divided by `clip`.
    sample_rate : float
        Probability with which a row joined a batch.
    steps : int
        Of one run.
    clip : float
        Norm to which every row's gradient was clipped.
    optimizer : str
    batch_size : int
    epochs : int
        With `public_rows` they give `sample_rate` and `steps`.
    public_rows : int
        The number of rows, treated as public: it decided `sample_rate` and `steps`.
    tuning : {"none", "honest", "dishonest"}
    choice_covered : bool
        False where the promise is that of one run but the run was chosen by looking at the data.
    candidates : tuple of float
        The learning rates on offer.
    mean_runs : float or None
        μ, where the number of runs was Poisson(μ).
    score_noise : float or None
        Standard deviation of the noise on the count of right answers that chose, where private rows were counted.
    validation_fraction : float or None
        Probability with which a row was held out for the choice; None where no training row was.
    """

    DIAGNOSTICS: ClassVar[tuple[str, ...]] = ()
    ACCOUNTANTS: ClassVar[tuple[str, ...]] = ACCOUNTANTS

    noise_multiplier: float
    sample_rate: float
    steps: int
    clip: float
    optimizer: str
    batch_size: int
    epochs: int
    public_rows: int
    tuning: str
    choice_covered: bool
    candidates: tuple[float, ...]
    mean_runs: float | None = None
    score_noise: float | None = None
    validation_fraction: float | None = None

    @classmethod
    def of(
        cls,
        budget: Budget,
        schedule: Schedule,
        streams: Streams,
        *,
        tuning: str,
        clip: float | None,
        intercept_scaling: float,
        **values: Any,
    ) -> Self:
        """The certificate of a fit with this budget, walk through the data and randomness.

        Parameters
        ----------
        budget : Budget
        schedule : Schedule
        streams : Streams
        tuning, intercept_scaling
            As the attributes.
        clip : float or None
            None stands for √(1 + s²).
        **values
            The other fields that these do not determine.
        """
        selection = budget.mechanism if isinstance(budget.mechanism, PrivateSelection) else None
        return cls(
            mechanism=type(budget.mechanism).__name__,
            adjacency=budget.mechanism.adjacency,
            noise_source=streams.origin,
            reproducible=streams.reproducible,
            noise_multiplier=budget.noise_multiplier,
            score_noise=budget.score_noise,
            mean_runs=None if selection is None else selection.mean_runs,
            sample_rate=schedule.sample_rate,
            steps=schedule.steps,
            clip=row_radius(intercept_scaling) if clip is None else float(clip),
            tuning=tuning,
            choice_covered=tuning != "dishonest",
            intercept_scaling=intercept_scaling,
            **values,
        )

    def rebuild(self) -> DPSGD | PrivateSelection:
        """The mechanism again, from the certificate's numbers alone: `PrivateSelection` if the choice is paid for."""
        run = DPSGD(self.noise_multiplier, self.sample_rate, self.steps)
        return run if self.mean_runs is None else PrivateSelection(run, self.mean_runs)

    def verify(self) -> bool:
        """Account anew: True if what the certificate covers is (epsilon, delta)-DP.

        Sample rate and steps must be those that batch size, epochs and the public number of rows give.
        For honest tuning by private held-out rows that is the selection as a training row sees it and as a held-out
        row sees it. For ``tuning="dishonest"`` it is one run; `choice_covered` says that the choice is not.
        """
        honest = self.tuning == "honest"
        mechanism = self.rebuild()
        fraction = self.validation_fraction
        private_score = honest and fraction is not None
        if (
            self.tuning not in TUNINGS
            or not self.well_formed()
            or (self.mechanism, self.adjacency) != (type(mechanism).__name__, mechanism.adjacency)
            or self.optimizer not in OPTIMIZERS
            or not self.clip > 0
            or not (fraction is None or 0 < fraction < 1)
            or self._schedule() != (self.sample_rate, self.steps)
            or honest is (self.mean_runs is None)
            or self.choice_covered is (self.tuning == "dishonest")
            or private_score is (self.score_noise is None)
            or (self.tuning == "none" and len(self.candidates) != 1)
        ):
            return False
        cases: list[DPSGD | PrivateSelection] = [mechanism]
        if self.score_noise is not None and self.mean_runs is not None:
            cases.append(score_mechanism(self.score_noise, self.mean_runs))
        return all(
            accounted(case, self.accountant).delta(self.epsilon) <= self.delta * (1 + ROUNDING) for case in cases
        )

    def _schedule(self) -> tuple[float, int]:
        """The sample rate and the steps of one run."""
        expected = Schedule.of_epochs(
            self.public_rows * (1 - (self.validation_fraction or 0.0)), self.batch_size, self.epochs
        )
        return expected.sample_rate, expected.steps

    def _lines(self) -> list[str]:
        selection = "" if self.mean_runs is None else f", best of K ~ Poisson({self.mean_runs:g}) runs"
        lines = [
            f"  covers     {_COVERED[self.tuning]}",
            f"  proof      DP-SGD{selection}, accountant {self.accountant!r}",
            f"  run        noise multiplier {self.noise_multiplier:.6g}, sample rate {self.sample_rate:.6g} of "
            f"{self.public_rows} rows (their number is treated as public), {self.steps} steps of {self.optimizer}",
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
