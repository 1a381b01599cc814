"""Sums of independent tilted privacy losses by FFT, with everything that is lost on the way bounded.

Under the tilt e^{θω} the sum S has its mass where it decides δ(ε):

    δ(ε) = e^{K − θε}·Ẽ[g(S − ε)],   g(y) = (1 − e^{−y})₊ e^{−θy} ≤ g_max = (θ/(1+θ))^θ/(1+θ),

K = log E[e^{θS}]. With g_max for Ẽ[g] this is the Rényi conversion at α = 1 + θ; the FFT adds the shape of the tail.
An error of η in the tilted masses (round-off, or mass that wraps around the end of the window) moves δ by at most
η·g_max·e^{K − θε}. docs/theorems.md, T21, has η and its two assumptions. The bounds are proved but for the library's
roots of unity and the masses that are put in, which are validated numerically.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from objpert_core._validation import FloatArray
from objpert_core.accounting.convolution.discretise import Tilted

_UNIT = 2.0**-53
# relative error of one stage of radix r: a product with a root of unity that is itself off by 6 units, and r sums (T21)
_STAGES = {4: 10.3 * _UNIT, 2: 9.3 * _UNIT, 3: 15.3 * _UNIT, 5: 22.6 * _UNIT}
_POLAR = 24 * _UNIT  # of a modulus of at most 1, for what its modulus, logarithm and angle are rounded by
_POWER = 256 * _UNIT  # relative, of exp and of logarithms down to _NEGLIGIBLE
_SUMMED = 1 + 1e-9  # times a sum of a million positive terms, each with a few roundings
MASS_ERROR = 2e-12  # relative, of one discretised mass: exp, quadrature and the tilt
_NEGLIGIBLE = -80.0  # log of spectral values that are left out, and counted as error
_THINNED = 4096  # points from which a rate is chosen
REST_NATS = 23.0  # log of 1/probability with which the sum of the rests is smaller than assumed

_REST_RATES = 2.0 ** np.arange(1, -25, -1)  # in units of the best one for a Gaussian sum


def log_g_max(theta: FloatArray | float) -> FloatArray:
    """log of the largest value of (1 − e^{−y})e^{−θy} over y >= 0, for θ > 0."""
    theta = np.asarray(theta, dtype=float)
    return -theta * np.log1p(1 / theta) - np.log1p(theta)


@dataclass(frozen=True)
class Tail:
    """δ(ε) of a sum of discretised losses, from the masses of the tilted sum in a window; see `sum_of`."""

    theta: float
    log_scale: float  # K, of the discretised losses
    first: float  # the least loss of the window
    step: float
    survival: FloatArray  # Σ_{i ≥ j} f_i e^{−θ(x_i − x_j)}
    profile: FloatArray  # the same with weights 1 − e^{x_j − x_i}
    log_error: float  # log of the error bound on tilted masses, times g_max
    log_absolute: float  # log of what is added to δ whatever ε is
    log_lost: float  # log of the part of it that is error
    shift: float  # added to ε before the look-up
    safe_from: float  # above this ε, mass that wraps around does not reach a lower bound
    log_error_below: float  # instead of log_error, for a lower bound at a smaller ε
    upper: bool
    slack: float  # relative error of everything that is multiplied

    def log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log of the bound on δ for a 1-d array of ε; −inf where a lower bound is 0."""
        eps = epsilon + self.shift
        if self.upper:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                total = np.logaddexp(self._log_value(eps), self.log_error) + self.slack
                return np.minimum(np.logaddexp(self.log_scale - self.theta * eps + total, self.log_absolute), 0.0)
        # δ falls in ε: further down the bound at `safe_from` holds, or that with all the mass that may have wrapped
        result = self._lower(np.maximum(eps, self.safe_from), self.log_error)
        below = eps < self.safe_from
        if below.any():
            result[below] = np.maximum(result[below], self._lower(eps[below], self.log_error_below))
        return np.logaddexp(result, self.log_absolute)

    def _log_value(self, eps: FloatArray) -> FloatArray:
        """log Ẽ[g(S − ε)] from the masses of the window."""
        place = np.clip(np.ceil((eps - self.first) / self.step), 0, self.survival.size - 1).astype(np.intp)
        gap = np.minimum(eps - (self.first + self.step * place), 0.0)  # to the next grid point, at most 0
        above = eps > self.first + self.step * (self.survival.size - 1)
        value = np.where(above, 0.0, self.survival[place] * -np.expm1(gap) + np.exp(gap) * self.profile[place])
        return np.log(value) + self.theta * gap

    def _lower(self, eps: FloatArray, log_error: float) -> FloatArray:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_value = self._log_value(eps)
            kept = log_value + np.log(-np.expm1(np.minimum(log_error - log_value, 0.0)))
            bound = np.minimum(self.log_scale - self.theta * eps + kept - self.slack, 0.0)
            return np.where(log_value > log_error, bound, -np.inf)

    def log_error_share(self, epsilon: FloatArray) -> FloatArray:
        """log of (error bound/δ): how much of the answer at ε is error."""
        eps = epsilon + self.shift
        lost = np.logaddexp(self.log_error + self.log_scale - self.theta * eps, self.log_lost)
        log_delta = self.log_delta(epsilon)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(log_delta), lost - log_delta, np.inf)


