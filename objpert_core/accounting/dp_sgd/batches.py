"""Batches of fixed size: how often a row is drawn, and the Rényi curve of one step where a row is replaced.

The step's profile at ε ≥ 0 is that of the pair P, Q of `laws.sampled.RevealedLoss`, for both directions. Its symmetric
pair has the loss ω where ω > 0, the mirror image below 0, and what is left at 0. With s = α − 1 its moment is

    E e^{sω} − 1 = ∫_{ω > 0} (e^{sω} − 1 + e^{−ω}·(e^{−sω} − 1)) dP = ∫_{ω > 0} (e^{sω} − 1)·(1 − e^{−(s + 1)ω}) dP,

where nothing cancels. Let D be the curve of P and Q. The moment is at most E_P e^{sω} − 1 = e^{s·D} − 1, and what the
losses below 0 take from that, which is at most min(1, −s·log(1 − p))·P[ω < 0].
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp, ndtr

from objpert_core._validation import FloatArray
from objpert_core.accounting.dp_sgd.subsampled import step_rdp
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import log_binomial_weights, log_mixed, unmixed

_LEAST = -250.0  # log of a share below which a number of draws is not told apart from the worst
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_PANEL = 0.5
_FARTHEST = 40.0  # (α − 1)·k·a up to which the moment is summed
_BEYOND = 13.0
_ROUNDING = 1e-11


def log_shares(rows: int, batch_size: int, replacement: bool) -> tuple[float, FloatArray]:
    """(p, log(w_k/p) for k = 1 … m): w_k = Pr[Bin(m, 1/n) = k], p = 1 − w_0; without replacement p = m/n and k = 1."""
    if not replacement:
        return batch_size / rows, np.zeros(1)
    if rows == 1:  # the row is the batch
        return 1.0, np.concatenate((np.full(batch_size - 1, -np.inf), [0.0]))
    p = float(-np.expm1(batch_size * np.log1p(-1 / rows)))
    return p, log_binomial_weights(batch_size, 1 / rows)[1:] - np.log(p)


def listed(shares: FloatArray) -> tuple[FloatArray, float]:
    """The shares up to the last that is not negligible, and the log of what the others add up to."""
    known = int(np.flatnonzero(shares > _LEAST)[-1]) + 1
    rest = shares[known:][shares[known:] > -np.inf]
    return shares[:known], float(logsumexp(rest)) if rest.size else -np.inf


def log_at_zero(p: float, shares: FloatArray, a: float) -> float:
    """log of the mass of the symmetric pair at the loss 0: (1 − p)·Σ (w_k/p)·(Φ(ka/2) − Φ(−ka/2))."""
    k = np.arange(1.0, shares.size + 1)
    mass = (1 - p) * float(np.exp(shares) @ (1 - 2 * ndtr(-k * a / 2)))
    return float(np.log(mass)) if mass > 0 else -np.inf


def log_profile(p: float, shares: FloatArray, a: float, epsilon: FloatArray) -> FloatArray:
    """log Σ w_k·δ_G(log(1 + (e^ε − 1)/p); k·a) for a 1-d array of ε ≥ 0 (Balle, Barthe and Gaboardi 2018)."""
    shares, rest = listed(shares)
    amplified = unmixed(epsilon, p)
    terms = [share + gauss.log_profile(amplified, k * a) for k, share in enumerate(shares, start=1)]
    return np.minimum(np.log(p) + np.logaddexp(logsumexp(terms, axis=0), rest), 0.0)


def replaced_rdp(alpha: FloatArray, p: float, shares: FloatArray, a: float) -> FloatArray:
    """The Rényi curve of one step for a 1-d array of α ≥ 1, rounded up."""
    order = alpha - 1
    known, rest = listed(shares)
    total = np.full(order.shape, -np.inf)
    for k, share in enumerate(known, start=1):
        total = np.logaddexp(total, share + _log_excess(order, p, k * a))
    if rest > -np.inf:  # by the curve of the Gaussian mechanism, which sampling does not exceed
        more = np.arange(known.size + 1.0, shares.size + 1)
        for at in np.ndindex(order.shape):
            with np.errstate(over="ignore"):
                moments = order[at] * alpha[at] / 2 * np.square(more * a)
            total[at] = np.logaddexp(total[at], logsumexp(shares[known.size :] + np.logaddexp(moments, 0.0)))
    with np.errstate(under="ignore", over="ignore"):
        safe = np.where(order > 0, order, 1.0)
        curve = np.where(total < 30, np.log1p(np.exp(np.minimum(total, 30.0))), total)
        return np.where(order > 0, curve / safe, np.exp(np.minimum(total, 700.0))) * (1 + _ROUNDING)


def _log_excess(order: FloatArray, p: float, a: float) -> FloatArray:
    """log of E e^{sω} − 1 for one k, and of E ω at s = 0."""
    result = np.empty(order.shape)
    direct = order * a <= _FARTHEST
    far = np.flatnonzero(~direct)
    if far.size:
        moment = order[far] * step_rdp(order[far] + 1, p, 1 / a)
        negative = (1 - p) * ndtr(a / 2) + p * ndtr(-a / 2)
        with np.errstate(divide="ignore"):
            taken = np.log(np.minimum(-order[far] * np.log1p(-p), 1.0) * negative)
        result[far] = np.logaddexp(_log_expm1(moment), taken)
    for block in np.array_split(np.flatnonzero(direct), max(1, int(direct.sum()) // 64)):
        if block.size:
            result[block] = _summed(order[block], p, a)
    return result


def _summed(order: FloatArray, p: float, a: float) -> FloatArray:
    """The integral over u = a + t, from ω = 0 on, or from where N(a, 1) has no mass that counts."""
    start, end = -min(a / 2, _BEYOND), float(order.max()) * a + _BEYOND
    ends = np.linspace(start, end, int(np.ceil((end - start) / _PANEL)) + 1)
    half = 0.5 * np.diff(ends)[:, None]
    t = (ends[:-1, None] + half * (1 + _NODES)).ravel()
    y = a * (a / 2 + t)
    omega = log_mixed(y, p)
    with np.errstate(divide="ignore", under="ignore"):
        stays = np.logaddexp(0.0, np.log1p(-p) - np.log(p) - y)
        log_mass = np.log(half * _WEIGHTS).ravel() + np.log(p) - 0.5 * t * t - LOG_SQRT_2PI + stays
        s = order[:, None]
        growth = np.where(s > 0, _log_expm1(s * omega), np.log(omega))
        return logsumexp(log_mass + growth + np.log(-np.expm1(-(s + 1) * omega)), axis=1)


def _log_expm1(x: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", under="ignore"):
        return x + np.log(-np.expm1(-x))


def attained_delta(p: float, shares: FloatArray, a: float, epsilon: float) -> float:
    """δ at ε of Σ w_k·N(ka, 1) against N(0, 1), in closed form but for the place where the densities' ratio is e^ε."""
    shares, _ = listed(shares)
    k = np.arange(0.0, shares.size + 1)
    with np.errstate(divide="ignore"):
        logs = np.concatenate(([np.log1p(-p) if p < 1 else -np.inf], shares + np.log(p)))

    def ratio(u: float) -> float:
        return float(logsumexp(logs + k * a * u - (k * a) ** 2 / 2)) - epsilon

    low, high = -40.0, 40.0 + k[-1] * a
    if ratio(low) >= 0:
        return max(0.0, 1.0 - float(np.exp(epsilon)))
    if ratio(high) <= 0:
        return 0.0
    from scipy.optimize import brentq  # slow to import

    edge = brentq(ratio, low, high, xtol=1e-13)
    return max(0.0, float(np.exp(logs) @ ndtr(k * a - edge) - np.exp(epsilon) * ndtr(-edge)))
