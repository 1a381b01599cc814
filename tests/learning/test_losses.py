import numpy as np
import pytest

from objpert_core.learning import LogisticLoss

LOSS = LogisticLoss()


def test_value_is_the_textbook_formula_where_that_is_accurate():
    margins = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(LOSS.value(margins), np.log1p(np.exp(-margins)), rtol=1e-12)


def test_extreme_margins_keep_their_tails_and_raise_no_warning():
    margins = np.array([-1e6, -800.0, 800.0, 1e6])
    with np.errstate(all="raise", under="ignore"):
        value = LOSS.value(margins)
        slope, curvature = LOSS.derivatives(np.array([-700.0, 700.0]))
    np.testing.assert_array_equal(value, [1e6, 800.0, 0.0, 0.0])
    np.testing.assert_allclose(slope, [-1.0, -np.exp(-700.0)], rtol=1e-12)
    np.testing.assert_allclose(curvature, np.exp(-700.0), rtol=1e-12)  # not 0 on the wrong side


@pytest.mark.parametrize("margin", [-5.0, -0.3, 0.0, 1.7, 12.0])
def test_derivatives_match_finite_differences(margin):
    step = 1e-5
    around = np.array([margin - step, margin, margin + step])
    slope, curvature = LOSS.derivatives(around)
    values = LOSS.value(around)
    assert slope[1] == pytest.approx((values[2] - values[0]) / (2 * step), abs=1e-9)
    assert curvature[1] == pytest.approx((slope[2] - slope[0]) / (2 * step), abs=1e-9)


def test_the_constants_the_privacy_proof_uses_hold():
    margins = np.linspace(-40, 40, 10_001)
    slope, curvature = LOSS.derivatives(margins)
    assert np.all((slope >= -1) & (slope <= 0))
    assert np.all((curvature >= 0) & (curvature <= LOSS.smoothness))
    assert curvature.max() == LOSS.smoothness
