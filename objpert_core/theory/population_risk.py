"""How much population risk private stochastic convex optimisation costs at most on average, and how stable it is.

Setting: n independent rows, d parameters, losses that are convex with gradients of norm L at most, models in the ball
‖θ‖ ≤ M, neighbours that differ in one row replaced. The excess risk of a method that releases w is E L(w) − min L(θ)
over the ball. Every bound adds how far w is from the best model of the rows given (optimisation) and how much w moves
when a row is replaced (uniform stability). σ_G is the analytic Gaussian mechanism's noise at sensitivity 1,
A² = d log(1/δ)/(εn)², and B = max(A, 1/√n). Λ is this package's λ: it multiplies ½‖θ‖² beside a sum of losses.

What is printed by Bassily, Feldman, Talwar and Thakurta (2019), and what holds:

=================  ==========================  ===============================================================
Theorem            printed                     here
=================  ==========================  ===============================================================
3.2, noisy SGD     10·ML·B from any start      ML(1/√T + √T(4A² + (1 − 1/T)/n)) from 0, by the proof's own terms
4.4, with prox     24·ML·B                     the same, plus L²/(2β): the envelope is L-Lipschitz, not 2L
5.3, objective     2·ML√(2/n + 4A²)            dσ²/(4Λn) + ΛM²/(4n) + 2L²/Λ, with the σ that is private
=================  ==========================  ===============================================================

The proofs are docs/theorems.md, T24. Theorem 5.3's own proof gives 4, not 2; with the halves that its lemmas leave out
it gives 1.25 for the printed σ, which is not private enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from objpert_core._validation import check_fields, choice, positive, positive_integer
from objpert_core.accounting.population.published import (
    corrected_objective_noise,
    phased_schedule,
    published_objective_lam,
    published_sgd_schedule,
)
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.theory.measured_stability import Stability, measured_stability
from objpert_core.theory.populations import (
    AbsoluteWithLaplace,
    LinearHardInstance,
    LogisticOnSphere,
    MeanEstimation,
    Population,
    hard_bias,
)

__all__ = [
    "METHODS",
    "AbsoluteWithLaplace",
    "DescentParts",
    "LinearHardInstance",
    "LogisticOnSphere",
    "MeanEstimation",
    "Population",
    "Stability",
    "descent_parts",
    "excess_population_bound",
    "hard_bias",
    "measured_stability",
    "stability_bound",
]

PUBLISHED = ("sgd", "prox", "objective")
METHODS: dict[str, str] = {
    "sgd": "Noisy SGD, Algorithm 1 of the paper",
    "prox": "Algorithm 1 on Moreau envelopes, Section 4",
    "objective": "Objective perturbation, Algorithm 2",
    "gd": "Noisy gradient descent, all rows in every step",
    "gd-prox": "The same on Moreau envelopes with 2/η",
    "objective-tight": "Objective perturbation with the Gaussian mechanism's noise",
    "phased": "Phased empirical risk minimisation",
    "no-privacy": "Ridge regression without privacy",
    "zero": "The model 0, which needs no data",
}
"""Methods by their keys. Only the first three are published."""


@dataclass(frozen=True)
class _Setting(Sizes):
    """The numbers that every bound is made of."""

    smoothness: float = 0.0
    steps: int | None = None
    step_scale: float = 1.0
    lam: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.smoothness, bool) or not self.smoothness >= 0:
            raise ValueError(f"smoothness must be a number >= 0, got {self.smoothness!r}")
        given = [name for name in ("lam", "step_scale") if getattr(self, name) is not None]
        check_fields(self, positive_integer, *([] if self.steps is None else ["steps"]))
        check_fields(self, positive, *given)

    @property
    def unit(self) -> float:
        """ML."""
        return self.radius * self.lipschitz

    @property
    def b(self) -> float:
        """B = max(A, 1/√n)."""
        return max(self.a, 1 / math.sqrt(self.n))

    def regularised(self, sigma: float, lam: float) -> float:
        """Bound the excess risk of the minimiser of Σ ℓ + Λ/2 ‖θ‖² + bᵀθ: dσ²/(4Λn) + ΛM²/(4n) + 2L²/Λ."""
        private = self.d * sigma**2 / (4 * lam * self.n) + lam * self.radius**2 / (4 * self.n)
        return private + 2 * self.lipschitz**2 / lam

    def best_lam(self, sigma: float) -> float:
        """Λ* = √(8nL² + dσ²)/M, where `regularised` is least."""
        return math.sqrt(8 * self.n * self.lipschitz**2 + self.d * sigma**2) / self.radius

    def tight(self) -> tuple[float, float]:
        """σ = 2Lσ_G, and Λ: the one given, or Λ* but at least the 2L²/ε from which on this σ is enough."""
        sigma = 2 * self.lipschitz * self.noise
        least = 2 * self.lipschitz**2 / self.epsilon
        if self.lam is None:
            return sigma, max(self.best_lam(sigma), least)
        if self.lam < least * (1 - 1e-12):
            raise ValueError(f"lam must be at least 2L²/ε = {least:g} for this noise, got {self.lam!r}")
        return sigma, self.lam

    def length(self) -> float:
        """ηT of gradient descent: M/(L√(2/n + 4dσ_G²/n²)), times `step_scale`."""
        spread = math.sqrt(2 / self.n + 4 * self.d * (self.noise / self.n) ** 2)
        return self.step_scale * self.radius / (self.lipschitz * spread)


def excess_population_bound(
    method: str,
    n: int,
    d: int,
    epsilon: float,
    delta: float,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    smoothness: float = 0.0,
    published: bool = False,
    steps: int | None = None,
    step_scale: float = 1.0,
    lam: float | None = None,
) -> float:
    """Bound a method's mean excess population risk from above, in units of the loss.

    Unless published, the bound is at most 2·ML. It is about the noise that a method adds and its exact minimisers;
    whether that noise is private is the accountant's matter. docs/theorems.md, T24: with many steps "gd" has ML√(2/n +
    4dσ_G²/n²); "objective-tight" has ML√(2/n + dσ_G²/n²), the best constant of all; "phased" about ML√(10.7/n +
    256dσ_G²/n²). `ValueError` if the method is not published, or its condition on β fails.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    n, d : int >= 1
        Rows and parameters.
    epsilon, delta : float
        The privacy, where one row is replaced.
    radius, lipschitz : float > 0
        M and L.
    smoothness : float >= 0, default=0.0
        β, where a method has a condition on it or pays for it: "sgd", "objective" and "gd".
    published : bool, default=False
        What the paper prints for its three methods, constants as they are, for ε ≤ 1 and δ ≤ 1/n².
    steps : int >= 1, optional
        T of "gd" and "gd-prox"; the limit of many short steps if left out.
    step_scale : float > 0, default=1.0
        For these two: how far the steps may go altogether, compared with what makes the bound least.
    lam : float > 0, optional
        Λ of "objective-tight" and "no-privacy"; the best that is allowed, if left out.

    Examples
    --------
    >>> for published in (False, True):
    ...     print(round(excess_population_bound("sgd", 10_000, 10, 0.5, 1e-8, radius=4.0, published=published), 4))
    0.1314
    0.4
    """
    setting = _Setting(n, d, epsilon, delta, radius, lipschitz, smoothness, steps, step_scale, lam)
    _check(method, setting, published)
    if published:
        return _published(method, setting)
    return min(_BOUNDS[method](setting), 2 * setting.unit)


def stability_bound(
    method: str,
    n: int,
    d: int,
    epsilon: float,
    delta: float,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    smoothness: float = 0.0,
    published: bool = False,
    steps: int | None = None,
    step_scale: float = 1.0,
    lam: float | None = None,
) -> float:
    """Bound a method's uniform stability from above: how much the loss on any one row changes when a row is replaced.

    α with E ℓ(w; z) − E ℓ(w'; z) ≤ α for neighbouring data and every z; α also bounds the mean generalisation gap.
    docs/theorems.md, T24. Of Algorithm 1, Lemma 3.4 prints L²ηT/n; the mean of w₀ … w_{T−1} has L²η(T − 1)/n. Of
    Algorithm 2, Lemma 5.5 prints twice what holds. Arguments and errors are those of `excess_population_bound`.

    >>> for published in (False, True):
    ...     print(round(stability_bound("objective", 300, 10, 1.0, 1 / 300**2, radius=4.0, published=published), 4))
    0.0615
    0.1231
    """
    setting = _Setting(n, d, epsilon, delta, radius, lipschitz, smoothness, steps, step_scale, lam)
    _check(method, setting, published)
    return _STABILITY[method](setting, published)


@dataclass(frozen=True)
class DescentParts:
    """What bounds the excess risk of noisy gradient descent, part by part; `total` is their sum.

    Attributes
    ----------
    optimisation : float
        M²/(2ηT): what is still to go.
    noise : float
        2ηT·L²dσ_G²/((1 − ηβ)n²): what privacy adds.
    stability : float
        L²ηT(1 + 1/T)/n: how much more the rows learnt from are liked than fresh ones.
    """

    optimisation: float
    noise: float
    stability: float

    @property
    def total(self) -> float:
        """The bound."""
        return self.optimisation + self.noise + self.stability


def descent_parts(
    n: int,
    d: int,
    epsilon: float,
    delta: float,
    steps: int,
    *,
    radius: float = 1.0,
    lipschitz: float = 1.0,
    smoothness: float = 0.0,
    step_size: float | None = None,
) -> DescentParts:
    """Take the bound on noisy gradient descent apart, at a number of steps of one size.

    docs/theorems.md, T24. The sum is least at ηT = M/(L√(2/n + 4dσ_G²/n²)), where it is what "gd" has.

    `steps` is T >= 1, and `step_size` η, below 1/β; M/(20L), or 1/(4β) if that is less, if left out. Other arguments
    are those of `excess_population_bound`.

    >>> few, many = (descent_parts(10_000, 10, 0.5, 1e-8, T) for T in (10, 10_000))
    >>> few.optimisation > many.optimisation, few.stability < many.stability
    (True, True)
    """
    sizes = Sizes(n, d, epsilon, delta, radius, lipschitz)
    if isinstance(smoothness, bool) or not 0 <= smoothness < math.inf:
        raise ValueError(f"smoothness must be a finite number >= 0, got {smoothness!r}")
    n, d, _, _, radius, lipschitz = sizes.numbers
    largest = min(radius / (20 * lipschitz), 1 / (4 * smoothness) if smoothness else math.inf)
    eta = largest if step_size is None else positive("step_size", step_size)
    if eta * smoothness >= 1:
        raise ValueError(f"step_size must be below 1/smoothness = {1 / smoothness:g}, got {eta!r}")
    length, noise = eta * positive_integer("steps", steps), sizes.noise
    return DescentParts(
        radius**2 / (2 * length),
        2 * length * lipschitz**2 * d * (noise / n) ** 2 / (1 - eta * smoothness),
        lipschitz**2 * length * (1 + 1 / steps) / n,
    )


def _check(method: str, setting: _Setting, published: bool) -> None:
    choice("method", method, tuple(METHODS))
    if published and method not in PUBLISHED:
        raise ValueError(f"method must be one of {', '.join(map(repr, PUBLISHED))} if published, got {method!r}")
    smoothness, most = setting.claimed(published).smoothness, _most_smoothness(method, setting)
    if not (smoothness < most or (smoothness <= most and method != "gd")):
        raise ValueError(f"smoothness must be at most {most:g} for the method {method!r} here, got {smoothness!r}")


def _most_smoothness(method: str, setting: _Setting) -> float:
    """The largest β for which the method's proof holds."""
    if method == "sgd":
        return published_sgd_schedule(setting, strict=False).largest_smoothness
    if method == "objective":  # β ≤ εnλ
        return setting.epsilon * published_objective_lam(setting, strict=False) / 2
    if method == "gd" and setting.steps is not None:
        return setting.steps / setting.length()
    return math.inf


def _published(method: str, setting: _Setting) -> float:
    if method == "objective":
        return 2 * setting.unit * math.sqrt(2 / setting.n + 4 * setting.a**2)
    return {"sgd": 10, "prox": 24}[method] * setting.unit * setting.b


def _sgd(setting: _Setting) -> float:
    """M²/(2ηT) + η(L² + dσ²)/2 + L²η(T − 1)/n, for the mean of w₀ … w_{T−1} and w₀ = 0."""
    plan = published_sgd_schedule(setting, strict=False)
    far = setting.radius**2 / (2 * plan.step_size * plan.steps)
    noisy = plan.step_size * (setting.lipschitz**2 + setting.d * plan.noise**2) / 2
    return far + noisy + _sgd_stability(setting, False)


def _sgd_stability(setting: _Setting, published: bool) -> float:
    plan = published_sgd_schedule(setting, strict=False)
    return setting.lipschitz**2 * plan.step_size * (plan.steps - (not published)) / setting.n


def _prox(setting: _Setting) -> float:
    """As noisy SGD on the envelopes of smoothness β, which are L²/(2β) below the losses at most."""
    smoothness = setting.lipschitz / setting.radius * min(math.sqrt(setting.n) / 4, 1 / (8 * setting.a))
    return _sgd(setting) + setting.lipschitz**2 / (2 * smoothness)


def _prox_stability(setting: _Setting, published: bool) -> float:
    """The paper takes the envelope for 2L-Lipschitz: L²ηT/n at 2L is twice that at L."""
    return _sgd_stability(setting, published) * (2 if published else 1)


def _objective(setting: _Setting) -> float:
    sigma = corrected_objective_noise(setting.epsilon, setting.delta, setting.lipschitz)
    return setting.regularised(sigma, published_objective_lam(setting, strict=False))


def _objective_stability(setting: _Setting, published: bool) -> float:
    lam = published_objective_lam(setting, strict=False)
    return (4 if published else 2) * setting.lipschitz**2 / lam


def _gd(setting: _Setting) -> float:
    """M²/(2ηT) + 2ηT·L²dσ_G²/((1 − ηβ)n²) + L²ηT(1 + 1/T)/n, for the mean of w₁ … w_T."""
    length = setting.length()
    curved = 0.0 if setting.steps is None else setting.smoothness * length / setting.steps
    noisy = 2 * length * setting.lipschitz**2 * setting.d * (setting.noise / setting.n) ** 2 / (1 - curved)
    return setting.radius**2 / (2 * length) + noisy + _gd_stability(setting, False)


def _gd_stability(setting: _Setting, published: bool) -> float:
    share = 0.0 if setting.steps is None else 1 / setting.steps
    return setting.lipschitz**2 * setting.length() * (1 + share) / setting.n


def _gd_prox(setting: _Setting) -> float:
    """M²/(2ηT) + η(L² + dσ²)/2 + L²η(T − 1)/n + L²η/4, for envelopes of smoothness 2/η."""
    length = setting.length()
    noisy = 2 * length * setting.lipschitz**2 * setting.d * (setting.noise / setting.n) ** 2
    step = 0.0 if setting.steps is None else length / setting.steps
    rounded = 0.75 * step * setting.lipschitz**2
    return setting.radius**2 / (2 * length) + noisy + rounded + _gd_prox_stability(setting, False)


def _gd_prox_stability(setting: _Setting, published: bool) -> float:
    share = 0.0 if setting.steps is None else 1 / setting.steps
    return setting.lipschitz**2 * setting.length() * (1 - share) / setting.n


def _tight(setting: _Setting) -> float:
    return setting.regularised(*setting.tight())


def _tight_stability(setting: _Setting, published: bool) -> float:
    return 2 * setting.lipschitz**2 / setting.tight()[1]


def _phased(setting: _Setting) -> float:
    """Every phase pays for its start and its stability, the last one for its noise as well."""
    phases = phased_schedule(setting)
    spread = setting.d * (setting.lipschitz * setting.noise) ** 2  # of a release, by η²
    rows, step = phases[0]
    total = setting.radius**2 / (step * rows) + setting.lipschitz**2 * step
    for (_, before), (rows, step) in pairwise(phases):
        total += spread * before**2 / (step * rows) + setting.lipschitz**2 * step
    return total + setting.lipschitz * math.sqrt(spread) * phases[-1][1]


def _phased_stability(setting: _Setting, published: bool) -> float:
    """The first phase's stability: later phases only follow, as proximal points do not drive starts apart."""
    return setting.lipschitz**2 * phased_schedule(setting)[0][1]


def _no_privacy_lam(setting: _Setting) -> float:
    return setting.best_lam(0.0) if setting.lam is None else setting.lam


_BOUNDS: dict[str, Callable[[_Setting], float]] = {
    "sgd": _sgd,
    "prox": _prox,
    "objective": _objective,
    "gd": _gd,
    "gd-prox": _gd_prox,
    "objective-tight": _tight,
    "phased": _phased,
    "no-privacy": lambda setting: setting.regularised(0.0, _no_privacy_lam(setting)),
    "zero": lambda setting: setting.unit,
}
_STABILITY: dict[str, Callable[[_Setting, bool], float]] = {
    "sgd": _sgd_stability,
    "prox": _prox_stability,
    "objective": _objective_stability,
    "gd": _gd_stability,
    "gd-prox": _gd_prox_stability,
    "objective-tight": _tight_stability,
    "phased": _phased_stability,
    "no-privacy": lambda setting, _: 2 * setting.lipschitz**2 / _no_privacy_lam(setting),
    "zero": lambda setting, _: 0.0,
}
