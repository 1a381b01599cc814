"""The smallest μ that covers the law of a privacy loss (docs/theorems.md, T20)."""

from __future__ import annotations

import numpy as np

from objpert_core.accounting.laws.logistic import LogisticLaw
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw, PrivacyLossLaw
from objpert_core.accounting.numerics import chain, gdp


def mu_of_law(law: PrivacyLossLaw) -> float:
    """μ of a law: what finitely many ε of its profile ask for, or what is left of the tail does."""
    epsilon, log_delta = chain.profile_points(law.log_profile)
    exact = isinstance(law, LogisticLaw) and law.threshold < epsilon[-1]
    if isinstance(law, LogisticLaw) and exact:  # from the threshold on it is the Gaussian profile
        epsilon = np.append(epsilon[epsilon < law.threshold], law.threshold)
        log_delta = law.log_profile(epsilon)
    start = float(law.position(epsilon[-1:])[0])
    if isinstance(law, LogisticLaw):  # T ≤ max(0, G) + log(1 + κ/4)
        beyond = law.a if exact else gdp.mu_beyond(law.a, float(np.log1p(law.kappa / 4)), False, start)
    elif isinstance(law, (PositiveGaussianLaw, HalfNormalLaw)):
        beyond = gdp.mu_beyond(law.a, law.shift + law.shift_rest, isinstance(law, HalfNormalLaw), start)
    else:
        return float("inf")
    return max(gdp.mu_of_points(epsilon, log_delta), beyond)
