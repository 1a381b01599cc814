"""Private centring and scaling before a fit: how much noise for each sum.

A row's direction u goes into Σu with noise σ_c, from which comes a centre μ̂; then z = (u − μ̂)/‖u − μ̂‖ goes into Σ|z|
with noise σ_s, from which comes a weight for every column. A row more or less moves each sum by 1 at most, and for a
fixed map neighbours stay neighbours: sums and fit compose adaptively. All noise goes by public numbers alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from objpert_core._validation import check_fields, positive, positive_integer, square
from objpert_core.accounting.gaussian.calibration import noise_of_share
from objpert_core.accounting.gaussian.mechanism import Gaussian
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, moved_by
from objpert_core.accounting.steps.base import Step, noisy_sums

CENTER_SHARE = 0.1
"""Of the squared sensitivity-to-noise ratio that (ε, δ) allows: what the centre takes at most."""
CENTER_PRECISION = 0.1
"""The norm of the centre's noise below which less noise is not worth its price; rows have norm 1."""
LENGTH_PRECISION = 0.01
"""As `CENTER_PRECISION`, for rows in public ranges that keep their lengths: wide ranges leave them close together."""
SCALE_SHARE = 0.05
"""As `CENTER_SHARE`, for the scales."""
SCALE_PRECISION = 0.01
"""The noise of one column's mean |z| below which less noise is not worth its price."""
SCALE_FLOOR = 0.01
"""c in a_j = (m̂_j² + c)^(−½): no column is blown up by more than its root."""
SCALE_NOISE_FLOOR = 4.0
"""√c is at least this many times the noise of m̂_j."""
_MOST_CENTER_NOISE = 3.0  # the norm of the centre's noise above which "auto" leaves both steps out
_MOST_LENGTH_NOISE = 0.05  # the same above which rows in public ranges do not keep their lengths
_MOST_ENTRY_NOISE = 0.35  # the same for the noise of one entry, which is that of the mean along (1, …, 1)/√d
_MOST_SCALE_NOISE = 0.09  # the noise of one column's mean |z| above which "auto" leaves the scales out


@dataclass(frozen=True)
class Standardisation(Step):
    """The noise of private centring and scaling; None where a step is left out.

    A row x has the direction u = x/‖x‖, or u = x/max(1, ‖x‖) where it keeps its length, and z = (u − μ̂)/‖u − μ̂‖ where
    the noisy Σu gives the centre μ̂.

    `center_noise` and `scale_noise`, from 1e-110 to 1e110, are σ_c and σ_s, the standard deviations of the noise on
    every entry of Σu and of Σ|z|.

    >>> [part.sigma for part in Standardisation(20.0, 30.0).mechanisms()]
    [20.0, 30.0]
    """

    name: ClassVar[str] = "standardisation"

    center_noise: float | None
    scale_noise: float | None

    def __post_init__(self) -> None:
        check_fields(self, square, *(name for name in _NOISES if getattr(self, name) is not None))

    def mechanisms(self, adjacency: str = ADD_REMOVE, rows_per_person: int = 1) -> tuple[Gaussian, ...]:
        """The releases before the fit, in their order; `rows_per_person` >= 1 as for `group`.

        A row more or less moves both sums by 1 at most. One that is replaced moves Σu by 2, and Σ|z|, whose terms have
        no negative entry, by √2.
        """
        return noisy_sums(
            adjacency,
            (self.center_noise, moved_by(adjacency, rows_per_person, replaced=2.0)),
            (self.scale_noise, moved_by(adjacency, rows_per_person)),
        )


_NOISES = ("center_noise", "scale_noise")

AS_THEY_ARE = Standardisation(None, None)
"""The plan that neither centres nor scales."""


