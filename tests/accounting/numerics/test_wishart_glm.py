"""The profile for convex smooth losses of xᵀθ against its integral in many digits."""

import numpy as np

from objpert_core.accounting.numerics import wishart, wishart_glm


def test_no_loss_of_this_kind_has_less_than_the_squared_loss_and_large_epsilons_give_numbers():
    epsilon = np.array([0.0, 1e-9, 0.1, 1.0, 50.0, 800.0, 1e5])
    for s, k in ((0.01, 0.0), (1.0, 2.5), (30.0, 100.0)):
        for side in ("log_delta_removed", "log_delta_added"):
            glm = getattr(wishart_glm, side)(epsilon, s, k)
            squared = getattr(wishart, side)(epsilon, np.array([s]), np.array([k]))
            assert not np.isnan(glm).any()
            assert np.all(glm >= squared - 1e-9 * (1 + np.abs(np.maximum(squared, -1e300))))
