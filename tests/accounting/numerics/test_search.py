"""The smallest ε with δ(ε) at most a target: on the safe side, close, and quickly found over hundreds of decades."""

import numpy as np
import pytest

from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.search import smallest_epsilon

RATIOS = 10.0 ** np.array([-250, -100, -50, -10, -3, 0, 2, 10, 50, 100, 145])


@pytest.mark.parametrize("a", RATIOS)
def test_safe_close_and_quick_at_every_scale(a):
    """Below 1e-60 or so it used to end 1e40 times too large, after 200 steps."""
    shares = np.array([0.25, 1e-3, 1e-30]) if 1e-200 < a < 1 else np.array([0.25, 0.1])
    target = np.log(np.concatenate((shares * min(a, 1.0), [0.5, 1e-5, 1e-100])))
    asked = []

    def log_profile(epsilon):
        asked.append(epsilon.size)
        return gauss.log_profile(epsilon, a)

    with np.errstate(over="ignore", divide="ignore"):
        found = smallest_epsilon(log_profile, target)
        assert (gauss.log_profile(found, a) <= target).all()
        assert ((found == 0) | (gauss.log_profile(found * (1 - 3e-15), a) > target)).all()
    assert len(asked) < 130


def test_nothing_is_found_where_nothing_is_proved():
    found = smallest_epsilon(lambda epsilon: np.where(epsilon < 1e200, 0.0, -0.7), np.log([0.4, 0.9]))
    assert found[0] == np.inf
    assert 1e200 <= found[1] <= 1e200 * (1 + 1e-14)
    target, guess = np.array([-300.0, -0.2]), np.array([1e-3, 1e299])
    beyond, far = smallest_epsilon(lambda epsilon: np.where(epsilon < 1e298, 0.0, -0.5), target, 0.0, guess)
    assert beyond == np.inf
    assert 1e298 <= far <= 1e298 * (1 + 1e-14)
    from_there = smallest_epsilon(lambda epsilon: -epsilon, np.array([-1.0, -7.0]), start=3.0)
    np.testing.assert_allclose(from_there, [3.0, 7.0], rtol=1e-14)
