"""Objective perturbation: the law that each theorem names, and actual minimisers of one coefficient.

Write a = L/σ and κ = R²/λ. The laws are functions of v ~ N(0, 1), maximised by trying; the minimisers' densities follow
from b = −J'(θ), which is normal, and are exact for any rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special as sp

from tests.second_opinion.case import ORDERS, Case
from tests.second_opinion.definition import Array, Bracket, Definition, Known, Pair, log_integral
from tests.second_opinion.gaussian import REPLACE, log_normal, shifted, wide

_LOGITS = np.linspace(-60, 60, 121)
_GOLDEN = (math.sqrt(5) - 1) / 2


# --- the laws of the theorems ------------------------------------------------------------------------------------


def logistic_loss(a: float, kappa: float) -> Callable[[Array], Array]:
    """v ↦ max over p in [0, 1] of a²p²/2 + a·p·v + log(1 + κ·p(1 − p)): T1."""

    def at(logit: Array, v: Array) -> Array:
        p, rest = sp.expit(logit), sp.expit(-logit)
        return a * p * (a * p / 2 + v) + np.log1p(kappa * p * rest)

    def climbed(logit: Array, v: Array) -> Array:
        low, high = logit - 1, logit + 1
        for _ in range(34):
            left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            better = at(left, v) > at(right, v)
            low, high = np.where(better, low, left), np.where(better, right, high)
        return at((low + high) / 2, v)

    def loss(v: Array) -> Array:
        best = np.maximum(0.0, a * (a / 2 + v))  # p = 0 and p = 1
        tried = at(_LOGITS[:, None], v)
        peak, which = np.nonzero((tried[1:-1] >= tried[:-2]) & (tried[1:-1] > tried[2:]))
        np.maximum.at(best, which, climbed(_LOGITS[1 + peak], v[which]))
        return best

    return loss


def logistic(a: float, kappa: float) -> Pair:
    """T1's law."""
    points = (-a - 1, -a / 2, 0.0, kappa / a - a, kappa / a, 1.0)
    return Pair(log_normal, logistic_loss(a, kappa), tuple(np.clip(points, -1e9, 1e9)), whole=False)


def monotone(a: float, ratio: float) -> Pair:
    """T3's law: log(1 + β/λ) + max(0, a²/2 + a·v)."""
    top = math.log1p(ratio)
    return Pair(log_normal, lambda v: top + np.maximum(0.0, a * (a / 2 + v)), (-a - 1, -a / 2, 0.0, 1.0), whole=False)


def two_signed(a: float, shift: float) -> Pair:
    """shift + a²/2 + |a·v|: T4's law with log(1 + β/λ), Theorem 3.1's with −log(1 − β/λ), half-normal noise with 0."""
    return Pair(log_normal, lambda v: shift + a * a / 2 + a * np.abs(v), (-1.0, 0.0, a, 1.0), whole=False)


def non_glm(a: float, ratio: float, d: int) -> Known:
    """Theorem G.2, restored: −d·log(1 − β/λ) + a²/2 + log E[e^{(α − 1)·a·Z}]/(α − 1), Z ~ χ_d."""
    fixed = -d * math.log1p(-ratio) + a * a / 2
    log_root = (d / 2 - 1) * math.log(2) + sp.gammaln(d / 2)

    def at(alpha: float) -> Bracket:
        s = alpha - 1

        def log_f(z: Array) -> Array:
            with np.errstate(all="ignore"):
                inside, z = z > 0, np.maximum(z, 1e-300)
                chi = np.where(inside, (d - 1) * np.log(z) - z * z / 2 - log_root, -np.inf)
                gain = np.where(s * a * z < 1e-3, s * a * z * (1 + s * a * z / 2), np.expm1(np.minimum(s * a * z, 600)))
                return chi + (np.log(a * z) if not s else np.where(s * a * z > 500, s * a * z, np.log(gain)))

        found = log_integral(log_f, (0.0, math.sqrt(d), math.sqrt(d) + 1))
        found = math.exp(found) if not s else float(np.logaddexp(0, found)) / s
        return fixed + found, fixed + found

    return Known(renyi_at=at)


