"""What the page "Will it generalise?" shows: stored or fresh risks, bounds, a bound taken apart; no Streamlit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from objpert_core.accounting import SampledWithReplacement
from objpert_core.accounting.population.ball import recommended_ball_lam
from objpert_core.accounting.population.published import published_sgd_mechanism, published_sgd_schedule
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.population import promises, stored
from objpert_core.experiments.population.methods import CONTENDERS, RADII, Setting
from objpert_core.experiments.population.stored import ExcessRisks
from objpert_core.experiments.population.sweep import Piece, RiskRun
from objpert_core.experiments.summary import Interval, mean_interval
from objpert_core.theory.population_risk import (
    DescentParts,
    descent_parts,
    excess_population_bound,
    stability_bound,
)

MOST_ROWS = 30_000
"""The most rows that a live run draws."""
DRAWS = 10
_KEYS: Mapping[str, str] = {  # of the theory, by method
    "sgd": "sgd",
    "objective": "objective",
    "gd": "gd",
    "phased": "phased",
    "objective-bound": "objective-tight",
    "objective-least": "objective-tight",
    "objective-tight": "objective-tight",
}
STEPS = tuple(int(f"{m}{'0' * k}") for k in range(6) for m in (1, 2, 5))[:16]
"""T, from 1 to 100,000."""


@dataclass(frozen=True)
class Risks:
    """Excess risk and generalisation gap of every method at one setting.

    Attributes
    ----------
    setting : Setting
    excess, gap : mapping
        Means with intervals, by method.
    trials : int
        How many draws every method has, at least.
    live : bool
        Whether they were drawn now.
    """

    setting: Setting
    excess: Mapping[str, Interval]
    gap: Mapping[str, Interval]
    trials: int
    live: bool

    @property
    def zero(self) -> float:
        """The excess risk of θ = 0."""
        return self.setting.zero

    @property
    def best(self) -> str:
        """The private method with the least mean excess risk; "zero" where none is below that.

        Of objective perturbation only the published and the recommended Λ compete.
        """
        means = {name: self.excess[name].mean for name in CONTENDERS if name in self.excess}
        means |= {"zero": self.zero * (1 - stored.TIE)}
        return min(means, key=means.__getitem__)


def file_of(population: str) -> ExcessRisks | None:
    """The stored results of a population; None where there are none."""
    try:
        return stored.load(population)
    except (DataUnavailableError, ValueError):
        return None


def stored_risks(setting: Setting) -> Risks | None:
    """What is stored at a setting; None where nothing is."""
    found = file_of(setting.population)
    if found is None or setting.radius != RADII[setting.population]:
        return None
    points = {
        name: point
        for name in setting.methods
        if (point := found.point(setting.n, setting.d, setting.epsilon, name)) is not None
    }
    if not points:
        return None
    return Risks(
        setting,
        {name: point.excess for name, point in points.items()},
        {name: point.gap for name, point in points.items()},
        min(point.excess.count for point in points.values()),
        False,
    )


def of_runs(setting: Setting, runs: Sequence[RiskRun]) -> Risks:
    """Means of the fits made so far."""
    by_method: dict[str, list[RiskRun]] = {}
    for run in runs:
        by_method.setdefault(run.method, []).append(run)
    in_order = {name: by_method[name] for name in setting.methods if name in by_method}
    return Risks(
        setting,
        {name: mean_interval([run.excess for run in found]) for name, found in in_order.items()},
        {name: mean_interval([run.gap for run in found]) for name, found in in_order.items()},
        min(map(len, by_method.values())) if len(in_order) == len(setting.methods) else 0,
        True,
    )


def draw(setting: Setting, draws: int, should_stop: Callable[[], bool]) -> Iterator[Risks]:
    """Draw rows and learn from them by every method, again and again; the means so far, after each fit.

    A trial has the seeds of the stored trial of that number.
    """
    runs: list[RiskRun] = []
    for trial in range(draws):
        for name in setting.methods:
            if should_stop():
                return
            runs += Piece(setting, (name,), trial)()
            yield of_runs(setting, runs)


@lru_cache(maxsize=4096)
def bound(name: str, setting: Setting, *, published: bool = False) -> float | None:
    """What a method's mean excess risk is proved to be at most; None where the page has no bound.

    Parameters
    ----------
    name : str
    setting : Setting
    published : bool
        What the paper prints, where it prints something.
    """
    return _theory(excess_population_bound, name, setting, published)


def accounted(name: str, setting: Setting) -> float | None:
    """The accountant's ε of a published method, where it is stored; None elsewhere."""
    if setting.population != "logistic" or setting.radius != RADII["logistic"]:
        return None
    try:
        found = promises.load().values(method=name, n=setting.n, d=setting.d, target=setting.epsilon)
    except DataUnavailableError:
        return None
    return found[0] if found else None


@lru_cache(maxsize=4096)
def stability(name: str, setting: Setting) -> float | None:
    """What a method's generalisation gap is proved to be at most on average; None as for `bound`."""
    return _theory(stability_bound, name, setting, False)


