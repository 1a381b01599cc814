"""Random parameters for every mechanism and every bound, and what has to hold at all of them.

Half of the numbers are such as somebody might use, half lie anywhere in the ranges that are allowed. Run by hand:

    python -m tests.accounting.random_parameters --count 100000 --seed 0

prints the slowest kinds, and stops at the first set of parameters that breaks a rule or is at work for too long.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import signal
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from objpert_core.accounting import (
    DPSGD,
    ApproximateMinima,
    Gaussian,
    HalfNormal,
    Mechanism,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateSelection,
    calibrate_gaussian,
    calibrate_objective_perturbation,
    compose,
    repeat,
    symmetrised,
    tabulated,
    via_rdp,
)

Rng = np.random.Generator
SECONDS = 30.0  # of computing, not of waiting: fifteen times what any case may take
ROUNDING = 1e-12  # of ε: where a is vast, its own rounding moves what is proved at ε by far more than that
UNDERFLOW = -740.0  # log of about the least double
CLOSE = 1e-8  # of 1 + |log δ|: what quadratures are held to, with room


def decades(rng: Rng, usual: tuple[float, float], most: float) -> float:
    """A power of ten with an exponent in `usual`, or every other time one anywhere up to ±`most`."""
    low, high = usual if rng.random() < 0.5 else (-most, most)
    return float(10.0 ** rng.uniform(low, high))


def objective(rng: Rng, bound: str) -> ObjectivePerturbation:
    """Objective perturbation of any units; for the published bounds λ is mostly above β, often just."""
    size = decades(rng, (-1, 1), 49.9)
    curvature = decades(rng, (-3, 3), 100.0) if rng.random() < 0.5 else size**2 / 4
    sigma = size * decades(rng, (-2, 4), 99.0)
    lam = decades(rng, (-6, 9), 170.0)
    if bound in ("glm", "non-glm") and rng.random() < 0.9:
        lam = curvature * (1 + float(10.0 ** rng.uniform(-15, 9)))
    elif rng.random() < 0.5:
        lam = size**2 * decades(rng, (-4, 6), 70.0)
    dimension = int(10 ** rng.uniform(0, 6)) if bound == "non-glm" else None
    return ObjectivePerturbation(sigma, min(max(lam, 1e-179), 1e179), size, curvature, bound, dimension)


def minima(rng: Rng, bound: str) -> Mechanism:
    """Algorithm 1, with as much output noise as is sensible, or any."""
    exact = objective(rng, bound)
    tau = decades(rng, (-9, 0), 100.0)
    a = decades(rng, (-4, 0), 90.0)
    sigma_out = 2 * tau / exact.lam / a
    return ApproximateMinima(exact, tau, sigma_out) if 1e-199 < sigma_out < 1e199 else exact


def run(rng: Rng) -> DPSGD:
    """DP-SGD with up to a milliard steps."""
    rate = 1.0 if rng.random() < 0.1 else 10.0 ** rng.uniform(-9, -0.01)
    return DPSGD(float(10.0 ** rng.uniform(-2, 5)), rate, int(10 ** rng.uniform(0, 6)))


def simple(rng: Rng) -> Mechanism:
    """A mechanism with a closed form, in the usual range of noise."""
    kind, sigma = rng.integers(4), float(10.0 ** rng.uniform(-1, 3))
    if kind == 0:
        return Gaussian(sigma)
    if kind == 1:
        return HalfNormal(sigma)
    return ObjectivePerturbation(sigma, 10.0 ** rng.uniform(-3, 5), bound=("monotone", "two-signed")[kind - 2])


def calibrated(rng: Rng) -> Mechanism:
    """A mechanism as calibration gives it, which has to meet its target both ways."""
    epsilon, delta = decades(rng, (-3, 3), 29.0), float(10.0 ** rng.uniform(-20, -0.01))
    bound = str(rng.choice(["logistic", "monotone", "two-signed", "glm", "kifer2012"]))
    with contextlib.suppress(ValueError):  # a bound may have no λ at its usual share of noise
        size = decades(rng, (-1, 1), 49.9)
        tau = None if rng.random() < 0.7 else 10.0 ** rng.uniform(-9, 0)
        found = calibrate_objective_perturbation(epsilon, delta, size, bound=bound, tau=tau)
        assert found.delta(epsilon) <= delta
        assert found.epsilon(delta) <= epsilon
        return found
    return calibrate_gaussian(epsilon, delta)


KINDS: dict[str, tuple[float, Callable[[Rng], Mechanism]]] = {  # with the share of the sets
    "Gaussian": (14, lambda rng: Gaussian(decades(rng, (-2, 4), 149.0), decades(rng, (-1, 1), 149.0))),
    "output": (8, lambda rng: OutputPerturbation(decades(rng, (-2, 4), 149.0), decades(rng, (-1, 1), 149.0))),
    "half-normal": (12, lambda rng: HalfNormal(decades(rng, (-2, 4), 49.0), decades(rng, (-1, 1), 49.0))),
    "monotone": (16, lambda rng: objective(rng, "monotone")),
    "two-signed": (16, lambda rng: objective(rng, "two-signed")),
    "glm": (16, lambda rng: objective(rng, "glm")),
    "kifer2012": (8, lambda rng: objective(rng, "kifer2012")),
    "logistic": (4, lambda rng: objective(rng, "logistic")),
    "non-glm": (0.3, lambda rng: via_rdp(objective(rng, "non-glm"))),
    "Algorithm 1": (1.5, lambda rng: minima(rng, str(rng.choice(["logistic", "monotone", "two-signed", "glm"])))),
    "Algorithm 1, 2012": (1.5, lambda rng: minima(rng, "kifer2012")),
    "Rényi": (0.3, lambda rng: via_rdp(objective(rng, str(rng.choice(["logistic", "monotone", "two-signed", "glm"]))))),
    "calibrated": (0.6, calibrated),
    "DP-SGD": (0.02, run),
    "repeated": (0.02, lambda rng: repeat(simple(rng), int(10 ** rng.uniform(0, 6)))),
    "composed": (0.02, lambda rng: compose(simple(rng), simple(rng), run(rng))),
    "symmetrised": (0.02, lambda rng: repeat(symmetrised(simple(rng)), int(10 ** rng.uniform(0, 4)))),
    "tabulated": (0.05, lambda rng: tabulated(simple(rng))),
    "selection": (
        0.1,
        lambda rng: PrivateSelection(
            simple(rng), float(10 ** rng.uniform(0, 3)), None if rng.random() < 0.5 else float(rng.uniform(-0.5, 3))
        ),
    ),
}
LEAST = 2  # sets of every kind, however few there are in all


def epsilons(rng: Rng, mechanism: Mechanism) -> np.ndarray:
    """0, any ε at all, and those about which the profile turns."""
    anything = 10.0 ** rng.uniform(-300, 300, 2)
    usual = 10.0 ** rng.uniform(-4, 3, 3)
    if mechanism.by_convolution:  # each costs a grid or two
        return np.sort(np.concatenate(([0.0], anything[:1], usual[:2])))
    lower = mechanism.lower_bound
    if lower is None:
        return np.sort(np.concatenate(([0.0], anything, usual)))
    a = lower.a  # type: ignore[attr-defined]
    with np.errstate(over="ignore"):
        turning = np.abs(a * (a / 2 + rng.uniform(-3, 9, 3)))
    return np.sort(np.concatenate(([0.0], anything, usual, turning[np.isfinite(turning)])))


def check(rng: Rng, mechanism: Mechanism) -> None:
    """δ is a probability that does not rise in ε; ε and δ invert each other safely; lower ≤ δ ≤ upper."""
    epsilon = epsilons(rng, mechanism)
    delta = np.array([10.0 ** rng.uniform(-300, -1), 10.0 ** rng.uniform(-12, -1e-3)])
    log_delta = mechanism.log_delta(epsilon)
    log_delta = np.maximum(log_delta, UNDERFLOW)  # smaller ones are 0 as doubles
    slack = CLOSE * (1 - log_delta)
    assert (log_delta <= 0).all(), log_delta
    proved = np.exp(log_delta)
    assert ((proved >= 0) & (proved <= 1)).all()
    below = np.maximum.accumulate(log_delta[::-1])[::-1]
    assert (below <= log_delta + slack).all(), (epsilon, log_delta)
    found = mechanism.epsilon(delta)
    assert (found >= 0).all(), found
    finite = np.isfinite(found)
    assert (mechanism.delta(found[finite]) <= delta[finite]).all(), (found, delta)
    lower = mechanism.lower_bound
    if lower is not None and lower is not mechanism:
        least = lower.log_delta(epsilon * (1 + ROUNDING))
        assert (least <= log_delta + slack).all(), (epsilon, least, log_delta)
    if mechanism.has_rdp and mechanism.has_losses:
        alpha = 1 + 10.0 ** rng.uniform(-6, 6, 3)
        curve = mechanism.rdp(np.sort(alpha))
        assert (curve >= 0).all(), curve
        assert (np.diff(curve[np.isfinite(curve)]) >= -1e-9 * curve[np.isfinite(curve)][:-1]).all(), curve
    if mechanism.has_rdp and mechanism.has_losses and not mechanism.by_convolution:
        renyi = via_rdp(mechanism).log_delta(epsilon[::4])
        assert (log_delta[::4] <= np.maximum(renyi, UNDERFLOW) + slack[::4]).all(), (epsilon[::4], log_delta, renyi)
    if mechanism.by_convolution:
        low, high = mechanism.delta_bounds(epsilon)  # type: ignore[attr-defined]
        assert ((low <= proved * (1 + 1e-12) + 1e-300) & (low <= high) & (high <= 1)).all(), (low, high)
        least, most = mechanism.epsilon_bounds(delta[:1])  # type: ignore[attr-defined]
        assert (least <= most).all(), (least, most)


class TooLongError(Exception):
    """A case is at work for more than `SECONDS` of the processor's time."""


