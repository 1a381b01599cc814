"""The half-normal law of "glm", the positive Gaussian law of "monotone" and a sampled step, against integrals."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import chi2

from objpert_core.accounting import Gaussian, ObjectivePerturbation, repeat
from objpert_core.accounting.laws.base import SubsampledLoss
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.objective.law import LogisticLaw, logistic_law
from objpert_core.accounting.quadratic import wishart
from objpert_core.accounting.quadratic.law import BendLoss, bend_loss
from objpert_core.accounting.quadratic.mechanism import QuadraticPerturbation
from tests.second_opinion.objective import logistic_loss, two_signed


@pytest.mark.parametrize("law_type", [HalfNormalLaw, PositiveGaussianLaw])
@pytest.mark.parametrize("a", [0.01, 0.4999999 * 2**0.5, 0.5 * 2**0.5, 1.0, 3.0])
def test_continuous_where_the_formula_changes(law_type, a):
    law = law_type(a, 0.3)
    for seam in (law.shift, law.shift + a**2 / 2):
        below, at, above = np.exp(law.log_profile(seam * np.array([1 - 1e-12, 1, 1 + 1e-12])))
        assert below >= at * (1 - 1e-14)
        assert at >= above * (1 - 1e-14)
        assert below - above < 1e-11
    order = np.array([0.0, 1e-12, 1e-9])
    np.testing.assert_allclose(law.rdp(order), law.rdp(order)[0], rtol=1e-8)
    for seam in (1 / a, 0.5 / (a * (1 + a))):
        below, above = law.rdp(seam * np.array([1 - 1e-13, 1 + 1e-13]))
        assert below == pytest.approx(above, rel=1e-12)


def test_the_second_branch_of_theorem_31_as_printed_is_not_a_bound():
    """With e^{L²/σ²} for e^{L²/(2σ²)} the second branch is smaller than the expectation it should bound (errata)."""
    a, shift, epsilon = 1.0, 0.1, 0.2
    hat = epsilon - shift - a**2 / 2
    printed = 1 - math.exp(hat) + math.exp(hat) * 2 * Gaussian(1 / a).delta(a**2)
    assert printed < 0.9 * math.exp(two_signed(a, shift).log_delta(epsilon)[0])


@pytest.mark.parametrize("law_type", [HalfNormalLaw, PositiveGaussianLaw])
def test_loss_is_the_variable(law_type):
    """ω(v) never decreases, `position` inverts it, and the Gaussian part is where the law says."""
    law = law_type(0.7, 0.2)
    v = np.linspace(max(law.lowest(), -6.0), 8, 200)
    assert (np.diff(law.loss(v)) >= 0).all()
    epsilon = np.linspace(1.0, 5.0, 9)
    np.testing.assert_allclose(law.loss(law.position(epsilon)), epsilon, rtol=1e-14)
    if law.gaussian_part() is not None:
        start, shift = law.gaussian_part()
        gaussian = shift + law.a * (law.a / 2 + v)
        assert (law.loss(v) >= gaussian - 1e-15).all()
        np.testing.assert_allclose(law.loss(v)[v > start], gaussian[v > start], rtol=1e-14)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_tails_of_a_sampled_step_are_those_of_its_density(direction):
    loss = SubsampledLoss(1.5, 0.3, direction)
    v = np.linspace(-14.0, 14.0, 28_001)
    mass = np.exp(loss.log_density(v, loss.loss(v))) * (v[1] - v[0])
    below, above = np.exp(loss.log_tails(-0.7005, 1.2005))
    assert below == pytest.approx(mass[v < -0.7005].sum(), rel=1e-6)
    assert above == pytest.approx(mass[v > 1.2005].sum(), rel=1e-6)


# (a, κ): smooth, with a jump of the maximiser (κ < a²/2·K), nearly Gaussian, wide, narrow, next to λ = 2σ²
PAIRS = [(0.1, 0.2), (1.0, 2.0), (1.0, 0.55), (2.5, 4.0), (0.3, 1e4), (1e-3, 1e-5), (5.0, 12.5000001), (1e-6, 1e8)]


@pytest.mark.slow
@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_loss_is_the_maximum(a, kappa):
    """Against brute force over p, at v on both sides of G = −ε*, 0 and ε*."""
    law = logistic_law(a, kappa)
    threshold = kappa - a**2 / 2
    gaussian = threshold * np.array([-1.01, -0.99, -0.5, -1e-3, 0.0, 1e-3, 0.4, 0.9, 0.999, 1.001])
    v = np.concatenate((gaussian / a - a / 2, [-3.0, 0.0, 2.0]))
    allowed = 4e-15 * (np.abs(a * (a / 2 + v)) + min(kappa, 40.0))
    assert (np.abs(law.loss(v) - logistic_loss(a, kappa)(v)) <= allowed).all()


@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_position_inverts_the_loss(a, kappa):
    law = logistic_law(a, kappa)
    assert isinstance(law, LogisticLaw)
    epsilon = law.threshold * np.array([1e-3, 0.05, 0.3, 0.6, 0.9, 0.999, 1.0, 1.5, 3.0])
    middle = law.loss(np.array([-a / 2]))[0]
    epsilon = np.append(epsilon, middle * np.array([0.5, 1 - 1e-9, 1 + 1e-9]))
    # at v of size κ/a the spacing of the doubles alone moves T by κ·1e-16
    np.testing.assert_allclose(law.loss(law.position(epsilon)), epsilon, rtol=1e-6, atol=1e-13 * (1 + kappa * 1e-3))


@pytest.mark.parametrize(("a", "kappa"), PAIRS)
def test_the_tail_is_the_normal_law_s_where_the_loss_passes_and_never_below(a, kappa):
    law = logistic_law(a, kappa)
    v = np.linspace(-1.5, 1.5, 41) * law.threshold / a - a / 2
    tail, exact = law.log_tail(law.loss(v)), log_ndtr(-v)
    near = np.abs(law.position(law.loss(v)) - v) * (1 + np.abs(v)) + 1e-12 * (1 + np.abs(exact))  # of doubles about v
    assert (tail >= exact - near).all()


@pytest.mark.slow
@pytest.mark.parametrize(("a", "kappa"), PAIRS)
@pytest.mark.parametrize("order", [1e-6, 0.3, 5.0, 1e3])
def test_tilted_density_has_one_mode(a, kappa, order):
    """s·T(v) − v²/2 rises to one maximum and falls: what the quadrature of the Rényi curve relies on."""
    law = logistic_law(a, kappa)
    mode = law._mode(np.array([order]))[0]
    v = np.sort(np.concatenate((mode + np.linspace(-6, 6, 241), np.linspace(-kappa / a, kappa / a, 201))))
    exponent = order * law.loss(v) - v * v / 2
    noise = 1e-12 * (np.abs(order * law.loss(v)).max() + (v * v).max())
    left = v <= mode
    assert (np.diff(exponent[left]) >= -noise).all()
    assert (np.diff(exponent[~left]) <= noise).all()


@pytest.mark.parametrize(("sigma", "lam"), [(10.0, 5.0), (1.0, 0.5), (3.0, 0.3), (5.0, 20.0), (0.4, 0.2), (50.0, 5.0)])
def test_gaussian_from_the_threshold_on(sigma, lam):
    """δ(ε) = δ_Gauss(ε) for ε ≥ ε* = R²/λ − R²/(2σ²), and strictly more below."""
    threshold = max(0.0, 1 / lam - 1 / (2 * sigma**2))
    mechanism = ObjectivePerturbation(sigma, lam)
    assert mechanism.gaussian_from == pytest.approx(threshold, abs=1e-12)
    assert isinstance(mechanism.law, PositiveGaussianLaw) == (threshold == 0)
    above = threshold + np.array([0.0, 1e-9, 0.1, 1.0]) / sigma
    np.testing.assert_array_equal(mechanism.log_delta(above), Gaussian(sigma).log_delta(above))
    if threshold > 0:
        below = threshold * np.array([0.999999, 0.99, 0.5, 0.0])
        ratio = np.exp(mechanism.log_delta(below) - Gaussian(sigma).log_delta(below))
        assert (ratio >= 1 - 1e-13).all()
        assert ratio[-1] > 1
        assert ratio[0] == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 12.0])
def test_continuous_at_the_seam_to_the_gaussian_case(sigma):
    """λ = 2σ² is where κ = a²/2 and the law changes its class."""
    below, at = ObjectivePerturbation(sigma, 2 * sigma**2 * (1 - 1e-12)), ObjectivePerturbation(sigma, 2 * sigma**2)
    epsilon, alpha = np.linspace(0, 4 / sigma, 20), np.array([1.0, 1.1, 5, 1e3])
    assert type(below.law) is not type(at.law)
    np.testing.assert_allclose(below.delta(epsilon), at.delta(epsilon), rtol=1e-11)
    np.testing.assert_allclose(below.rdp(alpha), at.rdp(alpha), rtol=1e-11)
    negative = np.array([-3.0, -0.3, -1e-3])
    np.testing.assert_allclose(below.law.log_profile(negative), at.law.log_profile(negative), rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "lam", "lipschitz"),
    [
        (1.0, 0.5, 1.0),
        (1e3, 1e-6, 10.0),
        (1e6, 1e-6, 1.0),
        (0.64, 1e-12, 2**0.5),
        (0.64, 1e-60, 2**0.5),
        (1e-3, 1.0, 1.0),
    ],
)
def test_rdp_at_huge_orders(sigma, lam, lipschitz):
    """Orders as large as the search over α visits: at least the Gaussian curve, never falling, no warning.

    Exponents of 1e18 once made every panel negligible beside itself: the curve was negative, and δ = 0 "proved".
    """
    alpha = 1 + np.geomspace(1e-9, 1e17, 105)
    with np.errstate(all="raise", under="ignore"):
        curve = ObjectivePerturbation(sigma, lam, lipschitz).rdp(alpha)
    assert (curve >= alpha * (lipschitz / sigma) ** 2 / 2 * (1 - 1e-15)).all()
    assert (np.diff(curve) >= -1e-12 * curve[1:]).all()


CASES = [(1.0, 2.0), (0.05, 9.5), (30.0, 0.5), (1e-3, 500.0)]
DIRECTIONS = ("remove", "add")


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_density_has_the_mass_of_all_finite_losses_and_the_loss_never_decreases(case, direction):
    loss = BendLoss(*case, direction)
    low, high = loss.reach(60.0)
    v = np.union1d(np.linspace(low, high, 40_001), loss.kinks())
    middle = 0.5 * (v[1:] + v[:-1])
    omega = loss.loss(middle)
    mass = np.exp(loss.log_density(middle, omega)) * np.diff(v)
    certain = chi2.cdf(case[0], 2 * case[1] + 2) if direction == "add" else 0.0
    assert mass.sum() == pytest.approx(1 - certain, rel=1e-5, abs=1e-9)  # what is rarer counts as infinite
    assert math.exp(loss.log_certain()) == pytest.approx(certain, rel=1e-12)
    assert np.all(np.diff(omega) >= 0)
    # under the other data set the finite losses have a mass of at most 1
    assert (mass * np.exp(-omega)).sum() <= 1 + 1e-5
    inside = omega[np.abs(middle) < 5]
    assert loss.position(inside) == pytest.approx(middle[np.abs(middle) < 5], abs=1e-4)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tails_are_those_of_the_chi_square_law(case, direction):
    loss = BendLoss(*case, direction)
    s, k = case
    for v in (-7.0, -1.0, 0.5, 3.0):
        omega = float(loss.loss(np.array([v]))[0])
        ratio = s / math.expm1((s / 2 - omega if direction == "remove" else s / 2 + omega) / k)
        y = ratio if direction == "remove" else ratio + s
        below = chi2.cdf(y, 2 * k + 2) if direction == "remove" else chi2.sf(y, 2 * k + 2)
        log_below, log_above = loss.log_tails(v, v)
        assert math.exp(log_below) + math.exp(log_above) == pytest.approx(1, rel=1e-12)
        share = math.exp(log_above) if direction == "remove" else math.exp(log_below)
        assert share == pytest.approx(1 - below if direction == "remove" else below, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_at_k_0_there_is_one_finite_loss(direction):
    loss = bend_loss(0.8, 0.0, direction)
    assert isinstance(loss, DiscreteLoss)
    profile = wishart.log_delta_removed if direction == "remove" else wishart.log_delta_added
    for epsilon in (0.0, 0.2, 0.39, 5.0):
        truth = math.exp(profile(np.array([epsilon]), np.array([0.8]), np.zeros(1))[0])
        assert math.exp(loss.log_profile(np.array([epsilon]))[0]) == pytest.approx(truth, rel=1e-8, abs=1e-15)


def test_a_profile_that_is_the_same_at_every_epsilon_is_a_jump_alone():
    """Replaced rows in one dimension at k = 0: δ = 1 − e^{−s/2} from ε = 0 on."""
    jump = 0.3
    x, y = chain.polygon_of_points(np.array([0.0, 1.0, 9.0]), np.full(3, math.log(jump)))
    assert x.tolist() == pytest.approx([0.0, 1 - jump, 1.0])
    assert y.tolist() == pytest.approx([jump, 1.0, 1.0])
    losses, log_masses, log_infinite = chain.atoms(x, y)
    pair = DiscreteLoss(losses, log_masses, log_infinite)
    for epsilon in (0.0, 1.0, 30.0):
        assert jump <= math.exp(pair.log_profile(np.array([epsilon]))[0]) <= jump + 1e-7
    bend = QuadraticPerturbation(2.0, 2, 1)
    assert repeat(bend, 3).delta(0.5) == pytest.approx(1 - (1 - bend.delta(0.5)) ** 3, rel=1e-6)
