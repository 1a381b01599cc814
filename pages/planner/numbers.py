"""The numbers of "Choose σ and λ": the frontier under each bound, and the excess loss that Theorem H.1 allows on it.

Calibrations come from `objpert_core.accounting`, the theorem from `objpert_core.theory.excess_risk`. A frontier is
remembered for rows of norm 1 and stretched to norm R (σ grows with R, λ with R²), so that only ε and δ make a new one:
some 0.15 s. The point itself is always calibrated exactly as it stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import objpert_core.accounting as acc
from objpert_core.experiments.studies.noise_ratios import BOUNDS, PUBLISHED_RATIO, Plan, Recipe
from objpert_core.learning.problem.rows import row_radius
from objpert_core.theory import excess_risk
from ui import bounds, sentences

NAMES: Mapping[str, str] = {name: bounds.NAMES[name] for name in reversed(BOUNDS)}
NODES = (1.0, 1.002, 1.01, 1.03, 1.06, 1.1, 1.2, PUBLISHED_RATIO, 1.5, 2.0, 3.0)
MORE_NODES: Mapping[str, tuple[float, ...]] = {"rdp": (1.15, 1.4, 1.7), "glm": (1.15, 1.4, 1.7)}  # they turn late
_REMEMBERED = 1000
assert set(NAMES) == set(BOUNDS)


@dataclass(frozen=True)
class Setting:
    """A privacy target, the data planned for, and the point chosen on a bound's frontier.

    The row norm is R = √(1 + s²) with s = `intercept_scaling`, and s = 0 means no intercept. `norm` is a guess of ‖θ₀‖,
    the model without privacy; `bound` is one of `NAMES`, and `ratio` is f = σ/σ_Gauss.
    """

    epsilon: float
    delta: float
    rows: int
    features: int
    intercept_scaling: float
    norm: float
    bound: str
    ratio: float

    @property
    def radius(self) -> float:
        """R, the norm of a row with its constant."""
        return row_radius(self.intercept_scaling)

    @property
    def dimension(self) -> int:
        """Length of θ, the intercept included."""
        return self.features + (self.intercept_scaling > 0)

    @property
    def default_ratio(self) -> float:
        """f of the package's default, the logistic bound."""
        return acc.default_noise_ratio("logistic", self.epsilon)

    @property
    def target(self) -> str:
        """The target and the rows' norm, for files."""
        return f"ε = {self.epsilon:g}, δ = {sentences.delta(self.delta)}, R = {self.radius:.4g}"

    def plan(self, columns: str, draws: int, seed: int) -> Plan:
        """What to sample for this setting; the point and the guessed norm do not matter to it."""
        shape = (self.rows, self.features)
        return Plan(self.epsilon, self.delta, self.bound, *shape, self.intercept_scaling, columns, draws, seed)


@dataclass(frozen=True)
class Spot:
    """One point of a frontier: f, σ, the smallest λ; what Theorem H.1 allows, corrected and as printed, nats a row."""

    ratio: float
    sigma: float
    lam: float
    excess: float
    published: float


def spot(setting: Setting, bound: str, ratio: float) -> Spot | None:
    """The frontier's point at f = `ratio`; None where no λ meets the target under this bound."""
    mechanism = _calibrated(bound, setting.epsilon, setting.delta, setting.radius, ratio)
    return None if mechanism is None else _spot(setting, mechanism.sigma, mechanism.lam, ratio)


def kifer(setting: Setting) -> Spot:
    """The one point of Kifer et al. (2012): their theorem names both σ and λ."""
    mechanism = acc.calibrate_objective_perturbation(setting.epsilon, setting.delta, setting.radius, bound="kifer2012")
    assert isinstance(mechanism, acc.ObjectivePerturbation)
    return _spot(setting, mechanism.sigma, mechanism.lam, mechanism.sigma / gaussian_sigma(setting))


def closed_form(setting: Setting) -> Spot:
    """f = 1 under the logistic bound, where λ = R²/(ε + R²/(2σ²))."""
    found = spot(setting, "logistic", 1.0)
    assert found is not None  # the logistic bound is the Gaussian profile from a finite λ on
    return found


def gaussian_sigma(setting: Setting) -> float:
    """σ of the Gaussian mechanism that meets the target with the same sensitivity."""
    return acc.calibrate_gaussian(setting.epsilon, setting.delta, setting.radius).sigma


