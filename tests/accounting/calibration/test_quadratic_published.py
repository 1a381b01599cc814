"""What Cortild and Cartis (2026) plot: Figures 1 and 2, and linear objective perturbation."""

import math

import numpy as np
import pytest

from objpert_core.accounting import linear_objective_noise, optimal_published_bound
from objpert_core.accounting.quadratic.published_calibration import _Inexact, published_scale

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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: optimal_published_bound(1.0, 0.1, 3, bound="glm"), "bound must be .* got 'glm'"),
        (lambda: published_scale(1.0, 0.1, 5, 5), r"degrees_of_freedom must be at least dimension \+ 1 = 6, got 5"),
        (lambda: published_scale(1.0, 0.1, 5, 9, share=1.0), "share must be .* got 1.0"),
    ],
)
def test_what_is_out_of_range_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
