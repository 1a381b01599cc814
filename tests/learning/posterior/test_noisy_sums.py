"""AdaSSP's release: what noise each sum gets, and what is solved from it."""

import math

import numpy as np
import pytest

from objpert_core.learning.posterior.noisy_sums import NoisySums, SumNoise, noisy_sums
from objpert_core.learning.posterior.sums import regression_sums
from tests.learning.posterior.fixed import Fixed

rng = np.random.default_rng(4)
X = rng.normal(size=(500, 3)) / 2
Y = X @ np.array([0.4, 0.0, -0.5]) + 0.1 * rng.normal(size=500)
NOISE = SumNoise(5.0, 7.0, 3.0, 6.0)


def plain(sums):
    return (sums.gram * sums.unit**2).astype(float), (sums.moment * sums.unit * sums.step).astype(float)


@pytest.mark.parametrize(("constant", "bound"), [(0.0, 1.0), (0.3, 40.0), (2.0, 1e-3)])
def test_noise_is_in_units_of_what_a_row_gives(constant, bound):
    sums = regression_sums(X, bound * Y, target_bound=bound, intercept_scaling=constant)
    gram, moment = plain(sums)
    d, square = len(moment), 1 + constant**2
    count = d * (d + 1) // 2
    quiet = noisy_sums(sums, NOISE, Fixed())
    np.testing.assert_allclose(quiet.gram, gram, atol=square * 2.0**-20)
    np.testing.assert_allclose(quiet.moment, moment, atol=math.sqrt(square) * bound * 2.0**-20)
    least = np.linalg.eigvalsh(gram)[0]
    assert quiet.eigenvalue == pytest.approx(max(least - 6 * square, 0), abs=1e-4 * square)
    one = noisy_sums(sums, NOISE, Fixed(*np.ones(count + d), 2.0))
    np.testing.assert_allclose(one.gram - quiet.gram, 5 * square, rtol=1e-5)
    np.testing.assert_allclose(one.moment - quiet.moment, 7 * math.sqrt(square) * bound, rtol=1e-5)
    assert one.eigenvalue == pytest.approx(max(least, 0), abs=1e-4 * square)
    assert (one.gram - quiet.gram)[0, 0] >= 5 * square  # rounded up, for what rounding brings apart
    assert not np.fmod(one.gram, one.spacing).any()
    assert one.spacing * math.sqrt(count) <= 2.0**-20 * square
    assert one.noise == pytest.approx(5 * square)
    np.testing.assert_array_equal(one.gram, one.gram.T)


def test_a_row_moves_the_sums_by_no_more_than_its_noise_is_for():
    quiet = [noisy_sums(regression_sums(X[:n], Y[:n]), NOISE, Fixed()) for n in (99, 100)]
    rows, columns = np.tril_indices(3)
    moved = (quiet[1].gram - quiet[0].gram)[rows, columns]
    assert np.linalg.norm(moved) <= 1 + 2.0**-20
    assert np.linalg.norm(quiet[1].moment - quiet[0].moment) <= 1 + 2.0**-20


def test_the_ridge_makes_up_for_what_the_eigenvalue_leaves_wanting():
    gram, moment = np.diag([30.0, 9.0]), np.array([3.0, 1.8])
    wanted = 0.5 * math.sqrt(2 * math.log(8 / 0.05))
    for eigenvalue, ridge in ((0.0, wanted), (1.0, wanted - 1.0), (9.0, 0.0)):
        solved = NoisySums(gram, moment, eigenvalue, 0.5, 1.0).solution()
        np.testing.assert_allclose(solved, moment / (np.diag(gram) + ridge), rtol=1e-12)
