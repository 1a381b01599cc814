"""The fits of the clipping study: their data, their calibration, and how their errors follow the threshold."""

from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies import clipping

OUTLIERS = clipping.Setting("squared", 0.5, 0.2, 0.1, 1.0, 1e-5, 0)
LABELS = clipping.Setting("squared-hinge", 0.5, 0.5, 0.2, 1.0, 1e-5, 0)
LOGISTIC = replace(LABELS, loss="logistic", parameter=0.0)


def test_errors_fall_and_rise_again_with_the_threshold():
    found = clipping.errors(OUTLIERS)
    best = int(np.argmin(found["private"]))
    assert 0 < best < len(clipping.THRESHOLDS) - 1
    assert found["private"][0] > 2 * found["private"][best] < found["private"][-1]
    assert (found["private_lowest"] <= found["private"]).all()
    assert clipping.best_threshold(OUTLIERS) == clipping.THRESHOLDS[best]
    assert clipping.private_error(replace(OUTLIERS, clip=clipping.THRESHOLDS[best])) == pytest.approx(
        found["private"][best]
    )
    assert clipping.errors(replace(OUTLIERS, clip=7.0)) is found  # C is not in it


@pytest.mark.slow
def test_one_calibration_serves_every_threshold():
    unit, small = (clipping.mechanism(replace(OUTLIERS, clip=c)).objective for c in (1.0, 0.01))
    assert small.lam == unit.lam
    assert small.sigma == pytest.approx(0.01 * unit.sigma)
    for setting in (
        OUTLIERS,
        LABELS,
        replace(LOGISTIC, clip=10.0),
        replace(OUTLIERS, clip=0.013),
    ):
        mechanism = clipping.mechanism(setting)
        assert mechanism.epsilon(1e-5) <= 1.0
        assert mechanism.epsilon(1e-5) > 0.999
        objective = mechanism.objective
        direct = acc.calibrate_objective_perturbation(
            1.0, 1e-5, objective.lipschitz, objective.smoothness, objective.bound, tau=clipping.TAU
        )
        assert (objective.sigma, objective.lam) == pytest.approx((direct.objective.sigma, direct.objective.lam))
    assert clipping.mechanism(replace(LOGISTIC, clip=10.0)).objective.lipschitz == pytest.approx(2**0.5)


def test_data_stay_in_the_unit_ball_and_follow_share_and_seed():
    for setting in (OUTLIERS, LABELS):
        X, y = clipping.data(setting)
        assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-12
        assert len(X) == len(y) == clipping.ROWS
        assert not np.array_equal(clipping.data(replace(setting, seed=1))[0], X)
    assert np.sum(clipping.data(OUTLIERS)[1] < -2) == 30
    assert np.sum(clipping.data(replace(OUTLIERS, outliers=0.0))[1] < -2) == 0


def test_private_draws_differ_in_their_noise_only():
    first, second = clipping.private(OUTLIERS, 0), clipping.private(OUTLIERS, 1)
    assert not np.allclose(first, second)
    quiet = replace(OUTLIERS, epsilon=20.0)
    np.testing.assert_allclose(clipping.private(quiet, 0), clipping.without_privacy(quiet, quiet.clip), atol=0.02)
