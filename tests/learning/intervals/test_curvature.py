"""The sums that follow a fit: what one row adds, to the last digit, and the noise on them."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import beta, norm

import objpert_core.accounting as acc
from objpert_core.accounting import ApproximateMinima, Gaussian, IntervalNoise, ObjectivePerturbation
from objpert_core.accounting.terms import Terms
from objpert_core.learning import LogisticLoss, Rows
from objpert_core.learning.fit import Problem
from objpert_core.learning.noise import noise_source
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.steps import curvature
from objpert_core.learning.steps.base import Some
from objpert_core.learning.steps.curvature import plausible
from tests.learning.taking import release_curvature

BOTH = IntervalNoise(12.0, 9.0)
RADIUS = math.sqrt(1.09)


def sums(X, targets, theta, constant=0.3, row_norm="clip"):
    """Both sums without noise, symmetric, in whole numbers of the lattice, and that lattice's spacing."""
    rows = Rows(X, row_norm, constant)
    spacing = curvature.lattice_of_rows(math.hypot(1.0, constant), 1.0)
    whole = curvature.WholeSums(theta, spacing, squares=True)(Some(rows, targets))
    return [symmetric(half, rows.dimension) for half in np.split(whole, 2)], spacing**2


def symmetric(entries, size):
    matrix = np.zeros((size, size), entries.dtype)
    matrix[np.triu_indices(size, 1)] = entries[size:]
    return matrix + matrix.T + np.diag(entries[:size])


def data(n, d, seed=0, length=3.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) * generator.uniform(0.1, length, (n, 1)) / math.sqrt(d)
    return X, np.where(generator.random(n) < 0.4, 1.0, -1.0), 5 * generator.standard_normal(d + 1)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array, np.asfortranarray, np.float32])
def test_a_row_adds_the_same_whatever_the_others_are_and_wherever_it_stands(stored):
    X, targets, theta = data(5_000, 7)
    place = 4_321
    whole, _ = sums(stored(X), targets, theta)
    without, _ = sums(stored(np.delete(X, place, axis=0)), np.delete(targets, place), theta)
    alone, _ = sums(stored(X[[place]]), targets[[place]], theta)
    for total, rest, own in zip(whole, without, alone, strict=True):
        assert np.array_equal(total - rest, own)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_sums_over_parts_are_the_sum_over_all_to_the_last_digit(stored):
    X, targets, theta = data(5_000, 7)
    whole, _ = sums(stored(X), targets, theta)
    for ends in ([1, 2, 3], [4_096], range(100, 5_000, 700)):
        edges = [0, *ends, 5_000]
        parts = [sums(stored(X[a:b]), targets[a:b], theta)[0] for a, b in itertools.pairwise(edges)]
        assert np.array_equal(np.sum(parts, axis=0), whole)


@pytest.mark.parametrize("row_norm", ["clip", "normalize"])
@pytest.mark.parametrize("constant", [0.0, 0.3, 20.0])
def test_no_row_adds_more_than_its_sensitivity_and_some_come_within_a_hundredth_of_a_per_cent(row_norm, constant):
    X, targets, theta = data(400, 3, seed=1, length=1e3)
    radius = math.hypot(1.0, constant)
    wrong = -1e3 * targets[0] * np.append(X[0] / np.linalg.norm(X[0]), 0.0)
    for theta_of, which in ((0 * theta, 0), (theta, 0), (wrong, 1)):
        used = theta_of if constant else theta_of[:-1]
        most = (radius**2 / 4, radius**2)[which]
        longest = 0.0
        for place in range(40):
            whole, unit = sums(X[[place]], targets[[place]], used, constant, row_norm)
            longest = max(longest, float(np.linalg.norm(whole[which].astype(float)) * unit))
        assert longest <= most
        if which == 1 or not theta_of.any():
            assert longest > (1 - 1e-4) * most


def test_two_rows_add_matrices_that_are_no_further_apart_than_root_two():
    X = np.eye(2)
    theta, targets = np.zeros(2), np.ones(1)
    first, second = (sums(X[[place]], targets, theta, 0.0)[0][0] for place in (0, 1))
    unit = sums(X[[0]], targets, theta, 0.0)[1]
    apart = float(np.linalg.norm((first - second).astype(float))) * unit
    assert (1 - 1e-4) * math.sqrt(2) / 4 < apart <= math.sqrt(2) / 4


