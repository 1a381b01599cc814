"""The bounds on objective perturbation: one entry a theorem, with all that is particular to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.numerics.quadrature import log_chi_moment_rate
from objpert_core.accounting.objective.law import logistic_law

ACCOUNTANTS = ("profile", "rdp")
"""What (ε, δ) of objective perturbation may be computed from: the privacy profile, or the Rényi curve alone."""
# A Rényi curve loses more than 2 % or 10 % of σ on the way to (ε, δ): no λ would do at those ratios
PUBLISHED_NOISE_RATIO = 1.3
_LEAST_EXTRA_NOISE = 1e-4  # enough for the output noise, and for a λ that is not astronomical


class Parameters(Protocol):
    """The numbers of one objective perturbation, as far as a theorem needs them."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the linear noise."""

    @property
    def lam(self) -> float:
        """Regularisation λ."""

    @property
    def lipschitz(self) -> float:
        """Bound L on one row's gradient norm."""

    @property
    def smoothness(self) -> float:
        """Bound β on one row's Hessian norm."""

    @property
    def dimension(self) -> int | None:
        """Number of parameters, where it was given."""


class LossFacts(Protocol):
    """A loss, as far as a theorem asks about it."""

    @property
    def name(self) -> str:
        """The loss's name."""

    @property
    def monotone(self) -> bool:
        """Whether the loss's slope never changes sign."""


@dataclass(frozen=True)
class Coverage:
    """Which losses a theorem is about: `words` for tables, `only` one loss by name, or slopes of `one_sign`."""

    words: str
    only: str | None = None
    one_sign: bool = False


LOGISTIC_ONLY = Coverage("logistic loss", only="logistic")
ONE_SIGN = Coverage("GLM losses whose slope never changes sign", one_sign=True)
ANY_GLM = Coverage("any GLM loss")
ANY_SMOOTH = Coverage("any smooth convex loss")


@dataclass(frozen=True)
class ClosedForm:
    """A theorem that names its own noise and regularisation for (ε, δ): least σ of (ε, log δ, L), least λ of (ε, β)."""

    sigma: Callable[[float, float, float], float]
    lam: Callable[[float, float], float]


def _never(_parameters: Parameters, _epsilon: float | None) -> None:
    return None


