"""Rows of weight at most 1 against the exact divergences in one dimension (docs/theorems.md, T48)."""

import numpy as np
import pytest

from objpert_core.accounting import Gaussian, ObjectivePerturbation
from tests.accounting.one_dimensional import Loss, Release, hockey_stick, log_cosh, logistic, softened_hinge


def with_weight(without: Release, weight: float) -> Release:
    """The row (1, 1) more, at this weight."""
    x, y, copies = (
        np.append(old, new) for old, new in zip((without.x, without.y, without.copies), (1, 1, weight), strict=True)
    )
    return Release(without.loss, without.sigma, without.lam, x, y, copies)


def excess(loss: Loss, bound: str, sigma: float, lam: float, rows: list, weight: float) -> float:
    """The largest ratio of the exact δ, in either direction, to the promised one."""
    promised = ObjectivePerturbation(sigma, lam, bound=bound, smoothness=loss.smoothness)
    epsilons = np.array([0.0, 0.3, 1.0, 2.0])
    without = Release.of(loss, sigma, lam, rows)
    pair = without, with_weight(without, weight)
    exact = np.maximum(hockey_stick(*pair, epsilons), hockey_stick(*pair[::-1], epsilons))
    return float((exact / promised.delta(epsilons)).max())


def opposite(sigma: float, lam: float) -> list:
    """Many rows with a tiny x that push θ so far that the new row sees a straight line."""
    push = 60 + 30 * sigma / lam
    return [(1e-7, -1.0, 2e7 * lam * push)]


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "lam", "weight"), [(3.0, 0.05, 0.3), (2.0, 8.0, 0.9)])
def test_a_weight_of_at_most_one_is_covered_as_the_row_itself_is(sigma, lam, weight):
    rng = np.random.default_rng(5)
    crowd = [(rng.uniform(-1, 1), float(rng.choice([-1, 1])), 10 ** rng.uniform(-2, 0)) for _ in range(12)]
    for loss, bound in (
        (logistic(), "logistic"),
        (logistic(1.5), "logistic"),
        (softened_hinge(0.7), "monotone"),
        (log_cosh(2.0), "two-signed"),
    ):
        for rows in (crowd, opposite(sigma, lam)):
            assert excess(loss, bound, sigma, lam, rows, weight) <= 1 + 1e-7


@pytest.mark.thorough
def test_a_weight_above_one_is_not_covered():
    """The weight 1 attains the promise, and 1.01 breaks it."""
    sigma, lam = 2.0, 8.0
    assert excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), 1.0) == pytest.approx(1.0, rel=1e-6)
    assert excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), 1.01) > 1.02


@pytest.mark.thorough
def test_a_row_of_less_weight_costs_less():
    """At λ ≥ 2σ² a row of weight w has the profile of sensitivity w: what a public maximum is divided out for."""
    sigma, lam, weight = 2.0, 8.0, 0.6
    own = excess(logistic(), "logistic", sigma, lam, opposite(sigma, lam), weight)
    ratio = Gaussian(sigma, weight).delta(np.array([0.0, 0.3, 1.0, 2.0])) / Gaussian(sigma).delta(
        np.array([0.0, 0.3, 1.0, 2.0])
    )
    assert own == pytest.approx(ratio.max(), rel=1e-6)
