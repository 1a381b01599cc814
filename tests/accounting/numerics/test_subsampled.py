"""The Rényi curve of the subsampled Gaussian: accuracy at every order, and never below the truth anywhere."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from objpert_core.accounting import DPSGD
from objpert_core.accounting.numerics import subsampled
from tests.accounting.oracles import reference_rows, relative_error
from tests.accounting.subsampled_oracle import binomial, gaussian_from_mixture, mixture_from_gaussian

ALL_ORDERS = np.concatenate(([1.0, np.nextafter(1, 2)], 1 + 10 ** np.linspace(-15, 18, 133), [1e100, 1e300]))
DP_SGD = [(0.01, 1.0), (0.0071, 2.75), (0.2, 5.0)]


def step(alpha, q, noise_multiplier):
    return float(subsampled.step_rdp(np.array([float(alpha)]), q, noise_multiplier)[0])


def excess(alpha, q, noise_multiplier, exact):
    """By how much of the exact value the curve is above it; negative if it is too small."""
    return float(mpf(step(alpha, q, noise_multiplier)) / exact - 1)


def test_reference_values():
    for row in reference_rows("subsampled_gaussian_rdp"):
        value = DPSGD(row["noise_multiplier"], row["sample_rate"], 1).rdp(row["alpha"])
        assert relative_error(value, row["rdp"]) < 1e-9, row


@pytest.mark.slow
@pytest.mark.parametrize("noise_multiplier", [0.3, 0.7, 1.0, 3.3, 10.0, 100.0])
@pytest.mark.parametrize("q", [1e-12, 1e-6, 1e-3, 0.0071, 0.4, 0.999])
def test_integer_orders(q, noise_multiplier):
    for alpha in (2, 3, 7, 32, 59, 256, 1024):
        assert 0 <= excess(alpha, q, noise_multiplier, binomial(alpha, q, noise_multiplier)) < 1e-9, alpha


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "q", "noise_multiplier"),
    [(1.0, 1e-6, 100.0), (1.0000001, 1e-6, 0.3), (2.5, 1e-12, 5.0), (59.3, 0.01, 1.0), (9999.5, 1e-6, 15.3)],
)
def test_fractional_orders(alpha, q, noise_multiplier):
    assert 0 <= excess(alpha, q, noise_multiplier, mixture_from_gaussian(alpha, q, noise_multiplier)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("q", [1e-3, 0.01, 0.3])
def test_integer_orders_where_the_two_modes_change_over(q):
    """Near α·log(1/q) = α·(α − 1)·a²/2 the upper mode overtakes the lower, and rounding weighs most."""
    for noise_multiplier in (0.3, 2.0, 13.3):
        change = -2 * np.log(q) * noise_multiplier**2
        for factor in (0.9, 0.99, 1.0, 1.01, 1.2, 3.0):
            alpha = max(2, round(1 + factor * change))
            assert 0 <= excess(alpha, q, noise_multiplier, binomial(alpha, q, noise_multiplier)) < 1e-9, alpha


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("noise_multiplier", [0.3, 0.5, 1.0, 2.75, 13.3, 30.0, 100.0])
@pytest.mark.parametrize("q", [1e-6, 1e-4, 0.0071, 0.4, 0.999999])
def test_wide_grid(q, noise_multiplier):
    for alpha in (1.0, 1.0000001, 1.001, 1.5, 1.999999, 4.25, 19.7, 59.3, 313.1, 2222.2, 9999.5):
        assert 0 <= excess(alpha, q, noise_multiplier, mixture_from_gaussian(alpha, q, noise_multiplier)) < 1e-9, alpha
    for alpha in (2, 5, 100, 2000, 10_000):
        assert 0 <= excess(alpha, q, noise_multiplier, binomial(alpha, q, noise_multiplier)) < 1e-9, alpha


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "q", "noise_multiplier"), [(3, 0.1, 1.0), (40, 0.01, 2.0)])
def test_the_two_oracles_agree(alpha, q, noise_multiplier):
    exact = binomial(alpha, q, noise_multiplier)
    assert abs(mixture_from_gaussian(alpha, q, noise_multiplier) / exact - 1) < mpf(10) ** -25


SLOW = pytest.mark.slow
DIRECTIONS = [
    (1.0, 0.3, 1.0),
    (8.5, 0.2, 3.0),
    *(pytest.param(*case, marks=SLOW) for case in [(1.5, 0.01, 0.7), (3.3, 0.9, 1.0), (30.5, 0.5, 5.0), (2, 0.5, 0.4)]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "q", "noise_multiplier"), DIRECTIONS)
def test_the_mixture_from_the_gaussian_is_the_larger_direction(alpha, q, noise_multiplier):
    larger = mixture_from_gaussian(alpha, q, noise_multiplier)
    assert gaussian_from_mixture(alpha, q, noise_multiplier) < larger <= step(alpha, q, noise_multiplier)


@pytest.mark.slow
def test_where_opacus_is_negative():
    """Its fractional orders cancel at q = 0.4, σ = 12, α = 59.3."""
    value = DPSGD(noise_multiplier=12, sample_rate=0.4, steps=1).rdp(59.3)
    assert relative_error(value, mixture_from_gaussian(59.3, 0.4, 12)) < 1e-11
    assert value > 0.036


@pytest.mark.slow
@pytest.mark.parametrize(("q", "noise_multiplier"), DP_SGD)
def test_dp_accounting_agrees_at_integer_orders(q, noise_multiplier):
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting import rdp

    alpha = np.arange(2.0, 257.0)
    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(noise_multiplier))
    accountant = rdp.RdpAccountant(list(range(2, 257))).compose(event)
    value = subsampled.step_rdp(alpha, q, noise_multiplier)
    np.testing.assert_allclose(value, accountant._rdp, rtol=1e-8)


def test_memory_does_not_grow_with_the_points_or_the_orders():
    tracemalloc.start()
    try:
        subsampled.step_rdp(1 + np.geomspace(1e-9, 1e18, 1000), 1e-6, 0.05)
        subsampled.step_rdp(np.full(200, 1e6), 1e-6, 100.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8e6


@pytest.mark.parametrize(("q", "noise_multiplier"), [(1e-6, 0.3), (0.01, 1.0), (0.4, 12.0)])
def test_integers_are_not_special(q, noise_multiplier):
    for n in (2, 3, 17, 100, 1024):
        below, at, above = (step(alpha, q, noise_multiplier) for alpha in (n - 1e-9, n, n + 1e-9))
        assert below * (1 - 1e-11) <= at <= above * (1 + 1e-11)
        assert above / below - 1 < 1e-7


def test_the_series_meet_the_direct_formulas(monkeypatch):
    """Moving the place where the series take over changes nothing but rounding."""
    alpha = np.array([1.0, 1.001, 2.5, 40.0])
    values = [subsampled.step_rdp(alpha, q, 1.5) for q in (1e-3, 0.3)]
    monkeypatch.setattr(subsampled, "_SMALL", 0.6 * subsampled._SMALL)
    np.testing.assert_allclose([subsampled.step_rdp(alpha, q, 1.5) for q in (1e-3, 0.3)], values, rtol=1e-12)


@pytest.mark.slow
def test_half_the_step_changes_nothing(monkeypatch):
    alpha = 1 + np.geomspace(1e-9, 1e4, 60)
    cases = [(q, s) for q in (1e-9, 1e-3, 0.5, 1 - 1e-9) for s in (0.02, 0.3, 1.0, 2.6, 100.0)]
    values = [subsampled.step_rdp(alpha, q, s) for q, s in cases]
    full = subsampled._step
    monkeypatch.setattr(subsampled, "_step", lambda a: full(a) / 1.9)
    monkeypatch.setattr(subsampled, "_MOST_POINTS", 2 * subsampled._MOST_POINTS)
    for (q, s), value in zip(cases, values, strict=True):
        np.testing.assert_allclose(subsampled.step_rdp(alpha, q, s), value, rtol=1e-10, err_msg=f"{q} {s}")


def test_without_sampling_it_is_the_gaussian_mechanism():
    alpha = np.array([1.0, 1.5, 8.0, 1e6])
    np.testing.assert_allclose(subsampled.step_rdp(alpha, 1.0, 2.0), alpha / 8, rtol=1e-15)
    np.testing.assert_allclose(subsampled.step_rdp(alpha, 1 - 1e-12, 2.0), alpha / 8, rtol=1e-9)


# --- beyond the range of the trapezoidal rule -------------------------------------------------------------------


@pytest.mark.parametrize("noise_multiplier", [1e-3, 0.012, 0.0125, 0.013])
def test_little_noise_is_a_bound_and_tight(noise_multiplier):
    for q in (1e-12, 1e-3, 0.5):
        for alpha in (2, 3, 9):
            assert 0 <= excess(alpha, q, noise_multiplier, binomial(alpha, q, noise_multiplier)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "noise_multiplier"), [(1.0, 0.0125), *(pytest.param(x, 0.012, marks=SLOW) for x in (1.0, 1.0001, 1.002))]
)
def test_little_noise_at_orders_near_1_is_a_bound(alpha, noise_multiplier):
    exact = mixture_from_gaussian(alpha, 0.1, noise_multiplier)
    assert 0 <= excess(alpha, 0.1, noise_multiplier, exact) < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.01, 0.6])
def test_the_seam_of_the_triangle_inequality(q):
    """Both sides of s·a²/2 + log q = _TIGHT, at integer orders."""
    for noise_multiplier in (1.0, 3.0, 7.0):
        edge = 1 + 2 * noise_multiplier**2 * (subsampled._TIGHT - np.log(q))
        for alpha in (int(edge), int(edge) + 1):
            assert 0 <= excess(alpha, q, noise_multiplier, binomial(alpha, q, noise_multiplier)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("q", "noise_multiplier", "factor"),
    [
        *(pytest.param(*case, f, marks=SLOW) for case in [(1e-6, 1e3), (0.01, 1e3), (1e-3, 1e5)] for f in (0.99, 1.01)),
        (0.01, 1e3, 3),
    ],
)
def test_the_seam_of_the_largest_number_of_points(q, noise_multiplier, factor):
    reach = subsampled._MOST_POINTS * subsampled._step(1 / noise_multiplier) - 2 * subsampled._TAIL
    alpha = factor * reach * noise_multiplier
    value = step(alpha, q, noise_multiplier)
    assert mixture_from_gaussian(alpha, q, noise_multiplier) <= value <= alpha / (2 * noise_multiplier**2)


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


@given(st.floats(-6, -1e-9), st.floats(-0.5, 2), st.floats(-7, 4), st.floats(-7, 4))
@settings(max_examples=60, deadline=None)
def test_the_moment_is_log_convex(log_q, log_sigma, first, second):
    """(α − 1)·ε(α) = log E[(P/Q)^α] is convex in α."""
    alpha = 1 + np.array([10**first, (10**first + 10**second) / 2, 10**second])
    moment = (alpha - 1) * subsampled.step_rdp(alpha, 10**log_q, 10**log_sigma)
    assert moment[1] <= (moment[0] + moment[2]) / 2 * (1 + 1e-9)


@pytest.mark.parametrize(("q", "noise_multiplier"), DP_SGD)
def test_one_per_cent_less_is_refuted(q, noise_multiplier):
    """The check above would catch a curve that is 1 % too small, or one for 1 % more noise."""
    exact = binomial(16, q, noise_multiplier)
    assert mpf(0.99 * step(16, q, noise_multiplier)) < exact
    assert mpf(step(16, q, 1.01 * noise_multiplier)) < exact
