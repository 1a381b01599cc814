"""`breast-cancer`, `digits-4-9` and `digits`: the small sets that come with scikit-learn.

Columns are scaled by constants fixed here: the pixels' range, 0 to 16, and the ranges printed in breast-cancer's
published description. Those are public since 1995, but were once computed from these very patients.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from objpert_core._validation import FloatArray, IntArray
from objpert_core.datasets._dataset import unit_rows

_MEASURES = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip

BREAST_CANCER_RANGES: dict[str, tuple[float, float]] = dict(
    zip(
        (*(f"mean {m}" for m in _MEASURES), *(f"{m} error" for m in _MEASURES), *(f"worst {m}" for m in _MEASURES)),
        (
            (6.9, 29.0), (9.7, 40.0), (43.0, 190.0), (140.0, 2600.0), (0.052, 0.17), (0.019, 0.35), (0.0, 0.43),
            (0.0, 0.21), (0.1, 0.31), (0.049, 0.098),
            (0.11, 2.9), (0.36, 4.9), (0.75, 22.0), (6.8, 550.0), (0.0017, 0.032), (0.0022, 0.14), (0.0, 0.4),
            (0.0, 0.053), (0.0078, 0.079), (0.00089, 0.03),
            (7.9, 37.0), (12.0, 50.0), (50.0, 260.0), (180.0, 4300.0), (0.071, 0.23), (0.027, 1.1), (0.0, 1.3),
            (0.0, 0.3), (0.15, 0.67), (0.055, 0.21),
        ),
        strict=True,
    )
)  # fmt: skip
"""Smallest and largest value of each column; they are mapped to -1 and 1, values beyond count as the limit."""


def breast_cancer() -> tuple[FloatArray, IntArray]:
    """The 569 × 30 matrix of unit rows; labels 0 malignant, 1 benign."""
    bunch = load_breast_cancer()
    low, high = np.array([BREAST_CANCER_RANGES[name] for name in bunch.feature_names]).T
    scaled = 2 * (np.clip(bunch.data, low, high) - low) / (high - low) - 1
    return unit_rows(scaled), bunch.target.astype(np.int64)


def digits_4_9() -> tuple[FloatArray, IntArray]:
    """The 361 × 64 matrix of unit rows, pixels divided by 16 first; labels 0 for a 4, 1 for a 9."""
    bunch = load_digits()
    kept = np.isin(bunch.target, (4, 9))
    return unit_rows(bunch.data[kept] / 16.0), (bunch.target[kept] == 9).astype(np.int64)


def digits() -> tuple[FloatArray, IntArray]:
    """The 1797 × 64 matrix of unit rows, pixels divided by 16 first; labels 0 to 9."""
    bunch = load_digits()
    return unit_rows(bunch.data / 16.0), bunch.target.astype(np.int64)


DIGITS: tuple[str, ...] = tuple("0123456789")
DIGITS_FEATURE_NAMES: tuple[str, ...] = tuple(f"pixel({row},{column})" for row in range(8) for column in range(8))
