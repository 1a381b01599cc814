"""Hockey-stick divergences of a Wishart matrix from the same matrix with one row's square added, removed or swapped.

W ~ Wishart_d(m) and a row x with s = ‖x‖²; k = (m − d − 1)/2 and ν = m − d + 1 = 2k + 2. Everything about W against
W + xxᵀ is in Y = s/(xᵀW⁻¹x) ~ χ²_ν, which the row moves by s (docs/theorems.md, T31). Where one row takes the place of
another one, all is in a correlation u with density ∝ (1 − u²)^k, which moves by z = s/g, and in an independent g.

All functions broadcast over (ε, s, k), take logarithms where sizes vary, and return log δ.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaln, gammainc, gammaincc, gammaln, k0e

from objpert_core._validation import FloatArray
from objpert_core.accounting.numerics.gaussian import log_1m_exp

SLACK = 1e-10  # of 1 + |log δ|: far above what quadratures are off by, and most differences of special functions
_UNIT = 1e-14  # times 1 + the condition number: four times what special functions were seen to be off by
_FAINT = 1e-290  # a share below this has few digits left, or none: it is replaced by a bound
_LINE, _LINE_WEIGHTS = (
    0.5 * (part + shift) for part, shift in zip(np.polynomial.legendre.leggauss(64), (1, 0), strict=True)
)
# of [0, 1], denser at 0, where an integrand begins like a power with a half in its exponent
_NODES, _WEIGHTS = np.square(_LINE), 2 * _LINE * _LINE_WEIGHTS
_SCAN = np.linspace(0.0, 1.0, 49)
_BELOW = 45.0  # nats below its largest value from which an integrand is left out


def log_floor(s: FloatArray, k: FloatArray) -> FloatArray:
    """log P[χ²_ν ≤ s]: the row stands out for certain, so that no δ at any ε is smaller."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(gammainc(k + 1, s / 2)))


