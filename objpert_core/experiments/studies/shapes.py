"""Synthetic data sets that look like real ones: pixels, measurements, indicators, columns of very different scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
from scipy.special import expit

from objpert_core._validation import FloatArray

TEST_ROWS = 3000

Draw = Callable[[np.random.Generator, int, int], tuple[FloatArray, FloatArray]]
"""Rows and targets (±1) from a generator, a number of rows and a number of columns."""


@dataclass(frozen=True)
class Shape:
    """One kind of data set in one size, that of the training part; `group` is "small", "wide", "long" or "middling"."""

    group: str
    rows: int
    columns: int
    draw: Draw

    def sample(self, seed: int) -> tuple[FloatArray, FloatArray]:
        """Rows and targets (±1): the training part first, then `TEST_ROWS` for the test."""
        generator = np.random.default_rng([self.rows, self.columns, seed])
        return self.draw(generator, self.rows + TEST_ROWS, self.columns)


def _flip(generator: np.random.Generator, targets: FloatArray, share: float) -> FloatArray:
    return np.where(generator.random(len(targets)) < share, -targets, targets)


def gaussian(
    generator: np.random.Generator,
    count: int,
    columns: int,
    *,
    decay: float = 0.0,
    offset: float = 0.0,
    positive: float = 0.5,
    flipped: float = 0.04,
    signal: str = "raw",
) -> tuple[FloatArray, FloatArray]:
    """Normal rows whose columns have standard deviations j**-decay, in any order, about a common mean."""
    scales = generator.permutation(np.arange(1.0, columns + 1.0) ** -decay)
    scales /= np.linalg.norm(scales)
    X = generator.standard_normal((count, columns)) * scales
    weights = generator.standard_normal(columns)
    if signal != "raw":
        weights /= scales
    if signal == "few":
        weights *= generator.random(columns) < max(0.03, 4 / columns)
    scores = X @ weights
    targets = _flip(generator, np.where(scores > np.quantile(scores, 1 - positive), 1.0, -1.0), flipped)
    mean = generator.standard_normal(columns)
    return X + offset * mean / np.linalg.norm(mean), targets


def pixels(
    generator: np.random.Generator, count: int, columns: int, *, fields: int = 15, contrast: float = 0.6
) -> tuple[FloatArray, FloatArray]:
    """Square images with a common picture, nearly empty corners and smooth variation; the classes differ in blobs."""
    side = round(columns**0.5)
    down, right = np.mgrid[0:side, 0:side] / (side - 1.0)

    def blob(width: float) -> FloatArray:
        x, y = generator.random(2)
        return np.exp(-((right - x) ** 2 + (down - y) ** 2) / (2 * width**2)).ravel()

    mask = np.exp(-2.5 * (2 * (right - 0.5) ** 2 + (down - 0.5) ** 2)).ravel()
    common = np.sum([blob(0.18) for _ in range(4)], axis=0)
    difference = np.sum([blob(0.18) * generator.choice((-1, 1)) for _ in range(4)], axis=0)
    variation = np.array([blob(0.15) for _ in range(fields)])
    targets = np.where(generator.random(count) < 0.5, 1.0, -1.0)
    X = common / common.max() + contrast * targets[:, None] * difference / np.abs(difference).max()
    X += generator.standard_normal((count, fields)) / 2 @ variation + generator.standard_normal((count, columns)) / 10
    return np.clip((X - 0.25) * mask - 0.08, 0, 1), targets


def measurements(
    generator: np.random.Generator, count: int, columns: int, *, factors: int = 4, flipped: float = 0.02
) -> tuple[FloatArray, FloatArray]:
    """Skew correlated columns on their ranges, mapped to −1 to 1; most of them grow with the class."""
    targets = np.where(generator.random(count) < 0.6, 1.0, -1.0)
    hidden = generator.standard_normal((count, factors))
    hidden[:, 0] -= 1.3 * targets
    hidden[:, 1] -= 0.5 * targets
    loadings = generator.standard_normal((factors, columns)) * np.array([1.0, 0.6] + [0.5] * (factors - 2))[:, None]
    loadings[0] = np.abs(loadings[0]) * (generator.random(columns) < 0.8)
    values = hidden @ loadings + 0.6 * generator.standard_normal((count, columns))
    values = np.exp(generator.uniform(0.1, 0.8, columns) * values / values.std(axis=0))
    low, high = 0.8 * np.quantile(values, 0.002, axis=0), 1.1 * np.quantile(values, 0.998, axis=0)
    return 2 * (np.clip(values, low, high) - low) / (high - low) - 1, _flip(generator, targets, flipped)


def indicators(
    generator: np.random.Generator, count: int, columns: int, *, temperature: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Eight one-hot columns of few to many categories, some of them rare, and six skew numbers; a quarter positive."""
    sizes = (8, 16, 7, 14, 6, 5, 2)
    blocks, scores, common = [], np.zeros(count), generator.standard_normal(count)
    for size in (*sizes, columns - 6 - sum(sizes)):
        chances = np.arange(1.0, size + 1.0) ** -1.3
        drawn = generator.choice(size, size=count, p=chances / chances.sum())
        blocks.append(np.eye(size)[drawn])
        scores += 0.8 * generator.standard_normal(size)[drawn]
    for number in range(6):
        value = np.exp(0.6 * (0.5 * common + generator.standard_normal(count))) / (4, 8)[number % 2]
        blocks.append(np.clip(value, 0, 1)[:, None])
        scores += 3 * generator.standard_normal() * (blocks[-1][:, 0] - blocks[-1].mean())
    scores *= 2 * temperature / scores.std()
    odds = 2 * (scores - np.quantile(scores, 0.75))
    return np.hstack(blocks), np.where(generator.random(count) < expit(odds), 1.0, -1.0)


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "pixels": Shape("small", 300, 64, pixels),
        "pixels, faint": Shape("small", 300, 64, partial(pixels, fields=25, contrast=0.35)),
        "pixels, more": Shape("small", 250, 100, partial(pixels, fields=30, contrast=0.5)),
        "measurements": Shape("small", 450, 25, measurements),
        "measurements, more": Shape("small", 450, 35, partial(measurements, factors=8, flipped=0.04)),
        "measurements, few": Shape("small", 300, 12, measurements),
        "wide, large columns": Shape("wide", 700, 800, partial(gaussian, decay=1.5, flipped=0.02)),
        "wide, small columns": Shape("wide", 1000, 1500, partial(gaussian, decay=0.5, flipped=0.02, signal="few")),
        "wide, even": Shape("wide", 600, 700, gaussian),
        "wide, off centre": Shape("wide", 500, 700, partial(gaussian, decay=1.0, offset=2.0, positive=0.3)),
        "wide, even, off centre": Shape("wide", 1500, 800, partial(gaussian, decay=0.5, offset=2.0, flipped=0.02)),
        "wide pixels": Shape("wide", 900, 784, partial(pixels, fields=40, contrast=0.5)),
        "indicators": Shape("long", 20_000, 80, partial(indicators, temperature=0.6)),
        "indicators, clear": Shape("long", 10_000, 80, indicators),
        "indicators, few rows": Shape("long", 2500, 80, indicators),
        "normal": Shape("long", 8000, 20, gaussian),
        "normal, uneven": Shape("long", 6000, 30, partial(gaussian, decay=1.0, positive=0.4, signal="even")),
        "normal, off centre": Shape("long", 8000, 30, partial(gaussian, decay=1.0, offset=2.0, positive=0.3)),
        "middling": Shape("middling", 600, 300, partial(gaussian, positive=0.3, flipped=0.1)),
        "middling, off centre": Shape("middling", 600, 300, partial(gaussian, decay=1.0, offset=2.0)),
        "few columns": Shape("middling", 300, 10, gaussian),
        "few columns, off centre": Shape("middling", 300, 10, partial(gaussian, decay=1.0, offset=2.0, positive=0.3)),
        "sixty columns": Shape("middling", 3000, 60, partial(gaussian, decay=1.0, offset=2.0)),
    }
)
"""The data sets of the study by name; their sizes are such that all of it takes minutes."""