def test_the_sums_are_those_of_the_textbook():
    X, targets, theta = data(3_000, 4, length=0.8)
    whole, unit = sums(X, targets, theta)
    rows = np.column_stack([X / np.maximum(1, np.linalg.norm(X, axis=1))[:, None], np.full(len(X), 0.3)])
    p = 1 / (1 + np.exp(-rows @ theta))
    for total, weights in zip(whole, (p * (1 - p), (p - (targets > 0)) ** 2), strict=True):
        assert total * unit == pytest.approx((rows * weights[:, None]).T @ rows, rel=1e-3, abs=0.05)


@pytest.mark.thorough
def test_the_noise_has_its_deviation_in_isometric_coordinates():
    X, targets, theta = data(50, 2)
    rows, source = Rows(X, "clip", 0.3), noise_source(3)
    whole, unit = sums(X, targets, theta)
    draws = [release_curvature(rows, targets, theta, BOTH, source) for _ in range(1_500)]
    for which, sigma in ((0, 12.0 * RADIUS**2 / 4), (1, 9.0 * RADIUS**2)):
        noise = np.array([(one.hessian, one.outer)[which] for one in draws]) - whole[which] * unit
        assert np.array_equal(noise, np.swapaxes(noise, 1, 2))
        scaled = noise.std(axis=0) / sigma * np.where(np.eye(3) > 0, 1.0, math.sqrt(2))
        assert scaled == pytest.approx(np.ones((3, 3)), abs=0.09)


def test_what_no_fit_can_have_released_is_not_plausible():
    X, targets, theta = data(200, 2)
    rows = Rows(X, "clip", 0.3)
    released = release_curvature(rows, targets, theta, BOTH, noise_source(0))
    told = (3, BOTH, RADIUS, 200.0)
    assert plausible(released.hessian, released.outer, *told)
    lopsided, off, far, negative = (released.hessian.copy() for _ in range(4))
    lopsided[0, 1] += 1.0
    off[0, 0] += 1e-12
    far[1, 1] += 4096.0
    negative[0, 0] -= 4096.0
    for forged in (lopsided, off, far, negative, released.hessian[:2, :2], released.hessian.astype(object), None):
        assert not plausible(forged, released.outer, *told)
    assert not plausible(released.hessian, None, *told)
    assert not plausible(released.hessian, released.outer, 3, IntervalNoise(12.0), RADIUS, 200.0)


def test_the_promise_pays_for_every_sum():
    fit = ApproximateMinima(ObjectivePerturbation(8.0, 128.0), 1e-6, 0.1)  # λ = 2σ²: as private as a Gaussian mechanism
    whole = Terms(None, 1e-5, steps=(BOTH,)).whole(fit)
    squared = 8.0**-2 + (1e-6 / (128.0 * 0.1)) ** 2 + 12.0**-2 + 9.0**-2
    assert whole.epsilon(1e-5) == pytest.approx(Gaussian(squared**-0.5).epsilon(1e-5), rel=1e-3)
    assert whole.delta(1.0) > 1.01 * Terms(None, 1e-5, steps=(IntervalNoise(12.0),)).whole(fit).delta(1.0)


# A Monte-Carlo audit of a fit and the sums that follow it: how much their noise really leaves to be told of one row


RISK = 0.005
SIGMA = math.sqrt(2.0)
FIT = acc.ApproximateMinima(acc.ObjectivePerturbation(SIGMA, 2 * SIGMA**2), tau=1e-4, sigma_out=0.01)
NOISE = acc.IntervalNoise(20.0, SIGMA)
COPIES, DELTA = 5_000, 0.15
TERMS = Terms(10.0, DELTA, public_rows=COPIES, rows_declared=True, steps=(NOISE,))
WHOLE = TERMS.whole(FIT)


def released(with_more, draws):
    """θ, and what both sums show: copies of the row (1) with the label −1, and one more with the label +1."""
    X, targets = np.ones((COPIES + with_more, 1)), np.full(COPIES + with_more, -1.0)
    targets[COPIES:] = 1.0
    problem = Problem(X, targets, LogisticLoss(0.0), solving={"intercept_scaling": 0.0})
    state = np.random.RandomState(int(with_more))
    found = perturb_and_solve_draws(problem, TERMS, FIT, [state] * draws)
    return (
        np.array([one.theta[0] for one in found]),
        *np.array([[one.published[name][0, 0] for name in ("hessian_", "outer_")] for one in found]).T,
    )


