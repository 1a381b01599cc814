"""Private ranges: what one row changes, to the last digit; and what is made of noisy counts."""

import math
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import objpert_core.accounting as acc
from objpert_core.learning import Ranges, perturb_and_solve
from objpert_core.learning.noise import noise_source
from objpert_core.learning.row_sources import take_alone
from objpert_core.learning.steps import range_search, ranges
from objpert_core.learning.steps.base import PublicRows, take
from tests.learning.taking import listening

WITHIN = Ranges(np.full(5, -1.0), np.array([1.0, 1e-3, 1e30, 3.0, -0.5]))


def wild(rng, n, d):
    """Entries of every size and both signs, zeros, subnormal numbers, and powers of two, where bins begin."""
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-30, 30, (n, d))
    X[rng.random((n, d)) < 0.2] = 0.0
    X[rng.random((n, d)) < 0.1] = -5e-324
    powers = rng.random((n, d)) < 0.2
    X[powers] = np.exp2(rng.integers(-40, 70, powers.sum()))
    return X


def released(X, plan, source, *, n_rows, known=None):
    """Ranges of rows in memory."""
    return take_alone(plan, X, source, n_rows=n_rows, outcomes=() if known is None else (known,))


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=0)[::2],
    "single": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count", [ranges._by_magnitude, lambda X: ranges._by_place(X, WITHIN, 17)])
def test_a_row_moves_each_histogram_by_the_root_of_the_number_of_columns(count, layout):
    """In whole numbers: by itself, whatever the others are, by one in each column; a replaced row by √(2d) at most."""
    X = LAYOUTS[layout](wild(np.random.default_rng(0), 40, 5))
    steps = [count(X[[row]]) for row in range(len(X))]
    assert np.array_equal(sum(steps), count(X))
    assert np.array_equal(count(X[:-1]) + steps[-1], count(X))
    for step, other in pairwise(steps):
        assert step.sum(axis=1).tolist() == [1] * 5
        assert np.square(step).sum() == 5
        assert np.square(step - other).sum() <= 10


@pytest.mark.parametrize(
    ("x", "ends"), [(1.0, (1.0, 2**0.5)), (-3.0, (-(2**2.0), -(2**1.5))), (0.0, (-(2**-30), 2**-30))]
)
def test_an_entry_is_counted_where_it_lies(x, ends):
    edges, (counts,) = range_search._edges(), ranges._by_magnitude(np.array([[x]]))
    (bin_,) = np.flatnonzero(counts)
    np.testing.assert_allclose(edges[bin_ : bin_ + 2], ends)
    assert len(counts) == len(edges) - 1


def test_the_noise_has_the_stated_deviation_on_every_bin():
    with listening(acc.RangeNoise) as heard:
        for sigma in (30.0, 1e-6):
            released(np.zeros((0, 40)), acc.RangeNoise(sigma, None, 40), noise_source(0), n_rows=1)
    (_, wide), (_, narrow) = heard  # of no rows: noise alone
    assert wide.shape == (40 * 361,)
    assert abs(float(wide.std()) - 30.0) < 0.7
    assert len(set(narrow)) > 1  # it is not rounded away


@pytest.mark.parametrize("columns", [1, 7, 12, 119])
def test_sensitivities_are_roots_rounded_up(columns):
    plan = acc.RangeNoise(40.0, 20.0, columns)
    for adjacency, counts in ((acc.ADD_REMOVE, columns), (acc.REPLACE_ONE, 2 * columns)):
        for part in plan.mechanisms(adjacency, 3):
            assert 9 * counts < Fraction(part.sensitivity) ** 2 < 9 * counts * (1 + 1e-12)
            assert part.adjacency == adjacency
    assert [part.sigma for part in plan.mechanisms()] == [40.0, 20.0]
    assert len(acc.RangeNoise(40.0, None, columns).mechanisms()) == 1


BOTH_OUT = {"magnitudes": None, "quantiles": None}


@pytest.mark.parametrize(
    "wrong", [{"magnitudes": 0.0}, {"quantiles": 1e16}, {"columns": 0}, {"magnitudes": math.nan}, BOTH_OUT]
)
def test_noise_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        acc.RangeNoise(**({"magnitudes": 1.0, "quantiles": 1.0, "columns": 1} | wrong))


