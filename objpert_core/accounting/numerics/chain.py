"""Several rows one after the other: the profile along a chain of data sets, and the discrete pair of such a chain.

If neighbours satisfy a profile δ at every real ε, the ends of a chain of k neighbours satisfy, for all t₁ + … + t_k =
ε,

    δ_k(ε) ≤ Σ e^{t₁ + … + t_{i−1}}·δ(t_i)          (docs/theorems.md, T18).

Whatever split is tried is valid. The best one is that of k-fold iteration of the attacker's curve g, the best true
positive rate at each false positive rate: one row after the other starts at the rate that the row before has reached.
On a polygon above g the iteration is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.split import difference_down

LogProfile = Callable[[FloatArray], FloatArray]

_COARSE = np.concatenate(([0.0], np.geomspace(1e-14, 1e9, 185)))
_LEAST = -700.0  # log of the least δ of a table
_ROOTS = np.concatenate(
    (np.linspace(0.0, 6.5, 651), np.linspace(6.5, 26.4, 800)[1:])
)  # of −log δ, as δ falls like e^{−t²}
_MARGIN = 1e-8  # relative, of masses: far above what their differences and the merging of edges may be off
_SHORT = 1e-9  # relative: shorter edges are merged
_NEGLIGIBLE = 1e-5  # smaller drops of log δ have too few digits left for a slope
_SHARES = np.geomspace(1.0, 1e-3, 7)
_ROUNDS = 8  # brackets shrink by 3 each


def at_any_epsilon(log_profile: LogProfile, t: FloatArray) -> FloatArray:
    """log δ at any real t: at t < 0 it is 1 − e^t + e^t·δ(−t), as both directions have the profile δ."""
    size = np.abs(t)
    with np.errstate(divide="ignore"):
        value = np.asarray(log_profile(size.ravel())).reshape(t.shape)
        mirrored = np.logaddexp(np.log(-np.expm1(-size)), value - size)
    return np.where(t < 0, np.minimum(mirrored, 0.0), value)


def profile_points(log_profile: LogProfile, density: int = 1) -> tuple[FloatArray, FloatArray]:
    """Ascending ε ≥ 0, from 0 to where δ is next to nothing, and log δ there; denser where δ falls faster."""
    ranks = np.linspace(0, _ROOTS.size - 1, density * (_ROOTS.size - 1) + 1)
    roots = np.interp(ranks, np.arange(_ROOTS.size), _ROOTS)
    epsilon, value = _COARSE, np.minimum.accumulate(np.asarray(log_profile(_COARSE)))
    for _ in range(2):
        over = np.flatnonzero(~(value >= _LEAST))
        last = int(over[0]) + 1 if over.size else value.size
        epsilon, value = epsilon[:last], np.maximum(value[:last], 2 * _LEAST)
        wanted = roots[np.square(roots) <= min(value[0] - value[-1], -_LEAST)]
        dense = np.interp(wanted, np.sqrt(value[0] - value), epsilon)
        least = dense[dense > 0].min() if (dense > 0).any() else np.inf
        early = _COARSE[(least * 1e-3 < _COARSE) & (least > _COARSE)]
        epsilon = np.union1d(np.concatenate((dense, early)), [0.0])
        value = np.minimum.accumulate(np.asarray(log_profile(epsilon)))
    finite = np.isfinite(value)
    epsilon, value = epsilon[finite], value[finite]
    kept = apart(value, _NEGLIGIBLE)
    return epsilon[kept], value[kept]


def apart(log_delta: FloatArray, least: float) -> list[int]:
    """Indices of points, the first and the last among them, between which log δ falls by more than `least`."""
    kept = [0]
    for i in range(1, log_delta.size):
        if log_delta[kept[-1]] - log_delta[i] > least:
            kept.append(i)
    if kept[-1] != log_delta.size - 1:
        kept[-1 if len(kept) > 1 else 1 :] = [log_delta.size - 1]
    return kept


# --- one split -------------------------------------------------------------------------------------------------------


def gaussian_ends(a: float, epsilon: FloatArray, length: int) -> FloatArray:
    """t₁, t₁ + t₂, …, ε of the best split for a Gaussian mechanism of ratio a: t_i = ε/k + a²·(i − (k + 1)/2)."""
    i = np.arange(1.0, length + 1)
    ends = epsilon[:, None] * (i / length) - a * a * i * (length - i) / 2
    ends[:, -1] = epsilon
    return ends


def log_delta_of_split(log_profile: LogProfile, ends: FloatArray) -> FloatArray:
    """log Σ e^{t₁ + … + t_{i−1}}·δ(t_i), at most 0, for ends of shape (n, k); rounded so that the t_i add up to no
    more."""
    starts = np.concatenate((np.zeros((ends.shape[0], 1)), ends[:, :-1]), axis=1)
    terms = starts + at_any_epsilon(log_profile, difference_down(ends, starts))
    top = np.max(terms, axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.minimum(top[:, 0] + np.log(np.exp(terms - top).sum(axis=1)), 0.0)


def log_delta_of_two(
    log_profile: LogProfile,
    a: float | None,
    epsilon: FloatArray,
    table: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """log δ₂(ε) for a 1-d array of ε ≥ 0: the best split in two that was found; it does not rise in ε.

    The search begins at the best split for a Gaussian mechanism of ratio a, at ε/2 and at ε, and closes in on the best.

    With a `table`, the `profile_points` of a smooth profile that costs a quadrature, it is searched on the table, log δ
    taken for linear between its points. Then the profile itself is asked about what was found.
    """
    if a is None:  # that of the Gaussian mechanism with the same total variation
        a = 2 * min(float(ndtri((1 + np.exp(log_profile(np.zeros(1))[0])) / 2)), 10.0)
    start = gaussian_ends(a, epsilon, 2)[:, 0]
    reach = epsilon + np.abs(start) + 4 * a + 1e-300
    middle = start[:, None]
    grid = np.concatenate(
        (middle - reach[:, None] * _SHARES, middle, middle + reach[:, None] * _SHARES[::-1], 0 * middle),
        axis=1,
    )
    grid = np.concatenate((grid, epsilon[:, None] / 2, epsilon[:, None]), axis=1)
    if table is None:
        return never_rising(epsilon, _searched(log_profile, epsilon, grid)[1])
    found = _searched(lambda t: np.interp(t, *table), epsilon, grid)[0]
    return never_rising(epsilon, _in_two(log_profile, epsilon, np.stack((start, found), axis=1)).min(axis=1))


def _in_two(log_profile: LogProfile, epsilon: FloatArray, first: FloatArray) -> FloatArray:
    """log δ of the splits whose first parts are `first`, of shape (n, m) for n values of ε."""
    ends = np.stack((first, np.broadcast_to(epsilon[:, None], first.shape)), axis=2)
    return log_delta_of_split(log_profile, ends.reshape(-1, 2)).reshape(first.shape)


def _searched(log_profile: LogProfile, epsilon: FloatArray, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best first part that was found for each ε, from a grid of shape (n, m) on, and its log δ."""
    result, found, rows = np.zeros(epsilon.size), epsilon / 2, np.arange(epsilon.size)
    for _ in range(_ROUNDS):
        grid = np.sort(grid, axis=1)
        value = _in_two(log_profile, epsilon, grid)
        best = value.argmin(axis=1)
        better = value[rows, best] < result
        result = np.where(better, value[rows, best], result)
        found = np.where(better, grid[rows, best], found)
        low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, grid.shape[1] - 1)]
        grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 7)
    return found, result


