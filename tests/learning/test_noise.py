import os

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from objpert_core.learning import NoiseSource, noise_source

# A test that draws from the operating system fails by chance once in 1e9 runs.
CHANCE = 1e-9


@pytest.mark.parametrize(
    ("source", "level"), [(noise_source(0), 1e-3), (noise_source(), CHANCE)], ids=["seeded", "operating system"]
)
def test_the_numbers_are_normal_independent_and_of_unit_variance(source, level):
    x = source.standard_normal(200_000)
    assert stats.kstest(x, "norm").pvalue > level
    edges = ndtri(np.linspace(0, 1, 65))
    counts, _ = np.histogram(x, edges)
    assert stats.chisquare(counts).pvalue > level
    pairs, _, _ = np.histogram2d(x[::2], x[1::2], bins=[edges[::8], edges[::8]])
    assert stats.chisquare(pairs.ravel()).pvalue > level
    spread = stats.chi2(len(x)).cdf((x**2).sum())
    assert level < spread < 1 - level


@pytest.mark.slow
def test_the_test_above_notices_a_spread_that_is_two_per_cent_off():
    x = 0.98 * noise_source(0).standard_normal(200_000)
    assert stats.kstest(x, "norm").pvalue < 1e-3


def from_words(*words):
    return NoiseSource(lambda count: np.array(words, dtype="<u8").tobytes()[:count], "fixed", True)


def test_tails_reach_nine_standard_deviations_with_full_precision():
    smallest, next_smallest, middle = 0, 2, 2**64 - 2
    x = from_words(smallest, next_smallest, smallest + 1, middle, middle + 1).standard_normal(5)
    assert x[0] == pytest.approx(ndtri(2.0**-65), rel=1e-14)
    assert x[1] == pytest.approx(ndtri(3 * 2.0**-65), rel=1e-14)
    assert x[0] == -x[2] < -9.0
    assert x[1] != x[0]
    assert abs(x[3]) == abs(x[4]) == 0.0
    assert np.isfinite(x).all()


def test_the_default_reads_the_operating_system(monkeypatch):
    asked = []

    def urandom(count):
        asked.append(count)
        return bytes(count)

    monkeypatch.setattr(os, "urandom", urandom)
    source = noise_source(None)
    source.standard_normal(3)
    assert asked == [24]
    assert (source.origin, source.reproducible) == ("operating system", False)


def test_global_seeds_do_not_touch_the_operating_systems_noise():
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        draws.append(noise_source().standard_normal(4))
    assert not np.array_equal(*draws)


@pytest.mark.parametrize(
    ("make", "origin"),
    [
        (lambda: 7, "integer seed"),
        (lambda: np.int64(7), "integer seed"),
        (lambda: np.random.RandomState(7), "numpy RandomState"),
        (lambda: np.random.default_rng(7), "numpy Generator"),
    ],
)
def test_seeded_sources_repeat_and_say_so(make, origin):
    first, second = noise_source(make()), noise_source(make())
    np.testing.assert_array_equal(first.standard_normal(5), second.standard_normal(5))
    assert first.reproducible
    assert first.origin == origin
    assert "7" not in repr(first.origin)  # the seed itself is not given away


@pytest.mark.parametrize("bad", [-1, 1.5, "0", True, [1]])
def test_other_random_states_are_refused(bad):
    with pytest.raises(ValueError, match="random_state must be None, an integer >= 0, or a numpy RandomState"):
        noise_source(bad)
