"""Noise that a test dictates, in place of a noise source's."""

import numpy as np


class Fixed:
    """Gives these normal numbers, rounded as asked for, in turn; then zeros."""

    origin, reproducible = "integer seed", True

    def __init__(self, *normals: float) -> None:
        self._left = list(normals)

    def rounded_normal(self, ratio: float, size: int) -> np.ndarray:
        """The next numbers, times the ratio."""
        taken, self._left = self._left[:size], self._left[size:]
        return np.rint(np.append(taken, np.zeros(size - len(taken))) * ratio).astype(np.int64)