def kifer(sigma: float, lam: float, lipschitz: float, smoothness: float) -> Known:
    """Theorem 2.8: δ = 2·exp(−(σ²ε²/L² − 4ε)/8) where λ ≥ 2β/ε."""

    def at(epsilon: float) -> Bracket:
        found = math.log(2) - ((sigma * epsilon / lipschitz) ** 2 - 4 * epsilon) / 8
        found = min(found, 0.0) if lam * epsilon >= 2 * smoothness else 0.0
        return found, found

    return Known(log_delta_at=at)


def log_noise(epsilon: Array, a: float) -> Array:
    """log δ of normal noise, ε of either sign, infinite ones too."""
    upper, lower = sp.log_ndtr(a / 2 - epsilon / a), epsilon + sp.log_ndtr(-a / 2 - epsilon / a)
    with np.errstate(all="ignore"):
        return upper + np.log(-np.expm1(np.fmin(lower - upper, -1e-17)))


def with_noise(law: Pair, a_out: float, tolerance: float = 1e-13) -> Known:
    """The sum of a law's loss and a Gaussian mechanism's: given v, the Gaussian one has ε − loss(v) left."""

    def delta(epsilon: float) -> Bracket:
        found = log_integral(lambda v: law.log_p(v) + log_noise(epsilon - law.loss(v), a_out), law.points, tolerance)
        return found, found

    def renyi(alpha: float) -> Bracket:
        found = law.renyi(alpha)[0] + alpha * a_out**2 / 2
        return found, found

    return Known(delta, renyi, of_a_law=True)


def one_after_the_other(one: Definition, at_least: Definition) -> Known:
    """A row that is removed and one that is added, from one profile for both: min over t of δ(t) + e^t·δ(ε − t).

    No split has to be the best one; `at_least` is a mechanism whose δ is attained.
    """

    def log_profile(epsilon: float) -> float:
        if epsilon >= 0:
            return one.log_delta(epsilon)[1]
        return float(np.logaddexp(math.log(-math.expm1(epsilon)), epsilon + one.log_delta(-epsilon)[1]))

    def log_split(t: float, epsilon: float) -> float:
        return float(np.logaddexp(log_profile(t), t + log_profile(epsilon - t)))

    def delta(epsilon: float) -> Bracket:
        ends = (epsilon / 2 - 3, epsilon / 2 + 3)
        best = scipy.optimize.minimize_scalar(log_split, args=(epsilon,), bounds=ends, options={"xatol": 1e-6})
        return at_least.log_delta(epsilon)[0], min(float(best.fun), 0.0)

    return Known(delta, lambda alpha: (at_least.renyi(alpha)[0], math.inf))


# --- actual minimisers -------------------------------------------------------------------------------------------

Rows = tuple[tuple[float, float, float], ...]  # x, y, how often


def minimisers(
    sigma: float, lam: float, rows: Rows, x: float, y: float, margin: float = 0.0, weight: float = 1.0
) -> tuple[Pair, Pair]:
    """argmin Σ log(1 + e^{margin − yxθ}) + λθ²/2 + bθ, b ~ N(0, σ²), with the row (x, y) of some weight and without."""

    def slopes(theta: Array, x: float, y: float) -> tuple[Array, Array]:
        p, rest = sp.expit(margin - y * x * theta), sp.expit(y * x * theta - margin)
        return -y * x * p, x * x * p * rest

    def whole(theta: Array) -> tuple[Array, Array]:
        parts = [(n, *slopes(theta, *row)) for *row, n in rows]
        return lam * theta + sum(n * g for n, g, _ in parts), lam + sum(n * h for n, _, h in parts)

    def without(theta: Array) -> Array:
        first, second = whole(theta)
        return log_normal(first / sigma) - math.log(sigma) + np.log(second)

    def loss(theta: Array) -> Array:
        (first, second), (g, h) = whole(theta), (weight * part for part in slopes(theta, x, y))
        return g * (2 * first + g) / (2 * sigma**2) - np.log1p(h / second)

    reach = (sum(n * abs(row_x) for row_x, _, n in rows) + 50 * sigma) / lam
    low, high = np.full(61, -reach), np.full(61, reach)
    for _ in range(200):  # where J' is −30σ, …, 30σ
        middle = (low + high) / 2
        above = whole(middle)[0] > sigma * np.arange(-30, 31)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    points = tuple(np.unique(high))
    return Pair(without, loss, points), Pair(lambda t: without(t) - loss(t), lambda t: -loss(t), points)


