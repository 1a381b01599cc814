"""Calibrations of a bend meet their target, waste nothing, and have the values of the design."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import objpert_core.accounting as acc
from objpert_core.accounting import linear_objective_noise, optimal_published_bound
from objpert_core.accounting.quadratic import wishart_spectrum as spectrum
from objpert_core.accounting.quadratic.calibration import best_integer
from objpert_core.accounting.quadratic.published_calibration import _Inexact, published_scale
from objpert_core.accounting.quadratic.wishart_published import Published


@pytest.mark.parametrize(("epsilon", "delta", "s"), [(0.5, 0.01, 3.08934062), (1.0, 1e-5, 2.28248864)])
def test_reference_shifts(epsilon, delta, s):
    found = acc.calibrate_quadratic_perturbation(epsilon, delta, 100, degrees_of_freedom=200)
    assert found.shift == pytest.approx(s, rel=3e-9)


@pytest.mark.parametrize(
    ("d", "m", "published", "sharpened", "exact"),
    [(1, 10, 29.70, 5.107, 1.4029), (12, 24, 82.87, 16.22, 1.1374), (100, 200, 46.52, 10.30, 0.32369)],
)
def test_how_much_noise_each_theorem_asks_for(d, m, published, sharpened, exact):
    scales = {
        bound: acc.calibrate_quadratic_perturbation(0.5, 0.01, d, degrees_of_freedom=m, bound=bound).scale
        for bound in ("published", "sharpened", "exact")
    }
    assert scales["published"] == pytest.approx(published, rel=1e-3)
    assert sharpened * 0.995 <= scales["sharpened"] <= sharpened  # a little less: the split of δ is the best one
    assert scales["exact"] == pytest.approx(exact, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "adjacency"), [(1, acc.ADD_REMOVE), (3, acc.REPLACE_ONE), (12, acc.REPLACE_ONE)])
def test_no_other_m_has_a_smaller_mean(d, adjacency):
    best = acc.calibrate_quadratic_perturbation(1.0, 1e-4, d, adjacency=adjacency)
    for m in (d + 1, best.degrees_of_freedom - 1, best.degrees_of_freedom + 1, 3 * best.degrees_of_freedom):
        if m > d:
            other = acc.calibrate_quadratic_perturbation(1.0, 1e-4, d, degrees_of_freedom=m, adjacency=adjacency)
            assert best.degrees_of_freedom * best.scale <= m * other.scale * (1 + 1e-9)


def test_for_many_dimensions_m_is_about_2d_and_the_mean_what_the_gaussian_mechanism_says():
    d, a = 20_000, 1 / acc.calibrate_gaussian(1.0, 1e-5).sigma
    found = acc.calibrate_quadratic_perturbation(1.0, 1e-5, d)
    assert found.degrees_of_freedom == pytest.approx(2 * d, rel=0.1)
    assert found.degrees_of_freedom * found.scale == pytest.approx(2 * np.sqrt(d) / a, rel=0.1)


def test_the_noise_goes_as_the_square_of_the_rows():
    one, hundred = (acc.calibrate_quadratic_perturbation(1.0, 1e-5, 5, smoothness=L) for L in (1.0, 100.0))
    assert hundred.degrees_of_freedom == one.degrees_of_freedom
    assert hundred.scale == pytest.approx(100 * one.scale, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e3, 1e4])
@pytest.mark.parametrize("delta", [1e-5, 0.999])
def test_where_delta_falls_from_one_at_once_the_root_is_found(epsilon, delta):
    found = acc.calibrate_quadratic_perturbation(epsilon, delta, 1, degrees_of_freedom=65_600)
    assert found.delta(epsilon) <= delta
    assert acc.QuadraticPerturbation(found.scale * (1 - 1e-6), 65_600, 1).delta(epsilon) > delta


@pytest.mark.thorough
@given(st.integers(1, 50), st.floats(0.0, 5000.0), st.floats(0.01, 3.0))
def test_the_best_whole_number_of_a_cost_that_falls_and_rises(least, at, power):
    cost = lambda m: np.abs(m - at) ** power  # noqa: E731
    best = best_integer(cost, least)
    around = np.array([m for m in (best - 1, best, best + 1) if m >= least])
    assert cost(around).min() == cost(np.array([best]))[0]


# What Cortild and Cartis (2026) plot: Figures 1 and 2, and linear objective perturbation


CELLS = {
    (0.1, 1e-6): (4968.56, 70, 213.0, 17454.1),
    (0.1, 1e-2): (3276.83, 46, 35.343, 11015.1),
    (1.0, 1e-2): (333.027, 47, 8.131, 900.421),
    (10.0, 1e-6): (54.8644, 79, 4.129, 131.060),
}


def test_the_noise_of_the_second_figure():
    assert published_scale(0.5, 0.01, 100, 200, 2500.0) == pytest.approx(117470.166, abs=5e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("cell", CELLS)
def test_the_first_figure_where_all_is_exact(cell):
    value, m, tight, _ = CELLS[cell]
    found, best = optimal_published_bound(*cell, 12)
    assert found == pytest.approx(value, rel=1e-3)
    assert abs(best - m) <= 1
    ours, _ = optimal_published_bound(*cell, 12, bound="exact")
    assert ours <= 1.005 * tight
    sharpened, _ = optimal_published_bound(*cell, 12, bound="sharpened")
    assert ours < sharpened < found


@pytest.mark.parametrize(("bound", "at_even_odds"), [("published", 1428.93), ("sharpened", 282.671)])
def test_the_risk_at_one_split_of_the_budget(bound, at_even_odds):
    """ε in two halves and δ in four quarters at m = 50; a share of ε that is nothing leaves no noise at all."""
    inexact = _Inexact(1.0, 1e-2, 12, 10, 1.0, 1, 1.0, 1.0, 1e-3, 1e-3, bound)
    assert inexact._risk(50, np.zeros(4)) == pytest.approx(at_even_odds, rel=1e-5)
    assert inexact._risk(50, np.array([-800.0, 0.0, 0.0, 0.0])) == math.inf
    assert 0.3 * at_even_odds < inexact.value(50) < at_even_odds  # the best split


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [pytest.param(cell, marks=[pytest.mark.exhaustive] * (cell != (1.0, 1e-2))) for cell in CELLS]
)
def test_the_first_figure_where_nothing_is_exact(cell):
    value, m = optimal_published_bound(*cell, 12, tolerance=1e-3, anchor_error=1e-3)
    assert value == pytest.approx(CELLS[cell][3], rel=1e-3)
    assert CELLS[cell][0] < value
    assert m >= 13


@pytest.mark.thorough
def test_every_cell_is_worse_than_the_anchor_itself():
    for cell in CELLS:
        assert optimal_published_bound(*cell, 12)[0] > 1.0  # G·D, without any data
        assert optimal_published_bound(*cell, 12, bound="exact")[0] > 1.0


def test_the_exact_bound_needs_no_output_noise():
    exact, m = optimal_published_bound(1.0, 1e-2, 12, bound="exact")
    found, same = optimal_published_bound(1.0, 1e-2, 12, bound="exact", tolerance=0.5, anchor_error=0.1)
    assert same == m
    assert found == pytest.approx(exact * 1.1**2 + 0.5, rel=1e-12)


def test_linear_objective_perturbation_and_twice_its_gradient_for_replaced_records():
    variance, lam = linear_objective_noise(0.5, 0.01, gradient_bound=3.0, smoothness=2.0)
    assert variance == pytest.approx(9 * (8 * math.log(200) + 2) / 0.25, rel=1e-12)
    assert lam == 8.0
    assert linear_objective_noise(0.5, 0.01, 3.0, 2.0, corrected=True) == (4 * variance, lam)


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


def test_the_sharpened_condition_covers_what_the_proof_adds_up():
    """α from ε·σ²/L >= max(k/α, ½) + (ρ + 1)/α, of which the two directions need (k + 1)/α and ½ + ρ/α."""
    for k2, rank, scale, epsilon in ((0, 1, 5.0, 0.5), (9, 1, 40.0, 0.3), (40, 3, 7.0, 2.0), (3, 2, 0.9, 8.0)):
        theorem = Published(scale, 5 + k2 + 1, 5, 1.0, rank, True)
        alpha, k = float(theorem.least_alpha(np.array([epsilon]))[0]), k2 / 2
        if math.isfinite(alpha):
            assert epsilon * scale >= (max(k / alpha, 0.5) + (rank + 1) / alpha) * (1 - 1e-12)
            assert epsilon * scale >= max(k * math.log1p(1 / (alpha * scale)) * scale, 0.5)
