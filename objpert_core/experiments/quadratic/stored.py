"""Stored results of the experiments on bends, and for which settings; each kind has its methods in `LABELS`."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from objpert_core.experiments.family import Family
from objpert_core.experiments.quadratic.figure1 import Cell
from objpert_core.experiments.results import Row


@dataclass(frozen=True)
class Risk(Row):
    """Figure 2: the risk J of one method, a sum over the rows; `kappa` is half the side of the box."""

    VALUE = "risk"
    EPSILON, DELTA = 0.5, 0.01
    SEEDS = tuple(range(10))
    KAPPAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)
    LABELS = MappingProxyType(
        {
            "lop": "Tilt, published",
            "lop-replace": "Tilt at 2ζ, one row replaced",
            "lop-clip": "Tilt, clipped at 10⁴",
            "qop": "Bend, published",
            "qop-tight": "Bend, exact theorem",
            "anchor": "The anchor alone, no data",
            "no-privacy": "Without privacy",
        }
    )

    kappa: float
    method: str
    seed: int
    risk: float


@dataclass(frozen=True)
class Excess(Row):
    """Where data matter: what one method loses of a lasso with d = `DIMENSION`, J(θ) − min J, a sum over the rows."""

    VALUE = "excess"
    EPSILON, DELTA, DIMENSION = 1.0, 1e-5, 20
    ROWS = (1000, 3000, 10_000, 30_000, 100_000)
    SEEDS = tuple(range(10))
    LABELS = MappingProxyType(
        {
            "published": "Bend, published",
            "sharpened": "Bend, sharpened proof",
            "exact": "Bend, exact theorem",
            "anchor": "The anchor alone, no data",
        }
    )

    n: int
    method: str
    seed: int
    excess: float


@dataclass(frozen=True)
class NewError(Row):
    """Beside other regressions: a method's mean squared error on new rows above the least; `CASES` are (n, d, ε)."""

    VALUE = "excess"
    DELTA = 1e-5
    CASES = ((20_000, 10, 0.1), (20_000, 10, 1.0), (20_000, 50, 1.0))
    SEEDS = tuple(range(20))
    LABELS = MappingProxyType(
        {
            "centred": "Bend and tilt",
            "bend-tilt": "Bend and tilt, noise's mean kept",
            "adassp": "AdaSSP, published noise",
            "adassp-tight": "AdaSSP, tight accounting",
            "objective": "Objective perturbation, clipped",
            "zero": "θ = 0, learns nothing",
        }
    )

    n: int
    d: int
    epsilon: float
    method: str
    seed: int
    excess: float


FAMILY = Family("quadratic", {"figure1": Cell, "figure2": Risk, "matter": Excess, "regression": NewError})
load = FAMILY.load