def _theory(ask: Callable[..., float], name: str, setting: Setting, published: bool) -> float | None:
    key, corners = _KEYS.get(name), setting.population == "absolute"
    if key is None or (corners and name == "objective-tight"):
        return None
    told: dict[str, float] = {"radius": setting.radius}
    if corners:
        key = {"sgd": "prox", "gd": "gd-prox"}.get(key, key)
    if name == "objective-tight" and setting.population == "logistic":
        told["lam"] = recommended_ball_lam(setting.n, setting.d, setting.epsilon, setting.delta, radius=setting.radius)
    elif name == "objective-least":
        told["lam"] = 2 / setting.epsilon
    try:
        return ask(key, setting.n, setting.d, setting.epsilon, setting.delta, published=published, **told)
    except ValueError:  # nothing is published for it, or not for this ε
        return None


def parts(setting: Setting, steps: int) -> DescentParts:
    """The bound on noisy gradient descent, taken apart at T steps of one size."""
    curved = setting.loss.smoothness
    return descent_parts(
        setting.n,
        setting.d,
        setting.epsilon,
        setting.delta,
        steps,
        radius=setting.radius,
        smoothness=curved if math.isfinite(curved) else 0.0,
    )


@dataclass(frozen=True)
class Promise:
    """What one step of Algorithm 1 as published costs, from below and from above.

    Attributes
    ----------
    target : float
        δ that is claimed.
    attained : float
        δ that it has on some data.
    proved : float
        δ that it has at most.
    steps : int
        T of Theorem 3.2 at this n, d and ε.
    """

    target: float
    attained: float
    proved: float
    steps: int


@lru_cache(maxsize=256)
def single_step(n: int, d: int, epsilon: float) -> Promise:
    """Algorithm 1 with T = 1, for which Theorem 3.1 claims privacy as for any T."""
    delta = 1 / n**2
    step = published_sgd_mechanism(n, d, epsilon, delta, strict=False, steps=1)
    assert isinstance(step, SampledWithReplacement)
    steps = published_sgd_schedule(n, d, epsilon, delta, strict=False).steps
    return Promise(delta, step.attained_delta(epsilon), float(step.delta(epsilon)), steps)


def frame(risks: Risks) -> pd.DataFrame:
    """The means at one setting with their bounds."""
    rows = [
        {
            "method": name,
            "excess": found.mean,
            "low": found.low,
            "high": found.high,
            "bound": bound(name, risks.setting),
            "gap": risks.gap[name].mean,
            "draws": found.count,
        }
        for name, found in risks.excess.items()
    ]
    rows.append({"method": "zero", "excess": risks.zero, "low": risks.zero, "high": risks.zero, "draws": 0})
    return pd.DataFrame(rows)


def curves_frame(found: ExcessRisks, d: int, epsilon: float) -> pd.DataFrame:
    """Every stored mean of one d and ε."""
    rows = []
    for name in found.methods:
        for n, point in zip(*found.curve(d, epsilon, name), strict=True):
            rows.append(
                {
                    "method": name,
                    "n": n,
                    "excess": point.excess.mean,
                    "low": point.excess.low,
                    "high": point.excess.high,
                    "gap": point.gap.mean,
                    "gap_low": point.gap.low,
                    "gap_high": point.gap.high,
                }
            )
    rows += [{"method": "zero", "n": n, "excess": found.zero(n, d, epsilon)} for n in found.rows]
    return pd.DataFrame(rows)


def parts_frame(setting: Setting) -> pd.DataFrame:
    """The parts of the bound at every T."""
    found = [(steps, parts(setting, steps)) for steps in STEPS]
    columns = ("optimisation", "noise", "stability", "total")
    return pd.DataFrame([{"T": steps} | {name: getattr(one, name) for name in columns} for steps, one in found])


@dataclass(frozen=True)
class Cell:
    """Who wins at one n and d.

    Attributes
    ----------
    n, d : int
    winner : str
        A method, or "zero".
    clear : bool
        Whether it is ahead of the next by more than two standard errors.
    ratio : float
        Its excess risk over that of θ = 0.
    """

    n: int
    d: int
    winner: str
    clear: bool
    ratio: float


def winners(found: ExcessRisks, epsilon: float) -> list[Cell]:
    """The map of who wins."""
    cells = []
    for n in found.rows:
        for d in found.dimensions:
            won = found.winner(n, d, epsilon)
            if won is None:
                continue
            zero = found.zero(n, d, epsilon)
            point = found.point(n, d, epsilon, won[0])
            cells.append(Cell(n, d, *won, 1.0 if point is None else point.excess.mean / zero))
    return cells


def nearest(values: Sequence[float], wanted: float) -> float:
    """The stored value next to the one asked for, by ratio."""
    return min(values, key=lambda value: abs(math.log(value / wanted)))


def map_frame(found: ExcessRisks, epsilon: float) -> pd.DataFrame:
    """The map as a table."""
    return pd.DataFrame([vars(cell) for cell in winners(found, epsilon)])


def log_range(values: Sequence[float]) -> tuple[float, float]:
    """An axis that holds all positive values, with a little air."""
    there = [value for value in values if value > 0 and np.isfinite(value)] or [1.0]
    return min(there) / 1.5, max(there) * 1.5


LEAK_ROWS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def leak_frame(d: int, epsilon: float) -> pd.DataFrame:
    """δ of one published step over its target, for every n."""
    found = [(n, single_step(n, d, epsilon)) for n in LEAK_ROWS]
    return pd.DataFrame(
        [{"n": n, "attained": one.attained / one.target, "proved": one.proved / one.target} for n, one in found]
    )
