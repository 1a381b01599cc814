"""Ranges of columns from noisy histograms: what is made of released counts and public numbers alone.

Noise of deviation σ hides bins with few rows. Bins count as found where noise alone would hardly get so far; ranges
hold the first and last hundredth of what is found, wider where noise hides rows. Counts have a row for each column.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from objpert_core._validation import FloatArray

LEVELS = 180
"""Bins of magnitudes on either side of the bin of zeros: half octaves."""
LOWEST = -60
"""The first of these bins begins at 2^(−60/2)."""
_TAIL = 0.01  # of what was found: beyond the ranges on either side
_FALSE = 0.005  # the chance that noise alone is taken for rows somewhere
_WIDTHS = (1, 2, 4, 8, 16)  # bins that are looked at together
_HIDDEN = 0.1  # of the rows: if noise hides more, ranges are a bin wider
_MOST_HIDDEN = 0.4  # of the rows: if noise hides more, what is found is not trusted
_RARE = 0.2  # of a column's rows: a sign that noise hides is cut off if fewer have it
_ONE_SIDE = 0.2  # of the longer arm: if the shorter one is shorter, a column is of one side
_TOGETHER = 6  # bins of magnitudes, where little was found
_UNLIKELY = 1e-3  # how much less likely magnitudes are that no column seems to have
_SURE = 40  # times the noise: of so many rows each column's magnitudes can be told
_ALIKE = 10  # half octaves: columns whose magnitudes spread no more are alike
_SPREAD = 0.05  # of the rows, which do not count for that on either side


def of_magnitudes(counts: FloatArray, sigma: float, n_rows: int) -> FloatArray:
    """Ends from noisy counts in bins of sign and magnitude, shape (d, 2·LEVELS + 1)."""
    alike = _all_alike(counts, sigma, n_rows)
    return _by_column(counts, sigma, n_rows) if alike is None else np.repeat(alike, len(counts), axis=1)


def of_equal_bins(counts: FloatArray, sigma: float, n_rows: int, ends: FloatArray) -> FloatArray:
    """Closer ends from noisy counts in equal bins between `ends`, which stay where too few rows are found."""
    mass = _mass(counts, _found(counts, sigma))
    low, middle, high = _within(mass, np.linspace(ends[0], ends[1], counts.shape[1] + 1, axis=1))
    hidden = np.clip(1 - mass.sum(axis=1) / n_rows, 2 * _TAIL, _MOST_HIDDEN)
    # As much wider as a normal law would have to be of which so many rows are hidden.
    beyond = (high - low) / 2 * (norm.isf(_TAIL) / norm.isf(hidden / 2) - 1)
    closer = _around(middle, np.maximum(low - beyond, ends[0]), np.minimum(high + beyond, ends[1]))
    return np.where((hidden < _MOST_HIDDEN) & (closer[0] < closer[1]), closer, ends)


def _around(middle: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Ends as far from the middle as the farther one, unless a column is of one side."""
    arms = np.array([middle - low, high - middle])
    half = arms.max(axis=0)
    return np.where(arms.min(axis=0) < _ONE_SIDE * half, [low, high], [middle - half, middle + half])


def _edges() -> FloatArray:
    powers = np.exp2((np.arange(LEVELS + 1) + LOWEST) / 2)
    return np.concatenate([-powers[::-1], powers])