@contextlib.contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """Interrupt what computes for too long; time spent waiting for a busy machine does not count."""

    def stop(_signal: int, _frame: object) -> None:
        raise TooLongError(f"at work for more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def kinds(rng: Rng, count: int) -> list[str]:
    """The kind of each of `count` sets: every one at least twice, the others by their shares."""
    names = list(KINDS)
    shares = np.array([share for share, _ in KINDS.values()])
    drawn = rng.choice(names, size=max(count - LEAST * len(names), 0), p=shares / shares.sum())
    return [*(LEAST * names), *map(str, drawn)][:count]


def sweep(count: int, seed: int, only: str | None = None, keep_going: bool = False) -> dict[str, list[float]]:
    """Check `count` random sets; the processor's seconds of each, by kind. The first that fails is named."""
    spent: dict[str, list[float]] = defaultdict(list)
    for number, kind in enumerate(kinds(np.random.default_rng(seed), count)):
        if only is not None and kind != only:
            continue
        rng = np.random.default_rng((seed, number))
        mechanism: object = "not yet made"
        start = time.process_time()
        try:
            with warnings.catch_warnings(), watchdog(SECONDS):
                warnings.simplefilter("error")
                mechanism = KINDS[kind][1](rng)
                check(rng, mechanism)
        except Exception as error:
            message = f"set {number} of seed {seed}, {kind}: {mechanism!r}: {error!r}"
            if not keep_going:
                raise AssertionError(message) from error
            print(message[:900], flush=True)
        spent[kind].append(time.process_time() - start)
        if keep_going and number % 1000 == 999:
            print(f"{number + 1} sets, {time.process_time():.0f} s", flush=True)
    return spent


def main() -> None:
    """The command above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=tuple(KINDS))
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args()
    spent = sweep(options.count, options.seed, options.only, options.keep_going)
    print(f"{sum(map(len, spent.values()))} sets")
    for kind, seconds in Counter({kind: max(times) for kind, times in spent.items()}).most_common():
        times = spent[kind]
        mean = math.fsum(times) / len(times)
        print(f"{kind:20} {len(times):6} sets  {sum(times):8.1f} s in all  {mean:.4f} s each  {seconds:.2f} s at most")


if __name__ == "__main__":
    main()
