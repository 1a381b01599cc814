"""Parallel composition: releases about different rows cost the largest of their budgets, not the sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.mechanisms.base import Mechanism, a_mechanism, common_adjacency


@dataclass(frozen=True)
class Parallel(Mechanism):
    """Several mechanisms, each on its own part of the rows; see `parallel`."""

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must be at least one mechanism, got none")
        common_adjacency(a_mechanism("mechanism", part) for part in self.parts)

    @property
    def adjacency(self) -> str:
        """The adjacency that the parts share."""
        return self.parts[0].adjacency

    @property
    def has_profile(self) -> bool:
        """Whether every part has a profile."""
        return all(part.has_profile for part in self.parts)

    @property
    def has_rdp(self) -> bool:
        """Whether every part has a Rényi curve."""
        return all(part.has_rdp for part in self.parts)

    def no_rdp(self) -> str:
        """Why `rdp` does not answer: the first part that has no Rényi curve."""
        return next(part.no_rdp() for part in self.parts if not part.has_rdp)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.max([part._log_delta(epsilon) for part in self.parts], axis=0)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return np.max([part._epsilon(log_delta) for part in self.parts], axis=0)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.max([part._rdp(alpha) for part in self.parts], axis=0)

    def _mu(self) -> float:
        return max(part.mu() for part in self.parts)

    def _rho(self) -> float:
        return max(part.rho() for part in self.parts)

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing: the first part that proves nothing; None where all prove something."""
        reasons = (part.explain(epsilon) for part in self.parts)
        return next((reason for reason in reasons if reason), None)


def parallel(*mechanisms: Mechanism) -> Parallel:
    """One release of each mechanism, each on rows of its own: whoever joins or leaves is in one part only.

    McSherry (2009), Theorem 4, for parts that are fixed beforehand; docs/theorems.md, T49, for parts that coins decide.
    What a mechanism asks of its part may depend on the releases of the parts before it. The mechanisms, one for each
    part, are fixed beforehand; `ValueError` as from `compose`.

    >>> from objpert_core.accounting import Gaussian
    >>> parallel(Gaussian(2.0), Gaussian(3.0)).epsilon(1e-5) == Gaussian(2.0).epsilon(1e-5)
    True
    """
    return Parallel(mechanisms)