def log_ratio(theta, hessian, outer, noise, kept=(True, True, True)):
    """The logarithm of the likelihood with the row more over that without it, of the parts that are kept."""
    p, slope = expit(theta), expit(-theta)  # of the copies, and of the row more
    bend, lam = p * slope, FIT.objective.lam
    fit = gaussian(-COPIES * p - lam * theta, -slope, SIGMA) + np.log1p(bend / (lam + COPIES * bend))
    of_hessian = gaussian(hessian - COPIES * bend, bend, noise.hessian_noise / 4)
    of_outer = gaussian(outer - COPIES * p**2, slope**2, noise.outer_noise)
    return sum(part for part, keep in zip((fit, of_hessian, of_outer), kept, strict=True) if keep)


def gaussian(residual, shift, sigma):
    """log of the density of N(shift, σ²) over that of N(0, σ²)."""
    return (residual * shift - shift**2 / 2) / sigma**2


def delta_from_below(ratios, epsilon):
    """The larger lower bound on δ(ε) of both directions."""
    without, with_more = ratios
    pairs = ((with_more, without), (-without, -with_more))
    return max(
        beta.ppf(RISK, (one > epsilon).sum(), (one <= epsilon).sum() + 1)
        - math.exp(epsilon) * beta.ppf(1 - RISK, (other > epsilon).sum() + 1, (other <= epsilon).sum())
        for one, other in pairs
    )


def ratios_with(noise, draws, monkeypatch, **kept):
    monkeypatch.setattr(curvature, "curvature_noise", lambda _, radius: (noise.hessian_noise / 4, noise.outer_noise))
    return [log_ratio(*released(with_more, draws), noise, **kept) for with_more in (False, True)]


def epsilon_from_below(with_more, direction=1.0):
    """A lower bound on ε at δ from E(1 − e^{ε − L})₊ over draws of L: as sure as `RISK`, and sharper than counting."""

    def gap(epsilon):
        lost = -np.expm1(np.minimum(0.0, epsilon - direction * with_more))
        return lost.mean() + norm.ppf(RISK) * lost.std() / math.sqrt(len(lost)) - DELTA

    return brentq(gap, 0.0, 10.0)


@pytest.mark.slow
def test_what_is_found_is_below_the_promise_and_at_least_nine_tenths_of_it(monkeypatch):
    without, with_more = ratios_with(NOISE, 8_000, monkeypatch)
    assert np.exp(without).mean() == pytest.approx(1.0, abs=0.06)  # as of every likelihood ratio
    promised, found = WHOLE.epsilon(DELTA), max(epsilon_from_below(with_more), epsilon_from_below(without, -1.0))
    print(f"epsilon at delta = {DELTA}: promised {promised:.4f}, found {found:.4f}, {found / promised:.3f} of it")
    assert 0.9 * promised < found < promised
    forgotten = replace(TERMS, steps=(acc.IntervalNoise(NOISE.hessian_noise),)).whole(FIT)
    assert found > 1.2 * forgotten.epsilon(DELTA)


@pytest.mark.slow
def test_half_the_noise_on_the_squared_gradients_is_convicted(monkeypatch):
    less = replace(NOISE, outer_noise=NOISE.outer_noise / 2)
    assert delta_from_below(ratios_with(less, 2_000, monkeypatch), 1.0) > WHOLE.delta(1.0)


@pytest.mark.thorough
@pytest.mark.parametrize(("times", "convicted"), [(1.0, False), (0.5, True)])
def test_half_the_noise_on_the_curvature_is_convicted_where_one_row_moves_it_most(times, convicted):
    """At θ = 0 every row adds a quarter; what is drawn is the release itself, beside the part of the promise for it."""
    noise, X = acc.IntervalNoise(1.0), np.ones((3, 1))
    draws = []
    for rows in (2, 3):
        source = noise_source(rows)
        few, targets = Rows(X[:rows], "clip"), np.ones(rows)
        known = few, targets, np.zeros(1)
        sums = [release_curvature(*known, replace(noise, hessian_noise=times), source).hessian for _ in range(4_000)]
        draws.append(gaussian(np.ravel(sums) - 2 / 4, 1 / 4, times / 4))
    (part,) = noise.mechanisms()
    assert (delta_from_below(draws, 0.5) > part.delta(0.5)) == convicted
    assert delta_from_below(draws, 0.5) > 0.75 * part.delta(0.5)
