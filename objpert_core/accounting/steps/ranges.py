"""Private ranges of the columns before a fit: how much noise for each histogram, and when there are any.

A row adds one to one bin of every column, so that it moves a histogram of d columns by √d. Two follow each other: one
of magnitudes, and one of equal bins within what the first has found, or within public limits. They compose with all
that comes after them (docs/theorems.md, T47). All noise goes by public numbers alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from objpert_core._validation import choice, positive, positive_integer, within
from objpert_core.accounting.gaussian.calibration import noise_of_share
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.accounting.steps.base import Step, noisy_sums

MAGNITUDE_SHARE = 0.3
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what the histogram of magnitudes takes at most."""
QUANTILE_SHARE = 0.2
"""As `MAGNITUDE_SHARE`, for the histogram of equal bins."""
MAGNITUDE_PRECISION = 1 / 60
"""The noise of one bin, as a share of all rows, below which less noise is not worth its price."""
QUANTILE_PRECISION = 1 / 300
"""As `MAGNITUDE_PRECISION`, for the histogram of equal bins."""
_MOST_MAGNITUDE_NOISE = 1 / 10  # of one bin, as a share of all rows, above which there are no ranges
_MOST_QUANTILE_NOISE = 1 / 20  # the same, above which the magnitudes have to do

LIMITED_SHARE = 0.1
"""As `QUANTILE_SHARE`, where public limits take the place of the first histogram."""
_MOST_LIMITED_NOISE = 1 / 150  # as `_MOST_QUANTILE_NOISE`, above which public limits are good enough
_ROWS_A_COLUMN = 400  # where there are fewer, too

_NOISES = (1e-6, 1e15)  # the least and the largest for which counts and noise have one lattice in 64 bits


@dataclass(frozen=True)
class RangeNoise(Step):
    """The noise of two histograms, from which come private ranges of the columns (docs/theorems.md, T47).

    Parameters
    ----------
    magnitudes : float from 1e-6 to 1e15, optional
        Standard deviation of the noise on every bin of the columns' magnitudes; None leaves the first histogram out,
        where public limits are known. None for both raises a `ValueError`.
    quantiles : float from 1e-6 to 1e15, optional
        The same for equal bins within these magnitudes or limits; None leaves the second histogram out.
    columns : int >= 1
        The number of columns d, each of which a row is counted in.

    Examples
    --------
    >>> [(part.sigma, part.sensitivity >= 2.0) for part in RangeNoise(40.0, 50.0, columns=4).mechanisms()]
    [(40.0, True), (50.0, True)]
    """

    name: ClassVar[str] = "ranges"

    magnitudes: float | None
    quantiles: float | None
    columns: int

    def __post_init__(self) -> None:
        named = [name for name in ("magnitudes", "quantiles") if getattr(self, name) is not None]
        for name in named or ["magnitudes"]:
            object.__setattr__(self, name, within(name, getattr(self, name), *_NOISES))
        object.__setattr__(self, "columns", positive_integer("columns", self.columns))

    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases in their order; a row more or less moves each histogram by √d, and a replaced one by √(2d)."""
        moved = _moved(self.columns, adjacency, rows_per_person)
        return noisy_sums(adjacency, (self.magnitudes, moved), (self.quantiles, moved))


def _moved(columns: int, adjacency: str, rows_per_person: int) -> float:
    """How far one person's rows move a histogram, rounded up."""
    counts = columns if choice("adjacency", adjacency, ADJACENCIES) == ADD_REMOVE else 2 * columns
    return math.nextafter(math.sqrt(counts * positive_integer("rows_per_person", rows_per_person) ** 2), math.inf)


def recommended_ranges(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> RangeNoise | None:
    """Choose the noise of private ranges by public numbers alone; None where there are too few rows for ranges.

    With σ_G that of the Gaussian mechanism of sensitivity 1 at (ε, δ), and for one row more or less,

        σ₁ = max(√d·σ_G/√0.3, n/60),     σ₂ = max(√d·σ_G/√0.2, n/300):

    three and two tenths of what (ε, δ) allows, or less where less will do. There are no ranges where σ₁ exceeds n/10,
    and no equal bins where σ₂ exceeds n/20. Shares and limits were chosen on generated tables and on breast cancer.
    Arguments are those of `full_standardisation`.

    >>> recommended_ranges(1.0, 1e-5, n_rows=124, dimension=13) is None
    True
    >>> found = recommended_ranges(1.0, 1e-5, n_rows=20_000, dimension=1)
    >>> round(found.magnitudes, 1), round(found.quantiles, 1)
    (333.3, 66.7)
    """
    rows = positive_integer("n_rows", n_rows)
    moved = _moved(positive_integer("dimension", dimension), adjacency, rows_per_person)
    asked = moved, positive("epsilon", epsilon), delta
    magnitudes = max(noise_of_share(MAGNITUDE_SHARE, *asked), MAGNITUDE_PRECISION * rows)
    quantiles = max(noise_of_share(QUANTILE_SHARE, *asked), QUANTILE_PRECISION * rows)
    if magnitudes > _MOST_MAGNITUDE_NOISE * rows:
        return None
    return RangeNoise(magnitudes, quantiles if quantiles <= _MOST_QUANTILE_NOISE * rows else None, dimension)


def ranges_within_limits(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> RangeNoise | None:
    """Choose the noise of closer ranges within public limits; None where the limits are good enough.

    Wide limits let outliers through. Where their magnitudes are known, one histogram of equal bins finds closer ranges,
    with the noise

        σ₂ = max(√d·σ_G/√0.1, n/300),

    a tenth of what (ε, δ) allows, or less. None is released where σ₂ would exceed n/150, or where there are fewer than
    400 rows for each column: on real tables closer ranges then cost more than they gave. Arguments are those of
    `full_standardisation`.

    >>> ranges_within_limits(1.0, 1e-5, n_rows=1000, dimension=4) is None
    True
    >>> ranges_within_limits(1.0, 1e-5, n_rows=20_000, dimension=4)
    RangeNoise(magnitudes=None, quantiles=66.66666666666667, columns=4)
    """
    rows, columns = positive_integer("n_rows", n_rows), positive_integer("dimension", dimension)
    moved = _moved(columns, adjacency, rows_per_person)
    noise = max(noise_of_share(LIMITED_SHARE, moved, positive("epsilon", epsilon), delta), QUANTILE_PRECISION * rows)
    if noise > _MOST_LIMITED_NOISE * rows or rows < _ROWS_A_COLUMN * columns:
        return None
    return RangeNoise(None, noise, columns)
