"""Quadratic objective perturbation: how long δ, ε and a calibration take, next to the same in many digits.

    python -m benchmarks.quadratic

One thread; processor time, the median of seven runs after one that warms up, our caches emptied before each. The peer
is mpmath with 20 digits for the integral that swapped rows need: `ratio` is its time over ours, `error` our relative
error against it (ours is rounded up by about 1e-10 · (1 + |log δ|)). No other library accounts for this mechanism.
Goals: δ in under 5 ms, its inverse in under 10 ms, a calibration in under 50 ms.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import mpmath
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.shared import commit, milliseconds
from objpert_core.accounting import QuadraticPerturbation, calibrate_quadratic_perturbation

CASES = ((0.5, 1e-2, 12), (1.0, 1e-5, 20), (1.0, 1e-5, 100), (0.1, 1e-6, 12), (10.0, 1e-6, 12))
DIGITS, WIDTH = 20, 12.0  # WIDTH: of the peer's range, in standard deviations of log g


def swapped(epsilon: float, mechanism: QuadraticPerturbation) -> float:
    """δ where an orthogonal row takes the place of another, by mpmath's quadrature."""
    mpmath.mp.dps = DIGITS
    s, k = mpmath.mpf(mechanism.shift), mpmath.mpf(mechanism.k)
    mu, ratio = 2 * k + 3, mpmath.e ** (epsilon / k)

    def below(u: Any) -> Any:
        return mpmath.betainc(k + 1, k + 1, 0, (1 + u) / 2, regularized=True)

    def integrand(log_g: Any) -> Any:
        g = mpmath.e**log_g
        z = s / g
        gain = mpmath.mpf(1)
        if z < 2:
            u = (ratio * z * z - ratio + 1) / (ratio * z + mpmath.sqrt(ratio * z * z + (ratio - 1) ** 2))
            gain = below(u) - mpmath.e**epsilon * below(u - z)
        return gain * g**mu * mpmath.besselk(0, g) / (2 ** (mu - 2) * mpmath.gamma(mu / 2) ** 2)

    centre, spread = math.log(float(mu)), WIDTH / math.sqrt(float(mu))
    points = [centre + spread * place for place in np.linspace(-1, 0.7, 9)]
    return float(mpmath.quad(integrand, points))


def main() -> None:
    print(f"commit {commit()}, python {sys.version.split()[0]}, one thread, milliseconds\n")
    print("| ε | δ | d | m | δ | ε(δ) | calibration, m given | calibration | mpmath's δ | ratio | error |")
    print("|---" * 11 + "|")
    with threadpool_limits(1):
        for epsilon, delta, d in CASES:
            found = calibrate_quadratic_perturbation(epsilon, delta, d)
            m = found.degrees_of_freedom
            ours = milliseconds(lambda f=found, e=epsilon: f.delta(e))
            inverse = milliseconds(lambda f=found, p=delta: f.epsilon(p))
            given = milliseconds(
                lambda e=epsilon, p=delta, n=d, m=m: calibrate_quadratic_perturbation(e, p, n, degrees_of_freedom=m)
            )
            free = milliseconds(lambda e=epsilon, p=delta, n=d: calibrate_quadratic_perturbation(e, p, n))
            start = time.process_time()
            truth = swapped(epsilon, found)
            theirs = 1e3 * (time.process_time() - start)
            cells = [f"{epsilon:g}", f"{delta:g}", d, m, *(f"{value:.2f}" for value in (ours, inverse, given, free))]
            cells += [f"{theirs:.0f}", f"{theirs / ours:.0f}", f"{found.delta(epsilon) / truth - 1:.1e}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