def fitted_ratio(setting: Setting) -> float:
    """The f for an estimator at the setting's point: its own, or a touch more to make room for output noise."""
    if setting.bound in ("logistic", "monotone") and setting.ratio > 1:
        return setting.ratio
    about = (setting.epsilon, setting.delta, setting.radius)
    tries = [setting.ratio * (1 + extra) for extra in (0.0, 1e-4, 1e-3, 1e-2, 0.1)]
    return next((f for f in tries if Recipe(setting.bound, f).algorithm(*about)), tries[-1])


def frontier(setting: Setting, bound: str) -> list[Spot]:
    """The points to draw, by rising f: `NODES` and the package's default where the bound works, and the setting's f."""
    unit = _unit_frontier(bound, setting.epsilon, setting.delta)
    sigma, square = gaussian_sigma(setting), setting.radius**2
    spots = [_spot(setting, sigma * f, lam * square, f) for f, lam in unit if f != setting.ratio]
    here = spot(setting, bound, setting.ratio)
    return sorted([*spots, here] if here else spots, key=lambda s: s.ratio)


def least(spots: list[Spot]) -> Spot | None:
    """Where along a frontier the theorem allows least; None on an empty one."""
    return min(spots, key=lambda s: s.excess, default=None)


def wanted(setting: Setting, ratio: float) -> float:
    """The λ at which the theorem allows least at f = `ratio`, privacy left aside: below the frontier, out of reach."""
    sigma = gaussian_sigma(setting) * ratio
    return excess_risk.best_regularisation(sigma, setting.dimension, setting.norm)


def raised(setting: Setting) -> Spot | None:
    """The setting's point with the λ that the theorem wants, where that lies above the frontier: allowed too."""
    here = spot(setting, setting.bound, setting.ratio)
    lam = wanted(setting, setting.ratio)
    if here is None or lam <= here.lam:
        return None
    return _spot(setting, here.sigma, lam, setting.ratio)


def sampled_bound(setting: Setting, rows: int, dimension: int, norm: float) -> list[tuple[float, float]]:
    """(f, nats per row) that the theorem allows along the setting's frontier for data of another shape."""
    return [
        (s.ratio, excess_risk.excess_risk_bound(_objective(setting, s.sigma, s.lam), rows, dimension, norm) / rows)
        for s in frontier(setting, setting.bound)
    ]


def all_spots(setting: Setting) -> list[tuple[str, Spot]]:
    return [(b, s) for b in NAMES for s in frontier(setting, b)] + [("kifer2012", kifer(setting))]


def lam(point: Spot | None) -> str:
    """The smallest λ, rounded up."""
    return "none" if point is None else sentences.scientific(point.lam, 3, up=True)


def written(ratio: float) -> str:
    """A noise ratio with the digits it has: 1.02."""
    return f"{ratio:.6g}"


def nats(value: float) -> str:
    """Excess loss per row, rounded up."""
    return sentences.scientific(value, 2, up=True)


def _spot(setting: Setting, sigma: float, lam: float, ratio: float) -> Spot:
    about = (_objective(setting, sigma, lam), setting.rows, setting.dimension, setting.norm)
    allowed = excess_risk.excess_risk_bound(*about), excess_risk.published_excess_risk_bound(*about)
    return Spot(ratio, sigma, lam, *(value / setting.rows for value in allowed))


def _objective(setting: Setting, sigma: float, lam: float) -> acc.ObjectivePerturbation:
    return acc.ObjectivePerturbation(sigma, lam, setting.radius)


@lru_cache(maxsize=_REMEMBERED)
def _unit_frontier(bound: str, epsilon: float, delta: float) -> tuple[tuple[float, float], ...]:
    """(f, λ) at `NODES` for rows of norm 1, from large f down until the bound fails: less noise is harder."""
    found: list[tuple[float, float]] = []
    nodes = {*NODES, *MORE_NODES.get(bound, ()), acc.default_noise_ratio("logistic", epsilon)}
    for f in sorted(nodes, reverse=True):
        mechanism = _calibrated(bound, epsilon, delta, 1.0, f)
        if mechanism is None:
            break
        found.append((f, mechanism.lam))
    return tuple(reversed(found))


@lru_cache(maxsize=20 * _REMEMBERED)
def _calibrated(
    bound: str, epsilon: float, delta: float, radius: float, ratio: float
) -> acc.ObjectivePerturbation | None:
    return Recipe(bound, ratio).mechanism(epsilon, delta, radius)
