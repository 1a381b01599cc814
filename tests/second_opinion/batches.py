"""Noisy sums of sampled batches: by coins, of a fixed size, with and without replacement.

Written from the mechanisms: the noise is N(0, s²), the gradients have norm one, and all that does not depend on the row
in question (or on a person's k rows) is taken off, so that the sum is a mixture of shifted normal laws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.special as sp

from tests.second_opinion.case import Case
from tests.second_opinion.definition import Array, Average, Definition, Pair, Product, log_sum
from tests.second_opinion.gaussian import REPLACE, log_normal

SMALL, WIDE = (0.0, 1e-3, 0.1, 1.0, 5.0), (0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)


def _log_mean(log_weights: Array, exponents: Array) -> Array:
    """log Σ w_j·e^{t_j}, where Σ w_j = 1: near 0 without cancellation. Exponents: one row for each j."""
    with np.errstate(all="ignore"):
        near = (np.exp(log_weights)[:, None] * np.expm1(np.minimum(exponents, 1.0))).sum(axis=0)
        close = (np.abs(near) < 0.5) & (exponents.max(axis=0) <= 1.0)
        return np.where(close, np.log1p(near), log_sum(log_weights[:, None] + exponents, axis=0))


def binomial(k: int, q: float) -> Array:
    """log of the probabilities of 0, …, k heads."""
    j = np.arange(k + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = np.where(k == j, 0.0, (k - j) * np.log1p(-q)) if q < 1 else np.where(k == j, 0.0, -np.inf)
    return sp.gammaln(k + 1) - sp.gammaln(j + 1) - sp.gammaln(k - j + 1) + j * math.log(q) + tails


class Mixture:
    """Σ w_j·N(ja, 1)."""

    def __init__(self, log_weights: Array, a: float) -> None:
        here = np.isfinite(log_weights)
        self.log_weights, self.shift = log_weights[here], np.arange(len(log_weights))[here] * a

    def log_density(self, x: Array) -> Array:
        """log of its density."""
        return log_sum(self.log_weights[:, None] + log_normal(x - self.shift[:, None]), axis=0)

    def log_ratio(self, x: Array) -> Array:
        """log of its density over that of N(0, 1)."""
        return _log_mean(self.log_weights, self.shift[:, None] * (x - self.shift[:, None] / 2))


def added(a: float, q: float, k: int = 1) -> tuple[Definition, Definition]:
    """k rows that join by coins, against none: both orders."""
    with_rows = Mixture(binomial(k, q), a)
    points = tuple(np.unique([-a, 0.0, a / 2, *(a * np.arange(1, k + 1)), (k + 1) * a]))
    removed = Pair(with_rows.log_density, with_rows.log_ratio, points)
    return removed, Pair(log_normal, lambda x: -with_rows.log_ratio(x), points)


def opposed(a: float, q: float, k: int = 1) -> tuple[Definition]:
    """k rows with the gradient 1 by coins, against k rows with the gradient −1: both orders are mirror images."""
    log_weights = binomial(k, q)
    rows = Mixture(log_weights, a)
    j = np.arange(1, k + 1) * a
    weights = np.exp(log_weights[1:] - j**2 / 2)[:, None]

    def loss(x: Array) -> Array:
        x, sign = np.abs(x), np.sign(x)
        with np.errstate(all="ignore"):
            top = (weights * 2 * np.sinh(np.minimum(j[:, None] * x, 300.0))).sum(axis=0)
            near = np.log1p(top * np.exp(-rows.log_ratio(-x)))
            far = rows.log_ratio(x) - rows.log_ratio(-x)
            return sign * np.where((j.max() * x < 300.0) & (near < 0.5), near, far)

    points = np.unique([*(a * np.arange(k + 1)), *(-a * np.arange(k + 1)), a / 2, -a / 2])
    return (Pair(rows.log_density, loss, tuple(points)),)


def _folded(a: float, p: float) -> Pair:
    """The symmetric pair above (1 − p)·N(0, 1) + p·N(a, 1) against N(0, 1), ε ≥ 0.

    Its loss has the law of theirs where that is positive, under both, the mirror image below 0, and nothing between:
    on x > a/2 it is x, on x < a/2 the point a − x seen from the other side.
    """
    mixture = Mixture(np.array([np.log1p(-p) if p < 1 else -np.inf, math.log(p)]), a)

    def log_p(x: Array) -> Array:
        return np.where(x > a / 2, mixture.log_density(x), log_normal(a - x))

    def loss(x: Array) -> Array:
        return np.where(
            x > a / 2, mixture.log_ratio(np.maximum(x, a / 2)), -mixture.log_ratio(np.maximum(a - x, a / 2))
        )

    still = (1 - p) * math.erf(a / 2 / math.sqrt(2))
    return Pair(log_p, loss, (-a - 1, 0.0, a / 2, a, 2 * a + 1), still=still)


def fixed(s: float, m: int, n: int) -> Definition:
    """m different rows of n, one replaced: the batch without it is sure, the row moves the sum by 2."""
    return _folded(2 / s, m / n)


def drawn(s: float, m: int, n: int) -> Definition:
    """m draws from n rows, one of them replaced: given that it is drawn k times, the sum moves by 2k."""
    log_weights = binomial(m, 1 / n)
    p = -math.expm1(log_weights[0])
    k = 1 + np.flatnonzero(log_weights[1:] > -700)
    parts = tuple(_folded(2 * int(i) / s, p) for i in k)
    return parts[0] if len(parts) == 1 else Average(tuple(np.exp(log_weights[k]) / p), parts)


def attained(s: float, log_weights: Array) -> tuple[Definition, Definition]:
    """Data: all other gradients are −1, so is the row's after the change, and before it was 1."""
    mixture = Mixture(log_weights, 2 / s)
    points = tuple(np.unique([*mixture.shift, -2 / s, 1 / s, mixture.shift[-1] + 2 / s]))
    return Pair(mixture.log_density, mixture.log_ratio, points), Pair(
        log_normal, lambda x: -mixture.log_ratio(x), points
    )


