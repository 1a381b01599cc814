"""The methods whose excess risk is measured, each made of public numbers: from rows and a seed to a model in the ball.

They run the estimators' algorithms on rows that a population draws. Published noise stays as it is printed, whether it
is private or not: `Method.mechanism` has the accountant's answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from objpert_core._validation import FloatArray, choice, positive, positive_integer
from objpert_core.accounting import (
    REPLACE_ONE,
    Gaussian,
    Mechanism,
    ObjectivePerturbation,
    calibrate_gaussian,
    calibrate_objective_perturbation,
)
from objpert_core.accounting.population.ball import objective_plan, recommended_ball_lam
from objpert_core.accounting.population.published import (
    phased_schedule,
    published_objective_lam,
    published_objective_noise,
)
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.learning import AbsoluteLoss, Loss, MoreauEnvelope, PerturbedObjective, Rows, envelope_steps, solve
from objpert_core.learning.population.noisy_sgd import descend
from objpert_core.learning.population.phased import phased_minimum
from objpert_core.learning.population.schedules import DescentPlan, published_plan, tight_plan
from objpert_core.learning.problem.losses import LOGISTIC, MarginLoss
from objpert_core.learning.sampling import Streams
from objpert_core.theory.population_risk import (
    AbsoluteWithLaplace,
    LinearHardInstance,
    LogisticOnSphere,
    Population,
    excess_population_bound,
    hard_bias,
)

Learn = Callable[[FloatArray, FloatArray, int], FloatArray]

TAU = 1e-6  # gradient norm of solvers, as the estimators have it
_NEXT_TO_NOTHING = 1e-6  # λ without privacy: the ball does the rest

POPULATIONS: Mapping[str, str] = MappingProxyType(
    {
        "logistic": "Logistic regression on the sphere",
        "absolute": "Absolute loss with Laplace noise",
        "hard": "Linear loss, the hard instance",
    }
)
"""What is learnt, by its key."""
RADII: Mapping[str, float] = MappingProxyType({"logistic": 4.0, "absolute": 2.0, "hard": 1.0})
"""M, unless told otherwise."""

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "sgd": "Noisy SGD, published",
        "objective": "Objective perturbation, published",
        "gd": "Noisy gradient descent",
        "phased": "Phased ERM",
        "objective-bound": "Objective perturbation, Λ of the bound",
        "objective-least": "Objective perturbation, least Λ",
        "objective-tight": "Objective perturbation, ours",
        "no-privacy": "Without privacy",
        "zero": "θ = 0, learns nothing",
    }
)
"""The methods, by their keys."""
PUBLISHED = ("sgd", "objective")
CONTENDERS = ("sgd", "objective", "gd", "phased", "objective-tight")
"""One of each kind: the other two of objective perturbation differ in Λ only."""


@dataclass(frozen=True)
class LinearLoss(MarginLoss):
    """The linear loss ℓ(m) = −m: its gradient is the same everywhere, and only a ball or a regulariser stops it."""

    name: ClassVar[str] = "linear"
    lipschitz: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = 0.0

    def _value(self, margins: FloatArray) -> FloatArray:
        return -margins

    def _derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full_like(margins, -1.0), np.zeros_like(margins)

    def _margin_of_slope(self, slope: FloatArray) -> FloatArray:
        return np.where(slope < 1, np.inf, -np.inf)


_LOSSES: Mapping[str, Loss] = {"logistic": LOGISTIC, "absolute": AbsoluteLoss(), "hard": LinearLoss()}


@dataclass(frozen=True)
class Setting:
    """What is learnt, from how many rows, and how privately; a radius M of 0 takes the population's in `RADII`."""

    population: str
    n: int
    d: int
    epsilon: float
    radius: float = 0.0

    def __post_init__(self) -> None:
        choice("population", self.population, tuple(POPULATIONS))
        positive_integer("n", self.n), positive_integer("d", self.d), positive("epsilon", self.epsilon)
        if self.n < 2:
            raise ValueError(f"n must be a whole number >= 2, got {self.n!r}")
        if not self.radius:
            object.__setattr__(self, "radius", RADII[self.population])
        positive("radius", self.radius)

    @property
    def delta(self) -> float:
        """δ = 1/n²."""
        return 1 / self.n**2

    @property
    def sizes(self) -> Sizes:
        """What the methods go by: gradients have norm 1 at most."""
        return Sizes(self.n, self.d, self.epsilon, self.delta, self.radius)

    @property
    def loss(self) -> Loss:
        """ℓ of a row's score."""
        return _LOSSES[self.population]

    @property
    def law(self) -> Population:
        """The population itself."""
        return _law(self)

    @property
    def solver(self) -> str:
        """What minimises objectives: without curvature a solver that does not look for curvature."""
        return "lbfgs" if self.loss.smoothness == 0 else "newton"

    @property
    def zero(self) -> float:
        """The excess risk of θ = 0, which needs no data."""
        return float(self.law.excess(np.zeros(self.d)))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that differ on this population."""
        alike = {"hard": ("objective-least", "objective-bound"), "absolute": ("objective-least", "objective-bound")}
        return tuple(name for name in LABELS if name != "zero" and name not in alike.get(self.population, ()))


@lru_cache(maxsize=256)
def _law(setting: Setting) -> Population:
    if setting.population == "logistic":
        return LogisticOnSphere(setting.d, setting.radius)
    if setting.population == "absolute":
        return AbsoluteWithLaplace(setting.d, setting.radius)
    bias = hard_bias(setting.n, setting.d, setting.epsilon, setting.delta)
    return LinearHardInstance(setting.d, bias, setting.radius)


@dataclass(frozen=True)
class Method:
    """A method at one setting, from its public `numbers` (σ and Λ, or steps, batch and noise)."""

    learn: Learn
    bound: float
    mechanism: Mechanism | None
    numbers: Mapping[str, float]


def method(name: str, setting: Setting) -> Method:
    """Make a method (a key of `LABELS` but "zero") ready for one setting; the method is remembered."""
    return _method(choice("method", name, tuple(_MAKERS)), setting)


@lru_cache(maxsize=512)
def _method(name: str, setting: Setting) -> Method:
    return _MAKERS[name](setting)


def _bound(key: str, setting: Setting, **told: float) -> float:
    about = setting.n, setting.d, setting.epsilon, setting.delta
    return excess_population_bound(key, *about, radius=setting.radius, **told)  # type: ignore[arg-type]


def _of_plan(setting: Setting, plan: DescentPlan, bound: float) -> Method:
    def learn(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        return descend(_rows(X), y, setting.loss, plan, Streams(seed))

    numbers = {"steps": plan.steps, "batch": plan.batch_size, "noise": plan.noise_multiplier, "step": plan.step_size}
    return Method(learn, bound, plan.mechanism, MappingProxyType(numbers))


def _sgd(setting: Setting) -> Method:
    key = "prox" if math.isinf(setting.loss.smoothness) else "sgd"
    plan = published_plan(setting.sizes, smoothness=setting.loss.smoothness, strict=False)
    return _of_plan(setting, plan, _bound(key, setting))


def _gd(setting: Setting) -> Method:
    plan = tight_plan(setting.sizes, smoothness=setting.loss.smoothness)
    corners = math.isinf(setting.loss.smoothness)
    told = {} if corners else {"smoothness": setting.loss.smoothness}
    return _of_plan(setting, plan, _bound("gd-prox" if corners else "gd", setting, steps=plan.steps, **told))


def _rows(X: FloatArray) -> Rows:
    return Rows(X, "normalize")


def _minimiser(setting: Setting, sigma: float, lam: float, envelope: float | None) -> Learn:
    def learn(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        rows = _rows(X)
        loss = setting.loss if envelope is None else MoreauEnvelope(setting.loss, envelope_steps(rows, envelope))
        linear = sigma * np.random.default_rng(seed).standard_normal(setting.d)
        objective = PerturbedObjective(rows, y, lam, linear, loss)
        result = solve(objective, tau=TAU, radius=setting.radius, solver=setting.solver)
        return result.theta

    return learn


def _objective_of(setting: Setting, sigma: float, lam: float, bound: float, envelope: float | None = None) -> Method:
    curved = setting.loss.smoothness if envelope is None else envelope
    proof = {"logistic": "logistic", "absolute": "two-signed"}.get(setting.population)
    mechanism: Mechanism = Gaussian(sigma, 2.0)  # no curvature, no determinant
    if proof is not None:
        mechanism = ObjectivePerturbation(sigma, lam, 1.0, curved, proof, adjacency=REPLACE_ONE)
    numbers = {"sigma": sigma, "lam": lam} | ({} if envelope is None else {"envelope": envelope})
    return Method(_minimiser(setting, sigma, lam, envelope), bound, mechanism, MappingProxyType(numbers))


def _published_objective(setting: Setting) -> Method:
    sigma = published_objective_noise(setting.epsilon, setting.delta)
    lam = published_objective_lam(setting.sizes, strict=False)
    envelope = setting.epsilon * lam / 2 if math.isinf(setting.loss.smoothness) else None  # the most that is allowed
    rounded = 0.0 if envelope is None else 1 / (2 * envelope)
    return _objective_of(setting, sigma, lam, _regularised(setting, sigma, lam) + rounded, envelope)


def _regularised(setting: Setting, sigma: float, lam: float) -> float:
    """dσ²/(4Λn) + ΛM²/(4n) + 2L²/Λ, and 2·ML at most (docs/theorems.md, T24)."""
    private = setting.d * sigma**2 / (4 * lam * setting.n) + lam * setting.radius**2 / (4 * setting.n)
    return min(private + 2 / lam, 2 * setting.radius)


def _logistic_at(setting: Setting, lam: float) -> Method:
    """Our theorem with at least the given Λ, and the noise that goes with it."""
    found = calibrate_objective_perturbation(setting.epsilon, setting.delta, adjacency=REPLACE_ONE, lam=lam)
    assert isinstance(found, ObjectivePerturbation)
    return _objective_of(setting, found.sigma, found.lam, _regularised(setting, found.sigma, found.lam))


def _noise(setting: Setting) -> float:
    """2L·σ_G."""
    return 2 * calibrate_gaussian(setting.epsilon, setting.delta).sigma


def _least(setting: Setting) -> Method:
    return _logistic_at(setting, 2 / setting.epsilon)


def _of_the_bound(setting: Setting) -> Method:
    lam = math.sqrt(8 * setting.n + setting.d * _noise(setting) ** 2) / setting.radius
    return _logistic_at(setting, max(lam, 2 / setting.epsilon))


def _tight(setting: Setting) -> Method:
    sigma = _noise(setting)
    if setting.population == "logistic":
        return _logistic_at(setting, recommended_ball_lam(setting.sizes))
    if setting.population == "hard":
        lam = math.sqrt(8 * setting.n + setting.d * sigma**2) / setting.radius
        return _objective_of(setting, sigma, lam, _regularised(setting, sigma, lam))
    plan = objective_plan("tight", setting.sizes, smoothness=setting.loss.smoothness, bound="two-signed", tau=TAU)
    found, envelope = plan.mechanism.objective, plan.envelope
    rounded = 0.0 if envelope is None else 1 / (2 * envelope)
    bound = min(_regularised(setting, found.sigma, found.lam) + rounded, 2 * setting.radius)
    return _objective_of(setting, found.sigma, found.lam, bound, envelope)


def _phased(setting: Setting) -> Method:
    phases, noise = phased_schedule(setting.sizes), setting.sizes.noise

    def learn(X: FloatArray, y: FloatArray, seed: int) -> FloatArray:
        rows = _rows(X)
        return phased_minimum(rows, y, setting.loss, phases, noise, 1.0, setting.radius, seed, solver=setting.solver)

    numbers = {"phases": len(phases), "step": phases[0][1]}
    return Method(learn, _bound("phased", setting), Gaussian(noise), MappingProxyType(numbers))


def _without_privacy(setting: Setting) -> Method:
    envelope = 1e3 * math.sqrt(setting.n) if math.isinf(setting.loss.smoothness) else None
    learn = _minimiser(setting, 0.0, _NEXT_TO_NOTHING, envelope)
    return Method(learn, math.inf, None, MappingProxyType({"lam": _NEXT_TO_NOTHING}))


_MAKERS: Mapping[str, Callable[[Setting], Method]] = {
    "sgd": _sgd,
    "objective": _published_objective,
    "gd": _gd,
    "phased": _phased,
    "objective-bound": _of_the_bound,
    "objective-least": _least,
    "objective-tight": _tight,
    "no-privacy": _without_privacy,
}
