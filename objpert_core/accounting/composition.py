"""Adaptive composition: what several releases about the same rows cost together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, epsilon_array, like_input, positive_integer
from objpert_core.accounting.conversion import ViaRDP
from objpert_core.accounting.mechanisms import Mechanism


@dataclass(frozen=True)
class Composition(Mechanism):
    """Several mechanisms, each run a number of times; made by `compose` and `repeat`."""

    parts: tuple[tuple[Mechanism, int], ...]

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return ViaRDP(self)._log_delta(epsilon)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return ViaRDP(self)._epsilon(log_delta)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.sum([count * part._rdp(alpha) for part, count in self.parts], axis=0)

    def delta_bounds(self, epsilon: Any) -> tuple[Any, Any]:
        """(lower, upper) at ε."""
        eps = epsilon_array(epsilon)
        return like_input(epsilon, np.zeros(eps.shape)), self.delta(epsilon)

    def epsilon_bounds(self, delta: Any) -> tuple[Any, Any]:
        """(lower, upper) at δ."""
        upper = self.epsilon(delta)
        return upper * 0.0, upper


def compose(*mechanisms: Mechanism) -> Composition:
    """One release of each mechanism, on the same rows."""
    return Composition(tuple((mechanism, 1) for mechanism in mechanisms))


def repeat(mechanism: Mechanism, k: int) -> Composition:
    """k releases of one mechanism, on the same rows."""
    return Composition(((mechanism, positive_integer("k", k)),))
