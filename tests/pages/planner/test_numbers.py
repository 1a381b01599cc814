"""The Planner's numbers: frontiers are the core's calibrations, and keep the promise."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from objpert_core.theory.excess_risk import excess_risk_bound, published_excess_risk_bound
from pages.planner import cost, numbers
from pages.planner.frontier import Frontier

slow = partial(pytest.param, marks=pytest.mark.slow)
PAPER = Frontier(1.0, 1e-5, 45_222, 105, 1.0, 50.0, "rdp", 1.3)


def calibrated(setting, bound, f):
    name, accountant = ("glm", "rdp") if bound == "rdp" else (bound, "profile")
    return acc.calibrate_objective_perturbation(
        setting.epsilon, setting.delta, setting.radius, bound=name, noise_ratio=f, accountant=accountant
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    "setting",
    [
        PAPER,
        *map(slow, (replace(PAPER, epsilon=8.0, intercept_scaling=0.3), replace(PAPER, delta=1e-9))),
    ],
)
@pytest.mark.parametrize("bound", numbers.NAMES)
def test_frontiers_are_the_cores_calibrations_also_where_they_are_stretched(setting, bound):
    spots = numbers.frontier(setting, bound)
    assert [s.ratio for s in spots] == sorted({s.ratio for s in spots})
    assert {1.3, 3.0} <= {s.ratio for s in spots}
    for s in spots:
        mechanism = calibrated(setting, bound, s.ratio)
        assert s.sigma == pytest.approx(mechanism.sigma, rel=1e-12)
        assert s.lam == pytest.approx(mechanism.lam, rel=1e-9)
        assert s.excess * setting.rows == pytest.approx(excess_risk_bound(mechanism, setting.rows, 106, 50.0))
        assert s.published * setting.rows == pytest.approx(
            published_excess_risk_bound(mechanism, setting.rows, 106, 50.0)
        )


@pytest.mark.thorough
def test_where_a_bound_fails_there_is_nothing():
    assert numbers.spot(PAPER, "rdp", 1.05) is None
    assert numbers.frontier(replace(PAPER, ratio=1.05), "rdp")[0].ratio > 1.05
    row = replace(PAPER, ratio=1.05).table()[0]
    assert (row["σ"], row["λ at least"], row["excess loss, at most"]) == ("no λ works", "–", "–")
    assert row["best f"] == "1.5"


def test_an_estimator_gets_the_points_own_ratio_where_output_noise_finds_room():
    assert numbers.fitted_ratio(PAPER) == 1.3
    first = numbers.fitted_ratio(replace(PAPER, bound="logistic", ratio=1.0))
    assert 1.0 < first < 1.01


@pytest.mark.slow
def test_frames_hold_every_plotted_number():
    frame = PAPER.frame()
    for bound in numbers.NAMES:
        rows = frame[frame["bound"] == bound]
        np.testing.assert_array_equal(rows["lambda"], [s.lam for s in numbers.frontier(PAPER, bound)])
    assert (frame["bound"] == "kifer2012").sum() == 1
    *_, estimate = sample(Plan(rows=300, features=3, draws=2))
    excess = cost.frame(replace(PAPER, bound="logistic"), estimate)
    assert set(excess["kind"]) == {"theorem", "theorem as printed", "sampled"}
    found = excess[excess["kind"] == "sampled"]
    assert found["excess_loss_per_row"].tolist() == [p.mean_excess.mean for p in estimate.points]
    assert (found["draws"] == 2).all()
    assert "sampled" not in set(cost.frame(PAPER)["kind"])


@pytest.mark.slow
def test_the_dotted_line_is_the_theorem_for_the_sampled_rows():
    setting = replace(PAPER, bound="logistic")
    for f, value in numbers.sampled_bound(setting, 1000, 21, 9.0):
        assert value * 1000 == pytest.approx(excess_risk_bound(calibrated(setting, "logistic", f), 1000, 21, 9.0))
