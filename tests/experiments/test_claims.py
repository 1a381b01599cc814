"""The stored results of Figure 2 are whole. What they say is computed in docs/results.md, or held in test_readme.py."""

import math

import pytest

from benchmarks.claim_tables import MANY_ROWS, SMALL, WIDE
from objpert_core.experiments import results
from objpert_core.experiments.figure2 import EPSILONS
from objpert_core.experiments.learners import (
    HONEST,
    NON_PRIVATE,
    PUBLISHED,
    TIGHT,
    TIGHT_LOGISTIC,
    TIGHT_RAW,
    UNPAID,
    UNPAID_STANDARDISED,
)

SETS = (*MANY_ROWS, *WIDE, *SMALL)
TEN = (*UNPAID, PUBLISHED, TIGHT, TIGHT_RAW, TIGHT_LOGISTIC)

pytestmark = pytest.mark.skipif(not set(SETS) <= set(results.stored()), reason="the stored results are not here")


@pytest.fixture(scope="module")
def stored():
    return {name: results.load(name) for name in SETS}


@pytest.mark.thorough
@pytest.mark.parametrize("name", SETS)
def test_ten_trials_of_every_method_but_the_slowest(stored, name):
    for epsilon in EPSILONS:
        for method in TEN:
            assert [run.trial for run in stored[name].of(method, epsilon)] == list(range(10)), (method, epsilon)
        standardised = [run.trial for run in stored[name].of(UNPAID_STANDARDISED, epsilon)]
        assert standardised == list(range(len(standardised)))
        assert len(standardised) >= 2 if name in WIDE else len(standardised) == 10
    assert len(stored[name].of(NON_PRIVATE, math.inf)) == 10
    assert all(len(stored[name].of(HONEST, epsilon)) >= 2 for epsilon in EPSILONS)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SETS)
def test_the_rival_on_standardised_rows_paid_what_ours_paid(stored, name):
    for epsilon in EPSILONS:
        ours = stored[name].of(TIGHT, epsilon)[0]
        for theirs in stored[name].of(UNPAID_STANDARDISED, epsilon):
            assert theirs.noise[4:] == ours.noise[4:]  # of the centre, of the scales, the map's rule
