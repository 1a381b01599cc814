"""One run of AdaOPS and OPS-PTR: the formulas, the privacy of the whole in one dimension, and attacks on it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import objpert_core.accounting as acc
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.learning.noise import noise_source
from objpert_core.learning.posterior import adaptive
from objpert_core.learning.posterior.adaptive import (
    CANDIDATES,
    LEAST_LAM,
    Run,
    adaptive_lam,
    best_run,
    one_run,
    tight_run,
)
from objpert_core.learning.posterior.draw import Ridge, posterior_spacing
from objpert_core.learning.posterior.noisy_sums import moved_sums
from objpert_core.learning.posterior.shares import Shares
from objpert_core.learning.posterior.statistics import Statistics
from objpert_core.learning.posterior.sums import regression_sums
from tests.learning.posterior.fixed import Fixed
from tests.learning.test_audit import lower_bound

TIGHT = acc.calibrate_adaptive_sampling(1.0, 1e-6)


def against(n, odd=False, copies=1.0):
    """n rows (1, 1) in one dimension, and one row (1, −1) where `odd`."""
    y = np.append(np.full(n, copies), [-1.0] * odd)
    return regression_sums(np.ones((len(y), 1)), y, row_norm="normalize", on_error="release")


@pytest.fixture
def captured(monkeypatch):
    """What `one_run` draws from: (Λ's λ, γ) of each draw, in place of the draw."""
    found = []

    def keep(ridge, lam, gamma, source):
        found.append((lam, gamma))
        return Run(np.zeros(1), lam, 1.0)

    monkeypatch.setattr(adaptive, "drawn", keep)
    return found


# The privacy of one draw


def divergences(epsilon, weights, first, second):
    """∫ [p·N(first) − e^ε q·N(second)]₊ with (log p, log q) = weights; means and standard deviations; arrays."""
    (log_p, log_q), (m, s), (n, t) = weights, first, second
    # log of the ratio is a·θ² + b·θ + c about m
    shift = m - n
    a = (1 / t**2 - 1 / s**2) / 2
    b = shift / t**2
    c = log_p - log_q - epsilon + np.log(t / s) + shift**2 / (2 * t**2)
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
    low, high = np.sort([(-b - root) / (2 * a), (-b + root) / (2 * a)], axis=0)
    real = b**2 > 4 * a * c

    def mass(middle, width):
        between = stats.norm.cdf((high + m - middle) / width) - stats.norm.cdf((low + m - middle) / width)
        between = np.where(real, between, 0.0)
        return np.where(a > 0, 1 - between, between)

    return np.maximum(np.exp(log_p) * mass(m, s) - np.exp(log_q + epsilon) * mass(n, t), 0.0)


# The formulas of a run


@pytest.mark.parametrize("released", [0.0, 15.0, 1e5])
@pytest.mark.parametrize("wanted", [0.0, 3.0, 400.0])
def test_a_run_is_the_mechanism_that_is_accounted_for(captured, released, wanted):
    n = 100_000 if released > 100 else 100
    own = Statistics.failing(TIGHT.eigenvalue_mu, TIGHT.norm_mu, TIGHT.failure)
    z = own.tail + (released + 1 - n) * TIGHT.eigenvalue_mu
    run = tight_run(against(n), TIGHT, lambda seen: wanted + 0 * seen, Fixed(z, -own.tail))
    ((lam, gamma),) = captured
    assert run.lam == lam == pytest.approx(max(wanted, 1 / TIGHT.leverage - released, LEAST_LAM), rel=1e-3)
    h = 1 / (lam + released)
    assert h <= TIGHT.leverage * (1 + 1e-3)
    slope = (1 + n / (n + lam)) * (1 + h)  # the tail is taken off, the sensitivity is not
    assert gamma == pytest.approx((TIGHT.separation * (1 + h) / slope) ** 2 / h, rel=2e-3)


def test_the_leverage_is_never_larger_than_promised(captured):
    seen = []
    own = Statistics.failing(TIGHT.eigenvalue_mu, TIGHT.norm_mu, TIGHT.failure)

    def precision(leverage, slope):
        seen.append(leverage)
        return 1.0

    for z in np.linspace(-3, 3, 25):
        tight_run(against(90), TIGHT, lambda released: 0.0, Fixed(own.tail + z))
        released = own.least_eigenvalue(against(90), Fixed(own.tail + z))
        lam, _ = captured[-1]
        one_run(against(90), own, lambda _: lam, precision, Fixed(own.tail + z))  # noqa: B023 - called at once
        assert lam + released >= 1 / TIGHT.leverage
    assert max(seen) <= TIGHT.leverage


@pytest.mark.parametrize("constant", [0.3, 2.0])
def test_with_an_intercept_rows_count_as_rows_of_norm_1(captured, constant):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    sums = regression_sums(X, y, intercept_scaling=constant)
    square = 1 + constant**2
    gram, moment = (sums.gram * sums.unit**2).astype(float), (sums.moment * sums.unit * sums.step).astype(float)
    own = Statistics.failing(TIGHT.eigenvalue_mu, TIGHT.norm_mu, TIGHT.failure)
    run = tight_run(sums, TIGHT, lambda _: 50.0, Fixed(own.tail, -own.tail))
    ((lam, gamma),) = captured
    assert run.lam == lam
    released = np.linalg.eigvalsh(gram / square)[0] - 1
    h = 1 / (50 + released)
    theta = np.linalg.solve(gram / square + 50 * np.eye(3), moment / math.sqrt(square))
    slope = (1 + np.linalg.norm(theta)) * (1 + h)
    assert gamma == pytest.approx((TIGHT.separation * (1 + h) / slope) ** 2 / h, rel=1e-3)


def test_a_draw_is_as_wide_as_its_precision_says():
    ridge, gamma = Ridge(against(50), 10.0), 40.0
    run = adaptive.drawn(ridge, 10.0, gamma, Fixed(1.0))
    assert run.theta[0] == pytest.approx(50 / 60 + 1 / math.sqrt(gamma * 60), abs=1e-4)
    assert run.spacing == posterior_spacing(1 / math.sqrt(gamma), 10.0)


def test_a_run_refuses_where_no_draw_is_private(captured):
    shares = Shares.valid(0.1, 1e-6, statistics=1 / 2, draw=1 / 3)
    assert shares.run(against(5), lambda _: 1.0, Fixed()) is None  # 1/λ beyond what has a precision
    assert shares.run(against(5), lambda _: 0.1, Fixed()) is None  # beyond the golden ratio
    assert tight_run(against(5), TIGHT, lambda _: 0.1, Fixed(0.0, 1e4)) is None  # beyond e³⁰⁰, once in 10³⁰⁰
    assert captured == []


def test_a_fallback_raises_lam_where_it_leaves_no_precision_and_only_there(captured):
    shares = Shares.valid(0.1, 1e-6, statistics=1 / 2, draw=1 / 3)
    least = (1 + math.log(6e6)) / 0.05
    for lam, used in ((0.1, least), (1.0, least), (0.9 * least, 0.9 * least), (2 * least, 2 * least)):
        run = shares.run(against(5), lambda _: lam, Fixed(), fallback=True)  # noqa: B023 - called at once
        assert run.lam == pytest.approx(used, rel=1e-6)
        slope = (1 + 5 / (5 + used)) * math.exp(
            (shares.statistics.tail / shares.statistics.norm_mu + 1) * math.log1p(1 / used)
        )
        assert captured[-1][1] == pytest.approx(acc.posterior_precision(0.05, 1e-6 / 3, 1 / used, slope), rel=1e-4)


def test_shares_add_up_and_printed_ones_have_the_printed_noise():
    shares = Shares.valid(1.0, 1e-6, statistics=1 / 2, draw=1 / 3)
    assert shares.release_epsilon + shares.test_epsilon == 1.0
    assert shares.release_delta + shares.test_delta + shares.failure == pytest.approx(1e-6, rel=1e-12)
    assert 2 * stats.norm.sf(shares.statistics.tail) == pytest.approx(shares.failure, rel=1e-9)
    printed = Shares.as_printed(1.0, 1e-6).statistics
    assert printed.eigenvalue_mu == pytest.approx(0.25 / math.sqrt(math.log(6e6)))
    shift = printed.tail / printed.eigenvalue_mu
    assert shift == pytest.approx(math.sqrt(2 * math.log(6e6) * math.log(2e6)) / 0.25)
    assert (shares.statistics.shifted, printed.shifted) == (True, False)


# λ


def test_the_rule_for_lam_minimises_its_bound_and_the_list_of_candidates_is_the_papers():
    assert len(CANDIDATES) == 30
    assert (CANDIDATES[0], CANDIDATES[-1]) == pytest.approx((2.5, 2.5**10))
    d, epsilon, delta, least = 10, 1.0, 1e-6, 30.0
    log_term = math.log(6 / delta)
    e = np.roots([1 / (2 * log_term), 1, -epsilon / 4]).max()
    first = (d / 2 + math.sqrt(d * math.log(20)) + math.log(20)) * log_term / e**2
    rule = adaptive_lam(d, epsilon, delta, least)
    for released in (0.0, 20.0, 300.0, 1e5):
        t = rule(released)
        assert t >= 0
        assert t + released >= least

        def value(t, released=released):
            log_part = math.log(first) + 8 * log_term / epsilon * math.log1p(1 / (t + released))
            return math.exp(min(log_part - math.log(t + released), 700)) + t

        for other in (t + 1e-3, t + 1, t + 100, max(t - 1, 0.0, least - released), max(t - 1e-3, 0, least - released)):
            assert value(t) <= value(other) * (1 + 1e-9)


# The best of K


def test_the_best_of_a_geometric_number_of_runs_is_released():
    source, kept = noise_source(0), []

    def run(lam):
        kept[-1].append(lam)
        return None if lam == 2.0 else Run(np.array([lam]), lam, 1.0)

    for _ in range(300):
        kept.append([])
        best = best_run(run, [1.0, 2.0, 3.0], lambda one: -one.lam, 4.0, source)
        answered = [lam for lam in kept[-1] if lam != 2.0]
        assert (best.lam == min(answered)) if answered else best is None
    counts = np.array([len(one) for one in kept])
    expected = 300 * 0.25 * 0.75 ** np.arange(8)
    seen = np.bincount(np.minimum(counts, 9), minlength=10)[1:]
    assert stats.chisquare(seen, np.append(expected, 300 - expected.sum())).pvalue > 1e-3
    assert np.mean([lam for one in kept for lam in one]) == pytest.approx(2.0, abs=0.15)


# The privacy of the whole


def of_a_run(mechanism, n, wanted, epsilon, points=121):
    """Both hockey-stick divergences of a whole run in one dimension, n rows (1, 1) with or without (1, −1).

    Both statistics and the draw are integrated. What is released of λ_min is seen before it is cut off at 0.
    """
    z = np.linspace(-7.5, 7.5, points)
    log_weight = stats.norm.logpdf(z) + math.log(z[1] - z[0])
    tail = -stats.norm.ppf(mechanism.failure / 2)
    data = [(n, n), (n - 1, n + 1)]  # X̃ᵀỹ, and the number of rows, which is λ_min
    worst = []
    for (moment, size), (other_moment, other_size) in (data, data[::-1]):
        sigma = 1 / mechanism.eigenvalue_mu
        noisy = size + sigma * z
        log_q = stats.norm.logpdf((noisy - other_size) / sigma) - stats.norm.logpdf(z)
        released = np.maximum(noisy - tail * sigma - 1, 0.0)
        lam = np.maximum(max(wanted, LEAST_LAM), 1 / mechanism.leverage - released)
        h = 1 / (lam + released)
        theta, other = moment / (size + lam), other_moment / (other_size + lam)
        width = np.log1p(h) / mechanism.norm_mu
        value, other_value = np.log1p(np.abs(theta)), np.log1p(np.abs(other))
        log_slope = value[:, None] + width[:, None] * z
        log_q = log_q[:, None] + stats.norm.logpdf((log_slope - other_value[:, None]) / width[:, None])
        log_q = log_q - stats.norm.logpdf(z)
        slope = np.exp(log_slope + (tail * width + np.log1p(h))[:, None])
        gamma = (mechanism.separation * (1 + h[:, None]) / slope) ** 2 / h[:, None]
        log_p = log_weight[:, None] + log_weight
        first = theta[:, None], 1 / np.sqrt(gamma * (size + lam)[:, None])
        second = other[:, None], 1 / np.sqrt(gamma * (other_size + lam)[:, None])
        worst.append(float(divergences(epsilon, (log_p, log_p + log_q), first, second).sum()))
    return max(worst)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1.0, 1e-2), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1.0, 1e-6), (6.0, 1e-4)))],
)
def test_the_whole_of_a_run_keeps_its_promise_in_one_dimension(epsilon, delta):
    mechanism = acc.calibrate_adaptive_sampling(epsilon, delta)
    most = 0.0
    for n, wanted in ((0, 0.0), (3, 0.0), (40, 5.0), (200, 0.0), (2000, 0.0), (2000, 300.0)):
        found = of_a_run(mechanism, n, wanted, epsilon)
        assert found <= delta
        most = max(most, found)
    louder = replace(mechanism, separation=20 * mechanism.separation)
    assert max(of_a_run(louder, n, 0.0, epsilon) for n in (3, 200, 2000)) > delta  # it would be seen
    assert most > (0.25 * delta if delta == 1e-2 else 0)


