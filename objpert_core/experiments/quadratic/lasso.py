"""Minima of a quadratic with an ℓ₁ penalty in a box, as exact as doubles have them."""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.solvers.lasso import BoxedLasso, solve_lasso

_SLOPE = 1e-11  # of the residual at the end, relative to the longest slope at hand


def box_lasso(gram: FloatArray, linear: FloatArray, penalty: float, bound: float = math.inf) -> FloatArray:
    """The minimiser of ½·θᵀBθ − cᵀθ + ω‖θ‖₁ over |θⱼ| <= κ, with B positive definite; `ConvergenceError` if the descent
    does not end.

    >>> box_lasso(np.diag([2.0, 1.0]), np.array([3.0, 0.5]), penalty=1.0).tolist()
    [1.0, 0.0]
    """
    one = np.ones(len(linear))
    problem = BoxedLasso(gram, -linear, 0 * one, penalty * one, -bound * one, bound * one)
    found = solve_lasso(problem, tau=_SLOPE * (float(np.linalg.norm(linear)) + penalty))
    if not found.converged:
        raise ConvergenceError(f"the residual is still {found.gradient_norm:.3g} after {found.iterations:,} checks")
    return found.theta
