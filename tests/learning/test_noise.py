import math
import os

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri
from scipy.stats import chisquare

from objpert_core.learning import noise, noise_source
from objpert_core.learning.geometric import decay_of, first_success, tail_point, two_sided_geometric
from objpert_core.learning.noise import NoiseSource

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


def probabilities(ratio, reach):
    """Of the whole numbers −reach … reach as the rounding of N(0, ratio²), and of what lies beyond them."""
    edges = stats.norm(scale=ratio).cdf(np.arange(-reach, reach + 2) - 0.5)
    law = np.diff(edges)
    return np.append(law, 1 - law.sum())


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.5, 7.0])
def test_rounded_normal_numbers_have_their_law_point_by_point(ratio):
    reach = max(1, int(3 * ratio))
    x = noise_source(2).rounded_normal(ratio, 100_000)
    counts = np.bincount(np.where(abs(x) > reach, 2 * reach + 1, x + reach), minlength=2 * reach + 2)
    assert stats.chisquare(counts, probabilities(ratio, reach) * len(x)).pvalue > 1e-3


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", [1e3, 2.0**24, 3.3e9, 2.0**50, 2.0**52])
def test_rounded_normal_numbers_are_normal_at_every_scale(ratio):
    x = noise_source(3).rounded_normal(ratio, 100_000)
    assert stats.kstest(x / ratio, "norm").pvalue > 1e-3
    assert stats.chisquare(np.bincount(x % 4, minlength=4)).pvalue > 1e-3  # the last digits are uniform


class Enumerated:
    """Words one step apart instead of random ones: all there are of so many bits, in the middle of their intervals.

    First come the words that choose block and height, then the places; both in one order, so that every word meets
    every place. More digits, where they are asked for, are those of the middle.
    """

    def __init__(self, word_bits, place_bits):
        half = np.uint64(2 ** (63 - word_bits))
        words = 2 * half * np.arange(2**word_bits, dtype=np.uint64) + half
        self.words = np.repeat(words, 2**place_bits)
        half = np.uint64(2 ** (31 - place_bits))
        places = 2 * half * np.arange(2**place_bits, dtype=np.uint64) + half
        self.places = np.tile(places.astype("<u4"), 2**word_bits)
        self.asked = 0

    def read(self, count):
        self.asked += 1
        if self.asked > 2:
            return (2**63).to_bytes(8, "little")[-count:]
        return (self.words if self.asked == 1 else self.places).tobytes()


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", [*(pytest.param(ratio, marks=pytest.mark.slow) for ratio in (0.4, 1.0)), 3.7])
def test_all_words_of_few_bits_give_the_law_up_to_their_number(ratio):
    """No chance: every word of 13 bits with every place of 8. The share of a point is right to some of 2⁻¹³ a block."""
    words = Enumerated(13, 8)
    x = noise._blocks(ratio).draw(words.read, len(words.words))
    reach = max(1, int(3 * ratio))
    shares = [np.mean(x == point) for point in range(reach + 1)]  # the words' last bit, the sign, is always 0
    law = probabilities(ratio, reach)[reach:-1] * 2
    law[0] /= 2
    np.testing.assert_allclose(shares, law, atol=5e-4)
    assert (x >= 0).all()


def test_where_doubles_cannot_tell_the_digits_decide():
    """With a margin so wide that every draw counts as unsure the numbers stay the same, each found by its digits."""
    sure, digits = noise_source(5), noise_source(5)
    expected = noise._blocks(2.0**30).draw(sure.read, 300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "_OPEN", 0.9)
        found = noise._blocks(2.0**30).draw(digits.read, 300)
    np.testing.assert_array_equal(found, expected)


def test_a_height_on_the_edge_is_decided_by_more_digits():
    """At x = 0 with the peak's own height less one word all 64 bits are needed, and more; it always ends."""
    for last in range(4):
        unfolded = [noise.Unfolding(known, bits, noise_source(last).read) for known, bits in ((0, 32), (2**40 - 1, 0))]
        blocks = noise._Blocks(100.0, 0.04, 2, 2**40, np.array([0, 2**40 + 2], dtype=np.uint64))
        assert isinstance(blocks._keeps(0, 1, *unfolded), bool)


def test_beyond_the_table_numbers_have_the_normal_tail():
    """With a table of 3 standard deviations some of the numbers come from beyond it, and have the law they should."""
    blocks = noise._table(16.0, 3.0)
    x = blocks.draw(noise_source(4).read, 60_000)
    beyond = np.abs(x[np.abs(x) > 48])
    share = 2 * stats.norm.sf(48.5 / 16)
    assert stats.binomtest(len(beyond), len(x), share).pvalue > 1e-3
    farther = 2 * stats.norm.sf(56.5 / 16) / share
    assert stats.binomtest(int((beyond > 56).sum()), len(beyond), farther).pvalue > 1e-3


def test_the_default_reads_the_operating_system(monkeypatch):
    asked = []

    def urandom(count):
        asked.append(count)
        return random(count)

    random = np.random.default_rng(0).bytes
    monkeypatch.setattr(os, "urandom", urandom)
    source = noise_source(None)
    source.standard_normal(3)
    assert sum(asked) >= 48
    assert (source.origin, source.reproducible) == ("operating system", False)
    monkeypatch.undo()
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002  which must make no difference
        draws.append(noise_source().standard_normal(4))
    assert not np.array_equal(*draws)


def test_other_random_states_and_ratios_are_refused():
    for state in (-1, 1.5, "0", True, [1]):
        with pytest.raises(ValueError, match="random_state must be None, an integer >= 0, or a numpy RandomState"):
            noise_source(state)
    for ratio in (0.0, -1.0, 2.0**53, np.nan, np.inf):
        with pytest.raises(ValueError, match="ratio must be a number from"):
            noise_source().rounded_normal(ratio, 3)


SEEDED = [
    (lambda: 7, "integer seed"),
    (lambda: np.int64(7), "integer seed"),
    (lambda: np.random.RandomState(7), "numpy RandomState"),
    (lambda: np.random.default_rng(7), "numpy Generator"),
]


@pytest.mark.parametrize(("make", "origin"), SEEDED)
def test_seeded_sources_repeat_and_say_so(make, origin):
    first, second = noise_source(make()), noise_source(make())
    np.testing.assert_array_equal(first.standard_normal(5), second.standard_normal(5))
    assert first.reproducible
    assert first.origin == origin
    assert "7" not in repr(first.origin)  # the seed itself is not given away


# Whole-numbered chance


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
