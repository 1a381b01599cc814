"""A case: a public mechanism with its parameters, and what its privacy is by the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.second_opinion.definition import Definition

NEAR_ONE = (1.0, 1 + 1e-6, 1.001, 1.01)
ORDERS = (*NEAR_ONE, 1.5, 2.0, 8.0, 64.0, 1e3, 1e4)
EPSILONS = (0.0, 1e-3, 0.1, 1.0, 5.0, 20.0)


@dataclass(frozen=True, eq=False)
class Case:
    """One mechanism and its second opinion.

    Parameters
    ----------
    mechanism : str
        A public name of the accounting, which the case speaks about.
    note : str
        What is special: the case's name in the test's.
    make : function
        The mechanism, from the module `objpert_core.accounting`; so that no definition needs to import it.
    directions : tuple of Definition
        One for each order of the neighbours. The mechanism must cover the worst of all.
    epsilons, orders : tuple of floats
        Where the privacy profile and the Rényi curve are compared; empty where there is none.
    looseness, rdp_looseness : float, or None
        By how much of the second opinion δ, and the Rényi divergence, may exceed it; None where the definition is a
        lower bound only (a data set), or where the mechanism is known to be loose.
    resolved : float
        The δ below which looseness is not asked for: sums by Fourier transforms have an absolute error.
    error : float
        The second opinion's own relative error.
    slow : bool
        Whether the case waits for the wide sweep.
    """

    mechanism: str
    note: str
    make: Callable[[Any], Any]
    directions: tuple[Definition, ...]
    epsilons: tuple[float, ...] = EPSILONS
    orders: tuple[float, ...] = ORDERS
    looseness: float | None = 1e-8
    rdp_looseness: float | None = 1e-8
    resolved: float = 1e-300
    error: float = 1e-10
    slow: bool = False

    def __str__(self) -> str:
        return f"{self.mechanism}: {self.note}"
