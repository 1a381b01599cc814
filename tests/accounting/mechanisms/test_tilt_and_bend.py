"""Bend and tilt: against integrals over the normal part and over both, between its parts, refusals."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

import objpert_core.accounting as acc
from objpert_core.accounting.numerics import gaussian as gauss


def _bend(scale=1.0, m=9, d=4, adjacency=acc.ADD_REMOVE, **others):
    return acc.QuadraticPerturbation(scale, m, d, adjacency=adjacency, **others)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_where_the_bends_loss_has_one_finite_value_there_is_a_closed_form(epsilon):
    bend, a = _bend(2.0, 2, 1), 0.7
    half = bend.shift / 2
    removed, added = (np.exp(gauss.log_profile(np.array([epsilon + moved]), a))[0] for moved in (-half, half))
    truth = max(removed, -math.expm1(-half) + math.exp(-half) * added)
    assert truth <= acc.TiltAndBend(bend, 1.0, a).delta(epsilon) <= truth * (1 + 1e-8)


@pytest.mark.thorough
def test_delta_is_the_integral_over_the_matrix_and_the_gradient():
    """d = 1: densities of the pair (x² + σ²W, gradient + noise), and nothing that was derived."""
    scale, m, a, epsilon = 1.5, 6, 0.6, 0.4
    w = np.linspace(0, 40, 4001)
    t = np.linspace(-8, 8 + a, 1201)
    w, t = 0.5 * (w[1:] + w[:-1]), 0.5 * (t[1:] + t[:-1])
    cell = (w[1] - w[0]) * (t[1] - t[0])
    having = np.outer(chi2.pdf(w - 1 / scale, m), norm.pdf(t - a))
    without = np.outer(chi2.pdf(w, m), norm.pdf(t))
    truth = max(
        float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) * cell for p, q in ((having, without), (without, having))
    )
    assert acc.TiltAndBend(_bend(scale, m, 1), 1.0, a).delta(epsilon) == pytest.approx(truth, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("adjacency", [acc.ADD_REMOVE, pytest.param(acc.REPLACE_ONE, marks=pytest.mark.slow)])
@pytest.mark.parametrize("a", [0.01, 0.5])
def test_delta_is_between_that_of_the_bend_and_what_adding_up_gives(adjacency, a):
    bend = _bend(2.0, 20, 6, adjacency)
    both, tilt = acc.TiltAndBend(bend, 2.0, 2 * a), acc.Gaussian(1.0, a)
    for epsilon in (0.2, 2.0):
        apart = bend.delta(epsilon / 2) + tilt.delta(epsilon / 2)
        assert max(bend.delta(epsilon), tilt.delta(epsilon)) * (1 - 1e-7) <= both.delta(epsilon) <= apart + 1e-7
    assert both.epsilon(1e-3) >= bend.epsilon(1e-3) * (1 - 1e-7)


@pytest.mark.thorough
def test_the_bound_for_losses_of_one_number_is_above_the_squared_losses():
    exact, glm = (acc.TiltAndBend(_bend(bound=bound), 1.0, 0.5) for bound in ("exact", "glm"))
    at = np.array([0.1, 1.0, 3.0])
    assert np.all(exact.delta(at) <= glm.delta(at))


@pytest.mark.slow
def test_it_composes_as_its_parts_do():
    bend, a = _bend(3.0, 12, 4), 0.3
    both = acc.TiltAndBend(bend, 1.0, a)
    low, high = acc.compose(bend, acc.Gaussian(1.0, a)).delta_bounds(0.5)
    assert low * (1 - 1e-3) <= both.delta(0.5) <= high * (1 + 1e-3)
    assert acc.repeat(both, 1).delta(0.5) == pytest.approx(both.delta(0.5), rel=1e-6)


@pytest.mark.parametrize("delta", [1e-8, 1e-3, 0.4])
def test_epsilon_is_on_the_safe_side_and_infinite_below_the_floor(delta):
    both = acc.TiltAndBend(_bend(2.0, 14, 4), 3.0, 2.0)
    epsilon = both.epsilon(delta)
    if delta <= both.bend.floor:
        assert epsilon == math.inf
    else:
        assert both.delta(epsilon) <= delta
        assert epsilon == 0 or both.delta(epsilon * (1 - 1e-5)) > delta


def test_a_tilt_without_noise_hides_nothing_and_one_that_is_all_noise_costs_nothing():
    bend = _bend()
    assert acc.TiltAndBend(bend, 1e-300, 1e300).delta(1.0) == 1.0
    assert acc.TiltAndBend(bend, 1e300, 1e-300).delta(1.0) == pytest.approx(bend.delta(1.0), rel=1e-4)


def test_no_renyi_curve_and_the_adjacency_is_the_bends():
    for adjacency in (acc.ADD_REMOVE, acc.REPLACE_ONE):
        both = acc.TiltAndBend(_bend(adjacency=adjacency), 1.0, 1.0)
        assert both.adjacency == adjacency
        assert both.rdp(2.0) == both.mu() == both.rho() == math.inf
        assert both.no_rdp() == both.bend.no_rdp()
        assert both == acc.TiltAndBend(_bend(1, adjacency=adjacency), 1, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 1.0, 1.0), "bend must be a QuadraticPerturbation by bound 'exact' or 'glm', got 1"),
        ((_bend(bound="published"), 1.0, 1.0), "bend must be .* by bound 'exact' or 'glm', got QuadraticPerturbation"),
    ],
)
def test_what_it_cannot_be_made_of_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        acc.TiltAndBend(*arguments)
