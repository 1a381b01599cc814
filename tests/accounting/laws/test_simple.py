"""The half-normal law of "glm" and the positive Gaussian law of "monotone", against integrals of their definitions."""

import numpy as np
import pytest
from mpmath import mp, mpf

from objpert_core.accounting.laws.simple import HalfNormalLaw, PositiveGaussianLaw
from tests.accounting import oracles
from tests.accounting.oracles import relative_error

LAWS = {
    HalfNormalLaw: (oracles.half_normal_delta, oracles.half_normal_rdp),
    PositiveGaussianLaw: (oracles.positive_gaussian_delta, oracles.positive_gaussian_rdp),
}
CASES = [(a, shift) for a in (1e-6, 0.7072, 30.0) for shift in (1e-9, 2.0)]
MOST_CASES_BY_HAND = [
    pytest.param(*case, marks=[] if case == (0.7072, 2.0) else pytest.mark.exhaustive) for case in CASES
]


def landmarks(law) -> list[float]:
    """ε below, at and above the shift and the half-normal's ε̂ = 0, and some way out into the tail."""
    corner = law.shift + law.a**2 / 2
    out = [corner + law.a * t for t in (0.3, 3.0, 12.0)]
    return [0.0, -0.4, law.shift / 2, law.shift, corner, corner * (1 + 1e-9), *out]


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("law_type", LAWS)
@pytest.mark.parametrize(("a", "shift"), MOST_CASES_BY_HAND)
def test_profile(law_type, a, shift):
    law = law_type(a, shift)
    epsilon = np.array(landmarks(law))
    for e, value in zip(epsilon, np.exp(law.log_profile(epsilon)), strict=True):
        exact = LAWS[law_type][0](e, a, mpf(shift))
        condition = 4e-16 * (abs(e) + shift) / a * (abs(e - shift) / a + 1)
        assert relative_error(value, exact) < 1e-12 + condition, (law, e)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("law_type", LAWS)
@pytest.mark.parametrize(("a", "shift"), MOST_CASES_BY_HAND)
def test_rdp(law_type, a, shift):
    law = law_type(a, shift)
    alpha = np.array([1.0, 1 + 1e-9, 1 + 0.999 / a, 1 + 0.51 / (a * (1 + a)), 1e6])
    for order, value in zip(alpha, law.rdp(alpha - 1), strict=True):
        assert relative_error(value, LAWS[law_type][1](order, a, mpf(shift))) < 1e-12, (law, order)


@pytest.mark.parametrize("law_type", LAWS)
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


@pytest.mark.slow
@pytest.mark.no_cover
def test_second_branch_of_theorem_31_as_printed_is_not_a_bound():
    """With e^{L²/σ²} for e^{L²/(2σ²)} the second branch is smaller than the expectation it should bound (errata)."""
    a, shift, epsilon = 1.0, 0.1, 0.2
    hat = mpf(epsilon) - shift - mpf(a) ** 2 / 2
    printed = 1 - mp.exp(hat) + mp.exp(hat) * 2 * oracles.gaussian_delta(a**2, a)
    exact = oracles.half_normal_delta(epsilon, a, mpf(shift))
    assert printed < exact * mpf("0.9")
    value = np.exp(HalfNormalLaw(a, shift).log_profile(np.array([epsilon])))[0]
    assert relative_error(value, exact) < 1e-13


@pytest.mark.parametrize("law_type", LAWS)
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
