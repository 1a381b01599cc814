"""High-precision references, coded from the definitions and independently of the package.

Every bound is E[F(ω(v))] for v ~ N(0, 1): F(ω) = [1 − e^{ε−ω}]₊ for the privacy profile and e^{(α−1)ω} for Rényi.
Here the expectations are integrals by `mpmath.quad` at 40 digits. The tight logistic loss T is a maximum over p; its
integrals run over the logit of the maximising p, where everything is elementary and no equation is solved, and
`tight_loss` maximises by brute force to check that change of variables (and the package) point by point.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from mpmath import mp, mpf

mp.dps = 40

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "accounting_mpmath.json"
NEVER = mpf(10) ** -320  # values below are zero in double precision

Function = Callable[[mpf], mpf]


def reference_rows(key: str) -> list[dict[str, float]]:
    """Rows of the shared reference file; the calling test is skipped where the file is not there."""
    if not REFERENCE.is_file():
        pytest.skip(f"the reference values are not at {REFERENCE}")
    rows = json.loads(REFERENCE.read_text(encoding="utf-8"))[key]
    return [{name: mpf(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]


def relative_error(value: float, exact: mpf) -> float:
    """|value/exact − 1|; 0 where both vanish in double precision."""
    if abs(exact) < NEVER:
        return 0.0 if abs(value) < 1e-300 else float("inf")
    return float(abs(mpf(value) / exact - 1))


def quad(f: Function, points: Iterable[mpf]) -> mpf:
    """∫ f over [min, max] of `points` by a Gauss–Legendre rule between neighbours.

    `mpmath.quad` stops at an absolute error, so f is scaled to be near 1 first.
    """
    ordered = sorted(set(points))
    if len(ordered) < 2:
        return mpf(0)
    scale = max(abs(f((left + right) / 2)) for left, right in pairwise(ordered))
    scale = max([scale, *(abs(f(point)) for point in ordered)])
    return scale * mp.quad(lambda x: f(x) / scale, ordered, method="gauss-legendre", maxdegree=5) if scale else mpf(0)


def inside(points: Iterable[mpf], low: mpf, high: mpf) -> list[mpf]:
    """The points between low and high, and the two ends."""
    return [low, *[mpf(p) for p in points if low < p < high], high]


def around(centre: mpf, widths: Iterable[float]) -> list[mpf]:
    return [centre + sign * mpf(w) for w in widths for sign in (-1, 1)]


UNIT_STEPS = [0, *range(1, 15), 18, 24, 32, 45]
FINE = [10.0**-k for k in range(1, 13)]


# --- the Gaussian mechanism ------------------------------------------------------------------------------------


def gaussian_delta(epsilon: float, a: float) -> mpf:
    """Balle and Wang (2018), Theorem 8, at a precision that survives its cancellation; any real ε."""
    with mp.workdps(80):
        e, a = mpf(epsilon), mpf(a)
        return +(mp.ncdf(a / 2 - e / a) - mp.exp(e) * mp.ncdf(-a / 2 - e / a))


def gaussian_delta_by_integration(epsilon: float, a: float) -> mpf:
    """∫ [1 − e^{ε − G(v)}]₊ φ(v) dv, straight from the definition."""
    e, a = mpf(epsilon), mpf(a)
    start = e / a - a / 2
    return expectation(lambda v: -mp.expm1(e - a * a / 2 - a * v), start, max(start, mpf(0)) + 45)


def expectation(f: Function, low: mpf, high: mpf, breaks: Iterable[mpf] = ()) -> mpf:
    """∫ f(v)·φ(v) dv over [low, high], with break points by the bulk, the lower end and those given."""
    points = [*range(-20, 21), *around(low, UNIT_STEPS), *around(low, FINE), *breaks]
    return quad(lambda v: f(v) * mp.npdf(v), inside(points, low, high))


# --- the half-normal law of "glm" and the law of "monotone" -----------------------------------------------------


def half_normal_delta(epsilon: float, a: float, shift: mpf) -> mpf:
    """E[1 − e^{ε−ω}]₊ for ω = shift + a²/2 + a·|v|, by integration; any real ε."""
    e, a = mpf(epsilon), mpf(a)
    start = max((e - shift) / a - a / 2, mpf(0))
    return 2 * expectation(lambda v: -mp.expm1(e - shift - a * a / 2 - a * v), start, start + 45)


def half_normal_rdp(alpha: float, a: float, shift: mpf) -> mpf:
    """log E[e^{(α−1)ω}]/(α−1), and E[ω] at α = 1, for the same ω, by integration."""
    a, s = mpf(a), mpf(alpha) - 1
    if s == 0:
        return shift + a * a / 2 + a * 2 * expectation(lambda v: v, mpf(0), mpf(45))
    mode = s * a
    with mp.workdps(60):
        points = inside([*around(mode, UNIT_STEPS), *around(mpf(0), UNIT_STEPS)], mpf(0), mode + 45)
        moment = 2 * quad(lambda v: mp.exp(s * a * v - v * v / 2), points) / mp.sqrt(2 * mp.pi)
        return +(shift + a * a / 2 + mp.log(moment) / s)


def positive_gaussian_delta(epsilon: float, a: float, shift: mpf) -> mpf:
    """E[1 − e^{ε−ω}]₊ for ω = shift + max(0, a²/2 + a·v), by integration; any real ε."""
    e, a = mpf(epsilon), mpf(a)
    start = max((e - shift) / a - a / 2, -a / 2)
    atom = -mp.expm1(e - shift) * mp.ncdf(-a / 2) if e < shift else mpf(0)
    return atom + expectation(lambda v: -mp.expm1(e - shift - a * a / 2 - a * v), start, max(start, mpf(0)) + 45)


def positive_gaussian_rdp(alpha: float, a: float, shift: mpf) -> mpf:
    """log E[e^{(α−1)ω}]/(α−1), and E[ω] at α = 1, for the same ω, by integration."""
    a, s = mpf(a), mpf(alpha) - 1
    with mp.workdps(60):
        mode, low = s * a, -a / 2
        points = inside([*around(mode, UNIT_STEPS), *around(mpf(0), UNIT_STEPS)], low, max(mode, mpf(0)) + 45)
        gain = (lambda v: a * a / 2 + a * v) if s == 0 else (lambda v: mp.expm1(s * (a * a / 2 + a * v)))
        mean = quad(lambda v: gain(v) * mp.npdf(v), points)
        return +(shift + (mean if s == 0 else mp.log1p(mean) / s))


# --- the tight logistic law -------------------------------------------------------------------------------------


def tight_loss(v: float, a: float, kappa: float) -> mpf:
    """T(v) = max over p in [0, 1] of a²p²/2 + a·p·v + log(1 + κp(1−p)), by brute force.

    A grid in the logit of p, then golden sections around its three best points, and the two ends.
    """
    v, a, kappa = mpf(v), mpf(a), mpf(kappa)

    def objective(t: mpf) -> mpf:
        p, rest = 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))
        return a * a * p * p / 2 + a * p * v + mp.log1p(kappa * p * rest)

    grid = [mpf(k) / 4 for k in range(-240, 241)]
    values = [objective(t) for t in grid]
    best = max(mpf(0), a * a / 2 + a * v)
    for k in sorted(range(len(grid)), key=lambda i: -values[i])[:3]:
        best = max(best, -_golden(lambda t: -objective(t), grid[k] - mpf(1) / 4, grid[k] + mpf(1) / 4))
    return best


class TightLaw:
    """E[F(T(v))], with the part 0 < p < 1 as an integral over t = logit of the maximising p.

    The stationarity condition of the maximum, a²p + a·v + κ(1 − 2p)/(1 + κp(1−p)) = 0, is linear in v. Where
    κ <= a²/2 the maximum is at p = 0 or 1 for every v. Otherwise v = −a/2 always has the root p = 1/2; if it also has
    roots 1/2 ± q₀, those two are equally good there and p jumps from one to the other: the branches are
    t <= −t₀ and t >= t₀ with t₀ = logit(1/2 + q₀).
    """

    def __init__(self, a: float, kappa: float) -> None:
        self.a, self.kappa = mpf(a), mpf(kappa)
        self.mixed = self.kappa > self.a**2 / 2  # otherwise the maximum is at p = 0 or 1 for every v
        self.v_zero = -self.kappa / self.a if self.mixed else -self.a / 2
        self.v_one = self.kappa / self.a - self.a if self.mixed else -self.a / 2
        # equally good: v(p) = −a/2 has the roots 1/2 and, if the curvature is small enough, 1/2 ± q₀
        square = (1 + self.kappa / 4 - 2 * self.kappa / self.a**2) / self.kappa
        q = mp.sqrt(square) if self.mixed and square > 0 else mpf(0)
        self.t_split = mp.log((mpf(1) / 2 + q) / (mpf(1) / 2 - q)) if q else mpf(0)

    def p(self, t: mpf) -> tuple[mpf, mpf]:
        return 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))

    def v(self, t: mpf) -> mpf:
        p, rest = self.p(t)
        return (self.kappa * (p - rest) / (1 + self.kappa * p * rest) - self.a**2 * p) / self.a

    def loss(self, t: mpf) -> mpf:
        p, rest = self.p(t)
        return self.a**2 * p * p / 2 + self.a * p * self.v(t) + mp.log1p(self.kappa * p * rest)

    def jacobian(self, t: mpf) -> mpf:
        """dv/dt."""
        p, rest = self.p(t)
        k = 1 + self.kappa * p * rest
        return ((2 * self.kappa * k + self.kappa**2 * (p - rest) ** 2) / k**2 - self.a**2) / self.a * p * rest

    def branches(self) -> list[tuple[mpf, mpf]]:
        end = mp.log1p(self.kappa) + mp.log1p(1 / self.a) + mp.log1p(1 / self.kappa) + 90
        return [(-end, -self.t_split), (self.t_split, end)]

    def _bisect(self, f: Function, low: mpf, high: mpf, steps: int) -> mpf:
        for _ in range(steps):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) < 0 else (low, middle)
        return high

    def t_of_v(self, v: mpf, steps: int = 40) -> mpf | None:
        """t with v(t) = v, roughly (it only places break points); None at the ends p = 0, 1."""
        if not self.v_zero < v < self.v_one:
            return None
        low, high = self.branches()[int(v > -self.a / 2)]
        return self._bisect(lambda t: self.v(t) - v, low, high, steps)

    def t_of_loss(self, epsilon: mpf) -> mpf | None:
        """t with T = ε, to full precision; None where T = ε only at the ends."""
        if not self.mixed or epsilon <= 0 or epsilon >= self.kappa - self.a**2 / 2:
            return None
        for low, high in self.branches():
            if self.loss(high) > epsilon >= self.loss(low):
                return self._bisect(lambda t: self.loss(t) - epsilon, low, high, 150)
        raise AssertionError("T is continuous")

    def expectation(
        self, f: Function, focus: mpf, kink: mpf | None = None, low: float = -45, corners: Iterable[mpf] = ()
    ) -> mpf:
        """∫ f(T(v))·φ(v) dv over v ≥ low.

        `focus` is where the integrand is largest; at v in `corners` and at t = `kink` it is not smooth.
        """
        low = mpf(low)
        v_breaks = [*around(focus, UNIT_STEPS), *around(focus, FINE), *around(-self.a / 2, [0, *FINE])]
        v_breaks += [focus + sign * 45 * mpf(1.5) ** k for k in range(60) for sign in (-1, 1)] + list(range(-20, 21))
        v_breaks += [v for c in corners for v in around(c, [0, *FINE, *UNIT_STEPS])]
        total = f(mpf(0)) * (mp.ncdf(self.v_zero) - (mp.ncdf(low) if low < self.v_zero else mp.ncdf(self.v_zero)))
        if self.mixed:
            ts = [t for t in (self.t_of_v(mpf(v)) for v in v_breaks) if t is not None]
            ts += [] if kink is None else [kink, *around(kink, FINE)]
            for left, right in self.branches():
                steps = [left + (right - left) * k / 60 for k in range(61)]
                total += quad(
                    lambda t: f(self.loss(t)) * mp.npdf(self.v(t)) * self.jacobian(t), inside(ts + steps, left, right)
                )
        high = max(self.v_one, focus) + 60
        edge = max(self.v_one, low)
        points = [*v_breaks, *around(edge, UNIT_STEPS), *around(edge, FINE)]
        return total + quad(lambda v: f(self.a**2 / 2 + self.a * v) * mp.npdf(v), inside(points, edge, high))

    def delta(self, epsilon: float) -> mpf:
        e = mpf(epsilon)
        kink = self.t_of_loss(e)
        start = self.v(kink) if kink is not None else max(e / self.a - self.a / 2, self.v_zero)
        focus = max(start, mpf(0))

        def hockey_stick(loss: mpf) -> mpf:
            return -mp.expm1(e - loss) if loss > e else mpf(0)

        low = start if e >= self.v_one * self.a + self.a**2 / 2 else mpf(-45)
        return self.expectation(hockey_stick, focus, kink, low=low)

    def rdp(self, alpha: float) -> mpf:
        s = mpf(alpha) - 1
        if s == 0:
            return self.expectation(lambda loss: loss, mpf(0))
        with mp.workdps(60):
            if not self.mixed or s * self.a > self.v_one:
                focus = max(s * self.a, self.v_one)
            else:
                low, high = self.branches()[1]
                top = self._bisect(lambda t: self.v(t) - s * self.a * self.p(t)[0], low, high, 60)
                focus = self.v(top)
            moment = self.expectation(lambda loss: mp.expm1(s * loss), focus)
            return +(mp.log1p(moment) / s)

    def delta_with_gaussian(self, epsilon: float, a_out: float) -> mpf:
        """Profile of T + G_out: E over v of the Gaussian profile at ε − T(v)."""
        e = mpf(epsilon)
        share = e * self.a**2 / (self.a**2 + mpf(a_out) ** 2)  # of ε, that leaves the two Gaussians the least to do
        focus = max(share / self.a - self.a / 2, mpf(0))
        crossing = e / self.a - self.a / 2
        return self.expectation(
            lambda loss: gaussian_delta(e - loss, a_out), focus, self.t_of_loss(e), corners=[crossing]
        )


# --- releases with output noise, Kifer's theorem and the chi moments ---------------------------------------------


def with_gaussian(loss: Function, epsilon: float, a: mpf, a_out: mpf, corners: Iterable[mpf], low: float = -45) -> mpf:
    """Profile of ω(v) + G_out over v ≥ low: E over v of the Gaussian profile at ε − ω(v)."""
    e, a, b = mpf(epsilon), mpf(a), mpf(a_out)
    share = e * a**2 / (a**2 + b**2)  # of ε, that leaves the two Gaussians the least to do
    focus = max(share / a - a / 2, mpf(low), mpf(0))
    spread = [q for c in [*corners, focus] for q in (c, *around(c, FINE), *around(c, UNIT_STEPS))]
    points = inside([*range(-20, 41), *spread], mpf(low), focus + 60)
    return quad(lambda v: gaussian_delta(e - loss(v), b) * mp.npdf(v), points)


def kifer_delta(epsilon: float, sigma: float, lam: float, smoothness: float, lipschitz: float) -> mpf:
    """Theorem 2.8 of Redberg et al. (2023): the smallest δ at which both conditions hold, by bisection on log δ."""
    e, s, l_ = mpf(epsilon), mpf(sigma), mpf(lipschitz)
    if e == 0 or mpf(lam) < 2 * mpf(smoothness) / e:
        return mpf(1)

    def holds(log_delta: mpf) -> bool:
        return s >= l_ * mp.sqrt(max(8 * (mp.log(2) - log_delta) + 4 * e, 0)) / e

    if not holds(mpf(0)):
        return mpf(1)
    good, bad = mpf(0), mpf(-1)
    while holds(bad):
        good, bad = bad, 2 * bad
    for _ in range(140):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return mp.exp(good)


def chi_log_moment(t: float, dimension: int) -> mpf:
    """log E[e^{tZ}] for Z ~ χ_d in closed form, by confluent hypergeometric functions."""
    with mp.workdps(60):
        t, d = mpf(t), mpf(dimension)
        even = mp.hyp1f1(d / 2, mpf(1) / 2, t * t / 2)
        odd = mp.sqrt(2) * t * mp.gammaprod([(d + 1) / 2], [d / 2]) * mp.hyp1f1((d + 1) / 2, mpf(3) / 2, t * t / 2)
        return +mp.log(even + odd)


def non_glm_rdp(alpha: float, a: float, shift: mpf, dimension: int) -> mpf:
    """Theorem G.2 with its logarithm and square: shift·d + a²/2 + log E[e^{(α−1)·a·Z}]/(α−1)."""
    s, a = mpf(alpha) - 1, mpf(a)
    if s == 0:
        d = mpf(dimension)
        return dimension * shift + a * a / 2 + a * mp.sqrt(2) * mp.gammaprod([(d + 1) / 2], [d / 2])
    return dimension * shift + a * a / 2 + chi_log_moment(s * a, dimension) / s


# --- Rényi to (ε, δ) --------------------------------------------------------------------------------------------


def delta_from_rdp(rdp: Function, epsilon: float) -> mpf:
    """min over α > 1 of e^{(α−1)(ρ−ε)}/(α−1)·(1 − 1/α)^α (Canonne et al. 2020), or the total variation."""
    e = mpf(epsilon)

    def log_bound(log_order: mpf) -> mpf:
        s = mp.exp(log_order)
        alpha = 1 + s
        return s * (rdp(alpha) - e) - mp.log(s) + alpha * mp.log1p(-1 / alpha)

    best = _minimum(log_bound)
    return min(mpf(1), mp.exp(best), mp.sqrt(-mp.expm1(-rdp(mpf(1)))))


def epsilon_from_rdp(rdp: Function, delta: float) -> mpf:
    """min over α > 1 of ρ + log((α−1)/α) − (log δ + log α)/(α−1), not below 0."""
    log_delta = mp.log(mpf(delta))
    if mpf(delta) >= mp.sqrt(-mp.expm1(-rdp(mpf(1)))):
        return mpf(0)

    def bound(log_order: mpf) -> mpf:
        s = mp.exp(log_order)
        alpha = 1 + s
        return rdp(alpha) + mp.log(s / alpha) - (log_delta + mp.log(alpha)) / s

    return max(mpf(0), _minimum(bound))


def _minimum(f: Function) -> mpf:
    """Minimum over log(α − 1): a coarse scan, then golden sections."""
    grid = [mpf(k) / 2 for k in range(-40, 120)]
    values = [f(t) for t in grid]
    k = min(range(len(grid)), key=lambda i: values[i])
    return _golden(f, grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])


def _golden(f: Function, low: mpf, high: mpf) -> mpf:
    """Minimum of a function with one valley in [low, high], by golden sections."""
    ratio = (mp.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    f_left, f_right = f(left), f(right)
    for _ in range(60):
        if f_left < f_right:
            high, right, f_right = right, left, f_left
            left = high - ratio * (high - low)
            f_left = f(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + ratio * (high - low)
            f_right = f(right)
    return min(f_left, f_right)
