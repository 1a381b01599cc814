"""Newton steps past kinks: for objectives whose Hessian jumps, as those of clipped and hinge-like losses do.

Where the Hessian is continuous a Newton step, shortened enough, makes the gradient's norm smaller, and `solvers` relies
on that. At a kink the norm may grow: the step was computed with the Hessian of one side and leads to the other. But the
step always leads downhill, because every Hessian is positive definite. So these steps are judged by the slope of the
objective along them, which can be compared down to the last digits where the objective's values cannot.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from objpert_core._validation import FloatArray

_SLOPE_LEFT = 0.5  # of the slope at the start: a step ends where at most this much of it is left
_AIM = 0.2  # what is left of it where an interpolation aims
_EVALUATIONS = 60  # of the gradient for one step
_PATIENCE = 100  # steps without a smaller gradient, after which rounding, not the method, sets the limit


class _Problem(Protocol):
    def gradient(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]: ...


class _Directions(Protocol):
    def step(self, gradient: FloatArray, curvature: FloatArray, progress: Any) -> FloatArray: ...

    def judge(self, contraction: float) -> bool: ...


class _Progress(Protocol):
    @property
    def over(self) -> bool: ...

    def report(self, norm: float) -> None: ...


def descend_past_kinks(
    problem: _Problem, theta: FloatArray, progress: _Progress, directions: _Directions
) -> FloatArray:
    """Newton steps, each as long as the objective falls along it, until `progress` is over."""
    gradient, curvature = problem.gradient(theta)
    best, best_norm = theta, float(np.linalg.norm(gradient))
    idle = 0
    while not progress.over and idle < _PATIENCE:
        directions.judge(1.0)  # no Hessian from elsewhere
        step = directions.step(gradient, curvature, progress)
        start = float(gradient @ step)
        low, low_slope, high, high_slope = 0.0, start, np.inf, np.nan
        length = 1.0
        for _ in range(_EVALUATIONS):
            candidate = theta + length * step
            new_gradient, new_curvature = problem.gradient(candidate)
            norm, slope = float(np.linalg.norm(new_gradient)), float(new_gradient @ step)
            if norm <= best_norm / 2 or _SLOPE_LEFT * start <= slope <= 0:
                break
            if slope > 0:
                high, high_slope = length, slope
            else:
                low, low_slope = length, slope
            if np.isinf(high):
                length *= 4
            else:
                share = (_AIM * start - low_slope) / (high_slope - low_slope)
                length = low + min(max(share, 0.1), 0.9) * (high - low)
        else:
            break
        theta, gradient, curvature = candidate, new_gradient, new_curvature
        idle = 0 if norm < best_norm else idle + 1
        if norm < best_norm:
            best, best_norm = theta, norm
        progress.report(norm)
    return best
