import math

import numpy as np
import pytest
from scipy import stats

from objpert_core.experiments.summary import mean_interval, wilson_interval


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
