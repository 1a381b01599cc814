"""The distance to optimality: one mechanism, very many at once, the half-normal limit and the boundary."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objpert_core.accounting import (
    Gaussian,
    HalfNormal,
    ObjectivePerturbation,
    boundary_lam,
    distance_map,
    distance_to_optimality,
    optimal_lam,
)


def test_exactly_one_where_the_bound_is_tight():
    assert distance_to_optimality(ObjectivePerturbation(5.0, 20.0), 1e-5) == 1.0
    assert distance_to_optimality(Gaussian(3.0), 1e-5) == 1.0
    assert HalfNormal(5.0, 2.0).gaussian == Gaussian(5.0, 2.0)


@pytest.mark.slow
def test_nothing_proved_and_nothing_to_prove():
    nothing = ObjectivePerturbation(5.0, 0.5, smoothness=1.0, bound="glm")
    assert distance_to_optimality(nothing, 1e-5) == math.inf
    free = ObjectivePerturbation(1e3, 1e9)
    assert Gaussian(1e3).epsilon(0.3) == 0.0
    assert distance_to_optimality(free, 0.3) == 1.0
    assert distance_to_optimality(ObjectivePerturbation(1e3, 0.1), 0.01) == math.inf
    assert Gaussian(1e3).epsilon(0.01) == 0.0 < ObjectivePerturbation(1e3, 0.1).epsilon(0.01)


# --- the boundary ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    sigma=st.floats(-1, 3).map(lambda x: 10.0**x),
    lipschitz=st.floats(-1, 1).map(lambda x: 10.0**x),
    log_delta=st.floats(-12, -1),
)
@settings(deadline=None, max_examples=20)
def test_from_the_boundary_on_the_distance_is_one_and_below_it_is_not(sigma, lipschitz, log_delta):
    delta = 10.0**log_delta
    lower = Gaussian(sigma, lipschitz).epsilon(delta)
    lam = optimal_lam(lower, sigma, lipschitz)
    assert distance_to_optimality(ObjectivePerturbation(sigma, lam * (1 + 1e-9), lipschitz), delta) < 1 + 1e-9
    assert distance_to_optimality(ObjectivePerturbation(sigma, lam * 2, lipschitz), delta) == 1.0
    assert lower == 0 or distance_to_optimality(ObjectivePerturbation(sigma, lam / 4, lipschitz), delta) > 1 + 1e-9


def test_boundary_of_arrays():
    found = optimal_lam([0.0, 1.0], 5.0)
    np.testing.assert_allclose(found, [50.0, 1 / 1.02])
    assert type(optimal_lam(1.0, 5.0, 2.0)) is float
    assert optimal_lam(1.0, 5.0, 2.0) == pytest.approx(4 / (1 + 4 / 50))
    assert optimal_lam(np.ones(3), np.ones((2, 1))).shape == (2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 0.3])
def test_the_boundary_of_many_is_the_boundary_of_each(delta):
    sigma = np.geomspace(0.1, 1e4, 30)
    one_by_one = [optimal_lam(Gaussian(s, 2.0).epsilon(delta), s, 2.0) for s in sigma]
    np.testing.assert_allclose(boundary_lam(sigma, delta, lipschitz=2.0), one_by_one, rtol=1e-13)
    assert boundary_lam(5.0, delta).shape == (1,)


# --- the map --------------------------------------------------------------------------------------------------------


def one_by_one(sigma, lam, delta, lipschitz, smoothness, bound) -> np.ndarray:
    return np.array(
        [
            [distance_to_optimality(ObjectivePerturbation(s, m, lipschitz, smoothness, bound), delta) for m in lam]
            for s in sigma
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["logistic", "glm"])
@pytest.mark.parametrize(
    "delta",
    [pytest.param(1e-12, marks=pytest.mark.exhaustive), 1e-5, pytest.param(0.1, marks=pytest.mark.exhaustive), 0.7],
)
def test_the_map_is_the_distance_of_each_mechanism(bound, delta):
    sigma, lam = np.geomspace(0.006, 1000, 6), np.geomspace(1e-4, 1e4, 7)
    for lipschitz, smoothness in ((1.0, 0.25), (2.0, 3.0)):
        found = distance_map(sigma, lam, delta, lipschitz=lipschitz, smoothness=smoothness, bound=bound)
        exact = one_by_one(sigma, lam, delta, lipschitz, smoothness, bound)
        np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))
        finite = np.isfinite(exact)
        assert (found[finite] >= exact[finite] * (1 - 1e-12)).all()
        np.testing.assert_allclose(found[finite], exact[finite], rtol=1e-7)
        np.testing.assert_array_equal(found == 1.0, exact == 1.0)
