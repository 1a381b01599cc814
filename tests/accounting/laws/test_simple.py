"""The half-normal law of "glm", the positive Gaussian law of "monotone" and a sampled step, against integrals."""

import math

import numpy as np
import pytest

from objpert_core.accounting import Gaussian
from objpert_core.accounting.laws.base import SubsampledLoss
from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw
from tests.second_opinion.objective import two_signed


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
