"""Pieces of the columns of a table: the noise of the counts that they come from, and how many there are.

A row is counted in one cell of every column. Numbers are counted twice: by magnitude, whose bins are fixed, and then in
cells within the magnitudes that were found; categories once, by their public list (docs/theorems.md, T55). All noise
and all numbers of pieces go by public numbers alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from objpert_core._validation import nonnegative_integer, positive, positive_integer, within
from objpert_core.accounting.gaussian.calibration import noise_of_share
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, moved_by
from objpert_core.accounting.steps.base import Step, noisy_sums

MAGNITUDE_SHARE, CELL_SHARE, CATEGORY_SHARE = 0.03, 0.08, 0.02
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what counts by magnitude, by cell and by category take.
"""

PIECES = 0.4  # times the root of rows for each unit of a fit's noise
FEWEST_PIECES, MOST_PIECES = 3, 256  # that may be asked for
_ENOUGH_PIECES = 64  # more gain at most 0.0004 of R² or AUC where there are rows for them, and nobody reads them
_CURVES_OF_NUMBERS = 100.0  # as below, for a target that is a number
_CURVES = 250.0  # what a piece that all rows are on has for each unit of noise, from where on curves beat lines
CELL = 1.5  # rows in a cell, in units of the noise of its count, if all were alike
_FEWEST_CELLS, _MOST_CELLS = 16, 512
_MOST_COLUMNS = 10**6
_NOISES = (1e-6, 1e15)  # the least and the largest for which counts and noise have one lattice in 64 bits


@dataclass(frozen=True)
class PieceNoise(Step):
    """The noise of the counts from which pieces come (docs/theorems.md, T55).

    Parameters
    ----------
    magnitudes : float from 1e-6 to 1e15, optional
        Standard deviation of the noise on every count by magnitude; None where all ranges are declared.
    cells : float from 1e-6 to 1e15, optional
        The same for the counts of cells; None where there are no numbers.
    categories : float from 1e-6 to 1e15, optional
        The same for the counts of categories; None where there are none.
    unknown, numbers, listed : int >= 0
        Columns of numbers without a declared range, of numbers at all, and of categories.

    Examples
    --------
    >>> noise = PieceNoise(40.0, 20.0, 60.0, unknown=4, numbers=9, listed=4)
    >>> [(part.sigma, round(part.sensitivity, 6)) for part in noise.mechanisms()]
    [(40.0, 2.0), (20.0, 3.0), (60.0, 2.0)]
    """

    name: ClassVar[str] = "pieces"

    magnitudes: float | None
    cells: float | None
    categories: float | None
    unknown: int
    numbers: int
    listed: int

    def __post_init__(self) -> None:
        for noise, count in (("magnitudes", "unknown"), ("cells", "numbers"), ("categories", "listed")):
            columns = _columns(count, getattr(self, count))
            object.__setattr__(self, count, columns)
            if (sigma := getattr(self, noise)) is not None:
                object.__setattr__(self, noise, within(noise, sigma, *_NOISES))
            if (sigma is None) is not (columns == 0):
                raise ValueError(f"{noise} must be a number where {count} > 0, and only there, got {sigma!r}")
        if self.unknown > self.numbers:
            raise ValueError(f"unknown must be at most numbers = {self.numbers}, got {self.unknown}")

    @property
    def columns(self) -> int:
        """The number of columns C."""
        return self.numbers + self.listed

    def __str__(self) -> str:
        noises = ("by magnitude", self.magnitudes), ("by cell", self.cells), ("by category", self.categories)
        told = ", ".join(f"{sigma:.6g} {words}" for words, sigma in noises if sigma is not None)
        return f"{self.columns} columns, counted with noise {told}"

    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases in their order; a row more moves counts of d columns by √d, and a replaced one by √(2d)."""
        one = moved_by(adjacency, rows_per_person)
        pairs = ((self.magnitudes, self.unknown), (self.cells, self.numbers), (self.categories, self.listed))
        return noisy_sums(adjacency, *((noise, _moved(count, one)) for noise, count in pairs))


def _columns(name: str, value: Any) -> int:
    count = nonnegative_integer(name, value)
    if count > _MOST_COLUMNS:
        raise ValueError(f"{name} must be a whole number from 0 to {_MOST_COLUMNS}, got {value!r}")
    return count


def _moved(columns: int, one: float) -> float:
    """How far one person's rows move counts of so many columns, rounded up."""
    return math.sqrt(columns) * one * (1 + 2.0**-50)


