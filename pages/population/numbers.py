"""Risks, stored or drawn now, and what is proved about them; no Streamlit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from objpert_core.accounting.population.ball import recommended_ball_lam
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.population import stored
from objpert_core.experiments.population.methods import CONTENDERS, RADII, Setting
from objpert_core.experiments.population.sweep import Piece, RiskRun
from objpert_core.experiments.summary import Interval, mean_interval
from objpert_core.theory.population_risk import excess_population_bound, stability_bound

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


@dataclass(frozen=True)
class Risks:
    """Excess risk and generalisation gap of every method at one setting.

    `trials` is how many draws every method has, at least; `live` risks were drawn now.
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

    `published` is what the paper prints, where it prints something.
    """
    return _theory(excess_population_bound, name, setting, published)


def accounted(name: str, setting: Setting) -> float | None:
    """The accountant's ε of a published method, where it is stored; None elsewhere."""
    if setting.population != "logistic" or setting.radius != RADII["logistic"]:
        return None
    try:
        found = stored.FAMILY.load("promises").values(method=name, n=setting.n, d=setting.d, target=setting.epsilon)
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
        told["lam"] = recommended_ball_lam(setting.sizes)
    elif name == "objective-least":
        told["lam"] = 2 / setting.epsilon
    try:
        return ask(key, setting.n, setting.d, setting.epsilon, setting.delta, published=published, **told)
    except ValueError:  # nothing is published for it, or not for this ε
        return None
