"""Eigenvalues and the published theorem: its lemma against draws, its δ against its own conditions."""

import math

import mpmath as mp
import numpy as np
import pytest

from objpert_core.accounting.quadratic import wishart_spectrum as spectrum
from objpert_core.accounting.quadratic.published_calibration import published_scale
from objpert_core.accounting.quadratic.wishart_published import Published


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "m"), [(1, 2), (3, 7), (12, 24)])
def test_lemma_d4_is_above_the_frequencies_of_draws_and_exact_for_one_dimension(d, m):
    half = np.random.default_rng(d).standard_normal((10_000, m, d))
    least = np.linalg.eigvalsh(np.swapaxes(half, 1, 2) @ half)[:, 0]
    for level in np.quantile(least, [0.01, 0.1, 0.4]):
        bound = float(np.exp(spectrum.log_below(d, m, np.array([level]))[0]))
        assert bound >= (least <= level).mean() - 0.02
        between = float(np.exp(spectrum.log_between(d, m, np.array([level]), np.array([level]))[0]))
        assert between >= ((least >= level) & (least <= 2 * level)).mean() - 0.02
        if d == 1:
            assert bound == pytest.approx((least <= level).mean(), abs=0.02)


@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_the_largest_eigenvalue_is_seldom_above_its_bound(delta):
    half = np.random.default_rng(0).standard_normal((5_000, 12, 4))
    largest = np.linalg.eigvalsh(np.swapaxes(half, 1, 2) @ half)[:, -1]
    beta = float(spectrum.largest_eigenvalue(4, 12, np.array([math.log(delta)]))[0])
    assert (largest > beta).mean() <= delta


@pytest.mark.parametrize(("p", "x"), [(0.5, 1e-9), (50.0, 1e-8), (50.5, 20.0), (5000.0, 1000.0), (2.0, 9.0)])
def test_log_of_a_lower_tail_in_many_digits(p, x):
    with mp.workdps(40):
        truth = float(mp.log(mp.gammainc(p, 0, x, regularized=True)))
    assert float(spectrum.log_lower(p, np.array([x]))[0]) == pytest.approx(truth, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("log_share", [-1e-3, -10.0, -599.0, -601.0, -690.0])
@pytest.mark.parametrize("p", [1.0, 12.0, 200.0])
def test_the_quantile_is_the_inverse_on_either_side_of_where_doubles_end(p, log_share):
    x = spectrum.lower_quantile(p, np.array([log_share]))
    assert float(spectrum.log_lower(p, x)[0]) == pytest.approx(log_share, rel=1e-9)


@pytest.mark.parametrize("sharpened", [False, True])
@pytest.mark.parametrize(("d", "m"), [(1, 10), (12, 24), (100, 200)])
def test_delta_at_the_theorems_noise_is_at_most_what_the_noise_is_for(d, m, sharpened):
    bound = "sharpened" if sharpened else "published"
    for share in (0.1, 0.5, 0.9):
        scale = published_scale(0.5, 0.01, d, m, share=share, bound=bound)
        log_delta = Published(scale, m, d, 1.0, 1, sharpened).log_delta(np.array([0.5]))[0]
        assert log_delta <= math.log(0.01) + 1e-8


def test_where_one_row_can_push_the_least_eigenvalue_below_anything_nothing_is_proved():
    theorem = Published(1e-3, 9, 4, 1.0, 1, True)
    assert np.all(theorem.log_delta(np.array([0.0, 1.0, 100.0])) == 0)
    assert "larger σ²" in theorem.explain()
    assert Published(100.0, 9, 4, 1.0, 1, True).explain() is None


def test_the_sharpened_condition_covers_what_the_proof_adds_up():
    """α from ε·σ²/L >= max(k/α, ½) + (ρ + 1)/α, of which the two directions need (k + 1)/α and ½ + ρ/α."""
    for k2, rank, scale, epsilon in ((0, 1, 5.0, 0.5), (9, 1, 40.0, 0.3), (40, 3, 7.0, 2.0), (3, 2, 0.9, 8.0)):
        theorem = Published(scale, 5 + k2 + 1, 5, 1.0, rank, True)
        alpha, k = float(theorem.least_alpha(np.array([epsilon]))[0]), k2 / 2
        if math.isfinite(alpha):
            assert epsilon * scale >= (max(k / alpha, 0.5) + (rank + 1) / alpha) * (1 - 1e-12)
            assert epsilon * scale >= max(k * math.log1p(1 / (alpha * scale)) * scale, 0.5)
