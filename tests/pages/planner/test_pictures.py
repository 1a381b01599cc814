"""The Planner's pictures in words: from numbers to sentences, rounded to the safe side."""

from dataclasses import replace

import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from pages.planner import cost, numbers, sampling
from pages.planner.frontier import Frontier
from tests.pages.apps import execute

PAPER = Frontier(1.0, 1e-5, 45_222, 105, 1.0, 50.0, "rdp", 1.3)


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
