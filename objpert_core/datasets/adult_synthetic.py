"""`adult-synthetic`: rows drawn from noisy counts of Adult that were released with (ε = 1, δ = 1e-9).

The repository holds the noisy counts and nothing else of the data. Whatever is computed from them, this module
included, is post-processing and costs no further privacy. The number of rows (45,222) is published with the data set
and is not protected.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._adult_tables import BIN_STARTS, TABLES, conditional, draw_within_bins
from objpert_core.datasets.adult import AdultRecords
from objpert_core.datasets.adult_codebook import CATEGORIES, EDUCATION_LEVEL, MAXIMA, PUBLISHED_ROWS

COUNTS_FILE = "adult_synthetic_counts.json"
PROVENANCE_FILE = "adult_synthetic_provenance.json"

_LEVEL_OF_EDUCATION = np.array([EDUCATION_LEVEL[value] for value in CATEGORIES["education"]])


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """The released tables, by name, and the standard deviation of the noise in each of their cells."""

    tables: dict[str, FloatArray]
    sigma: float


@lru_cache(maxsize=1)
def released_counts() -> NoisyCounts:
    """The counts that come with the package."""
    folder = resources.files("objpert_core.datasets")
    content = json.loads(folder.joinpath(COUNTS_FILE).read_text(encoding="utf-8"))
    return NoisyCounts(
        {
            table.name: np.array(content["tables"][table.name], dtype=np.float64).reshape(table.shape)
            for table in TABLES
        },
        float(content["sigma"]),
    )


def positive_rate(counts: NoisyCounts) -> float:
    """Share of label 1: every table holds the label, so the tables' estimates are averaged by the inverse variance."""
    weights = np.array([1.0 / table.size for table in counts.tables.values()])
    by_label = np.array([table.reshape(2, -1).sum(axis=1) for table in counts.tables.values()])
    negatives, positives = np.maximum(weights @ by_label / weights.sum(), 0.0)
    return float(positives / (negatives + positives)) if negatives + positives > 0 else 0.5


def sample(counts: NoisyCounts, seed: int, rows: int = PUBLISHED_ROWS) -> AdultRecords:
    """Rows drawn independently from the Bayesian network that the noisy counts describe."""
    generator = np.random.default_rng(seed)
    drawn: dict[str, IntArray] = {"label": (generator.random(rows) < positive_rate(counts)).astype(np.int64)}
    for table in TABLES:
        chances = conditional(counts.tables[table.name], counts.sigma, table)
        given = tuple(drawn[column] for column in ("label", *table.parents))
        cumulative = np.cumsum(chances, axis=-1)[given]
        # The last cumulative sum may be a rounding error below one; the draw must still name a cell.
        below = (cumulative[:, :-1] < generator.random(rows)[:, None]).sum(axis=1)
        child_shape = table.shape[1 + len(table.parents) :]
        drawn.update(zip(table.children, np.unravel_index(below, child_shape), strict=True))
    for column in BIN_STARTS:
        drawn[column] = draw_within_bins(column, drawn[column], generator)
    drawn["education-num"] = _LEVEL_OF_EDUCATION[drawn["education"]]
    return AdultRecords(
        np.stack([drawn[column] for column in CATEGORIES], axis=1),
        np.stack([drawn[column] for column in MAXIMA], axis=1),
        drawn["label"],
    )
