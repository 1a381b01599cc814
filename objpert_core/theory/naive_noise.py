"""A textbook sampler of normal numbers, and the attack of Mironov (2012) on a minimiser whose tilt came from it.

A uniform number k·2⁻⁵³ passed through Φ⁻¹ is how normal numbers are made in textbooks. So a minimiser can be one of
(2⁵³)^D points, another such set for every data set. An attacker who knows all rows but one counts, for either data
set, the draws that lead to exactly the published double; for the wrong one the count is zero, as a rule. ε does not
enter. `objpert_core.learning.noise` has noise against which this attack has nothing to find.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import expit, ndtr, ndtri

from objpert_core._validation import FloatArray, IntArray
from objpert_core.theory.minimiser_law import MinimiserLaw, log_odds

WORDS = 2**53
"""How many uniform numbers there are, 0 included, which is not used."""
_MARGIN = 4  # words beyond those that fit, at least
_WIDEST = 48  # beyond, a double has so many words that their number is its density


def textbook_normal(words: IntArray) -> FloatArray:
    """Φ⁻¹(k·2⁻⁵³) for whole numbers k from 1 to 2⁵³ − 1: normal numbers, as far as a statistical test can tell."""
    return np.asarray(ndtri(words * (1 / WORDS)))


def naive_release(law: MinimiserLaw, words: IntArray) -> FloatArray:
    """The minimiser for the tilt σ·Φ⁻¹(k·2⁻⁵³), to the last digit; words and answer have shape (…, D)."""
    return law.minimiser(law.sigma * textbook_normal(words))


def random_words(count: int, dimension: int, random: np.random.Generator) -> IntArray:
    """Words for `count` releases, shape (count, dimension)."""
    return np.asarray(random.integers(1, WORDS, (count, dimension)), dtype=np.int64)


def preimages(law: MinimiserLaw, theta: FloatArray) -> int | None:
    """How many words lead to exactly this published θ, shape (D,), under `law`; None where they are too many to try.

    All words near the tilt −∇J(θ) are tried, and more as long as one close to the edge fits.

    >>> law = MinimiserLaw([[0.6, 0.8, 0.0], [-1.0, 0.0, 0.0]], [1, -1], sigma=2.0, lam=1.0)
    >>> theta = naive_release(law, np.array([2**51 + 1, 2**52 + 12345, 2**50 - 3]))
    >>> preimages(law, theta) >= 1, preimages(law, np.nextafter(theta, 9.0))
    (True, 0)
    """
    normal = -law.gradient(theta) / law.sigma
    middle = np.floor(ndtr(normal) * WORDS).astype(np.int64)
    summed = np.abs(law.rows).sum(axis=0) + np.abs(law.lam * theta) + np.abs(law.sigma * normal)
    words = np.exp(-np.square(normal) / 2) / math.sqrt(2 * math.pi) * summed / law.sigma  # that rounding may move it by
    window = _MARGIN + math.ceil(float(words.max()))
    while window <= _WIDEST:
        steps = np.arange(-window, window + 1)
        near = middle + np.array(list(itertools.product(steps, repeat=law.dimension)))
        near = near[((near > 0) & (near < WORDS)).all(axis=1)]
        fits = (naive_release(law, near) == theta).all(axis=1)
        if np.abs(near[fits] - middle).max(initial=0) <= window - _MARGIN:
            return int(fits.sum())
        window *= 2
    return None


def digits_posterior(joined: MinimiserLaw, left: MinimiserLaw, theta: FloatArray) -> float:
    """The chance that θ, published with textbook noise, came from `joined`, where `left` was as likely before.

    The odds are those of the numbers of words that lead to θ, of shape (D,); where none does, or too many to count, the
    densities decide. Mironov (2012), "On significance of the least significant bits for differential privacy".

    >>> left = MinimiserLaw([[0.6, 0.8, 0.0], [-1.0, 0.0, 0.0]], [1, -1], sigma=20.0, lam=1.0)
    >>> joined = left.add([0.6, 0.0, 0.8], -1)
    >>> digits_posterior(joined, left, naive_release(joined, np.array([2**50 + 7, 2**52 - 99991, 2**49])))
    1.0
    """
    first, second = preimages(joined, theta), preimages(left, theta)
    if first is None or second is None or first + second == 0:
        return float(expit(log_odds(joined, left, theta)))
    return first / (first + second)
