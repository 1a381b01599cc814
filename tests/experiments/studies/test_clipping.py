"""The fits of the clipping study: their data, their calibration, and how their errors follow the threshold."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.datasets import load
from objpert_core.experiments import compare
from objpert_core.experiments.studies import clipping, noise_ratios, subsampling, tuning_runs

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


# Every study that is watched while it runs: its results grow from nothing, and it stops as soon as it is told to


CURVE = subsampling.Plan("synthetic-l", sizes=(100, 200), draws=3)
TUNING = tuning_runs.Settings(learning_rates=(0.05, 0.3), mean_runs=2.0, epochs=2, judges=40, draws=2, seed=5)
STUDIES = {  # how a study begins, given when to stop, and the fits that one of its results has
    "compare": (
        lambda stop: compare.compare(load("breast-cancer", split_seed=3), compare.Settings(repeats=3), stop),
        lambda state: state.fits,
    ),
    "noise ratios": (
        lambda stop: noise_ratios.sample(noise_ratios.Plan(rows=600, features=4, draws=3, seed=5), stop),
        lambda state: range(state.fits),
    ),
    "learning curve": (lambda stop: subsampling.learning_curve(CURVE, stop), lambda state: state.fits),
    "tuning runs": (
        lambda stop: tuning_runs.tuning_runs(load("breast-cancer"), TUNING, stop),
        lambda state: state.draws,
    ),
}
SIZES = {"compare": [0, 1, 4, 7], "learning curve": [*range(7)], "tuning runs": [0, 1, 2]}
"""How many fits there are in each result; of "noise ratios" always one more."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", STUDIES)
def test_results_grow_from_nothing_and_it_stops_at_the_first_yes(name):
    begin, fits_of = STUDIES[name]
    asked = []
    whole = [fits_of(state) for state in begin(lambda: asked.append(1))]
    assert [len(fits) for fits in whole] == SIZES.get(name, [*range(len(whole))])
    assert all(after[: len(before)] == before for before, after in itertools.pairwise(whole))

    most, again = 3 * len(asked) // 4, []

    def stop():
        again.append(1)
        return len(again) >= most

    *_, last = stopped = list(begin(stop))
    assert len(again) == most  # before fits and in every iteration, and never after the first yes
    assert 0 < len(fits_of(last)) < len(whole[-1])  # a fit that is under way is dropped
    assert [len(fits_of(state)) for state in stopped] == [len(fits) for fits in whole[: len(stopped)]]
    assert not getattr(last, "complete", False)
    assert all(len(fits_of(state)) == 0 for state in begin(lambda: True))
