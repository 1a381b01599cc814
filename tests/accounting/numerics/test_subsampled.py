"""The Rényi curve of the subsampled Gaussian: accuracy at every order, and never below the truth anywhere."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from objpert_core.accounting.dp_sgd import subsampled
from tests.second_opinion.batches import added

ALL_ORDERS = np.concatenate(([1.0, np.nextafter(1, 2)], 1 + 10 ** np.linspace(-15, 18, 133), [1e100, 1e300]))
QUADRATURE = 1e-11  # relative error of the second opinion


def step(alpha, q, noise_multiplier):
    return float(subsampled.step_rdp(np.array([float(alpha)]), q, noise_multiplier)[0])


def binomial(alpha, q, noise_multiplier):
    """log Σ C(α, k)·(1 − q)^{α−k}·q^k·e^{k(k−1)/(2σ²)}, over α − 1, in 60 digits."""
    with mp.workdps(60):
        rate, half = mpf(q), 1 / (2 * mpf(noise_multiplier) ** 2)
        term, total, growth = (1 - rate) ** alpha, mpf(0), mpf(1)  # growth = e^{k(k−1)·half}
        step, factor = mp.exp(2 * half), mpf(1)
        for k in range(alpha + 1):
            total += term * growth
            growth *= factor
            factor *= step
            term *= mpf(alpha - k) / (k + 1) * rate / (1 - rate)
        return mp.log(total) / (alpha - 1)


def above_the_sum(alpha, q, noise_multiplier, by_at_most=1e-9):
    """Whether the curve is not below the exact value at a whole order, and hardly above."""
    exact = binomial(alpha, q, noise_multiplier)
    return exact <= step(alpha, q, noise_multiplier) <= exact * (1 + mpf(by_at_most))


def whole_orders(q, noise_multiplier):
    """Any, those near which the upper mode overtakes the lower, and those where the triangle inequality takes over."""
    square = 2 * noise_multiplier**2
    change = [round(1 - factor * square * np.log(q)) for factor in (0.9, 0.99, 1.0, 1.01, 1.2, 3.0)]
    seam = int(1 + square * (subsampled._TIGHT - np.log(q)))
    orders = {2, 3, 7, 32, 59, 256, 1024, *change, seam, seam + 1}
    return sorted(alpha for alpha in orders if 2 <= alpha <= 5000)


LITTLE_NOISE = itertools.product((1e-12, 1e-3, 0.5), (1e-3, 0.012, 0.0125, 0.013))
ANY_NOISE = itertools.product((1e-12, 1e-6, 1e-3, 0.0071, 0.3, 0.6, 0.999), (0.3, 0.7, 1.0, 2.0, 3.3, 7.0, 13.3, 100.0))


@pytest.mark.parametrize(
    ("q", "noise_multiplier"), [*LITTLE_NOISE, *(pytest.param(*pair, marks=pytest.mark.slow) for pair in ANY_NOISE)]
)
def test_at_whole_orders_the_curve_is_the_binomial_sum(q, noise_multiplier):
    for alpha in whole_orders(q, noise_multiplier):
        assert above_the_sum(alpha, q, noise_multiplier), alpha


def directions(alpha, q, noise_multiplier):
    """The mixture from the Gaussian, and the Gaussian from the mixture, by quadrature."""
    return [one.renyi(alpha)[0] for one in added(1 / noise_multiplier, q)]


@pytest.mark.parametrize(
    ("alpha", "q", "noise_multiplier", "by_at_most"),
    [
        (1.0, 1e-6, 100.0, 1e-9),
        (1.0000001, 1e-6, 0.3, 1e-9),
        (2.5, 1e-12, 5.0, 1e-9),
        (59.3, 0.01, 1.0, 1e-9),
        (9999.5, 1e-6, 15.3, 1e-9),
        (59.3, 0.4, 12, 1e-9),  # where Opacus is negative: its fractional orders cancel
        *((alpha, 0.1, noise, 2e-3) for alpha, noise in ((1.0, 0.0125), (1.0, 0.012), (1.0001, 0.012), (1.002, 0.012))),
        *((alpha, 0.3, 1.0, 1e-9) for alpha in (1.0, 1.5, 8.5)),
        *((alpha, 0.9, 1.0, 1e-9) for alpha in (1.5, 3.3)),
    ],
)
def test_fractional_orders_and_little_noise_are_covered_and_the_mixture_is_the_larger_direction(
    alpha, q, noise_multiplier, by_at_most
):
    larger, smaller = directions(alpha, q, noise_multiplier)
    value = step(alpha, q, noise_multiplier)
    assert smaller <= larger * (1 + QUADRATURE)
    assert larger * (1 - QUADRATURE) <= value <= larger * (1 + by_at_most)


def test_memory_does_not_grow_with_the_points_or_the_orders():
    tracemalloc.start()
    try:
        subsampled.step_rdp(1 + np.geomspace(1e-9, 1e18, 1000), 1e-6, 0.05)
        subsampled.step_rdp(np.full(200, 1e6), 1e-6, 100.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8e6


def test_the_series_meet_the_direct_formulas(monkeypatch):
    """Moving the place where the series take over changes nothing but rounding."""
    alpha = np.array([1.0, 1.001, 2.5, 40.0])
    values = [subsampled.step_rdp(alpha, q, 1.5) for q in (1e-3, 0.3)]
    monkeypatch.setattr(subsampled, "_SMALL", 0.6 * subsampled._SMALL)
    np.testing.assert_allclose([subsampled.step_rdp(alpha, q, 1.5) for q in (1e-3, 0.3)], values, rtol=1e-12)


# --- beyond the range of the trapezoidal rule -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("q", "noise_multiplier"), [(1e-6, 1e3), (0.01, 1e3), (1e-3, 1e5)])
@pytest.mark.parametrize("factor", [0.99, 1.01, 3])
def test_the_seam_of_the_largest_number_of_points(q, noise_multiplier, factor):
    reach = subsampled._MOST_POINTS * subsampled._step(1 / noise_multiplier) - 2 * subsampled._TAIL
    alpha = factor * reach * noise_multiplier
    least = added(1 / noise_multiplier, q)[0].renyi(alpha)[0] * (1 - QUADRATURE)
    assert least <= step(alpha, q, noise_multiplier) <= alpha / (2 * noise_multiplier**2)


def test_rates_whose_squares_underflow():
    """At α = 2, ε = log1p(q²·(e^{a²} − 1)), which is below the smallest double at last."""
    for q in (1e-130, 1e-139, 1e-141, 1e-200, 5e-324):
        for noise_multiplier in (0.3, 1.0, 1e5):
            with mp.workdps(20):
                assert step(2, q, noise_multiplier) >= mpf(q) ** 2 * mp.expm1(1 / mpf(noise_multiplier) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("q", [5e-324, 1e-300, 1e-140, 1e-20, 1e-6, 0.3, 1 - 1.2e-16, 1.0])
@pytest.mark.parametrize("noise_multiplier", [5e-324, 1e-160, 1e-10, 0.0124, 0.3, 10.0, 1e5, 1e140, 1e200, 1.7e308])
def test_everywhere_positive_and_increasing_and_below_the_gaussian(q, noise_multiplier):
    value = subsampled.step_rdp(ALL_ORDERS, q, noise_multiplier)
    assert not np.isnan(value).any()
    assert (value > 0).all()
    assert (value[1:] >= value[:-1] * (1 - 1e-11)).all()
    with np.errstate(over="ignore"):
        gaussian = ALL_ORDERS * (1 / noise_multiplier) * (1 / noise_multiplier / 2)
    assert (value <= np.maximum(gaussian * (1 + 1e-9), np.finfo(float).tiny)).all()


# --- shape ------------------------------------------------------------------------------------------------------

LOG_RATES, LOG_NOISES, LOG_ORDERS = st.floats(-12, 0), st.floats(-3, 5), st.floats(-9, 18)
SLACK = 1 + 1e-10


@pytest.mark.thorough
@given(LOG_RATES, LOG_NOISES, LOG_ORDERS, st.floats(1e-3, 2))
@settings(max_examples=60, deadline=None)
def test_monotone_in_order_rate_and_noise(log_q, log_sigma, log_order, further):
    q, sigma, alpha = 10**log_q, 10**log_sigma, 1 + 10**log_order
    value = step(alpha, q, sigma)
    assert value <= step(1 + 10 ** (log_order + further), q, sigma) * SLACK
    # rounding is allowed for by up to (α·a)² parts in 10^16, and the bound beyond the rule is not cut off at one place
    in_range = alpha / sigma < 1000 and sigma > 0.05
    if in_range:
        assert value <= step(alpha, min(1.0, 10 ** (log_q + further)), sigma) * (SLACK + 3e-10)
        assert step(alpha, q, 10 ** (log_sigma + further)) <= value * (SLACK + 3e-10)
