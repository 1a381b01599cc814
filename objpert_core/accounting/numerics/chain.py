"""Several rows one after the other: the profile along a chain of data sets, and the discrete pair of such a chain.

If neighbours satisfy a profile δ at every real ε, the ends of a chain of k neighbours satisfy, for t₁ + … + t_k = ε,

    δ_k(ε) ≤ Σ e^{t₁ + … + t_{i−1}}·δ(t_i)          (docs/theorems.md, T18).

Every split is valid. The best split is that of k-fold iteration of the attacker's curve g, the best true positive rate
at each false positive rate: one row after the other starts at the rate that the row before has reached. On a polygon
above g the iteration is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.gaussian import log_1m_exp
from objpert_core.accounting.numerics.split import difference_down

LogProfile = Callable[[FloatArray], FloatArray]

_COARSE = np.concatenate(([0.0], np.geomspace(1e-14, 1e9, 185)))
_LEAST = -700.0  # log of the least δ of a table
_ROOTS = np.concatenate(
    (np.linspace(0.0, 6.5, 651), np.linspace(6.5, 26.4, 800)[1:])
)  # of −log δ, as δ falls like e^{−t²}
_MARGIN = 1e-8  # relative, of masses: far above what their differences and the merging of edges may be off
_SHORT = 1e-9  # relative: shorter edges are merged
_TINY = 1e-305
_NEGLIGIBLE = 1e-5  # smaller drops of log δ have too few digits left for a slope


def at_any_epsilon(log_profile: LogProfile, t: FloatArray) -> FloatArray:
    """log δ at any real t: 1 − e^t + e^t·δ(−t) for t < 0, as both directions have the profile δ."""
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
    if (log_delta[:-1] - log_delta[1:] > least).all():
        return list(range(log_delta.size))
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


def log_delta_of_split(log_profile: LogProfile, ends: FloatArray, corner: float = 0.0) -> FloatArray:
    """log Σ e^{t₁ + … + t_{i−1}}·δ(t_i), at most 0, for ends of shape (n, k), rounded such that Σ t_i does not grow."""
    known = np.asarray(np.isfinite(ends).all(axis=1))
    ends = np.where(known[:, None], ends, 0.0)
    starts = np.concatenate((np.zeros((ends.shape[0], 1)), ends[:, :-1]), axis=1)
    parts = difference_down(ends, starts)
    terms = at_any_epsilon(log_profile, parts)
    if corner > 0:
        low, high = at_any_epsilon(log_profile, np.array([-corner, corner]))
        inside = np.clip(parts, -corner, corner)
        whole = log_1m_exp(-2 * corner)
        chord = np.logaddexp(
            low + log_1m_exp(inside - corner) - whole,
            high + inside - corner + log_1m_exp(-(corner + inside)) - whole,
        )
        terms = np.where(np.abs(parts) < corner, np.minimum(terms, chord + 1e-14 * (1 + np.abs(chord))), terms)
    terms = starts + terms
    top = np.max(terms, axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        total = np.minimum(top[:, 0] + np.log(np.exp(terms - top).sum(axis=1)), 0.0)
    return np.where(known & ~np.isnan(total), total, 0.0)  # else it says nothing


def never_rising(epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
    """The same bounds, each at most those at smaller ε: δ falls in ε."""
    order = np.argsort(epsilon, kind="stable")
    log_delta[order] = np.minimum.accumulate(log_delta[order])
    return log_delta


# --- polygons --------------------------------------------------------------------------------------------------------


def polygon(log_profile: LogProfile, density: int = 1) -> tuple[FloatArray, FloatArray]:
    """(x, y), ascending from x = 0 to (1, 1): vertices of a symmetric concave polygon above the attacker's curve."""
    return polygon_of_points(*profile_points(log_profile, density))


