"""Teachers behind a proposal: the distance against votes that are changed, the promise, reference values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from objpert_core.accounting import GNMax
from objpert_core.experiments.ptr.teachers import Proposal, Teachers, converted, exact, known

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