def test_the_rule_goes_by_public_numbers_and_takes_none_where_rows_are_few():
    for n, d, epsilon in ((124, 13, 1.0), (398, 30, 0.5), (1, 1, 8.0)):
        assert acc.recommended_ranges(epsilon, 1e-5, n, d) is None
    plan = acc.recommended_ranges(1.0, 1e-5, 3500, 12)
    replaced = acc.recommended_ranges(1.0, 1e-5, 3500, 12, adjacency=acc.REPLACE_ONE, rows_per_person=2)
    assert (plan.magnitudes, plan.columns) == (3500 / 60, 12)
    assert replaced.magnitudes > plan.magnitudes
    allowed = acc.calibrate_gaussian(1.0, 1e-5).sigma ** -2.0
    for n, d in ((600, 12), (3500, 12), (20_000, 1)):
        spent = sum(part.a**2 for part in acc.recommended_ranges(1.0, 1e-5, n, d).mechanisms())
        assert spent <= 0.5 * allowed * (1 + 1e-9)


def test_closer_ranges_within_limits_are_for_many_rows_and_take_a_tenth_at_most():
    allowed = acc.calibrate_gaussian(1.0, 1e-5).sigma ** -2.0
    for n, d in ((1666, 7), (3000, 8), (22_792, 66), (100, 1)):
        assert acc.ranges_within_limits(1.0, 1e-5, n, d) is None
    for n, d in ((6492, 7), (20_000, 4)):
        plan = acc.ranges_within_limits(1.0, 1e-5, n, d)
        (part,) = plan.mechanisms()
        assert (plan.magnitudes, plan.columns, part.sigma, part.sensitivity >= math.sqrt(d)) == (
            None,
            d,
            plan.quantiles,
            True,
        )
        assert part.a**2 <= 0.1 * allowed * (1 + 1e-9)
    assert acc.ranges_within_limits(1.0, 1e-5, 6492, 7, rows_per_person=2) is None


# What is made of noisy counts


COLUMNS = {
    "ages": lambda rng, n: np.clip(np.rint(rng.normal(42, 17, n)), 17, 95),
    "years": lambda rng, n: rng.integers(1950, 2024, n).astype(float),
    "tiny, negative": lambda rng, n: -1e-4 * (5 + rng.normal(size=n)),
    "both signs": lambda rng, n: 1e5 * rng.normal(size=n),
    "yes or no": lambda rng, n: (rng.random(n) < 0.3).astype(float),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_ranges_hold_nearly_all_rows_and_are_not_much_wider(name):
    rng = np.random.default_rng(1)
    x = COLUMNS[name](rng, 20_000)
    X, low, high = x[:, None], *np.quantile(x, [0.01, 0.99])
    plan = acc.recommended_ranges(1.0, 1e-5, 20_000, 1)
    found = released(X, plan, noise_source(3), n_rows=20_000)
    assert found.low[0] < low + 0.1 * (high - low)
    assert found.high[0] > high - 0.1 * (high - low)
    assert found.high[0] - found.low[0] < 1.5 * (high - low)


@pytest.mark.parametrize(
    "plan", [acc.RangeNoise(50.0, 30.0, 4), acc.RangeNoise(1e6, 1e6, 4), acc.RangeNoise(1e-6, None, 4)]
)
@pytest.mark.parametrize("n", [0, 1, 60])
def test_any_data_and_any_noise_have_ranges(plan, n):
    for X in (np.zeros((n, 4)), wild(np.random.default_rng(n), n, 4), np.full((n, 4), 1e100)):
        for seed in range(3):
            found = released(X, plan, noise_source(seed), n_rows=max(n, 1))
            assert np.isfinite([found.low, found.high]).all()
            assert (found.low < found.high).all()
            assert (np.abs(found.apply(X)) <= 1).all()


def test_noise_for_other_columns_than_there_are_is_refused():
    """Or the promise would be too small: a row moves the histograms by the root of the columns there are."""
    plan = acc.RangeNoise(50.0, None, 1)
    fit = acc.calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.0, tau=1e-6)
    told = {"delta": 1e-5, "intercept_scaling": 0.0, "public_rows": 9}
    for given in ({"steps": (plan,)}, {"ranges": Ranges(np.zeros(1), np.ones(1))}):
        with pytest.raises(ValueError, match="X must have 1 columns"):
            perturb_and_solve(np.ones((9, 2)), np.ones(9), fit, **told, **given)
    with pytest.raises(ValueError, match="X must be dense where ranges are released"):
        released(sp.csr_array(np.ones((9, 1))), plan, noise_source(0), n_rows=9)


