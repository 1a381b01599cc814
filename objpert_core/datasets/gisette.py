"""Gisette: the two labelled parts of the UCI files (handwritten 4 against 9, 5,000 columns).

Guyon et al. published 6,000 training and 1,000 validation rows with labels, which are pooled and split 80/20 by seed
like every other data set here. Iyengar et al. (2019), whose preparation Redberg et al. (2023) use, take the 6,000
alone.

`gisette-like`: 6,000 rows of 5,000 columns made by Guyon's recipe ("Design of experiments for the NIPS 2003 variable
selection benchmark") from scikit-learn's 361 small images of 4 and 9, each redrawn at 28 × 28 several times: pixels,
products of pairs of pixels, as many probes that know nothing of the label, in random order. Redrawings of one image
never sit on both sides of the split.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from sklearn.datasets import load_digits

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import training_size, unit_rows

ROWS, SIDE = 6_000, 28
TRAINING_ROWS = training_size(ROWS)
PIXELS, PRODUCTS, PROBES = 400, 2_100, 2_500
_DESIGN_SEED = 2003  # which pixels and pairs become columns, and their order: the same for every split
_MARGIN = 3  # the outermost pixels of a centred digit are blank
_TOP = 999

CLASSES = ("4", "9")


def read(train: Path, valid: Path, train_labels: Path, valid_labels: Path) -> tuple[FloatArray, IntArray]:
    """The pooled rows of norm one and their labels (0 for the file's -1); `ValueError` names a file of another form."""
    parts = [_matrix(train), _matrix(valid)]
    labels = [_labels(train_labels), _labels(valid_labels)]
    for path, part, marks in zip((train, valid), parts, labels, strict=True):
        if len(part) != len(marks):
            raise ValueError(f"{path.name}: {len(part)} rows, but {len(marks)} labels")
    if parts[0].shape[1] != parts[1].shape[1]:
        raise ValueError(f"{valid.name}: {parts[1].shape[1]} columns, but {train.name} has {parts[0].shape[1]}")
    return unit_rows(np.concatenate(parts).astype(np.float64)), np.concatenate(labels)


def _matrix(path: Path) -> np.ndarray:
    try:
        return np.loadtxt(path, dtype=np.int32, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path.name}: every line must hold the same number of whole numbers ({error})") from None


def _labels(path: Path) -> IntArray:
    marks = _matrix(path)
    if marks.shape[1] != 1 or not np.isin(marks, (-1, 1)).all():
        raise ValueError(f"{path.name}: every line must be -1 or 1")
    return (marks[:, 0] > 0).astype(np.int64)


@lru_cache(maxsize=1)
def _design() -> tuple[IntArray, NDArray[np.bool_], tuple[str, ...]]:
    """The pixel pair of each column (twice the same pixel for a plain one), which are probes, and the names."""
    generator = np.random.default_rng(_DESIGN_SEED)
    inner = SIDE - 2 * _MARGIN
    row, column = np.divmod(generator.choice(inner * inner, PIXELS, replace=False), inner)
    pixel = (row + _MARGIN) * SIDE + column + _MARGIN
    pairs = _distinct_pairs(generator, PRODUCTS + PROBES)
    order = generator.permutation(PIXELS + PRODUCTS + PROBES)
    pairs = np.concatenate([np.stack([pixel, pixel], axis=1), pairs])[order]
    probes = order >= PIXELS + PRODUCTS
    names = tuple(
        f"probe {position}" if probe else _name(a) if a == b else f"{_name(a)}·{_name(b)}"
        for position, ((a, b), probe) in enumerate(zip(pairs.tolist(), probes, strict=True))
    )
    return pairs, probes, names


def _distinct_pairs(generator: np.random.Generator, count: int) -> IntArray:
    drawn = np.sort(_upper_middle(generator, 4 * count).reshape(-1, 2), axis=1)
    drawn = drawn[drawn[:, 0] < drawn[:, 1]]
    first_seen = np.sort(np.unique(drawn, axis=0, return_index=True)[1])
    return drawn[first_seen[:count]]


def _upper_middle(generator: np.random.Generator, size: int) -> IntArray:
    """Pixels drawn from a normal density a little above the centre, where a 4 and a 9 differ."""
    row = np.rint(generator.normal(0.42 * SIDE, 0.17 * SIDE, size))
    column = np.rint(generator.normal(0.5 * SIDE, 0.17 * SIDE, size))
    low, high = _MARGIN, SIDE - _MARGIN - 1
    return (np.clip(row, low, high) * SIDE + np.clip(column, low, high)).astype(np.int64)


def _name(pixel: int) -> str:
    return "pixel({},{})".format(*divmod(pixel, SIDE))


def feature_names() -> tuple[str, ...]:
    """Names of the 5,000 columns: a pixel, a product of two, or a probe."""
    return _design()[2]


def _redraw(image: FloatArray, generator: np.random.Generator) -> FloatArray:
    """An 8 × 8 image redrawn at 28 × 28 with a random shift, turn, scale and slant; values from 0 to 1."""
    angle, slant = generator.normal(0.0, 0.15), generator.normal(0.0, 0.15)
    height, width = 22 * generator.uniform(0.85, 1.15, 2) / 8
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    forward = turn @ np.array([[1.0, 0.0], [slant, 1.0]]) @ np.diag([height, width])
    backward = np.linalg.inv(forward)
    target = np.full(2, (SIDE - 1) / 2) + generator.normal(0.0, 1.0, 2)
    redrawn = ndimage.affine_transform(image, backward, np.full(2, 3.5) - backward @ target, (SIDE, SIDE), order=1)
    return np.clip(redrawn, 0.0, 1.0)


def _redrawings(images: FloatArray, count: int, generator: np.random.Generator) -> FloatArray:
    return np.stack([_redraw(images[i % len(images)], generator).ravel() for i in range(count)])


def make(seed: int) -> tuple[FloatArray, IntArray, FloatArray, IntArray]:
    """X_train (4,800 rows), y_train, X_test (1,200), y_test: 1 is a 9, and the seed decides which images serve which
    part, and every redrawing.
    """
    digits = load_digits()
    kept = np.isin(digits.target, (4, 9))
    images, labels = digits.images[kept] / 16.0, (digits.target[kept] == 9).astype(np.int64)
    generator = np.random.default_rng(seed)
    parts: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for digit in (0, 1):  # digit by digit: half the rows of either part show a 4
        own = generator.permutation(images[labels == digit])
        cut = training_size(len(own))
        parts[0].append(_redrawings(own[:cut], TRAINING_ROWS // 2, generator))
        parts[1].append(_redrawings(own[cut:], (ROWS - TRAINING_ROWS) // 2, generator))
    pixels = np.concatenate([*parts[0], *parts[1]])
    marks = np.repeat([0, 1, 0, 1], [len(part) for part in (*parts[0], *parts[1])])
    order = np.concatenate(
        [generator.permutation(TRAINING_ROWS), TRAINING_ROWS + generator.permutation(ROWS - TRAINING_ROWS)]
    )
    matrix, marks = _expand(pixels[order], generator), marks[order].astype(np.int64)
    return matrix[:TRAINING_ROWS], marks[:TRAINING_ROWS], matrix[TRAINING_ROWS:], marks[TRAINING_ROWS:]


def _expand(pixels: FloatArray, generator: np.random.Generator) -> FloatArray:
    """All 5,000 columns, values rounded to 0..999 as Gisette's are, then rows of norm one."""
    pairs, probes, _ = _design()
    matrix = pixels[:, pairs[:, 0]]
    products = pairs[:, 0] != pairs[:, 1]
    matrix[:, products] *= pixels[:, pairs[products, 1]]
    # A probe has the values of a real column, dealt out to the rows anew: same distribution, no information.
    matrix[:, probes] = generator.permuted(matrix[:, probes], axis=0)
    matrix *= _TOP
    return unit_rows(np.rint(matrix, out=matrix))
