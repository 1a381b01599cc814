"""The noisy Gram matrix under the best attack on it: whoever sees the release gains what is promised and not more.

The attacker knows which two data sets it may be, and bets on the first where the likelihood ratio exceeds e^ε. What
such a bet gains, P(bet | first) − e^ε·P(bet | second), is δ at most, whatever the bet; the best one reaches it.
"""

import math

import numpy as np
import pytest

from objpert_core.accounting import QuadraticPerturbation, TiltAndBend, calibrate_quadratic_perturbation
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.learning.quadratic.release import noisy_gram


def released(rows, mechanism, draws, seed, bound):
    """Many noisy Gram matrices and tilts of the same rows, whose targets are far below."""
    source = np.random.RandomState(seed)
    told = {"epsilon": 60.0, "delta": 0.9, "residual_bound": bound, "on_error": "release", "random_state": source}
    found = [noisy_gram(rows, np.full(len(rows), -9.0), mechanism, **told) for _ in range(draws)]
    return np.array([one.gram for one in found]), np.array([one.tilt for one in found])


def log_density(grams, tilts, rows, mechanism, bound):
    """Of a release for these rows, but for a constant; −inf where they cannot have led to it."""
    bend = mechanism.bend if bound else mechanism
    values = np.linalg.eigvalsh((grams - rows.T @ rows) / bend.scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(values > 0, np.log(values), -np.inf).sum(axis=1) * bend.k - values.sum(axis=1) / 2
    logs[values[:, 0] <= 0] = -np.inf
    if bound:
        logs -= np.sum((tilts - bound * rows.sum(axis=0)) ** 2, axis=1) / (2 * mechanism.sigma**2)
    return logs


def gains(first, second, mechanism, draws, epsilons, bound=0.0):
    """For both orders of two data sets and every ε, what the best bet gains, and the standard error of that."""
    data = first, second
    seen = [released(rows, mechanism, draws, seed, bound) for seed, rows in enumerate(data)]
    ratios = []
    for one in seen:
        own, other = (log_density(*one, rows, mechanism, bound) for rows in data)
        with np.errstate(invalid="ignore"):
            ratios.append(np.nan_to_num(own - other, nan=0.0, posinf=np.inf, neginf=-np.inf))
    found = []
    for sign in (1, -1):
        right, wrong = (sign * ratio for ratio in ratios[::sign])
        for epsilon in epsilons:
            p, q = float(np.mean(right > epsilon)), float(np.mean(wrong > epsilon))
            spread = p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q) + 1 / draws
            found.append((epsilon, p - math.exp(epsilon) * q, math.sqrt(spread / draws)))
    return np.array(found)


def row(*entries):
    return np.array([entries])


def check(first, second, mechanism, draws, bound=0.0, epsilons=(0.3, 1.0)):
    """No bet gains more than δ, and in one order the best one gains as much."""
    found = gains(first, second, mechanism, draws, epsilons, bound)
    delta = np.array([mechanism.delta(epsilon) for epsilon in found[:, 0]])
    off = (found[:, 1] - delta) / found[:, 2]
    assert off.max() < 4.5
    assert off.reshape(2, -1).max(axis=0).min() > -4.5


NONE_OF_ONE, NONE_OF_TWO = np.zeros((0, 1)), np.zeros((0, 2))


FEW_RELEASES = [
    (row(1.0, 0.0), row(0.0, 1.0), QuadraticPerturbation(0.4, 6, 2), 0.0),
    (row(1.0), NONE_OF_ONE, QuadraticPerturbation(0.4, 6, 1, adjacency=ADD_REMOVE), 0.0),
    (row(1.0), NONE_OF_ONE, TiltAndBend(QuadraticPerturbation(0.5, 5, 1, adjacency=ADD_REMOVE), 0.9, 1.0), 1.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "mechanism", "bound"), FEW_RELEASES, ids=["swapped", "one number", "tilt"])
def test_few_releases_show_what_much_is_lost(first, second, mechanism, bound):
    check(first, second, mechanism, 700, bound)


MANY_RELEASES = [
    (row(1.0), NONE_OF_ONE, ADD_REMOVE),
    (row(0.6, 0.8), NONE_OF_TWO, ADD_REMOVE),
    (row(1.0, 0.0), row(0.0, 1.0), "replace one row"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("first", "second", "adjacency"), MANY_RELEASES, ids=["one column", "two columns", "swapped"])
def test_the_best_attack_reaches_the_promise_and_not_more(first, second, adjacency):
    mechanism = calibrate_quadratic_perturbation(1.0, 0.05, first.shape[1], adjacency=adjacency)
    check(first, second, mechanism, 100_000)
    if adjacency == ADD_REMOVE:
        bend = QuadraticPerturbation(1.2, 9, first.shape[1], adjacency=ADD_REMOVE)
        check(first, second, TiltAndBend(bend, 2.5, 1.0), 50_000, bound=1.0)
