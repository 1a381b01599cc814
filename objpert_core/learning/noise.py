"""Gaussian noise from the operating system's randomness, or from a seed that somebody asked for.

A generator such as numpy's default is not cryptographic: who sees some of its output can work out the rest, and
with it the noise. Private noise therefore takes its bits from `os.urandom`. Seeded noise is for teaching and for
tests; it takes its bits from numpy and passes them through the very same transformation.

From bits to a normal number: of 64 random bits one is the sign and the other 63, as an integer k, give
u = (k + 1/2) · 2⁻⁶⁴ in (0, 1/2); the number is ∓Φ⁻¹(u). The lower tail keeps full relative precision (that is
why the sign is drawn apart) down to the smallest u = 2⁻⁶⁵, 9.1 standard deviations out; the distribution differs
from the normal one by less than 2⁻⁵² in total variation, far below any δ in use. Like every sampler that works
in doubles it does not defend against attacks on the last bits of floating-point numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from objpert_core._validation import FloatArray, random_state_argument


@dataclass(frozen=True)
class NoiseSource:
    """Standard normal numbers and where their bits come from.

    Attributes
    ----------
    read : callable
        ``read(count)`` returns that many random bytes.
    origin : str
        What a certificate says of the source; never the seed itself.
    reproducible : bool
        True where somebody could draw the same noise again, and so subtract it.
    """

    read: Callable[[int], bytes]
    origin: str
    reproducible: bool

    def standard_normal(self, size: int) -> FloatArray:
        """`size` independent N(0, 1) numbers, shape (size,)."""
        words = np.frombuffer(self.read(8 * size), dtype="<u8")
        magnitude = -ndtri(((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64)
        return np.where(words & np.uint64(1), magnitude, -magnitude)


def noise_source(random_state: int | np.random.RandomState | np.random.Generator | None = None) -> NoiseSource:
    """The source of noise that a `random_state` argument asks for.

    Parameters
    ----------
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator
        None reads `os.urandom`. Everything else can be replayed and is marked `reproducible`: whoever knows it
        can subtract the noise, so it protects nobody.

    Returns
    -------
    NoiseSource

    Raises
    ------
    ValueError
        For any other `random_state`.

    Examples
    --------
    >>> noise_source().origin
    'operating system'
    >>> noise_source(7).standard_normal(2).shape
    (2,)
    """
    state = random_state_argument("random_state", random_state)
    if state is None:
        return NoiseSource(os.urandom, "operating system", reproducible=False)
    if isinstance(state, int):
        return NoiseSource(np.random.default_rng(state).bytes, "integer seed", reproducible=True)
    return NoiseSource(state.bytes, f"numpy {type(state).__name__}", reproducible=True)
