"""The bounds on excess training loss of quadratic objective perturbation hold for draws, and refuse what they must."""

import numpy as np
import pytest

from objpert_core.learning.quadratic.wishart import wishart
from objpert_core.theory.quadratic import exact_excess_bound


def test_the_exact_bound_holds_for_draws_of_ridge_like_problems():
    rng = np.random.default_rng(4)
    d, m, scale = 3, 8, 0.7
    X = rng.normal(size=(20, d))
    gram, slope = X.T @ X, np.array([2.0, -1.0, 0.5])  # J = ½vᵀGv + slopeᵀv, least at −G⁻¹·slope
    least = -np.linalg.solve(gram, slope)

    def risk(v):
        return 0.5 * v @ gram @ v + slope @ v

    noisy = [-np.linalg.solve(gram + scale * W, slope) for W in wishart(rng, d, m, 400)]
    excess = np.array([risk(v) - risk(least) for v in noisy])
    bound = exact_excess_bound(scale, m, float(np.linalg.norm(least)))
    assert excess.min() >= -1e-12
    assert excess.mean() + 4 * excess.std() / 20 < bound


def test_a_steep_regulariser_comes_near_the_exact_bound():
    # J is linear but for a wall: the perturbed minimiser stays at the wall, until the quadratic term beats the slope
    scale, m, slope = 0.5, 30, 1e6
    draws = scale * np.random.default_rng(1).chisquare(m, 20_000)
    at = np.minimum(slope / draws, 1.0)  # on [0, 1], J = −slope·v
    assert at.min() == 1.0
    perturbed = -slope * at + draws / 2 * at**2
    assert np.mean(perturbed + slope) == pytest.approx(exact_excess_bound(scale, m, 1.0), rel=0.01)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"scale": 0.0}, "scale"), ({"degrees_of_freedom": 0}, "degrees_of_freedom"), ({"distance": -1.0}, "distance")],
)
def test_what_is_out_of_range_is_named(change, named):
    with pytest.raises(ValueError, match=named):
        exact_excess_bound(**{"scale": 1.0, "degrees_of_freedom": 4, "distance": 1.0, **change})
