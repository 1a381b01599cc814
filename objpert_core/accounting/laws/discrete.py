"""A privacy loss with finitely many values: a discretised or tabulated pair, composed as the others are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.laws.base import PrivacyLoss

_SPAN = 32.0  # V runs over the losses, scaled to [−32, 32]
_ERROR = 1e-9  # relative, of a profile from running sums
_SMALL = 1e-280  # of a sum with no digits lost to underflow


@dataclass(frozen=True, eq=False)
class DiscreteLoss(PrivacyLoss):
    """Losses with their masses under P."""

    losses: FloatArray
    log_masses: FloatArray
    log_infinite: float  # log of the mass at +∞
    unresolved: bool = False  # losses at +∞ are unknown, not infinite: no lower bound on δ counts them

    def _key(self) -> tuple[bytes, bytes, float, bool]:
        return self.losses.tobytes(), self.log_masses.tobytes(), self.log_infinite, self.unresolved

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, DiscreteLoss) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def _scale(self) -> float:
        return max(float(np.abs(self.losses).max()), 1e-300) / _SPAN

    @cached_property
    def _descending(self) -> tuple[FloatArray, FloatArray]:
        """Losses and log masses, the largest loss first."""
        order = np.argsort(self.losses, kind="stable")[::-1]
        return self.losses[order], self.log_masses[order]

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """P and Q of the 0, 1, 2, … largest losses."""
        losses, log_masses = self._descending
        with np.errstate(over="ignore", under="ignore"):
            masses = np.exp(log_masses), np.exp(log_masses - losses)
            first, second = (np.concatenate(([0.0], np.cumsum(mass))) for mass in masses)
        return first, second

    def log_profile(self, epsilon: FloatArray) -> FloatArray:
        """log E[1 − e^{ε − ω}]₊ for every real ε of a 1-d array, mass at +∞ included."""
        count = np.searchsorted(-self._descending[0], -epsilon)
        first, second = (sums[count] for sums in self._sums)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            excess = first - np.exp(epsilon) * second
            error = (count + 16) * 2.0**-52 * first
            result = np.log(excess + error + np.exp(self.log_infinite))
        exact = np.isfinite(excess) & (error <= _ERROR * excess) & (second > _SMALL) & (second < 1 / _SMALL)
        rest = np.flatnonzero(~exact)
        result[rest] = self._added_up(epsilon[rest])
        return np.minimum(result, 0.0)

    def _added_up(self, epsilon: FloatArray) -> FloatArray:
        losses, log_masses = self._descending
        result = np.empty(epsilon.shape)
        for block in np.array_split(np.arange(epsilon.size), max(1, epsilon.size * losses.size // 2**22)):
            with np.errstate(divide="ignore"):
                gain = np.log(-np.expm1(np.minimum(epsilon[block, None] - losses, 0.0)))
            terms = log_masses + gain
            top = np.maximum(terms.max(axis=1, initial=-np.inf), self.log_infinite)
            safe = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                total = np.exp(terms - safe[:, None]).sum(axis=1) + np.exp(self.log_infinite - safe)
                result[block] = safe + np.log(total)
        return result

    def loss(self, v: FloatArray) -> FloatArray:
        return self._scale * v

    def position(self, epsilon: FloatArray) -> FloatArray:
        return epsilon / self._scale

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """Not used: `expand` puts the masses in place of the density."""
        return np.zeros_like(v)

    def expand(self, log_weight: FloatArray, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All the masses, whatever part of the range was asked for."""
        return self.log_masses, self.losses

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """Nothing but the mass at +∞ lies outside."""
        return -np.inf, self.log_infinite

    def highest(self) -> float:
        """The largest loss but for +∞; not known where some are unresolved."""
        return np.inf if self.unresolved else float(self.losses.max())

    def log_certain(self) -> float:
        """log of the mass that is known to be at +∞."""
        return -np.inf if self.unresolved else self.log_infinite

    def reach(self, nats: float) -> tuple[float, float]:
        scale = self._scale
        return float(self.losses.min()) / scale - 1e-6, float(self.losses.max()) / scale + 1e-6