@dataclass(frozen=True)
class Bound:
    """What one theorem says about objective perturbation, and where it is silent.

    A bound has a `law`, which answers everything, or one curve: a `profile` or an `rdp`. "Parameters" below are the
    numbers of an `ObjectivePerturbation`. `law` and `rdp` are not asked where the bound is silent.

    Parameters
    ----------
    key : str
        The value of `bound=` that chooses the bound.
    label, source : str
        Short name, for legends and tables, and theorem, for tables.
    statement : str
        What the theorem says, in a sentence or two.
    coverage, ignores : Coverage, frozenset of str
        The losses that the theorem covers, and parameters that the bound does not use.
    silent : callable
        (parameters, ε or None) to the reason why nothing is proved, as one sentence; None where something is.
    law : callable, optional
        Parameters to the law of the privacy loss.
    profile, rdp : callable, optional
        (parameters, array of ε) to log δ, and (parameters, array of α) to the Rényi divergence.
    answers_only : str
        For a bound without a law: what it bounds, as a clause.
    least_epsilon : callable, optional
        Parameters to the ε from which on the profile says something, rounded up.
    needs_lam_above_smoothness, needs_whole_radius, reaches_gaussian : bool
        Whether the bound is silent unless λ > β; whether `lipschitz` has to be the radius of the rows even where
        gradients are clipped to less; whether the profile is the Gaussian mechanism's from a finite λ on.
    noise_ratio, closed_form : callable and ClosedForm, optional
        ε to the default f in σ = f·σ_Gauss for calibration by the profile; or σ and λ that the theorem itself names.
    rdp_label, rdp_source : str
        Label and source where (ε, δ) come only through the Rényi curve; see `named` and `cited`.

    Examples
    --------
    >>> BOUND_REGISTRY["kifer2012"].accountants, BOUND_REGISTRY["non-glm"].accountants
    (('profile',), ('rdp',))
    """

    key: str
    label: str
    source: str
    statement: str
    coverage: Coverage
    ignores: frozenset[str]
    silent: Callable[[Parameters, float | None], str | None] = _never
    law: Callable[[Parameters], PrivacyLossLaw] | None = None
    profile: Callable[[Parameters, FloatArray], FloatArray] | None = None
    rdp: Callable[[Parameters, FloatArray], FloatArray] | None = None
    answers_only: str = ""
    least_epsilon: Callable[[Parameters], float] | None = None
    needs_lam_above_smoothness: bool = False
    needs_whole_radius: bool = False
    reaches_gaussian: bool = False
    noise_ratio: Callable[[float], float] | None = None
    closed_form: ClosedForm | None = None
    rdp_label: str = ""
    rdp_source: str = ""

    # --- what it can answer ------------------------------------------------------------------------------------

    @property
    def has_profile(self) -> bool:
        """Whether the theorem bounds δ at ε."""
        return self.law is not None or self.profile is not None

    @property
    def has_rdp(self) -> bool:
        """Whether the theorem bounds the Rényi divergence."""
        return self.law is not None or self.rdp is not None

    @property
    def has_losses(self) -> bool:
        """Whether the bound has a privacy loss distribution, which composes."""
        return self.law is not None

    @property
    def accountants(self) -> tuple[str, ...]:
        """What (ε, δ) may be computed from: "profile", "rdp" or both."""
        return ("profile",) * self.has_profile + ("rdp",) * self.has_rdp

    @property
    def needs_dimension(self) -> bool:
        """Whether the bound needs the number of parameters."""
        return "dimension" not in self.ignores

    # --- words -------------------------------------------------------------------------------------------------

    def named(self, accountant: str = "profile") -> str:
        """The label where (ε, δ) come from this accountant, "profile" or "rdp"."""
        return self.label if accountant == "profile" else self.rdp_label or f"{self.label}, Rényi"

    def cited(self, accountant: str = "profile") -> str:
        """The source where (ε, δ) come from this accountant, "profile" or "rdp"."""
        return self.source if accountant == "profile" else self.rdp_source or self.source

    def reason(self, parameters: Parameters, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing for these parameters (at `epsilon`, if given), as one sentence; else None.

        >>> from objpert_core.accounting import ObjectivePerturbation
        >>> BOUND_REGISTRY["glm"].reason(ObjectivePerturbation(sigma=5, lam=0.5, smoothness=1.0))
        'Theorems 3.1 and 3.2 need λ > β; λ = 0.5 is not above β = 1, so these theorems prove nothing.'
        """
        return self.silent(parameters, epsilon)

    def uncovered(self, loss: LossFacts) -> str | None:
        """Why the bound is not about `loss`, as a clause that names `bound`; None where it is."""
        if self.coverage.only is not None and loss.name != self.coverage.only:
            return f"bound must not be {self.key!r} for the loss {loss.name!r}"
        if self.coverage.one_sign and not loss.monotone:
            return f"bound must not be {self.key!r} for the loss {loss.name!r}, whose slope has either sign"
        return None

    def without(self, what: str) -> str:
        """Why a bound without a law does not have something: "no Rényi curve", "no privacy loss distribution"."""
        return f"{self.answers_only}; it has {what}"

    # --- parameters --------------------------------------------------------------------------------------------

    def used(self, name: str, value: float | None) -> float | None:
        """`value` if the bound uses the parameter `name`, else None: mechanisms with other unused values are equal."""
        return None if name in self.ignores else value


# --- the theorems ------------------------------------------------------------------------------------------------


def _two_doubles(value: np.longdouble) -> tuple[float, float]:
    """`value` rounded, and the rest (0.0 on platforms whose long double is a double)."""
    return float(value), float(value - np.longdouble(float(value)))


def _a(parameters: Parameters) -> float:
    return parameters.lipschitz / parameters.sigma


def _determinant_shift(parameters: Parameters) -> np.longdouble:
    """log(1 + β/λ): how much one row can raise the log-determinant of a Hessian H ⪰ λI."""
    return np.log1p(np.longdouble(parameters.smoothness) / parameters.lam)


def _published_shift(parameters: Parameters) -> np.longdouble:
    """−log(1 − β/λ) for λ > β; close to β the quotient has no digits left, but λ − β is exact."""
    smoothness, lam = np.longdouble(parameters.smoothness), np.longdouble(parameters.lam)
    return -np.log1p(-smoothness / lam) if smoothness < lam / 2 else np.log(lam / (lam - smoothness))


def _logistic(parameters: Parameters) -> PrivacyLossLaw:
    kappa = np.longdouble(parameters.lipschitz) ** 2 / np.longdouble(parameters.lam)
    return logistic_law(_a(parameters), *_two_doubles(kappa))


def _monotone(parameters: Parameters) -> PrivacyLossLaw:
    return PositiveGaussianLaw(_a(parameters), *_two_doubles(_determinant_shift(parameters)))


def _two_signed(parameters: Parameters) -> PrivacyLossLaw:
    return HalfNormalLaw(_a(parameters), *_two_doubles(_determinant_shift(parameters)))


def _published(parameters: Parameters) -> PrivacyLossLaw:
    return HalfNormalLaw(_a(parameters), *_two_doubles(_published_shift(parameters)))


def _any_dimension(parameters: Parameters, alpha: FloatArray) -> FloatArray:
    """Theorem G.2 of Redberg et al. (2023), with its lost logarithm and square restored."""
    assert parameters.dimension is not None
    a = _a(parameters)
    shift = parameters.dimension * float(_published_shift(parameters)) + a**2 / 2
    return shift + a * log_chi_moment_rate((alpha - 1) * a, parameters.dimension)


def _kifer(parameters: Parameters, epsilon: FloatArray) -> FloatArray:
    """log of 2·e^{−(σ²ε²/L² − 4ε)/8} where λ >= 2β/ε, and 0 elsewhere."""
    scaled = np.square(parameters.sigma * epsilon / parameters.lipschitz)
    log_delta = math.log(2) - (scaled - 4 * epsilon) / 8
    works = parameters.lam * epsilon >= 2 * parameters.smoothness
    return np.where(works, np.minimum(log_delta, 0.0), 0.0)


def _kifer_epsilon(parameters: Parameters) -> float:
    """The ε = 2β/λ from which on Theorem 2.8 says something, rounded up."""
    start = math.nextafter(2 * parameters.smoothness / parameters.lam, 0.0)
    while start * parameters.lam < 2 * parameters.smoothness:
        start = math.nextafter(start, math.inf)
    return start


def _kifer_sigma(epsilon: float, log_delta: float, lipschitz: float) -> float:
    return lipschitz * math.sqrt(8 * (math.log(2) - log_delta) + 4 * epsilon) / epsilon


def _kifer_lam(epsilon: float, smoothness: float) -> float:
    lam = 2 * smoothness / epsilon
    while lam * epsilon < 2 * smoothness:
        lam = math.nextafter(lam, math.inf)
    return lam


def _kifer_silent(parameters: Parameters, epsilon: float | None) -> str | None:
    if epsilon is None or parameters.lam * epsilon >= 2 * parameters.smoothness:
        return None
    least = 2 * parameters.smoothness / epsilon if epsilon > 0 else math.inf
    return (
        f"Theorem 2.8 needs λ ≥ 2β/ε; λ = {parameters.lam:g} is below 2β/ε = {least:.4g} at ε = {epsilon:g}, "
        "so the theorem proves nothing there."
    )


def _unless_lam_is_above_smoothness(need: str, prove: str) -> Callable[[Parameters, float | None], str | None]:
    def silent(parameters: Parameters, _epsilon: float | None) -> str | None:
        if parameters.lam > parameters.smoothness:
            return None
        lam, smoothness = f"{parameters.lam:g}", f"{parameters.smoothness:g}"
        return f"{need} λ > β; λ = {lam} is not above β = {smoothness}, so {prove} nothing."

    return silent


def _at_least_a_little(extra: Callable[[float], float]) -> Callable[[float], float]:
    return lambda epsilon: 1 + max(extra(epsilon), _LEAST_EXTRA_NOISE)


_ENTRIES = (
    Bound(
        key="logistic",
        label="Our theorem",
        source="this project, T1",
        statement=(
            "The logistic loss only; exactly the Gaussian mechanism's profile for every ε >= max(0, R²/λ − R²/(2σ²)) "
            "(docs/theorems.md, T1). Any λ > 0."
        ),
        coverage=LOGISTIC_ONLY,
        ignores=frozenset({"smoothness", "dimension"}),
        law=_logistic,
        needs_whole_radius=True,  # it pairs each slope of the loss with its curvature at rows of one radius
        reaches_gaussian=True,
        noise_ratio=_at_least_a_little(lambda epsilon: 0.02 * min(1.0, epsilon, 8 / epsilon)),
    ),
    Bound(
        key="monotone",
        label="Our theorem, one-signed slope",
        source="this project, T3",
        statement="GLM losses f(xᵀθ; y) whose f' never changes sign in its first argument. Any λ > 0.",
        coverage=ONE_SIGN,
        ignores=frozenset({"dimension"}),
        law=_monotone,
        noise_ratio=_at_least_a_little(lambda epsilon: 0.1 * min(1.0, 8 / epsilon)),
    ),
    Bound(
        key="two-signed",
        label="Our theorem, any GLM loss",
        source="this project, T4",
        statement=(
            'Any GLM loss. This bound has log(1 + β/λ) where "glm" has the larger −log(1 − β/λ): a row multiplies the '
            "determinant of a Hessian H ⪰ λI by 1 + f''xᵀH⁻¹x, which lies between 1 and 1 + β/λ. Any λ > 0."
        ),
        coverage=ANY_GLM,
        ignores=frozenset({"dimension"}),
        law=_two_signed,
        noise_ratio=lambda _: PUBLISHED_NOISE_RATIO,
    ),
    Bound(
        key="glm",
        label="2023 theorem",
        source="Theorem 3.1, corrected",
        rdp_label="2023 theorem, Rényi",
        rdp_source="Theorem 3.2",
        statement=(
            "Any GLM loss, as published; Redberg et al. (2023), Theorems 3.1 and 3.2 with the second branch of (3.1) "
            "corrected (it reads e^{L²/(2σ²)}) and the limit E|X| at α = 1. Proves nothing unless λ > β."
        ),
        coverage=ANY_GLM,
        ignores=frozenset({"dimension"}),
        silent=_unless_lam_is_above_smoothness("Theorems 3.1 and 3.2 need", "these theorems prove"),
        law=_published,
        needs_lam_above_smoothness=True,
        noise_ratio=lambda _: PUBLISHED_NOISE_RATIO,
    ),
    Bound(
        key="kifer2012",
        label="2012 theorem",
        source="Theorem 2.8",
        statement=(
            "Any GLM loss; Theorem 2.8 of Redberg et al. (2023), by Kifer, Smith and Thakurta (2012). The theorem is "
            "stated for any convex loss, and is false where a row's Hessian has a rank above 1. Proves nothing unless "
            "λ >= 2β/ε."
        ),
        coverage=ANY_GLM,
        ignores=frozenset({"dimension"}),
        silent=_kifer_silent,
        profile=_kifer,
        answers_only="Theorem 2.8 of Kifer et al. (2012) bounds δ at ε only",
        least_epsilon=_kifer_epsilon,
        closed_form=ClosedForm(_kifer_sigma, _kifer_lam),
    ),
    Bound(
        key="non-glm",
        label="2023 theorem, any smooth loss",
        source="Theorem G.2",
        rdp_label="2023 theorem, any smooth loss",
        statement=(
            "Any smooth convex loss in `dimension` parameters; Redberg et al. (2023), Theorem G.2, with its lost "
            "logarithm and square restored. Proves nothing unless λ > β."
        ),
        coverage=ANY_SMOOTH,
        ignores=frozenset(),
        silent=_unless_lam_is_above_smoothness("Theorem G.2 needs", "the theorem proves"),
        rdp=_any_dimension,
        answers_only="Theorem G.2 bounds the Rényi divergence only",
        needs_lam_above_smoothness=True,
        noise_ratio=lambda _: PUBLISHED_NOISE_RATIO,
    ),
)

BOUND_REGISTRY: Mapping[str, Bound] = MappingProxyType({entry.key: entry for entry in _ENTRIES})
"""The entries by their keys, in the order of tables: from the smallest bound to the most general."""
BOUNDS = tuple(BOUND_REGISTRY)
"""The keys: what `bound=` may be."""
