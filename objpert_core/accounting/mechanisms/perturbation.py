"""What a mechanism adds to an objective, and where its noise comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from objpert_core._validation import FloatArray

NORMAL_SPACING = 2.0**-50
"""Sources of noise give N(0, 1) numbers rounded to multiples of this; see `Perturbation.error`."""


class NormalSource(Protocol):
    """Where noise comes from: a generator of `objpert_core.learning.noise`, or numpy's."""

    def standard_normal(self, size: int, /) -> FloatArray:
        """`size` independent draws from N(0, 1)."""


@dataclass(frozen=True)
class Perturbation:
    """What a mechanism adds to the objective: linearᵀθ + ½ θᵀ·quadratic·θ.

    `linear` is an array of shape (D,), or None without a linear term; `quadratic` one of shape (D, D), or a float for
    that multiple of the identity. `error` bounds the L2 distance of `linear` from a term of exactly the law that is
    proved.

    >>> from objpert_core.accounting import ObjectivePerturbation
    >>> drawn = ObjectivePerturbation(sigma=5, lam=20).perturbation(np.random.default_rng(0), 3)
    >>> drawn.linear.shape, drawn.quadratic
    ((3,), 20.0)
    """

    linear: FloatArray | None
    quadratic: float | FloatArray
    error: float = 0.0

    def __reduce__(self) -> Any:
        """Refuse: noise stays where it was drawn."""
        raise TypeError("a perturbation, which is noise, cannot be pickled")

    @classmethod
    def normal(cls, sigma: float, quadratic: float | FloatArray, source: NormalSource, dimension: int) -> Perturbation:
        """Draw a linear term N(0, σ² I), off by the rounding of `source` and of two operations in doubles."""
        linear = sigma * source.standard_normal(dimension)
        error = sigma * NORMAL_SPACING / 2 * dimension**0.5 + 2.0**-51 * float(np.linalg.norm(linear))
        return cls(linear, quadratic, error)
