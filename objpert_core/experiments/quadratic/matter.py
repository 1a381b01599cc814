"""Where data matter: the excess risk of a bent lasso by the number of rows, at the published and the exact price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from objpert_core._validation import nonnegative_integer, positive_integer
from objpert_core.accounting import calibrate_quadratic_perturbation
from objpert_core.experiments.quadratic.lasso import box_lasso
from objpert_core.experiments.results import Row
from objpert_core.learning.quadratic.wishart import wishart

EPSILON, DELTA = 1.0, 1e-5
DIMENSION, DEGREES, PENALTY = 20, 40, 0.02
"""d, m, and ω as a share of n."""
ROWS = (1000, 3000, 10_000, 30_000, 100_000)
SEEDS = tuple(range(10))

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "published": "Bend, published",
        "sharpened": "Bend, sharpened proof",
        "exact": "Bend, exact theorem",
        "anchor": "The anchor alone, no data",
    }
)
"""The methods, by their keys."""


@dataclass(frozen=True)
class Excess(Row):
    """What one method loses: J(θ) − min J, a sum over the rows."""

    VALUE = "excess"

    n: int
    method: str
    seed: int
    excess: float


def scales() -> dict[str, float]:
    """σ² by each proof, at 2d degrees of freedom."""
    return {
        bound: calibrate_quadratic_perturbation(EPSILON, DELTA, DIMENSION, 1.0, DEGREES, bound=bound).scale
        for bound in LABELS
        if bound != "anchor"
    }


def losses(seed: int, rows: Iterable[int] = ROWS) -> Iterator[Excess]:
    """What every method loses on one draw, for every number of rows; θ* and W are the same for all of them."""
    shared, found = np.random.default_rng([nonnegative_integer("seed", seed), 0]), scales()
    theta_star, W = shared.standard_normal(DIMENSION), wishart(shared, DIMENSION, DEGREES)
    for n in rows:
        X = np.random.default_rng([seed, positive_integer("rows", n)]).standard_normal((n, DIMENSION))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        gram, omega = X.T @ X, PENALTY * n
        # all minima are looked for as displacements of the least one: J differs far less than its own size
        best = box_lasso(gram, gram @ theta_star, omega)
        slope = gram @ (best - theta_star)
        for method in LABELS:
            if method == "anchor":
                theta = theta_star
            else:
                bent = gram + found[method] * W
                theta = box_lasso(bent, bent @ theta_star, omega)
            moved = theta - best
            lost = slope @ moved + moved @ gram @ moved / 2 + omega * (np.abs(theta) - np.abs(best)).sum()
            yield Excess(n, method, seed, float(lost))