def log_delta_removed(epsilon: FloatArray, s: FloatArray, k: FloatArray) -> FloatArray:
    """log δ at any real ε where P has the row and Q lacks it: the loss is s/2 − k·log(1 + s/Y) <= s/2.
    δ = S(y − s) − e^ε·S(y) with y = s/(1 − e^{(ε − s/2)/k}) and S = P[χ²_ν > ·]; 0 from ε = s/2 on."""
    epsilon, s, k = np.broadcast_arrays(*np.atleast_1d(epsilon, s, k))
    inside = epsilon < s / 2
    room = np.where(inside, s / 2 - epsilon, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        rate = room / k  # infinite at k = 0, where the loss is s/2
        below = s / np.expm1(rate)  # y − s
        found = log_apart(epsilon, log_upper(k + 1, below / 2), log_upper(k + 1, (below + s) / 2))
    found = np.where(k > 0, found, log_1m_exp(-room))
    return np.where(inside, _rounded_up(found), -np.inf)


def log_delta_added(epsilon: FloatArray, s: FloatArray, k: FloatArray) -> FloatArray:
    """log δ at any real ε where P lacks the row and Q has it: the loss is −k·log(1 − s/Y) − s/2, infinite for Y <= s.
    δ = F(y) − e^ε·F(y − s) with y = s/(1 − e^{−(ε + s/2)/k}), or s at k = 0, and F = P[χ²_ν <= ·]."""
    epsilon, s, k = np.broadcast_arrays(*np.atleast_1d(epsilon, s, k))
    rising = epsilon > -s / 2
    room = np.where(rising, epsilon + s / 2, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        over = s / np.expm1(room / k)  # y − s
        found = log_apart(epsilon, _log_lower(k + 1, (over + s) / 2), _log_lower(k + 1, over / 2))
    least = _rounded_up(log_floor(s, k))
    return np.where(rising, np.maximum(_rounded_up(found), least), log_1m_exp(np.minimum(epsilon, 0.0)))


def log_delta_swapped(epsilon: FloatArray, s: FloatArray, k: FloatArray) -> FloatArray:
    """log δ at any real ε where a row takes the place of an orthogonal one, both of squared length s (d >= 2)."""
    epsilon, s, k = (part.ravel() for part in np.broadcast_arrays(*np.atleast_1d(epsilon, s, k)))
    shape = np.broadcast_shapes(np.shape(epsilon), np.shape(s), np.shape(k))
    size = np.abs(epsilon)
    low, high = _window(size, s, k)
    edge = np.log(s / 2)
    start = np.maximum(low, edge)
    width = np.maximum(high - start, 0.0)
    log_g = start[:, None] + width[:, None] * _NODES
    log_f = _log_integrand(log_g, size[:, None], s[:, None], k[:, None])
    top = np.max(log_f, axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        total = top + np.log(np.exp(log_f - top[:, None]) @ _WEIGHTS * width)
    below = np.flatnonzero(low < edge)
    if below.size:
        total[below] = np.logaddexp(total[below], _log_mass(low[below], np.minimum(high, edge)[below], k[below]))
    found = np.minimum(_rounded_up(total), 0.0)
    # the pair is symmetric, so its profile at −ε follows from that at ε
    with np.errstate(divide="ignore"):
        mirrored = np.logaddexp(np.log(-np.expm1(-size)), found - size)
    return np.where(epsilon < 0, np.minimum(mirrored, 0.0), found).reshape(shape)


def _window(epsilon: FloatArray, s: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(low, high) of log g between which the integrand is worth adding."""
    mu = 2 * k + 3
    centre = np.log(mu)  # near the mode of g
    nats = np.maximum(-_log_h(s / mu, epsilon, k), 0.0) + _BELOW
    # h is at most 1, so that it cannot make up for a density that is e^{-nats} below the mode: at log g = centre − t
    # that is about e^{−μ(t − 1 + e^{−t})}. Below g = s/2, where h is 1, the density falls like a power
    least = np.minimum(centre - 1.1 * (nats / mu + np.sqrt(2 * nats / mu)), centre - 2 / mu)
    least = np.maximum(least, np.minimum(np.log(s / 2), centre) - 2 * _BELOW / mu)
    most = np.log(mu + 4 * np.sqrt(mu * nats) + 2 * nats)
    log_g = least[:, None] + (most - least)[:, None] * _SCAN
    value = _log_integrand(log_g, epsilon[:, None], s[:, None], k[:, None])
    keep = value >= value.max(axis=1, keepdims=True) - _BELOW
    first = np.maximum(keep.argmax(axis=1) - 1, 0)
    last = np.minimum(keep.shape[1] - keep[:, ::-1].argmax(axis=1), _SCAN.size - 1)
    rows = np.arange(first.size)
    return log_g[rows, first], log_g[rows, last]


def _log_mass(low: FloatArray, high: FloatArray, k: FloatArray) -> FloatArray:
    """log of the mass of log g between two ends, where its density grows like a power of g."""
    width = high - low
    log_f = _log_density(low[:, None] + width[:, None] * _LINE, k[:, None])
    top = np.max(log_f, axis=1)
    return np.asarray(top + np.log(np.exp(log_f - top[:, None]) @ _LINE_WEIGHTS * width))


def _log_density(log_g: FloatArray, k: FloatArray) -> FloatArray:
    """log of the density of log g, g = √(s₁₁·s₂₂) for independent χ²_{ν+1}."""
    half = k + 1.5
    g = np.exp(log_g)
    with np.errstate(divide="ignore"):
        return 2 * half * log_g + np.log(k0e(g)) - g - (2 * half - 2) * np.log(2) - 2 * gammaln(half)


def _log_integrand(log_g: FloatArray, epsilon: FloatArray, s: FloatArray, k: FloatArray) -> FloatArray:
    return _log_h(s / np.exp(log_g), epsilon, k) + _log_density(log_g, k)


def _log_h(z: FloatArray, epsilon: FloatArray, k: FloatArray) -> FloatArray:
    """log of the divergence of a correlation's law from the same law moved by z, for ε >= 0."""
    z, epsilon, k = np.broadcast_arrays(z, epsilon, k)
    apart = z >= 2
    z = np.where(apart, 1.0, z)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        inverse = np.exp(-epsilon / np.where(k > 0, k, 1.0))  # 1/Λ
        q = -np.expm1(-epsilon / np.where(k > 0, k, 1.0))  # (Λ − 1)/Λ
        root = np.sqrt(q * q + inverse * z * z)  # √((Λ − 1)² + Λz²)/Λ
        bottom = z + root
        above = z * (1 + z + inverse * z / (root + q)) / bottom  # 1 + u
        lower = inverse * z * (1 + z * (1 - z) / (root + q)) / bottom  # 1 + u − z
        x, moved = np.clip(above / 2, 0.0, 1.0), np.clip(lower / 2, 0.0, 1.0)
        found = log_apart(epsilon, _log_beta(k + 1, x), _log_beta(k + 1, moved))
        found = np.where(k > 0, found, np.log(z / 2))
    return np.where(apart, 0.0, found)


# --- shares of χ² and of beta laws, and their differences ------------------------------------------------------------

Share = tuple[FloatArray, FloatArray]
"""(log of a probability, log of a bound on how far the probability may be off); −∞ for the second where the first is
itself a bound from above, as probabilities below 1e-290 have."""


def log_apart(epsilon: FloatArray, log_p: Share, log_q: Share) -> FloatArray:
    """log(p − e^ε·q), at most log p, with the possible errors of p and q added: close numbers differ in few digits."""
    p, q = log_p[0], np.where(np.isneginf(log_q[1]), -np.inf, log_q[0])
    gap = np.minimum(np.where(np.isneginf(q), -np.inf, epsilon + q - p), 0.0)
    off = np.logaddexp(log_p[1], epsilon + log_q[1])
    off = np.logaddexp(off, p + gap + np.log(_UNIT * (1 + np.abs(epsilon) + np.abs(p))))
    return np.minimum(np.logaddexp(p + log_1m_exp(gap), off), np.logaddexp(p, log_p[1]))


def _share(value: FloatArray, log_bound: FloatArray, log_slope: FloatArray) -> Share:
    """A probability, a bound for where it is faint, and the log of its derivative by the log of its argument."""
    faint = ~(value >= _FAINT)
    log_value = np.where(faint, np.where(np.isnan(log_bound), -np.inf, np.minimum(log_bound, 0.0)), np.log(value))
    log_off = np.log(_UNIT) + np.logaddexp(log_value, log_slope)
    return log_value, np.where(faint, -np.inf, log_off)


def _log_lower(shape: FloatArray, x: FloatArray) -> Share:
    """P[Γ <= x] for the gamma law of this shape, at most its series' first term over 1 − x/(shape + 1)."""
    log_slope = shape * np.log(x) - x - gammaln(shape)
    bound = log_slope - np.log(shape) - np.log1p(-x / (shape + 1))
    return _share(gammainc(shape, x), bound, log_slope)


def log_upper(shape: FloatArray | float, x: FloatArray) -> Share:
    """P[Γ > x], for shape >= 1; above the mean it is at most x^shape·e^{−x}/(Γ(shape)·(x − shape + 1))."""
    log_slope = np.where(np.isinf(x), -np.inf, shape * np.log(x) - x - gammaln(shape))
    return _share(np.asarray(gammaincc(shape, x), dtype=np.float64), log_slope - np.log(x - shape + 1), log_slope)


def _log_beta(shape: FloatArray, x: FloatArray) -> Share:
    """P[B <= x] for the beta law with both parameters `shape` >= 1, whose density grows up to ½ and is log-concave."""
    log_slope = shape * np.log(x) + (shape - 1) * np.log1p(-x) - betaln(shape, shape)
    growth = (shape - 1) * (1 - 2 * x) / (1 - x)  # of the log of the density, by the log of x
    bound = log_slope - np.log(np.maximum(growth, 1.0))
    return _share(np.asarray(betainc(shape, shape, x), dtype=np.float64), bound, log_slope)


def _rounded_up(log_delta: FloatArray) -> FloatArray:
    return np.minimum(log_delta + SLACK * (1 + np.abs(np.where(np.isfinite(log_delta), log_delta, 0.0))), 0.0)
