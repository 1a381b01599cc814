"""Whose privacy the Bounds page is about: one row more or less, one row replaced, or all k rows of one person."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import objpert_core.accounting as acc
from ui import bounds as proofs
from ui import sentences

ADDED, REPLACED, SEVERAL = sentences.ADJACENCY, "replace one row", "add or remove k rows of one person"
CHOICES = (ADDED, REPLACED, SEVERAL)
MOST_ROWS = 20


@dataclass(frozen=True)
class Setting(proofs.Setting):
    """A setting, and which data sets count as neighbours.

    Attributes
    ----------
    rows : int
        How many rows of one person are added or removed together.
    replaced : bool
        Whether one row is replaced instead.
    """

    rows: int = 1
    replaced: bool = False

    def __str__(self) -> str:
        return super().__str__() + ("" if self.usual else f", {self.neighbours}")

    @property
    def usual(self) -> bool:
        """Whether one row is added or removed, which is what the theorems are about."""
        return self.rows == 1 and not self.replaced

    @property
    def neighbours(self) -> str:
        """How neighbouring data sets differ, as on the control."""
        if self.replaced:
            return REPLACED
        return ADDED if self.rows == 1 else f"add or remove {sentences.count(self.rows, 'row')} of one person"

    @property
    def one(self) -> proofs.Setting:
        """The same noise where one row is added or removed."""
        return Setting(self.sigma, self.lam, self.smoothness, self.lipschitz)

    def mechanism(self, name: str) -> acc.Mechanism:
        """The mechanism under one of `PROOFS`, about these neighbours."""
        return _about(super().mechanism(name), self.rows, self.replaced)


@lru_cache(maxsize=2000)  # what a chain of neighbours has computed is kept with it
def _about(mechanism: acc.Mechanism, rows: int, replaced: bool) -> acc.Mechanism:
    return acc.replace_one(mechanism) if replaced else acc.group(mechanism, rows)


@lru_cache(maxsize=2000)
def covers(mechanism: acc.Mechanism) -> tuple[float, float]:
    """μ of Gaussian differential privacy and ρ of zero-concentrated differential privacy; inf where none is known."""
    return mechanism.mu(), mechanism.rho()


def setting(sigma: float, lam: float, smoothness: float, lipschitz: float, choice: str, rows: int) -> Setting:
    """What the controls say; `rows` counts only where several rows were chosen."""
    return Setting(sigma, lam, smoothness, lipschitz, rows if choice == SEVERAL else 1, choice == REPLACED)


def columns(at: Setting, readings: list[proofs.Reading]) -> list[dict[str, str]]:
    """μ and ρ of every bound, as cells of the table."""
    pairs = [covers(at.mechanism(reading.bound)) for reading in readings]
    return [{"μ (GDP)": text(mu), "ρ (zCDP)": text(rho)} for mu, rho in pairs]


def text(value: float) -> str:
    """μ or ρ rounded up; 0.2²/2 is a little more than 0.02 in doubles, and shown as 0.02."""
    return sentences.proved(value * (1 - 1e-14))
