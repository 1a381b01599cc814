"""Whole-numbered chance: exact laws, and what decides where doubles could not."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare

from objpert_core.learning.geometric import decay_of, first_success, tail_point, two_sided_geometric
from objpert_core.learning.noise import NoiseSource, noise_source


def of_words(*words):
    """A source that gives these 64-bit words, then zeros in the first half of their range."""
    left = [word.to_bytes(8, "little") for word in words]
    return NoiseSource(lambda count: left.pop(0), "words", reproducible=True)


HALF = 2**63  # −log U just above log 2: with decay 1 the geometric number is 0


@pytest.mark.parametrize(("decay", "steps"), [(0.5, 1), (0.5, 40), (0.25, 100), (3.0, 7)])
def test_a_number_next_to_an_edge_takes_as_many_digits_as_decide_it(decay, steps):
    with mpmath.workdps(60):
        edge = mpmath.exp(-mpmath.mpf(decay) * steps) * 2**64
        word, rest = int(edge), mpmath.frac(edge) * mpmath.mpf(2) ** 64
    below, above = int(rest) - 2, int(rest) + 2
    one = HALF + HALF // 2  # −log U = 0.29
    subtracted = int(0.2876820724517809 / decay)
    assert two_sided_geometric(of_words(word, above, one), decay) == steps - 1 - subtracted
    assert two_sided_geometric(of_words(word, below, one), decay) == steps - subtracted
    assert two_sided_geometric(of_words(word + 1, one), decay) == steps - 1 - subtracted


def test_the_smallest_words_are_unfolded():
    assert two_sided_geometric(of_words(0, HALF, HALF), 1.0) == 45  # U = 2⁻⁶⁵


@pytest.mark.thorough
@pytest.mark.parametrize("draws", [400, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("decay", [0.5, 2.0])
def test_the_law_is_geometric_on_both_sides(decay, draws):
    source = noise_source(11)
    drawn = np.array([two_sided_geometric(source, decay) for _ in range(draws)])
    reach = math.ceil(4 / decay)
    points = np.arange(-reach, reach + 1)
    chances = np.exp(-decay * np.abs(points)) * math.tanh(decay / 2)
    counts = np.array([np.count_nonzero(drawn == k) for k in points] + [np.count_nonzero(np.abs(drawn) > reach)])
    expected = np.append(chances, 1 - chances.sum()) * drawn.size
    assert chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("decay", [1e-7, 0.01, 0.5, 3.0, 80.0])
@pytest.mark.parametrize("failure", [1e-12, 1e-6, 0.01, 0.3, 0.9])
def test_the_tail_point_is_the_least(decay, failure):
    k = tail_point(decay, failure)

    def tail(at):
        with mpmath.workdps(40):
            return mpmath.exp(-mpmath.mpf(decay) * at) / (1 + mpmath.exp(-mpmath.mpf(decay)))

    assert tail(k) <= mpmath.mpf(failure)
    assert k == 1 or tail(k - 1) > mpmath.mpf(failure) * (1 - mpmath.mpf("1e-9"))


def test_the_decay_never_costs_more_than_ε():
    for epsilon, steps in ((0.1, 3), (0.7, 2**20), (1.0, 2**21 - 1), (0.3, 7)):
        decay = decay_of(epsilon, steps)
        with mpmath.workdps(60):
            assert mpmath.mpf(decay) * steps <= mpmath.mpf(epsilon)
        assert decay >= epsilon / steps * (1 - 3e-16)


@pytest.mark.parametrize("chance", [1.0, 0.5, 0.02])
def test_the_first_success_is_geometric(chance):
    source = noise_source(5)
    drawn = np.array([first_success(source, chance) for _ in range(800)])
    assert drawn.min() >= 1
    edges = np.unique(np.ceil(np.array([1, 2, 3, 5, 8, 13]) / (3 * chance) + 1))
    below = 1 - (1 - chance) ** (edges - 1) if chance < 1 else np.ones(edges.size)
    if chance == 1:
        assert np.all(drawn == 1)
        return
    chances = np.diff(np.concatenate(([0.0], below, [1.0])))
    counts = np.histogram(drawn, np.concatenate(([0.5], edges - 0.5, [np.inf])))[0]
    assert chisquare(counts, chances * drawn.size).pvalue > 1e-3


def test_no_success_in_the_first_tries_goes_on_counting():
    far = (1).to_bytes(8, "little")  # no success within any number of tries
    reads = []

    def read(count):
        reads.append(count)
        return far * (count // 8) if len(reads) < 2 else noise_source(1).read(count)

    assert first_success(NoiseSource(read, "far, then near", reproducible=True), 0.5) > 8


def test_what_is_out_of_range_is_refused():
    for call, message in (
        (lambda: two_sided_geometric(noise_source(0), 0.0), "must be"),
        (lambda: tail_point(1.0, 1.0), "must be"),
        (lambda: first_success(noise_source(0), 0.0), "probability must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
