"""Which stored runs the accuracy page offers, and which methods it shows together."""

from __future__ import annotations

from objpert_core import datasets
from objpert_core.experiments import learners, results
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.indexed import Stored, load_or_none
from objpert_core.experiments.learners import HONEST, NON_PRIVATE, PUBLISHED, TIGHT
from objpert_core.experiments.methods import Parameters

USUAL = (NON_PRIVATE, HONEST, TIGHT)  # both private ones have paid for all they did
COMPARED = (NON_PRIVATE, learners.DISHONEST_LARGE, HONEST, learners.UNPAID_STANDARDISED, PUBLISHED, TIGHT)
PAPERS = (NON_PRIVATE, learners.DISHONEST_RDP, HONEST, PUBLISHED, TIGHT)  # what Tables 1 and 2 compare, and ours
SAME_ROWS = (NON_PRIVATE, learners.DISHONEST_LARGE, learners.UNPAID_STANDARDISED, TIGHT, learners.TIGHT_RAW)
ORIGINS = {
    "synthetic-h": "Gained by scaling",
    "breast-cancer": "Gained by centring",
    "digits-4-9": "Gained by the margin",
}
"""Data sets on which one step does most, and the presets that show it."""
FEW_ROWS = {"breast-cancer": 0.25}
"""A data set, and the ε at which the rival is ahead once it has the same preprocessing, and not before."""
LUCK = (NON_PRIVATE, learners.DISHONEST_PLD, TIGHT, learners.TIGHT_DISHONEST, learners.DPSGD_AGAIN)
MARGINS = (
    NON_PRIVATE,
    learners.DISHONEST_LARGE,
    TIGHT,
    learners.TIGHT_RAW,
    learners.TIGHT_LOGISTIC,
    learners.DPSGD_MARGIN,
)
TAKEN_APART = "synthetic-l"
"""The large data set on which every method of `LUCK` and `MARGINS` has runs."""


def files() -> tuple[str, ...]:
    """The files there are, in the order in which `datasets.names` lists their data sets."""
    order = datasets.names()
    return tuple(sorted(results.stored(), key=lambda key: (order.index(key) if key in order else len(order), key)))


def default_key(found: tuple[str, ...]) -> str:
    """Adult, the data set of Table 2, if it is among them; else the first."""
    return "adult" if "adult" in found else found[0]


def epsilons(found: tuple[str, ...]) -> tuple[float, ...]:
    """Figure 2's ε and every other one that a readable file of `found` has."""
    return tuple(sorted({*EPSILONS, *(epsilon for stored in _readable(found) for epsilon in stored.epsilons)}))


def constants(found: tuple[str, ...]) -> tuple[float, ...]:
    """The constant features of the readable files of `found`; the default where there is none."""
    return tuple(sorted({stored.constant for stored in _readable(found)})) or (Parameters().intercept_scaling,)


def _readable(found: tuple[str, ...]) -> list[Stored]:
    """The files that can be read; what is wrong with another is said where it is shown."""
    return [stored for key in found if (stored := load_or_none(key))]
