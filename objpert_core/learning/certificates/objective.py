"""The certificate of objective perturbation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.objective.bounds import ACCOUNTANTS, BOUND_REGISTRY
from objpert_core.learning.certificates.field_rules import COUNT, LATER, NONNEGATIVE, POSITIVE, fact, one_of, or_nothing
from objpert_core.learning.certificates.model import FAR
from objpert_core.learning.certificates.shown import loss_words
from objpert_core.learning.certificates.solved import SolvedCertificate
from objpert_core.learning.problem.envelopes import widest_envelope
from objpert_core.learning.problem.losses import LOSSES, LogisticLoss, Loss, loss_named
from objpert_core.learning.problem.nonsmooth import EVERY_LOSS


@dataclass(frozen=True, kw_only=True, repr=False)
class ObjectivePerturbationCertificate(SolvedCertificate, mechanisms=("ApproximateMinima",)):
    """The certificate of Algorithm 1 of Redberg, Koskela and Wang (2023); see also `SolvedCertificate` for fields.

    Attributes
    ----------
    bound : str
        The theorem used; `accountant` says how (ε, δ) came from the theorem ("profile" or "rdp").
    sigma, lam : float
        Standard deviation of each entry of the objective's linear noise, and the regularisation λ.
    tau, sigma_out : float
        Gradient norm the solver had to reach, and the standard deviation of the noise on the coefficients.
    lipschitz, smoothness : float
        Bounds on one row's gradient norm (R = √(1 + s²) for logistic regression) and Hessian norm.
    dimension : int or None
        Number of parameters, where the bound uses it.
    loss, loss_parameter : str, float or None
        The loss, as `loss_named` knows it.
    clip : float or None
        Threshold C to which every row's gradient was clipped in norm.
    public_rows : int or None
        The number of rows, where a rule read it; the guarantee then takes the number as public.
    ball_radius : float or None
        M, where θ was looked for in the ball ‖θ‖ ≤ M; the output noise comes on top. The ball costs no privacy.
    envelope : float or None
        β, where every row's loss was replaced by its Moreau envelope of this smoothness in θ.
    hessian_noise, outer_noise : float or None
        Standard deviations of the noise on the curvature and on the squared gradients that were released after the fit,
        as multiples of the most that one row adds, R²/4 and R².
    """

    accountant: str = fact(one_of(*ACCOUNTANTS))
    bound: str = fact(one_of(*BOUND_REGISTRY))
    sigma: float = fact(POSITIVE)
    lam: float = fact(POSITIVE)
    tau: float = fact(POSITIVE)
    sigma_out: float = fact(POSITIVE)
    lipschitz: float = fact(POSITIVE)
    smoothness: float = fact(NONNEGATIVE)
    dimension: int | None = fact(or_nothing(COUNT))
    loss: str = fact(one_of(*EVERY_LOSS), default=LogisticLoss.name)
    loss_parameter: float | None = fact(or_nothing(NONNEGATIVE), default=None)
    clip: float | None = fact(or_nothing(POSITIVE), default=None)
    public_rows: int | None = fact(or_nothing(COUNT), default=None)
    ball_radius: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    envelope: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    hessian_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)
    outer_noise: float | None = fact(or_nothing(POSITIVE), since=LATER, default=None)

    @classmethod
    def numbers(cls, mechanism: ApproximateMinima) -> dict[str, Any]:
        """Name theorem, noise, regularisation and bounds on one row."""
        objective = mechanism.objective
        own = {name: getattr(objective, name) for name in _OF_OBJECTIVE}
        return {**own, "tau": mechanism.tau, "sigma_out": mechanism.sigma_out}

    def reach(self, dimension: int) -> float | None:
        """λ‖θ‖ ≤ nL + ‖b‖ + τ, or the ball's M, and the output noise; see `PrivacyCertificate.reach`."""
        noise = FAR * math.sqrt(dimension)
        minimum = math.inf if self.ball_radius is None else self.ball_radius
        if self.most_rows is not None:
            minimum = min(minimum, (self.most_rows * self.lipschitz + noise * self.sigma + self.tau) / self.lam)
        return None if math.isinf(minimum) else minimum + noise * self.sigma_out

    def rebuild(self) -> ApproximateMinima:
        own = {name: getattr(self, name) for name in _OF_OBJECTIVE}
        objective = ObjectivePerturbation(**own, adjacency=self.mechanism_adjacency)
        return ApproximateMinima(objective, self.tau, self.sigma_out)

    @classmethod
    def uncovered(
        cls, mechanism: ApproximateMinima, loss: Loss, clip: float | None, radius: float, dimension: int
    ) -> str | None:
        """Say why the theorem does not cover the problem; see `PrivacyCertificate.uncovered`."""
        return covers(mechanism.objective, loss, clip, radius, dimension)

    def holds(self) -> bool:
        """Say whether the bounds on gradient and Hessian hold for this loss on these rows, and τ was reached."""
        loss = loss_named(self.loss, self.loss_parameter, EVERY_LOSS)
        if self.envelope is not None:
            loss = widest_envelope(loss, self.envelope, self.radius)
        return covers(self.rebuild().objective, loss, self.clip, self.radius) is None and self.reached(self.tau)

    def _contradiction(self) -> str | None:
        if self.envelope is None and self.loss not in LOSSES:
            return f"envelope must be a number for the loss {self.loss!r}, which has corners, got None"
        if self.rest_weight != 1.0 and (self.loss != LogisticLoss.name or (self.clip, self.envelope) != (None, None)):
            return f"rest_weight must be 1.0 but for the logistic loss as it is, got {self.rest_weight!r}"
        return super()._contradiction()

    def _lines(self) -> list[str]:
        loss = loss_words(self.loss, self.loss_parameter)
        rounded = "" if self.envelope is None else f", its envelope of smoothness {self.envelope:.6g}"
        clipped = "" if self.clip is None else f", gradients clipped to norm {self.clip:g}"
        ball = [] if self.ball_radius is None else [f"  ball       ‖θ‖ ≤ {self.ball_radius:g}, before the output noise"]
        return [
            f"  proof      {BOUND_REGISTRY[self.bound].label} (bound {self.bound!r}), accountant {self.accountant!r}, "
            f"{self.mechanism}",
            *self._before(),
            f"  objective  {loss}{rounded}{clipped}, sigma = {self.sigma:.6g}, lam = {self.lam:.6g}, "
            f"R = {self.radius:.6g} ({self._rows()})",
            *ball,
            f"  solver     gradient norm ≤ tau = {self.tau:g}, output noise sigma_out = {self.sigma_out:.6g}",
            *self._after(has_rule=self.loss == LogisticLoss.name),
        ]


_OF_OBJECTIVE = ("bound", "sigma", "lam", "lipschitz", "smoothness", "dimension")


def covers(
    promised: ObjectivePerturbation, loss: Loss, clip: float | None, radius: float, dimension: int | None = None
) -> str | None:
    """Say why the proof does not cover `loss`, clipped at `clip`, on rows of norm `radius`; None if the proof does."""
    if clip is not None and not clip > 0:
        return f"clip must be None or a number > 0, got {clip!r}"
    theorem = BOUND_REGISTRY[promised.bound]
    if reason := theorem.uncovered(loss):
        return reason
    gradient = loss.lipschitz * radius
    if clip is not None and not theorem.needs_whole_radius:
        gradient = min(gradient, clip)
    for name, value, needed in (
        ("lipschitz", promised.lipschitz, gradient),
        ("smoothness", promised.smoothness, loss.smoothness * radius**2),
        ("dimension", promised.dimension, dimension),
    ):
        if value is not None and needed is not None and not value >= needed:
            return f"{name} must be at least {needed!r}, got {value!r}"
    return None
