"""Random allocation: every row is used in a fixed number of the steps of an epoch, drawn at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from objpert_core._validation import FloatArray, between, check_fields, positive_integer
from objpert_core.accounting.convolution import sums
from objpert_core.accounting.convolution.discretise import TooFineError
from objpert_core.accounting.dp_sgd.allocation_sums import allocated
from objpert_core.accounting.laws.base import GaussianLoss, Steps
from objpert_core.accounting.mechanisms.base import with_infinities
from objpert_core.accounting.mechanisms.composition import RELATIVE_WIDTH, ByConvolution
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics import gaussian as gauss

_SHARES = (1e-12, 1e-9, 1e-6)  # δ for every step: where the smallest one that is resolved is looked for


@dataclass(frozen=True)
class RandomAllocation(ByConvolution):
    """DP-SGD whose rows are shuffled into steps: in each epoch a row is in `selections` of the `steps` noisy sums.

    Adjacency is `ADD_REMOVE`. Feldman and Shenfeld (2025) for the pair of one selection, which is attained, and for k
    selections as compositions of one of ⌊t/k⌋ or ⌈t/k⌉ steps; docs/theorems.md, T28, for the bounds on its law. δ is
    accounted for down to about 1e-13 for every step, and an ε for a smaller δ is that of `selections` · `epochs` steps
    of the Gaussian mechanism. Beyond the last ε that is resolved, δ stays what it is at that ε.

    Parameters
    ----------
    noise_multiplier : float from 1e-100 to 1e100
        Standard deviation of the noise on each sum, divided by the clipping norm of one row.
    steps : int >= 1
        t, of one epoch.
    selections : int from 1 to `steps`
        In how many different steps of an epoch a row is used, drawn uniformly for each row on its own.
    epochs : int >= 1

    Examples
    --------
    >>> allocated = RandomAllocation(noise_multiplier=1.0, steps=100, epochs=5)
    >>> from objpert_core.accounting import DPSGD
    >>> poisson = DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=500)
    >>> low, high = allocated.epsilon_bounds(1e-5)
    >>> 0.99 * high < low < high <= allocated.epsilon(1e-5) < poisson.epsilon(1e-5)
    True
    """

    noise_multiplier: float
    steps: int
    selections: int = 1
    epochs: int = 1

    def __post_init__(self) -> None:
        check_fields(self, between(1e-100, 1e100), "noise_multiplier")
        check_fields(self, positive_integer, "steps", "selections", "epochs")
        if self.selections > self.steps:
            raise ValueError(f"selections must be at most steps = {self.steps}, got {self.selections!r}")

    @property
    def _a(self) -> float:
        return 1 / self.noise_multiplier

    @property
    def _times(self) -> int:
        return self.selections * self.epochs

    @property
    def _blocks(self) -> list[tuple[int, int]]:
        """(t, count): how many selections, over all epochs, are drawn from t steps."""
        size, more = divmod(self.steps, self.selections)
        blocks = [(size, self.selections - more), (size + 1, more)]
        return [(steps, count * self.epochs) for steps, count in blocks if count]

    @property
    def gaussian_ratio(self) -> float | None:
        """A row that is used in every step is hidden by the Gaussian mechanism."""
        return self._a * math.sqrt(self._times) if self.selections == self.steps else None

    def losses(self, direction: str = "remove") -> Steps:
        """The losses of all selections, rounded up; where no grid is fine enough, of all steps with the row."""
        if (a := self.gaussian_ratio) is not None:
            return ((GaussianLoss(a), 1),)
        try:
            return tuple(
                (allocated(self._a, steps, direction, True).loss if steps > 1 else GaussianLoss(self._a), count)
                for steps, count in self._blocks
            )
        except TooFineError:
            return ((GaussianLoss(self._a * math.sqrt(self._times)), 1),)

    def _below(self, direction: str) -> tuple[Steps, float]:
        """Losses of a lower bound for one selection, and what to subtract from their δ."""
        found = allocated(self._a, self.steps, direction, False)
        return ((found.loss, self.epochs),), found.error * self.epochs

    def _log_delta_bounds(self, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
        if self.gaussian_ratio is not None:
            return super()._log_delta_bounds(epsilon, relative_width)
        high = self._log_delta_above(epsilon, relative_width)
        return np.minimum(self._log_delta_below(epsilon, relative_width), high), high

    def _log_delta_above(self, epsilon: FloatArray, relative_width: float) -> FloatArray:
        high = super()._log_delta_bounds(epsilon, relative_width)[1]
        if self.gaussian_ratio is not None:
            return high
        beyond = high >= with_infinities(ViaRDP(self)._log_delta, epsilon)  # all that is known is the Rényi curve
        if beyond.any() and (known := self._least_known) is not None:
            epsilon_there, log_delta = known
            beyond &= epsilon >= epsilon_there
            high[beyond] = np.minimum(high[beyond], log_delta)  # δ falls in ε
        return high

    @cached_property
    def _least_known(self) -> tuple[float, float] | None:
        """(ε, log δ) at about the smallest δ that a grid resolves; None where no grid does."""
        for share in _SHARES:
            log_delta = math.log(share * self.steps * self.epochs)
            if log_delta < 0:
                target = np.array([log_delta])
                found = float(self._epsilon_above(target, RELATIVE_WIDTH)[0])
                if found < float(with_infinities(ViaRDP(self)._epsilon, target)[0]):
                    return found, log_delta
        return None

    def _log_delta_below(self, epsilon: FloatArray, relative_width: float) -> FloatArray:
        low = np.full(epsilon.shape, -np.inf)
        if self.selections > 1:
            return low  # the reduction to one selection is a bound from above
        try:
            for direction in ("remove", "add"):
                steps, error = self._below(direction)
                with np.errstate(all="ignore"):
                    found = np.exp(sums.log_delta_bounds(steps, epsilon, relative_width)[0]) - error
                    low = np.fmax(low, np.log(np.maximum(found, 0.0)))
        except TooFineError:
            pass
        return low

    def _epsilon_interval(self, log_delta: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
        low, high = super()._epsilon_interval(log_delta, relative_width)
        if self.gaussian_ratio is not None:
            return low, high
        low = np.zeros_like(high)
        if self.selections == 1:
            try:
                for direction in ("remove", "add"):
                    steps, error = self._below(direction)
                    for i, target in enumerate(log_delta):
                        raised = math.log(math.exp(target) + error)
                        if raised < 0:
                            with np.errstate(all="ignore"):
                                low[i] = max(low[i], sums.epsilon_bounds((steps,), raised, relative_width)[0])
            except TooFineError:
                pass
        return np.minimum(low, high), high

    def _epsilon_above(self, log_delta: FloatArray, relative_width: float) -> FloatArray:
        return super()._epsilon_interval(log_delta, relative_width)[1]

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self._times * gauss.rdp(alpha, self._a)

    def _mu(self) -> float:
        return self._a * math.sqrt(self._times) * (1 + 2.0**-51)