def _fold(part: Tilted, size: int) -> FloatArray:
    """Masses by grid index modulo `size`, summing to 1."""
    padded = -(-part.masses.size // size) * size
    folded = np.concatenate((part.masses, np.zeros(padded - part.masses.size))).reshape(-1, size).sum(axis=0)
    return np.roll(folded, part.first % size) / part.masses.sum()


def transform_error(size: int) -> float:
    """Bound on the relative error of a real transform of this size, and of its inverse (docs/theorems.md, T21)."""
    log_growth = 2 * _UNIT  # the inverse is scaled at the end
    for radix, error in _STAGES.items():
        while size % radix == 0:
            size //= radix
            log_growth += math.log1p(error)
    assert size == 1, "next_fast_len gives sizes of small factors only"
    return math.expm1(log_growth)


def _convolve(parts: list[Tilted], size: int) -> tuple[FloatArray, float]:
    """(masses of the sum by index modulo `size`, bound on the sum of absolute errors)."""
    rounding = transform_error(size)
    unit = rounding + _POLAR
    spectra = [rfft(_fold(part, size)) for part in parts]
    moduli = [np.abs(spectrum) for spectrum in spectra]
    log_bound = np.zeros(size // 2 + 1)
    for part, modulus in zip(parts, moduli, strict=True):
        log_bound += part.count * np.log(modulus + unit)
    keep = log_bound > _NEGLIGIBLE
    log_value, angle = np.zeros(int(keep.sum())), np.zeros(int(keep.sum()))
    for part, spectrum, modulus in zip(parts, spectra, moduli, strict=True):
        log_value += part.count * np.log(np.maximum(modulus[keep], 1e-300))
        angle += part.count * np.angle(spectrum[keep])
    values = np.zeros(size // 2 + 1, dtype=complex)
    values[keep] = np.exp(log_value + 1j * angle)
    bound = np.exp(log_bound[keep])
    error = bound * -np.expm1(np.minimum(log_value - log_bound[keep], 0.0)) + _POWER * bound
    left_out = size * math.exp(2 * _NEGLIGIBLE)
    masses = irfft(values, size)
    # twice: once for each half of the spectrum; the 2-norm of the masses' error is that of the spectrum over √size
    in_spectrum = math.sqrt(2 * float(np.square(error).sum()) + left_out)
    in_masses = math.sqrt(size) * rounding / (1 - rounding) * float(np.linalg.norm(masses))
    return masses, _SUMMED * (in_spectrum + in_masses)


def tilted_mean(parts: list[Tilted]) -> float:
    """The tilted mean of the sum, on the grid."""
    return sum(part.count * float(part.masses @ part.points) / float(part.masses.sum()) for part in parts)


def _log_beyond(parts: list[Tilted], point: float, sign: float, rates: FloatArray) -> float:
    """log of a bound on the tilted probability that the sum is above (sign 1) or below (−1) `point` (Chernoff)."""
    thinned = [_Points(part, sign, -(-part.masses.size // _THINNED)) for part in parts]
    rough = [_log_chernoff(thinned, -sign * rate * point, rate) for rate in rates]
    best = float(rates[np.argmin(rough)])
    return min(0.0, _log_chernoff([_Points(part, sign) for part in parts], -sign * best * point, best))


class _Points:
    """What a Chernoff bound needs of a part: every `stride`-th of its losses with the sign, and masses."""

    def __init__(self, part: Tilted, sign: float, stride: int = 1) -> None:
        self.count, self.masses = part.count, part.masses[::stride]
        self.moved = sign * part.points[::stride]
        self.total = float(self.masses.sum())
        heavy = self.masses > 0
        self.top = float(self.moved[heavy].max()) if self.total > 0 else 0.0


def _log_chernoff(parts: list[_Points], exponent: float, rate: float) -> float:
    """exponent + log E[e^{rate·sum}], rounded up; inf where a thinned grid has no mass left."""
    terms, rounding = [exponent], 0.0
    for part in parts:
        if not part.total > 0:
            return math.inf
        ratio = float(part.masses @ np.exp(rate * np.minimum(part.moved - part.top, 0.0))) / part.total
        terms += [part.count * math.log(ratio), part.count * (rate * part.top)]
        rounding += part.count * part.masses.size * _UNIT  # of the ratio
    return sum(terms) + rounding + 8 * _UNIT * sum(map(abs, terms))


def rest_bound(parts: list[Tilted]) -> float:
    """A value that the sum of the rests exceeds, but for a tilted probability of e^{-REST_NATS}; a lone rest always."""
    if _alone(parts):
        assert parts[0].rests is not None
        return float(parts[0].rests[parts[0].masses > 0].min())
    mean, variance, weighted = 0.0, 0.0, []
    for part in parts:
        assert part.rests is not None
        weights = part.masses / part.masses.sum()
        average = float(weights @ part.rests)
        deviation = part.rests - average
        mean += part.count * average
        variance += part.count * float(weights @ np.square(deviation))
        weighted.append((part.count, weights, deviation))
    if variance == 0:
        return mean
    best = math.inf
    for factor in _REST_RATES:  # a few large rests among many small ones want a small rate
        rate = factor * math.sqrt(2 * REST_NATS / variance)
        with np.errstate(over="ignore"):
            grown = [count * float(np.log1p(w @ np.expm1(-rate * d))) for count, w, d in weighted]
        bound = (sum(grown) + REST_NATS) / rate
        if bound > best:
            break
        best = bound
    return mean - best


@dataclass(frozen=True)
class Window:
    """Masses of the tilted sum on a window of its grid, and bounds on what is wrong with them."""

    first: float  # the least loss
    top: float  # the first grid point beyond
    masses: FloatArray
    log_error: float  # log of the sum of absolute errors by round-off
    log_below: float  # log of the tilted mass below the window, which wraps to its top
    log_above: float  # log of the tilted mass above the window, which wraps to its bottom
    safe_from: float  # losses that mass above the window reaches with a probability of at most e^log_far only
    log_far: float


def _alone(parts: list[Tilted]) -> bool:
    return len(parts) == 1 and parts[0].count == 1


def masses_of_sum(parts: list[Tilted], centre: float, left: float, right: float, rates: FloatArray) -> Window:
    """The tilted sum of independent losses from centre − left to centre + right; `rates` > 0 are for the tails."""
    if _alone(parts):  # nothing to add up, and no transform to round
        losses, never = parts[0].points, -math.inf
        masses = parts[0].masses / parts[0].masses.sum()
        first, top = float(losses[0]), float(losses[-1]) + parts[0].step
        return Window(first, top, masses, never, never, never, first, never)
    step = parts[0].step
    offset = sum(part.count * part.anchor for part in parts)
    size = 2 * next_fast_len(max(32, math.ceil((left + right) / step / 2) + 2), real=True)
    start = math.floor((centre - left - offset) / step) - 1
    masses, error = _convolve(parts, size)
    first, span = offset + step * start, step * size
    for share in (0.01, 0.25, 0.5):
        safe_from = first + share * left
        log_far = _log_beyond(parts, safe_from + span, 1.0, rates)
        if log_far < -REST_NATS:
            break
    return Window(
        first=first,
        top=first + span,
        masses=np.maximum(np.roll(masses, -(start % size)), 0.0),
        log_error=math.log(error),
        log_below=_log_beyond(parts, first, -1.0, rates),
        log_above=_log_beyond(parts, first + span, 1.0, rates),
        safe_from=safe_from,
        log_far=log_far,
    )


def log_any(chances: Iterable[tuple[float, int]]) -> float:
    """log of the probability that any of independent events happens, each (log of a probability, number of trials)."""
    never = sum(count * math.log1p(-math.exp(log_p)) if log_p < 0 else -math.inf for log_p, count in chances)
    return math.log(-math.expm1(never)) if never < 0 else -math.inf


def _log_apart(log_more: float, log_less: float) -> float:
    if log_more <= log_less:
        return -math.inf
    return log_more + math.log(-math.expm1(log_less - log_more))


def log_total(part: Tilted) -> float:
    """log of the tilted mass of all steps with this law."""
    return part.count * math.log(float(part.masses.sum()))


def sum_of(
    parts: list[Tilted],
    theta: float,
    log_scales: list[float],
    centre: float,
    left: float,
    right: float,
    rates: FloatArray,
) -> Tail:
    """The tail of the sum of independent losses: an upper bound, or a lower bound if the parts carry rests."""
    from scipy.signal import lfilter  # half of the package's import time: only who composes waits for it

    step = parts[0].step
    upper = parts[0].rests is None
    window = masses_of_sum(parts, centre, left, right, rates)
    decay = math.exp(-theta * step)
    survival = lfilter([1.0], [1.0, -decay], window.masses[::-1])
    behind = np.concatenate(([0.0], survival[:-1]))
    profile = lfilter([-decay * math.expm1(-step)], [1.0, -decay * math.exp(-step)], behind)
    count = sum(part.count for part in parts)
    # ω is computed to within some 1e-15 of its size
    rounding = 1e-15 * sum(p.count * float(p.masses @ np.abs(p.points)) / float(p.masses.sum()) for p in parts)
    log_scale = sum(log_total(part) + part.count * s for part, s in zip(parts, log_scales, strict=True))
    shift = -rounding if upper else rounding - rest_bound(parts)
    errors = [window.log_error, window.log_below]
    absolute = [log_any([(part.log_infinite, part.count) for part in parts])]
    lost = [-math.inf]
    if upper:  # what is above the window counts e^{−θ·loss}·e^K at most, whatever ε is
        lost = [log_scale - theta * window.top + window.log_above]
        absolute += lost
        lost += [math.log(part.count) + _log_apart(part.log_infinite, part.log_certain) for part in parts]
    else:
        errors.append(-math.inf if _alone(parts) else -REST_NATS)
    below = [*errors, window.log_above]
    if not upper:
        errors.append(window.log_far)
    return Tail(
        theta=theta,
        log_scale=log_scale,
        first=window.first,
        step=step,
        survival=survival[::-1],
        profile=profile[::-1],
        log_error=float(np.logaddexp.reduce(errors) + log_g_max(theta)),
        log_absolute=float(np.logaddexp.reduce(absolute)),
        log_lost=float(np.logaddexp.reduce(lost)),
        shift=shift,
        safe_from=window.safe_from,
        log_error_below=float(np.logaddexp.reduce(below) + log_g_max(theta)),
        upper=upper,
        slack=MASS_ERROR * (1 + count) + 8e-16 * window.masses.size,  # the second: powers of the rounded decay
    )
