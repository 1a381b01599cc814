"""What the two published algorithms really promise: the accountant's ε beside the target, over n and d.

Both are accounted for where a row is replaced, at the target's δ = 1/n², with gradients of norm at most 1. Noise and
steps are those that the paper prints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from objpert_core import _provenance
from objpert_core.accounting.population.published import published_objective_mechanism, published_sgd_mechanism
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments import results
from objpert_core.experiments.population.methods import RADII

FILE = "population_promises.csv"


@dataclass(frozen=True)
class Promise:
    """A published algorithm's promise: its noise is published for the ε `target`, the accountant finds `epsilon`."""

    method: str
    n: int
    d: int
    target: float
    epsilon: float


def accounted(method: str, n: int, d: int, target: float) -> Promise:
    """Account for "sgd" or "objective", the latter with the logistic loss in the standard ball."""
    radius, delta = RADII["logistic"], 1 / n**2
    if method == "sgd":
        epsilon = published_sgd_mechanism(n, d, target, delta, radius=radius, strict=False).epsilon(delta)
    else:
        made = published_objective_mechanism(n, d, target, delta, radius=radius, strict=False, bound="logistic")
        epsilon = made.epsilon(delta)
    return Promise(method, n, d, target, float(epsilon))


def path(where: Path | None = None) -> Path:
    """Where the stored promises are or would be."""
    return (where or results.folder()) / FILE


@dataclass(frozen=True, eq=False)
class Promises:
    """A file of promises: how it was made, and the accountant's ε by (method, n, d, target)."""

    notes: Mapping[str, str]
    found: Mapping[tuple[str, int, int, float], float]

    def epsilon(self, method: str, n: int, d: int, target: float) -> float:
        """The accountant's ε; NaN where it is not stored."""
        return self.found.get((method, n, d, target), math.nan)


def load(where: Path | None = None) -> Promises:
    """The stored promises, read again when changed; `DataUnavailableError` names the command that makes them."""
    file = results.to_read(path(where))
    try:
        state = file.stat()
    except OSError:
        raise DataUnavailableError(
            f"There are no stored promises ({file}): make them with python -m objpert_core.experiments promises"
        ) from None
    return _load(file, state.st_mtime_ns)


@lru_cache(maxsize=4)
def _load(file: Path, changed: int) -> Promises:
    table = _provenance.read_table(file)
    found = {
        (row["method"], int(row["n"]), int(row["d"]), float(row["target"])): float(row["epsilon"]) for row in table.rows
    }
    return Promises(table.notes, found)
