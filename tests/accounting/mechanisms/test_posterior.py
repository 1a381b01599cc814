"""Posterior sampling: one row's exact privacy against integrals of the two normal laws themselves."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import objpert_core.accounting as acc
from objpert_core.accounting.posterior import profile as posterior
from objpert_core.accounting.posterior.mechanism import PosteriorLoss


def laws(h, rho):
    return norm(np.sqrt(rho), np.sqrt(h)), norm(np.sqrt(rho) / (1 + h), np.sqrt(h / (1 + h)))


GRID = list(itertools.product((0.01, 0.5, 3.0, 30.0), (1e-300, 1e-12, 1e-6, 0.2), (1e-60, 1e-6, 0.02, 0.6, 1.6)))


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3])
def test_the_largest_γ_is_within_the_promise_and_one_per_cent_more_is_not(delta):
    for epsilon, _, h in GRID:
        gamma = acc.posterior_precision(epsilon, delta, h, slope=2.0)
        if gamma == 0:
            assert acc.PosteriorSampling(h, 0.0).delta(epsilon) > delta
        else:
            assert acc.PosteriorSampling(h, 4 * gamma).delta(epsilon) <= delta
            assert acc.PosteriorSampling(h, 4.04 * gamma).delta(epsilon) > delta


def test_extreme_targets_stay_on_the_safe_side():
    for epsilon, delta, h in GRID:
        if (gamma := acc.posterior_precision(epsilon, delta, h)) and gamma < 1e85:
            assert acc.PosteriorSampling(h, gamma).delta(epsilon) <= delta
            assert acc.PosteriorSampling(h, 1.001 * gamma).log_delta(epsilon) > np.log(delta)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("star", "a", "printed", "exact", "times"), [(10.0, 1.0, 5.039, 5.847, 12.9), (100.0, 0.5, 2.106, 2.3475, 7.3)]
)
def test_the_printed_theorem_fails_its_own_promise(star, a, printed, exact, times):
    gamma, delta = a**2 * star, 1e-6
    assert acc.published_posterior_epsilon(gamma, delta, 1 / star) == pytest.approx(printed, abs=5e-4)
    draw = acc.PosteriorSampling(1 / star, gamma)
    assert draw.epsilon(delta) == pytest.approx(exact, abs=5e-4)
    assert draw.delta(acc.published_posterior_epsilon(gamma, delta, 1 / star)) == pytest.approx(times * delta, rel=5e-3)
    # so does an integral of the two laws themselves, which knows nothing of this package's formulas
    x = np.linspace(-60, 60, 2_000_001)
    without, with_row = (law.pdf(x) for law in laws(1 / star, gamma))
    true = np.trapezoid(np.maximum(without - np.exp(printed) * with_row, 0), x)
    assert true > (times - 0.1) * delta


def test_the_printed_γ_is_the_inverse_of_the_printed_ε():
    for epsilon, h, slope in itertools.product((0.5, 2.0, 20.0), (1e-3, 0.05), (1.0, 3.0)):
        gamma = acc.published_posterior_precision(epsilon, 1e-6, h, slope)
        if gamma:
            assert acc.published_posterior_epsilon(gamma, 1e-6, h, slope) == pytest.approx(epsilon, rel=1e-12)
        else:
            assert epsilon <= acc.published_posterior_epsilon(1e-9, 1e-6, h, slope)


@pytest.mark.thorough
def test_δ_grows_with_the_shift_and_with_the_leverage_up_to_the_golden_ratio():
    rng = np.random.default_rng(1)
    epsilon = np.geomspace(1e-2, 20, 40)
    for _ in range(300):
        h, rho = rng.uniform(0.01, posterior.LARGEST_LEVERAGE), 10 ** rng.uniform(-2, 2)
        here = posterior.log_delta_added(epsilon, h, rho)
        slack = 1e-9 * (1 - here)
        assert (posterior.log_delta_added(epsilon, 0.97 * h, rho) <= here + slack).all()
        assert (posterior.log_delta_added(epsilon, h, 0.97 * rho) <= here + slack).all()
        # with ρh/(1 + h)² held fixed it grows with h as well, from that of the Gaussian mechanism
        squared = rho * h / (1 + h) ** 2
        smaller = 0.5 * h
        same = posterior.log_delta_added(epsilon, smaller, squared * (1 + smaller) ** 2 / smaller)
        assert (same <= here + slack).all()
        assert (acc.Gaussian(1 / np.sqrt(squared)).log_delta(epsilon) <= same + slack).all()


def test_above_the_golden_ratio_a_smaller_leverage_can_be_less_private():
    epsilon = np.array([0.01])
    assert posterior.log_delta_added(epsilon, 30.0, 200.0) < posterior.log_delta_added(epsilon, 1.6, 200.0)


def test_nothing_underflows_audibly():
    with np.errstate(all="raise"):
        for epsilon, delta, h in GRID:
            acc.posterior_precision(epsilon, delta, h, slope=1.2345)
    assert acc.posterior_precision(1.0, 5e-324, 1e-3) > 0
    assert acc.published_posterior_precision(1.0, 1e-6, 0.01, 1e-300) == 0.0
    assert acc.published_posterior_epsilon(1.0, 1e-6, 0.01, 1e200) == np.inf


ONE = acc.AdaptiveSampling(0.3, 0.4, leverage=0.1, separation=0.8, failure=1e-9)


def test_as_the_leverage_falls_to_nothing_it_is_the_gaussian_mechanism():
    limit = acc.AdaptiveSampling(0.3, 0.4, 1e-12, 1.2, failure=1e-30)
    assert limit.epsilon(1e-6) == pytest.approx(acc.Gaussian(1 / 1.3).epsilon(1e-6), rel=1e-5)
    assert limit.delta(3.0) >= acc.Gaussian(1 / 1.3).delta(3.0)


@pytest.mark.slow
def test_the_best_of_several_is_that_of_private_selection():
    one = acc.calibrate_adaptive_sampling(1.0, 1e-7)
    several = replace(one, mean_runs=20.0)
    assert several.single == one
    assert several.epsilon(1e-5) == pytest.approx(acc.liu_talwar_epsilon(one, 1e-5, 20.0), rel=1e-9)
    assert several.epsilon(1e-5) == pytest.approx(acc.PrivateSelection(one, 20.0, eta=1).epsilon(1e-5), rel=1e-9)
    assert several.delta(several.epsilon(1e-5)) <= 1e-5


def test_selection_needs_a_rényi_curve_for_a_poisson_number_of_runs_only():
    selection = acc.PrivateSelection(ONE, 5.0, eta=1)
    assert not selection.has_rdp
    assert selection.rdp(2.0) == np.inf
    with pytest.raises(NotImplementedError, match="Rényi"):
        acc.PrivateSelection(ONE, 5.0)


@pytest.mark.parametrize("direction", ["add", "remove"])
@pytest.mark.parametrize(("h", "rho"), [(0.1, 0.5), (0.01, 3.0), (2.0, 0.0), (1.0, 20.0)])
def test_a_position_is_where_the_loss_has_that_value(direction, h, rho):
    law = PosteriorLoss(h, rho, direction)
    places = law._sign * np.array([0.0, 0.3, 1.0, 4.0])  # where |u| grows
    np.testing.assert_allclose(law.position(law.loss(places)), places, atol=1e-9)
