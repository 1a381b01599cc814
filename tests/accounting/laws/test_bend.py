"""The privacy loss of a noisy Gram matrix: its law that of χ², its profile the closed one, its ends safe."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from objpert_core.accounting import repeat
from objpert_core.accounting.convolution.sums import log_delta_bounds
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.quadratic import wishart
from objpert_core.accounting.quadratic.law import BendLoss, bend_loss
from objpert_core.accounting.quadratic.mechanism import QuadraticPerturbation

CASES = [(1.0, 2.0), (0.05, 9.5), (30.0, 0.5), (1e-3, 500.0)]
DIRECTIONS = ("remove", "add")


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_density_has_the_mass_of_all_finite_losses_and_the_loss_never_decreases(case, direction):
    loss = BendLoss(*case, direction)
    low, high = loss.reach(60.0)
    v = np.union1d(np.linspace(low, high, 40_001), loss.kinks())
    middle = 0.5 * (v[1:] + v[:-1])
    omega = loss.loss(middle)
    mass = np.exp(loss.log_density(middle, omega)) * np.diff(v)
    certain = chi2.cdf(case[0], 2 * case[1] + 2) if direction == "add" else 0.0
    assert mass.sum() == pytest.approx(1 - certain, rel=1e-5, abs=1e-9)  # what is rarer counts as infinite
    assert math.exp(loss.log_certain()) == pytest.approx(certain, rel=1e-12)
    assert np.all(np.diff(omega) >= 0)
    # under the other data set the finite losses have a mass of at most 1
    assert (mass * np.exp(-omega)).sum() <= 1 + 1e-5
    inside = omega[np.abs(middle) < 5]
    assert loss.position(inside) == pytest.approx(middle[np.abs(middle) < 5], abs=1e-4)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tails_are_those_of_the_chi_square_law(case, direction):
    loss = BendLoss(*case, direction)
    s, k = case
    for v in (-7.0, -1.0, 0.5, 3.0):
        omega = float(loss.loss(np.array([v]))[0])
        ratio = s / math.expm1((s / 2 - omega if direction == "remove" else s / 2 + omega) / k)
        y = ratio if direction == "remove" else ratio + s
        below = chi2.cdf(y, 2 * k + 2) if direction == "remove" else chi2.sf(y, 2 * k + 2)
        log_below, log_above = loss.log_tails(v, v)
        assert math.exp(log_below) + math.exp(log_above) == pytest.approx(1, rel=1e-12)
        share = math.exp(log_above) if direction == "remove" else math.exp(log_below)
        assert share == pytest.approx(1 - below if direction == "remove" else below, rel=1e-3, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("s", "k"), [(1.0, 2.0), (0.3, 3.5), (3.0, 20.0)])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_closed_profile_lies_between_the_bounds_from_a_grid(s, k, direction):
    profile = wishart.log_delta_removed if direction == "remove" else wishart.log_delta_added
    for epsilon in (0.02, 0.4):
        with np.errstate(all="ignore"):  # as compositions call it
            low, high = log_delta_bounds(((bend_loss(s, k, direction), 1),), np.array([epsilon]), 1e-3)
        truth = profile(np.array([epsilon]), np.array([s]), np.array([k]))[0]
        assert low[0] <= truth + 1e-12
        assert high[0] >= truth - 1e-9 * (1 + abs(truth)) or truth == -np.inf
        assert truth == -np.inf or high[0] - low[0] < 0.05


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_at_k_0_there_is_one_finite_loss(direction):
    loss = bend_loss(0.8, 0.0, direction)
    assert isinstance(loss, DiscreteLoss)
    profile = wishart.log_delta_removed if direction == "remove" else wishart.log_delta_added
    for epsilon in (0.0, 0.2, 0.39, 5.0):
        truth = math.exp(profile(np.array([epsilon]), np.array([0.8]), np.zeros(1))[0])
        assert math.exp(loss.log_profile(np.array([epsilon]))[0]) == pytest.approx(truth, rel=1e-8, abs=1e-15)


def test_a_profile_that_is_the_same_at_every_epsilon_is_a_jump_alone():
    """Replaced rows in one dimension at k = 0: δ = 1 − e^{−s/2} from ε = 0 on."""
    jump = 0.3
    x, y = chain.polygon_of_points(np.array([0.0, 1.0, 9.0]), np.full(3, math.log(jump)))
    assert x.tolist() == pytest.approx([0.0, 1 - jump, 1.0])
    assert y.tolist() == pytest.approx([jump, 1.0, 1.0])
    losses, log_masses, log_infinite = chain.atoms(x, y)
    pair = DiscreteLoss(losses, log_masses, log_infinite)
    for epsilon in (0.0, 1.0, 30.0):
        assert jump <= math.exp(pair.log_profile(np.array([epsilon]))[0]) <= jump + 1e-7
    bend = QuadraticPerturbation(2.0, 2, 1)
    assert repeat(bend, 3).delta(0.5) == pytest.approx(1 - (1 - bend.delta(0.5)) ** 3, rel=1e-6)
