"""The smallest μ that covers the law of a privacy loss (docs/theorems.md, T20)."""

from __future__ import annotations

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.gaussian import gdp
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.objective.law import LogisticLaw

_LOWEST, _FARTHEST = -12.0, 37.0  # of v: what is left out has a probability of 2e-33, and of 6e-300
_FEWEST = 24
_POSITION = 1e-9  # relative: what a position may be off


def mu_of_law(law: PrivacyLossLaw) -> float:
    """μ of a law: what finitely many ε of its profile ask for, or what is left of the tail does."""
    if isinstance(law, LogisticLaw):
        end = law.threshold / law.a - law.a / 2  # from the threshold on it is the Gaussian profile
        epsilon = _losses(law, -law.threshold / law.a - law.a / 2, end, 0.25)  # by quadrature: few points
        doubled, shift = False, 0.0 if end < _FARTHEST else float(np.log1p(law.kappa / 4))  # T ≤ max(0, G) + that
    elif isinstance(law, (PositiveGaussianLaw, HalfNormalLaw)):
        doubled, shift = isinstance(law, HalfNormalLaw), law.shift + law.shift_rest
        epsilon = _losses(law, 0.0 if doubled else -law.a / 2, _FARTHEST, 0.04)
    else:
        return float("inf")
    start = float(law.position(epsilon[-1:])[0])
    beyond = gdp.mu_beyond(law.a, shift, doubled, start - _POSITION * (1 + abs(start)))
    return max(gdp.mu_of_profile(law.log_profile, epsilon), beyond)


def _losses(law: PrivacyLossLaw, low: float, high: float, step: float) -> FloatArray:
    """0 and the losses at values of v between two ends."""
    low, high = max(low, _LOWEST), min(high, _FARTHEST)
    losses = law.loss(np.linspace(low, high, max(int((high - low) / step), _FEWEST)))
    if isinstance(law, LogisticLaw) and high < _FARTHEST:
        losses[-1] = law.threshold
    return np.unique(np.append(np.maximum(losses, 0.0), 0.0))