def recommended_pieces(
    epsilon: float,
    delta: float,
    *,
    unknown: int,
    numbers: int,
    listed: int,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> PieceNoise:
    """Choose the noise of the counts: 3 % of what (ε, δ) allows by magnitude, 8 % by cell and 2 % by category.

    Shares were chosen on six tables; half and twice as much are within 0.003 of AUC (`benchmarks.additive`).

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    unknown, numbers, listed
        As in `PieceNoise`.
    adjacency, rows_per_person
        As in `PieceNoise.mechanisms`.

    Examples
    --------
    >>> noise = recommended_pieces(1.0, 1e-5, unknown=6, numbers=6, listed=8)
    >>> round(noise.magnitudes), round(noise.cells), round(noise.categories)
    (53, 32, 75)
    """
    one, eps = moved_by(adjacency, rows_per_person), positive("epsilon", epsilon)
    unknown, numbers, listed = (
        _columns(name, count) for name, count in (("unknown", unknown), ("numbers", numbers), ("listed", listed))
    )
    shares = (MAGNITUDE_SHARE, unknown), (CELL_SHARE, numbers), (CATEGORY_SHARE, listed)
    magnitudes, cells, categories = (
        noise_of_share(share, _moved(count, one), eps, delta) if count else None for share, count in shares
    )
    return PieceNoise(magnitudes, cells, categories, unknown, numbers, listed)


def cells_of_a_column(n_rows: int, noise: float) -> int:
    """How many cells a column of numbers is counted in: n/(1.5σ), at least 16 and at most 512.

    With more cells a count drowns in its noise; with fewer, values that many rows share are not told apart.

    >>> cells_of_a_column(36_177, 32.3), cells_of_a_column(36_177, 266.0)
    (512, 90)
    """
    wanted = positive_integer("n_rows", n_rows) / (CELL * positive("noise", noise))
    return int(min(max(wanted, _FEWEST_CELLS), _MOST_CELLS))


def pieces_of_a_column(n_rows: int, columns: int, ratio: float) -> float:
    """About how many pieces a column of numbers is to have: k = 0.4·√(n·μ/√C), at least 3 and at most 64.

    A fit of rows of norm 1, by a mechanism of the sensitivity-to-noise ratio μ, adds noise of √C/μ to the sum of the
    slopes on a piece: n·μ/√C is what a piece that all rows are on has for each unit of it. Chosen on six tables at
    ε = 0.1, 1 and 4; half and twice as many are within 0.003 of AUC.

    >>> round(pieces_of_a_column(36_177, 14, 0.25), 1), round(pieces_of_a_column(36_177, 14, 0.03), 1)
    (19.7, 6.8)
    """
    rows, width = positive_integer("n_rows", n_rows), positive_integer("columns", columns)
    wanted = PIECES * math.sqrt(rows * positive("ratio", ratio) / math.sqrt(width))
    return min(max(wanted, FEWEST_PIECES), _ENOUGH_PIECES)


def rows_for_pieces(columns: int, ratio: float, *, number: bool = False) -> float:
    """From how many rows on an additive model is expected to be more accurate than a linear one: where n·μ/√C is 250.

    Of a target that is a number 100 is enough; on 309 rows of ten columns at ε = 1, where it is 23, an additive model
    has an R² of 0.07 and a linear one 0.45. On subsamples of five tables with two values, n from 500 to 40,000 and ε
    from 0.1 to 4, this leaves 0.0015 of AUC on average against the better of both, at most 0.006 on four of them, and
    0.03 on the fifth, where the class is rare.

    >>> [round(rows_for_pieces(14, ratio, number=number)) for ratio, number in ((0.25, False), (0.25, True))]
    [3742, 1497]
    """
    least = _CURVES_OF_NUMBERS if number else _CURVES
    return least * math.sqrt(positive_integer("columns", columns)) / positive("ratio", ratio)
