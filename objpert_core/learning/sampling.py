"""Chance for DP-SGD: batches by Poisson sampling, coins, and the number of runs, from a `NoiseSource`'s bits.

From bits to an exponential number: of 64 random bits one chooses a half and the other 63, as an integer k, give
v = (k + 1/2) · 2⁻⁶⁴ in (0, 1/2); the number is −log v or −log(1 − v). Both ends keep full relative precision; the
largest number is 45.05. Everything else here is made of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from objpert_core._validation import FloatArray, IntArray, positive, random_state_argument, rate
from objpert_core.learning.noise import NoiseSource, noise_source

_BLOCK = 2**15  # rows drawn at once, about


class Streams:
    """Independent noise sources with names, from one `random_state`.

    Without a seed every stream is the operating system. With one, stream ``(a, b, …)`` depends on the seed and on
    its name only, so that what is drawn from one stream does not move another.

    Parameters
    ----------
    random_state : None, int, RandomState or Generator
        As for `noise_source`; a RandomState or Generator gives 32 bytes, once, and is not used again.
    name : tuple of int, optional
        Put in front of every name.

    Raises
    ------
    ValueError
        Where `noise_source` refuses the `random_state`.

    Examples
    --------
    >>> one, same = Streams(7).stream(1), Streams(7).stream(1)
    >>> bool(np.all(one.standard_normal(3) == same.standard_normal(3)))
    True
    """

    def __init__(
        self,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        name: tuple[int, ...] = (),
    ) -> None:
        self._root = noise_source(random_state_argument("random_state", random_state))
        self._name = name
        self._entropy = int.from_bytes(self._root.read(32), "little") if self._root.reproducible else None

    @property
    def origin(self) -> str:
        """What a certificate says of the source; never the seed itself."""
        return self._root.origin

    @property
    def reproducible(self) -> bool:
        """True where somebody could draw the same numbers again."""
        return self._root.reproducible

    def below(self, *name: int) -> Streams:
        """The streams whose names start with `name`."""
        other = Streams.__new__(Streams)
        other._root, other._entropy, other._name = self._root, self._entropy, (*self._name, *name)
        return other

    def stream(self, *name: int) -> NoiseSource:
        """The stream called `name`, from its start (the operating system has none)."""
        if self._entropy is None:
            return self._root
        seed = np.random.SeedSequence(self._entropy, spawn_key=(*self._name, *name))
        return NoiseSource(np.random.default_rng(seed).bytes, self.origin, reproducible=True)


def exponentials(source: NoiseSource, size: int) -> FloatArray:
    """`size` independent numbers with density e^{−x}, shape (size,)."""
    words = np.frombuffer(source.read(8 * size), dtype="<u8")
    half = ((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64
    return -np.where(words & np.uint64(1), np.log(half), np.log1p(-half))


def selected(source: NoiseSource, n: int, probability: float) -> IntArray:
    """The numbers among 0 … n − 1 whose own coin, each with that `probability`, fell heads; sorted.

    The gaps between them are geometric, 1 + ⌊E/−log(1 − p)⌋ with E exponential, so about p·n random numbers are used
    instead of n. Rounding: with k rows passed over since the last one taken, the next is taken with probability
    p·(1 ± (k + 2)·2⁻⁵¹), and gaps end at 45/p; at p = 0.01 that is relatively 2⁻⁴⁴ for a typical gap, as if the privacy
    accountant had been given p with an error in its fourteenth digit, where the calibration keeps five in reserve.

    Parameters
    ----------
    source : NoiseSource
    n : int >= 0
    probability : float in (0, 1]

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> selected(NoiseSource(bytes, "zeros", True), 4, 1.0).tolist()
    [0, 1, 2, 3]
    """
    if probability == 1:
        return np.arange(n)
    scale = -1 / math.log1p(-probability)
    found, position = [], -1.0
    while position < n:
        expected = (n - position) * probability
        size = int(expected + 4 * math.sqrt(expected)) + 8
        places = position + np.cumsum(1.0 + np.floor(exponentials(source, size) * scale))
        found.append(places)
        position = float(places[-1])
    places = np.concatenate(found)
    return places[places < n].astype(np.intp)


def poisson_batches(source: NoiseSource, n_rows: int, sample_rate: float, steps: int) -> Iterator[IntArray]:
    """The batches of DP-SGD: in each of `steps` steps every row joins with probability `sample_rate`.

    The steps' rows are laid end to end and drawn from as one line by `selected`, a block of steps at a time.

    Parameters
    ----------
    source : NoiseSource
    n_rows, steps : int
    sample_rate : float in (0, 1]

    Yields
    ------
    ndarray of int
        Sorted row numbers, possibly none.

    Examples
    --------
    >>> [len(batch) for batch in poisson_batches(noise_source(0), 5, 1.0, 2)]
    [5, 5]
    """
    rate("sample_rate", sample_rate)
    at_once = max(1, min(int(_BLOCK / max(1.0, n_rows * sample_rate)), 2**40 // max(1, n_rows)))
    for start in range(0, steps, at_once):
        count = min(at_once, steps - start)
        places = selected(source, n_rows * count, sample_rate)
        ends = np.searchsorted(places, n_rows * np.arange(1, count + 1))
        for step, batch in enumerate(np.split(places, ends[:-1])):
            yield batch - n_rows * step


def poisson_count(source: NoiseSource, mean: float) -> int:
    """Draw a number with the Poisson law: how many exponential waiting times fit into `mean`.

    Parameters
    ----------
    source : NoiseSource
    mean : float > 0

    Raises
    ------
    ValueError
        If the mean is not a finite number > 0.

    Examples
    --------
    >>> poisson_count(noise_source(0), 1e-9)
    0
    """
    left, count = positive("mean", mean), 0
    while True:
        sums = np.cumsum(exponentials(source, int(left) + 16))
        within = int(np.searchsorted(sums, left, side="right"))
        count += within
        if within < sums.size:
            return count
        left -= float(sums[-1])


def uniform_choices(source: NoiseSource, options: int, size: int) -> IntArray:
    """Draw `size` independent numbers from 0 … options − 1; their probabilities differ by less than 2⁻⁶⁴.

    Parameters
    ----------
    source : NoiseSource
    options, size : int

    Returns
    -------
    ndarray of int, shape (size,)

    Examples
    --------
    >>> uniform_choices(noise_source(0), 1, 3).tolist()
    [0, 0, 0]
    """
    words = np.frombuffer(source.read(8 * size), dtype="<u8")
    return (words % np.uint64(options)).astype(np.intp)
