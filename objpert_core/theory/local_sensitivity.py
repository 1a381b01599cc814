"""How far one row moves a minimiser or a top eigenvector of *these* data: local sensitivities, and what to ask first.

Norms are Euclidean, and a row is added or removed; ``curvature`` is the smallest eigenvalue of the Hessian at the
minimiser of the data at hand, ``gap`` the difference of the two largest eigenvalues of AᵀA. Both have a global
sensitivity, so that a noisy one may be published. Statements and proofs: docs/theorems.md, T43.
"""

from __future__ import annotations

import math

from objpert_core._validation import nonnegative, positive

_UP = 1 + 2.0**-48  # above what rounding takes off: sensitivities are promises
GAP_SENSITIVITY = 1.0
"""By how much a unit row changes the gap between the two largest eigenvalues of AᵀA at most."""


def minimiser_sensitivity(curvature: float, *, lipschitz: float = 1.0, concordance: float = 1.0) -> float:
    """By how much adding or removing a row moves the minimiser of a sum of losses: −log(1 − RL/c)/R at most.

    A distance in θ; infinite where c <= RL, and L/c at R = 0. Both directions start from the data at hand, so c is of
    these data alone. No smaller number holds for every such objective. Redberg, Zhu and Wang (2023), Appendix C.2, ask
    the same of an ellipsoid.

    L = `lipschitz` > 0 is the largest norm of one row's gradient, and R = `concordance` >= 0 that for which the
    objective is generalised self-concordant, |D³F[u, v, v]| <= R‖u‖·D²F[v, v]: both are 1 for the logistic loss on unit
    rows, and R is 0 for squares.

    >>> round(minimiser_sensitivity(10.0), 6), round(minimiser_sensitivity(10.0, concordance=0.0), 6)
    (0.105361, 0.1)
    """
    c, slope = positive("curvature", curvature), positive("lipschitz", lipschitz)
    r = nonnegative("concordance", concordance)
    if r == 0:
        return slope / c * _UP
    share = r * slope / c * (1 + 2.0**-50)
    if share < 2.0**-60:  # −log(1 − x) is then x, to the last digit
        return slope / c * _UP
    return -math.log1p(-share) / r * _UP if share < 1 else math.inf


def curvature_sensitivity(*, lipschitz: float = 1.0, concordance: float = 1.0, smoothness: float = 0.25) -> float:
    """By how much adding or removing a row changes the smallest eigenvalue of the Hessian at the minimiser: RL + β.

    A global sensitivity: RL + β holds for all data, with any regulariser for which there are minimisers. A row that is
    added lowers the eigenvalue by RL at most. Theorem C.11 of Redberg, Zhu and Wang (2023) has 2RL + β and asks for
    λ >= RL.

    β = `smoothness` >= 0 is the largest eigenvalue of one row's Hessian; R and L are those of `minimiser_sensitivity`.

    >>> round(curvature_sensitivity(), 12)
    1.25
    """
    moved = nonnegative("concordance", concordance) * positive("lipschitz", lipschitz)
    return (moved + nonnegative("smoothness", smoothness)) * _UP


def projector_sensitivity(gap: float) -> float:
    """By how much adding or removing a unit row moves the top eigenvector's projector: √(1 − √(1 − 1/d²)) exactly.

    A distance ‖vvᵀ − wwᵀ‖ in Frobenius' norm, about 1/(√2·d); √2, the most there is, where d <= 1. The number is the
    supremum over all rows of norm 1 at most, reached in every dimension from two on. The angle between v and w is half
    of arcsin(1/d) at most. Theorem C.13 of Redberg, Zhu and Wang (2023) has a bound for several eigenvectors.

    d = `gap` > 0 is the largest eigenvalue of AᵀA less the second.

    >>> round(projector_sensitivity(2.0), 6), round(projector_sensitivity(1e6) * 2**0.5 * 1e6, 6)
    (0.366025, 1.0)
    """
    d = positive("gap", gap)
    return math.sqrt(2) * (math.sin(math.asin(1 / d) / 2) if d > 1 else 1.0) * _UP
