"""Noise, regularisation and smoothing for fits in a ball: what they are, and that they keep what is asked."""

import math
from dataclasses import replace

import pytest

from objpert_core.accounting import calibrate_gaussian, calibrate_objective_perturbation
from objpert_core.accounting.population.ball import check_lam, objective_plan
from objpert_core.accounting.population.published import published_objective_lam
from objpert_core.accounting.population.sizes import Sizes

LOGISTIC = {"radius": 4.0, "lipschitz": 1.0, "smoothness": 0.25, "bound": "logistic", "tau": 1e-6}
HUBER = {"radius": 2.0, "lipschitz": 0.5, "smoothness": 1.0, "bound": "two-signed", "tau": 1e-6}
CORNERS = {"radius": 2.0, "lipschitz": 1.0, "smoothness": math.inf, "bound": "two-signed", "tau": 1e-6}
HINGE = CORNERS | {"bound": "monotone"}


def plan_of(schedule, n, d, epsilon, delta, *, radius, lipschitz, **about):
    return objective_plan(schedule, Sizes(n, d, epsilon, delta, radius, lipschitz), **about)


def keeps(plan, epsilon, delta):
    return plan.mechanism.delta(epsilon) <= delta and plan.mechanism.adjacency == "replace one row"


def test_with_much_lam_accounting_is_a_closed_form():
    gauss = calibrate_gaussian(0.5, 1e-6, 2.0).sigma
    (sigma, lam, lipschitz), envelope = numbers(plan_of("tight", 10, 10, 0.5, 1e-6, lam=3 * gauss**2, **LOGISTIC))
    assert gauss < sigma < 1.001 * gauss
    assert (lam, lipschitz, envelope) == (3 * gauss**2, 1.0, None)


def numbers(plan):
    objective = plan.mechanism.objective
    return (objective.sigma, objective.lam, objective.lipschitz), plan.envelope


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon", "delta", "radius"), [(1000, 1.0, 1e-6, 1.0), (10**6, 0.5, 1e-8, 1.3)])
def test_the_logistic_loss_gets_the_noise_of_the_gaussian_mechanism(n, epsilon, delta, radius):
    plan = plan_of("tight", n, 10, epsilon, delta, **LOGISTIC | {"lipschitz": radius, "smoothness": radius**2 / 4})
    (sigma, lam, _), envelope = numbers(plan)
    gauss = calibrate_gaussian(epsilon, delta, 2 * radius).sigma
    assert gauss < sigma < 1.001 * gauss
    assert lam == pytest.approx(max(2 * radius**2 / epsilon, 4 * gauss**2 * 10 / n), rel=1e-12)
    assert envelope is None
    assert keeps(plan, epsilon, delta)
    assert less_noise(plan.mechanism).delta(epsilon) > delta


def less_noise(mechanism):
    return replace(mechanism, objective=replace(mechanism.objective, sigma=0.998 * mechanism.objective.sigma))


@pytest.mark.slow
def test_less_lam_than_the_rule_has_needs_more_noise():
    plan = plan_of("tight", 1000, 10, 1.0, 1e-6, lam=0.0, **LOGISTIC)
    searched = calibrate_objective_perturbation(1.0, 1e-6, adjacency="replace one row")
    (sigma, lam, _), _ = numbers(plan)
    assert lam == searched.lam < 2.0
    assert searched.sigma < sigma < 1.001 * searched.sigma
    assert keeps(plan, 1.0, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("about", [CORNERS, HINGE], ids=["absolute", "hinge"])
def test_smoothing_goes_with_lam_and_noise_does_not(about):
    one, other = (plan_of("tight", 1, 10, 0.5, 1e-6, **about | {"radius": radius}) for radius in (2.0, 8.0))
    (sigma, lam, slope), envelope = numbers(one)
    assert lam == pytest.approx(math.sqrt(10) * sigma, rel=1e-3)
    assert envelope == pytest.approx(0.5 / 24 * lam, rel=1e-9) == one.mechanism.objective.smoothness
    assert numbers(other)[0][0] == pytest.approx(sigma, rel=1e-9)
    assert other.envelope == pytest.approx(envelope / 4, rel=1e-9)
    assert sigma < 1.15 * calibrate_gaussian(0.5, 1e-6, 2 * slope).sigma
    assert keeps(one, 0.5, 1e-6)


@pytest.mark.slow
def test_a_loss_that_is_smooth_enough_is_left_alone_and_gets_less_noise():
    (sigma, _, _), envelope = numbers(plan_of("tight", 1, 4, 1.0, 1e-5, **HUBER | {"radius": 0.01}))
    (rounded, _, _), other = numbers(plan_of("tight", 1, 4, 1.0, 1e-5, **HUBER))
    assert envelope is None
    assert other < 1.0
    assert sigma < rounded


@pytest.mark.slow
def test_where_the_accountant_finds_more_than_is_published_the_plan_is_refused():
    """κ = ε/2 on both links leaves nothing for the noise: β = ελ/2 is what the paper allows."""
    lam = published_objective_lam(Sizes(10_000, 10, 0.5, 1e-8, 2.0))
    with pytest.raises(
        ValueError, match=r"^epsilon must be at least 0\.[67]\d*, what the accountant finds for what is pub"
    ):
        plan_of("bassily2019", 10_000, 10, 0.5, 1e-8, **CORNERS | {"smoothness": 0.5 * lam / 2})


def test_a_lam_that_no_loss_with_corners_can_have():
    with pytest.raises(ValueError, match="lam must be a number > 0 for a loss with corners"):
        check_lam("tight", 0.0, math.inf)
    check_lam("tight", 0.0, 1.0)
    check_lam("bassily2019", None, math.inf)


@pytest.mark.thorough
def test_a_loss_with_corners_is_smoothed_until_one_row_bends_it_by_a_share_of_lam():
    """κ = β/λ = ε/24: more costs noise, less costs risk; the largest curvature is read off the plan."""
    plan = plan_of("tight", 1000, 10, 0.5, 1e-6, **CORNERS)
    objective = plan.mechanism.objective
    assert plan.envelope == objective.smoothness
    assert objective.smoothness / objective.lam == pytest.approx(0.5 / 24, rel=1e-12)
