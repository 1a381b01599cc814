"""The filter: never above its budget, whatever is asked for; the odometer: what it reads."""

import contextlib
import math
import pickle
import sys
import threading

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting.numerics.gaussian import log_profile
from objpert_core.exceptions import PrivacyBudgetExceededError


def test_squares_add_up_and_nothing_is_lost():
    budget = acc.PrivacyFilter(1.0)
    for _ in range(4):
        budget.spend(acc.Gaussian(2.0))
    assert budget.left == 0.0
    assert budget.reading == pytest.approx(acc.compose(*(acc.Gaussian(2.0),) * 4).mu(), rel=1e-14)
    assert not budget.allows(acc.Gaussian(1e6))


def test_a_refusal_spends_nothing_and_says_what_is_left():
    budget = acc.PrivacyFilter(0.5)
    budget.spend(acc.Gaussian(2.5))
    with pytest.raises(PrivacyBudgetExceededError, match=r"at most 0\.3, which is left of 0\.5, got 0\.4"):
        budget.spend(acc.Gaussian(2.5))
    assert len(budget.releases) == 1
    assert budget.left == pytest.approx(0.3, rel=1e-12)
    assert 0 < budget.left < 0.3 + 1e-12
    budget.spend(acc.Gaussian(4.0))


@pytest.mark.slow
def test_a_strategy_that_looks_at_the_releases_stays_below_the_budget():
    """Two steps on the real line, the second's noise chosen by the first's output: the exact δ of the joint release."""
    mu, first = 1.0, 0.6
    x = np.linspace(-9, 10, 2401)
    width = x[1] - x[0]
    rest = math.sqrt(mu**2 - first**2)
    second = np.where(np.abs(x - first / 2) < 0.7, rest, 0.3 * rest)  # spends more where the first was in doubt
    p = np.exp(-0.5 * (x - first) ** 2) / math.sqrt(2 * math.pi)
    q = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        threshold = epsilon + np.log(q / p)  # of the second loss
        exact = sum(
            share * float(np.exp(log_profile(t, a))) for share, t, a in zip(p * width, threshold, second, strict=True)
        )
        assert exact <= acc.Gaussian(1.0, mu).delta(epsilon) + 1e-9


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-5), (8.0, 1e-9)])
def test_a_target_gives_the_largest_budget(epsilon, delta):
    budget = acc.PrivacyFilter.for_target(epsilon, delta)
    assert acc.Gaussian(1.0, budget.mu).delta(epsilon) <= delta
    assert acc.Gaussian(1.0, budget.mu * (1 + 1e-9)).delta(epsilon) > delta
    assert budget.mu == pytest.approx(1 / acc.calibrate_gaussian(epsilon, delta).sigma, rel=1e-12)


def test_the_odometer_reads_the_sum_and_refuses_nothing():
    spent = acc.PrivacyOdometer()
    assert spent.reading == 0.0
    assert spent.epsilon(1e-5) == 0.0
    for _ in range(3):
        spent.spend(acc.ObjectivePerturbation(5.0, 50.0))
    assert spent.reading >= 0.2 * 3**0.5
    assert spent.reading == pytest.approx(0.2 * 3**0.5, rel=1e-14)
    assert spent.epsilon(1e-5) == acc.Gaussian(1.0, spent.reading).epsilon(1e-5)


def test_what_has_no_mu_or_means_other_neighbours_is_refused():
    budget = acc.PrivacyFilter(1.0)
    with pytest.raises(ValueError, match="finite mu"):
        budget.spend(acc.PrivateSelection(acc.Gaussian(9.0), 3.0))
    with pytest.raises(ValueError, match="'add/remove one row', got one about 'replace one row'"):
        budget.spend(acc.Gaussian(9.0, adjacency=acc.REPLACE_ONE))
    with pytest.raises(ValueError, match="mechanism must be one of this package's mechanisms"):
        budget.spend(0.1)
    with pytest.raises(ValueError, match="mu must be"):
        acc.PrivacyFilter(0.0)
    with pytest.raises(ValueError, match="adjacency must be"):
        acc.PrivacyOdometer("swap")
    assert budget.releases == ()


@pytest.mark.thorough
def test_threads_that_ask_at_once_do_not_overspend():
    """Without a lock two of four were let through in a quarter of such rounds."""
    rounds, patience = 60, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(rounds):
            budget, together = acc.PrivacyFilter(1.0), threading.Barrier(4)
            budget = pickle.loads(pickle.dumps(budget))

            def ask(budget=budget, together=together):
                together.wait()
                with contextlib.suppress(PrivacyBudgetExceededError):
                    budget.spend(acc.Gaussian(1.25))

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(budget.releases) == 1
    finally:
        sys.setswitchinterval(patience)


@pytest.mark.parametrize("sigma", [1e-200, 1e170, 1e200, 1e300])
def test_the_odometer_does_not_lose_what_has_a_square_that_is_no_double(sigma):
    spent = acc.PrivacyOdometer()
    for _ in range(4):
        spent.spend(acc.Gaussian(sigma))
    assert spent.reading >= 2 * acc.Gaussian(sigma).mu()
    assert spent.reading == pytest.approx(2 / sigma, rel=1e-12)