# --- cases -------------------------------------------------------------------------------------------------------


def _case(bound: str, given: dict[str, Any], definitions: tuple[Definition, ...], note: str = "", **other: Any) -> Case:
    named = ", ".join(f"{name} {value:g}" if name != "adjacency" else value for name, value in given.items())
    a = given.get("lipschitz", 1.0) / given["sigma"]
    other = {"epsilons": wide(a), "orders": ORDERS} | other
    return Case(
        "ObjectivePerturbation",
        f"{bound}{note}, {named}",
        lambda accounting: accounting.ObjectivePerturbation(bound=bound, **given),
        definitions,
        **other,
    )


def _laws() -> Iterator[Case]:
    for sigma, lam in (
        (0.02, 1e-6),
        (0.3, 1e-3),
        (1.0, 0.5),
        (3.0, 0.3),
        (5.0, 20.0),
        (50.0, 1e6),
        (1e4, 1e-6),
        (1e4, 1e6),
        (1e-3, 1e-6),
        (1e6, 1e9),
    ):
        a, ratio = 1 / sigma, 0.25 / lam
        numbers = {"sigma": sigma, "lam": lam}
        coarse = 1e-7 if sigma == 1e6 else 1e-8  # what the search for the maximum leaves
        yield _case("logistic", numbers, (logistic(a, 1 / lam),), rdp_looseness=coarse, slow=sigma != 3.0)
        yield _case("monotone", numbers, (monotone(a, ratio),))
        yield _case("two-signed", numbers, (two_signed(a, math.log1p(ratio)),))
        if ratio < 1:
            yield _case("glm", numbers, (two_signed(a, -math.log1p(-ratio)),))
            for d in (1, 3, 1000):
                law = non_glm(a, ratio, d)
                yield _case("non-glm", numbers | {"dimension": d}, (law,), epsilons=(), rdp_looseness=1e-7, slow=d == 3)
        profile = kifer(sigma, lam, 1.0, 0.25)
        yield _case("kifer2012", numbers, (profile,), epsilons=(0.1, 1.0, 5.0, 20.0, 1e3), orders=())
    numbers = {"sigma": 7.0, "lam": 3.0, "lipschitz": 20.0, "smoothness": 5.0}
    yield _case("logistic", numbers, (logistic(20 / 7, 400 / 3),), slow=True)
    yield _case("monotone", numbers, (monotone(20 / 7, 5 / 3),))


def _replaced() -> Iterator[Case]:
    for sigma, lam in ((0.05, 1e-2), (1.0, 0.5), (5.0, 50.0), (5.0, 1.0), (1e4, 1e6)):
        numbers = {"sigma": sigma, "lam": lam, "adjacency": REPLACE}
        twice, a = shifted(2 / sigma), 1 / sigma
        if lam >= 2 * sigma**2:
            yield _case("logistic", numbers, (twice,), epsilons=wide(2 * a), rdp_looseness=None)
        else:
            definition = one_after_the_other(logistic(a, 1 / lam), twice)
            at = (0.1, 1.0, 5.0) if sigma > 0.1 else (400.0, 1000.0, 2000.0)
            yield _case("logistic", numbers, (definition,), epsilons=at, looseness=1e-4, slow=True)
        definition = one_after_the_other(monotone(a, 0.25 / lam), twice)
        yield _case("monotone", numbers, (definition,), epsilons=(0.5, 5.0), looseness=1e-4, slow=True)


