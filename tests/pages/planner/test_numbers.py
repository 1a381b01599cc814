"""The Planner's numbers: frontiers are the core's calibrations, and keep the promise."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from objpert_core.theory.excess_risk import excess_risk_bound, published_excess_risk_bound
from pages.planner import cost, numbers, sampling
from pages.planner.frontier import Frontier
from tests.pages.apps import execute

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


# The Planner's pictures in words: from numbers to sentences, rounded to the safe side


@pytest.fixture(scope="module")
def estimate():
    *_, last = sample(Plan(rows=800, features=10, draws=6))
    return last


def test_the_answer_gives_sigma_lambda_and_the_theorem_rounded_up():
    assert PAPER.answer() == (
        "σ = 6.86, λ = 3.71 keep the promise ε = 1; training loss rises by at most 0.059 nats per row on average."
    )
    here = PAPER.here
    assert here.sigma <= 6.86
    assert here.lam <= 3.71
    assert here.excess <= 0.059


@pytest.mark.thorough
def test_the_answer_says_where_the_frontier_begins():
    said = replace(PAPER, ratio=1.02).answer()
    assert said.startswith("No λ keeps ε = 1 with f = 1.02 by the 2023 theorem, Rényi: take f ≥")
    first = numbers.frontier(replace(PAPER, ratio=1.02), "rdp")[0].ratio
    assert f"f ≥ {first:g}" in said
    assert replace(PAPER, ratio=1.02).promise() == replace(PAPER, ratio=1.02).code() == ""


def test_a_larger_lambda_is_mentioned_where_the_theorem_would_like_one():
    tight = replace(PAPER, bound="logistic")
    more = numbers.raised(tight)
    assert more.lam > tight.here.lam
    assert more.excess < tight.here.excess
    assert acc.ObjectivePerturbation(more.sigma, more.lam, tight.radius).epsilon(1e-5) < 1.0
    assert f"the theorem allows {numbers.nats(more.excess)} nats at this f" in cost.caveats(tight)
    assert numbers.raised(PAPER) is None
    assert "at this f" not in cost.caveats(PAPER)


@pytest.mark.thorough
def test_sampled_names_the_shape_the_best_and_what_is_not_decided(estimate):
    said = sampling.sampled(estimate)
    best = estimate.best()
    assert said.startswith(f"On 800 × 10 synthetic rows with even columns, f = {best.recipe.noise_ratio:g} trains best")
    assert "95 % interval" in said
    for point in estimate.undecided():
        assert f"{point.recipe.noise_ratio:g}" in said.split("cannot tell")[1]
    assert "scaled down from 1,000,000 × 300" in sampling.shape(Plan(rows=10**6, features=300))
    assert "scaled down" not in sampling.shape(Plan(rows=1000, features=30))


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        PAPER,
        replace(PAPER, bound="logistic", ratio=1.0, intercept_scaling=0.3, epsilon=0.1),
        replace(PAPER, bound="glm", ratio=1.2, intercept_scaling=0.0),
        replace(PAPER, bound="monotone", ratio=2.0, epsilon=8.0),
        replace(PAPER, bound="logistic", ratio=1.0, epsilon=0.01, delta=1e-2),
        replace(PAPER, bound="logistic", ratio=1.0, epsilon=20.0, delta=1e-12),
    ],
)
def test_the_snippet_gives_the_points_numbers_and_a_model_that_fits(setting):
    names, printed = execute(setting.code())
    here = setting.here
    mechanism = names["mechanism"]
    assert (mechanism.sigma, mechanism.lam) == (here.sigma, here.lam)
    assert names["excess"] / setting.rows == here.excess
    assert repr(here.lam) in printed
    model = names["model"].set_params(random_state=0)
    model.fit([[1.0, 0.0], [0.0, 1.0]] * 20, [0, 1] * 20)
    assert model.privacy_.epsilon == setting.epsilon
    assert 0.8 * here.lam < model.privacy_.lam < 1.01 * here.lam
    assert model.privacy_.sigma == pytest.approx(here.sigma, rel=0.005)
