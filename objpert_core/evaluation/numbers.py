"""Evaluations of regressions: how many rows have which error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from objpert_core._validation import FloatArray, IntArray, in_open_unit
from objpert_core.evaluation.estimates import Estimate, average, part, proportion
from objpert_core.evaluation.evaluation import Evaluation, only
from objpert_core.learning.noise import NoiseSource

STEPS = 32
"""Steps from the smallest error to the largest; cells are the places where they meet, and one beyond either end."""
CELLS = STEPS + 3


def cells_of(errors: FloatArray, largest: float, source: NoiseSource) -> IntArray:
    """The cell of every error: one of the two places beside it, by a coin that makes the place right on average."""
    with np.errstate(over="ignore"):
        place = np.clip((errors / largest + 1) * (STEPS / 2), -0.5, STEPS + 0.5)
    coins = np.frombuffer(source.read(8 * len(place)), dtype="<u8") * 2.0**-64
    below = np.floor(place)
    cells = below + (coins < place - below) + 1
    cells[place < 0], cells[place > STEPS] = 0, CELLS - 1
    return np.asarray(cells, dtype=np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Evaluation):
    """An evaluation of a regression; made by `evaluate`, common attributes: `Evaluation`.

    An error is a target less its prediction. A row counts at one of the two of 33 equally distant places next to its
    error, by a coin. **Larger errors count as `largest_error`**: `beyond` says how many rows these are. `counts` has
    the rows beyond the left end, at the places, and beyond the right end.
    """

    KIND: ClassVar[str] = "regression"
    largest_error: float = 1.0

    @cached_property
    def places(self) -> FloatArray:
        """The errors that cells stand for."""
        return np.asarray(self.largest_error * np.clip(np.arange(-1, STEPS + 2) * (2 / STEPS) - 1, -1.0, 1.0))

    def mean_absolute_error(self) -> Estimate:
        """The mean of the errors' sizes, each at most `largest_error`."""
        return _cut(self._average(np.abs(self.places)), 0.0, self.largest_error)

    def root_mean_squared_error(self) -> Estimate:
        """The root of the mean of squared errors, each at most `largest_error`; the interval covers what places add."""
        square = (2 * self.largest_error / STEPS) ** 2
        found = self._average(self.places**2)
        ends = (found.value - square / 6, found.low - square / 4, found.high)
        return Estimate(*(math.sqrt(min(max(one, 0.0), self.largest_error**2)) for one in ends))

    def mean_error(self) -> Estimate:
        """The mean of the error, which is the bias; larger errors count as `largest_error` on their side."""
        return _cut(self._average(self.places), -self.largest_error, self.largest_error)

    def beyond(self) -> Estimate:
        """The share of rows whose error is beyond `largest_error` on either side, and is cut there."""
        return proportion(part(self.table[[0, -1]]), part(self.table[1:-1]), self.noise, self.level)

    def quantile(self, share: float) -> Estimate:
        """The error that this share of rows stays below, to within a step; `share` is strictly between 0 and 1."""
        share = in_open_unit("share", share)
        inner = range(2, CELLS)
        below = [proportion(part(self.table[:k]), part(self.table[k:]), self.noise, self.level) for k in inner]
        values = np.maximum.accumulate([one.value for one in below])
        ends, last = self.places[1:-1], len(below) - 1
        sure = np.flatnonzero([one.high < share for one in below])  # of a row that counts here the error is not above
        past = np.flatnonzero([one.low > share for one in below])  # the next place, and not below the one before
        low = ends[sure[-1]] if sure.size else ends[0]
        high = ends[min(past[0] + 1, last)] if past.size else ends[last]
        return Estimate(float(np.clip(np.interp(share, values, ends), low, high)), float(low), float(high))

    def histogram(self) -> pd.DataFrame:
        """The noisy number of rows at each place: columns ``error, rows``; the first and the last are those beyond."""
        return pd.DataFrame({"error": self.places, "rows": self.counts})

    def estimates(self) -> dict[str, Estimate]:
        return {
            f"MAE, errors cut at {self.largest_error:g}": self.mean_absolute_error(),
            f"RMSE, errors cut at {self.largest_error:g}": self.root_mean_squared_error(),
            "mean error": self.mean_error(),
            "share of cut errors": self.beyond(),
        }

    def _average(self, values: FloatArray) -> Estimate:
        return average(values, self.table, self.noise, self.level)

    @classmethod
    def own_fields(cls, values: Mapping[str, Any], cells: int) -> dict[str, Any]:
        only(values, "largest_error")
        largest = values["largest_error"]
        if type(largest) is not float or not 0 < largest < math.inf or cells != CELLS:
            raise ValueError(f"the evaluation must have a largest_error > 0 and {CELLS} counts")
        return {"largest_error": largest}


def _cut(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(*(min(max(one, low), high) for one in (estimate.value, estimate.low, estimate.high)))
