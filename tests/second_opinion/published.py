"""The published theorem on quadratic perturbation and its sharpened form, formula by formula from the paper.

Cortild and Cartis (2026), Theorem 3.1 with Lemmas D.1, D.2 and D.4: λ_min of W ~ Wishart_d(m) lies between a and b with
probability at most D·(γ(b/2, p) − γ(a/2, p)), p = (m − d + 1)/2; a σ² is asked for by ε₁ and α.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import gammainc, gammaln, log_ndtr, ndtr

from tests.second_opinion.case import Case
from tests.second_opinion.definition import Bracket, Definition, Known
from tests.second_opinion.wishart import ADD_REMOVE, one_row


@dataclass(frozen=True, eq=False)
class Theorem(Definition):
    """δ at ε by the best α, split of ε and δ₄: the least that the theorem allows for this σ²."""

    s: float  # L/σ², with L = 1
    m: int
    d: int
    rank: int
    sharpened: bool
    tolerance: float = 0.0
    anchor: float = 0.0
    sigma_out: float = 0.0

    def log_delta(self, epsilon: float) -> Bracket:
        inexact = self.tolerance or self.anchor
        found = self._split(epsilon) if inexact else self._exact(epsilon)[2]
        value = math.log(found) if 0 < found < 1 else (0.0 if found else -math.inf)
        return -math.inf, value

    def renyi(self, alpha: float) -> Bracket:
        return 0.0, math.inf

    def _below(self, x: float) -> float:
        m, d = self.m, self.d
        p = (m - d + 1) / 2
        log_d = (
            math.log(d)
            + gammaln(1.5)
            + gammaln((m + 1) / 2)
            - gammaln(d / 2 + 1)
            - gammaln(p)
            - gammaln((m - d + 2) / 2)
        )
        return math.exp(log_d + gammaln(p)) * float(gammainc(p, x / 2))

    def _asked(self, alpha: float, epsilon: float) -> float:
        """How much σ²/L must be, less what it is."""
        k = (self.m - self.d - 1) / 2
        if self.sharpened:
            need = (max(k / alpha, 0.5) + (self.rank + 1) / alpha) / epsilon
        else:
            need = 2 * ((k / alpha + 0.5) * 2 + 2 * (2 * self.rank + 2) / alpha) / epsilon
        return need - 1 / self.s

    def _exact(self, epsilon: float) -> tuple[float, float, float]:
        """α, δ₃ and δ₁ + δ₃."""
        if epsilon <= 0 or self._asked(1e12, epsilon) > 0:
            return math.inf, 1.0, 1.0
        alpha = brentq(lambda x: self._asked(math.exp(x), epsilon), -60, math.log(1e12), xtol=1e-15, rtol=1e-15)
        alpha = math.exp(alpha)
        third, width = self._below(alpha), (1 if self.sharpened else 2) * self.s
        if third >= 1:
            return alpha, 1.0, 1.0
        first = (self._below(alpha + width) - third) / (1 - third)
        return alpha, third, min(first + third, 1.0)

    def _split(self, epsilon: float) -> float:
        def of(point: np.ndarray) -> float:
            share, level = 1 / (1 + math.exp(-point[0])), math.exp(min(point[1], 0.0)) if self.anchor else 0.0
            alpha, third, exact = self._exact(epsilon * share)
            if exact >= 1 or not share < 1:
                return 0.0
            off = math.sqrt(2 * self.tolerance * self.s / alpha)
            if self.anchor:
                root = math.sqrt(2 * math.log(2 / (level * (1 - third)))) + math.sqrt(self.m) + math.sqrt(self.d)
                off += (root**2 + (2 * self.s if self.sharpened else 0.0)) * self.anchor / alpha
            ratio, left = 2 * off / self.sigma_out, epsilon * (1 - share)
            if self.sharpened:
                second = ndtr(ratio / 2 - left / ratio) - math.exp(left + log_ndtr(-ratio / 2 - left / ratio))
            else:
                second = 1.25 * math.exp(-((left / ratio) ** 2) / 2)
            total = exact + second + level
            return math.log(total) if 0 < total < 1 else 0.0

        starts = [
            (a, b) for a in (-3.0, -1.0, 0.0, 1.0, 3.0, 5.0) for b in ((-40.0, -20.0, -8.0) if self.anchor else (0.0,))
        ]
        found = [
            minimize(of, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
            for start in starts
        ]
        return math.exp(min(float(one.fun) for one in found))


def _case(bound: str, scale: float, m: int, d: int, rank: int = 1, **inexact: float) -> Case:
    theorem = Theorem(
        1 / scale,
        m,
        d,
        rank,
        bound == "sharpened",
        inexact.get("tolerance", 0.0),
        inexact.get("anchor_error", 0.0),
        inexact.get("sigma_out", 0.0),
    )
    true = tuple(
        Known(lambda epsilon, side=side: (side.log_delta(epsilon)[0], -math.inf))
        for side in one_row(1 / scale, (m - d - 1) / 2)
    )
    return Case(
        "QuadraticPerturbation",
        f"{bound}, scale {scale:g}, m {m}, d {d}, rank {rank}, {inexact}",
        lambda accounting: accounting.QuadraticPerturbation(
            scale, m, d, adjacency=ADD_REMOVE, bound=bound, rank=rank, **inexact
        ),
        (theorem, *true) if d == 1 and not inexact else (theorem,),
        epsilons=(0.0, 0.1, 0.5, 1.0, 3.0, 10.0, *(() if inexact else (100.0,))),
        orders=(),
        looseness=1e-3 if inexact else 1e-6,
        resolved=1e-13,
        error=1e-9,
    )


_SHAPES = ((46.5, 200, 100), (10.3, 200, 100), (3.0, 12, 1), (200.0, 40, 4), (0.5, 60, 1), (1e4, 2500, 2000))
CASES = (
    *(_case(bound, *shape) for shape in _SHAPES for bound in ("sharpened", "published")),
    *(_case(bound, 100.0, 60, 5, 3) for bound in ("sharpened", "published")),
    *(_case(bound, 100.0, 60, 5, tolerance=1e-4, sigma_out=0.05) for bound in ("sharpened", "published")),
    *(
        _case(bound, 100.0, 60, 5, tolerance=1e-6, anchor_error=1e-4, sigma_out=0.05)
        for bound in ("sharpened", "published")
    ),
)
