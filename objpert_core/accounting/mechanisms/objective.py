"""Mechanisms: frozen descriptions that answer `.delta(epsilon)`, `.epsilon(delta)`, `.rdp(alpha)` and `.explain()`.

Scalars in, float out; arrays in, arrays out. Adjacency is add/remove one row throughout. What a mechanism is (its
noise and its regularisation) is separate from the law of its privacy loss, which the bound chooses (`laws`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from objpert_core._validation import (
    FloatArray,
    choice,
    positive,
    positive_integer,
)
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.logistic import logistic_law
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.mechanisms.base import Mechanism, NormalSource, Perturbation
from objpert_core.accounting.mechanisms.gaussian import Gaussian
from objpert_core.accounting.numerics import gaussian
from objpert_core.accounting.numerics.chi import log_chi_moment_rate
from objpert_core.accounting.numerics.search import smallest_epsilon

BOUNDS = ("logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm")


def _two_doubles(value: np.longdouble) -> tuple[float, float]:
    """`value` rounded, and the rest (0.0 on platforms whose long double is a double)."""
    return float(value), float(value - np.longdouble(float(value)))


@dataclass(frozen=True)
class ObjectivePerturbation(Mechanism):
    """Objective perturbation: the minimiser of Σ ℓ(θ; z) + λ/2 ‖θ‖² + bᵀθ with b ~ N(0, σ² I).

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
    bound : {"logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm"}
        Which theorem to use.

        * ``"logistic"``: the logistic loss only; exactly the Gaussian mechanism's profile for every
          ε >= max(0, R²/λ − R²/(2σ²)) (the project's theorem, README). Any λ > 0. Does not use `smoothness`.
        * ``"monotone"``: GLM losses f(xᵀθ; y) whose f' never changes sign in its first argument. Any λ > 0.
        * ``"two-signed"``: any GLM loss, as "glm" but with log(1 + β/λ) where that has −log(1 − β/λ), which is more:
          the row multiplies the determinant of a Hessian H ⪰ λI by 1 + f''xᵀH⁻¹x, between 1 and 1 + β/λ. Any λ > 0.
        * ``"glm"``: any GLM loss, as published; Redberg et al. (2023), Theorems 3.1 and 3.2 with the second branch of
          (3.1) corrected (it reads e^{L²/(2σ²)}) and the limit E|X| at α = 1. Proves nothing unless λ > β.
        * ``"kifer2012"``: any GLM loss; Theorem 2.8 there (Kifer, Smith and Thakurta 2012), which says so of any
          convex loss: false where a row's Hessian has a rank above 1. Answers `delta` and `epsilon` only and proves
          nothing unless λ >= 2β/ε.
        * ``"non-glm"``: Theorem G.2 there, with its lost logarithm and square restored; any smooth convex loss in
          `dimension` parameters; answers `rdp` only. Proves nothing unless λ > β.
    dimension : int >= 1, optional
        Number of parameters; needed by, and only used by, ``"non-glm"``.

    Raises
    ------
    ValueError
        If a parameter is out of range, or ``"non-glm"`` comes without a dimension.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> mechanism = ObjectivePerturbation(sigma=10, lam=5)
    >>> round(mechanism.delta(0.3), 9) == round(Gaussian(10).delta(0.3), 9)
    True
    >>> ObjectivePerturbation(sigma=5, lam=0.5, smoothness=1.0, bound="glm").explain()
    'Theorems 3.1 and 3.2 need λ > β; λ = 0.5 is not above β = 1, so they prove nothing.'
    """

    perturbs_objective: ClassVar[bool] = True

    sigma: float
    lam: float
    lipschitz: float = 1.0
    smoothness: float = None  # type: ignore[assignment]
    bound: str = "logistic"
    dimension: int | None = None

    def __post_init__(self) -> None:
        for name in ("sigma", "lam", "lipschitz"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        smoothness = self.lipschitz**2 / 4 if self.smoothness is None else self.smoothness
        object.__setattr__(self, "smoothness", positive("smoothness", smoothness))
        choice("bound", self.bound, BOUNDS)
        if self.dimension is not None or self.bound == "non-glm":
            object.__setattr__(self, "dimension", positive_integer("dimension", self.dimension))

    @property
    def _a(self) -> float:
        return self.lipschitz / self.sigma

    @property
    def gaussian(self) -> Gaussian:
        """The lower bound: the Gaussian mechanism that a linear loss attains (Corollary 3.5)."""
        return Gaussian(self.sigma, self.lipschitz)

    @property
    def _published_shift(self) -> np.longdouble:
        """−log(1 − β/λ) for λ > β; close to β the quotient has no digits left, but λ − β is exact."""
        smoothness, lam = np.longdouble(self.smoothness), np.longdouble(self.lam)
        return -np.log1p(-smoothness / lam) if smoothness < lam / 2 else np.log(lam / (lam - smoothness))

    @cached_property
    def law(self) -> PrivacyLossLaw | None:
        """The law of the bound's privacy loss; None for the bounds that have none, or where λ <= β forbids it."""
        if self.bound == "logistic":
            return logistic_law(self._a, *_two_doubles(np.longdouble(self.lipschitz) ** 2 / np.longdouble(self.lam)))
        if self.bound == "monotone":
            return PositiveGaussianLaw(self._a, *_two_doubles(np.log1p(np.longdouble(self.smoothness) / self.lam)))
        if self.bound == "two-signed":
            return HalfNormalLaw(self._a, *_two_doubles(np.log1p(np.longdouble(self.smoothness) / self.lam)))
        if self.bound == "glm" and self.lam > self.smoothness:
            return HalfNormalLaw(self._a, *_two_doubles(self._published_shift))
        return None

    def losses(self, direction: str = "remove") -> Steps | None:
        """The law of the bound, which dominates both directions; None where there is none."""
        return None if self.law is None else ((self.law, 1),)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.bound == "non-glm":
            raise NotImplementedError("Theorem G.2 bounds the Rényi divergence only; use via_rdp(mechanism)")
        if self.bound == "kifer2012":
            scaled = np.square(self.sigma * epsilon / self.lipschitz)
            log_delta = math.log(2) - (scaled - 4 * epsilon) / 8
            works = self.lam * epsilon >= 2 * self.smoothness
            return np.where(works, np.minimum(log_delta, 0.0), 0.0)
        if self.law is None:
            return np.zeros_like(epsilon)
        return self.law.log_profile(epsilon)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        if self.bound == "glm" and self.law is None:
            return np.full_like(log_delta, np.inf)
        if self.bound == "kifer2012":  # the profile jumps there: no root to bracket below
            return smallest_epsilon(self._log_delta, log_delta, start=self.kifer_epsilon)
        return super()._epsilon(log_delta)

    @property
    def kifer_epsilon(self) -> float:
        """The ε = 2β/λ from which on Theorem 2.8 says something, rounded up."""
        start = math.nextafter(2 * self.smoothness / self.lam, 0.0)
        while start * self.lam < 2 * self.smoothness:
            start = math.nextafter(start, math.inf)
        return start

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if self.bound == "kifer2012":
            raise NotImplementedError("Theorem 2.8 of Kifer et al. (2012) bounds δ at ε only; it has no Rényi curve")
        if self.bound == "non-glm":
            if self.lam <= self.smoothness:
                return np.full_like(alpha, np.inf)
            assert self.dimension is not None
            shift = self.dimension * float(self._published_shift) + self._a**2 / 2
            return shift + self._a * log_chi_moment_rate((alpha - 1) * self._a, self.dimension)
        if self.law is None:
            return np.full_like(alpha, np.inf)
        return self.law.rdp(alpha - 1)

    def perturbation(self, source: NormalSource, dimension: int) -> Perturbation:
        """Draw b ~ N(0, σ² I), and λ: the objective gets bᵀθ + λ/2 ‖θ‖²; see `Mechanism.perturbation`."""
        return Perturbation(self.sigma * source.standard_normal(dimension), self.lam)

    def no_losses(self) -> str:
        """Why `losses` is None, as one sentence."""
        if self.bound == "kifer2012":
            return "Theorem 2.8 of Kifer et al. (2012) bounds δ at ε only; it has no privacy loss distribution"
        if self.bound == "non-glm":
            return "Theorem G.2 bounds the Rényi divergence only; it has no privacy loss distribution"
        return super().no_losses()

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why this bound proves nothing at these parameters (at `epsilon`, if given); None where it does."""
        lam, beta = f"{self.lam:g}", f"{self.smoothness:g}"
        if self.bound in ("glm", "non-glm") and self.lam <= self.smoothness:
            source = "Theorem G.2 needs" if self.bound == "non-glm" else "Theorems 3.1 and 3.2 need"
            prove = "it proves" if self.bound == "non-glm" else "they prove"
            return f"{source} λ > β; λ = {lam} is not above β = {beta}, so {prove} nothing."
        if self.bound == "kifer2012" and epsilon is not None and self.lam * epsilon < 2 * self.smoothness:
            least = 2 * self.smoothness / epsilon if epsilon > 0 else math.inf
            return (
                f"Theorem 2.8 needs λ ≥ 2β/ε; λ = {lam} is below 2β/ε = {least:.4g} at ε = {epsilon:g}, "
                "so it proves nothing there."
            )
        if self.bound == "non-glm":
            return None
        return super().explain(epsilon)


@dataclass(frozen=True)
class ApproximateMinima(Mechanism):
    """Algorithm 1: objective perturbation solved to ‖∇‖₂ <= τ, plus N(0, σ_out² I) on the released minimiser.

    Parameters
    ----------
    objective : ObjectivePerturbation
        The perturbed objective; its bound carries over.
    tau : float > 0
        Largest L2 norm of the gradient at which the solver may stop.
    sigma_out : float > 0
        Standard deviation of the noise on each released coefficient.

    Notes
    -----
    The minimiser is within τ/λ of the exact one, so the release is the exact minimiser composed with a Gaussian
    mechanism of sensitivity 2τ/λ (Redberg et al. 2023, Theorems 4.1 and E.1): Rényi curves add, and the profile is
    that of the sum of the two privacy losses.

    ``"kifer2012"`` has no privacy loss to add, only a δ₁ for every ε₁ ≥ 2β/λ. There the profile is

        δ(ε) = min over ε₁ + ε₂ = ε of δ₁(ε₁) + δ_Gauss(ε₂).

    Proof. Let P, P' be the laws of the exact minimiser on two neighbours, and K_θ, K'_θ those of the release given it,
    which are Gaussians: K_θ(S) ≤ e^{ε₂} K'_θ(S) + δ₂. Put Q = min(P, e^{ε₁} P'), a measure of mass 1 − δ₁ or more. Then
    ∫ K_θ(S) dP ≤ δ₁ + ∫ K_θ(S) dQ ≤ δ₁ + δ₂ + e^{ε₂} ∫ K'_θ(S) dQ ≤ δ₁ + δ₂ + e^{ε₁ + ε₂} ∫ K'_θ(S) dP'. ∎
    (Basic composition, Dwork and Roth 2014, Theorem B.1.) Whatever splits are tried, each is a valid bound.

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
        for name in ("tau", "sigma_out"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    @property
    def output(self) -> Gaussian:
        """The Gaussian mechanism that covers the distance to the exact minimiser (Theorem E.1)."""
        return Gaussian(self.sigma_out, 2 * self.tau / self.objective.lam)

    def losses(self, direction: str = "remove") -> Steps | None:
        """The law of the objective's bound and the output noise's Gaussian."""
        law = self.objective.losses(direction)
        return None if law is None else (*law, *self.output.losses(direction))

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        if self.objective.bound == "kifer2012":
            return _best_split(self.objective, self.output, epsilon)
        if self.objective.bound == "non-glm":
            raise NotImplementedError(
                f"the bound {self.objective.bound!r} has no privacy loss law to combine with the output noise"
            )
        if self.objective.law is None:
            return np.zeros_like(epsilon)
        return self.objective.law.log_profile_with_gaussian(epsilon, self.output._a)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        if self.objective.bound == "glm" and self.objective.law is None:
            return np.full_like(log_delta, np.inf)
        if self.objective.bound == "kifer2012":
            return smallest_epsilon(self._log_delta, log_delta, start=self.objective.kifer_epsilon)
        return super()._epsilon(log_delta)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.objective._rdp(alpha) + self.output._rdp(alpha)

    def perturbation(self, source: NormalSource, dimension: int) -> Perturbation:
        """Draw the perturbation of `objective`; the output noise is the release's business."""
        return self.objective.perturbation(source, dimension)

    def no_losses(self) -> str:
        """Why `losses` is None, as one sentence."""
        return self.objective.no_losses()

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing at these parameters; None where it does."""
        kifer = self.objective.bound == "kifer2012"
        return self.objective.explain(epsilon if kifer else None) or super().explain(epsilon)


def _best_split(objective: ObjectivePerturbation, output: Gaussian, epsilon: FloatArray) -> FloatArray:
    """log min δ₁(ε₁) + δ_Gauss(ε₂) over ε₁ + ε₂ = ε with ε₁ ≥ 2β/λ and ε₂ ≥ 0 (`ApproximateMinima`, notes).

    ε₂ is sought in units of the output noise's a, where δ_Gauss(ε₂) is about e^{−(ε₂/a)²/2}: on a grid, then on ever
    finer ones about the best so far, down to a step of 1e-8, whose square no longer counts.
    """
    least = objective.kifer_epsilon
    a = output._a
    room = np.maximum(epsilon - least, 0.0)
    best = np.zeros_like(epsilon)
    log_delta = np.zeros_like(epsilon)
    for offsets in (np.arange(81.0) / 2, *(np.arange(-4.0, 5.0) / (2 * 4**level) for level in range(1, 13))):
        units = np.clip(best[:, None] + offsets, 0.0, room[:, None] / a)
        first = np.maximum(epsilon[:, None] - units * a, least)
        second = (epsilon[:, None] - first) * (1 - 2.0**-52)  # rounded down: the two must not exceed ε
        tried = np.logaddexp(objective._log_delta(first), gaussian.log_profile(np.maximum(second, 0.0), a))
        chosen = np.argmin(tried, axis=1)
        rows = np.arange(len(epsilon))
        log_delta = np.minimum(log_delta, tried[rows, chosen])
        best = units[rows, chosen]
    return np.where(epsilon >= least, log_delta, 0.0)
