"""Time per number of the exact, rounded normal noise, next to noise in doubles that an attacker can see through.

    python -m benchmarks.noise [--numbers 32768] [--repeats 30]

Peers in the same run: 64 bits of the operating system through Φ⁻¹, as this project did before, and NumPy's generator.
A ratio above 1 is what a release on a lattice costs where the noise is all there is to do; in a fit it hardly shows.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from objpert_core.learning import noise_source


def inverse_cdf(size: int) -> np.ndarray:
    words = np.frombuffer(os.urandom(8 * size), dtype="<u8")
    magnitude = -ndtri(((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64)
    return np.where(words & np.uint64(1), magnitude, -magnitude)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", type=int, default=2**15)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    size, source, generator = options.numbers, noise_source(), np.random.default_rng()
    contestants: dict[str, Callable[[], object]] = {
        "exact, σ = 2^24 lattice steps": lambda: source.rounded_normal(2.0**24, size),
        "exact, σ = 2^50 lattice steps": lambda: source.rounded_normal(2.0**50, size),
        "the operating system's bits through Φ⁻¹": lambda: inverse_cdf(size),
        "NumPy's generator": lambda: generator.standard_normal(size),
    }
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(options.repeats):  # they take turns
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    ours = best["exact, σ = 2^24 lattice steps"]
    for name, seconds in best.items():
        print(
            f"{name:42s} {1e9 * seconds / size:6.1f} ns a number; the first takes {ours / seconds:5.2f} times as long"
        )


if __name__ == "__main__":
    main()
