"""How far a bound is from what any proof could show: its ε over that of the Gaussian mechanism underneath."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from objpert_core._validation import FloatArray, epsilon_array, like_input, positive_array
from objpert_core.accounting.mechanisms.base import Mechanism

_ROOT = 1e-14


def over_lower_bound(epsilon: ArrayLike, lower: ArrayLike) -> FloatArray:
    """epsilon/lower, at least 1; where `lower` is 0: 1 if both are, else inf. Both are roots to the last digit or so,
    hence nearly equal ones count as equal."""
    epsilon, lower = np.asarray(epsilon, dtype=float), np.asarray(lower, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(lower > 0, epsilon / lower, np.where(epsilon > 0, np.inf, 1.0))
    return np.where(ratio <= 1 + _ROOT, 1.0, ratio)


def distance_to_optimality(mechanism: Mechanism, delta: Any) -> Any:
    """ε of the bound divided by ε of the Gaussian lower bound at the same δ: 1.0 where no proof can do better.

    Redberg et al. (2023), Corollary 3.5. The logistic loss comes as close to a linear one as one likes
    (docs/theorems.md, T1), so the lower bound is the logistic loss's, too. `ValueError` if a δ is out of range, or the
    mechanism has no Gaussian lower bound.

    Parameters
    ----------
    mechanism : ObjectivePerturbation, ApproximateMinima, HalfNormal or Gaussian, or `via_rdp` of one
    delta : float or array of floats strictly between 0 and 1

    Returns
    -------
    float or array of the same shape, >= 1; `math.inf` where the bound proves nothing. Where the lower bound's ε is 0:
    1.0 if the bound's is 0 as well, else `math.inf`.

    Examples
    --------
    >>> from objpert_core.accounting import ObjectivePerturbation
    >>> round(distance_to_optimality(ObjectivePerturbation(sigma=5, lam=20, smoothness=1.0, bound="glm"), 1e-5), 3)
    1.118
    """
    lower = mechanism.lower_bound if isinstance(mechanism, Mechanism) else None
    if lower is None:
        raise ValueError(
            "mechanism must be objective perturbation, Gaussian, half-normal, or one of them through its Rényi curve, "
            f"got {mechanism!r}"
        )
    ratio = over_lower_bound(mechanism.epsilon(delta), lower.epsilon(delta))
    return like_input(delta, ratio)


def optimal_lam(epsilon: Any, sigma: Any, lipschitz: Any = 1.0) -> Any:
    """The λ = R²/(ε + R²/(2σ²)) from which on the bound "logistic" is the Gaussian profile at this ε and above.

    This λ solves ε = ε* for the bound's threshold ε* = R²/λ − R²/(2σ²) (docs/theorems.md, T1). Arrays are broadcast;
    numbers out of range, and infinite ones, raise a `ValueError`.

    Parameters
    ----------
    epsilon : float or array of floats >= 0
    sigma : float or array of floats > 0
    lipschitz : float or array of floats > 0
        Bound on the norm of one row's gradient; for the logistic loss the largest row norm R.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian, ObjectivePerturbation
    >>> lam = optimal_lam(epsilon=1.0, sigma=5.0)
    >>> exact, tilted = Gaussian(5.0).delta(1.0), ObjectivePerturbation(sigma=5.0, lam=lam).delta(1.0)
    >>> round(tilted / exact, 12)
    1.0
    """
    squared = np.square(positive_array("lipschitz", lipschitz))
    lam = squared / (epsilon_array(epsilon) + squared / (2 * np.square(positive_array("sigma", sigma))))
    return float(lam) if np.ndim(lam) == 0 else lam