# --- cases -------------------------------------------------------------------------------------------------------


def _times(definitions: tuple[Definition, ...], steps: int) -> tuple[Definition, ...]:
    return definitions if steps == 1 else tuple(Product(((one, steps),)) for one in definitions)


def _epsilons(s: float) -> tuple[float, ...]:
    return WIDE if s < 0.3 else SMALL


def _sums(mechanism: str, note: str, given: tuple[Any, ...], definitions: tuple[Definition, ...], **other: Any) -> Case:
    """A case about sums with noise `given[0]`, of `given[-1]` steps."""
    return Case(
        mechanism,
        f"noise {given[0]:g}, {note}, {given[-1]} steps{other.pop('also', '')}",
        lambda accounting: getattr(accounting, mechanism)(*given),
        _times(definitions, given[-1]),
        **{"epsilons": _epsilons(given[0]), "looseness": 1e-3, "resolved": 1e-9, **other},
    )


def _coins(s: float, q: float, steps: int, k: int = 1, **other: Any) -> Case:
    loose = {} if k == 1 else {"rdp_looseness": 0.03}  # of large orders
    case = _sums("DPSGD", f"rate {q:g}, {k} rows", (s, q, steps), added(1 / s, q, k), **loose, **other)
    return replace(case, make=lambda accounting: accounting.DPSGD(s, q, steps, group_size=k))


def _replaced(s: float, q: float, steps: int, k: int = 1, **other: Any) -> Case:
    loose = {"rdp_looseness": 3.2}  # large orders take the Gaussian mechanism of both rows in all steps
    case = _sums("DPSGD", f"rate {q:g}, {k} rows replaced", (s, q, steps), opposed(1 / s, q, k), **loose | other)
    return replace(case, make=lambda accounting: accounting.DPSGD(s, q, steps, adjacency=REPLACE, group_size=k))


def _fixed(s: float, m: int, n: int, steps: int, **other: Any) -> Case:
    given, definition = (s, m, n, steps), fixed(s, m, n)
    return _sums("SampledWithoutReplacement", f"{m} of {n}", given, (definition,), **other)


def _drawn(s: float, m: int, n: int, steps: int, **other: Any) -> Case:
    return _sums("SampledWithReplacement", f"{m} of {n}", (s, m, n, steps), (drawn(s, m, n),), **other)


def _attained(replacement: bool, s: float, m: int, n: int, steps: int, **other: Any) -> Case:
    """One data set: nothing is promised that it breaks."""
    name = "SampledWithReplacement" if replacement else "SampledWithoutReplacement"
    log_weights = binomial(m, 1 / n) if replacement else np.log([1 - m / n, m / n])
    other |= {"looseness": None, "rdp_looseness": None}
    return _sums(name, f"one data set, {m} of {n}", (s, m, n, steps), attained(s, log_weights), **other)