def _actual() -> Iterator[Case]:
    data: tuple[tuple[str, Rows], ...] = (
        ("no rows", ()),
        ("a few rows", ((0.5, 1.0, 1.0), (-0.3, -1.0, 1.0), (1.0, -1.0, 2.0))),
        ("many of the opposite", ((1.0, -1.0, 1e4),)),
        ("millions of tiny ones", ((1e-3, -1.0, 1e8),)),
    )
    for sigma, lam in ((0.05, 1e-3), (0.3, 0.2), (1.0, 0.5), (5.0, 60.0), (100.0, 1e-3)):
        for words, rows in data:
            pairs = minimisers(sigma, lam, rows, 1.0, 1.0)
            other = {"looseness": None, "rdp_looseness": None, "error": 1e-7, "slow": words != "many of the opposite"}
            for bound in ("logistic", "monotone", "two-signed"):
                yield _case(bound, {"sigma": sigma, "lam": lam}, pairs, f" against {words}", **other)
            if lam > 0.25:
                yield _case("glm", {"sigma": sigma, "lam": lam}, pairs, f" against {words}", **other)


def _weighted() -> Iterator[Case]:
    """A row of weight at most 1, beside rows of whatever weights (T48)."""
    rows = ((1.0, -1.0, 1e4), (0.7, 1.0, 0.03))
    for sigma, lam, weight in ((0.3, 0.2, 0.5), (1.0, 0.5, 0.03), (5.0, 60.0, 1.0), (2.0, 1e-2, 0.9)):
        pairs = minimisers(sigma, lam, rows, 1.0, 1.0, margin=1.0, weight=weight)
        other = {"looseness": None, "rdp_looseness": None, "error": 1e-7, "slow": weight != 0.9}
        for bound in ("logistic", "monotone", "two-signed"):
            yield _case(bound, {"sigma": sigma, "lam": lam}, pairs, f" at weight {weight:g}", **other)


def _approximate() -> Iterator[Case]:
    for sigma, lam, tau, out in (
        (5.0, 60.0, 1e-6, 1e-3),
        (1.0, 0.5, 1e-2, 0.05),
        (0.3, 1e-3, 1e-9, 1.0),
        (3.0, 2.0, 1.0, 0.1),
    ):
        a, a_out = 1 / sigma, 2 * tau / lam / out
        laws = {"logistic": logistic(a, 1 / lam), "monotone": monotone(a, 0.25 / lam)}
        laws["two-signed"] = two_signed(a, math.log1p(0.25 / lam))
        if lam > 0.25:
            laws["glm"] = two_signed(a, -math.log1p(-0.25 / lam))
        for bound, law in laws.items():
            yield Case(
                "ApproximateMinima",
                f"{bound}, sigma {sigma:g}, lam {lam:g}, tau {tau:g}, output noise {out:g}",
                lambda accounting, given=(sigma, lam, bound, tau, out): accounting.ApproximateMinima(
                    accounting.ObjectivePerturbation(given[0], given[1], bound=given[2]), *given[3:]
                ),
                (with_noise(law, a_out),),
                looseness=1e-4,
                resolved=1e-13,
                slow=bound == "monotone" or (bound == "logistic" and sigma != 1.0),
            )


def anywhere(rng: np.random.Generator) -> Case:
    """One theorem's law, or a few random rows, with numbers from where people never go."""
    sigma, lam = float(10 ** rng.uniform(-1.7, 4)), float(10 ** rng.uniform(-6, 6))
    laws = {"logistic": logistic(1 / sigma, 1 / lam), "monotone": monotone(1 / sigma, 0.25 / lam)}
    laws["two-signed"] = two_signed(1 / sigma, math.log1p(0.25 / lam))
    bound = str(rng.choice(list(laws)))
    numbers, loose = {"sigma": sigma, "lam": lam}, {"looseness": None, "rdp_looseness": None}
    if rng.random() < 0.5:
        return _case(bound, numbers, (laws[bound],), **loose)
    rows = tuple(
        (float(rng.uniform(-1, 1)), float(rng.choice([-1, 1])), float(10 ** rng.uniform(0, 5)))
        for _ in range(rng.integers(4))
    )
    return _case(bound, numbers, minimisers(sigma, lam, rows, 1.0, 1.0), f" against {rows}", error=1e-7, **loose)


CASES = (*_laws(), *_replaced(), *_actual(), *_weighted(), *_approximate())
