"""A random quadratic form in front of the data: the noisy Gram matrix, by the laws of one row's privacy loss.

A row moves W ~ Wishart_d(m) by s = L/σ² along one direction; the loss looks at Y = 1/(x̂ᵀW⁻¹x̂) ~ χ² with
ν = m − d + 1 = 2k + 2 degrees of freedom alone, whose density is y^k·e^{−y/2} up to a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import k0e

from tests.second_opinion.case import Case
from tests.second_opinion.definition import Array, Bracket, Definition, Known, Pair, at_least, log_integral, log_sum
from tests.second_opinion.objective import with_noise

ADD_REMOVE, REPLACE_ONE = "add/remove one row", "replace one row"
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_INFINITE = Known(renyi_at=lambda alpha: (math.inf, math.inf))
"""With a probability above 0 a release is impossible without the row."""


def _log_chi(k: float) -> Callable[[Array], Array]:
    """log of the density of u = log(Y/ν)."""

    def shape(u: Array) -> Array:
        return (k + 1) * (u - np.expm1(u))

    total = log_integral(shape, _around(k))
    return lambda u: shape(u) - total


def _around(k: float, *more: float) -> tuple[float, ...]:
    width = 1 / math.sqrt(k + 1)
    return (*(width * np.array([-30.0, -8.0, -3.0, 0.0, 3.0, 8.0, 30.0])), *more)


def _log_rest(x: Array) -> Array:
    """log(1 − e^x) for x < 0."""
    with np.errstate(all="ignore"):
        return np.where(x > -0.7, np.log(-np.expm1(np.fmin(x, -1e-320))), np.log1p(-np.exp(np.fmin(x, 0))))


@lru_cache(maxsize=64)
def one_row(s: float, k: float) -> tuple[Pair, Pair]:
    """The row is in P's data, and in Q's."""
    nu, log_p = 2 * k + 2, _log_chi(k)
    edge = math.log(s / nu)

    def removed(u: Array) -> Array:
        return s / 2 - k * np.log1p(s / nu * np.exp(-u)) if k else np.full(u.shape, s / 2)

    def added(u: Array) -> Array:
        return np.where(u > edge, -k * _log_rest(edge - u) - s / 2, np.inf)

    near = _around(k, edge)
    return Pair(log_p, removed, near, whole=False), Pair(log_p, added, near, whole=False)


@lru_cache(maxsize=64)
def any_loss(s: float, k: float) -> tuple[Pair, Pair]:
    """The largest losses of any smooth convex loss of one number per row, as functions of Y."""
    nu, log_p = 2 * k + 2, _log_chi(k)
    edge = math.log(s / nu)

    def removed(u: Array) -> Array:
        one = np.log1p(s / nu * np.exp(-u))
        return np.fmax(one, s / 2 - k * one)

    def added(u: Array) -> Array:
        return np.where(u > edge, np.maximum(-(k + 1) * _log_rest(edge - u) - s / 2, 0), np.inf)

    near = _around(k, edge)
    return Pair(log_p, removed, near, whole=False), Pair(log_p, added, near, whole=False)


@dataclass(frozen=True, eq=False)
class Swap(Definition):
    """One row is replaced by another at right angles: W against W + s·(e₁e₂ᵀ + e₂e₁ᵀ) in two dimensions.

    The diagonal of W is independent χ² with ν + 1 degrees of freedom, and the correlation u ~ (1 − u²)^k beside it. The
    shift moves u by z = s/g, g the geometric mean of the diagonal.
    """

    s: float
    k: float

    def renyi(self, alpha: float) -> Bracket:
        return math.inf, math.inf

    def log_delta(self, epsilon: float) -> Bracket:
        wide = 40 / math.sqrt(self.k + 1)
        edges = np.union1d(np.linspace(-wide, wide, 200), math.log(self.s / (4 * self.k + 6)) + _HALVINGS)
        v, log_step = _nodes(edges[None, :])
        log_density = log_step + _log_geometric(v, 2 * self.k + 3)
        total = log_sum(log_density)
        matters = log_density + self._moved(v, epsilon)
        found = float(log_sum(matters) - total)
        return found, found

    def _moved(self, v: Array, epsilon: float) -> Array:
        """log of the divergence of the correlation from its translate, where g = (2k + 3)·e^v."""
        k, z = self.k, self.s / (2 * self.k + 3) * np.exp(-v)[:, None]
        low = np.clip(z - 1, -1.0, 1.0)  # below P has mass and Q none
        with np.errstate(all="ignore"):
            more = np.expm1(epsilon / k) if k else math.inf
            # 1 − u² = c·(1 − (u − z)²), c = more + 1, is more·u² − 2czu + c·z² − more = 0; its smaller root
            c = more + 1
            room = np.sqrt(np.fmax(c * z * z + more * more, 0.0))
            root = (c * z * z - more) / (c * z + room)
        end = np.clip(root if math.isfinite(more) else low, low, 1.0)
        width = 1 / math.sqrt(2 * k + 1)
        certain = _log_mass(np.full(z.shape, -1.0), low, width, lambda u: k * np.log1p(-u * u))
        partly = _log_mass(low, end, width, lambda u: k * np.log1p(-u * u) + self._short(u, z, epsilon))
        whole = _log_mass(np.array([[-1.0]]), np.array([[1.0]]), width, lambda u: k * np.log1p(-u * u))
        return np.logaddexp(certain, partly) - whole

    def _short(self, u: Array, z: Array, epsilon: float) -> Array:
        loss = self.k * np.log1p(z * (z - 2 * u) / (1 - (u - z) ** 2))
        return np.log(np.fmax(-np.expm1(epsilon - loss), 0))


_HALVINGS = np.concatenate([-(2.0 ** np.arange(2, -46, -1)), 2.0 ** np.arange(-46, 3)])


def _nodes(edges: Array) -> tuple[Array, Array]:
    """Points between the columns of edges, and the logarithms of their steps; flat for one row."""
    half = np.diff(edges, axis=1)[:, :, None] / 2
    at = (edges[:, :-1, None] + half + half * _NODES).reshape(edges.shape[0], -1)
    with np.errstate(divide="ignore"):
        steps = np.log(half * _WEIGHTS).reshape(edges.shape[0], -1)
    return (at[0], steps[0]) if edges.shape[0] == 1 else (at, steps)


def _log_geometric(v: Array, n: float) -> Array:
    """log of the density of v = log(g/n), up to a constant: two χ² with n degrees of freedom, less their ratio."""
    return n * (v - np.expm1(v)) + np.log(k0e(n * np.exp(v)))


def _log_mass(low: Array, high: Array, width: float, log_f: Callable[[Array], Array]) -> Array:
    """log ∫ e^log_f du from low to high, which are columns; panels crowd at both ends and about 0."""
    share = 0.5 ** np.arange(45)
    inner = width * np.array([-30.0, -12.0, -6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 12.0, 30.0])
    edges = np.concatenate(
        [low, low + (high - low) * share, high - (high - low) * share, high, np.clip(inner + 0 * low, low, high)], 1
    )
    with np.errstate(all="ignore"):
        u, log_step = _nodes(np.repeat(np.sort(edges, axis=1), 2 if low.size == 1 else 1, axis=0))
        values = log_f(u[: low.shape[0]]) + log_step[: low.shape[0]]
        return log_sum(np.where(np.isnan(values), -np.inf, values), axis=1)


def _bend(s: float, m: int, d: int, bound: str, slow: bool = False) -> Case:
    k = (m - d - 1) / 2
    a = s / math.sqrt(2 * k + 2)
    sides = (one_row if bound == "exact" else any_loss)(s, k)
    return Case(
        "QuadraticPerturbation",
        f"{bound}, s {s:g}, m {m}, d {d}",
        lambda accounting: accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=ADD_REMOVE, bound=bound),
        sides,
        epsilons=(0.0, 0.1 * a, a, 3 * a, 10 * a, 30 * a, s / 4, s / 2 * (1 - 1e-6), 1.0, 20.0),
        orders=(),
        looseness=2.0 if slow else 2e-3,
        resolved=(1e-280 if s > 1e-6 else 1e-12) if bound == "glm" else 1e-300,
        slow=slow,
    )


def _replaced(s: float, m: int, d: int, slow: bool = False) -> Case:
    k = (m - d - 1) / 2
    a = s * math.sqrt(2) / math.sqrt(2 * k + 2)
    sides: tuple[Definition, ...] = one_row(s, k)
    return Case(
        "QuadraticPerturbation",
        f"replaced, s {s:g}, m {m}, d {d}",
        lambda accounting: accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=REPLACE_ONE),
        (*sides, Swap(s, k)) if d > 1 else sides,
        epsilons=(0.0, a, 5 * a, 15 * a, 1.0),
        orders=(),
        looseness=2.0 if slow else 1e-4,
        resolved=1e-300,
        error=1e-8,
        slow=slow,
    )


def _tilted(s: float, m: int, d: int, a: float, bound: str, slow: bool = False) -> Case:
    k = (m - d - 1) / 2
    size = math.hypot(s / math.sqrt(2 * k + 2), a)
    reached = tuple(with_noise(side, a, 1e-9) for side in one_row(s, k))
    if bound == "glm":  # a squared loss is one of them, and no more than this is proved
        proved = tuple(_at_most(with_noise(side, a, 1e-9)) for side in any_loss(s, k))
        reached = (*(at_least(one) for one in reached), *proved)
    return Case(
        "TiltAndBend",
        f"{bound}, s {s:g}, m {m}, d {d}, a {a:g}",
        lambda accounting: accounting.TiltAndBend(
            accounting.QuadraticPerturbation(1.0, m, d, s, adjacency=ADD_REMOVE, bound=bound), 1.0, a
        ),
        reached,
        epsilons=(0.0, 0.1 * size, size, 5 * size, 20 * size, *((1.0, 10.0) if size > 0.2 else ())),
        orders=(),
        looseness=5.0 if slow else 2e-3 if bound == "exact" else 0.02,
        resolved=1e-100,
        error=1e-7,
        slow=slow,
    )


def _at_most(one: Definition) -> Known:
    return Known(lambda epsilon: (-math.inf, one.log_delta(epsilon)[1]))


_BENDS = [(1e-100, 4, 3), (0.1, 4, 3), (1.0, 9, 4), (5.0, 11, 1), (50.0, 205, 100), (1e3, 2003, 1000), (1e-4, 40, 10)]
# far below the mean of a law with many degrees of freedom, and where next to nothing moves
_HARD = [(1e3, 100004, 3), (1e-100, 4, 3), (1e-30, 4, 3)]
_WIDE = [(s, m, d) for d in (1, 3, 2000) for m in (1, 2, 8, 1000, 10**5) for s in (1e-6, 0.02, 1.0, 30.0, 1e4)]
_TILTS = [
    (1.0, 9, 4, 0.5),
    (0.5, 2, 1, 0.7),
    (0.1, 40, 10, 0.02),
    (5.0, 40, 10, 3.0),
    (50.0, 205, 100, 0.3),
    (1e-3, 12, 1, 1e-3),
]

CASES = (
    *(_bend(*key, "exact") for key in _BENDS[1:]),
    *(_bend(*key, "glm") for key in dict.fromkeys(_BENDS + _HARD)),
    *(_bend(s, m + d, d, bound, slow=True) for s, m, d in _WIDE for bound in ("exact", "glm")),
    *(_replaced(*key) for key in _BENDS[1:5]),
    *(_replaced(s, m + d, d, slow=True) for s, m, d in _WIDE),
    *(_tilted(*key, bound) for key in _TILTS for bound in ("exact", "glm")),
    *(_tilted(s, m + d, d, a, "exact", slow=True) for s, m, d in _WIDE[::3] for a in (0.02, 1.0, 30.0) if s < 1e3 * a),
)
