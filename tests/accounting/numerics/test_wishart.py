"""The profiles of a noisy Gram matrix against quadratures in 50 digits, Wishart draws and fine grids."""

import itertools
import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import chi2

from objpert_core.accounting.quadratic import wishart, wishart_glm
from tests.second_opinion.wishart import Swap, any_loss


def _row(side, epsilon, s, k):
    """δ of one row added or removed as the difference of two tails, in so many digits that none is lost."""
    epsilon, s, k = mp.mpf(epsilon), mp.mpf(s), mp.mpf(k)
    room = s / 2 - epsilon if side == "removed" else s / 2 + epsilon
    if room <= 0:
        return mp.mpf(0)
    if k == 0:
        return -mp.expm1(-room) if side == "removed" else -mp.expm1(-s / 2)
    least = s / mp.expm1(room / k)
    if side == "removed":
        tails = [mp.gammainc(k + 1, y / 2, mp.inf, regularized=True) for y in (least, least + s)]
    else:
        tails = [mp.gammainc(k + 1, 0, y / 2, regularized=True) for y in (least + s, least)]
    return tails[0] - mp.exp(epsilon) * tails[1]


def _ours(profile, epsilon, s, k):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return float(profile(np.array([epsilon]), np.array([s]), np.array([k]))[0])


PROFILES = {"removed": wishart.log_delta_removed, "added": wishart.log_delta_added}


@pytest.mark.parametrize("side", PROFILES)
@pytest.mark.parametrize("k", [0.0, 1.0, 49.5, pytest.param(5e4, marks=pytest.mark.slow)])
def test_one_row_is_never_below_the_truth_not_even_where_the_difference_of_two_tails_has_no_digits(k, side):
    for s, epsilon in itertools.product([1e-12, 1e-6, 1.0, 30.0], [0.0, 1e-9, 0.1, 3.0, None]):
        at = 0.49 * s if epsilon is None else epsilon
        with mp.workdps(80):
            exact = _row(side, at, s, k)
            truth = float(mp.log(exact)) if exact > mp.mpf("1e-290") else -math.inf
        found = _ours(PROFILES[side], at, s, k)
        assert found >= truth, (s, at, found - truth)
        if truth > -25:  # no more than the slack above it where doubles can tell
            assert found <= truth + 1e-3 * (1 + abs(truth)), (s, at, found - truth)


@pytest.mark.parametrize(
    ("case", "values"),
    [((0.3, 1.0, 2.0), (5.459683e-3, 8.278028e-2, 8.688827e-2)), ((0.5, 0.8, 0.5), (0.0, 1.623169e-1, 1.266275e-1))],
)
def test_check_values(case, values):
    profiles = (*PROFILES.values(), wishart.log_delta_swapped)
    for profile, value in zip(profiles, values, strict=True):
        assert math.exp(_ours(profile, *case)) == pytest.approx(value, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "seed"), [(6, 1), pytest.param(60, 2, marks=pytest.mark.slow)])
def test_swapped_rows_at_random(count, seed):
    random = np.random.default_rng(seed)
    for _ in range(count):
        k = float(random.choice([0, 0.5, 1, 1.5, 3, 10, 49.5, 500, 5000, 50000]))
        a = math.exp(random.uniform(math.log(0.02), math.log(6)))
        s, epsilon = a * math.sqrt(2 * (k + 1)), float(random.choice([0.0, a * random.uniform(0, 5)]))
        truth = Swap(s, k).log_delta(epsilon)[0]
        if truth > -23:
            found = _ours(wishart.log_delta_swapped, epsilon, s, k)
            assert -1e-10 <= found - truth <= 3e-8, (epsilon, s, k)


