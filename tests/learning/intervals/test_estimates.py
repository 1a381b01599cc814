"""Estimates and errors from what was released: linear algebra without noise, and a repair that never narrows."""

import numpy as np
import pytest

from objpert_core.learning.intervals.curvature import Curvature
from objpert_core.learning.intervals.estimates import Noises, estimate, repaired_eigenvalues

THETA = np.array([1.0, -2.0, 0.5])
HESSIAN = np.array([[50.0, 5.0, 0.0], [5.0, 40.0, -3.0], [0.0, -3.0, 30.0]])
OUTER = HESSIAN * 1.3 + np.eye(3)


@pytest.mark.parametrize("outer", [None, OUTER, OUTER / 1000])
def test_without_noise_in_the_sums_the_errors_are_those_of_the_expansion(outer):
    noises = Noises(2.0, 3.0, 0.5, 0.01, 1e-9, None if outer is None else 1e-9)
    found = estimate(THETA, Curvature(HESSIAN, outer), noises)
    inverse = np.linalg.inv(HESSIAN)
    stretched = np.eye(3) + 2.0 * inverse
    middle = (HESSIAN if outer is None else outer) + (3.0**2 + 0.5**2) * np.eye(3)
    assert found.theta == pytest.approx(THETA + 2.0 * inverse @ THETA, rel=1e-9)
    expected = inverse @ middle @ inverse + 0.01**2 * stretched @ stretched
    assert found.covariance == pytest.approx(expected, rel=1e-7)
    assert found.errors == pytest.approx(np.sqrt(np.diagonal(expected)), rel=1e-7)


@pytest.mark.parametrize("name", ["lam", "sigma", "tau", "output", "outer"])
def test_more_noise_of_any_kind_makes_errors_larger(name):
    noises = Noises(2.0, 3.0, 0.5, 0.01, 2.0, 3.0)
    errors = estimate(THETA, Curvature(HESSIAN, OUTER), noises).errors
    more = Noises(**{**vars(noises), name: 1.5 * getattr(noises, name)})
    assert (estimate(THETA, Curvature(HESSIAN, OUTER), more).errors > errors).all()


def test_an_eigenvalue_lost_in_noise_stands_for_a_small_share_of_it_and_a_large_one_for_itself():
    values = np.array([-30.0, -5.0, -1.0, 0.0, 1.0, 5.0, 20.0, 1e4])
    repaired = repaired_eigenvalues(values, 1.0)
    assert (repaired > 0).all()
    assert (np.diff(repaired[1:]) > 0).all()
    assert repaired[0] < repaired[2] < 0.2
    assert repaired[-1] == pytest.approx(1e4, rel=1e-3)
    assert repaired * 7.0 == pytest.approx(repaired_eigenvalues(7.0 * values, 7.0))


@pytest.mark.thorough
def test_noise_in_the_curvature_widens_errors_on_average_the_more_the_less_curvature_there_is():
    generator, before = np.random.default_rng(0), 1.0
    for times in (10.0, 1.0, 0.3):
        noises = Noises(1.0, 3.0, 0.0, 0.0, 3.0)
        exact = estimate(THETA, Curvature(times * HESSIAN, None), Noises(1.0, 3.0, 0.0, 0.0, 1e-9)).errors
        noise = generator.standard_normal((300, 3, 3)) * noises.hessian
        seen = times * HESSIAN + (noise + np.swapaxes(noise, 1, 2)) / 2
        errors = np.array([estimate(THETA, Curvature(one, None), noises).errors for one in seen])
        wider = float((np.median(errors, axis=0) / exact).min())
        assert wider > before * 0.999
        before = wider
    assert before > 1.05


@pytest.mark.thorough
def test_of_one_direction_the_interval_covers_from_twice_the_noise_on():
    """An error Z/h with h seen as h + E; where h itself is below its noise, nothing that is seen can tell."""
    generator = np.random.default_rng(0)
    for h in (2.0, 3.0, 5.0, 10.0, 100.0):
        seen = np.array([repaired_eigenvalues(one, 1.0) for one in h + generator.standard_normal((500, 1))])
        covered = (np.abs(generator.standard_normal((500, 40))) / h <= 1.96 / seen).mean()
        assert 0.93 < covered < 0.965, h
