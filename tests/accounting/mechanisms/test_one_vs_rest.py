"""One fit for each class on the same rows: what all of them together reveal, against exact divergences."""

import math
from dataclasses import replace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import Gaussian, ObjectivePerturbation
from tests.accounting.one_dimensional import (
    LOGISTIC,
    Loss,
    Release,
    hockey_stick,
    log_cosh,
    logistic,
    pair,
    softened_hinge,
)
from tests.second_opinion.definition import Lattice

FIT = acc.ObjectivePerturbation(8.0, 10.0)
ENOUGH = acc.ObjectivePerturbation(4.0, 32.0)  # λ ≥ 2σ²
QUADRATURE = 1e-6


def fits(sigma, lam, rows, row, classes, weight, loss=LOGISTIC):
    """For each class the release without and with one more row; rows are (x, class, copies)."""
    for own in range(classes):
        sides = [
            (x if label == own else weight * x, 1.0 if label == own else -1.0, copies) for x, label, copies in rows
        ]
        without = Release.of(loss, sigma, lam, sides)
        x, label = row
        yield without, without.with_row(x if label == own else weight * x, 1.0 if label == own else -1.0)


def both_ways(releases, epsilons):
    """δ of all releases together: no theory but that they are independent. Losses are rounded down."""
    releases = list(releases)
    sides = [Lattice.of([(*pair(*one[::step]).atoms(), 1) for one in releases], up=False) for step in (1, -1)]
    return np.exp([max(side.log_delta(epsilon) for side in sides) for epsilon in epsilons])


@pytest.mark.parametrize(
    ("weight", "cases"),
    [
        pytest.param(2**-0.5, 2, marks=pytest.mark.slow),
        *[pytest.param(weight, 5, marks=pytest.mark.exhaustive) for weight in (1.0, 2**-0.5, 0.3)],
    ],
)
def test_no_data_reveal_more(weight, cases):
    rng = np.random.default_rng(3)
    for case in range(cases):
        sigma, lam = float(np.exp(rng.uniform(-0.5, 2))), float(np.exp(rng.uniform(-1, 3)))
        count = rng.integers(0, 30)
        rows = [(rng.uniform(-1, 1), int(rng.integers(3)), 1.0) for _ in range(count)]
        if case % 3 == 0:
            rows = [(-1.0, 0, 10 ** rng.uniform(0, 5))]
        bound = acc.one_vs_rest(acc.ObjectivePerturbation(sigma, lam), 3, weight)
        epsilons = np.array([0.3, 1.0]) * math.sqrt(1 + 2 * weight**2) / sigma
        exact = both_ways(fits(sigma, lam, rows, (1.0, 0), 3, weight), epsilons)
        assert (exact <= bound.delta(epsilons) * (1 + QUADRATURE) + 1e-12).all()


def test_with_full_weight_it_is_the_repeated_fit():
    assert acc.one_vs_rest(FIT, 5) == acc.repeat(acc.symmetrised(FIT), 5)
    assert acc.one_vs_rest(FIT, 1, 0.5) == acc.repeat(acc.symmetrised(FIT), 1)
    with_noise = acc.ApproximateMinima(FIT, 1e-6, 0.01)
    assert acc.one_vs_rest(with_noise, 4) == acc.repeat(acc.symmetrised(with_noise), 4)


@pytest.mark.thorough
def test_a_smaller_weight_costs_less_and_a_rest_that_does_not_count_one_fit():
    deltas = [acc.one_vs_rest(FIT, 10, weight).delta(1.0) for weight in (1.0, 0.7, 1 / 3, 0.1, 0.001)]
    assert (np.diff(deltas) < 0).all()
    assert deltas[-1] == pytest.approx(FIT.delta(1.0), rel=0.01)


@pytest.mark.parametrize("classes", [3, 4, 10, 100])
def test_a_balanced_rest_costs_what_two_classes_cost(classes):
    fit = acc.ObjectivePerturbation(20.0, 800.0)
    many = acc.one_vs_rest(fit, classes, acc.balanced_rest(classes)).delta(0.5)
    assert many == pytest.approx(acc.Gaussian(20.0, math.sqrt(2)).delta(0.5), rel=2e-3)


def test_the_output_noise_is_paid_for_in_every_fit():
    coarse = acc.ApproximateMinima(ENOUGH, 0.5, 0.2)
    a = math.hypot(1 / 4, 2 * 0.5 / 32 / 0.2)
    rest = math.hypot(0.5 / 4, 2 * 0.5 / 32 / 0.2)
    expected = acc.Gaussian(1.0, math.sqrt(a**2 + 4 * rest**2)).delta(1.0)
    assert acc.one_vs_rest(coarse, 5, 0.5).delta(1.0) == pytest.approx(expected, rel=2e-3)


def test_two_classes_are_balanced_as_they_are():
    assert acc.balanced_rest(2) == 1.0
    assert acc.balanced_rest(10) == 1 / 3
    assert acc.balanced_rest(10**9) == 1e-3


