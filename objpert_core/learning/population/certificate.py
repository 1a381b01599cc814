"""The certificate of noisy gradient descent in a ball: one accountant for every way of drawing rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from objpert_core.accounting.population.published import DRAWINGS, SCHEDULES, sampled
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import COUNT, NONNEGATIVE, POSITIVE, fact, one_of, or_nothing
from objpert_core.learning.certificates.shown import by_public_rows, loss_words
from objpert_core.learning.dp_sgd.training import fine_enough
from objpert_core.learning.population.schedules import Sampled, could_be_drawn
from objpert_core.learning.problem.losses import loss_named
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS


@dataclass(frozen=True, kw_only=True, repr=False)
class NoisySGDCertificate(
    PrivacyCertificate,
    algorithm="noisy SGD",
    mechanisms=("DPSGD", "SampledWithoutReplacement", "SampledWithReplacement"),
):
    """The certificate of `NoisySGDClassifier` and `NoisySGDRegressor`; common fields: `PrivacyCertificate`.

    Attributes
    ----------
    schedule : {"tight", "bassily2019"}
        Where steps and noise come from.
    sampling : {"poisson", "without replacement", "with replacement", "full batch"}
        How the rows of a step were drawn.
    noise_multiplier : float
        Standard deviation of the noise on a batch's sum, divided by `lipschitz`.
    batch_size, steps, step_size : float, int, float
        Rows of a step, for Poisson sampling on average; their number; η.
    ball_radius : float
        M: ‖θ‖ ≤ M, but for rounding.
    lipschitz : float
        L: no row's gradient is longer.
    loss, loss_parameter : str, float or None
        The loss, as `loss_named` knows it.
    envelope : float or None
        β: descent was on the loss's Moreau envelope of this smoothness; None: on the loss itself.
    public_rows : int
        n, treated as public: batches and noise depend on n.
    """

    schedule: str = fact(one_of(*SCHEDULES))
    sampling: str = fact(one_of(*DRAWINGS))
    noise_multiplier: float = fact(POSITIVE)
    batch_size: float = fact(POSITIVE)
    steps: int = fact(COUNT)
    step_size: float = fact(POSITIVE)
    ball_radius: float = fact(POSITIVE)
    lipschitz: float = fact(POSITIVE)
    loss: str = fact(one_of(*EVERY_LOSS))
    loss_parameter: float | None = fact(or_nothing(NONNEGATIVE))
    envelope: float | None = fact(or_nothing(POSITIVE))
    public_rows: int = fact(COUNT)

    @classmethod
    def numbers(cls, mechanism: Sampled) -> dict[str, Any]:
        """Name the noise and the number of steps; the plan says how rows are drawn."""
        return {"noise_multiplier": mechanism.noise_multiplier, "steps": mechanism.steps}

    def reach(self, dimension: int) -> float | None:
        """M: all noise came before the projection onto the ball."""
        return self.ball_radius

    def rebuild(self) -> Sampled:
        drawn = self.sampling, self.noise_multiplier, self.batch_size, self.public_rows, self.steps
        return sampled(*drawn, self.mechanism_adjacency)

    def holds(self) -> bool:
        """Say whether L bounds the gradients of this loss on these rows, and such batches can be drawn."""
        loss = loss_named(self.loss, self.loss_parameter, EVERY_LOSS)
        return (
            self.lipschitz >= loss.lipschitz * self.radius
            and (self.envelope is not None or math.isfinite(loss.smoothness))
            and could_be_drawn(self.sampling, self.batch_size, self.public_rows)
        )

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """As for DP-SGD, with L in the place of the clipping norm."""
        return fine_enough(spacing, self.lipschitz, self.noise_multiplier, dimension)

    def _lines(self) -> list[str]:
        loss = loss_words(self.loss, self.loss_parameter)
        smooth = "" if self.envelope is None else f", its Moreau envelope of smoothness {self.envelope:.6g}"
        return [
            f"  proof      {self.mechanism}, schedule {self.schedule!r}, rows drawn: {self.sampling}",
            f"  run        {self.steps} steps of size {self.step_size:.6g} in the ball of radius {self.ball_radius:g}, "
            f"batches of {self.batch_size:.6g}, noise multiplier {self.noise_multiplier:.6g}",
            f"  objective  {loss}{smooth}, gradients of norm at most {self.lipschitz:.6g} ({self._rows()})",
            *by_public_rows(self.public_rows, self.rows_declared, "batches and noise were"),
        ]