@pytest.mark.parametrize("columns", [1, 4, 6])
def test_noise_for_other_columns_than_have_no_range_is_refused_before_rows_are_looked_at(columns):
    """One column's noise on five columns would cancel in their differences."""
    unknown, known = Ranges(np.full(5, np.nan), np.full(5, np.nan)), np.append(np.full(5, np.nan), 1.0)
    plan, source = acc.RangeNoise(20.0, 30.0, columns), noise_source(0)
    with pytest.raises(ValueError, match=rf"^plan must be for 5 columns, .* got {columns}$"):
        released(np.ones((9, 5)), plan, source, n_rows=9, known=unknown)
    with pytest.raises(ValueError, match=rf"^plan must be for 5 columns, .* got {columns}$"):
        take(plan, None, source, PublicRows(9, 6, outcomes=(Ranges(known - 1, known),)))


def test_within_limits_every_column_is_counted_once_and_no_limit_may_be_unknown():
    plan, X = acc.RangeNoise(None, 20.0, 2), np.column_stack([np.arange(4000.0) % 7, np.full(4000, 3.0)])
    limits = Ranges(np.array([0.0, -50.0]), np.array([1000.0, 50.0]))
    found = released(X, plan, noise_source(0), n_rows=4000, known=limits)
    assert np.all(found.high - found.low < 0.2 * (limits.high - limits.low))
    unknown = Ranges(np.array([np.nan, -50.0]), np.array([np.nan, 50.0]))
    for known in (None, unknown):
        with pytest.raises(ValueError, match=r"^known must have a range for each column"):
            released(X, plan, noise_source(0), n_rows=4000, known=known)
    with pytest.raises(ValueError, match=r"^plan must be for 2 columns, as many as are looked at, got 1$"):
        released(X, acc.RangeNoise(None, 20.0, 1), noise_source(0), n_rows=4000, known=limits)


def test_counts_of_another_shape_than_their_noise_are_refused():
    plan, rows = acc.RangeNoise(20.0, None, 1), SimpleNamespace(sum=lambda _: np.zeros(5 * 361, int))
    with pytest.raises(ValueError, match=r"^noise must have the shape \(1805,\) of .*, got \(361,\)$"):
        take(plan, rows, noise_source(0), PublicRows(9, 1))


def test_the_number_of_rows_that_ranges_go_by_is_in_the_certificate_and_counts_unusable_rows():
    """How many rows can be used is not public, and nobody would pay for it."""
    fit = acc.calibrate_objective_perturbation(1.0, 1e-5, lipschitz=1.0, tau=1e-6)
    X, several = np.ones((300, 2)), np.where(np.arange(300) % 3 == np.arange(3)[:, None], 1.0, -1.0)
    X[7] = np.nan
    for targets in (several[0], several):
        told = {"delta": 1e-5, "intercept_scaling": 0.0, "on_error": "release", "random_state": 0}
        release = perturb_and_solve(X, targets, fit, steps=(acc.RangeNoise(20.0, 20.0, 2),), **told)
        assert (release.certificate.public_rows, release.certificate.rows_declared) == (300, False)
        assert release.certificate.verify()


def test_a_column_of_zeros_has_the_range_one():
    found = released(np.zeros((5000, 2)), acc.RangeNoise(50.0, None, 2), noise_source(0), n_rows=5000)
    assert (found.low.tolist(), found.high.tolist()) == ([-1.0, -1.0], [1.0, 1.0])


def test_columns_that_look_alike_share_a_range_where_noise_tells_little_of_each():
    rng = np.random.default_rng(0)
    alike, apart = rng.normal(size=(1500, 30)), rng.normal(size=(1500, 30)) * 10.0 ** np.arange(-15, 15)
    plan = acc.RangeNoise(50.0, None, 30)
    shared, own = (released(X, plan, noise_source(0), n_rows=1500) for X in (alike, apart))
    assert len(set(shared.high)) == 1
    assert 1.5 < shared.high[0] < 6 > -shared.low[0] > 1.5
    assert len(set(own.high)) > 20


def test_ranges_that_are_declared_cut_and_map():
    X = np.array([[0.0, -5.0], [60.0, 5.0], [500.0, np.nan]])
    found = Ranges.declared(0.0, [120.0, 10.0], 2).apply(X)
    np.testing.assert_array_equal(found, [[-1.0, -1.0], [0.0, 0.0], [1.0, np.nan]])
    with pytest.raises(ValueError, match=r"low must be below high, got 3.0 and 2.0 \(column 1\)"):
        Ranges.declared([0.0, 3.0], [1.0, 2.0], 2)
    with pytest.raises(ValueError, match="X must be dense where columns are cut to ranges"):
        Ranges.declared(0.0, 1.0, 2).apply(sp.csr_array(X[:2]))