def polygon_of_points(epsilon: FloatArray, log_delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The `polygon` of what `profile_points` found."""
    if epsilon.size < 2 or log_delta[-1] >= log_delta[0]:
        jump = float(np.exp(log_delta[-1]))
        return np.array([0.0, 1 - jump, 1.0]), np.array([jump, 1.0, 1.0])
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
    x, y = np.concatenate((x, (1 - y)[::-1], [1.0])), np.concatenate((y, (1 - x)[::-1], [1.0]))
    return _with_jump(x, np.maximum.accumulate(y))


def _with_jump(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The polygon with a jump at 0 in place of what lies left of 1e-305: doubles do not tell those points apart."""
    there = x >= _TINY
    return np.append(0.0, x[there]), np.append(max(float(y[0]), float(np.interp(_TINY, x, y))), y[there])


def iterated(x: FloatArray, y: FloatArray, length: int) -> tuple[FloatArray, FloatArray]:
    """The polygon of g(g(…g(x))), `length` times; exact, but for merging points with a relative distance below 1e-9."""
    power, found = (x, y), None
    while True:
        if length % 2:
            found = power if found is None else _one_after_the_other(found, power)
        length //= 2
        if found is not None and (length == 0 or found[1][0] >= 1):  # nothing is left to reach
            return found
        power = _one_after_the_other(power, power)


def _one_after_the_other(
    first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    (xs, ys), (x, y) = first, second
    back = np.interp(x, ys, xs)  # where the first curve reaches a vertex of the second
    points = np.union1d(xs, back)
    value = np.interp(np.interp(points, xs, ys), x, y)
    apart = np.concatenate(([True], np.diff(points) > _SHORT * np.minimum(points[1:], 1 - points[:-1] + 1e-6)))
    apart[0] = apart[-1] = True
    return _with_jump(points[apart], value[apart])


def log_slopes(x: FloatArray, y: FloatArray) -> FloatArray:
    """The logs of the edges' slopes, descending; an edge without length has the slope of the edge before."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.log(np.diff(y)) - np.log(np.diff(x))
    return np.minimum.accumulate(np.where(np.isfinite(slopes), slopes, np.inf))


def corner_of(x: FloatArray, y: FloatArray) -> float:
    """log of the slope, at least 0, with which a symmetric polygon arrives at its axis x + y = 1."""
    before = log_slopes(x, y)[x[1:] + y[1:] <= 1]
    return max(float(before[-1]), 0.0) if before.size and np.isfinite(before[-1]) else 0.0


def ends_of_best_splits(
    x: FloatArray, y: FloatArray, xs: FloatArray, ys: FloatArray, epsilon: FloatArray, length: int
) -> FloatArray:
    """t₁, t₁ + t₂, …, ε, of shape (n, k), of the best split for the polygon (x, y) whose iteration is (xs, ys)."""
    one = log_slopes(x, y)
    rate = xs[np.searchsorted(-log_slopes(xs, ys), -epsilon)]
    known = np.isfinite(one) & (np.diff(x) > 0) & (np.diff(y) > 0)
    if known.sum() < 2:
        return gaussian_ends(0.0, epsilon, length)
    middle, slope = (0.5 * (x[1:] + x[:-1]))[known], one[known]
    parts, loose = np.empty((2, epsilon.size, length))
    for i in reversed(range(length)):
        parts[:, i] = np.interp(rate, middle, slope)
        after = np.clip(np.searchsorted(middle, rate), 1, slope.size - 1)
        loose[:, i] = slope[after - 1] - slope[after] + 1e-30  # at a corner of the profile many slopes will do
        rate = np.interp(rate, x, y)
    missing = epsilon - parts.sum(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        ends = np.cumsum(parts + (missing / loose.sum(axis=1))[:, None] * loose, axis=1)
    ends[:, -1] = epsilon
    return np.where(np.isfinite(ends).all(axis=1)[:, None], ends, gaussian_ends(0.0, epsilon, length))


def false_negative_rates(x: FloatArray, y: FloatArray, rate: FloatArray) -> FloatArray:
    """What an attacker misses at each false positive rate if their curve is the polygon; rounded down, as `atoms`."""
    reached = np.interp(rate, x, y)
    return np.maximum((1 - reached) - _MARGIN * np.minimum(reached, 1 - rate), 0.0)


def atoms(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """(losses, log masses, log mass at +∞) of the symmetric pair whose attacker's curve is the polygon, or higher."""
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