def _sides(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Counts of negative and of positive entries, small magnitudes first."""
    return counts[:, LEVELS - 1 :: -1], counts[:, LEVELS + 1 :]


def _all_alike(counts: FloatArray, sigma: float, n_rows: int) -> FloatArray | None:
    """One pair of ends for all columns, where noise tells little of each and their magnitudes are alike; else None."""
    columns = len(counts)
    if columns == 1 or sigma * _SURE <= n_rows:
        return None
    total, noise = counts.sum(axis=0, keepdims=True), sigma * math.sqrt(columns)
    magnitudes = np.add(*_sides(total))
    (mass,) = _mass(magnitudes, _found(magnitudes, noise * math.sqrt(2)))
    below = np.cumsum(mass) / max(mass.sum(), 1.0)
    hidden = n_rows * columns - max(total[0, LEVELS], 0.0) - mass.sum()
    spread = np.ptp(np.searchsorted(below, (_SPREAD, 1 - _SPREAD)))
    if hidden > _MOST_HIDDEN * mass.sum() or spread > _ALIKE:
        return None
    return _by_column(total, noise, n_rows * columns)


def _by_column(counts: FloatArray, sigma: float, n_rows: int) -> FloatArray:
    """Ends of each column, a bin farther out where noise hides a tenth of its rows; −1 and 1 for columns of zeros."""
    below, above = _sides(counts)
    levels = _found(below + above, sigma * math.sqrt(2))
    found = _found(counts, sigma) | _signed(levels, below, above, sigma)
    zeros = _mass(counts, found)[:, LEVELS]
    rest = n_rows - zeros
    little = (_mass(counts, found).sum(axis=1) - zeros < rest / 2) & (rest > n_rows * _HIDDEN)
    levels = np.where(little[:, None], _likeliest(below + above, rest, sigma), levels)
    found |= little[:, None] & _signed(levels, below, above, sigma)
    mass = _mass(counts, found)
    low, _, high = _within(mass, np.tile(_edges(), (len(counts), 1)))
    wider = np.where(mass.sum(axis=1) < n_rows * (1 - _HIDDEN), math.sqrt(2), 1.0)
    low = np.where(low < 0, low * wider, low / wider)
    high = np.where(high > 0, high * wider, high / wider)
    of_zeros = ~(np.maximum(-low, high) > 2.0 ** ((LOWEST + 1) / 2))  # or of nothing at all, which is NaN here
    return np.where(of_zeros, [[-1.0], [1.0]], [low, high])


def _likeliest(counts: FloatArray, rows: FloatArray, sigma: float) -> NDArray[np.bool_]:
    """Some magnitudes next to each other that most likely hold a column's rows, if columns tend to be alike."""
    total = np.cumsum(np.pad(counts, ((0, 0), (1, 0))), axis=1)
    sums = total[:, _TOGETHER:] - total[:, :-_TOGETHER]
    alike = np.maximum(sums.sum(axis=0), 0.0)
    log_prior = np.log(np.maximum(alike / max(alike.max(), 1.0), _UNLIKELY))
    first = np.argmax(sums * (rows[:, None] / (2 * _TOGETHER * sigma**2)) + log_prior, axis=1)
    places = np.arange(counts.shape[1])
    return (places >= first[:, None]) & (places < first[:, None] + _TOGETHER)


def _signed(levels: NDArray[np.bool_], below: FloatArray, above: FloatArray, sigma: float) -> NDArray[np.bool_]:
    """The bins of these levels, of both signs unless next to nothing has one of them."""
    sums = [np.where(levels, side, 0.0).sum(axis=1) for side in (below, above)]
    noise = sigma * np.sqrt(levels.sum(axis=1))
    limit = np.minimum(float(norm.isf(_FALSE / (2 * len(levels)))) * noise, np.maximum(noise, _RARE * sum(sums)))
    signs = [levels & (side > np.minimum(limit, np.maximum(*sums) * 0.999))[:, None] for side in sums]
    return np.hstack([signs[0][:, ::-1], np.zeros((len(levels), 1), dtype=bool), signs[1]])


def _mass(counts: FloatArray, found: NDArray[np.bool_]) -> FloatArray:
    """Counts where something was found; a bin in which noise hides all rows counts as empty."""
    return np.where(found, np.maximum(counts, 0.0), 0.0)


def _within(mass: FloatArray, edges: FloatArray) -> FloatArray:
    """From the first to the last hundredth, places within a bin by straight lines; NaN where there is nothing."""
    ends = [_quantiles(own, places) if own.any() else [np.nan] * 3 for own, places in zip(mass, edges, strict=True)]
    return np.array(ends).T


def _quantiles(mass: FloatArray, places: FloatArray) -> list[float]:
    below = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    ends = []
    for level in (_TAIL, 0.5, 1 - _TAIL):
        last = int(np.searchsorted(below, level, side="right"))  # the bin's upper edge
        part = (level - below[last - 1]) / (below[last] - below[last - 1])
        ends.append(float(places[last - 1] + part * (places[last] - places[last - 1])))
    return ends


def _found(counts: FloatArray, sigma: float) -> NDArray[np.bool_]:
    """The bins in which there are rows, as far as noise lets it be told: single ones first, then several together."""
    bins = counts.shape[1]
    limit = sigma * float(norm.isf(_FALSE / (counts.size * len(_WIDTHS))))
    found = np.zeros(counts.shape, dtype=bool)
    for width in _WIDTHS:
        if width > bins:
            break
        rest = np.where(found, 0.0, counts)
        free = np.cumsum(np.pad(~found, ((0, 0), (1, 0))), axis=1)
        total = np.cumsum(np.pad(rest, ((0, 0), (1, 0))), axis=1)
        sums, several = total[:, width:] - total[:, :-width], free[:, width:] - free[:, :-width]
        hits = sums > limit * np.sqrt(np.maximum(several, 1))
        for shift in range(width):
            found[:, shift : bins - width + 1 + shift] |= hits
    return found
