"""Limited-memory BFGS: gradients only, finished by Newton steps where values of J can no longer be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from objpert_core._validation import FloatArray
from objpert_core.learning.solvers.progress import CountedProblem, Progress
from objpert_core.learning.solvers.second_order import newton_cg


def lbfgs(problem: CountedProblem, theta: FloatArray, progress: Progress) -> FloatArray:
    """SciPy's L-BFGS-B without bounds, then Newton steps if the line search gives up."""
    last: tuple[FloatArray, float, FloatArray] | None = None

    def value_gradient(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal last
        if last is None or not np.array_equal(point, last[0]):
            last = (point.copy(), *problem.value_gradient(point))
        return last[1:]

    def after_iteration(point: FloatArray) -> None:
        progress.report(float(np.linalg.norm(value_gradient(point)[1])))
        if progress.over:
            raise StopIteration

    progress.report(float(np.linalg.norm(value_gradient(theta)[1])))
    if progress.over:
        return theta
    # The evaluation limit is a safety net: a line search takes one or two evaluations as a rule.
    options: Any = {
        "maxiter": progress.max_iter,
        "maxfun": 20 * progress.max_iter,
        "ftol": 0.0,
        "gtol": 0.0,
        "maxcor": 20,
    }
    run: Any = minimize  # its type stubs do not know functions of plain arrays
    found = run(value_gradient, theta, jac=True, method="L-BFGS-B", callback=after_iteration, options=options)
    return found.x if progress.over else newton_cg(problem, found.x, progress)
