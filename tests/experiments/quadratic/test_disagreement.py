"""The true δ of two data sets that differ in a label: against a sum, the exact theorem, and draws."""

import numpy as np
import pytest
from scipy.stats import chi2

from objpert_core.accounting import Gaussian, calibrate_quadratic_perturbation, calibrate_tilt_and_bend
from objpert_core.experiments.quadratic.disagreement import Disagreement, ScaledChiSquare, divergence, tilted_delta

LAWS = [
    ((0.0, 1.0), (2.0, 1.0), 10),
    ((2.0, 1.0), (0.0, 1.0), 10),
    ((0.0, 1.0), (0.0, 1.6), 7),
    ((0.0, 1.6), (0.0, 1.0), 7),
    ((10.0, 0.3), (11.0, 0.33), 4),
    ((11.0, 0.33), (10.0, 0.3), 5),
    ((0.0, 1.0), (-3.0, 1.3), 30),
    ((5.0, 0.5), (0.0, 2.0), 12),
    ((0.0, 1.0), (0.5, 0.9), 3),
]


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize(("first", "second", "m"), LAWS)
def test_divergences_agree_with_a_sum_over_many_cells(first, second, m, epsilon):
    """Of the positive parts of P − e^ε·Q of every cell: never more than the divergence, and nearly as much."""
    laws = [ScaledChiSquare(*law, m) for law in (first, second)]
    out = np.concatenate([np.geomspace(1e-9, 0.1, 20_000), np.linspace(0.1, m + 60 * m**0.5, 40_000)])
    u = np.unique(np.concatenate([law.start + law.scale * np.concatenate([[0.0], out]) for law in laws]))
    p, q = (np.diff(chi2.cdf((u - law.start) / law.scale, m)) for law in laws)
    expected = np.maximum(p - np.exp(epsilon) * q, 0.0).sum()
    found = divergence(*laws, epsilon)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert found >= expected * (1 - 1e-12) - 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 1e-5), (3.0, 1e-9)])
def test_a_replaced_record_without_disagreement_attains_the_exact_theorem(epsilon, delta):
    """x = 1 against x = 0: B moves by 1, and nothing is lost in θ."""
    bend = calibrate_quadratic_perturbation(epsilon, delta, 1)
    laws = [ScaledChiSquare(start, bend.scale, bend.degrees_of_freedom) for start in (4.0, 5.0)]
    attained = max(divergence(*laws, epsilon), divergence(*laws[::-1], epsilon))
    assert attained == pytest.approx(delta, rel=1e-6)
    assert attained <= bend.delta(epsilon) * (1 + 1e-9)


def test_the_law_of_a_release_is_that_of_drawn_minima():
    data = Disagreement(scale=3.0, degrees_of_freedom=8, rows=20, penalty=5.0)
    generator = np.random.default_rng(0)
    draws = 1 - (5.0 - 0.4) / (20 + 3.0 * generator.chisquare(8, size=50_000))
    law = data.law(0.4)
    for quantile in (0.05, 0.3, 0.7, 0.95):
        at = np.quantile(1 / (1 - draws), quantile)
        assert law.between(law.start, at) == pytest.approx(quantile, abs=0.01)
    # a stationary point of the bent objective: B(θ − 1) + ω − e = 0, e the label's displacement
    B, theta = 31.0, 1 - (5.0 - 0.4) / 31.0
    assert B * (theta - 1) + 5.0 == pytest.approx(0.4, abs=1e-12)


def test_a_label_that_is_off_breaks_the_promise_and_a_tilt_mends_it():
    epsilon, delta = 1.0, 1e-5
    bend = calibrate_quadratic_perturbation(epsilon, delta, 1)
    data = Disagreement(bend.scale, bend.degrees_of_freedom, rows=1000, penalty=10.0)
    deltas = [data.delta(off, epsilon) for off in (0.0, 0.001, 0.02, 0.2)]
    assert deltas[0] == 0.0
    assert deltas == sorted(deltas)
    assert deltas[1] < delta < deltas[2]
    both = calibrate_tilt_and_bend(epsilon, delta, 1, residual_bound=1.0)
    for off in (0.001, 0.3, 1.0, 5.0):
        assert tilted_delta(off, epsilon, 1.0, both.sigma) <= both.delta(epsilon) <= delta
    assert tilted_delta(0.5, epsilon, 1.0, both.sigma) == Gaussian(both.sigma, 1.0).delta(epsilon)
    assert tilted_delta(0.0, epsilon, 1.0, both.sigma) == 0.0
