"""How much to regularise a posterior draw, by public numbers: AdaOPS's rule, and the list that OPS-PTR chooses from."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from objpert_core._validation import in_open_unit, positive, positive_integer

CANDIDATES: tuple[float, ...] = tuple(float(lam) for lam in np.logspace(1, 10, 30, base=2.5))
"""The thirty λ of Redberg, Zhu and Wang (2023), Figure 1."""
_FAILURE = 0.05


def adaptive_lam(dimension: int, epsilon: float, delta: float, least: float) -> Callable[[float], float]:
    """AdaOPS's rule: the λ that minimises a bound on the excess risk, given λ̃; λ + λ̃ is at least `least`. From λ̃ >=
    0 to the t >= 0 with t + λ̃ >= least that makes C₁(1 + 1/(t + λ̃))^{2C₂}/(t + λ̃) + t least.

    >>> rule = adaptive_lam(10, 1.0, 1e-6, least=30.0)
    >>> round(rule(0.0)), round(rule(1e4))
    (131, 0)
    """
    d, log_term = positive_integer("dimension", dimension), math.log(6 / in_open_unit("delta", delta))
    share = positive("epsilon", epsilon) / 4
    ratio = 2 * share / (1 + math.sqrt(1 + 2 * share / log_term))  # e²/(2·log(6/δ)) + e = ε/4
    confidence = math.log(1 / _FAILURE)
    first = (d / 2 + math.sqrt(d * confidence) + confidence) * log_term / ratio**2
    power = 2 * log_term / share

    def rising(u: float) -> bool:
        """Whether the bound rises at t + λ̃ = u; the bound is convex."""
        log_fall = math.log(first) + power * math.log1p(1 / u) - 2 * math.log(u) + math.log1p(power / (u + 1))
        return log_fall <= 0

    def rule(released: float) -> float:
        low = high = max(least, released)
        while not rising(high):
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if rising(middle) else (middle, high)
        return high - released

    return rule
