"""What the stored study of intervals says, and that the real estimator says the same at a corner."""

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.experiments import intervals
from objpert_core.accounting import recommended_interval_noise
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.intervals import coverage, shapes, stored
from objpert_core.experiments.summary import mean_interval, wilson_interval

CELLS = (*coverage.CORNERS, *coverage.GRID)


def found(cell, method, column="covered"):
    shape, n, d, epsilon = cell
    return stored.load("coverage").interval(column, shape=shape, n=n, d=d, epsilon=epsilon, method=method)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_intervals_cover_what_they_say_over_the_grid(cell):
    for method in ("interval", "sandwich"):
        shape = cell[0]
        mean = found(cell, method)
        hard = shape == "rare" or (shape == "bent" and method == "interval") or cell == ("steep", 5_000, 10, 1.0)
        assert mean.high > (0.91 if hard else 0.935), method
        if found(cell, "interval", "width").mean < 2:  # where noise hides curvature they cover more
            assert mean.low < 0.965, method


def test_at_ten_thousand_rows_they_are_a_tenth_wider_than_without_privacy():
    width = found(("even", 10_000, 10, 1.0), "interval", "width")
    assert width.mean < 1.10
    assert width.half_width < 0.01


def test_the_other_methods_cover_less_somewhere():
    correlated = ("correlated", 2_000, 10, 1.0)
    assert found(correlated, "naive").high < 0.7
    assert found(correlated, "lifted").high < 0.87
    assert found(correlated, "bootstrap").high < 0.87
    assert found(("bent", 10_000, 5, 1.0), "wang2019").high < 0.9
    assert found(correlated, "interval").low > 0.95


def test_the_share_is_at_a_flat_place_also_where_it_was_not_chosen():
    for shape, n, d, epsilon in intervals.SHARES_AT:
        at = {"shape": shape, "n": n, "d": d, "epsilon": epsilon}
        widths = {
            share: stored.load("share").interval("width", method=f"{coverage.SHARE}{share:g}", **at).mean
            for share in intervals.SHARES
        }
        assert widths[0.15] < 1.1 * min(widths.values()) or shape == "bent"


@pytest.mark.parametrize("cell", intervals.SUMS_AT, ids=str)
def test_noisy_sums_of_a_linear_regression_give_intervals_too(cell):
    shape, n, d, epsilon = cell
    at = {"shape": shape, "n": n, "d": d, "epsilon": epsilon}
    mean = stored.load("regression").interval(method="statistics", **at)
    assert mean.high > 0.935
    assert mean.low < 0.965
    assert stored.load("regression").interval(method="naive", **at).low < mean.mean


@pytest.mark.thorough
def test_intervals_cover_strong_effects_though_noise_hides_their_curvature():
    """By the straight line alone and the curvature as released, 0.75 of the second coefficient's intervals do."""
    for found in intervals.coverage("steep", 5_000, 4, 1.0, 0, kinds=("interval", "sandwich")):
        if found.method in ("interval", "sandwich"):
            assert found.worst > 0.94, found.method


@pytest.mark.slow
def test_the_study_draws_what_the_estimator_draws():
    """The same data set many times: the study's noise, estimates and errors are those of real fits."""
    n, d, epsilon = 2_000, 3, 1.0
    generator = np.random.default_rng(0)
    X, chances, theta = shapes.drawn("even", n, d, generator)
    model = ObjPertLogisticRegression(
        epsilon=epsilon,
        delta=coverage.DELTA,
        intervals=True,
        classes=[0, 1],
        public_rows=n,
        advanced={"row_norm": "clip"},
    )
    plan = coverage.recipe(epsilon, n, d, "interval")
    ours, errors, others, their_errors = [], [], [], []
    for seed in range(60):
        y = (generator.random(n) < chances).astype(int)
        fitted = model.set_params(random_state=seed).fit(X[:, :d], y)
        certificate = fitted.privacy_
        assert (certificate.sigma, certificate.lam, certificate.sigma_out) == (plan.sigma, plan.lam, plan.output)
        (noise,) = certificate.terms.steps
        assert noise == plan.noise == recommended_interval_noise(epsilon, coverage.DELTA, n, d + 1)
        ours.append(fitted.summary()["coef"].to_numpy() - theta[:d])
        errors.append(np.diff(fitted.conf_int()).ravel() / (2 * coverage.Z))
        drawn = coverage.ten(("interval",), X, chances, theta, epsilon, generator)["interval"]
        others.extend(drawn.coefficients[:, :d] - theta[:d])
        their_errors.extend(drawn.widths[:, :d] / (2 * coverage.Z))
    assert np.median(errors, axis=0) == pytest.approx(np.median(their_errors, axis=0), rel=0.04)
    assert np.std(ours) == pytest.approx(np.std(others), rel=0.25)
    assert np.std(ours) == pytest.approx(float(np.mean(errors)), rel=0.25)


# summary


@pytest.mark.parametrize("count", [2, 3, 10, 50])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_agrees_with_scipys_t_test(count, level):
    values = np.random.default_rng(count).normal(0.84, 0.01, count)
    interval = mean_interval(list(values), level)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(level)
    assert interval.mean == pytest.approx(values.mean(), rel=1e-14)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert interval.half_width == pytest.approx((expected.high - expected.low) / 2, rel=1e-9)
    assert interval.known
    assert interval.count == count


def test_one_value_has_no_interval():
    interval = mean_interval([0.5])
    assert interval.mean == 0.5
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert not interval.known


def test_an_interval_of_shares_ends_at_0_and_1():
    assert mean_interval([1.0, 0.9]).high > 1
    assert mean_interval([1.0, 0.9]).within()[1] == 1.0
    assert mean_interval([0.0, 0.1]).within()[0] == 0.0
    inside = mean_interval([0.4, 0.5, 0.6])
    assert inside.within(-9, 9) == (inside.low, inside.high)


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (73, 73), (0, 73), (36, 73), (8000, 9045)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_wilson_agrees_with_scipys(hits, count, level):
    low, high = wilson_interval(hits / count, count, level)
    expected = stats.binomtest(hits, count).proportion_ci(level, "wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-12, abs=1e-15)
    assert 0 <= low < high <= 1


def test_wilson_leaves_doubt_where_every_row_was_right():
    low, high = wilson_interval(1.0, 73)
    assert low == pytest.approx(0.95, abs=1e-3)  # 1 - 3.84 / (73 + 3.84); the rule of three says 0.959
    assert high == pytest.approx(1.0, abs=1e-12)