def found_by_thresholds(mechanism, runs):
    """The ε that thresholds of θ find, in either direction, in so many runs with and without a row."""
    source = noise_source(1)
    first, second = (
        np.array([tight_run(sums, mechanism, lambda _: 0.0, source).theta[0] for _ in range(runs)])
        for sums in (against(40), against(40, odd=True))
    )
    pairs = ((sign * one, sign * other) for sign in (1, -1) for one, other in ((first, second), (second, first)))
    return max(lower_bound(*pair, 0.05, pilot=runs // 2) for pair in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [600, pytest.param(100_000, marks=pytest.mark.exhaustive)])
def test_attacks_on_real_runs_gain_no_more_than_promised(runs):
    mechanism = acc.calibrate_adaptive_sampling(0.5, 0.05)
    assert found_by_thresholds(mechanism, runs) <= 0.5
    if runs == 600:
        louder = replace(mechanism, separation=30.0)
        assert found_by_thresholds(louder, runs) > 0.5  # such an attack can win


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_row_moves_the_sums_by_no_more_than_is_said_and_some_row_by_as_much(adjacency):
    """Rows of norm at most 1 on a few directions, targets ±1, beside rows that are shared: every pair is tried."""
    angles = np.linspace(0, np.pi, 5)[:4]
    ends = [
        np.append(length * np.array([np.cos(a), np.sin(a)]), y) for a in angles for length in (0.5, 1) for y in (-1, 1)
    ]
    shared = np.diag([0.0, 3.0])
    greatest = np.zeros(3)
    for one in ends:
        for other in [np.zeros(3)] if adjacency == ADD_REMOVE else ends:
            (x, y), (v, w) = (one[:2], one[2]), (other[:2], other[2])
            gram = np.outer(x, x) - np.outer(v, v)
            least = [np.linalg.eigvalsh(shared + np.outer(r, r))[0] for r in (x, v)]
            entries = np.linalg.norm(gram[np.tril_indices(2)])
            greatest = np.maximum(greatest, [entries, np.linalg.norm(x * y - v * w), abs(least[0] - least[1])])
    np.testing.assert_allclose(greatest, moved_sums(adjacency), rtol=1e-12)
