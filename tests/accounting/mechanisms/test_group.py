"""Rows that are replaced and several rows of one person, against exact divergences, other libraries and closed
forms."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, norm

import objpert_core.accounting as acc
from objpert_core.accounting.dp_sgd.mechanism import MixtureLoss
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.chain import Chained
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics.gaussian import log_profile
from objpert_core.accounting.numerics.mixture import log_binomial_weights, log_tilt
from objpert_core.accounting.numerics.search import smallest_epsilon
from tests.accounting.one_dimensional import Release, hockey_stick, log_cosh, logistic

EPSILONS = np.array([0.0, 0.05, 0.3, 1.0, 3.0])
TIGHT_FIT = acc.ObjectivePerturbation(5.0, 50.0)
SLOW_LOGISTIC = pytest.param("logistic", marks=pytest.mark.slow)  # no other bound's profile costs as much


def replaced_pair(loss, sigma, lam, rows, old, new):
    rest = Release.of(loss, sigma, lam, rows)
    return rest.with_row(*old), rest.with_row(*new)


# --- objective perturbation, T17 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "lam"), [(2.0, 8.0), (3.0, 2.5), (1.0, 0.9)])
def test_a_replaced_row_is_the_gaussian_of_twice_the_radius_and_that_is_attained(sigma, lam):
    """A margin puts both rows on the straight part of the loss: exact from ε = 2R²/λ on, from 0 on if λ ≥ 2σ²."""
    first, second = replaced_pair(logistic(90.0 + 60 * sigma / lam), sigma, lam, [], (1.0, 1.0), (1.0, -1.0))
    least = 0.0 if lam >= 2 * sigma**2 else 2 / lam
    epsilons = least + np.array([0.0, 0.2, 1.0, 2.0])
    bound = acc.ObjectivePerturbation(sigma, lam, adjacency=acc.REPLACE_ONE).delta(epsilons)
    np.testing.assert_allclose(bound, acc.Gaussian(sigma, 2.0).delta(epsilons), rtol=1e-12)
    np.testing.assert_allclose(hockey_stick(first, second, epsilons), bound, rtol=1e-5)


@pytest.mark.slow
def test_below_two_r_squared_over_lam_the_gaussian_of_twice_the_radius_is_too_little():
    """The condition of T17 is needed by its proof: below it the best split is above the Gaussian profile."""
    fit = acc.ObjectivePerturbation(10.0, 0.5, adjacency=acc.REPLACE_ONE)
    assert fit.delta(2.0) > 2 * acc.Gaussian(5.0).delta(2.0)
    np.testing.assert_allclose(fit.delta(4.0), acc.Gaussian(5.0).delta(4.0), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["logistic", "monotone", "two-signed", "glm", "kifer2012"])
def test_replaced_rows_stay_below_every_bound(bound):
    rng = np.random.default_rng(3)
    loss = log_cosh(0.25) if bound in ("two-signed", "glm", "kifer2012") else logistic(0.0)
    for _ in range(6):
        sigma, lam = float(np.exp(rng.uniform(-1, 2))), float(np.exp(rng.uniform(-1, 2)))
        rows = [(rng.uniform(-1, 1), float(rng.choice([-1, 1])), 1.0) for _ in range(rng.integers(0, 9))]
        first, second = replaced_pair(loss, sigma, lam, rows, (1.0, 1.0), (float(rng.choice([1.0, -0.5])), -1.0))
        fit = acc.ObjectivePerturbation(sigma, lam, bound=bound, smoothness=0.25, adjacency=acc.REPLACE_ONE)
        allowed = fit.delta(EPSILONS)
        for pair in ((first, second), (second, first)):
            assert (hockey_stick(*pair, EPSILONS) <= allowed * (1 + 1e-7) + 1e-15).all(), (sigma, lam, rows)


def test_three_rows_of_one_person_stay_below_the_bound_and_come_close():
    loss = logistic(200.0)
    rest = Release.of(loss, 3.0, 4.0, [])
    three = rest.with_row(1.0, 1.0).with_row(1.0, 1.0).with_row(1.0, 1.0)
    epsilons = np.array([1.0, 2.0, 4.0])
    allowed = acc.group(acc.ObjectivePerturbation(3.0, 4.0), 3).delta(epsilons)
    exact = np.maximum(hockey_stick(three, rest, epsilons), hockey_stick(rest, three, epsilons))
    assert (exact <= allowed * (1 + 1e-7)).all()
    assert (exact > 0.99 * allowed)[1:].all()  # ε = 1 lies where the chain passes through small ε


@pytest.mark.slow
def test_output_noise_is_paid_once_where_the_pair_is_gaussian():
    release = acc.replace_one(acc.ApproximateMinima(TIGHT_FIT, 1e-3, 0.001))
    assert release.delta(1.0) == acc.Gaussian(1.0, np.hypot(0.4, 2e-3 / 50 / 0.001)).delta(1.0)
    loose = acc.replace_one(acc.ApproximateMinima(acc.ObjectivePerturbation(10.0, 2.5), 1e-6, 0.001))
    assert loose.epsilon(1e-5) == pytest.approx(acc.Gaussian(5.0).epsilon(1e-5), rel=1e-3)


# --- the chain, T18 ------------------------------------------------------------------------------------------------


def best_of(profile, epsilons, length=2):
    """log δ by the best split on the polygon, and on the polygon itself."""
    one = chain.polygon(profile)
    several = chain.iterated(*one, length)
    ends = chain.ends_of_best_splits(*one, *several, epsilons, length)
    split = chain.log_delta_of_split(profile, ends, chain.corner_of(*one))
    return split, DiscreteLoss(*chain.atoms(*several)).log_profile(epsilons)


@pytest.mark.parametrize("a", [1e-6, 0.01, 0.3, 2.0, 8.0])
def test_a_chain_of_gaussians_is_a_gaussian(a):
    def profile(epsilon):
        return np.asarray(log_profile(epsilon, a))

    epsilons = a * np.array([0.0, 0.1, 0.5, 1.0, 3.0, 6.0, 12.0])
    exact = log_profile(epsilons, 2 * a)
    searched = best_of(profile, epsilons)[0]
    assert (searched >= exact - 1e-12).all()
    np.testing.assert_allclose(searched[:6], exact[:6], atol=1e-6)
    curve = chain.polygon(profile)
    for length in (1, 2, 5) if a < 8 else (1, 2):  # an ε above 200, where 1 − y has no digits left, is not resolved
        pair = DiscreteLoss(*chain.atoms(*chain.iterated(*curve, length)))
        deltas = np.array([0.3, 0.1, 1e-3, 1e-6, 1e-12, 1e-30, 1e-100])
        exact = acc.Gaussian(1 / (length * a)).epsilon(deltas)
        assert (pair.log_profile(epsilons * length) >= log_profile(epsilons * length, length * a) - 1e-9).all()
        assert (smallest_epsilon(pair.log_profile, np.log(deltas)) <= exact * (1 + 2e-4)).all()


@pytest.mark.parametrize("bound", [SLOW_LOGISTIC, "monotone", "two-signed"])
def test_the_best_split_is_found(bound):
    """No split of a fine grid over all real t is better."""
    fit = acc.ObjectivePerturbation(3.0, 0.8, bound=bound)
    profile = fit._log_delta
    epsilons = np.array([0.0, 0.3, 1.0, 2.5])
    found = Chained(fit, 2).log_delta(epsilons)
    grid = np.linspace(-4.0, 7.0, 2001)
    for epsilon, value in zip(epsilons, found, strict=True):
        first, second = chain.at_any_epsilon(profile, grid), chain.at_any_epsilon(profile, epsilon - grid)
        assert value <= np.min(np.logaddexp(first, grid + second)) + 1e-5


@pytest.mark.parametrize("length", [2, 3, 7])
@pytest.mark.parametrize("bound", ["monotone", "glm", "two-signed"])
def test_the_best_split_says_what_the_polygon_says(bound, length):
    """Both bounds are tight for the profile, and both are above what is true: one per cent off either is seen."""
    fit = acc.ObjectivePerturbation(5.0, 2.0, smoothness=0.25, bound=bound)
    split, curve = best_of(fit._log_delta, np.array([0.0, 0.1, 1.0, 2.0, 4.0]), length)
    np.testing.assert_allclose(split, curve, rtol=3e-4)
    assert (split < curve + 2e-5).all()


def test_between_two_points_the_profile_is_below_its_chord():
    """As a function of e^t, for both directions: what a split is told about the corner of a profile."""
    profile, corner, size = acc.Gaussian(2.0)._log_delta, 0.7, 40
    parts = np.linspace(-corner, corner, size)
    ends = np.stack((parts, np.full(size, 3.0)), axis=1)
    with_chord = chain.log_delta_of_split(profile, ends, corner)
    np.testing.assert_array_equal(with_chord, chain.log_delta_of_split(profile, ends))
    # one below its own chord is not convex: it cannot be the profile of any mechanism, and the chord mends it

    def bumped(t):
        return np.where(np.abs(t) < corner, 0.0, profile(t))

    assert (chain.log_delta_of_split(bumped, ends, corner) >= with_chord).all()
    assert (chain.log_delta_of_split(bumped, ends, corner) < 0).all()


MECHANISMS = [
    acc.Gaussian(3.0),
    acc.OutputPerturbation(2.0, 0.5),
    acc.HalfNormal(4.0),
    TIGHT_FIT,
    acc.ObjectivePerturbation(8.0, 1.0),
    acc.ObjectivePerturbation(8.0, 2.0, bound="monotone"),
    acc.ObjectivePerturbation(8.0, 2.0, bound="kifer2012"),
    pytest.param(acc.ApproximateMinima(acc.ObjectivePerturbation(8.0, 1.0), 1e-6, 0.001), marks=pytest.mark.exhaustive),
    acc.DPSGD(2.0, 0.1, 5),
    acc.via_rdp(acc.Gaussian(3.0)),
    acc.symmetrised(acc.ObjectivePerturbation(8.0, 1.0)),
    acc.repeat(acc.Gaussian(9.0), 4),
    acc.compose(acc.Gaussian(9.0), acc.ObjectivePerturbation(8.0, 100.0)),
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_each_wrapper_means_what_it_says(mechanism):
    two, replaced = acc.group(mechanism, 2), acc.replace_one(mechanism)
    assert acc.group(mechanism, 1) is mechanism
    assert two.adjacency == mechanism.adjacency
    assert replaced.adjacency == acc.REPLACE_ONE
    assert acc.replace_one(replaced) is replaced
    epsilons = np.array([0.0, 0.1, 0.7, 2.0, 5.0])
    assert (replaced.delta(epsilons) <= two.delta(epsilons) * (1 + 1e-3)).all()  # remove and add: two rows apart
    if mechanism.mu() < np.inf:
        assert two.mu() <= 2 * mechanism.mu() * (1 + 1e-12)
        assert replaced.mu() <= 2 * mechanism.mu() * (1 + 1e-12)
    if mechanism.has_rdp:
        orders = np.array([1.0, 1.5, 4.0, 32.0])
        assert (two.rdp(orders) <= 4 * orders * mechanism.rho() * (1 + 1e-9)).all()


def test_a_group_of_replaced_rows_is_a_chain_of_twice_the_length():
    fit = acc.ObjectivePerturbation(8.0, 1.0)
    assert acc.group(acc.replace_one(fit), 3) == acc.replace_one(acc.group(fit, 3))
    assert acc.group(acc.replace_one(fit), 3).length == 6
    assert acc.group(acc.replace_one(TIGHT_FIT), 3).epsilon(1e-5) == pytest.approx(
        acc.Gaussian(5 / 6).epsilon(1e-5), rel=1e-12
    )
    assert acc.replace_one(acc.group(acc.Gaussian(5.0), 3)) == acc.group(acc.replace_one(acc.Gaussian(5.0)), 3)
    dpsgd = acc.group(acc.replace_one(acc.DPSGD(1.0, 0.1, 3)), 4)
    assert (
        dpsgd
        == acc.replace_one(acc.group(acc.DPSGD(1.0, 0.1, 3), 4))
        == acc.DPSGD(1.0, 0.1, 3, adjacency=acc.REPLACE_ONE, group_size=4)
    )


def test_selection_and_tables_are_those_of_the_group():
    base = acc.Gaussian(9.0)
    assert acc.group(acc.PrivateSelection(base, 5.0), 2) == acc.PrivateSelection(acc.group(base, 2), 5.0)
    assert acc.replace_one(acc.tabulated(base)) == acc.tabulated(acc.replace_one(base))


@pytest.mark.slow
def test_chains_compose():
    """λ = 2R²/ε is not enough for small ε, so the composed pair is above the Gaussian one, and close to it."""
    one = acc.replace_one(acc.ObjectivePerturbation(10.0, 5.0))
    low, high = acc.repeat(one, 5).epsilon_bounds(1e-5)
    assert acc.Gaussian(5.0 / 5**0.5).epsilon(1e-5) < low <= high < 1.2 * acc.Gaussian(5.0 / 5**0.5).epsilon(1e-5)
    exact = acc.replace_one(TIGHT_FIT)
    np.testing.assert_allclose(acc.repeat(exact, 4).epsilon(1e-5), acc.Gaussian(1.25).epsilon(1e-5), rtol=1e-9)


# --- DP-SGD, T19 ---------------------------------------------------------------------------------------------------


def directional(means_first, means_second, weights, epsilon):
    """H of two mixtures in two dimensions, by the trapezoidal rule."""
    x = np.linspace(-8.0, 8.0, 1201)
    u, v = np.meshgrid(x, x, sparse=True)

    def density(means):
        parts = zip(weights, means, strict=True)
        return sum(w * np.exp(-((u - m[0]) ** 2) / 2) * np.exp(-((v - m[1]) ** 2) / 2) for w, m in parts)

    gain = np.maximum(density(means_first) - np.exp(epsilon) * density(means_second), 0)
    return float(gain.sum() * (x[1] - x[0]) ** 2 / (2 * np.pi))


@pytest.mark.slow
@pytest.mark.parametrize(("angle", "shorter"), [(0.0, 1.0), (0.0, 0.6), (1.0, 1.0), (2.0, 0.6), (np.pi, 1.0)])
def test_gradients_in_any_other_directions_are_hidden_better(angle, shorter):
    """Two rows replaced: the pair of T19 is attained at opposite gradients of full length, and not exceeded
    elsewhere."""
    q, a = 0.3, 0.9
    weights = [(1 - q) ** 2, q * (1 - q), q * (1 - q), q**2]
    turn = np.array([np.cos(angle), np.sin(angle)])
    old = [a * np.array([1.0, 0.0]), a * shorter * turn]
    new = [-a * np.array([1.0, 0.0]), -a * turn]

    def means(rows):
        return [np.zeros(2), rows[0], rows[1], rows[0] + rows[1]]

    for epsilon in (0.0, 0.7):
        allowed = acc.DPSGD(1 / a, q, 1, adjacency=acc.REPLACE_ONE, group_size=2).delta(epsilon)
        exact = directional(means(old), means(new), weights, epsilon)
        assert exact <= allowed + 1e-5
        if angle == 0.0 and shorter == 1.0:
            assert exact == pytest.approx(allowed, abs=2e-5)


def test_the_likelihood_ratio_keeps_its_digits_where_it_vanishes():
    z = np.array([-25.0, -10.0, -3.0, -0.1])
    shares = binom(40, 0.5).logpmf(np.arange(41))
    exact = logsumexp(shares + norm.logpdf(z[:, None], np.arange(41) / 2), axis=1) - norm.logpdf(z)
    np.testing.assert_allclose(log_tilt(log_binomial_weights(40, 0.5), 0.5, z), exact, rtol=1e-12)


def test_the_loss_of_a_mixture_is_inverted_and_sums_to_one():
    for loss in (
        MixtureLoss(0.7, 0.2, 3, True),
        MixtureLoss(0.7, 0.2, 3, False),
        MixtureLoss(0.7, 0.2, 3, False, "add"),
    ):
        v = np.linspace(-6, 9, 301)
        np.testing.assert_allclose(loss.loss(loss.position(loss.loss(v))), loss.loss(v), atol=1e-7)
        fine = np.linspace(-12, 15, 40001)
        mass = np.trapezoid(np.exp(loss.log_density(fine, loss.loss(fine))), fine)
        assert mass == pytest.approx(1.0, abs=1e-9)
        mirrored = np.trapezoid(np.exp(loss.log_density(fine, loss.loss(fine)) - loss.loss(fine)), fine)
        assert mirrored == pytest.approx(1.0, abs=1e-9)  # Q has mass 1 too


# --- calibration ---------------------------------------------------------------------------------------------------


def test_more_rows_than_can_be_accounted_for_are_refused():
    """A stranger's certificate may name any number of rows."""
    for rows in (1001, 10**9, 10**400):
        with pytest.raises(ValueError, match="size must be a whole number from 1 to 10"):
            acc.group(acc.ObjectivePerturbation(10.0, 5.0), rows)
    assert acc.group(acc.Gaussian(1e4), 5000).epsilon(1e-5) == acc.Gaussian(2.0).epsilon(1e-5)


def test_the_curve_near_one_is_summed_also_where_hardly_any_noise_is_left():
    """With q = 0.5 and z = 1/30 the mode that the row moves has half of the mass, and there log dP/dQ is 30²/2."""
    one = acc.DPSGD(1 / 30, 0.5, 1, adjacency=acc.REPLACE_ONE)
    assert one.rdp(1.0) == pytest.approx(30**2 / 4, rel=1e-3)
