"""The best split of ε: never above what ε is, never rising in ε, as good as a dense scan."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from objpert_core.accounting import ApproximateMinima, ObjectivePerturbation
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.split import difference_down


@pytest.mark.thorough
@given(x=st.floats(1e-150, 1e150), share=st.floats(0, 1))
def test_a_difference_is_rounded_down_and_by_no_more_than_a_neighbour(x, share):
    y = share * x
    (found,) = difference_down(np.array([x]), y)
    exact = Fraction(x) - Fraction(y)
    assert Fraction(float(found)) <= exact < Fraction(float(np.nextafter(found, np.inf)))


# σ, λ, β, τ, σ_out and two ε of which the larger had the larger δ; the last is one that a first mend had
RISES = [
    (1951.23, 147.283, 9.68998, 1.10798e-07, 33.9717, 117.36, 131.715),
    (183.811, 0.38303, 1.87265, 2.36133e-08, 40.451, 3890.53, 4365.73),
    (9881.45, 0.015772, 0.526654, 1.08492e-08, 38.2029, 29817.6, 33460.6),
    (0.513553, 0.00479041, 0.0167893, 0.093242, 8.85249, 357.317, 364.771),
]


def kifer(sigma, lam, beta, tau, sigma_out):
    return ApproximateMinima(ObjectivePerturbation(sigma, lam, 1.0, beta, bound="kifer2012"), tau, sigma_out)


@pytest.mark.parametrize(("numbers", "epsilon", "larger"), [(row[:5], *row[5:]) for row in RISES])
def test_a_larger_epsilon_has_no_larger_delta(numbers, epsilon, larger):
    mechanism = kifer(*numbers)
    assert mechanism.log_delta(larger) < mechanism.log_delta(epsilon) < -840


@pytest.mark.slow
def test_many_epsilons_one_at_a_time_fall():
    """Each ε by itself: within one array the smallest so far is kept anyway."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        sigma, lam, beta, tau, sigma_out = 10 ** rng.uniform([-3, -4, -2, -8, -6], [4, 6, 1, 0, 2])
        mechanism = kifer(sigma, lam, beta, tau, sigma_out)
        least = mechanism.objective.least_epsilon
        epsilon = np.sort(
            np.append(least * (1 + 10 ** rng.uniform(-12, 3, 6)), least + mechanism.output.a * np.arange(6))
        )
        log_delta = np.array([mechanism.log_delta(float(value)) for value in epsilon])
        assert (np.diff(log_delta) <= 1e-13 * (1 - log_delta[1:])).all()


@pytest.mark.thorough
def test_it_is_as_good_as_a_dense_scan():
    rng = np.random.default_rng(4)
    for _ in range(12):
        sigma, lam, beta, tau, sigma_out = 10 ** rng.uniform([-1, -2, -2, -6, -4], [3, 3, 1, 0, 0])
        mechanism = kifer(sigma, lam, beta, tau, sigma_out)
        least, a = mechanism.objective.least_epsilon, mechanism.output.a
        epsilon = least * (1 + 10 ** rng.uniform(-2, 1)) + 10 * a * rng.random()
        share = np.concatenate([(epsilon - least) * np.linspace(0, 1, 20_001), a * np.linspace(0, 40, 4001)])
        share = share[share <= epsilon - least]
        first = mechanism.objective.log_delta(np.maximum(epsilon - share, least))
        scanned = np.logaddexp(first, gauss.log_profile(share, a)).min()
        assert mechanism.log_delta(epsilon) <= scanned + 1e-9 * (1 - scanned)
