"""Training by DP-SGD: per-example clipping in closed form, Gaussian noise on the sum, many candidates at once.

The gradient of one row of a generalised linear model is f'(u)·x̃, of norm |f'(u)|·‖x̃‖: clipping it to norm C is
clipping the slope to ±C/‖x̃‖, so no per-example gradient is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict

import numpy as np

from objpert_core._validation import (
    FloatArray,
    IntArray,
    choice,
    length,
    nonnegative,
    positive,
    positive_array,
    positive_integer,
    rate,
)
from objpert_core.learning.dp_sgd.optimizers import OPTIMIZERS
from objpert_core.learning.lattice import power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource, with_noise
from objpert_core.learning.problem.rounding import UNIT, gamma
from objpert_core.learning.problem.rows import Rows, row_radius
from objpert_core.learning.sampling import Streams, allocated_batches, poisson_batches

StepCallback = Callable[[int, float], object]

POISSON, ALLOCATION = "poisson", "allocation"
SAMPLINGS = (POISSON, ALLOCATION)
"""How batches are drawn: each row by its own coin in each step, or each row in one step of each epoch."""

_BATCHES, _NOISE = 0, 1  # names of streams
_CHUNK_BYTES = 2**20  # rows of a batch are gathered and used while they are in the processor's cache
_NOISE_NUMBERS = 2**15  # of one candidate's, drawn at once
_ROOM = 2.0**-16  # of C: what arithmetic may add to a row's influence on a sum, a sixteenth of it by the lattice
_LARGEST_RATIO = 2.0**48  # of the noise to the lattice's spacing: whole numbers so large are exact in doubles
_DROWNED = 2.0**40  # times C: where arithmetic may add more than that, a sum is left out of the noise
LARGEST_RATE = 1e9  # with that weights stay far from overflow, as noise is made larger by `_DROWNED` at most


def learning_rates_array(name: str, value: Any) -> FloatArray:
    """`value` as a float array; `ValueError` unless every entry is a number > 0 and at most `LARGEST_RATE`."""
    rates = positive_array(name, value)
    if rates.size and rates.max() > LARGEST_RATE:
        raise ValueError(f"{name} must be at most {LARGEST_RATE:g}, got {float(rates.max())!r}")
    return rates


def _chunk_rows(rows: Rows) -> int:
    return 4096 if rows.sparse else max(64, _CHUNK_BYTES // (8 * rows.dimension))


def sum_spacing(clip: float, dimension: int) -> float:
    """Choose the lattice of the clipped sums: a power of two, at most 2⁻²⁰·C/√D."""
    return power_of_two(2.0**-20 * clip / math.sqrt(dimension))


def fine_enough(spacing: float, clip: float, noise_multiplier: float, dimension: int) -> bool:
    """Say whether rounding every step's sum to a lattice of this `spacing` is covered: h√D ≤ 2⁻²⁰·C and σ/h ≤ 2⁵²."""
    return spacing <= sum_spacing(clip, dimension) and noise_multiplier * clip <= LARGEST_RATIO * spacing


