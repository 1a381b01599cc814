import numpy as np
import pytest

from objpert_core.accounting import Standardisation
from objpert_core.learning.noise import noise_source
from objpert_core.learning.standardisation import release_map


def spread(rows, columns, offset, center_noise):
    """The largest weight over the smallest, of uneven columns off centre in a direction that nobody could guess."""
    generator = np.random.default_rng(0)
    scales = np.arange(1.0, columns + 1.0) ** -1.5
    X = generator.standard_normal((rows, columns)) * (scales / np.linalg.norm(scales))
    mean = generator.standard_normal(columns)
    X += offset * mean / np.linalg.norm(mean)
    weights = release_map(X, Standardisation(center_noise, 1.0), noise_source(1)).scale
    return weights.max() / weights.min()


def test_columns_are_weighted_less_where_the_centre_misses_much():
    seen, missed = spread(2000, 400, 2.0, center_noise=2.0), spread(2000, 400, 2.0, center_noise=100.0)
    assert missed < 1.2
    assert seen > 2


@pytest.mark.parametrize("center_noise", [2.0, 40.0])
def test_rows_about_zero_keep_their_weights_though_the_centre_is_nothing_but_noise(center_noise):
    assert spread(2000, 400, 0.0, center_noise) > 2
