"""A scaler that goes by public ranges alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from objpert_core.estimators import PublicRangeScaler

X = np.array([[0.0, -4.0], [30.0, 6.0], [120.0, 1.0], [150.0, -9.0]])


def test_ranges_become_minus_one_to_one_and_what_is_outside_is_clipped():
    scaler = PublicRangeScaler(low=[0, -4], high=[120, 6])
    assert scaler.fit_transform(X).tolist() == [[-1.0, -1.0], [-0.5, 1.0], [1.0, 0.0], [1.0, -1.0]]


def test_a_row_is_scaled_alike_whatever_the_others_are():
    scaler = PublicRangeScaler(low=-5.0, high=130.0)
    together = scaler.fit_transform(X)
    alone = np.vstack([PublicRangeScaler(low=-5.0, high=130.0).fit_transform(X[[i]]) for i in range(len(X))])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(PublicRangeScaler(low=-5.0, high=130.0).transform(X), together)  # without any fit


def test_nan_stays_infinity_is_clipped_ranges_may_be_as_wide_as_doubles_go_and_sparse_rows_are_refused():
    rows = np.array([[np.nan, np.inf], [-np.inf, 0.5]])
    np.testing.assert_array_equal(PublicRangeScaler().fit_transform(rows), [[np.nan, 1.0], [-1.0, 0.0]])
    assert PublicRangeScaler(-1e308, 1e308).fit_transform([[1e308], [0.0], [-1e308]]).tolist() == [[1.0], [0.0], [-1.0]]
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        PublicRangeScaler().fit(sp.csr_array(X))


NO_RANGES = [
    (0.0, [1.0, 0.0], r"low must be below high, got 0.0 and 0.0 \(column 1\)"),
    (2.0, 1.0, "low must be below high, got 2.0 and 1.0"),
    (0.0, 5e-324, "low must be below high, got 0.0 and 5e-324"),  # half of it is 0, and 0/0 no number
    (0.0, [1.0, 1.0, 1.0], r"high must be a number or one for each of 2 features, got \(3,\)"),
    (np.nan, 1.0, "low must be finite numbers, got nan"),
    (0.0, "max", "high must be finite numbers, got 'max'"),
]


@pytest.mark.parametrize(("low", "high", "message"), NO_RANGES)
def test_ranges_that_are_none_are_refused(low, high, message):
    with pytest.raises(ValueError, match=message):
        PublicRangeScaler(low, high).fit(X)
