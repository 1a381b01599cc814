"""Estimates and errors from what was released: linear algebra without noise, and a repair that never narrows."""

import numpy as np
import pytest
from scipy.special import expit

from objpert_core.learning.intervals.estimates import Estimates, Noises, estimate, repaired_eigenvalues
from objpert_core.learning.steps.curvature import Curvature

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


def test_of_scores_around_0_the_weighted_mean_square_is_at_most_that_of_scores_spread_evenly():
    scores = np.linspace(-60, 60, 120_001)
    weights = expit(scores) * expit(-scores)
    for law in (
        np.exp(-(scores**2) / 8),
        np.exp(-(scores**2) / 200),
        abs(scores) < 3,
        1 / (1 + abs(scores)),
        scores > -99,
    ):
        mean = float((law * weights * scores**2).sum() / (law * weights).sum())
        assert mean <= np.pi**2 / 3 * (1 + 1e-9)
    assert mean == pytest.approx(np.pi**2 / 3)


def test_curvature_that_noise_may_have_added_along_the_coefficients_is_taken_away_and_no_other():
    constant, weight, theta = 0.3, 200.0, np.array([20.0, 0.0, 1.0])
    most = np.pi**2 / 3 * weight / 20**2  # what rows whose scores are around 0 have along x0

    def error(seen, noise):
        hessian = np.diag([seen, 15.0, weight * constant**2])
        noises = Noises(0.0, 0.0, 0.0, 0.0, noise, constant=constant)
        return estimate(theta, Curvature(hessian, None), noises).errors

    assert error(9.0, 1e-6)[0] == pytest.approx(1 / 3)  # no noise, nothing to take away
    assert error(9.0, 0.1)[0] == pytest.approx(8.8**-0.5, rel=1e-3)  # two deviations at most
    assert error(9.0, 4.0) == pytest.approx(error(most, 4.0))
    assert error(most / 2, 4.0)[0] > error(most, 4.0)[0]


def test_an_end_away_from_0_goes_by_the_curve_and_the_others_by_the_straight_line():
    covariance = np.diag([4.0, 1.0, 0.25])
    for steepness, grown in ((0.0, lambda x: 1 + x), (0.5, lambda x: (1 + x / 2) ** 2), (1.0, np.exp)):
        found = Estimates(np.array([6.0, -2.4, 0.7]), covariance, np.array([5.0, -2.0, 0.0]), steepness)
        low, high = found.ends(2.0).T
        assert [low[0], low[2], high[1], high[2]] == pytest.approx([2.0, -0.3, -0.4, 1.7])
        x = (5 * 6 + 2 * 2.4 + np.array([2 * 4 * 5 / 2, 2 * 2 / 1])) / 29 - 1
        plain = np.array([10.0, 4.4])
        assert [high[0], -low[1]] == pytest.approx(plain + [5.0, 2.0] * (grown(x) - 1 - x), abs=1e-6)
    assert found.rough(2.0)


def test_ends_far_away_are_numbers():
    far = Estimates(np.array([1e6, 0.0]), np.eye(2) * 1e12, np.array([1.0, 0.0]), 1.0)
    assert np.isfinite(far.ends(2.0)).all()
    none = Estimates(np.zeros(2), np.eye(2), np.zeros(2), 1.0)
    assert none.ends(1.0).tolist() == [[-1.0, 1.0], [-1.0, 1.0]]
