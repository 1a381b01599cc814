"""The profile for convex smooth losses of xᵀθ against its integral."""

import numpy as np
import pytest

from objpert_core.accounting.quadratic import wishart, wishart_glm
from tests.second_opinion.wishart import any_loss


@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 0.5])
@pytest.mark.parametrize(("s", "k"), [(1.0, 2.0), (0.3, 0.0), (0.01, 0.5), (3.0, 0.5), (0.01, 49.5), (3.0, 49.5)])
def test_the_mean_over_draws_of_the_largest_loss(s, k, epsilon):
    for one, side in zip(any_loss(s, k), ("removed", "added"), strict=True):
        truth = one.log_delta(epsilon)[0]
        found = getattr(wishart_glm, f"log_delta_{side}")(np.array([epsilon]), s, k)[0]
        assert 0 <= found - truth + 1e-12 * abs(truth) <= 1e-6 * (1 + abs(truth)), side


def test_no_loss_of_this_kind_has_less_than_the_squared_loss_and_large_epsilons_give_numbers():
    epsilon = np.array([0.0, 1e-9, 0.1, 1.0, 50.0, 800.0, 1e5])
    for s, k in ((0.01, 0.0), (1.0, 2.5), (30.0, 100.0)):
        for side in ("log_delta_removed", "log_delta_added"):
            glm = getattr(wishart_glm, side)(epsilon, s, k)
            squared = getattr(wishart, side)(epsilon, np.array([s]), np.array([k]))
            assert not np.isnan(glm).any()
            assert np.all(glm >= squared - 1e-9 * (1 + np.abs(np.maximum(squared, -1e300))))
