"""The Planner's pictures in words: from numbers to sentences, rounded to the safe side."""

from dataclasses import replace

import pytest

import objpert_core.accounting as acc
from objpert_core.experiments.studies.noise_ratios import Plan, sample
from pages.planner import cost, numbers, sampling
from pages.planner.frontier import ACCOUNTANTS, Frontier
from tests.pages.apps import execute, job_view

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


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ratio": 1.4}, "f 1.3 → 1.4: λ falls from 3.71 to 2.64; with more noise, λ may be smaller."),
        ({"epsilon": 0.5}, "; a stronger promise needs more λ."),
        ({"bound": "logistic"}, "bound 2023 theorem, Rényi → Our theorem: λ falls from 3.71 to 0.663."),
        ({"rows": 1000}, "n 45,222 → 1,000: λ stays at 3.71; the loss’s bound rises from 0.059 to"),
        ({"ratio": 1.02}, "f 1.3 → 1.02: no λ keeps the promise."),
        ({"epsilon": 2.0, "ratio": 1.5}, "f 1.3 → 1.5, ε 1 → 2: λ falls from 3.71 to"),
    ],
)
def test_why_names_the_change_and_what_it_did(change, told):
    assert told in replace(PAPER, **change).moved(PAPER)


def test_why_is_silent_where_nothing_changed():
    assert PAPER.moved(replace(PAPER, f_max=5.0, monotone=True)) == ""
    assert PAPER.moved(replace(PAPER, ratio=1.02)).endswith("some λ keeps the promise now.")
    assert set(ACCOUNTANTS) >= set(numbers.NAMES)


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


def test_one_draw_gives_no_interval():
    *_, single = sample(Plan(rows=300, features=3, draws=1))
    assert "one draw, no interval" in sampling.sampled(single)
    assert {row["95 % interval"] for row in sampling.sample_rows(single)} == {"–"}


def test_recipes_and_rows(estimate):
    assert "Our theorem at its default f = 1.02 and its smallest λ:" in sampling.recipes(estimate)
    assert "The paper’s recipe (Rényi, f = 1.3)" in sampling.recipes(estimate)
    assert len(sampling.sample_rows(estimate)) == len(estimate.points)
    assert sampling.failures(estimate) is None
    lost = replace(estimate, points=(replace(estimate.points[0], failed=True), *estimate.points[1:]))
    assert "At f = 1.02 λ is so small" in sampling.failures(lost)
    first = next(iter(sample(Plan(rows=300, features=3))))
    assert sampling.sampled(first) == "No private model was fitted along this frontier."
    assert sampling.recipes(first) is None


def test_progress_and_outcome(estimate):
    assert sampling.progress(job_view("waiting", ahead=1)) == (0.0, "Waiting for a free slot (1 ahead of you).")
    assert "without privacy" in sampling.progress(job_view("running"))[1]
    share, words = sampling.progress(job_view("running", estimate))
    assert (share, words) == (1.0, f"{estimate.fits} of {estimate.fits_planned} models fitted.")
    assert sampling.progress(job_view("running", estimate, stopping=True))[1] == "Stopping …"
    assert sampling.outcome(job_view("failed", message="Why.")) == "Why."
    assert sampling.outcome(job_view("stopped")) == "Stopped after no models."
    assert sampling.outcome(job_view("finished", estimate)) is None


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
