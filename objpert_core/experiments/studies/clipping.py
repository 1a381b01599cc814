"""What a clipping threshold does to a fit: small generated data with outliers, fitted with and without noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from objpert_core.learning import (
    LOSSES,
    ClippedLoss,
    Loss,
    PerturbedObjective,
    Rows,
    loss_named,
    perturb_and_solve,
    solve,
)
from objpert_core.learning.problem.rows import row_radius

ROWS = 300
CONSTANT = 1.0  # the intercept's feature, as in the paper's experiments
TAU = 1e-6
ROUGH_TAU = 1e-4  # for the errors at every threshold: θ is then right to 1e-4/λ, far below what is visible
TRUE_SLOPE, TRUE_INTERCEPT = 0.8, 0.1
CENTRE = np.array([0.42, 0.24])
THRESHOLDS = tuple(float(c) for c in np.geomspace(0.01, 10, 10))
NOISES = 4  # private fits averaged at each threshold
_REMEMBERED = 500


@dataclass(frozen=True)
class Clipping:
    """A loss, a key of `objpert_core.learning.LOSSES`, and the threshold C at which its gradients are clipped."""

    loss: str
    parameter: float
    clip: float

    @property
    def plain(self) -> Loss:
        """The loss f that is not clipped."""
        return loss_named(self.loss, None if LOSSES[self.loss]().parameter is None else self.parameter)


@dataclass(frozen=True)
class Setting(Clipping):
    """What is fitted, with which share of `outliers`, how privately; the noise's seeds follow from `seed`."""

    outliers: float
    epsilon: float
    delta: float
    seed: int

    @property
    def regression(self) -> bool:
        """Whether a line is fitted through points, not between two classes."""
        return not self.plain.monotone

    @property
    def bound(self) -> str:
        """The privacy theorem: the one for slopes of one sign where it applies."""
        return "monotone" if self.plain.monotone else "glm"

    @property
    def lipschitz(self) -> float:
        """The largest gradient norm one row can have once it is clipped."""
        return min(self.plain.lipschitz * row_radius(CONSTANT), self.clip)


@lru_cache(maxsize=_REMEMBERED)
def regression_data(outliers: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Points near a line over [−1, 1]; a share `outliers` of them far below it on the right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(ROWS, 1))
    y = TRUE_SLOPE * X[:, 0] + TRUE_INTERCEPT + 0.1 * rng.normal(size=ROWS)
    wrong = rng.permutation(ROWS)[: round(outliers * ROWS)]
    X[wrong, 0] = rng.uniform(0.6, 1.0, size=len(wrong))
    y[wrong] = rng.normal(-3.0, 0.2, size=len(wrong))
    return X, y


