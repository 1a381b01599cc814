"""Calibrations of a bend meet their target, waste nothing, and have the values of the design."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting.quadratic.calibration import best_integer

ADJACENCIES = (acc.ADD_REMOVE, acc.REPLACE_ONE)


@pytest.mark.parametrize(("epsilon", "delta", "s"), [(0.5, 0.01, 3.08934062), (1.0, 1e-5, 2.28248864)])
def test_reference_shifts(epsilon, delta, s):
    found = acc.calibrate_quadratic_perturbation(epsilon, delta, 100, degrees_of_freedom=200)
    assert found.shift == pytest.approx(s, rel=3e-9)


@pytest.mark.parametrize(
    ("d", "m", "published", "sharpened", "exact"),
    [(1, 10, 29.70, 5.107, 1.4029), (12, 24, 82.87, 16.22, 1.1374), (100, 200, 46.52, 10.30, 0.32369)],
)
def test_how_much_noise_each_theorem_asks_for(d, m, published, sharpened, exact):
    scales = {
        bound: acc.calibrate_quadratic_perturbation(0.5, 0.01, d, degrees_of_freedom=m, bound=bound).scale
        for bound in ("published", "sharpened", "exact")
    }
    assert scales["published"] == pytest.approx(published, rel=1e-3)
    assert sharpened * 0.995 <= scales["sharpened"] <= sharpened  # a little less: the split of δ is the best one
    assert scales["exact"] == pytest.approx(exact, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "adjacency"), [(1, acc.ADD_REMOVE), (3, acc.REPLACE_ONE), (12, acc.REPLACE_ONE)])
def test_no_other_m_has_a_smaller_mean(d, adjacency):
    best = acc.calibrate_quadratic_perturbation(1.0, 1e-4, d, adjacency=adjacency)
    for m in (d + 1, best.degrees_of_freedom - 1, best.degrees_of_freedom + 1, 3 * best.degrees_of_freedom):
        if m > d:
            other = acc.calibrate_quadratic_perturbation(1.0, 1e-4, d, degrees_of_freedom=m, adjacency=adjacency)
            assert best.degrees_of_freedom * best.scale <= m * other.scale * (1 + 1e-9)


def test_for_many_dimensions_m_is_about_2d_and_the_mean_what_the_gaussian_mechanism_says():
    d, a = 20_000, 1 / acc.calibrate_gaussian(1.0, 1e-5).sigma
    found = acc.calibrate_quadratic_perturbation(1.0, 1e-5, d)
    assert found.degrees_of_freedom == pytest.approx(2 * d, rel=0.1)
    assert found.degrees_of_freedom * found.scale == pytest.approx(2 * np.sqrt(d) / a, rel=0.1)


def test_the_noise_goes_as_the_square_of_the_rows():
    one, hundred = (acc.calibrate_quadratic_perturbation(1.0, 1e-5, 5, smoothness=L) for L in (1.0, 100.0))
    assert hundred.degrees_of_freedom == one.degrees_of_freedom
    assert hundred.scale == pytest.approx(100 * one.scale, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e3, 1e4])
@pytest.mark.parametrize("delta", [1e-5, 0.999])
def test_where_delta_falls_from_one_at_once_the_root_is_found(epsilon, delta):
    found = acc.calibrate_quadratic_perturbation(epsilon, delta, 1, degrees_of_freedom=65_600)
    assert found.delta(epsilon) <= delta
    assert acc.QuadraticPerturbation(found.scale * (1 - 1e-6), 65_600, 1).delta(epsilon) > delta


@pytest.mark.thorough
@given(st.integers(1, 50), st.floats(0.0, 5000.0), st.floats(0.01, 3.0))
def test_the_best_whole_number_of_a_cost_that_falls_and_rises(least, at, power):
    cost = lambda m: np.abs(m - at) ** power  # noqa: E731
    best = best_integer(cost, least)
    around = np.array([m for m in (best - 1, best, best + 1) if m >= least])
    assert cost(around).min() == cost(np.array([best]))[0]
