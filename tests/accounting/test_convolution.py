"""Discretised privacy loss distributions: they bound the true profile of their direction from the side they promise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

from objpert_core.accounting import DPSGD, Gaussian, ObjectivePerturbation, compose, repeat
from objpert_core.accounting.convolution.discretise import Tilted, discretise
from objpert_core.accounting.convolution.distribution import DiscretePLD
from objpert_core.accounting.convolution.fft import _convolve, transform_error
from objpert_core.accounting.laws.base import GaussianLoss
from tests.second_opinion.batches import added
from tests.second_opinion.definition import Product
from tests.second_opinion.gaussian import shifted
from tests.second_opinion.objective import logistic, two_signed, with_noise

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0])
GLM, GLM_LAW = ObjectivePerturbation(5.0, 2.0, bound="glm"), two_signed(0.2, -math.log1p(-0.125))
TIGHT, TIGHT_LAW = ObjectivePerturbation(3.0, 1.5), logistic(1 / 3, 1 / 1.5)
RUN, (REMOVED, ADDED) = DPSGD(1.0, 0.2, 2), added(1.0, 0.2)
CASES = {
    "Gaussian": (Gaussian(2.0), "remove", shifted(0.5)),
    "2 Gaussian": (repeat(Gaussian(2.0), 2), "add", shifted(0.5 * math.sqrt(2))),
    "glm": (GLM, "remove", GLM_LAW),
    "2 glm": (repeat(GLM, 2), "add", Product(((GLM_LAW, 2),))),
    "2 logistic": (repeat(TIGHT, 2), "remove", Product(((TIGHT_LAW, 2),))),
    "glm + Gaussian": (compose(GLM, Gaussian(2.0)), "remove", with_noise(GLM_LAW, 0.5)),
    "DP-SGD, removal": (RUN, "remove", Product(((REMOVED, 2),))),
    "DP-SGD, addition": (RUN, "add", Product(((ADDED, 2),))),
}


def truth(definition):
    """δ from below and from above."""
    return np.exp(np.transpose([definition.log_delta(epsilon) for epsilon in EPSILONS]))


@pytest.mark.slow
@pytest.mark.parametrize("interval", [None, 0.02, 0.3])
@pytest.mark.parametrize("name", CASES)
def test_brackets_the_truth(name, interval):
    mechanism, direction, definition = CASES[name]
    exact, most = truth(definition)
    above, below = (mechanism.pld(interval, direction, pessimistic=side) for side in (True, False))
    # far below the round-off of a transform δ has no digits here; `delta_bounds` is made for that
    assert (above.delta(EPSILONS) >= exact * (1 - 1e-9)).all()
    assert (below.delta(EPSILONS) <= most * (1 + 1e-9)).all()
    if interval is None:
        seen = exact > 1e-6
        np.testing.assert_allclose(above.delta(EPSILONS)[seen], exact[seen], rtol=1e-3)
        np.testing.assert_allclose(below.delta(EPSILONS)[seen], exact[seen], rtol=1e-2)


@pytest.mark.parametrize("interval", [None, 0.01, 0.3])
def test_round_off_does_not_lower_one_step(interval):
    """A sum of masses that is off in its last digit is a promise that is too small."""
    exact = Gaussian(2.0).delta(EPSILONS)  # to 1e-13 of its size
    assert (Gaussian(2.0).pld(interval).delta(EPSILONS) >= exact * (1 + 1e-13)).all()
    assert (Gaussian(2.0).pld(interval, pessimistic=False).delta(EPSILONS) <= exact * (1 - 1e-13)).all()


@dataclass(frozen=True)
class Gap(GaussianLoss):
    """A Gaussian law whose density is not told between 2 and 3."""

    def log_density(self, v, omega):
        return np.where((v > 2) & (v < 3), -np.inf, super().log_density(v, omega))


def test_mass_that_a_quadrature_misses_is_taken_for_the_worst():
    upper, _ = discretise(Gap(0.5), 1, 0.01, 0.0, 0.0, (-8.0, 8.0))
    assert np.exp(upper.log_infinite) == pytest.approx(ndtr(-2) - ndtr(-3), rel=0.05)
    assert upper.masses.sum() + np.exp(upper.log_infinite) == pytest.approx(1.0, abs=1e-12)


def test_the_interval_is_the_median_one_and_1_where_there_is_a_single_loss():
    uneven = np.array([0.0, 0.1, 0.2, 0.4])
    for losses, interval in ((uneven, 0.1), (uneven[:1], 1.0)):
        assert DiscretePLD(losses, losses, 0.0, 0.0, True, "remove").interval == interval


SIZES = [2, 32, 250, 486, 1024, 1250, 4374, 6250, 8192, 27000, 65536]
LARGE = [98304, 131072, 180000, 156250, 354294, 524288, 1048576, 2 * next_fast_len(500_001, real=True)]
EXTENDED = np.finfo(np.longdouble).eps < 1e-18


def vectors(size, rng):
    """An impulse, noise of both kinds, a fast decay, a bell."""
    place = np.arange(size)
    bell = np.exp(-np.square(place - size / 2) / size)
    return [
        np.eye(1, size, int(rng.integers(size)))[0],
        rng.random(size),
        rng.standard_normal(size),
        np.exp(-place / 7),
        bell,
    ]


@pytest.mark.skipif(not EXTENDED, reason="long double is no wider than double here")
@pytest.mark.parametrize("size", [*SIZES, *(pytest.param(size, marks=pytest.mark.exhaustive) for size in LARGE)])
def test_transforms_are_as_exact_as_promised(size):
    """Both norms, both directions; and not so far from it that the bound would not notice another library."""
    rng, allowed, seen = np.random.default_rng(size), transform_error(size), 0.0
    for x in vectors(size, rng):
        found, exact = rfft(x), rfft(x.astype(np.longdouble))
        off = np.abs(found - exact)
        largest = float(off.max() / np.abs(x).sum())
        norm = float(np.linalg.norm(off) / np.linalg.norm(np.abs(exact)))
        back = irfft(found.astype(np.clongdouble), size)
        inverse = float(np.linalg.norm((irfft(found, size) - back).astype(float)) / np.linalg.norm(back.astype(float)))
        seen = max(seen, largest, norm, inverse)
    assert seen <= allowed
    assert size < 100 or seen > allowed / 200


@pytest.mark.thorough
@pytest.mark.skipif(not EXTENDED, reason="long double is no wider than double here")
@pytest.mark.parametrize("size", [486, 8192, 6250, 27000])
def test_roots_of_unity_are_better_than_assumed(size):
    """The transform of an impulse is a product of roots, one a stage: 6 + √5 units each would be allowed."""
    left, stages = size, 0
    for radix in (4, 2, 3, 5):
        while left % radix == 0:
            left, stages = left // radix, stages + 1
    worst = 0.0
    for place in np.random.default_rng(5).integers(size, size=60):
        x = np.eye(1, size, int(place))[0]
        worst = max(worst, float(np.abs(rfft(x) - rfft(x.astype(np.longdouble))).max()))
    assert worst <= 4 * stages * 2.0**-53


def exact_power(masses, count, size):
    """The count-fold convolution of integers modulo `size`, exactly: a power of one long integer."""
    width = 8 * ((int(masses.sum()) ** count).bit_length() // 8 + 1)
    packed = int.from_bytes(b"".join(int(m).to_bytes(width // 8, "little") for m in masses), "little") ** count
    raw = packed.to_bytes(width // 8 * (count * masses.size + 1), "little")
    folded = [0] * size
    for i in range(0, len(raw), width // 8):
        folded[i // (width // 8) % size] += int.from_bytes(raw[i : i + width // 8], "little")
    return folded


CASES_FFT = [(32, 5, 2), (54, 40, 3), (250, 90, 4), (486, 300, 2), (1024, 700, 3), (1250, 20, 16)]
LARGE = pytest.param(4096, 100, 32, marks=pytest.mark.slow)


@pytest.mark.parametrize(("size", "width", "count"), [*CASES_FFT, LARGE])
@pytest.mark.parametrize("shape", ["noise", "bell", "spike"])
def test_masses_are_as_close_as_promised_to_exact_ones(size, width, count, shape):
    """Masses that are whole numbers: their convolution is one of long integers, which nothing rounds."""
    rng, place = np.random.default_rng(size + width), np.arange(width)
    weights = {
        "noise": rng.random(width),
        "bell": np.exp(-np.square(place - width / 2) / width),
        "spike": np.where(place == 1, 1.0, 1e-9),
    }[shape]
    masses = np.maximum(np.rint(weights * 2**30), 1.0)
    found, error = _convolve([Tilted(0.0, 0.1, 0, masses, count)], size)
    total = int(masses.sum()) ** count
    off = math.fsum(
        abs(float(Fraction(float(mass)) - Fraction(exact, total)))
        for mass, exact in zip(found, exact_power(masses, count, size), strict=True)
    )
    assert off <= error + count * 2.0**-52  # the masses are divided by their sum, which is rounded
    assert error < 1e-10
    assert off > error / 3000


def test_two_kinds_of_losses_against_exact_integers():
    rng, size = np.random.default_rng(8), 900
    first, second = (np.rint(rng.random(width) * 2**20) + 1 for width in (200, 31))
    found, error = _convolve([Tilted(0.0, 0.1, 0, first, 2), Tilted(0.0, 0.1, 0, second, 3)], size)
    whole = np.convolve(
        np.array(exact_power(first, 2, size), dtype=object), np.array(exact_power(second, 3, size), dtype=object)
    )
    folded = [sum(whole[i::size]) for i in range(size)]
    total = int(first.sum()) ** 2 * int(second.sum()) ** 3
    off = sum(abs(Fraction(float(m)) - Fraction(int(e), total)) for m, e in zip(found, folded, strict=True))
    assert off <= error + 5 * 2.0**-52
    assert error < 1e-11
