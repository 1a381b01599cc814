"""Losses of generalised linear models, as scalar functions of the margin.

Conventions of this package, said once
--------------------------------------
* The objective is a *sum* over the n rows, not a mean (the privacy proofs need it that way)::

      J(θ) = Σᵢ ℓ(tᵢ · x̃ᵢᵀθ) + λ/2 ‖θ‖² + bᵀθ

* Targets tᵢ are −1.0 or +1.0, shape (n,).
* x̃ᵢ is row i after the row norm was enforced (`rows.Rows`), followed by the constant s = `intercept_scaling`
  where an intercept is fitted. So θ has shape (D,), D = d + 1 with an intercept (its last entry, not yet
  multiplied by s) and D = d without; the intercept is penalised like every other entry.
* ‖x̃ᵢ‖ ≤ R = √(1 + s²), or R = 1 without an intercept. A loss with |ℓ'| ≤ 1 and 0 ≤ ℓ'' ≤ β therefore has
  gradients of norm ≤ R and Hessians of norm ≤ β R² (1/4 · R² for the logistic loss).
* "Margin" is tᵢ · x̃ᵢᵀθ, positive where the model is right.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

FloatArray = NDArray[np.float64]


class MarginLoss(Protocol):
    """A convex loss ℓ of the margin with |ℓ'| ≤ 1: what an objective needs to know of it."""

    @property
    def name(self) -> str:
        """The name that certificates print."""

    @property
    def smoothness(self) -> float:
        """The largest ℓ''."""

    def value(self, margins: FloatArray) -> FloatArray:
        """ℓ, elementwise."""

    def derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(ℓ', ℓ''), elementwise, from one pass."""


class LogisticLoss:
    """The logistic loss ℓ(m) = log(1 + e^{−m}), stable for margins of any size.

    Examples
    --------
    >>> import numpy as np
    >>> LogisticLoss().value(np.array([0.0, 800.0, -800.0])).round(6).tolist()
    [0.693147, 0.0, 800.0]
    """

    name = "logistic"
    smoothness = 0.25

    def value(self, margins: FloatArray) -> FloatArray:
        """log(1 + e^{−m}) for every margin, shape (n,); neither overflows nor loses the tail."""
        return -log_expit(margins)

    def derivatives(self, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ℓ' = −p and ℓ'' = p(1 − p), where p = 1/(1 + e^{m}) is the probability given to the wrong label."""
        wrong = expit(-margins)
        # 1 − p loses its digits as p → 1; the other tail's expit does not.
        return -wrong, wrong * expit(margins)
