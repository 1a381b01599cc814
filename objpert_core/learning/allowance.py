"""How much of τ rounding may take, by a few numbers: a fit that rounding could make fail is refused at once.

The numbers are public, but for an undeclared number of rows, which no promise then covers (docs/theorems.md, T15, T23).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from objpert_core._literals import plain
from objpert_core.accounting.mechanisms.perturbation import NORMAL_SPACING
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.problem.envelopes import MoreauEnvelope
from objpert_core.learning.problem.fine import score_error, summands_of_rows
from objpert_core.learning.problem.losses import Loss
from objpert_core.learning.problem.rounding import UNIT, gamma, own_constant

_SHARE = 3 / 8  # of τ: the solver takes a half, the lattice a sixteenth, and a sixteenth is to spare
DEVIATIONS = 10.0  # ‖b‖ is above σ(√D + 10) with a probability below e⁻⁵⁰
_ROUNDS = 60
DEFAULT_TAU = 1e-6
"""Enough for ten million rows and 200,000 columns, unless λ is tiny."""


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """The numbers of a fit that decide what rounding can add to a gradient: `longest` is R, `gradient` C, `ball` M."""

    n_rows: int
    dimension: int
    longest: float
    loss: Loss
    gradient: float
    lam: float
    noise: float = 0.0
    ball: float = math.inf

    def length(self, tau: float) -> float:
        """The length that no θ exceeds whose gradient has norm τ at most. λ‖θ‖ ≤ nC + ‖b‖ + τ."""
        most = (self.n_rows * self.gradient + self._tilt + tau) / self.lam
        if self.loss.takes_margins:
            sharp = self.loss.loss if isinstance(self.loss, MoreauEnvelope) else self.loss  # above those of all rows
            start = float(sharp.value(np.zeros(1), np.ones(1))[0])
            most = min(most, (self._tilt + tau) / self.lam + math.sqrt(self.n_rows * start / self.lam))
        return min(most, self.ball)

    @property
    def _tilt(self) -> float:
        return self.noise * (math.sqrt(self.dimension) + DEVIATIONS)

    def rounding(self, tau: float) -> float:
        """The most that rounding adds to a gradient of norm τ, the distance of b from normal noise included."""
        pulls, turned = self.n_rows * self.gradient, self.n_rows * self.loss.smoothness * self.longest
        off = score_error(self.dimension, self.longest, self.length(tau)) + 32 * UNIT * own_constant(self.loss)
        scores = turned * off
        sums = (40 * UNIT + gamma(summands_of_rows(self.n_rows))) * pulls
        tilt = gamma(8) * (pulls + 2 * self._tilt + tau) + gamma(self.dimension + 64) * tau
        moved = 0.0
        if math.isfinite(self.ball):
            steep = turned * self.longest + self.lam
            moved = 40 * UNIT * (math.sqrt(steep * self.lam) + self.lam) * self.ball
        normal = NORMAL_SPACING / 2 * (self.noise * math.sqrt(self.dimension) + self._tilt)
        return (scores + sums + tilt + moved + normal) * (1 + 2.0**-10)

    def least_tau(self) -> float:
        """The τ from which on no data make a fit fail by rounding; `inf` if there is none."""
        tau = 0.0
        for _ in range(_ROUNDS):
            needed = self.rounding(tau) / _SHARE
            if needed <= tau:
                return tau
            tau = needed * (1 + 2.0**-6)
        return math.inf

    def refuse(self, tau: float) -> None:
        """`ConvergenceError`, which names a τ that would do, where rounding could make the fit fail at this τ."""
        if (least := self.least_tau()) > tau:
            enough = plain(float(f"{1.06 * least:.1e}"))
            raise ConvergenceError(
                f"tau is too small for these data in double precision: it must be at least {enough} for "
                f"{self.n_rows} rows, {self.dimension} parameters and lam = {self.lam:.3g}, got {plain(tau)}; nothing "
                "was released"
            )
