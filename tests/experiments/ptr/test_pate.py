"""Labels by noisy majority: Figure 2's analyses against the reference values and against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.experiments import votes
from objpert_core.accounting import Gaussian, GNMax, repeat
from objpert_core.experiments.ptr import stored
from objpert_core.experiments.ptr.stored import Price
from objpert_core.experiments.ptr.teachers import Proposal, Teachers, converted, exact, known

REFERENCE = {  # σ = 20: not private, smooth sensitivity, distance test
    "high": (0.179, 3.27, 0.595),
    "mid": (0.249, 4.47, 0.811),
}


@pytest.mark.parametrize("source", REFERENCE)
def test_the_reference_values_are_met(source):
    found = stored.load("pate")
    at = {"source": source, "sigma": 20.0}
    known, smooth, distance = REFERENCE[source]
    assert found.values(method="independent", **at) == pytest.approx([5.303], rel=1e-3)
    assert found.values(method="known", **at) == pytest.approx([known], rel=5e-3)
    assert found.values(method="smooth", **at) == pytest.approx([smooth], rel=0.2)
    assert found.values(method="distance", **at) == pytest.approx([distance], rel=0.08)


def test_where_teachers_disagree_asking_them_does_not_pay():
    found = stored.load("pate")
    at = {"source": "low", "sigma": 20.0}
    assert found.values(method="known", **at) == pytest.approx([4.80], rel=2e-3)
    assert found.values(method="distance", **at) == pytest.approx([5.31], rel=5e-3)
    assert found.values(method="exact", **at)[0] < found.values(method="distance-tight", **at)[0]
    assert found.values(method="smooth", **at)[0] > 2 * found.values(method="independent", **at)[0]


def test_analyses_are_in_order_everywhere():
    found = stored.load("pate")
    for source, sigma in votes.PATE.pieces:
        cost = {method: found.values(source=source, sigma=sigma, method=method)[0] for method in Price.LABELS}
        assert cost["exact"] < cost["independent"]
        assert cost["known"] * (1 - 1e-12) <= cost["distance"] <= cost["independent"] * (1 + 1e-12)
        assert cost["distance-tight"] < cost["distance"] < cost["smooth"]
    for source in ("high", "mid"):
        (tested,) = found.values(source=source, sigma=20.0, method="distance-tight")
        assert tested < found.values(source=source, sigma=20.0, method="exact")[0] / 6


def test_any_votes_cost_what_so_many_gaussian_mechanisms_cost():
    counts = np.full((7, 10), 40.0)
    exact = votes.exact(counts, 9.0)
    assert exact == pytest.approx(repeat(Gaussian(9.0, math.sqrt(2)), 7).epsilon(Price.DELTA), rel=1e-6)
    assert exact < votes.independent(counts, 9.0) < 1.4 * exact


def test_the_divergence_of_rescaled_noise_is_an_integral():
    """Of N(0, 1) from N(min(1, e^u)/σ, e^{2u}), by quadrature, at both ends and between; and the paper's is below."""
    order, beta, sigma = 6.0, 0.03, 4.0
    x = np.linspace(-40, 40, 400_001)
    found = []
    for u in (-beta, 0.0, beta):
        mean, scale = min(1.0, math.exp(u)) / sigma, math.exp(u)
        log_p = -(x**2) / 2 - math.log(2 * math.pi) / 2
        log_q = -(((x - mean) / scale) ** 2) / 2 - math.log(2 * math.pi) / 2 - u
        found.append(math.log(np.trapezoid(np.exp(order * log_p + (1 - order) * log_q), x)) / (order - 1))
    assert votes._scaled_noise_rdp(order, beta, sigma) == pytest.approx(max(found), rel=1e-6)
    assert max(found) > found[1] == pytest.approx(order / (2 * sigma**2), rel=1e-6)


def test_prices_by_few_orders_and_budgets_are_no_smaller(monkeypatch):
    monkeypatch.setattr(votes, "ORDERS", votes.ORDERS[::25])
    monkeypatch.setattr(votes, "_BUDGETS", 2)
    found = stored.load("pate")
    for price in votes.prices("low", 20.0):
        at = {"source": "low", "sigma": 20.0, "method": price.method}
        assert price.value >= found.values(**at)[0] * (1 - 1e-9)
        assert found.values("right", **at) == [price.right]


def test_votes_are_drawn_as_told_and_digits_are_read():
    counts, truth = votes.votes("high")
    assert counts.shape == (200, 10)
    assert (counts.sum(axis=1) == 400).all()
    assert counts[:, 0].mean() == pytest.approx(320, abs=2)
    assert (truth == 0).all()


# Teachers behind a proposal: the distance against votes that are changed, the promise, reference values


HIGH = Teachers(0.8, 1 / 9)


def test_the_same_votes_cost_what_the_experiment_says():
    assert HIGH.any_votes == exact(HIGH.counts, 20.0) == pytest.approx(4.377, abs=1e-3)
    assert HIGH.these_votes == pytest.approx(0.179, abs=0.01)
    loud = Teachers(0.8, 1 / 9, sigma=100.0)
    assert loud.these_votes == loud.any_votes < known(loud.counts, 100.0)
    assert (HIGH.counts.sum(axis=1) == 400).all()


def test_fewer_changes_than_the_distance_stay_within_the_budget():
    """D − 1 teachers go over from the first class to the next one on every row."""
    asked = Proposal(HIGH, 0.7, 0.2)
    counts = HIGH.counts.copy()
    moved = asked.distance - 1
    counts[:, 0] -= moved
    rows = np.arange(len(counts))
    counts[rows, 1 + np.argmax(counts[:, 1:], axis=1)] += moved
    assert GNMax(20.0).rdp_at(counts, asked.order) <= 0.35 * (1 + 1e-12)
    counts[:, 0] -= 10
    counts[rows, 1 + np.argmax(counts[:, 1:], axis=1)] += 10
    assert GNMax(20.0).rdp_at(counts, asked.order) > 0.35


def test_the_proposal_converts_to_epsilon_and_the_test_errs_with_delta():
    asked = Proposal(HIGH, 0.7, 0.2, 1e-4)
    assert converted(asked.order, 0.35, 1e-4) == pytest.approx(0.7)
    assert asked.total == pytest.approx(0.9)
    wrong = Proposal(Teachers(0.34, 1 / 3), 0.5, 0.2, 1e-4)
    assert wrong.distance == 0
    assert 1e-4 / math.exp(0.2) < wrong.pass_probability <= 1e-4


def test_the_budget_is_what_the_conversion_leaves():
    for epsilon in np.geomspace(0.5, 2.0, 15).tolist():
        asked = Proposal(HIGH, epsilon, 0.2)
        budget = epsilon - converted(asked.order, 0.0)
        assert asked.distance == GNMax(20.0).distance(HIGH.counts, asked.order, budget * (1 + 1e-12))


def test_what_any_votes_suit_always_passes():
    asked = Proposal(Teachers(0.34, 1 / 3, sigma=100.0), 5.0, 0.2)
    assert math.isinf(asked.distance)
    assert asked.pass_probability == 1.0
