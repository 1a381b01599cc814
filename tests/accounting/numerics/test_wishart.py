"""The profiles of a noisy Gram matrix against quadratures in 50 digits, Wishart draws and fine grids."""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from scipy.special import betainc, gammaln, k0e
from scipy.stats import chi2

from objpert_core.accounting.quadratic import wishart

SIZES = [0.0, 0.5, 1.0, 5.0, 49.5, 500.0]


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


def _hold_rows(sizes, shifts, epsilons):
    with mp.workdps(80):
        for k in sizes:
            for s in shifts:
                for epsilon in (*epsilons, 0.49 * s):
                    for side, profile in PROFILES.items():
                        truth = _row(side, epsilon, s, k)
                        if truth > mp.mpf("1e-290"):
                            _hold(float(mp.log(truth)), _ours(profile, epsilon, s, k), (side, epsilon, s, k))


def _hold(truth, found, case):
    assert found >= truth, (case, found - truth)
    if truth > -25:  # no more than the slack above it where doubles can tell
        assert found <= truth + 1e-3 * (1 + abs(truth)), (case, found - truth)


def test_one_row_is_never_below_the_truth_not_even_where_the_difference_of_two_tails_has_no_digits():
    _hold_rows(SIZES[::2], [1e-12, 1e-6, 1.0, 30.0], [0.0, 1e-9, 0.1, 3.0])


@pytest.mark.slow
def test_one_row_is_never_below_the_truth_on_a_grid():
    _hold_rows([*SIZES, 5e4], [1e-12, 1e-9, 1e-3, 0.3, 3.0, 300.0], [0.0, 1e-12, 1e-6, 1e-3, 0.5, 10.0])


@pytest.mark.parametrize(
    ("case", "values"),
    [((0.3, 1.0, 2.0), (5.459683e-3, 8.278028e-2, 8.688827e-2)), ((0.5, 0.8, 0.5), (0.0, 1.623169e-1, 1.266275e-1))],
)
def test_check_values(case, values):
    profiles = (*PROFILES.values(), wishart.log_delta_swapped)
    for profile, value in zip(profiles, values, strict=True):
        assert math.exp(_ours(profile, *case)) == pytest.approx(value, rel=1e-6)


def _swapped_by_rules(epsilon, s, k):
    """The one-dimensional integral by 40-point rules on hundreds of intervals, without logarithms of differences."""
    mu = 2 * k + 3
    centre, spread, edge = math.log(mu), 1 / math.sqrt(mu), math.log(s / 2)
    ends = np.linspace(centre - 14 * spread - 60 / mu, centre + min(3.0, 30 * spread), 160)
    near = np.concatenate(([0.0], -np.geomspace(1e-6, 60, 30) / mu, np.geomspace(1e-8, 3, 30)))
    ends = np.unique(np.concatenate((ends, edge + near)))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = 0.5 * np.diff(ends)
    log_g = (ends[:-1] + half)[:, None] + half[:, None] * nodes
    g = np.exp(log_g)
    z = s / g
    law = np.exp(mu * log_g + np.log(np.maximum(k0e(g), 1e-300)) - g - (mu - 2) * math.log(2) - 2 * gammaln(mu / 2))
    if k == 0:
        h = np.minimum(z / 2, 1.0)
    else:
        ratio = math.exp(epsilon / k)
        u = (ratio * z * z - ratio + 1) / (ratio * z + np.sqrt(ratio * z * z + (ratio - 1) ** 2))
        first, second = (betainc(k + 1, k + 1, np.clip((1 + at) / 2, 0, 1)) for at in (u, u - z))
        h = np.where(z >= 2, 1.0, np.maximum(first - math.exp(epsilon) * second, 0.0))
    return float((law * h * weights * half[:, None]).sum())


@pytest.mark.thorough
@pytest.mark.parametrize(("count", "seed"), [(15, 1), pytest.param(200, 2, marks=pytest.mark.slow)])
def test_swapped_rows_by_finer_rules_at_random(count, seed):
    random = np.random.default_rng(seed)
    for _ in range(count):
        k = float(random.choice([0, 0.5, 1, 1.5, 3, 10, 49.5, 500, 5000, 50000]))
        a = math.exp(random.uniform(math.log(0.02), math.log(6)))
        s, epsilon = a * math.sqrt(2 * (k + 1)), float(random.choice([0.0, a * random.uniform(0, 5)]))
        truth = _swapped_by_rules(epsilon, s, k)
        if truth > 1e-10:
            found = math.exp(_ours(wishart.log_delta_swapped, epsilon, s, k))
            assert truth * (1 - 1e-13) <= found <= truth * (1 + 3e-8), (epsilon, s, k)


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
