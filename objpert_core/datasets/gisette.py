"""Gisette: the two labelled parts of the UCI files (handwritten 4 against 9, 5,000 columns).

Guyon et al. published 6,000 training and 1,000 validation rows with labels (and 6,500 test rows without). The
7,000 labelled rows are pooled and split 80/20 by seed like every other data set here. Iyengar et al. (2019), whose
preparation Redberg et al. (2023) use, take the 6,000 training rows alone, also split 80/20.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import unit_rows


def read(train: Path, valid: Path, train_labels: Path, valid_labels: Path) -> tuple[FloatArray, IntArray]:
    """The pooled rows of norm one, and their labels: 0 for the file's -1, 1 for its +1.

    A file has a row of space-separated whole numbers, or a label, in each line; `ValueError` names a file that differs.
    """
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
