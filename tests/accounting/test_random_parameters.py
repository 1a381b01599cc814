"""δ is a probability, falls in ε and inverts safely at random parameters, extreme ones too; nothing warns or hangs.

A few hundred sets in the quick loop. All 10⁵ take about an hour of one core:

    python -m pytest tests/accounting/test_random_parameters.py -m exhaustive

or, with what each kind costs, `python -m tests.accounting.random_parameters --count 100000 --seed 0`.
"""

import pytest

from tests.accounting.random_parameters import KINDS, sweep

QUICK = [kind for kind, (share, _) in KINDS.items() if share > 1]
SECONDS = {"logistic", "Algorithm 1, 2012"}  # for a sample of either


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow if kind in SECONDS else []) for kind in QUICK],
)
def test_a_sample(kind):
    assert len(sweep(90, 11, kind)[kind]) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in QUICK])
def test_a_sample_of_what_is_convolved_or_searched(kind):
    assert len(sweep(60, 11, kind)[kind]) >= 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_thousand(seed):
    assert sum(map(len, sweep(10_000, seed).values())) == 10_000