def anywhere(rng: np.random.Generator) -> Case:
    """One or a few steps of any of the mechanisms, with numbers from where people never go."""
    s, steps = float(10 ** rng.uniform(-1.7, 4)), int(rng.choice([1, 1, 1, 2, 5]))
    if rng.random() < 0.5:
        q, k = float(10 ** rng.uniform(-6, 0)), int(rng.choice([1, 1, 2, 7]))
        made = (_coins if rng.random() < 0.5 else _replaced)(s, q, steps, k)
    else:
        n = int(10 ** rng.uniform(0.3, 6))
        m = int(np.clip(n * 10 ** rng.uniform(-6, 0), 1, n))
        kind = rng.integers(3)
        if kind == 0:
            made = _fixed(s, m, n, steps)
        elif kind == 1:
            made = _drawn(s, min(m, 12), n, steps)
        else:
            made = _attained(bool(rng.integers(2)), s, min(m, 12), n, steps)
    return replace(made, looseness=None, rdp_looseness=None)


def _all() -> Iterator[Case]:
    for s, q in ((0.05, 1e-3), (1.0, 0.01), (1.0, 1.0), (20.0, 0.3), (1e4, 1e-6)):
        yield _coins(s, q, 1, slow=s != 1)
        yield _replaced(s, q, 1, slow=s != 1)
    yield _coins(0.02, 0.5, 1, slow=True)
    yield _replaced(0.02, 0.5, 1, rdp_looseness=7.1, slow=True)
    yield _coins(0.3, 1e-6, 1, looseness=6e4, slow=True)  # no grid is fine enough for so small a rate
    yield _replaced(0.3, 1e-6, 1, looseness=7e4, slow=True)
    for s, q, k in ((0.1, 0.5, 1), (0.5, 0.5, 5), (1.0, 0.5, 20), (2.0, 0.5, 40)):
        yield _coins(s, q, 1, k, slow=True)
        yield _replaced(s, q, 1, k, slow=k != 5)
    for s, q, steps in ((0.06, 1e-3, 2), (0.1, 0.01, 3), (1.0, 0.02, 100), (5.0, 0.5, 1000)):
        above_0 = {"epsilons": WIDE[1:]} if s < 0.3 else {}  # at ε = 0 the grids of small noise are too coarse
        yield _coins(s, q, steps, slow=True, **above_0)
        yield _replaced(s, q, steps, slow=True)
    yield _coins(0.06, 1e-3, 2, epsilons=(0.0,), looseness=300.0, orders=(), slow=True, also=", at 0")
    yield _coins(1.0, 0.1, 10, 3, slow=True)
    yield _replaced(1.0, 0.1, 10, 3, slow=True)
    for s, m, n in ((0.02, 1, 2), (0.049, 500, 1000), (0.1, 1, 10**6), (1.0, 10, 1000), (1e4, 1, 10**6)):
        yield _fixed(s, m, n, 1)
        yield _attained(False, s, m, n, 1)
    yield _fixed(3.0, 7, 7, 1)
    for s, m, n, steps in ((0.05, 1, 1000, 2), (0.085, 1, 1000, 20), (0.09, 3, 100, 3), (0.12, 1, 50, 5)):
        yield _fixed(s, m, n, steps, slow=steps > 4)
        yield _attained(False, s, m, n, steps, slow=steps != 3)
    for s, m, n in ((1.0, 3, 10), (4.0, 142, 10_000)):
        yield _fixed(s, m, n, 2, slow=True)
    yield _fixed(1.0, 10, 200, 30, slow=True)
    yield _attained(False, 1.0, 10, 200, 30, slow=True)
    for s, m, n in ((0.05, 2, 2), (0.1, 3, 1000), (1.0, 20, 2), (1.0, 2, 3), (30.0, 5, 10**6), (1e4, 10, 20)):
        yield _drawn(s, m, n, 1, slow=m > 5)
        yield _attained(True, s, m, n, 1)
    for s, m, n, steps in ((0.08, 2, 1000, 4), (1.0, 3, 10, 2), (1.0, 100, 2, 2), (2.0, 10, 200, 30)):
        yield _drawn(s, m, n, steps, slow=True)
        yield _attained(True, s, m, n, steps, slow=True)


CASES = tuple(_all())
