"""Which counts of Adult are released, over which bins: the design of `adult-synthetic`.

The design was fixed before any of these counts was taken, from what is public about the survey. It is a Bayesian
network whose every table holds the label:

    label -> (relationship, marital-status, sex)      occupation     | label, sex, education
    age | label, relationship                         workclass      | label, occupation
    education | label, age                            hours-per-week | label, relationship
    race | label, relationship                        native-country | label, race
    (capital-gain, capital-loss) | label              fnlwgt         | label, race

One person is in exactly one cell of each table, so adding or removing one changes the stacked counts by `sqrt(number of
tables)` in Euclidean norm. `education-num` needs no table: it is the survey's code of `education`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets.adult_codebook import CATEGORIES, MAXIMA

BIN_STARTS: dict[str, tuple[int, ...]] = {
    "age": (17, 20, 22, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70),
    "fnlwgt": (0, 50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 400_000, 600_000),
    "capital-gain": (0, 1, 2_500, 5_000, 7_500, 10_000, 15_000, 50_000, 99_999),
    "capital-loss": (0, 1, 1_000, 1_500, 1_750, 2_000, 2_250, 2_500),
    "hours-per-week": (1, 20, 30, 35, 40, 41, 45, 50, 55, 60, 70),
}
"""First value of each bin; a bin ends before the next one starts, the last one at the column's maximum.

The survey holds people older than 16 who worked at least an hour, so the first bins start there.
"""


@dataclass(frozen=True)
class Table:
    """One contingency table: `children` given the label and `parents`; `parents` run from general to special."""

    children: tuple[str, ...]
    parents: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "+".join(self.children)

    @property
    def columns(self) -> tuple[str, ...]:
        return ("label", *self.parents, *self.children)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(levels(column) for column in self.columns)

    @property
    def child_cells(self) -> int:
        return math.prod(levels(column) for column in self.children)


TABLES: tuple[Table, ...] = (
    Table(("relationship", "marital-status", "sex")),
    Table(("age",), ("relationship",)),
    Table(("education",), ("age",)),
    Table(("occupation",), ("sex", "education")),
    Table(("workclass",), ("occupation",)),
    Table(("hours-per-week",), ("relationship",)),
    Table(("race",), ("relationship",)),
    Table(("native-country",), ("race",)),
    Table(("capital-gain", "capital-loss")),
    Table(("fnlwgt",), ("race",)),
)
"""In an order in which every parent comes before its children."""

SENSITIVITY = math.sqrt(len(TABLES))
"""Euclidean sensitivity of the stacked counts when one person is added or removed."""


def levels(column: str) -> int:
    """How many categories or bins a column has in the tables."""
    if column == "label":
        return 2
    return len(CATEGORIES[column]) if column in CATEGORIES else len(BIN_STARTS[column])


def draw_within_bins(column: str, codes: IntArray, generator: np.random.Generator) -> IntArray:
    """A whole number drawn uniformly from each row's bin."""
    starts = np.array(BIN_STARTS[column])
    ends = np.append(starts[1:], MAXIMA[column] + 1)
    return generator.integers(starts[codes], ends[codes])


def conditional(noisy: FloatArray, sigma: float, table: Table) -> FloatArray:
    """Probabilities of the children given label and parents, shape (2, *parents' levels, child_cells), from one noisy
    table.

    Post-processing only: a slice is projected on the nonnegative counts of the same sum, then mixed with the estimate
    that leaves out the most special parent, the less it holds for its noise the more.
    """
    cells = table.child_cells
    parent_shape = table.shape[: 1 + len(table.parents)]
    slices = noisy.reshape(*parent_shape, cells)
    estimate = np.full((1,) * len(parent_shape) + (cells,), 1.0 / cells)
    for depth in range(len(parent_shape) + 1):
        summed = tuple(range(depth, len(parent_shape)))
        marginal = slices.sum(axis=summed, keepdims=True)
        merged = math.prod(parent_shape[depth:])
        total = np.maximum(marginal.sum(axis=-1, keepdims=True), 0.0)
        weight = sigma * math.sqrt(cells * merged)
        projected = project_to_total(marginal.reshape(-1, cells), total.ravel()).reshape(marginal.shape)
        estimate = (projected + weight * estimate) / (total + weight)
    return estimate


def project_to_total(rows: FloatArray, totals: FloatArray) -> FloatArray:
    """The nearest nonnegative vectors with the given sums, row by row (Euclidean projection on a simplex)."""
    ordered = -np.sort(-rows, axis=1)
    excess = np.cumsum(ordered, axis=1) - totals[:, None]
    thresholds = excess / np.arange(1, rows.shape[1] + 1)
    kept = np.maximum(np.count_nonzero(ordered > thresholds, axis=1), 1)
    threshold = np.take_along_axis(thresholds, kept[:, None] - 1, axis=1)
    return np.maximum(rows - threshold, 0.0)
