"""Objective perturbation, exact (`ObjectivePerturbation`) and as solved in practice (`ApproximateMinima`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import FloatArray, between, check_fields, choice, length, positive_integer, square, within
from objpert_core.accounting.gaussian.gdp import mu_of_law
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.simple import PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.mechanisms.base import (
    ADD_REMOVE,
    Mechanism,
    NormalSource,
    Perturbation,
    check_adjacency,
)
from objpert_core.accounting.mechanisms.chain import Chained
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.numerics.split import log_best_split
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY, BOUNDS, Bound


@dataclass(frozen=True, eq=False)
class ObjectivePerturbation(Mechanism):
    """Objective perturbation: the minimiser of Σ ℓ(θ; z) + λ/2 ‖θ‖² + bᵀθ with b ~ N(0, σ² I).

    Mechanisms are equal if they agree in what their bound uses. `lipschitz` lies from 1e-50 to 1e50, `sigma` within a
    factor of 1e100 of it, `smoothness` from 1e-110 to 1e110, `lam` from 1e-180 to 1e180.

    Parameters
    ----------
    sigma : float > 0
        Standard deviation of each coordinate of b.
    lam : float > 0
        Regularisation λ.
    lipschitz : float > 0
        Bound L on the L2 norm of one row's gradient; for the logistic loss the largest row norm R.
    smoothness : float > 0, optional
        Bound β on the largest eigenvalue of one row's Hessian; `lipschitz**2 / 4` unless given, which is the
        logistic loss on rows of norm at most `lipschitz`.
    bound : str
        Which theorem to use: a key of `BOUND_REGISTRY`. The entry says which losses the theorem covers, what it proves
        and where it is silent. ``"logistic"`` is the tight one for the logistic loss; ``"monotone"`` and
        ``"two-signed"`` hold for GLM losses at any λ > 0; ``"glm"``, ``"kifer2012"`` and ``"non-glm"`` are the
        published ones, for a λ that is large enough.
    dimension : int >= 1, optional
        Number of parameters; needed by, and only used by, ``"non-glm"``.
    adjacency : str
        `ADD_REMOVE` or `REPLACE_ONE`. What is proved of a row that is replaced follows from the bound for a row more or
        less (docs/theorems.md, T17): with ``"logistic"`` it is the profile of the Gaussian mechanism of sensitivity
        2R for every ε >= 2R²/λ, and for every ε >= 0 once λ >= 2σ².

    Examples
    --------
    >>> ObjectivePerturbation(sigma=5, lam=0.5, smoothness=1.0, bound="glm").explain()
    'Theorems 3.1 and 3.2 need λ > β; λ = 0.5 is not above β = 1, so these theorems prove nothing.'
    """

    perturbs_objective: ClassVar[bool] = True

    sigma: float
    lam: float
    lipschitz: float = 1.0
    smoothness: float = None  # type: ignore[assignment]
    bound: str = "logistic"
    dimension: int | None = None
    adjacency: str = field(default=ADD_REMOVE, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, length, "lipschitz")
        check_fields(self, between(1e-100 * self.lipschitz, 1e100 * self.lipschitz), "sigma")
        check_fields(self, between(1e-180, 1e180), "lam")
        smoothness = self.lipschitz**2 / 4 if self.smoothness is None else self.smoothness
        object.__setattr__(self, "smoothness", square("smoothness", smoothness))
        choice("bound", self.bound, BOUNDS)
        if self.dimension is not None or self.entry.needs_dimension:
            check_fields(self, positive_integer, "dimension")
        check_adjacency(self)

    @cached_property
    def links(self) -> Chained | None:
        """Remove a row, then add one: two links of the mechanism for `ADD_REMOVE`; None for `ADD_REMOVE` itself."""
        if self.adjacency == ADD_REMOVE:
            return None
        return Chained(replace(self, adjacency=ADD_REMOVE), 2, adjacency=self.adjacency)

    @property
    def entry(self) -> Bound:
        """What the theorem says, and where it is silent."""
        return BOUND_REGISTRY[self.bound]

    @cached_property
    def normal_form(self) -> tuple[object, ...]:
        """The parameters that the bound uses: mechanisms that share them are equal, and have one hash."""
        entry = self.entry
        return (
            type(self),
            self.bound,
            self.sigma,
            self.lam,
            self.lipschitz,
            entry.used("smoothness", self.smoothness),
            entry.used("dimension", self.dimension),
            self.adjacency,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectivePerturbation):
            return NotImplemented
        return self.normal_form == other.normal_form

    def __hash__(self) -> int:
        return hash(self.normal_form)

    @property
    def has_profile(self) -> bool:
        return self.entry.has_profile

    @property
    def has_rdp(self) -> bool:
        return self.entry.has_rdp

    @property
    def gaussian(self) -> Gaussian:
        """The lower bound: the Gaussian mechanism that a linear loss attains (Corollary 3.5); replaced rows move it by
        2L.
        """
        moves = self.lipschitz if self.adjacency == ADD_REMOVE else 2 * self.lipschitz
        return Gaussian(self.sigma, moves, adjacency=self.adjacency)

    @cached_property
    def gaussian_ratio(self) -> float | None:
        """The ratio of `gaussian` where the logistic bound has its pair, λ >= 2σ² (T8, T17)."""
        if self.links is not None:
            return self.links.gaussian_ratio
        same = self.entry.reaches_gaussian and isinstance(self.law, PositiveGaussianLaw) and self.law.shift == 0
        return self.gaussian.a if same else None

    def _mu(self) -> float:
        if self.gaussian_ratio is not None:
            return self.gaussian_ratio
        if self.links is not None:
            return self.links.mu()
        return math.inf if self.law is None else mu_of_law(self.law)

    @property
    def lower_bound(self) -> Mechanism:
        return self.gaussian

    @property
    def gaussian_from(self) -> float:
        """The ε from which on the bound is exactly the profile of `gaussian` (docs/theorems.md, T1); inf if there is
        none."""
        part = None if self.law is None else self.law.gaussian_part()
        if part is None or part[1] > 0:
            return np.inf
        a = self.gaussian.a
        return max(0.0, a * (a / 2 + part[0]))

    @property
    def least_epsilon(self) -> float:
        """The ε from which on the bound says something, where the bound tells in advance; 0.0 otherwise."""
        least = self.entry.least_epsilon
        return 0.0 if least is None or self.links is not None else least(self)

    @property
    def kifer_epsilon(self) -> float:
        """`least_epsilon`, for ``"kifer2012"``: 2β/λ."""
        return self.least_epsilon

    @cached_property
    def silent(self) -> bool:
        """Whether the bound proves nothing, whatever ε is."""
        return self.entry.reason(self) is not None

    @cached_property
    def law(self) -> PrivacyLossLaw | None:
        """The law of the bound's privacy loss; None for bounds without a law, silent ones, and `REPLACE_ONE`."""
        make = self.entry.law
        return None if make is None or self.silent or self.links is not None else make(self)

    def losses(self, direction: str = "remove") -> Steps | None:
        """The law of the bound, which dominates both directions; None where the bound has no law."""
        if self.links is not None:
            return self.links.losses(direction)
        return None if self.law is None else ((self.law, 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.links is not None and self.has_profile:
            return np.zeros_like(epsilon) if self.silent else self.links._log_delta(epsilon)
        if self.law is not None:
            return self.law.log_profile(epsilon)
        if not self.has_profile:
            raise NotImplementedError(self.no_profile())
        profile = self.entry.profile
        return np.zeros_like(epsilon) if profile is None or self.silent else profile(self, epsilon)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        if self.has_profile and self.silent:
            return np.full_like(log_delta, np.inf)
        result = np.zeros_like(log_delta)
        here = np.full(log_delta.shape, self.gaussian_from < np.inf)
        if here.any():  # far enough out the profile is the Gaussian one
            result = self.gaussian._epsilon(log_delta)
            here &= result >= self.gaussian_from
            here[here] = self._log_delta(result[here]) <= log_delta[here]
        if not here.all():
            target, guess = log_delta[~here], gauss.epsilon_at_tail(log_delta[~here], self.gaussian.a)
            result[~here] = smallest_epsilon(self._log_delta, target, self.least_epsilon, guess)
        return result

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if self.links is not None and self.has_rdp:
            return np.full_like(alpha, np.inf) if self.silent else self.links._rdp(alpha)
        if self.law is not None:
            return self.law.rdp(alpha - 1)
        if not self.has_rdp:
            raise NotImplementedError(self.no_rdp())
        curve = self.entry.rdp
        return np.full_like(alpha, np.inf) if curve is None or self.silent else curve(self, alpha)

    def _log_tail(self, epsilon: FloatArray) -> FloatArray:
        # T1, T3 and T4 bound the loss itself, outcome by outcome, for neighbours that differ by a row more or less
        if self.law is not None and self.adjacency == ADD_REMOVE:
            return self.law.log_tail(epsilon)
        return super()._log_tail(epsilon)

    def tradeoff(self, false_positive_rate: Any) -> Any:
        """See `Mechanism.tradeoff`; a row that is replaced is one that is removed and one that is added."""
        if self.links is None or self.silent:
            return super().tradeoff(false_positive_rate)
        return self.links.tradeoff(false_positive_rate)

    def perturbation(self, source: NormalSource, dimension: int) -> Perturbation:
        """Draw b ~ N(0, σ² I), and λ: the objective gets bᵀθ + λ/2 ‖θ‖²; see `Mechanism.perturbation`."""
        return Perturbation.normal(self.sigma, self.lam, source, dimension)

    def no_profile(self) -> str:
        return f"{self.entry.answers_only}; use via_rdp(mechanism)"

    def no_rdp(self) -> str:
        return self.entry.without("no Rényi curve")

    def no_losses(self) -> str:
        return super().no_losses() if self.entry.has_losses else self.entry.without("no privacy loss distribution")

    def explain(self, epsilon: float | None = None) -> str | None:
        if self.links is not None:
            return self.entry.reason(self) or super().explain(epsilon)
        return self.entry.reason(self, epsilon) or super().explain(epsilon)


@dataclass(frozen=True)
class ApproximateMinima(Mechanism):
    """Algorithm 1: objective perturbation solved to ‖∇‖₂ <= τ, plus N(0, σ_out² I) on the released minimiser.

    The minimiser is within τ/λ of the exact one, so the release is the exact minimiser composed with a Gaussian
    mechanism of sensitivity 2τ/λ (Redberg et al. 2023, Theorems 4.1 and E.1): Rényi curves add, and the profile is that
    of the sum of the two privacy losses. ``"kifer2012"`` has no privacy loss to add, only a δ₁ for every ε₁ ≥ 2β/λ. The
    release then has the profile

        δ(ε) = min over ε₁ + ε₂ = ε of δ₁(ε₁) + δ_Gauss(ε₂).

    The least split found is used (docs/theorems.md, T6 and T7). Where a row is replaced (T17) both links of the chain
    pay for the output noise unless the objective's pair is a Gaussian one.

    Parameters
    ----------
    objective : ObjectivePerturbation
        The perturbed objective; its bound carries over.
    tau : float > 0
        Largest L2 norm of the gradient at which the solver may stop.
    sigma_out : float > 0
        Standard deviation of the noise on each released coefficient.

    Examples
    --------
    >>> exact = ObjectivePerturbation(sigma=5, lam=2)
    >>> ApproximateMinima(exact, tau=1e-6, sigma_out=0.01).epsilon(1e-5) >= exact.epsilon(1e-5)
    True
    """

    perturbs_objective: ClassVar[bool] = True

    objective: ObjectivePerturbation
    tau: float
    sigma_out: float

    def __post_init__(self) -> None:
        if not isinstance(self.objective, ObjectivePerturbation):
            raise ValueError(f"objective must be an ObjectivePerturbation, got {self.objective!r}")
        check_fields(self, square, "tau")
        check_fields(self, between(1e-200, 1e200), "sigma_out")
        within("sigma_out * lam / tau", self.sigma_out * self.objective.lam / self.tau, 1e-200, 1e200)

    @property
    def adjacency(self) -> str:
        return self.objective.adjacency

    @cached_property
    def links(self) -> Chained | None:
        """As for `objective`: both links pay for the output noise."""
        if self.adjacency == ADD_REMOVE:
            return None
        one = replace(self, objective=replace(self.objective, adjacency=ADD_REMOVE))
        return Chained(one, 2, adjacency=self.adjacency)

    @property
    def gaussian_ratio(self) -> float | None:
        """Two Gaussian mechanisms make one."""
        first = self.objective.gaussian_ratio
        return None if first is None else math.hypot(first, self.output.a)

    def _mu(self) -> float:
        return math.hypot(self.objective.mu(), self.output.a) * (1 + 2.0**-51)

    @property
    def has_profile(self) -> bool:
        return self.objective.has_profile

    @property
    def has_rdp(self) -> bool:
        return self.objective.has_rdp

    @property
    def quick_profile(self) -> bool:
        """No: the profile of the sum is an integral, or a search for the best split."""
        return False

    @property
    def lower_bound(self) -> Mechanism:
        return self.objective.lower_bound

    @property
    def output(self) -> Gaussian:
        """The Gaussian mechanism that covers the distance to the exact minimiser (Theorem E.1)."""
        return Gaussian(self.sigma_out, 2 * self.tau / self.objective.lam, adjacency=self.adjacency)

    def losses(self, direction: str = "remove") -> Steps | None:
        """The law of the objective's bound and the output noise's Gaussian."""
        law = self.objective.losses(direction)
        if self.links is not None and self.gaussian_ratio is None:
            return self.links.losses(direction)
        return None if law is None else (*law, *self.output.losses(direction))

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.links is not None and self.has_profile:
            if (a := self.gaussian_ratio) is not None:
                return gauss.log_profile(epsilon, a)
            return np.zeros_like(epsilon) if self.objective.silent else self.links._log_delta(epsilon)
        if self.objective.law is not None:
            return self.objective.law.log_profile_with_gaussian(epsilon, self.output.a)
        if not self.has_profile:
            raise NotImplementedError(self.no_profile())
        if self.objective.entry.profile is None or self.objective.silent:
            return np.zeros_like(epsilon)
        least, a = self.objective.least_epsilon, self.output.a
        return log_best_split(self.objective._log_delta, lambda share: gauss.log_profile(share, a), least, a, epsilon)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        if self.has_profile and self.objective.silent:
            return np.full_like(log_delta, np.inf)
        return smallest_epsilon(self._log_delta, log_delta, start=self.objective.least_epsilon)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.objective._rdp(alpha) + self.output._rdp(alpha)

    def tradeoff(self, false_positive_rate: Any) -> Any:
        """See `Mechanism.tradeoff`; a row that is replaced is one that is removed and one that is added."""
        if self.links is None or self.objective.silent:
            return super().tradeoff(false_positive_rate)
        return self.links.tradeoff(false_positive_rate)

    def perturbation(self, source: NormalSource, dimension: int) -> Perturbation:
        """Draw the perturbation of `objective`; the output noise is the release's business."""
        return self.objective.perturbation(source, dimension)

    def no_losses(self) -> str:
        return self.objective.no_losses()

    def no_profile(self) -> str:
        return f"the bound {self.objective.bound!r} has no privacy loss law to combine with the output noise"

    def no_rdp(self) -> str:
        return self.objective.no_rdp()

    def explain(self, epsilon: float | None = None) -> str | None:
        if self.links is not None:
            return self.objective.entry.reason(self.objective) or super().explain(epsilon)
        return self.objective.entry.reason(self.objective, epsilon) or super().explain(epsilon)
