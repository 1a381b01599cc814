"""What a mechanism's privacy is, written down from its definition: plain densities, plain quadrature, plain sums.

Nothing here imports the accounting. All numbers are logarithms, so that a δ of 1e-300 has as many digits as one of 0.1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.fft

Array = np.ndarray
Bracket = tuple[float, float]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_LOG_WEIGHTS = np.log(_WEIGHTS)
_DOUBLINGS = 2.0 ** np.arange(60)
_MOST_PANELS = 2**18  # that are still open
_LATTICE = 2**20  # points of a composition's lattice


def log_sum(values: Array, axis: int | None = None, b: Array | float = 1.0) -> Array:
    """log Σ b·e^values. SciPy's own takes ten times as long for short arrays, of which there are many."""
    with np.errstate(all="ignore"):
        top = values.max(axis=axis, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        return np.log((b * np.exp(values - top)).sum(axis=axis)) + np.squeeze(top, axis=axis)


# --- quadrature --------------------------------------------------------------------------------------------------


def _panels(log_f: Callable[[Array], Array], lo: Array, hi: Array) -> tuple[Array, Array]:
    """log of the integral of e^log_f over each panel, and of what it could be with a peak between its nodes."""
    half = (hi - lo) / 2
    at = (lo + hi)[:, None] / 2 + half[:, None] * _NODES
    values = log_f(at.ravel()).reshape(at.shape)
    steps = np.abs(np.diff(values, axis=1))
    steps = np.where(np.isfinite(values[:, 1:] + values[:, :-1]), steps, 0.0)
    row = np.arange(len(lo))[:, None]
    near = steps[row, np.clip(values.argmax(axis=1)[:, None] + np.arange(-2, 2), 0, steps.shape[1] - 1)].max(axis=1)
    near = np.where(np.isfinite(values).sum(axis=1) == 1, np.inf, near)  # beside a kink: nothing is known
    integral = log_sum(values + _LOG_WEIGHTS, axis=1) + np.log(half)
    return integral, np.where(near > 1, integral + near, -np.inf)


def starting_panels(points: tuple[float, ...]) -> tuple[Array, Array]:
    """Between the points, and beyond them in panels that double until nothing can be there."""
    inner = np.unique(np.asarray(points, dtype=float))
    edges = np.concatenate([inner[0] - _DOUBLINGS[::-1], inner, inner[-1] + _DOUBLINGS])
    return edges[:-1], edges[1:]


def refined(
    log_f: Callable[[Array], Array], panels: tuple[Array, Array], tolerance: float
) -> tuple[Array, Array, Array]:
    """Panels halved until it changes the sum by a relative `tolerance` at most, and the logs of their integrals."""
    lo, hi = panels
    done: list[tuple[Array, Array, Array]] = []
    whole, could = _panels(log_f, lo, hi)
    found = whole.max()
    for _ in range(200):
        middle = (lo + hi) / 2
        low, high = np.concatenate([lo, middle]), np.concatenate([middle, hi])
        parts, hidden = _panels(log_f, low, high)
        left, right = np.split(parts, 2)
        halves = np.logaddexp(left, right)
        found = max(found, halves.max())
        with np.errstate(invalid="ignore"):
            change = np.where(halves == whole, 0.0, np.abs(halves - whole))
            error = np.maximum(whole, halves) + np.log(-np.expm1(-change))
        open_ = np.maximum(error, could) > found + math.log(tolerance)
        open_ &= (middle > lo) & (middle < hi)
        keep = np.concatenate([~open_, ~open_])
        done.append((low[keep], high[keep], parts[keep]))
        lo, hi, whole, could = low[~keep], high[~keep], parts[~keep], hidden[~keep]
        if not lo.size:
            break
        if lo.size > _MOST_PANELS:  # what is integrated has fewer digits than the tolerance asks for
            raise ArithmeticError("the integral of the second opinion has too few digits")
    else:
        raise ArithmeticError("the integral of the second opinion does not settle")
    low, high, logs = (np.concatenate(column) for column in zip(*done, strict=True))
    return low, high, logs


def crossings(f: Callable[[Array], Array], points: tuple[float, ...]) -> tuple[float, ...]:
    """Where f changes its sign, to the last digit, as far as the nodes of the starting panels see."""
    lo, hi = starting_panels(points)
    at = np.sort(np.concatenate([((lo + hi)[:, None] / 2 + (hi - lo)[:, None] / 2 * _NODES).ravel(), lo, hi[-1:]]))
    with np.errstate(all="ignore"):
        sign = f(at) > 0
        change = np.flatnonzero(sign[1:] != sign[:-1])
        low, high, rises = at[change], at[change + 1], sign[change + 1]
        for _ in range(120):
            middle = (low + high) / 2
            right = (f(middle) > 0) == rises
            low, high = np.where(right, low, middle), np.where(right, middle, high)
    return tuple(high)


def log_integral(log_f: Callable[[Array], Array], points: tuple[float, ...], tolerance: float = 1e-13) -> float:
    """log ∫ e^log_f over the line; `points` are where something happens: kinks, centres."""
    with np.errstate(all="ignore"):
        found = float(log_sum(refined(log_f, starting_panels(points), tolerance)[2]))
    if math.isnan(found):
        raise ArithmeticError("the integral of the second opinion is not a number")
    return found


def log_excess(epsilon: float, loss: Array) -> Array:
    """log (1 − e^{ε − loss})₊."""
    with np.errstate(all="ignore"):
        return np.where(loss > epsilon, np.log(-np.expm1(epsilon - loss)), -np.inf)


def _convex(s: float, loss: Array) -> Array:
    """log of e^{s·loss} − 1 + s·(e^{−loss} − 1), which is never negative; s = 0: of its derivative in s."""
    with np.errstate(all="ignore"):
        small = np.abs(loss) * (1 + s) < 1e-3
        if s:
            series = s * (1 + s) * loss**2 / 2 * (1 + (s - 1) * loss / 3 + (s * s - s + 1) * loss**2 / 12)
            direct = np.log(np.expm1(np.minimum(s * loss, 700.0)) + s * np.expm1(-loss))
            direct = np.where(s * loss > 600, s * loss, direct)
            direct = np.where(loss < -600, math.log(s) - loss, direct)
        else:
            series = loss**2 / 2 * (1 - loss / 3 + loss**2 / 12)
            direct = np.where(loss < -600, -loss, np.log(loss + np.expm1(-np.maximum(loss, -600))))
        direct = np.where(np.isinf(loss) & (loss > 0), np.inf, direct)
        return np.where(small, np.log(series), direct)


# --- the nouns ---------------------------------------------------------------------------------------------------


class Definition(ABC):
    """P against Q, in one order. Answers are (at least, at most), equal where only rounding separates them."""

    @property
    def above_both(self) -> bool:
        """Whether it is a law above both orders of the neighbours, which says nothing of negative losses."""
        return False

    @abstractmethod
    def log_delta(self, epsilon: float) -> Bracket:
        """log of the hockey-stick divergence, any real ε."""

    @abstractmethod
    def renyi(self, alpha: float) -> Bracket:
        """Rényi divergence of P from Q, α ≥ 1; at 1 the Kullback–Leibler divergence."""

    def atoms(self) -> tuple[Array, Array]:
        """Many (probability under P, loss), as which P and its loss may be summed."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Pair(Definition):
    """Two densities on the line, by log p and the privacy loss log p − log q, written without cancellation.

    Parameters
    ----------
    log_p, loss : functions of an array
    points : where something happens, at least two numbers around the mass of both: centres, kinks, zeros of the loss
    whole : bool
        Whether Q has as much mass where P has some as P has.
    still : float
        Mass that P and Q share beside their densities: nothing happened.
    tolerance : float
        Of integrals, relative.
    """

    log_p: Callable[[Array], Array]
    loss: Callable[[Array], Array]
    points: tuple[float, ...]
    whole: bool = True
    still: float = 0.0
    tolerance: float = 1e-13

    @property
    def above_both(self) -> bool:
        return not self.whole

    def log_delta(self, epsilon: float) -> Bracket:
        points = (*self.points, *crossings(lambda x: self.loss(x) - epsilon, self.points))
        found = log_integral(lambda x: self.log_p(x) + log_excess(epsilon, self.loss(x)), points, self.tolerance)
        if epsilon < 0 < self.still:
            found = float(np.logaddexp(found, math.log(-self.still * math.expm1(epsilon))))
        return found, found

    def renyi(self, alpha: float) -> Bracket:
        s = alpha - 1
        if self.whole:
            log_gain = log_integral(lambda x: self.log_p(x) + _convex(s, self.loss(x)), self.points, self.tolerance)
            found = math.exp(log_gain) if not s else float(np.logaddexp(0, log_gain)) / s
            return found, found

        def side(sign: float) -> float:
            def log_f(x: Array) -> Array:
                loss = sign * self.loss(x)
                value = np.log(np.maximum(loss if not s else sign * np.expm1(sign * np.minimum(s * loss, 600)), 0))
                return self.log_p(x) + np.where(sign * s * loss > 500, s * loss, value)

            return log_integral(log_f, self.points, self.tolerance)

        more, less = side(1.0), side(-1.0)
        if not s:
            found = math.exp(more) - math.exp(less)
        elif more > 30:
            found = more / s
        else:
            found = math.log1p(math.exp(more) - math.exp(less)) / s
        return found, found

    def atoms(self) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            lo, hi, _ = refined(self.log_p, starting_panels(self.points), 1e-13)
            pieces = 64
            share = np.arange(pieces) / pieces
            step = (hi - lo) / pieces
            starts = (lo[:, None] + (hi - lo)[:, None] * share).ravel()
            half = np.repeat(step, pieces) / 2
            at = starts[:, None] + half[:, None] * (1 + _NODES)
            mass = np.exp(self.log_p(at.ravel())) * (half[:, None] * _WEIGHTS).ravel()
            return np.append(mass, self.still), np.append(self.loss(at.ravel()), 0.0)


@dataclass(frozen=True, eq=False)
class Table(Definition):
    """Two laws on finitely many outcomes, by the logarithms of their probabilities (−inf for 0)."""

    log_p: Array
    log_q: Array

    @cached_property
    def _losses(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(self.log_p), -np.inf, self.log_p - self.log_q)

    def log_delta(self, epsilon: float) -> Bracket:
        found = float(log_sum(self.log_p + log_excess(epsilon, self._losses)))
        return found, found

    def renyi(self, alpha: float) -> Bracket:
        here = np.isfinite(self.log_p)
        log_p, loss, s = self.log_p[here], self._losses[here], alpha - 1
        if np.isposinf(loss).any():
            return math.inf, math.inf
        outside = math.exp(log_sum(self.log_q[~here])) if (~here).any() else 0.0
        with np.errstate(over="ignore"):
            log_gain = float(log_sum(log_p + _convex(s, loss)))
            if not s:
                found = math.exp(log_gain) + outside
            elif log_gain > 30:
                found = log_gain / s
            else:
                found = math.log1p(math.exp(log_gain) + s * outside) / s
        return found, found

    def atoms(self) -> tuple[Array, Array]:
        return np.exp(self.log_p), self._losses


@dataclass(frozen=True, eq=False)
class Average(Definition):
    """A pair that is drawn at random, with these probabilities, before all eyes."""

    weights: tuple[float, ...]
    parts: tuple[Definition, ...]

    def log_delta(self, epsilon: float) -> Bracket:
        found = np.array([part.log_delta(epsilon) for part in self.parts])
        least, most = log_sum(found, b=np.array(self.weights)[:, None], axis=0)
        return float(least), float(most)

    def renyi(self, alpha: float) -> Bracket:
        found, s = np.array([part.renyi(alpha) for part in self.parts]), alpha - 1
        weights = np.array(self.weights)[:, None]
        if not s:
            least, most = (weights * found).sum(axis=0)
        elif (s * found).max() < 1:
            least, most = np.log1p((weights * np.expm1(s * found)).sum(axis=0)) / s
        else:
            least, most = log_sum(s * found, b=weights, axis=0) / s
        return float(least), float(most)

    def atoms(self) -> tuple[Array, Array]:
        parts = [part.atoms() for part in self.parts]
        masses = [weight * mass for weight, (mass, _) in zip(self.weights, parts, strict=True)]
        return np.concatenate(masses), np.concatenate([loss for _, loss in parts])


@dataclass(frozen=True, eq=False)
class Known(Definition):
    """Brackets that are known otherwise: a closed form, or only a bound. None: nothing is said."""

    log_delta_at: Callable[[float], Bracket] | None = None
    renyi_at: Callable[[float], Bracket] | None = None
    of_a_law: bool = False

    @property
    def above_both(self) -> bool:
        return self.of_a_law

    def log_delta(self, epsilon: float) -> Bracket:
        return self.log_delta_at(epsilon) if self.log_delta_at else (-math.inf, 0.0)

    def renyi(self, alpha: float) -> Bracket:
        return self.renyi_at(alpha) if self.renyi_at else (0.0, math.inf)


@dataclass(frozen=True, eq=False)
class Later(Definition):
    """A definition that takes its time to make, made when it is asked for the first time."""

    make: Callable[[], Definition]

    @cached_property
    def _made(self) -> Definition:
        return self.make()

    @property
    def above_both(self) -> bool:
        return self._made.above_both

    def log_delta(self, epsilon: float) -> Bracket:
        return self._made.log_delta(epsilon)

    def renyi(self, alpha: float) -> Bracket:
        return self._made.renyi(alpha)

    def atoms(self) -> tuple[Array, Array]:
        return self._made.atoms()


def at_least(one: Definition) -> Known:
    """What it has is reached, and no more is said."""
    return Known(lambda epsilon: (one.log_delta(epsilon)[0], -math.inf), lambda alpha: (one.renyi(alpha)[0], 0.0))


@dataclass(frozen=True, eq=False)
class Product(Definition):
    """Independent releases, each `count` times: losses on a lattice, rounded down for one end, up for the other."""

    parts: tuple[tuple[Definition, int], ...]

    @property
    def above_both(self) -> bool:
        return any(part.above_both for part, _ in self.parts)

    def log_delta(self, epsilon: float) -> Bracket:
        least, most = (rounded.log_delta(epsilon) for rounded in self._sums)
        return least, most

    def renyi(self, alpha: float) -> Bracket:
        sides = np.array([part.renyi(alpha) for part, _ in self.parts])
        least, most = (sides * np.array([count for _, count in self.parts])[:, None]).sum(axis=0)
        return float(least), float(most)

    @cached_property
    def _sums(self) -> tuple[Lattice, Lattice]:
        atoms = [(*part.atoms(), count) for part, count in self.parts]
        return Lattice.of(atoms, up=False), Lattice.of(atoms, up=True)


def _window(atoms: list[tuple[Array, Array, int]]) -> tuple[float, float]:
    """Where the sum lies, but for a probability of e^-40 on each side: Chernoff's bound, at many tilts."""
    totals = np.full((2, 120), 40.0)
    rates = np.array([[-1.0], [1.0]]) * np.geomspace(1e-6, 1e4, 120)
    for mass, loss, count in atoms:
        low, high = loss.min(), loss.max()
        cell = np.minimum((loss - low) / max(high - low, 1e-300) * 2000, 1999).astype(int)
        with np.errstate(divide="ignore"):
            log_mass = np.log(np.bincount(cell, mass, 2000))
        ends = low + (high - low) / 2000 * (np.arange(2000) + np.array([[0.0], [1.0]]))
        totals += count * log_sum(log_mass + rates[:, :, None] * ends[:, None, :], axis=2)
    bottom, top = (totals / np.abs(rates)).min(axis=1) * np.array([-1, 1])
    return float(bottom), float(top)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Masses at `bottom` + i·width; `above` at +∞. What Fourier transforms are off by is taken off, or added."""

    masses: Array
    above: float
    bottom: float
    width: float
    up: bool

    @classmethod
    def of(cls, atoms: list[tuple[Array, Array, int]], up: bool) -> Lattice:
        clipped, finite = [], 1.0
        for mass, loss, count in atoms:
            kept = mass > 1e-30 / count
            low, high = loss[kept & np.isfinite(loss)].min(), loss[kept & np.isfinite(loss)].max()
            finite *= (1 - float(mass[np.isposinf(loss) | (up & (loss > high))].sum())) ** count
            here = (mass > 0) & np.isfinite(loss)
            here &= loss <= high if up else loss >= low  # what is left out is at +∞, or at −∞
            clipped.append((mass[here], np.clip(loss[here], low, high), count))
        bottom, top = _window(clipped)
        width = max(top - bottom, 1e-12) / (_LATTICE // 2)
        spectrum: Array | float = 1.0
        total_shift = 0
        for mass, loss, count in clipped:
            index = (np.ceil if up else np.floor)(loss / width).astype(np.int64)
            shift = int(index.min())
            masses = np.bincount((index - shift) % _LATTICE, weights=mass, minlength=_LATTICE)
            spectrum = spectrum * scipy.fft.rfft(masses) ** count
            total_shift += shift * count
        sums = scipy.fft.irfft(spectrum, _LATTICE)
        first = math.floor(bottom / width) - _LATTICE // 4
        sums = np.roll(sums, (total_shift - first) % _LATTICE)
        return cls(np.maximum(sums, 0), 1 - finite, first * width, width, up)

    @property
    def points(self) -> Array:
        """Where the masses are."""
        return self.bottom + self.width * np.arange(_LATTICE)

    def log_delta(self, epsilon: float) -> float:
        """log of the δ of a privacy loss with this law, moved to the lattice's side by what the transforms may do."""
        found = float((self.masses * np.exp(log_excess(epsilon, self.points))).sum()) + self.above
        found = min(found + 1e-12, 1.0) if self.up else max(found - 1e-12, 0.0)
        return math.log(found) if found > 0 else -math.inf
