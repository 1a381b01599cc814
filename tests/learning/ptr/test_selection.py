"""The best of a random number of runs: which answer leaves, how many runs there are, what it costs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.learning.ptr import Refused, best_of

ONE = acc.ApproximateDP(0.5, 1e-7)


def echo(candidate, source):
    return candidate


def test_the_best_answer_leaves_with_its_candidate_and_score():
    found = best_of(echo, [3.0, 7.0, 5.0], lambda value: -abs(value - 5.2), base=ONE, mean_runs=200, random_state=0)
    assert (found.value, found.published) == (5.0, {"candidate": 5.0, "score": pytest.approx(-0.2)})
    plan = SimpleNamespace(lam=3.0)  # candidates may be anything
    assert best_of(echo, [plan], lambda value: value.lam, base=ONE, mean_runs=2).published["candidate"] is plan
    equal = [best_of(echo, range(2), lambda _: 0.0, base=ONE, mean_runs=3, random_state=s).value for s in range(200)]
    assert 70 < sum(equal) < 130  # and none is preferred


def test_the_number_of_runs_is_geometric_and_every_candidate_as_likely():
    runs, picked = [], np.zeros(4)
    for seed in range(200):
        made = []
        best_of(lambda candidate, source, made=made: made.append(candidate), range(4), lambda value: 0.0,
                base=ONE, mean_runs=5, random_state=seed)  # fmt: skip
        runs.append(len(made))
        picked += np.bincount(made, minlength=4)
    assert np.mean(runs) == pytest.approx(5, abs=4 * math.sqrt(20 / 200))
    assert np.mean(np.array(runs) == 1) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / 200))
    assert np.all(np.abs(picked - picked.sum() / 4) < 4 * np.sqrt(picked.sum() * 3 / 16))


def test_runs_have_noise_of_their_own_and_seeds_repeat():
    drawn = []

    def draw(candidate, source):
        drawn.append(float(source.standard_normal(1)[0]))
        return drawn[-1]

    first = best_of(draw, [0], float, base=ONE, mean_runs=30, random_state=2)
    assert first.value == max(drawn)
    assert len(set(drawn)) == len(drawn) > 1
    assert best_of(draw, [0], float, base=ONE, mean_runs=30, random_state=2).value == first.value
    assert first.certificate.reproducible


def test_refused_answers_are_worse_than_any_and_not_scored():
    def run(candidate, source):
        return candidate if candidate else Refused(None)

    found = best_of(run, [0, 1], lambda value: math.nan, base=ONE, mean_runs=100, random_state=1)
    assert (found.value, found.published["score"]) == (1, -math.inf)
    nothing = best_of(run, [0], lambda value: 1 / 0, base=ONE, mean_runs=3)
    assert not nothing.released
    assert nothing.reason == "nothing was released: no run has given an answer"
    assert nothing.certificate.verify()


def test_the_cost_is_that_of_private_selection_and_less_than_three_times_one_run():
    found = best_of(echo, [1], float, base=ONE, mean_runs=20).certificate
    assert found.delta == pytest.approx(20 * 1e-7, rel=1e-9)
    assert found.epsilon <= float(acc.liu_talwar_epsilon(ONE, found.delta, 20)) < 1.5
    assert found.verify()
    gaussian = best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=20, delta=1e-6).certificate
    assert gaussian.verify()
    assert acc.Gaussian(20.0).epsilon(1e-6) < gaussian.epsilon < 3 * acc.Gaussian(20.0).epsilon(1e-6)
    poisson = best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=20, delta=1e-6, eta=None).certificate
    assert poisson.verify()
    assert "K Poisson with mean 20" in repr(poisson)
    assert not best_of(echo, [1], float, base=acc.Gaussian(20.0), mean_runs=1e-6, delta=1e-6, eta=None).released


NO_SELECTIONS = [
    ({"candidates": []}, "candidates must be one or more"),
    ({"run": 1}, "run must be a function"),
    ({"score": None}, "score must be a function"),
    ({"eta": 0}, "eta must be 1 or None, got 0"),
    ({"mean_runs": 0.5}, "mean_runs must be a finite number >= 1"),
    ({"base": acc.Gaussian(20.0)}, "delta must be a number strictly between 0 and 1 for this base"),
    ({"base": acc.ApproximateDP(0.5, 0.0)}, "delta must be a number strictly between 0 and 1 for this"),
    ({"delta": 1e-8}, "delta must be large enough"),
    ({"mean_runs": 1e8}, "mean_runs times the δ of base must be"),
    ({"base": "Gaussian"}, "base must be one of this package's mechanisms"),
    ({"base": acc.tabulated(acc.Gaussian(20.0)), "delta": 1e-3}, "base must be a mechanism that is made of numbers"),
]


@pytest.mark.parametrize(("change", "message"), NO_SELECTIONS)
def test_arguments_are_checked_before_anything_is_run(change, message):
    def untouched(*_):
        raise AssertionError("it ran")

    given = {"run": untouched, "candidates": [1], "score": untouched, "base": ONE, "mean_runs": 10} | change
    with pytest.raises(ValueError, match=message):
        best_of(**given)


def test_pure_runs_cost_three_times_as_much_at_most():
    pure = best_of(echo, [1], float, base=acc.ApproximateDP(0.5, 0.0), mean_runs=1000, delta=1e-9).certificate
    assert pure.epsilon <= 1.5 * (1 + 1e-9)
    assert pure.verify()
    tested = acc.ProposeTestRelease(0.3, 1e-8, 0.2, 0.0, 1e-8)
    assert best_of(echo, [1], float, base=tested, mean_runs=10).certificate.verify()
