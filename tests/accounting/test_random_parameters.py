"""δ is a probability, falls in ε and inverts safely at random parameters, extreme ones too, and nothing warns.

Half of the numbers are such as somebody might use, half lie anywhere in the ranges that are allowed. A few hundred sets
in the quick loop; with `-m exhaustive` a hundred thousand, for about an hour of one core.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import objpert_core.accounting as acc

Rng = np.random.Generator
ROUNDING = 1e-12  # of ε: where a is vast, its own rounding moves what is proved at ε by far more than that
UNDERFLOW = -740.0  # log of about the least double
CLOSE = 1e-8  # of 1 + |log δ|: what quadratures are held to, with room


def decades(rng: Rng, usual: tuple[float, float], most: float) -> float:
    """A power of ten with an exponent in `usual`, or every other time one anywhere up to ±`most`."""
    low, high = usual if rng.random() < 0.5 else (-most, most)
    return float(10.0 ** rng.uniform(low, high))


def objective(rng: Rng, bound: str) -> acc.ObjectivePerturbation:
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
    return acc.ObjectivePerturbation(sigma, min(max(lam, 1e-179), 1e179), size, curvature, bound, dimension)


def minima(rng: Rng, bound: str) -> acc.Mechanism:
    """Algorithm 1, with as much output noise as is sensible, or any."""
    exact = objective(rng, bound)
    tau = decades(rng, (-9, 0), 100.0)
    a = decades(rng, (-4, 0), 90.0)
    sigma_out = 2 * tau / exact.lam / a
    return acc.ApproximateMinima(exact, tau, sigma_out) if 1e-199 < sigma_out < 1e199 else exact


def run(rng: Rng) -> acc.DPSGD:
    """DP-SGD with up to a milliard steps."""
    rate = 1.0 if rng.random() < 0.1 else 10.0 ** rng.uniform(-9, -0.01)
    return acc.DPSGD(float(10.0 ** rng.uniform(-2, 5)), rate, int(10 ** rng.uniform(0, 6)))


def simple(rng: Rng) -> acc.Mechanism:
    """A mechanism with a closed form, in the usual range of noise."""
    kind, sigma = rng.integers(4), float(10.0 ** rng.uniform(-1, 3))
    if kind == 0:
        return acc.Gaussian(sigma)
    if kind == 1:
        return acc.HalfNormal(sigma)
    return acc.ObjectivePerturbation(sigma, 10.0 ** rng.uniform(-3, 5), bound=("monotone", "two-signed")[kind - 2])


def calibrated(rng: Rng) -> acc.Mechanism:
    """A mechanism as calibration gives it, which has to meet its target both ways."""
    epsilon, delta = decades(rng, (-3, 3), 29.0), float(10.0 ** rng.uniform(-20, -0.01))
    bound = str(rng.choice(["logistic", "monotone", "two-signed", "glm", "kifer2012"]))
    with contextlib.suppress(ValueError):  # a bound may have no λ at its usual share of noise
        size = decades(rng, (-1, 1), 49.9)
        tau = None if rng.random() < 0.7 else 10.0 ** rng.uniform(-9, 0)
        found = acc.calibrate_objective_perturbation(epsilon, delta, size, bound=bound, tau=tau)
        assert found.delta(epsilon) <= delta
        assert found.epsilon(delta) <= epsilon
        return found
    return acc.calibrate_gaussian(epsilon, delta)


KINDS: dict[str, tuple[int, Callable[[Rng], acc.Mechanism]]] = {  # with the number of sets of a sample
    "Gaussian": (14, lambda rng: acc.Gaussian(decades(rng, (-2, 4), 149.0), decades(rng, (-1, 1), 149.0))),
    "output": (8, lambda rng: acc.OutputPerturbation(decades(rng, (-2, 4), 149.0), decades(rng, (-1, 1), 149.0))),
    "half-normal": (12, lambda rng: acc.HalfNormal(decades(rng, (-2, 4), 49.0), decades(rng, (-1, 1), 49.0))),
    "monotone": (16, lambda rng: objective(rng, "monotone")),
    "two-signed": (16, lambda rng: objective(rng, "two-signed")),
    "glm": (16, lambda rng: objective(rng, "glm")),
    "kifer2012": (8, lambda rng: objective(rng, "kifer2012")),
    "logistic": (4, lambda rng: objective(rng, "logistic")),
    "non-glm": (2, lambda rng: acc.via_rdp(objective(rng, "non-glm"))),
    "Algorithm 1": (2, lambda rng: minima(rng, str(rng.choice(["logistic", "monotone", "two-signed", "glm"])))),
    "Algorithm 1, 2012": (2, lambda rng: minima(rng, "kifer2012")),
    "Rényi": (
        2,
        lambda rng: acc.via_rdp(objective(rng, str(rng.choice(["logistic", "monotone", "two-signed", "glm"])))),
    ),
    "calibrated": (2, calibrated),
    "DP-SGD": (2, run),
    "repeated": (2, lambda rng: acc.repeat(simple(rng), int(10 ** rng.uniform(0, 6)))),
    "composed": (2, lambda rng: acc.compose(simple(rng), simple(rng), run(rng))),
    "symmetrised": (2, lambda rng: acc.repeat(acc.symmetrised(simple(rng)), int(10 ** rng.uniform(0, 4)))),
    "tabulated": (2, lambda rng: acc.tabulated(simple(rng))),
    "selection": (
        2,
        lambda rng: acc.PrivateSelection(
            simple(rng), float(10 ** rng.uniform(0, 3)), None if rng.random() < 0.5 else float(rng.uniform(-0.5, 3))
        ),
    ),
}


def epsilons(rng: Rng, mechanism: acc.Mechanism) -> np.ndarray:
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


def check(rng: Rng, mechanism: acc.Mechanism) -> None:
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
        renyi = acc.via_rdp(mechanism).log_delta(epsilon[::4])
        assert (log_delta[::4] <= np.maximum(renyi, UNDERFLOW) + slack[::4]).all(), (epsilon[::4], log_delta, renyi)
    if mechanism.by_convolution:
        low, high = mechanism.delta_bounds(epsilon)  # type: ignore[attr-defined]
        assert ((low <= proved * (1 + 1e-12) + 1e-300) & (low <= high) & (high <= 1)).all(), (low, high)
        least, most = mechanism.epsilon_bounds(delta[:1])  # type: ignore[attr-defined]
        assert (least <= most).all(), (least, most)


SEARCHED = [name for name, (sets, _) in KINDS.items() if sets == 2]
LEVELS = dict.fromkeys(["logistic", *SEARCHED], pytest.mark.slow)
LEVELS |= {"composed": pytest.mark.exhaustive} | dict.fromkeys(
    ["monotone", "two-signed", "glm", "half-normal"], pytest.mark.thorough
)


def check_sets(kind: str, sets: int, seed: int) -> None:
    """The first set that breaks a rule is named."""
    for number in range(sets):
        rng = np.random.default_rng((seed, list(KINDS).index(kind), number))
        mechanism: object = "not yet made"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                mechanism = KINDS[kind][1](rng)
                check(rng, mechanism)
        except Exception as error:
            raise AssertionError(f"set {number} of seed {seed}, {kind}: {mechanism!r}: {error!r}") from error


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=LEVELS.get(kind, ())) for kind in KINDS])
def test_a_sample(kind: str) -> None:
    check_sets(kind, KINDS[kind][0], seed=11)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand(kind: str, seed: int) -> None:
    check_sets(kind, KINDS[kind][0] * (1 if kind in SEARCHED else 100), seed)
