"""The certificate of a noisy Gram matrix, with or without a noisy tilt beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from objpert_core.accounting import QuadraticPerturbation, TiltAndBend
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    POSITIVE,
    SCHEMA,
    ZERO_OR_LENGTH,
    fact,
    form,
    one_of,
    or_nothing,
)
from objpert_core.learning.lattice import power_of_two

_FINENESS = 2.0**12


def gram_spacing(scale: float) -> float:
    """The lattice that a noisy Gram matrix is rounded to, post-processing: 2⁻¹² of the power of two next below σ²."""
    return power_of_two(scale) / _FINENESS


def row_smoothness(constant: float) -> float:
    """L = 1 + s², the largest squared norm of a row with its constant; rounded up."""
    return (1.0 + constant**2) * (1 + 2.0**-48) if constant else 1.0


def tilt_sensitivity(residual_bound: float, smoothness: float, adjacency: str) -> float:
    """How far one row moves the tilt: √L·R, twice that if replaced; rows fall short by more than doubles round."""
    rows = 2 if adjacency == REPLACE_ONE else 1
    return rows * math.sqrt(smoothness) * residual_bound


@dataclass(frozen=True, kw_only=True, repr=False)
class QuadraticCertificate(PrivacyCertificate, mechanisms=("QuadraticPerturbation", "TiltAndBend")):
    """The certificate of `QOPLasso`: of a noisy Gram matrix and of all that is computed from it.

    The fingerprint is that of the coefficients found first. Other solutions from the same matrix and tilt are covered,
    too.

    Attributes
    ----------
    bound : {"exact"}
        The proof of the bend: docs/theorems.md, T31.
    scale, degrees_of_freedom : float, int
        The Gram matrix has σ²W added, σ² = scale and W ~ Wishart_D(m).
    dimension : int
        D, the number of parameters.
    smoothness : float
        L: the squared norm of a row is at most this.
    sigma : float or None
        Standard deviation of the noise on each entry of the tilt; None: no tilt, so that labels were not used.
    residual_bound : float
        R, to which residuals at the anchor were clipped; 0 without a tilt.
    """

    schema: int = fact(form(2), since=2, default=SCHEMA)
    bound: str = fact(one_of("exact"))
    scale: float = fact(POSITIVE)
    degrees_of_freedom: int = fact(COUNT)
    dimension: int = fact(COUNT)
    smoothness: float = fact(POSITIVE)
    sigma: float | None = fact(or_nothing(POSITIVE))
    residual_bound: float = fact(ZERO_OR_LENGTH)  # as `noisy_gram` takes it: products with smaller ones lose digits

    @classmethod
    def numbers(cls, mechanism: QuadraticPerturbation | TiltAndBend) -> dict[str, Any]:
        """Name both noises; the fit itself says where the tilt's sensitivity came from."""
        bend, sigma = (mechanism.bend, mechanism.sigma) if isinstance(mechanism, TiltAndBend) else (mechanism, None)
        return {name: getattr(bend, name) for name in _OF_BEND} | {"sigma": sigma}

    def rebuild(self) -> QuadraticPerturbation | TiltAndBend:
        """Build the mechanism again, the tilt's sensitivity derived anew from R and L."""
        own = {name: getattr(self, name) for name in _OF_BEND}
        bend = QuadraticPerturbation(**own, adjacency=self.mechanism_adjacency)
        if self.sigma is None:
            return bend
        return TiltAndBend(
            bend, self.sigma, tilt_sensitivity(self.residual_bound, self.smoothness, self.mechanism_adjacency)
        )

    def holds(self) -> bool:
        """Say whether L bounds the rows, the tilt and its residuals go together, and there is a lattice (T35)."""
        return (
            self.lattice is not None
            and self.smoothness >= row_smoothness(self.intercept_scaling)
            and (self.sigma is None) is (self.residual_bound == 0)
        )

    def fine_enough(self, spacing: float, dimension: int) -> bool:
        """Say whether this is the lattice that σ² decides."""
        return spacing == gram_spacing(self.scale)

    def _lines(self) -> list[str]:
        tilt = (
            "none: labels were not used"
            if self.sigma is None
            else f"normal noise {self.sigma:.6g} on each entry, residuals clipped to {self.residual_bound:g}"
        )
        return [
            f"  proof      Exact theorem (bound {self.bound!r}), {self.mechanism}; covers all that is solved from the "
            "noisy sums",
            f"  bend       sigma² = {self.scale:.6g} times Wishart({self.degrees_of_freedom}) in {self.dimension} "
            f"dimensions, L = {self.smoothness:.6g} ({self._rows()})",
            f"  tilt       {tilt}",
        ]


_OF_BEND = ("bound", "scale", "degrees_of_freedom", "dimension", "smoothness")
