"""δ is a probability, falls in ε and inverts safely at random parameters, extreme ones too; nothing warns or hangs.

A few hundred sets in the quick loop. All 10⁵ take about an hour of one core:

    python -m pytest tests/accounting/test_random_parameters.py -m exhaustive

or, with what each kind costs, `python -m tests.accounting.random_parameters --count 100000 --seed 0`.
"""

import numpy as np
import pytest

from objpert_core.accounting import Gaussian
from tests.accounting import random_parameters
from tests.accounting.random_parameters import KINDS, TooLongError, check, kinds, sweep, watchdog

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


def test_every_kind_has_its_share():
    drawn = kinds(np.random.default_rng(0), 2000)
    assert len(drawn) == 2000
    assert set(drawn) == set(KINDS)


class Wrong(Gaussian):
    """A Gaussian mechanism with one thing wrong."""

    wrong = ""

    def _log_delta(self, epsilon):
        value = super()._log_delta(epsilon)
        rises = np.where(epsilon > 1, -0.01, value)
        return {"rises": rises, "too large": value + 3.0, "nan": value * np.nan}[self.wrong]


def check_some(mechanism):
    for seed in range(20):
        check(np.random.default_rng(seed), mechanism)


@pytest.mark.parametrize("wrong", ["rises", "too large", "nan"])
def test_what_is_wrong_is_found(wrong, monkeypatch):
    monkeypatch.setattr(Wrong, "wrong", wrong)
    with pytest.raises(AssertionError):
        check_some(Wrong(0.3))


@pytest.mark.thorough
def test_what_warns_or_takes_too_long_is_named(monkeypatch):
    def at_work(_rng):
        while True:
            pass

    monkeypatch.setattr(random_parameters, "SECONDS", 0.05)
    monkeypatch.setitem(KINDS, "Gaussian", (14, at_work))
    with pytest.raises(AssertionError, match=r"^set \d+ of seed 0, Gaussian: 'not yet made': TooLongError"):
        sweep(40, 0, "Gaussian")
    with pytest.raises(TooLongError), watchdog(0.05):
        at_work(None)
    monkeypatch.setitem(KINDS, "Gaussian", (14, lambda _: Gaussian(1.0 / np.float64(0.0))))
    with pytest.raises(AssertionError, match="RuntimeWarning"):
        sweep(40, 0, "Gaussian")
