"""Four votes of one (ε, δ): each is private as a whole, at every gap, and none errs less than the floor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from objpert_core.accounting import LaplaceVote
from objpert_core.experiments.ptr.ballot import VOTES, Ballot

CASES = [(0.5, 1e-5, 1.0), (1.0, 1e-3, 3.0), (3.0, 1e-2, 10.0), (0.5, 1e-2, 0.2)]


def laws(ballot, gaps):
    """P[the answer is the one that is ahead at gap 0 or more], for gaps of either sign, by vote."""
    errors = ballot.errors(np.abs(gaps))
    return {name: np.where(gaps >= 0, 1 - error, error) for name, error in errors.items()}


@pytest.mark.parametrize("case", CASES)
def test_every_vote_is_private_at_every_gap(case):
    """Answer and test together; what leaves is the answer alone, which is less."""
    ballot = Ballot(*case)
    gaps = np.arange(-120, 121)
    for name, chance in laws(ballot, gaps).items():
        for p in (chance, 1 - chance):
            for more, less in ((p[1:], p[:-1]), (p[:-1], p[1:])):
                worst = float(np.max(more - math.exp(ballot.epsilon) * less))
                assert worst <= ballot.delta * (1 + 1e-9) + 1e-15, name


@pytest.mark.parametrize("case", CASES)
def test_none_errs_less_than_the_floor(case):
    ballot = Ballot(*case)
    found = ballot.errors(np.arange(80))
    assert tuple(found) == VOTES
    for name in VOTES:
        assert (found[name] >= found["floor"] * (1 - 1e-9)).all()
        assert (np.diff(found[name]) <= 1e-15).all()


@pytest.mark.parametrize("case", CASES)
def test_the_least_gap_is_where_the_noise_becomes_private(case):
    ballot = Ballot(*case)
    vote = LaplaceVote(ballot.noise)
    assert vote.epsilon_at(ballot.least_gap, ballot.delta) <= ballot.epsilon / 2
    assert ballot.least_gap == 0 or vote.epsilon_at(ballot.least_gap - 1, ballot.delta) > ballot.epsilon / 2


@pytest.mark.parametrize("case", CASES)
def test_from_the_passing_gap_on_most_runs_pass(case):
    ballot = Ballot(*case)
    gaps = np.array([ballot.passing_gap - 1, ballot.passing_gap])
    if ballot.least_gap == 0:
        assert ballot.passing_gap == 0
        return
    wide, narrow = (LaplaceVote(one).error(gaps) for one in (ballot.epsilon / 2, ballot.noise))
    fails = (ballot.errors(gaps)["asked"] - narrow) / (wide - narrow)
    assert fails[0] > 0.5 > fails[1]


@pytest.mark.parametrize("case", CASES[:3])
def test_where_the_proposal_is_wrong_it_passes_with_probability_delta_at_most(case):
    ballot = Ballot(*case)
    found = ballot.errors(np.array([1, ballot.least_gap - 1]))
    assert 1 - 2 * found["classic"][0] == pytest.approx(ballot.delta, rel=1)
    assert 1 - 2 * found["classic"][0] <= ballot.delta * (1 + 1e-9)
    wide, narrow = (LaplaceVote(one).error(ballot.least_gap - 1) for one in (ballot.epsilon / 2, ballot.noise))
    passed = (wide - found["asked"][1]) / (wide - narrow)
    assert ballot.delta * math.exp(-ballot.epsilon / 2) * 0.99 < passed <= ballot.delta * (1 + 1e-6)