def _log_ratio(w, moved, m):
    """log f(W − Δ)/f(W), −∞ outside the cone: what the law of W + Δ has more of than that of W."""
    k = (m - w.shape[-1] - 1) / 2
    left = w - moved
    inside = np.linalg.eigvalsh(left)[:, 0] > 0
    log_det = np.linalg.slogdet(np.where(inside[:, None, None], left, np.eye(w.shape[-1])))[1]
    return np.where(inside, k * (log_det - np.linalg.slogdet(w)[1]) + np.trace(moved) / 2, -np.inf)


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "m"), [(2, 6), (3, 9)])
def test_wishart_draws_agree_and_no_pair_of_rows_is_worse_than_a_corner(d, m):
    s, epsilon = 1.0, 0.3
    half = np.random.default_rng(d).standard_normal((20_000, m, d))
    w = np.swapaxes(half, 1, 2) @ half

    def divergence(a, b):
        """H_ε(W ‖ W + diag(a, −b)) and its standard error."""
        gain = np.maximum(-np.expm1(epsilon + _log_ratio(w, np.diag([a, -b] + [0.0] * (d - 2)), m)), 0.0)
        return gain.mean(), gain.std() / math.sqrt(gain.size)

    case = epsilon, s, (m - d - 1) / 2
    exact = [math.exp(_ours(p, *case)) for p in (*PROFILES.values(), wishart.log_delta_swapped)]
    for value, (a, b) in zip(exact, ((0, s), (s, 0), (s, s)), strict=True):
        mean, error = divergence(a, b)
        assert abs(mean - value) < 5 * error
    for a, b in ((0.5, 0.5), (0.9, 0.3), (0.2, 1.0), (1.0, 0.6)):
        mean, error = divergence(a, b)
        assert mean < max(exact) + 5 * error


def test_no_delta_is_below_the_floor_and_no_epsilon_beyond_half_s_is_of_use_to_a_removed_row():
    s, k = np.array([0.7]), np.array([2.5])
    floor = chi2.cdf(0.7, 7)
    assert math.exp(wishart.log_floor(s, k)[0]) == pytest.approx(floor, rel=1e-13)
    far = np.exp(wishart.log_delta_added(np.array([0.1, 5.0, 500.0, 1e6]), s, k))
    assert np.all(np.diff(far) <= 0)
    assert floor <= far[-1] <= floor * (1 + 1e-8)
    assert np.all(np.isneginf(wishart.log_delta_removed(np.array([0.35, 1.0, 1e6]), s, k)))


def test_either_direction_at_minus_epsilon_follows_from_the_other():
    epsilon, s, k = np.linspace(0.01, 3, 9), np.array([1.3]), np.array([3.0])
    one, other = (np.exp(profile(epsilon, s, k)) for profile in PROFILES.values())
    for at, back in ((one, wishart.log_delta_added), (other, wishart.log_delta_removed)):
        assert np.exp(back(-epsilon, s, k)) == pytest.approx(1 - np.exp(-epsilon) * (1 - at), rel=1e-8)
    swapped = np.exp(wishart.log_delta_swapped(epsilon, s, k))
    mirrored = np.exp(wishart.log_delta_swapped(-epsilon, s, k))
    assert mirrored == pytest.approx(1 - np.exp(-epsilon) * (1 - swapped), rel=1e-8)


@pytest.mark.parametrize("epsilon", [-0.5, 0.0, 0.3, 0.5])
@pytest.mark.parametrize(("s", "k"), [(1.0, 2.0), (0.3, 0.0), (0.01, 0.5), (3.0, 0.5), (0.01, 49.5), (3.0, 49.5)])
def test_the_mean_over_draws_of_the_largest_loss(s, k, epsilon):
    for one, side in zip(any_loss(s, k), ("removed", "added"), strict=True):
        truth = one.log_delta(epsilon)[0]
        found = getattr(wishart_glm, f"log_delta_{side}")(np.array([epsilon]), s, k)[0]
        assert 0 <= found - truth + 1e-12 * abs(truth) <= 1e-6 * (1 + abs(truth)), side


def test_no_loss_of_this_kind_has_less_than_the_squared_loss_and_large_epsilons_give_numbers():
    epsilon = np.array([0.0, 1e-9, 0.1, 1.0, 50.0, 800.0, 1e5])
    for s, k in ((0.01, 0.0), (1.0, 2.5), (30.0, 100.0)):
        for side in ("log_delta_removed", "log_delta_added"):
            glm = getattr(wishart_glm, side)(epsilon, s, k)
            squared = getattr(wishart, side)(epsilon, np.array([s]), np.array([k]))
            assert not np.isnan(glm).any()
            assert np.all(glm >= squared - 1e-9 * (1 + np.abs(np.maximum(squared, -1e300))))