@dataclass(frozen=True)
class Schedule:
    """How DP-SGD walks through the data, all of it public: by coins of `sample_rate`, or in one of each t = `per_epoch`
    steps; the noisy sum is divided by `batch_size`.
    """

    sample_rate: float
    steps: int
    batch_size: float
    per_epoch: int | None = None

    @classmethod
    def of_epochs(cls, n_rows: float, batch_size: int, epochs: int, sampling: str = "poisson") -> Schedule:
        """q = batch_size/n, at most 1, and epochs · t steps, t = ⌈n/batch_size⌉; q = 1/t for random allocation.

        `n_rows` is the public number of rows; of a training part the expected one, since the actual number is private.
        """
        rows, size = positive("n_rows", n_rows), positive_integer("batch_size", batch_size)
        per_epoch = math.ceil(rows / size)
        steps = positive_integer("epochs", epochs) * per_epoch
        if choice("sampling", sampling, SAMPLINGS) == ALLOCATION:
            return cls(1 / per_epoch, steps, rows / per_epoch, per_epoch)
        sample_rate = min(1.0, size / rows)
        return cls(sample_rate, steps, sample_rate * rows)

    @property
    def sampling(self) -> str:
        """How batches are drawn, one of `SAMPLINGS`."""
        return POISSON if self.per_epoch is None else ALLOCATION

    def batches(self, source: NoiseSource, n_rows: int) -> Iterator[IntArray]:
        """Draw the batches of all steps, among rows 0 … n_rows − 1."""
        if self.per_epoch is None:
            return poisson_batches(source, n_rows, rate("sample_rate", self.sample_rate), self.steps)
        return allocated_batches(source, n_rows, self.per_epoch, self.steps // self.per_epoch)


class Gradients:
    """Clipped gradients of the logistic loss with a margin, summed over a batch, for several candidates."""

    def __init__(self, rows: Rows, targets: FloatArray, clip: float, margin: float = 0.0) -> None:
        self.rows = rows
        self._shift = margin * targets if margin else None
        self._matrix: Any = rows.matrix if rows.sparse else np.ascontiguousarray(rows.matrix)
        self._targets = targets
        clips = clip < row_radius(rows.constant)
        self._slopes = rows.slopes_of_norm(clip) if clips else None
        self._chunk = _chunk_rows(rows)

    def total(self, batch: IntArray, weights: FloatArray) -> FloatArray:
        """Σ over the batch of the clipped gradients at each of the columns of `weights`, shape (D, G)."""
        result = np.zeros(weights.shape)
        for start in range(0, len(batch), self._chunk):
            self._add(batch[start : start + self._chunk], weights, result)
        return result

    def _add(self, part: IntArray, weights: FloatArray, result: FloatArray) -> None:
        rows, d = self.rows, self.rows.n_features
        block = self._matrix[part] if rows.sparse else self._matrix.take(part, axis=0)
        if block.dtype != np.float64:
            block = block.astype(np.float64)
        factors = rows.factors.take(part)[:, None]
        scores = block @ weights[:d]
        scores *= factors
        if rows.constant:
            scores += rows.constant * weights[-1]
        slopes = self.slopes_at(part, scores)
        if self._slopes is not None:
            bound = self._slopes.take(part)[:, None]
            np.clip(slopes, -bound, bound, out=slopes)
        if rows.constant:
            result[-1] += rows.constant * slopes.sum(axis=0)
        slopes *= factors
        result[:d] += block.T @ slopes

    def slopes_at(self, part: IntArray, scores: FloatArray) -> FloatArray:
        """f' of the rows `part` at `scores`, shape (rows, G), which may be overwritten."""
        if self._shift is not None:
            scores -= self._shift.take(part)[:, None]
        # f' = −t·expit(k − t·u) = (tanh((u − t·k)/2) − t)/2, three times quicker; never beyond ±1
        scores *= 0.5
        slopes = np.tanh(scores, out=scores)
        slopes -= self._targets.take(part)[:, None]
        slopes *= 0.5
        return slopes


class NoisySums:
    """Noise for the sums of clipped gradients: rounding to a lattice, and normal noise rounded to it.

    As computed and rounded, a sum moves by more than C when a row joins: `off` bounds what arithmetic adds, and the
    noise is wider by a factor of 1 + 2⁻¹⁶ for it. Where weights are so large that this is not enough, the sum is made
    smaller before the noise and larger again after it, or the step is noise alone. The noise depends on the rows' norm
    bound and storage alone; nothing else may be read off the rows here (docs/theorems.md, T16 and T29).
    """

    def __init__(
        self,
        rows: Rows,
        clip: float,
        noise_multiplier: float,
        expected_rows: float,
        sources: Sequence[NoiseSource],
        *,
        n_rows: int,
        margin: float = 0.0,
        smoothness: float = 0.25,
        slope: float = 1.0,
    ) -> None:
        self._most = most = 2 * max(2**16, math.ceil(expected_rows))
        if n_rows > most:
            raise ValueError(
                f"public_rows must be at least half the number of rows, got {expected_rows:g} for {n_rows}"
            )
        self._clip, self._sources, self._dimension, self._margin = clip, sources, rows.dimension, margin
        radius, chunk = row_radius(rows.constant), _chunk_rows(rows)
        # What a row that joins may change besides its own gradient, for each row of the batch: all others' slopes, by
        # twice their error, and what summing rounds off, before and after.
        self._radius, self._slope_off = radius, 2 * smoothness * gamma(rows.dimension + 8) * radius
        self._row_off = 2 * gamma(chunk + most // chunk + 8) * clip + 32 * UNIT * slope * radius
        self._spacing = sum_spacing(clip, rows.dimension)
        self._ratio = noise_multiplier * clip * (1 + _ROOM) / self._spacing
        if self._ratio > _LARGEST_RATIO:
            most_noise = noise_multiplier * _LARGEST_RATIO / self._ratio
            raise ValueError(f"noise_multiplier must be at most {most_noise:.3g}, got {noise_multiplier!r}")
        self._ahead: FloatArray = np.empty((0, 0, 0))

    def off(self, weights: FloatArray) -> FloatArray:
        """By how much more than C a row can move a computed sum at each column of `weights`, shape (G,)."""
        with np.errstate(over="ignore", invalid="ignore"):  # inf and NaN are for `add` to find
            lengths = np.sqrt(np.square(weights).sum(axis=0)) * (1 + gamma(self._dimension + 2))
            return np.asarray(self._most * (self._slope_off * (self._radius * lengths + self._margin) + self._row_off))

    def add(self, totals: FloatArray, weights: FloatArray, step: int, steps: int) -> None:
        """Round `totals`, shape (D, G), computed at `weights`, and add noise to them, in place."""
        off = self.off(weights)
        drowned = ~(off <= _DROWNED * self._clip)
        totals[:, drowned] = 0.0  # they may be NaN for some rows and not for others
        off[drowned] = 0.0
        shrink = np.minimum(1.0, (1 + _ROOM * 15 / 16) / (1 + off / self._clip) * (1 - 16 * UNIT))
        totals *= shrink / self._spacing
        np.rint(totals, out=totals)
        with_noise(totals, self._noise(step, steps), out=totals)
        totals *= self._spacing / shrink

    def _noise(self, step: int, steps: int) -> FloatArray:
        """The noise of one step; of many steps some are drawn at once."""
        at_once = max(1, _NOISE_NUMBERS // self._dimension)
        if step % at_once == 0:
            count = min(at_once, steps - step)
            drawn = [source.rounded_normal(self._ratio, count * self._dimension) for source in self._sources]
            self._ahead = np.stack([one.reshape(count, -1) for one in drawn], axis=2).astype(np.float64)
        return self._ahead[step % at_once]


class TrainingOptions(TypedDict, total=False):
    """The arguments of `train_candidates` that whatever chooses among its runs passes on."""

    noise_multiplier: Required[float]
    clip: float | None
    margin: float
    optimizer: str
    streams: Streams | None
    members: IntArray | None


def train_candidates(
    rows: Rows,
    targets: FloatArray,
    learning_rates: Sequence[float] | FloatArray,
    schedule: Schedule,
    *,
    noise_multiplier: float,
    clip: float | None = None,
    margin: float = 0.0,
    optimizer: str = "adam",
    streams: Streams | None = None,
    members: IntArray | None = None,
    callback: StepCallback | None = None,
) -> FloatArray:
    """DP-SGD from 0 with every learning rate, on the same batches, with noise of its own; last iterates, shape (G, D).

    Each iterate alone satisfies what the accountant says of one run; together, or after a choice that looks at private
    rows, they do not. `clip` is by default R = √(1 + s²). A candidate's noise depends on the seed and on its learning
    rate alone. Batches are drawn among `members`, whose number may be private: sums are divided by the schedule's
    expected size. ``callback(step, gradient_norm)`` gets the smallest norm. Abadi et al. (2016), Algorithm 1.
    """
    etas = learning_rates_array("learning_rates", np.atleast_1d(np.asarray(learning_rates)))
    multiplier = nonnegative("noise_multiplier", noise_multiplier)
    norm = row_radius(rows.constant) if clip is None else length("clip", clip)
    margin = nonnegative("margin", margin)
    kind = OPTIMIZERS[choice("optimizer", optimizer, tuple(OPTIMIZERS))]
    streams = Streams() if streams is None else streams
    n_rows = rows.n_rows if members is None else len(members)

    shape = rows.dimension, len(etas)
    gradients, moves = Gradients(rows, targets, norm, margin), kind(shape, etas)
    sources = [streams.stream(_NOISE, int(bits)) for bits in etas.view(np.uint64)]
    expected_rows = schedule.batch_size / schedule.sample_rate
    noise = (
        NoisySums(rows, norm, multiplier, expected_rows, sources, n_rows=n_rows, margin=margin) if multiplier else None
    )
    for step, batch in enumerate(schedule.batches(streams.stream(_BATCHES), n_rows)):
        total = gradients.total(batch if members is None else members[batch], moves.weights)
        if noise is not None:
            noise.add(total, moves.weights, step, schedule.steps)
        total /= schedule.batch_size
        reached = None if callback is None else float(np.sqrt(np.square(total).sum(axis=0).min()))
        moves.step(total)
        if callback is not None and reached is not None:
            callback(step + 1, reached)
    return moves.weights.T.copy()
