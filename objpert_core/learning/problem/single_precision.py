"""An objective in single precision: half the memory to read, for steps whose worth is judged in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.lanes import slices, summed
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import Rows

_BLOCK = 1024  # rows of a block, which stays in the cache
_ORDINARY = 1e6  # far below where single precision ends
_UNIT = 2.0**-24


class RoughRows(Rows):
    """A copy of dense rows in single precision; the constant is a feature like the others."""

    in_doubles = False

    def __init__(self, rows: Rows) -> None:
        self.sparse, self.constant, self.n_rows = False, 0.0, rows.n_rows
        self.n_features = self.dimension = rows.dimension
        self.matrix = np.empty((rows.n_rows, rows.dimension), np.float32)
        factors = rows.shorten(self.matrix[:, : rows.n_features])
        self.factors = np.where(factors > 0, factors, 1.0).astype(np.float32)
        self.matrix[:, rows.n_features :] = rows.constant / self.factors[:, None]

    def margins(self, theta: FloatArray) -> FloatArray:
        """See `Rows.margins`; in single precision."""
        return np.asarray((theta.astype(np.float32) @ self.matrix.T) * self.factors)

    def combine(self, weights: FloatArray) -> FloatArray:
        """See `Rows.combine`; summed in single precision."""
        return np.dot(weights.astype(np.float32, copy=False) * self.factors, self.matrix).astype(np.float64)

    def gram(self, weights: FloatArray, stride: int = 1) -> FloatArray:
        """See `Rows.gram`; blocks are summed in single precision, and their sums in double."""
        roots = np.sqrt(weights * stride).astype(np.float32) * self.factors

        def term(part: slice) -> FloatArray:
            block = self.matrix[part] * roots[part, None]
            return np.asarray(block.T @ block, dtype=np.float64)  # scipy's syrk would keep Python's lock

        return np.asfortranarray(summed(term, slices(self.n_rows, _BLOCK, stride)))


def rough(objective: PerturbedObjective) -> PerturbedObjective:
    """The same objective, of rows that are not sparse, in single precision."""
    targets: Any = objective.targets.astype(np.float32)
    return PerturbedObjective(RoughRows(objective.rows), targets, objective.lam, objective.linear, objective.loss)


def bears_roughness(objective: PerturbedObjective) -> bool:
    """Whether single precision is of use: for rows that are a dense matrix, and numbers of an ordinary size."""
    loss = objective.loss
    sizes = loss.lipschitz, loss.smoothness, abs(loss.parameter or 0.0), float(np.abs(objective.targets).max())
    dense = not (objective.rows.sparse or isinstance(objective.rows, CodedRows))
    return dense and max(sizes) < _ORDINARY


def roughness(objective: PerturbedObjective, length: float) -> float:
    """A rule of thumb for the error of a gradient of `rough(objective)` where ‖θ‖ is `length`."""
    slopes = objective.loss.lipschitz + objective.loss.smoothness * length
    return _UNIT * objective.n_rows * slopes
