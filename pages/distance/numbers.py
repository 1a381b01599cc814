"""The numbers of the page Distance to optimality: its four curves, its read-outs, and the maps over (σ, λ).

Everything is computed by `objpert_core.accounting` and remembered as in `ui.bounds`. The maps depend on δ, β and L
alone, so that moving σ or λ costs nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

import objpert_core.accounting as acc
from objpert_core._validation import FloatArray
from objpert_core.accounting.distance.balls import over_lower_bound
from ui import sentences
from ui.bounds import Setting, along, at, grid

NAMES: Mapping[str, str] = {
    "lower": "Normal (lower bound)",
    "half": "Half-normal (λ → ∞)",
    "glm": "Published bound",
    "logistic": "Logistic (tight)",
}
SOURCES: Mapping[str, str] = {
    "lower": "Theorem B.1, Corollary 3.5",
    "half": "Theorem 3.1 with λ → ∞",
    "glm": "Theorems 3.1 and 3.2",
    "logistic": "this project, T1",
}
MAPS = ("glm", "logistic")
POINTS = 201
CELLS = 40  # along either side of a map
SIGMAS, LAMS = np.geomspace(0.1, 1000.0, CELLS + 1), np.geomspace(0.01, 1e4, CELLS + 1)  # edges of the cells
_MAPS_REMEMBERED = 300  # of 13 kB


def mechanism(name: str, setting: Setting) -> acc.Mechanism:
    """The mechanism behind one curve of `NAMES`; raises `ValueError` for values out of range."""
    return acc.HalfNormal(setting.sigma, setting.lipschitz) if name == "half" else setting.mechanism(name)


# --- curves ----------------------------------------------------------------------------------------------------------


def orders(alpha_max: float) -> FloatArray:
    """The Rényi orders at which curves are drawn: from 1, evenly on a logarithmic axis."""
    alpha = np.geomspace(1.0, alpha_max, POINTS)
    alpha[0], alpha[-1] = 1.0, alpha_max
    return alpha


def renyi(name: str, setting: Setting, alpha_max: float) -> FloatArray:
    """ε(α) on `orders(alpha_max)`; inf where the bound proves nothing."""
    return along(mechanism(name, setting), "rdp", orders, alpha_max)


def profile(name: str, setting: Setting, eps_max: float) -> FloatArray:
    """δ(ε) on `ui.bounds.grid(eps_max)`; 1 where the bound proves nothing."""
    return along(mechanism(name, setting), "delta", grid, eps_max)


# --- read-outs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """What one curve says at one setting.

    Attributes
    ----------
    name : str
        A key of `NAMES`.
    epsilon, distance : float
        ε at δ, and how many times the least is that any proof could show.
    renyi, renyi_ratio : float
        ε(α), and how many times the normal curve's it is.
    """

    name: str
    epsilon: float
    distance: float
    renyi: float
    renyi_ratio: float


def epsilon_at(name: str, setting: Setting, delta: float) -> float:
    """Smallest ε that the curve proves at δ."""
    return at(mechanism(name, setting), "epsilon", delta)


def distance_at(name: str, setting: Setting, delta: float) -> float:
    """The curve's distance to optimality at δ."""
    return float(over_lower_bound(epsilon_at(name, setting, delta), epsilon_at("lower", setting, delta)))


def readings(setting: Setting, delta: float, alpha: float) -> list[Reading]:
    """ε at δ and ε(α) of every curve, and how many times the normal one each is."""
    normal = at(mechanism("lower", setting), "rdp", alpha)
    result = []
    for name in NAMES:
        at_alpha = at(mechanism(name, setting), "rdp", alpha)
        epsilon, distance = epsilon_at(name, setting, delta), distance_at(name, setting, delta)
        result.append(Reading(name, epsilon, distance, at_alpha, at_alpha / normal))
    return result


def optimal_lam(setting: Setting, delta: float) -> float:
    """The λ from which on the tight bound is exact at this σ and δ."""
    return float(acc.optimal_lam(epsilon_at("lower", setting, delta), setting.sigma, setting.lipschitz))


def table_rows(found: Sequence[Reading], delta: float, alpha: float) -> list[dict[str, str]]:
    """The read-outs as texts, one row a curve."""
    return [
        {
            "Curve": f"{NAMES[r.name]}, {SOURCES[r.name]}",
            f"ε at δ = {sentences.delta(delta)}": sentences.proved(r.epsilon),
            "Distance": sentences.ratio(r.distance),
            f"Rényi ε(α) at α = {sentences.scientific(alpha)}": sentences.proved(r.renyi),
            "ε(α) / normal": sentences.ratio(r.renyi_ratio),
        }
        for r in found
    ]


def renyi_frame(setting: Setting, alpha_max: float) -> pd.DataFrame:
    """Every plotted number of the Rényi curves."""
    return pd.DataFrame({"alpha": orders(alpha_max)} | {f"rdp_{n}": renyi(n, setting, alpha_max) for n in NAMES})


def profile_frame(setting: Setting, eps_max: float) -> pd.DataFrame:
    """Every plotted number of the profiles."""
    return pd.DataFrame({"epsilon": grid(eps_max)} | {f"delta_{n}": profile(n, setting, eps_max) for n in NAMES})


# --- maps ------------------------------------------------------------------------------------------------------------


def middles(edges: FloatArray) -> FloatArray:
    """The middles of cells on a logarithmic axis."""
    return np.sqrt(edges[1:] * edges[:-1])


def distances(bound: str, setting: Setting, delta: float) -> FloatArray:
    """The distance to optimality in the middle of every cell: a row for each λ, a column for each σ."""
    smoothness = setting.smoothness if bound == "glm" else setting.logistic_smoothness
    return _distances(bound, smoothness, setting.lipschitz, delta)


@lru_cache(maxsize=_MAPS_REMEMBERED)
def _distances(bound: str, smoothness: float, lipschitz: float, delta: float) -> FloatArray:
    found = acc.distance_map(
        middles(SIGMAS), middles(LAMS), delta, lipschitz=lipschitz, smoothness=smoothness, bound=bound
    ).T.copy()
    found.setflags(write=False)
    return found


@lru_cache(maxsize=_MAPS_REMEMBERED)
def boundary(lipschitz: float, delta: float) -> tuple[FloatArray, FloatArray]:
    """σ, and the λ from which on the tight bound is exact, over the width of the map."""
    sigma = np.geomspace(SIGMAS[0], SIGMAS[-1], 4 * CELLS + 1)
    lam = acc.boundary_lam(sigma, delta, lipschitz=lipschitz)
    for values in (sigma, lam):
        values.setflags(write=False)
    return sigma, lam


def map_frame(bound: str, setting: Setting, delta: float) -> pd.DataFrame:
    """Every cell of a map: the middle's σ and λ, and the distance there."""
    lam, sigma = np.meshgrid(middles(LAMS), middles(SIGMAS), indexing="ij")
    found = distances(bound, setting, delta)
    return pd.DataFrame({"sigma": sigma.ravel(), "lam": lam.ravel(), "distance": found.ravel()})
