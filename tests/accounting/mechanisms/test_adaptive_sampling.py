"""A draw behind two statistics: its profile against an integral over all three, calibration, the best of several."""

from dataclasses import replace

import numpy as np
import pytest

from objpert_core.accounting import (
    AdaptiveSampling,
    Gaussian,
    PrivateSelection,
    calibrate_adaptive_sampling,
    calibrate_gaussian,
    compose,
    liu_talwar_epsilon,
)

ONE = AdaptiveSampling(0.3, 0.4, leverage=0.1, separation=0.8, failure=1e-9)


@pytest.mark.slow
def test_it_lies_above_the_plain_composition_and_near_it_for_small_leverage():
    for leverage, close in ((1e-8, 1e-5), (0.05, 0.05)):
        one = AdaptiveSampling(0.3, 0.4, leverage, 0.8, failure=1e-30)
        plain = compose(Gaussian(1 / one.statistics_mu), one.draw)
        for epsilon in (0.0, 1.0, 4.0):
            low, high = plain.delta_bounds(epsilon)
            assert low <= one.delta(epsilon) <= high * (1 + close)


def test_as_the_leverage_falls_to_nothing_it_is_the_gaussian_mechanism():
    limit = AdaptiveSampling(0.3, 0.4, 1e-12, 1.2, failure=1e-30)
    assert limit.epsilon(1e-6) == pytest.approx(Gaussian(1 / 1.3).epsilon(1e-6), rel=1e-5)
    assert limit.delta(3.0) >= Gaussian(1 / 1.3).delta(3.0)


@pytest.mark.parametrize("runs", [1.0, pytest.param(600.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (20.0, 1e-3)])
def test_a_calibration_meets_its_target_and_one_per_cent_more_does_not(epsilon, delta, runs):
    one = calibrate_adaptive_sampling(epsilon, delta, mean_runs=runs)
    assert one.delta(epsilon) <= delta
    wider = AdaptiveSampling(
        one.eigenvalue_mu, one.norm_mu, one.leverage, 1.01 * one.separation, one.failure, one.mean_runs
    )
    assert wider.delta(epsilon) > delta
    assert np.hypot(one.statistics_mu, one.separation) < 1 / calibrate_gaussian(epsilon, delta).sigma


@pytest.mark.slow
def test_the_best_of_several_is_that_of_private_selection():
    one = calibrate_adaptive_sampling(1.0, 1e-7)
    several = AdaptiveSampling(*(getattr(one, name) for name in one.__dataclass_fields__ if name != "mean_runs"), 20.0)
    assert several.single == one
    assert several.epsilon(1e-5) == pytest.approx(liu_talwar_epsilon(one, 1e-5, 20.0), rel=1e-9)
    assert several.epsilon(1e-5) == pytest.approx(PrivateSelection(one, 20.0, eta=1).epsilon(1e-5), rel=1e-9)
    assert several.delta(several.epsilon(1e-5)) <= 1e-5


def test_selection_needs_a_rényi_curve_for_a_poisson_number_of_runs_only():
    selection = PrivateSelection(ONE, 5.0, eta=1)
    assert not selection.has_rdp
    assert selection.rdp(2.0) == np.inf
    with pytest.raises(NotImplementedError, match="Rényi"):
        PrivateSelection(ONE, 5.0)


def test_failing_statistics_are_added_to_δ():
    risky = AdaptiveSampling(0.3, 0.4, 0.1, 0.8, failure=1e-3)
    assert risky.delta(50.0) == pytest.approx(1e-3, rel=1e-6)


@pytest.mark.parametrize("change", [{"leverage": 2.0}, {"mean_runs": 0.5}])
def test_what_is_out_of_range_is_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(ONE, **change)


@pytest.mark.parametrize(("epsilon", "delta", "runs"), [(1e-4, 1e-6, 1), (1.0, 0.0, 1), (1.0, 1e-6, 0)])
def test_a_calibration_names_what_is_out_of_range(epsilon, delta, runs):
    with pytest.raises(ValueError, match=r"epsilon|delta|mean_runs"):
        calibrate_adaptive_sampling(epsilon, delta, mean_runs=runs)