def test_a_weight_where_it_is_not_known_what_it_does_is_refused():
    replaced = acc.ObjectivePerturbation(8.0, 10.0, adjacency="replace one row")
    with pytest.raises(ValueError, match=r"rest_weight must be .* where a row is replaced, got 0.5"):
        acc.one_vs_rest(replaced, 3, 0.5)
    assert acc.one_vs_rest(replaced, 3).delta(1.0) < 1
    with pytest.raises(ValueError, match=r"rest_weight must be .* for a Gaussian, got 0.5"):
        acc.one_vs_rest(acc.Gaussian(2.0), 3, 0.5)
    assert acc.one_vs_rest(acc.Gaussian(2.0), 4).delta(1.0) == pytest.approx(acc.Gaussian(1.0).delta(1.0), rel=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("weight", [1.0, 1 / 3])
def test_a_calibration_meets_its_target_and_one_per_cent_less_noise_does_not(weight):
    before = acc.Standardisation(15.0, None).mechanisms()

    def fit(epsilon):
        return acc.calibrate_objective_perturbation(epsilon, 1e-5, lipschitz=1.0, tau=1e-6, lam=20.0)

    found = acc.calibrate_remaining(1.0, 1e-5, fit, before, copies=10, rest_weight=weight)
    whole = acc.compose(*before, acc.one_vs_rest(found, 10, weight))
    assert 0.99e-5 < whole.delta(1.0) <= 1e-5
    less = replace(found, objective=replace(found.objective, sigma=0.99 * found.objective.sigma))
    assert acc.compose(*before, acc.one_vs_rest(less, 10, weight)).delta(1.0) > 1e-5
    by_rule = fit(acc.remaining_epsilon(1.0, 1e-5, before, copies=10, rest_weight=weight))
    assert by_rule.objective.sigma == pytest.approx(found.objective.sigma, rel=0.1)


# Rows of weight at most 1 against the exact divergences in one dimension (docs/theorems.md, T48)


def with_weight(without: Release, weight: float) -> Release:
    """The row (1, 1) more, at this weight."""
    x, y, copies = (
        np.append(old, new) for old, new in zip((without.x, without.y, without.copies), (1, 1, weight), strict=True)
    )
    return Release(without.loss, without.sigma, without.lam, x, y, copies)


def excess(loss: Loss, bound: str, sigma: float, lam: float, rows: list, weight: float) -> float:
    """The largest ratio of the exact δ, in either direction, to the promised one."""
    promised = ObjectivePerturbation(sigma, lam, bound=bound, smoothness=loss.smoothness)
    epsilons = np.array([0.0, 0.3, 1.0, 2.0])
    without = Release.of(loss, sigma, lam, rows)
    pair = without, with_weight(without, weight)
    exact = np.maximum(hockey_stick(*pair, epsilons), hockey_stick(*pair[::-1], epsilons))
    return float((exact / promised.delta(epsilons)).max())


def opposite(sigma: float, lam: float) -> list:
    """Many rows with a tiny x that push θ so far that the new row sees a straight line."""
    push = 60 + 30 * sigma / lam
    return [(1e-7, -1.0, 2e7 * lam * push)]


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "lam", "weight"), [(3.0, 0.05, 0.3), (2.0, 8.0, 0.9)])
def test_a_weight_of_at_most_one_is_covered_as_the_row_itself_is(sigma, lam, weight):
    rng = np.random.default_rng(5)
    crowd = [(rng.uniform(-1, 1), float(rng.choice([-1, 1])), 10 ** rng.uniform(-2, 0)) for _ in range(12)]
    for loss, bound in (
        (logistic(), "logistic"),
        (logistic(1.5), "logistic"),
        (softened_hinge(0.7), "monotone"),
        (log_cosh(2.0), "two-signed"),
    ):
        for rows in (crowd, opposite(sigma, lam)):
            assert excess(loss, bound, sigma, lam, rows, weight) <= 1 + 1e-7


@pytest.mark.thorough
def test_a_weight_above_one_is_not_covered():
    """The weight 1 attains the promise, and 1.01 breaks it."""
    sigma, lam = 2.0, 8.0
    assert excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), 1.0) == pytest.approx(1.0, rel=1e-6)
    assert excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), 1.01) > 1.02


@pytest.mark.thorough
def test_a_row_of_less_weight_costs_less():
    """At λ ≥ 2σ² a row of weight w has the profile of sensitivity w: what a public maximum is divided out for."""
    sigma, lam, weight = 2.0, 8.0, 0.6
    own = excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), weight)
    ratio = Gaussian(sigma, weight).delta(np.array([0.0, 0.3, 1.0, 2.0])) / Gaussian(sigma).delta(
        np.array([0.0, 0.3, 1.0, 2.0])
    )
    assert own == pytest.approx(ratio.max(), rel=1e-6)
