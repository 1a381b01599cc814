"""Wishart matrices: the law, and that no rounding is in doubt."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.quadratic.wishart import ExactWishart, wishart

SURE = 1e-5  # what a p value must exceed: seeds are fixed


def assert_wishart(drawn, m):
    """Diagonal entries are χ²_m, ‖x‖²/(xᵀW⁻¹x) is χ²_{m−d+1}, and off-diagonal ones have mean 0 and variance m."""
    d = drawn.shape[-1]
    for i in range(d):
        assert stats.kstest(drawn[:, i, i], stats.chi2(m).cdf).pvalue > SURE
    x = np.arange(1.0, d + 1) - 0.4 * d
    ratio = (x @ x) / np.einsum("i,nij,j->n", x, np.linalg.inv(drawn), x)
    assert stats.kstest(ratio, stats.chi2(m - d + 1).cdf).pvalue > SURE
    off = drawn[:, 1, 0]
    assert abs(off.mean()) < 4.5 * math.sqrt(m / len(off))
    assert off.var() == pytest.approx(m, rel=0.25)
    np.testing.assert_array_equal(drawn, drawn.transpose(0, 2, 1))


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "m"), [(2, 2), (3, 6), (5, 30)])
def test_simulated_matrices_have_the_law(d, m):
    assert_wishart(wishart(np.random.default_rng(d), d, m, size=20_000), m)


@pytest.mark.slow
@pytest.mark.parametrize("digits", [50, 2])
def test_exact_matrices_have_the_law_whatever_the_digits_they_begin_with(digits):
    source, nothing = noise_source(digits), np.zeros((3, 3), dtype=np.int64)
    drawn, refined = [], 0
    for _ in range(1000):
        one = ExactWishart(source, 3, 6, digits=digits)
        drawn.append(one.rounded(nothing, 0, 1.0, 2.0**-12))
        refined += one.refinements
    assert (refined == 0) is (digits == 50)
    assert_wishart(np.array(drawn), 6)


OUT_OF_RANGE = [
    ((3, 2), "dimension must be a whole number from 1 to 2, got 3"),
    ((0, 2), "dimension must be a whole number >= 1, got 0"),
    ((2, 2.5), "degrees_of_freedom must be a whole number >= 1, got 2.5"),
    ((2, 4, -1), "size must be a whole number >= 0, got -1"),
]


@pytest.mark.parametrize(("arguments", "message"), OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused(arguments, message):
    assert wishart(np.random.default_rng(0), 3, 4).shape == (3, 3)  # one draw has no first axis
    assert wishart(np.random.default_rng(0), 3, 4, size=0).shape == (0, 3, 3)
    with pytest.raises(ValueError, match=message):
        wishart(np.random.default_rng(0), *arguments)
    if len(arguments) == 2:
        with pytest.raises(ValueError, match=message):
            ExactWishart(noise_source(0), *arguments)


def test_digits_drawn_first_are_no_more_than_doubles_hold():
    assert ExactWishart(noise_source(0), 1, 1, digits=52).refinements == 0
    for digits, most in ((0, ">= 1"), (53, "from 1 to 52")):
        with pytest.raises(ValueError, match=f"digits must be a whole number {most}, got {digits}"):
            ExactWishart(noise_source(0), 1, 1, digits=digits)


@pytest.mark.parametrize("digits", [50, 12, 2])
@pytest.mark.parametrize(("d", "m", "seed"), [(1, 1, 0), (1, 4, 1), (4, 4, 2), (6, 9, 3)])
def test_every_rounding_is_the_one_that_more_digits_confirm(d, m, seed, digits):
    one = ExactWishart(noise_source(seed), d, m, digits=digits)
    rng = np.random.default_rng(seed)
    gram = rng.integers(-(2**40), 2**40, size=(d, d))
    gram = gram + gram.T
    scale, spacing = 0.7, 2.0**-9
    given = one.rounded(gram, -30, scale, spacing)
    near, error = one.bounds()
    for _ in range(2):
        one.refine()
    for i in range(d):
        for j in range(i + 1):
            low, high = one.interval(i, j)
            assert 0 <= high - low < 2.0**-100
            assert abs(Fraction(near[i, j]) - low) <= Fraction(error[i, j])
            exact = (Fraction(int(gram[i, j]), 2**30) + Fraction(scale) * low) / Fraction(spacing)
            assert given[i, j] == given[j, i] == round(exact) * spacing


def test_more_digits_only_narrow_what_is_known():
    one = ExactWishart(noise_source(5), 3, 4, digits=3)
    before = {(i, j): one.interval(i, j) for i in range(3) for j in range(i + 1)}
    for _ in range(3):
        one.refine()
        for place, (low, high) in before.items():
            now = one.interval(*place)
            assert low <= now[0] <= now[1] <= high
            assert now[1] - now[0] < (high - low) / 2**50
            before[place] = now


def test_a_rounding_in_doubt_is_decided_by_more_digits_and_a_zero_has_no_sign():
    """A minus would tell on which side of 0 the number lay before it was rounded."""
    one, exact = (ExactWishart(noise_source(8), 2, 5) for _ in range(2))
    nothing = np.zeros((2, 2), dtype=np.int64)
    given = one.rounded(nothing, 0, 1.0, 2.0**-50)
    assert one.refinements == 1  # as fine as the digits drawn first
    assert exact.rounded(nothing, 0, 1.0, 2.0**-20)[0, 0] == np.rint(given[0, 0] * 2.0**20) / 2.0**20
    coarse = ExactWishart(noise_source(1), 30, 60).rounded(np.zeros((30, 30), dtype=np.int64), 0, 1.0, 4.0)
    zeros = coarse == 0
    assert zeros.sum() > 100
    assert not np.signbit(coarse[zeros]).any()


def test_sums_beyond_64_bits_are_rounded_as_small_ones_are():
    huge = np.array([[10**25 + 3]], dtype=object)
    whole = ExactWishart(noise_source(1), 1, 3).rounded(huge, -60, 1.0, 2.0**-12)
    assert whole[0, 0] == pytest.approx(10**25 / 2**60 + ExactWishart(noise_source(1), 1, 3).bounds()[0][0, 0])


class Told:
    """Random bytes as a seed has them, until words are dictated."""

    def __init__(self, seed):
        self._own = noise_source(seed).read
        self.words = []

    def read(self, count):
        if not self.words:
            return self._own(count)
        given, self.words = self.words[: count // 8], self.words[count // 8 :]
        return b"".join(word.to_bytes(8, "little") for word in given)


def one_number(seed):
    told = Told(seed)
    return told, ExactWishart(NoiseSource(told.read, "integer seed", reproducible=True), 1, 1, digits=1)


def lies_from_a_quarter_on(seed):
    """Whether the number lies in [¼, ¾], so that the first place in its cell is ¼."""
    told, one = one_number(seed)
    if one.interval(0, 0) != (Fraction(1, 16), Fraction(9, 16)):
        return False
    told.words = [0, 0]
    one.refine()
    return one.interval(0, 0)[1] < Fraction(1, 15)


SEED = next(seed for seed in range(100) if lies_from_a_quarter_on(seed))
PLACE = 2**63 + 12345
with localcontext() as context:
    context.prec = 60
    _square = (Decimal(1) / 4 + Decimal(PLACE) / Decimal(2) ** 65) ** 2
    HEIGHT = int(Decimal(2) ** 64 * (-(_square - Decimal(1) / 16) / 2).exp())


def squared(place, digits):
    return (Fraction(1, 4) + Fraction(place, 2 ** (digits + 1))) ** 2


def test_where_64_digits_leave_it_open_more_decide_and_are_kept():
    told, one = one_number(SEED)
    told.words = [PLACE, HEIGHT, 77, 0]  # 64 more digits of the place; the height is as low as it may be
    one.refine()
    assert told.words == []
    low, high = one.interval(0, 0)
    assert (low, high) == (squared(PLACE, 64), squared(PLACE + 1, 64))
    told.words = [1, 2, 3]  # a word for every number, which this one does not need; then none
    one.refine()
    assert told.words == [2, 3]
    low, high = one.interval(0, 0)
    assert (low, high) == (squared((PLACE << 64) + 77, 128), squared((PLACE << 64) + 78, 128))
    one.refine()
    assert told.words == []
    low, high = one.interval(0, 0)
    assert (low, high) == (squared((PLACE << 128) + (77 << 64) + 3, 192), squared((PLACE << 128) + (77 << 64) + 4, 192))


def test_where_64_digits_leave_it_open_and_more_refuse_another_place_is_drawn():
    told, one = one_number(SEED)
    told.words = [PLACE, HEIGHT, 0, 2**64 - 1, 5, 0]
    one.refine()
    assert told.words == []
    assert one.interval(0, 0) == (squared(5, 64), squared(6, 64))
