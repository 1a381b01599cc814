"""What several pictures of the page "Tilt or bend?" share: calibrated bends, promises, how numbers are written."""

from collections.abc import Mapping
from functools import lru_cache

from objpert_core.accounting import QuadraticPerturbation, calibrate_quadratic_perturbation
from ui import sentences

PROOFS: Mapping[str, str] = {"published": "Published", "sharpened": "Sharpened", "exact": "Exact"}
PANELS = {"exact": "exact solver (left)", "inexact": "inexact solver (right)"}
BEST = 0.0
"""Of m over d: whatever makes m/s least."""

AGREEING = "one row replaced, where all rows agree"
REPLACED = "one row replaced"
EXACT = "the exact theorem"


def times(value: float) -> str:
    """How many times, for a sentence."""
    if value >= 1e5:
        return sentences.scientific(value, 2)
    return sentences.number(value, 3 if value >= 100 else 2)


def count(value: float) -> str:
    """A number to three digits, as a power of ten where it is tiny or huge."""
    return sentences.number(value, 3) if 1e-3 <= value < 1e7 else sentences.scientific(value, 3)


def tiny(value: float) -> str:
    """A δ that may be next to nothing."""
    return "less than 10⁻³⁰⁰" if value < 1e-300 else sentences.delta(min(value, 1.0))


def degrees(dimension: int, ratio: float) -> int | None:
    """m; None where the calibration is to choose it."""
    return None if ratio == BEST else max(dimension + 1, round(ratio * dimension))


@lru_cache(maxsize=512)
def calibrated(
    epsilon: float, delta: float, dimension: int, m: int | None = None, proof: str = "exact"
) -> QuadraticPerturbation:
    """The least bend of (ε, δ) by a proof, where one row is replaced and L = 1."""
    return calibrate_quadratic_perturbation(epsilon, delta, dimension, 1.0, m, bound=proof)


def promise_of_bend(epsilon: float, delta: float, proof: str) -> str:
    """The promise of a bend by the proof that calibrates the bend."""
    accountant = EXACT if proof == "exact" else f"the {PROOFS[proof].lower()} proof"
    return sentences.promise(epsilon, delta, accountant, adjacency=AGREEING)
