"""Noise of what is released after a fit so that its coefficients have intervals: curvature and squared gradients.

At the released θ̂ a row x̃ of norm at most R adds p(1 − p)·x̃x̃ᵀ to the curvature, of Frobenius norm at most R²/4, and
(p − y)²·x̃x̃ᵀ to the sum of squared gradients, of norm at most R². Both sums are released with Gaussian noise, in
coordinates of symmetric matrices in which that norm is Euclidean. θ̂ is public by then, so fit and sums compose
adaptively (docs/theorems.md, T50). All noise goes by public numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from objpert_core._validation import boolean, check_fields, positive, positive_integer, square
from objpert_core.accounting.gaussian.calibration import noise_of_share
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, moved_by
from objpert_core.accounting.steps.base import Step, noisy_sums

SHARE = 0.15
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what each of the sums takes at most."""
_LIKELY = 1 / 3  # n/D times this is the least eigenvalue of rows with even features, in units of R²/4
_MOST = 0.8  # times that least eigenvalue: the noise's √D beyond which intervals would say nothing
_PRECISION = 40.0  # where that is so many times the noise's √D, less noise is not worth its price


@dataclass(frozen=True)
class IntervalNoise(Step):
    """The noise of the sums that are released after a fit; None where a sum is left out.

    Standard deviations, from 1e-110 to 1e110, of the noise on the curvature and on the sum of squared gradients, in
    every isometric coordinate, as multiples of the most that one row can add: R²/4 and R².

    >>> [part.sigma for part in IntervalNoise(12.0).mechanisms()]
    [12.0]
    """

    name: ClassVar[str] = "curvature"
    after: ClassVar[bool] = True

    hessian_noise: float | None = None
    outer_noise: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, square, *(name for name in _NOISES if getattr(self, name) is not None))
        if self.outer_noise is not None and self.hessian_noise is None:
            raise ValueError(f"hessian_noise must be a number where outer_noise is one, got {self.hessian_noise!r}")

    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases. Where a row is replaced, two positive matrices differ: √2, not 2."""
        moved = moved_by(adjacency, rows_per_person)
        return noisy_sums(adjacency, (self.hessian_noise, moved), (self.outer_noise, moved))


_NOISES = ("hessian_noise", "outer_noise")

NO_INTERVALS = IntervalNoise()
"""Nothing is released after the fit."""


def recommended_interval_noise(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    sandwich: bool = False,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> IntervalNoise:
    """The noise for intervals of one fit's coefficients, by public numbers alone.

    Each sum takes 0.15 of what (ε, δ) allows, or less where less will do: with σ_G the Gaussian mechanism's noise of
    sensitivity 1, n rows and D parameters, noise max(σ_G/√0.15, n/(120·D^1.5)) on the curvature. The share was chosen
    on synthetic data; docs/results.md has the evidence. `ValueError` where the noise would drown a curvature
    of the likely size, so that no interval would say anything.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    n_rows, dimension : int >= 1
        The number of rows n, which the noise makes public, and the number of parameters D.
    sandwich : bool, default=False
        Whether the sum of squared gradients is released as well.
    adjacency : {"add/remove one row", "replace one row"}
    rows_per_person : int >= 1

    Examples
    --------
    >>> round(recommended_interval_noise(1.0, 1e-6, n_rows=10_000, dimension=11).hessian_noise, 2)
    10.91
    >>> recommended_interval_noise(1.0, 1e-6, n_rows=36_000, dimension=106)
    Traceback (most recent call last):
        ...
    ValueError: intervals must be False for 36000 rows and 106 parameters at epsilon=1.0: ...
    """
    rows, size = positive_integer("n_rows", n_rows), positive_integer("dimension", dimension)
    eps, both = positive("epsilon", epsilon), boolean("sandwich", sandwich)
    priced = noise_of_share(SHARE, moved_by(adjacency, rows_per_person), eps, delta)
    likely = _LIKELY * rows / size**1.5
    if priced > _MOST * likely:
        raise ValueError(
            f"intervals must be False for {rows} rows and {size} parameters at epsilon={eps!r}: the noise would be "
            f"{priced / likely:.2g} times the curvature's likely size, and {_MOST:g} times is the most"
        )
    return IntervalNoise(max(priced, likely / _PRECISION), priced if both else None)
