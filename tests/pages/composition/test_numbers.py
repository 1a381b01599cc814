"""The Composition page's curves are the core's, and its snippets print the plotted numbers."""

import math

import numpy as np
import pytest

import objpert_core.accounting as acc
from objpert_core.accounting import ledger as lg
from pages.composition import numbers as cc
from pages.composition import snippets
from pages.composition import totals as lt
from pages.composition import words as text
from tests.pages.apps import execute

FIGURE_3 = cc.Fit(8.0, 10.0, 1.0, 1.0, "glm")
TIGHT = cc.Fit(8.0, 10.0, 1.0, 1.0, "logistic")
VIEW = cc.View(5.0, 1e-10, 1e-3)


def printed_numbers(code):
    names, printed = execute(code)
    return names, [[float(v) for v in row.split()] for row in printed.splitlines()]


@pytest.mark.parametrize("fit", [FIGURE_3, TIGHT])
def test_profiles_are_sandwiches_and_stop_below_the_floor(fit):
    for k in (1, 2, 10):
        low, high = cc.profile(fit, k, VIEW)
        renyi = cc.renyi_profile(fit, k, 5.0)
        known = np.isfinite(high)
        assert known.any()
        assert (low[known] <= high[known]).all()
        assert (high[known] <= renyi[known] * (1 + 1e-9)).all()
        assert (renyi[~known] < VIEW.floor).all()
        if (~known).any():
            assert high[known][-1] < VIEW.floor * 10
        x = cc.grid(5.0)[known]
        np.testing.assert_array_equal(high[known], acc.repeat(fit.mechanism(), k).delta_bounds(x, 1e-3)[1])


def test_one_fit_is_the_exact_profile():
    low, high = cc.profile(FIGURE_3, 1, VIEW)
    exact = FIGURE_3.mechanism().delta(cc.grid(5.0))
    known = np.isfinite(high)
    assert (high[known] >= exact[known] * (1 - 1e-12)).all()
    assert (low[known] <= exact[known] * (1 + 1e-12)).all()


def test_readings():
    one, ten = cc.readings(FIGURE_3, (1, 10), 1e-5, VIEW)
    assert one.epsilon == pytest.approx(FIGURE_3.mechanism().epsilon(1e-5), rel=2e-3)
    assert ten.added == 10 * FIGURE_3.mechanism().epsilon(1e-5)
    assert ten.low <= acc.repeat(FIGURE_3.mechanism(), 10).epsilon_bounds(1e-5)[1]
    assert ten.epsilon >= acc.repeat(FIGURE_3.mechanism(), 10).epsilon_bounds(1e-5)[0]
    assert ten.epsilon < ten.renyi < ten.added
    assert 0 <= ten.share < 2e-3
    assert 0 < ten.delta_share < 0.1


def test_nothing_is_proved_where_lambda_is_at_most_beta():
    fit = cc.Fit(8.0, 1.0, 1.0, 1.0, "glm")
    (found,) = cc.readings(fit, (3,), 1e-5, VIEW)
    assert math.isinf(found.epsilon)
    assert text.fit_rows([found], 1e-5)[0]["ε at δ = 10⁻⁵"] == "nothing proved"
    assert (cc.profile(fit, 3, VIEW)[1] == 1.0).all()


def test_the_logistic_bound_does_not_depend_on_beta():
    assert cc.Fit(8.0, 10.0, 7.0, 1.0, "logistic").mechanism() == TIGHT.mechanism()


@pytest.mark.slow
@pytest.mark.parametrize("fit", [FIGURE_3, TIGHT])
def test_snippet_of_fits_prints_the_table_and_defines_the_curves(fit):
    names, printed = printed_numbers(snippets.fits(fit, (1, 2, 10), delta=1e-5, view=VIEW))
    for row, found in zip(printed, cc.readings(fit, (1, 2, 10), 1e-5, VIEW), strict=True):
        assert row[0] == found.k
        assert row[1:] == pytest.approx([found.low, found.epsilon, found.renyi, found.added], rel=1e-12)
        low, high = cc.profile(fit, found.k, VIEW)
        known = np.isfinite(high)
        np.testing.assert_array_equal(names["bounds"][found.k], [low[known], high[known]])
        np.testing.assert_allclose(names["renyi"][found.k], cc.renyi_profile(fit, found.k, 5.0), rtol=1e-12)


@pytest.mark.slow
def test_snippet_of_a_ledger_prints_its_running_totals():
    ledger = lg.parse("fit*3:8,10,1@Models;cal:1,1e-5;gauss:20,1")
    _, printed = printed_numbers(snippets.ledger(ledger, delta=1e-6))
    for row, line in zip(printed, lt.totals(ledger, 1e-6), strict=True):
        assert row[1:] == pytest.approx([line.low, line.total, line.renyi, line.added], rel=1e-9)


def test_frame_has_every_plotted_number():
    frame = cc.frame(FIGURE_3, (1, 10), VIEW)
    assert list(frame)[:4] == ["epsilon", "delta_lower_1", "delta_1", "delta_renyi_1"]
    np.testing.assert_array_equal(frame["delta_10"], cc.profile(FIGURE_3, 10, VIEW)[1])
