"""Gradient descent and Nesterov's accelerated descent: whole gradients, one a step, with steps of length 1/L."""

from __future__ import annotations

import math

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.learning.solvers.progress import CountedProblem, Progress

_POWER_STEPS = 20
_MARGIN = 1.1  # on a power iteration's eigenvalue, which comes from below
_PATIENCE = 100  # checks without a smaller gradient


def greatest_curvature(problem: CountedProblem) -> float:
    """L: about the largest eigenvalue of β Σᵢ x̃ᵢx̃ᵢᵀ + λ, by power iteration; at most Σᵢ βᵢ + λ."""
    vector = np.random.default_rng(0).standard_normal(problem.dimension)
    greatest = 0.0
    for _ in range(_POWER_STEPS):
        vector = problem.greatest_hessian_product(vector / np.linalg.norm(vector))
        previous, greatest = greatest, float(np.linalg.norm(vector))
        if greatest <= 1.01 * previous:
            break
    return min(_MARGIN * greatest, problem.smoothness)


def _noticed(curvature: float, moved: FloatArray, changed: FloatArray, problem: CountedProblem) -> float:
    """L after a step: raised where the gradient changed by more than L times the step, so that L is too small."""
    length = float(np.linalg.norm(moved))
    seen = float(np.linalg.norm(changed)) / length if length > 0 else 0.0
    return curvature if seen <= curvature else min(_MARGIN * seen, problem.smoothness)


def gradient_descent(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """θ ← θ − ∇J(θ)/L: O(n² log n) evaluations for fixed λ (Redberg, Koskela and Wang 2023, F.2)."""
    return _descend(problem, theta, progress, momentum=False)


def accelerated(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Nesterov's method (2004, constant scheme III), no momentum where it leads uphill: O(n^1.5 log n) for fixed λ."""
    return _descend(problem, theta, progress, momentum=True)


MOST_SURE_STEPS = 10**6
_SURE_MARGIN = 1 + 1e-9  # for what rounding may take off the sum that bounds the curvature


def sure_steps(curvature: float, strong_convexity: float, gradient_norm: float, tau: float) -> int:
    """Bound the steps after which `sure` has reached τ from θ = 0, in exact arithmetic and for all data."""
    ratio = curvature / strong_convexity
    steps = 1 + 2 * math.sqrt(ratio) * max(0.0, math.log(3 * math.sqrt(2) * ratio) + math.log(gradient_norm / tau))
    return int(min(MOST_SURE_STEPS, math.ceil(steps)))


def sure(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """Nesterov's method (2004, 2.2.1, constant scheme III) at the proved step 1/L, L = Σᵢ βᵢ + λ; see `sure_steps`."""
    curvature = problem.smoothness * _SURE_MARGIN
    root = math.sqrt(curvature / problem.strong_convexity)
    momentum = (root - 1) / (root + 1)
    here, ahead = theta, theta
    while True:
        gradient, _ = problem.gradient(ahead)
        norm = float(np.linalg.norm(gradient))
        if not progress.norms:
            progress.max_iter = sure_steps(curvature, problem.strong_convexity, max(norm, progress.tau), progress.tau)
        progress.report(norm)
        if progress.over:
            return ahead
        following = ahead - gradient / curvature
        here, ahead = following, following + momentum * (following - here)


def sure_projected(problem: CountedProblem, radius: float, progress: Progress) -> FloatArray:
    """`sure` over the ball ‖θ‖ ≤ `radius`, from 0: every step ends with a projection."""
    curvature = problem.smoothness * _SURE_MARGIN
    root = math.sqrt(curvature / problem.strong_convexity)
    momentum = (root - 1) / (root + 1)
    here = ahead = np.zeros(problem.dimension)
    while True:
        gradient, _ = problem.gradient(ahead)
        following = ahead - gradient / curvature
        if (norm := float(np.linalg.norm(following))) > radius:
            following = following * (radius / norm)
        left = 2 * curvature * float(np.linalg.norm(following - ahead))
        if not progress.norms:
            start = max(float(np.linalg.norm(gradient)), progress.tau)
            # as without a ball, with 8√2 in place of 3√2
            progress.max_iter = sure_steps(curvature, problem.strong_convexity, start * 8 / 3, progress.tau)
        progress.report(left)
        if progress.over:
            return following
        here, ahead = following, following + momentum * (following - here)


def _descend(problem: CountedProblem, theta: FloatArray, progress: Progress, *, momentum: bool) -> FloatArray:
    """Steps of length 1/L; with momentum each gradient is taken ahead of the iterate."""
    gradient, _ = problem.gradient(theta)
    progress.report(float(np.linalg.norm(gradient)))
    if progress.over:
        return theta
    curvature = greatest_curvature(problem)
    patience = _PATIENCE
    here, ahead, steps = theta, theta, 0  # the iterate, and the point ahead of it where gradients are taken
    best, best_norm = theta, progress.norms[-1]
    while not progress.over and not progress.idle(patience):
        before, old = ahead, gradient
        following = ahead - gradient / curvature
        ahead = following
        if momentum:
            root = math.sqrt(curvature / problem.strong_convexity)
            steps = 0 if gradient @ (following - here) > 0 else steps
            ahead = following + min(steps / (steps + 3), (root - 1) / (root + 1)) * (following - here)
        here, steps = following, steps + 1
        gradient, _ = problem.gradient(ahead)
        norm = float(np.linalg.norm(gradient))
        progress.report(norm)
        if norm < best_norm:
            best, best_norm = ahead, norm
        curvature = _noticed(curvature, ahead - before, gradient - old, problem)
        if momentum:
            patience = _PATIENCE + int(4 * math.sqrt(curvature / problem.strong_convexity))
    return best