def full_standardisation(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> Standardisation:
    """Both steps, with the noise that suits them, whatever they cost.

    With σ_G that of the Gaussian mechanism of sensitivity 1 at (ε, δ), and for one row more or less,

        σ_c = max(σ_G/√0.1, 0.1·n/√d),     σ_s = max(σ_G/√0.05, 0.01·n):

    a tenth and a twentieth of what (ε, δ) allows, or less where less will do.

    Parameters
    ----------
    epsilon : float > 0
    delta : float strictly between 0 and 1
    n_rows, dimension : int >= 1
        The number of rows n, which the noise makes public, and the number of columns d.
    adjacency, rows_per_person
        As in `Standardisation.mechanisms`.

    Examples
    --------
    >>> plan = full_standardisation(1.0, 1e-5, n_rows=1000, dimension=100)
    >>> round(plan.center_noise, 1), round(plan.scale_noise, 1)
    (11.8, 16.7)
    """
    rows, columns = positive_integer("n_rows", n_rows), positive_integer("dimension", dimension)
    center = noise_of_share(
        CENTER_SHARE, moved_by(adjacency, rows_per_person, replaced=2.0), positive("epsilon", epsilon), delta
    )
    scale = noise_of_share(SCALE_SHARE, moved_by(adjacency, rows_per_person), epsilon, delta)
    return Standardisation(
        max(center, CENTER_PRECISION * rows / math.sqrt(columns)), max(scale, SCALE_PRECISION * rows)
    )


def recommended_standardisation(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> Standardisation:
    """Choose the steps that pay, by public numbers alone.

    A step is left out, its noise None, where its noise would drown what it is to find: the centre where its noise would
    have a norm above 3 or more than 0.35 in one entry, the scales where the noise of a column's mean |z| would exceed
    0.09. Where the centre is left out the scales are, too: scales of rows that are off centre mostly tell where the
    centre is. Shares and limits were chosen on synthetic data only. Arguments are those of `full_standardisation`.

    >>> recommended_standardisation(0.01, 1e-5, n_rows=100, dimension=100)
    Standardisation(center_noise=None, scale_noise=None)
    """
    plan = full_standardisation(epsilon, delta, n_rows, dimension, adjacency=adjacency, rows_per_person=rows_per_person)
    assert plan.center_noise is not None
    assert plan.scale_noise is not None
    entry, scale = plan.center_noise / n_rows, plan.scale_noise / n_rows
    if entry * math.sqrt(dimension) > _MOST_CENTER_NOISE or entry > _MOST_ENTRY_NOISE:
        return Standardisation(None, None)
    return plan if scale <= _MOST_SCALE_NOISE else replace(plan, scale_noise=None)


def standardisation_of_lengths(
    epsilon: float,
    delta: float,
    n_rows: int,
    dimension: int,
    *,
    adjacency: str = ADD_REMOVE,
    rows_per_person: int = 1,
) -> Standardisation | None:
    """Both steps for rows in public ranges that keep their lengths until they are centred; None for too few rows.

    Wide ranges put all rows close together and away from 0. Of a direction x/‖x‖ little is then left that tells rows
    apart, so u = x/√d takes its place, which is no longer than 1 either. Such u need a closer centre,

        σ_c = max(σ_G/√0.1, 0.01·n/√d),

    and the scales as in `full_standardisation`. Where the norm of the centre's noise would exceed 0.05, None says that
    rows are better normalised first. Arguments are those of `full_standardisation`.

    >>> standardisation_of_lengths(1.0, 1e-5, n_rows=200, dimension=4) is None
    True
    >>> round(standardisation_of_lengths(1.0, 1e-5, n_rows=5000, dimension=4).center_noise, 1)
    25.0
    """
    numbers = epsilon, delta, n_rows, dimension
    full = full_standardisation(*numbers, adjacency=adjacency, rows_per_person=rows_per_person)
    least = noise_of_share(CENTER_SHARE, moved_by(adjacency, rows_per_person, replaced=2.0), epsilon, delta)
    if least * math.sqrt(dimension) > _MOST_LENGTH_NOISE * n_rows:
        return None
    return replace(full, center_noise=max(least, LENGTH_PRECISION * n_rows / math.sqrt(dimension)))
