"""Releases on a lattice: a value rounded to multiples of a power of two, plus exactly sampled rounded noise."""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.learning.noise import NoiseSource, with_noise

FINENESS = 2.0**20
"""The noise's standard deviation is at least this many times the lattice's spacing."""
_FARTHEST = 2.0**61  # lattice points: values beyond are moved there, which brings no two of them farther apart


def power_of_two(value: float) -> float:
    """Find the greatest power of two that is at most `value` > 0."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


def nearest_points(values: FloatArray, spacing: float) -> IntArray:
    """Number the lattice points next to `values`: each is within spacing/2 of its value."""
    with np.errstate(over="ignore"):
        return np.clip(np.rint(values / spacing), -_FARTHEST, _FARTHEST).astype(np.int64)


def release_on_lattice(values: FloatArray, sigma: float, spacing: float, source: NoiseSource) -> FloatArray:
    """Round `values` to the lattice and add N(0, σ²) noise, rounded to the lattice as well (docs/theorems.md, T14).

    Between neighbours `values` may differ by the sensitivity that σ covers, less spacing·√D. The spacing is a power of
    two, and σ is from 2⁻²⁰ to 2⁵² times the spacing.
    """
    noise = source.rounded_normal(sigma / spacing, len(values))
    return np.asarray(with_noise(nearest_points(values, spacing), noise) * spacing, dtype=np.float64)
