"""μ and ρ: exact where they are known, and above everything that the bound allows elsewhere."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri_exp

import objpert_core.accounting as acc
from objpert_core.accounting.gaussian import gdp
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics.gaussian import log_profile

LAWS = [
    acc.ObjectivePerturbation(10.0, 5.0),
    acc.ObjectivePerturbation(1.0, 0.3),
    acc.ObjectivePerturbation(10.0, 5.0, bound="monotone"),
    acc.ObjectivePerturbation(10.0, 5.0, bound="two-signed"),
    acc.ObjectivePerturbation(10.0, 5.0, bound="glm"),
    acc.HalfNormal(20.0),
]


def test_where_it_is_exact():
    assert acc.Gaussian(4.0, 3.0).mu() == 0.75
    assert acc.Gaussian(2.0).rho() == 0.125
    assert acc.ObjectivePerturbation(5.0, 50.0).mu() == 0.2  # λ = 2σ²
    assert acc.ObjectivePerturbation(5.0, 50.0).rho() == pytest.approx(0.02, rel=1e-15)
    assert acc.replace_one(acc.ObjectivePerturbation(5.0, 50.0)).mu() == 0.4
    assert acc.group(acc.ObjectivePerturbation(5.0, 50.0), 3).mu() == pytest.approx(0.6, rel=1e-15)
    assert acc.repeat(acc.Gaussian(3.0), 9).mu() == pytest.approx(1.0, rel=1e-14)
    assert acc.compose(acc.Gaussian(2.0), acc.Gaussian(1.0)).rho() == pytest.approx(0.625, rel=1e-14)
    assert acc.DPSGD(2.0, 1.0, 16).mu() == 2.0
    assert acc.via_rdp(acc.Gaussian(4.0)).mu() == acc.symmetrised(acc.Gaussian(4.0)).mu() == 0.25


def test_nothing_is_promised_where_nothing_is_known():
    silent = acc.PrivateSelection(acc.Gaussian(5.0), 4.0)
    assert silent.mu() == silent.rho() == math.inf


@pytest.mark.thorough
@pytest.mark.parametrize(
    "mechanism", [*(pytest.param(law, marks=pytest.mark.slow) for law in LAWS[:4]), *LAWS[4:]], ids=str
)
def test_a_mu_covers_the_symmetric_pair_and_one_per_cent_less_does_not(mechanism):
    """The pair's profile at every ε, far between the points that μ was taken from, and into the tail."""
    mu = mechanism.mu()
    pair = DiscreteLoss(*chain.atoms(*chain.polygon(mechanism._log_delta, 4)))
    epsilon = np.concatenate((np.linspace(0, 8 * mu, 4001), np.linspace(8 * mu, 36 * mu, 501)))
    resolved, corner = 2e-4, 5e-5  # of ε, and of δ where the profile has a corner: what the pair's polygon is off
    allowed = log_profile(epsilon, mu)
    assert (pair.log_profile(epsilon * (1 + resolved)) <= allowed + corner).all()
    assert (pair.log_profile(epsilon) > log_profile(epsilon, 0.99 * mu) + 1e-6).any()


def test_a_mu_is_exact_where_the_profile_has_its_corner():
    """Below log(1 + β/λ) the monotone bound is a line in e^ε: x = 2Φ(−a/2)/(2 + β/λ) decides."""
    mechanism = acc.ObjectivePerturbation(10.0, 5.0, bound="monotone")
    ratio = 1 + mechanism.smoothness / mechanism.lam
    exact = -2 * ndtri_exp(np.log(2) + log_ndtr(-0.05) - np.log1p(ratio))
    assert exact <= mechanism.mu() <= exact * (1 + 1e-13)


@pytest.mark.parametrize(("rate", "a", "size"), [(0.01, 1.0, 1), (0.5, 0.7, 1), (0.2, 0.5, 3)])
def test_mu_of_replaced_rows_is_no_more_than_twice_the_rows(rate, a, size):
    mu = acc.DPSGD(1 / a, rate, 1, adjacency=acc.REPLACE_ONE, group_size=size).mu()
    assert a * size <= mu <= 2 * a * size * (1 + 1e-12)


@pytest.mark.parametrize("a", [1e-5, 0.1, 1.0, 6.0])
def test_points_of_a_gaussian_profile_give_its_mu_back_rounded_up(a):
    def profile(epsilon):
        return np.asarray(log_profile(epsilon, a))

    assert a <= gdp.mu_of_profile(profile, chain.profile_points(profile)[0]) < a * (1 + 1e-3)


@pytest.mark.parametrize("start", [3.0, 10.0, 30.0])
@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(("a", "shift"), [(0.01, 0.0), (0.3, 0.2), (2.0, 1.5)])
def test_the_tail_of_a_shifted_law_is_covered(a, shift, doubled, start):

    v = start + np.geomspace(1e-6, 1e4, 200)
    factor = math.log(2) if doubled else 0.0
    exact = ndtri_exp(factor + log_ndtr(-v)) - ndtri_exp(factor - shift + log_ndtr(-v - a))
    assert (exact <= gdp.mu_beyond(a, shift, doubled, start) + 1e-7).all()
    assert gdp.mu_beyond(a, shift + 0.1, doubled, math.nan) == math.inf


def test_an_approximate_minimiser_adds_its_output_noise():
    release = acc.ApproximateMinima(acc.ObjectivePerturbation(5.0, 50.0), 1e-3, 0.001)
    assert release.mu() == pytest.approx(math.hypot(0.2, 2e-3 / 50 / 0.001), rel=1e-14)
