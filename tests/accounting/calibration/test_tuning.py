"""The mean of K that exceeds a grid's size with a wanted probability."""

import math

import numpy as np
import pytest
from scipy import stats

import objpert_core.accounting as acc
from objpert_core.accounting.selection.tuning import mean_runs


def test_the_papers_mean():
    assert round(mean_runs(10, 0.9), 1) == 15.4
    assert stats.poisson.sf(10, mean_runs(10, 0.9)) == pytest.approx(0.9, rel=1e-12)


@pytest.mark.parametrize("more", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("settings", [1, 10, 100])
def test_geometric_is_the_closed_form(settings, more):
    assert mean_runs(settings, more, eta=1) == pytest.approx(1 / -math.expm1(math.log(more) / settings), rel=1e-9)


@pytest.mark.parametrize("more", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("eta", [0.25, 0.5, 2.0, 10.0])
def test_negative_binomial_against_scipy(eta, more):
    selection = acc.PrivateSelection(acc.Gaussian(5.0), mean_runs(10, more, eta), eta)
    law = stats.nbinom(eta, selection.gamma)
    assert law.sf(10) / law.sf(0) == pytest.approx(more, rel=1e-7)
    assert law.mean() / law.sf(0) == pytest.approx(selection.mean_runs, rel=1e-9)


def test_logarithmic_against_scipy():
    selection = acc.PrivateSelection(acc.Gaussian(5.0), mean_runs(10, 0.5, 0), 0)
    law = stats.logser(1 - selection.gamma)
    assert law.sf(10) == pytest.approx(0.5, rel=1e-7)
    assert law.mean() == pytest.approx(selection.mean_runs, rel=1e-9)


@pytest.mark.parametrize("eta", [None, -0.25, 0, 1, 5])
def test_grows_with_the_grid_and_the_probability(eta):
    by_grid = [mean_runs(s, 0.2, eta) for s in (1, 2, 5, 10, 20)]
    by_probability = [mean_runs(10, p, eta) for p in (0.05, 0.1, 0.2, 0.4)]
    assert np.all(np.diff(by_grid) > 0)
    assert np.all(np.diff(by_probability) > 0)


def test_says_which_probability_a_law_can_reach():
    with pytest.raises(ValueError, match=r"^probability must be at most 0\.176 for more_than = 10 and eta = -0\.5"):
        mean_runs(10, 0.9, eta=-0.5)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 0.9, 1), "more_than"),
        ((10**6, 0.9, 1), "more_than"),
        ((10, 0.0), "probability"),
        ((10, 1.0, 1), "probability"),
        ((10, 0.9, -1), "eta"),
    ],
)
def test_bad_input_is_named(arguments, name):
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        mean_runs(*arguments)
