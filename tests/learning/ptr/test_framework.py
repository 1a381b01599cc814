"""Propose, test, release: what leaves, what it costs, and what is refused before the data are looked at."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from objpert_core.accounting import REPLACE_ONE
from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning import Refused as SharedRefused
from objpert_core.learning import ptr


class Winner:
    """Who has more votes: exactly, where nobody can turn it."""

    covers = "both"

    def epsilon_at(self, X, delta):
        return 0.0 if abs(sum(X)) > 1 else math.inf

    def release(self, X, source):
        return 1 if sum(X) > 0 else -1


class Coin:
    """As private as can be."""

    epsilon, delta = 0.0, 0.0

    def release(self, X, source):
        return 0


def far_from_a_draw(X):
    return max(0, abs(sum(X)) - 1)


TEST = ptr.DistanceTest(far_from_a_draw, epsilon=0.5, failure=1e-6)
SHARE = {"epsilon": 0.25, "delta": 1e-7}
CLEAR, CLOSE = [1] * 200, [1, -1]


def test_the_mechanism_answers_where_the_test_passes():
    found = ptr.propose_test_release(CLEAR, Winner(), TEST, **SHARE)
    assert isinstance(found, ptr.Released)
    assert found.required() is found
    assert (found.released, found.value, found.published) == (True, 1, {})
    certificate = found.certificate
    assert (certificate.epsilon, certificate.delta) == (0.75, 1e-6)
    assert (certificate.release_epsilon, certificate.release_delta, certificate.failure) == (0.25, 1e-7, 1e-6)
    assert certificate.verify()
    assert certificate.noise_source == "operating system"


def test_nothing_leaves_where_it_does_not_and_that_costs_as_much():
    refusal = ptr.propose_test_release(CLOSE, Winner(), TEST, **SHARE)
    assert isinstance(refusal, ptr.Refused)
    assert ptr.Refused is SharedRefused
    assert refusal.certificate == ptr.propose_test_release(CLEAR, Winner(), TEST, **SHARE).certificate
    assert refusal == ptr.propose_test_release([], Winner(), TEST, **SHARE)  # so it says nothing of the data
    with pytest.raises(ReleaseRefusedError, match="the private test of the data did not pass"):
        refusal.required()


def test_a_fallback_answers_instead_at_the_same_cost():
    clear, close = (ptr.propose_test_release(X, Winner(), TEST, fallback=Coin(), **SHARE) for X in (CLEAR, CLOSE))
    assert (clear.value, clear.published) == (1, {"fallback": False})
    assert (close.value, close.published) == (0, {"fallback": True})
    without = ptr.propose_test_release(CLEAR, Winner(), TEST, **SHARE).certificate
    for certificate in (clear.certificate, close.certificate):
        assert (certificate.epsilon, certificate.delta) == (without.epsilon, without.delta)
        assert certificate.fallback_delta == 0.0
        assert certificate.verify()
    loose = SimpleNamespace(epsilon=0.25, delta=5e-7, release=lambda X, source: 0)
    certificate = ptr.propose_test_release(CLOSE, Winner(), TEST, fallback=loose, **SHARE).certificate
    assert certificate.delta == pytest.approx(1.5e-6, rel=1e-12)  # its own δ is paid for
    assert certificate.verify()


def test_one_sided_coverage_costs_the_factor_unless_the_test_is_shifted():
    one_sided = Winner()
    one_sided.covers = "added"
    plain = ptr.propose_test_release(CLEAR, one_sided, TEST, **SHARE).certificate
    assert plain.delta == pytest.approx(math.exp(0.5) * 1e-6, rel=1e-9)
    further = ptr.DistanceTest(far_from_a_draw, epsilon=0.5, failure=1e-6, shifted=True)
    assert ptr.propose_test_release(CLEAR, one_sided, further, **SHARE).certificate.delta == 1e-6
    with pytest.raises(ValueError, match="adjacency must be 'add/remove one row'"):
        ptr.propose_test_release(CLEAR, one_sided, TEST, adjacency=REPLACE_ONE, **SHARE)
    replaced = ptr.propose_test_release(CLEAR, Winner(), TEST, adjacency=REPLACE_ONE, **SHARE).certificate
    assert replaced.adjacency == REPLACE_ONE
    assert replaced.verify()


def test_the_whole_keeps_its_promise_exactly():
    """The laws of all outcomes for every margin of votes, worked out from the threshold, next to one another."""

    def law(total):
        decay, k = 0.5, TEST.threshold - far_from_a_draw([total])
        tail = math.exp(-decay * abs(k)) / (1 + math.exp(-decay))
        passes = tail if k > 0 else 1 - tail * math.exp(-decay)
        winner = Winner().release([total], None)
        return np.array([1 - passes, passes * (winner == 1), passes * (winner == -1)])

    certificate = ptr.propose_test_release(CLOSE, Winner(), TEST, epsilon=0.0, delta=0.0).certificate
    worst = 0.0
    for total in range(-80, 81):
        for other in (total - 1, total + 1):
            worst = max(worst, np.maximum(law(total) - math.exp(certificate.epsilon) * law(other), 0).sum())
    assert 0.5 * certificate.delta < worst <= certificate.delta


def test_seeds_repeat_and_are_admitted():
    noisy = Winner()
    noisy.release = lambda X, source: float(source.standard_normal(1)[0])
    first, second = (ptr.propose_test_release(CLEAR, noisy, TEST, random_state=3, **SHARE) for _ in range(2))
    assert first.value == second.value != ptr.propose_test_release(CLEAR, noisy, TEST, random_state=4, **SHARE).value
    assert first.certificate.reproducible
    assert "whoever knows the seed" in repr(first.certificate)


def untouched(X, source):
    raise AssertionError("the data were looked at")


never = partial(SimpleNamespace, release=untouched)


NO_RELEASES = [
    ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
    ({"delta": 1.0}, "delta must be a number >= 0 and below 1"),
    ({"mechanism": object()}, "mechanism must have covers, epsilon_at, release, got .* without covers"),
    ({"test": object()}, "test must have epsilon, delta, failure, shifted, passes"),
    ({"fallback": object()}, "fallback must have epsilon, delta, release"),
    ({"mechanism": never(covers="removed", epsilon_at=untouched)}, r"mechanism\.covers must be one of"),
    ({"fallback": never(epsilon=0.3, delta=0.0)}, "fallback.epsilon must be from 0 to"),
    ({"fallback": never(epsilon=math.nan, delta=0.0)}, "fallback.epsilon must be"),
    ({"fallback": never(epsilon=0.1, delta=-1.0)}, "fallback_delta must be"),
    ({"caveat": 3}, "caveat must be None or a text"),
    ({"random_state": "dice"}, "random_state must be"),
    ({"adjacency": "swap"}, "adjacency must be one of"),
]


@pytest.mark.parametrize(("change", "message"), NO_RELEASES)
def test_arguments_are_checked_before_the_data_are_looked_at(change, message):
    mechanism = never(covers="both", epsilon_at=untouched)
    test = SimpleNamespace(epsilon=0.5, delta=0.0, failure=1e-6, shifted=False, passes=untouched)
    given = {"mechanism": mechanism, "test": test, **SHARE} | change
    with pytest.raises(ValueError, match=message):
        ptr.propose_test_release(None, **given)


# --- under a released bound -------------------------------------------------------------------------------------------

SPREAD = ptr.UpperBound(lambda X: float(np.max(X)), sensitivity=1.0, epsilon=0.5, failure=1e-6)


def noisy_sum(X, scale, source):
    return float(np.sum(X) + scale * source.standard_normal(1)[0])


def test_a_released_bound_chooses_the_parameter_and_both_are_published():
    found = ptr.release_under_bound([3.0, 1.0], SPREAD, lambda most: 5 * most, noisy_sum, epsilon=0.5, delta=1e-6)
    assert found.published["parameter"] == 5 * found.published["bound"]
    assert found.published["bound"] > 3
    assert (found.certificate.epsilon, found.certificate.delta) == (1.0, 2e-6)
    assert found.certificate.uniform
    assert found.certificate.verify()
    one_sided = ptr.release_under_bound(
        [3.0], SPREAD, lambda most: most, noisy_sum, epsilon=0.5, delta=1e-6, covers="added"
    )
    assert one_sided.certificate.delta == pytest.approx(1e-6 * (1 + math.exp(0.5)), rel=1e-9)


def test_no_parameter_is_a_refusal():
    found = ptr.release_under_bound([3.0], SPREAD, lambda most: None, noisy_sum, epsilon=0.5, delta=1e-6)
    assert not found.released
    assert found.certificate.verify()
    with pytest.raises(ReleaseRefusedError, match="no parameter is private enough under the released bound"):
        found.required()


NO_BOUNDS = [
    ({"bound": object()}, "bound must have epsilon, delta, failure, shifted, release"),
    ({"choose": 3.0}, "choose must be a function, got 3.0"),
    ({"run": None}, "run must be a function, got None"),
    ({"covers": "none"}, "covers must be one of"),
    ({"delta": 2.0}, "delta must be"),
]


@pytest.mark.parametrize(("change", "message"), NO_BOUNDS)
def test_a_bound_that_is_none_is_refused(change, message):
    given = {"bound": SPREAD, "choose": abs, "run": noisy_sum, "epsilon": 0.5, "delta": 1e-6} | change
    with pytest.raises(ValueError, match=message):
        ptr.release_under_bound(None, **given)


# --- the printed, and forgeries ---------------------------------------------------------------------------------------


def test_a_bound_test_states_what_was_compared():
    test = ptr.BoundTest(SPREAD, threshold=40.0)
    mechanism = SimpleNamespace(covers="both", epsilon_at=lambda X, delta: 0.1, release=lambda X, source: "all well")
    certificate = ptr.propose_test_release([3.0], mechanism, test, **SHARE).certificate
    assert (certificate.test, certificate.sensitivity, certificate.threshold) == ("upper bound", 1.0, 40.0)
    assert certificate.shift == SPREAD.shift
    assert "sensitivity 1, moved up by 26.2" in repr(certificate)
    assert certificate.verify()


def test_the_best_of_several_may_be_tested_releases():
    found = ptr.best_of(
        lambda share, source: ptr.propose_test_release(CLEAR, Winner(), TEST, epsilon=share, delta=1e-7),
        [0.1, 0.25],
        float,
        base=ptr.propose_test_release(CLEAR, Winner(), TEST, **SHARE).certificate.rebuild(),
        mean_runs=4,
    )
    assert found.value == 1
    assert found.certificate.delta == pytest.approx(4e-6, rel=1e-9)
    assert found.certificate.verify()