@lru_cache(maxsize=_REMEMBERED)
def classification_data(outliers: float, seed: int, rows: int = ROWS) -> tuple[FloatArray, FloatArray]:
    """Two clouds in the unit disc, labels ±1; a share `outliers` of the rows far inside the other class's half."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(rows) % 2 == 0, 1.0, -1.0)
    X = y[:, None] * CENTRE + 0.22 * rng.normal(size=(rows, 2))
    wrong = rng.permutation(rows)[: round(outliers * rows)]
    X[wrong] = 2 * CENTRE + 0.06 * rng.normal(size=(len(wrong), 2))
    y[wrong] = -1.0
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0), y


def data(setting: Setting) -> tuple[FloatArray, FloatArray]:
    """Features and targets of this setting."""
    return (regression_data if setting.regression else classification_data)(setting.outliers, setting.seed)


@lru_cache(maxsize=_REMEMBERED)
def _calibrated(bound: str, smoothness: float, epsilon: float, delta: float) -> acc.ApproximateMinima:
    radius = row_radius(CONSTANT)
    found = acc.calibrate_objective_perturbation(epsilon, delta, 1.0, smoothness * radius**2, bound, tau=TAU)
    assert isinstance(found, acc.ApproximateMinima)
    return found


def mechanism(setting: Setting) -> acc.ApproximateMinima:
    """σ and λ of the private fit: calibrated for gradients of norm 1, σ then scaled to their largest norm."""
    unit, size = _calibrated(setting.bound, setting.plain.smoothness, setting.epsilon, setting.delta), setting.lipschitz
    objective = replace(unit.objective, sigma=size * unit.objective.sigma * (1 + 1e-12), lipschitz=size)
    return replace(unit, objective=objective)


def without_privacy(setting: Setting, clip: float | None) -> FloatArray:
    """θ, the intercept last, without noise, at the private fit's λ; clipped at `clip`, not the setting's threshold."""
    return _solved(replace(setting, clip=1.0 if clip is None else clip), clip is not None)


@lru_cache(maxsize=_REMEMBERED)
def _solved(setting: Setting, clipped: bool) -> FloatArray:
    return _minimiser(setting, clipped, np.zeros(_dimension(setting)))


def _dimension(setting: Setting) -> int:
    return 2 if setting.regression else 3


def _minimiser(setting: Setting, clipped: bool, noise: FloatArray, tau: float = TAU) -> FloatArray:
    X, y = data(setting)
    rows = Rows(X, "clip", CONSTANT)
    loss = ClippedLoss(setting.plain, setting.clip / rows.norms()) if clipped else setting.plain
    objective = PerturbedObjective(rows, y, mechanism(setting).objective.lam, noise, loss)
    return _with_intercept(solve(objective, tau=tau).theta)


def _with_intercept(theta: FloatArray) -> FloatArray:
    return np.append(theta[:-1], CONSTANT * theta[-1])


@lru_cache(maxsize=_REMEMBERED)
def private(setting: Setting, draw: int) -> FloatArray:
    """θ, the intercept last, as Algorithm 1 would release it; draws differ in their noise only."""
    X, y = data(setting)
    released = perturb_and_solve(
        X,
        y,
        mechanism(setting),
        delta=setting.delta,
        loss=setting.plain,
        clip=setting.clip,
        epsilon=setting.epsilon,
        row_norm="clip",
        intercept_scaling=CONSTANT,
        random_state=noise_seed(setting.seed, draw),
    )
    return _with_intercept(released.theta)


def noise_seed(seed: int, draw: int) -> int:
    """The seed of one draw's noise."""
    return 1000 * (seed + 1) + draw


def error(setting: Setting, theta: FloatArray) -> float:
    """How wrong a fit is without outliers: root mean square distance to the line, or wrong share of fresh labels."""
    if setting.regression:
        x = np.linspace(-1, 1, 41)
        off = (theta[0] - TRUE_SLOPE) * x + theta[1] - TRUE_INTERCEPT
        return float(np.sqrt(np.mean(off**2)))
    X, y = classification_data(0.0, setting.seed + 10_000, rows=4000)
    return float(np.mean((X @ theta[:2] + theta[2]) * y <= 0))


def errors(setting: Setting) -> dict[str, FloatArray]:
    """The error at each of `THRESHOLDS`; the same noise, scaled, at every one, so that C shows and not luck."""
    return _errors(replace(setting, clip=1.0))


@lru_cache(maxsize=_REMEMBERED)
def _errors(setting: Setting) -> dict[str, FloatArray]:
    at = [replace(setting, clip=clip) for clip in THRESHOLDS]
    noisy = np.array([_noisy(one) for one in at])
    return {
        "C": np.array(THRESHOLDS),
        "clipped": np.array([error(one, without_privacy(one, one.clip)) for one in at]),
        "private": noisy.mean(axis=1),
        "private_lowest": noisy.min(axis=1),
        "private_highest": noisy.max(axis=1),
    }


@lru_cache(maxsize=_REMEMBERED)
def _noisy(setting: Setting) -> FloatArray:
    """Errors of `NOISES` fits with noise; the output noise, far smaller, is left out."""
    units = np.random.default_rng(noise_seed(setting.seed, 0)).standard_normal((NOISES, _dimension(setting)))
    sigma = mechanism(setting).objective.sigma
    return np.array([error(setting, _minimiser(setting, True, sigma * unit, ROUGH_TAU)) for unit in units])


def private_error(setting: Setting) -> float:
    """Mean error of private fits at this threshold, with the noise of `errors`."""
    return float(_noisy(setting).mean())


def best_threshold(setting: Setting) -> float:
    """The threshold among `THRESHOLDS` with the smallest mean error of private fits."""
    return THRESHOLDS[int(np.argmin(errors(setting)["private"]))]
