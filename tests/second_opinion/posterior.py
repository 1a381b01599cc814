"""One draw from the posterior of a ridge regression, written down again with hundreds of digits.

θ ~ N(θ*, (γΛ)⁻¹). A row (x, y) more makes Λ + xxᵀ of Λ, and the density ratio of θ looks at u = √γ(y − xᵀθ) alone.
Without the row u is normal with mean √ρ and variance h = xᵀΛ⁻¹x; with it, by Sherman and Morrison, mean and variance
are those over 1 + h.
"""

from __future__ import annotations

import math
from functools import lru_cache

from mpmath import mp, mpf

from tests.second_opinion.case import Case
from tests.second_opinion.definition import Bracket, Known


class Normal:
    """N(mean, variance) in many digits."""

    def __init__(self, mean: mpf, variance: mpf) -> None:
        self.mean, self.variance = mean, variance

    def below(self, x: mpf) -> mpf:
        """P[X < x], with all digits of small values."""
        return mp.erfc((self.mean - x) / mp.sqrt(2 * self.variance)) / 2

    def above(self, x: mpf) -> mpf:
        """P[X > x]."""
        return mp.erfc((x - self.mean) / mp.sqrt(2 * self.variance)) / 2


def pair(leverage: float, shift: float) -> tuple[Normal, Normal]:
    """The laws of u without the row and with it."""
    h, root = mpf(leverage), mp.sqrt(mpf(shift))
    return Normal(root, h), Normal(root / (1 + h), h / (1 + h))


def log_hockey_stick(p: Normal, q: Normal, epsilon: float) -> float:
    """log of ∫ (p − e^ε·q)₊, from the points where the two densities cross: roots of a quadratic polynomial."""
    a = (1 / q.variance - 1 / p.variance) / 2
    b = p.mean / p.variance - q.mean / q.variance
    c = (q.mean**2 / q.variance - p.mean**2 / p.variance + mp.log(q.variance / p.variance)) / 2 - mpf(epsilon)
    room = b * b - 4 * a * c
    if room <= 0:  # p is above e^ε·q everywhere, which densities allow at ε < 0 only, or nowhere
        return float(mp.log(1 - mp.exp(epsilon))) if a > 0 else float("-inf")
    low, high = sorted(((-b - mp.sqrt(room)) / (2 * a), (-b + mp.sqrt(room)) / (2 * a)))
    if a > 0:  # outside the roots
        mass = [law.below(low) + law.above(high) for law in (p, q)]
    elif low > p.mean:  # inside, with the tails that are small
        mass = [law.above(low) - law.above(high) for law in (p, q)]
    else:
        mass = [law.below(high) - law.below(low) for law in (p, q)]
    found = mass[0] - mp.exp(mpf(epsilon)) * mass[1]
    return float(mp.log(found)) if found > 0 else float("-inf")


def renyi_of(p: Normal, q: Normal, alpha: float) -> float:
    """The Rényi divergence by completing the square in ∫ p^α·q^{1 − α}; at 1 the mean of log p/q under p."""
    alpha = mpf(alpha)
    if alpha == 1:
        moved = (p.mean - q.mean) ** 2 + p.variance
        return float((moved / q.variance - 1 + mp.log(q.variance / p.variance)) / 2)
    s = alpha - 1
    a = alpha / (2 * p.variance) - s / (2 * q.variance)
    if a <= 0:
        return float("inf")
    b = alpha * p.mean / p.variance - s * q.mean / q.variance
    c = alpha * p.mean**2 / (2 * p.variance) - s * q.mean**2 / (2 * q.variance)
    log_total = b * b / (4 * a) - c - (alpha * mp.log(p.variance) - s * mp.log(q.variance) + mp.log(2 * a)) / 2
    return float(log_total / s)


def _digits(leverage: float) -> int:
    """Enough for masses that differ by h, and for a δ of 1e-300."""
    return 400 + int(3 * max(-math.log10(leverage), 0))


@lru_cache(maxsize=4096)
def log_delta(leverage: float, shift: float, epsilon: float) -> float:
    """log δ(ε) for a row that is added or removed, the larger of both."""
    with mp.workdps(_digits(leverage)):
        p, q = pair(leverage, shift)
        return max(log_hockey_stick(p, q, epsilon), log_hockey_stick(q, p, epsilon))


@lru_cache(maxsize=4096)
def rdp(leverage: float, shift: float, alpha: float) -> float:
    """Rényi divergence of order α, the larger of both."""
    with mp.workdps(_digits(leverage)):
        p, q = pair(leverage, shift)
        return max(renyi_of(p, q, alpha), renyi_of(q, p, alpha))


def one_draw(leverage: float, shift: float) -> Known:
    """Both orders at once."""

    def twice(value: float) -> Bracket:
        return value, value

    return Known(
        lambda epsilon: twice(log_delta(leverage, shift, epsilon)), lambda alpha: twice(rdp(leverage, shift, alpha))
    )


def shift_for(leverage: float, separation: float) -> float:
    """ρ with which a draw of small leverage is like Gaussian noise of this sensitivity over noise."""
    return separation**2 * (1 + leverage) ** 2 / leverage


def _case(leverage: float, separation: float, slow: bool) -> Case:
    shift = shift_for(leverage, separation)
    size = separation + min(leverage, 30.0)
    pole = 1 / leverage
    orders = {
        1.0,
        1 + 1e-6,
        1.001,
        1.5,
        2.0,
        64.0,
        1e4,
        *(1 + pole * share for share in (0.5, 0.999, 1 - 1e-13, 1 - 3e-15)),
    }
    return Case(
        "PosteriorSampling",
        f"leverage {leverage:g}, separation {separation:g}",
        lambda accounting: accounting.PosteriorSampling(leverage, shift),
        (one_draw(leverage, shift),),
        epsilons=(0.0, 0.01 * size, size, 5 * size, size * size / 2 + 20 * size, 0.1, 10.0),
        # one order where all that is left of 1 − (α − 1)·h is rounding
        orders=tuple(sorted(order for order in orders if order <= 1e14)),
        looseness=1e-2 if slow else 1e-8,
        rdp_looseness=0.5 if separation > 1e-6 else None,
        resolved=1e-13 if slow else 1e-300,
        slow=slow,
    )


_QUICK = [(1e-100, 0.5), (1e-12, 1.0), (0.02, 0.0), (0.3, 1e-6), (1.618, 3.0), (1e3, 1.0), (1e6, 30.0)]
_WIDE = [
    (h, d)
    for h in (1e-100, 1e-30, 1e-12, 1e-6, 0.02, 0.3, 1.0, 1.618, 3.0, 50.0, 1e6)
    for d in (1e-40, 0.01, 1.0, 30.0, 1e3)
    if d * d / h < 1e99
]
CASES = tuple(_case(*key, slow=False) for key in _QUICK) + tuple(
    _case(*key, slow=True) for key in _WIDE if key not in _QUICK
)