def never_rising(epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """The same bounds, each at most those at smaller ε: δ falls in ε."""
    order = np.argsort(epsilon, kind="stable")
    log_delta[order] = np.minimum.accumulate(log_delta[order])
    return log_delta


# --- polygons --------------------------------------------------------------------------------------------------------


def polygon(log_profile: LogProfile, density: int = 1) -> tuple[FloatArray, FloatArray]:
    """(x, y), ascending from x = 0 to (1, 1): vertices of a symmetric concave polygon above the attacker's curve.

    Between two points the profile is replaced by its chord as a function of e^ε, and beyond the last by a constant. A
    chord of slope −x and value y at e^ε = 0 is the vertex (x, y). Below x + y = 1 it is the mirror image.
    """
    return polygon_of_points(*profile_points(log_profile, density))


def polygon_of_points(epsilon: FloatArray, log_delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The `polygon` of what `profile_points` found."""
    if epsilon.size < 2 or log_delta[-1] >= log_delta[0]:
        return np.array([0.0, 0.0, 1.0]), np.array([0.0, np.exp(log_delta[-1]), 1.0])
    drop = log_delta[:-1] + np.log(-np.expm1(np.diff(log_delta)))
    log_x = drop - epsilon[1:] - np.log(-np.expm1(-np.diff(epsilon)))
    x = np.exp(log_x)
    y = np.exp(log_delta[:-1]) + np.exp(log_x + epsilon[:-1])
    below = x + y <= 1
    x, y = np.append(x[below], 0.0)[::-1], np.append(y[below], np.exp(log_delta[-1]))[::-1]
    edge = int(epsilon.size - x.size)  # the point whose line crosses x + y = 1, y = δ + e^ε·x
    at_edge = -np.expm1(log_delta[edge]) / (1 + np.exp(epsilon[edge])) if epsilon[edge] < 700 else 0.0
    if at_edge > x[-1]:
        x, y = np.append(x, at_edge), np.append(y, 1 - at_edge)
    return np.concatenate((x, (1 - y)[::-1], [1.0])), np.maximum.accumulate(np.concatenate((y, (1 - x)[::-1], [1.0])))


def iterated(x: FloatArray, y: FloatArray, length: int) -> tuple[FloatArray, FloatArray]:
    """The polygon of g(g(…g(x))), `length` times; exact, but for merging points that are closer than 1e-9,
    relatively."""
    xs, ys = x, y
    for _ in range(length - 1):
        back = np.interp(x, ys, xs)  # where the curve so far reaches a vertex of the next
        points = np.union1d(xs, back)
        value = np.interp(np.interp(points, xs, ys), x, y)
        apart = np.concatenate(([True], np.diff(points) > _SHORT * np.minimum(points[1:], 1 - points[:-1] + 1e-6)))
        apart[0] = apart[-1] = True
        xs, ys = points[apart], value[apart]
    return xs, ys


def false_negative_rates(x: FloatArray, y: FloatArray, rate: FloatArray) -> FloatArray:
    """What an attacker misses at each false positive rate if their curve is the polygon; rounded down, as `atoms`."""
    reached = np.interp(rate, x, y)
    return np.maximum((1 - reached) - _MARGIN * np.minimum(reached, 1 - rate), 0.0)


def atoms(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """(losses, log masses, log of the mass at +∞) of the symmetric pair whose attacker's curve is the polygon, or
    above it."""
    upper = int(np.searchsorted(x + y, 1.0, side="right"))
    x, y = x[:upper], y[:upper]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise, run = np.diff(y), np.diff(x)
        losses = np.log(rise) - np.log(run)
    keep = (run > 0) & (rise > run)
    losses, masses = losses[keep], rise[keep] * (1 + _MARGIN)
    rest = max(1 - y[0] - float(np.sum(masses * (1 + np.exp(-losses)))), 0.0) + _MARGIN
    with np.errstate(divide="ignore"):
        log_masses = np.log(masses)
        infinite = float(np.log(y[0]))
    return (
        np.concatenate((-losses, [0.0], losses)),
        np.concatenate((log_masses - losses, [np.log(rest)], log_masses)),
        infinite + _MARGIN,
    )
