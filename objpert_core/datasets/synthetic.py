"""`synthetic-l` and `synthetic-h`: Gaussian rows whose labels come from random normal weights, some flipped.

`synthetic-l` (10,000 × 20) has independent standard normal columns. `synthetic-h` (5,000 × 5,000) has fewer training
rows than columns; its column j has standard deviation j^(-3/2), as with equal variances no learner does well there.
"""

from __future__ import annotations

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import unit_rows

_SEEDS = {"synthetic-l": 2019, "synthetic-h": 2023}
_SHAPES = {"synthetic-l": (10_000, 20), "synthetic-h": (5_000, 5_000)}
_DECAY = {"synthetic-l": 0.0, "synthetic-h": 1.5}
# Chosen so that a non-private logistic regression gets about 95.5 % of the test rows right.
_FLIPPED = {"synthetic-l": 0.036, "synthetic-h": 0.02}


def make(name: str, *, rows: int | None = None, seed: int | None = None) -> tuple[FloatArray, IntArray]:
    """Rows of norm one and labels of one of the two sets; with `rows` or `seed` of another set by its recipe."""
    size, columns = _SHAPES[name]
    return draw(
        size if rows is None else rows,
        columns,
        decay=_DECAY[name],
        flipped=_FLIPPED[name],
        seed=_SEEDS[name] if seed is None else seed,
    )


def draw(rows: int, columns: int, *, decay: float, flipped: float, seed: int) -> tuple[FloatArray, IntArray]:
    """Gaussian rows of norm one, column j = 1, 2, … of deviation j**-decay, and labels 1[x·w > 0], w ~ N(0, I), of
    which an exact share is flipped.
    """
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((rows, columns))
    matrix *= np.arange(1.0, columns + 1.0) ** -decay
    labels = (matrix @ generator.standard_normal(columns) > 0).astype(np.int64)
    turned = generator.permutation(rows)[: round(flipped * rows)]
    labels[turned] = 1 - labels[turned]
    return unit_rows(matrix), labels
