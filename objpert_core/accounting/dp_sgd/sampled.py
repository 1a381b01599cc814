"""Noisy sums of batches of fixed size, drawn with or without replacement, where a row is replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr, logsumexp

from objpert_core._validation import FloatArray, between, check_fields, positive_integer
from objpert_core.accounting.dp_sgd import batches
from objpert_core.accounting.dp_sgd.batches import listed, log_at_zero, log_shares
from objpert_core.accounting.laws.base import GaussianLoss, PrivacyLoss, Steps, SymmetricLoss
from objpert_core.accounting.mechanisms.base import REPLACE_ONE, Mechanism
from objpert_core.accounting.mechanisms.composition import ByConvolution
from objpert_core.accounting.numerics import gaussian as gauss
from objpert_core.accounting.numerics.gaussian import LOG_SQRT_2PI
from objpert_core.accounting.numerics.mixture import log_mixed, unmixed

_STRAIGHT = 8.0  # V up to which it is the released value in units of the noise; beyond, V lags behind


@dataclass(frozen=True)
class RevealedLoss(PrivacyLoss):
    """A row is in the batch with probability p, k times with probability w_k, and k ≥ 1 is told before anything else.
    Given k, P = (1 − p)·N(0, 1) + p·N(k·a, 1) and Q = N(0, 1), and k has the law w_k/p under both. A profile of the
    step at ε ≥ 0 is that of this pair (docs/theorems.md, T27); for replaced rows its symmetric pair is composed."""

    a: float  # how many standard deviations of the noise one draw of the row moves the sum
    rows: int  # n
    batch_size: int  # m
    replacement: bool  # a row may be drawn several times; otherwise k = 1

    @cached_property
    def _shares(self) -> tuple[float, FloatArray, float]:
        p, shares = log_shares(self.rows, self.batch_size, self.replacement)
        return p, *listed(shares)

    @property
    def p(self) -> float:
        """The probability that the row is in the batch at all."""
        return self._shares[0]

    @cached_property
    def _times(self) -> FloatArray:
        return np.arange(1.0, self._shares[1].size + 1)

    def _bent(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far the value for k = 1 has moved at V = v, and the derivative: large k need the value to go far."""
        over = np.maximum(v - _STRAIGHT, 0.0)
        return v + over * over, 1 + 2 * over

    def _likelihood(self, v: FloatArray) -> FloatArray:
        """k·a·u − (k·a)²/2, the same for every k."""
        return self.a * (self._bent(v)[0] - self.a / 2)

    def loss(self, v: FloatArray) -> FloatArray:
        """ω(v) = log(1 − p + p·e^y)."""
        return log_mixed(self._likelihood(v), self.p)

    def position(self, epsilon: FloatArray) -> FloatArray:
        moved = unmixed(epsilon, self.p) / self.a + self.a / 2
        over = np.maximum(moved - _STRAIGHT, 0.0)
        return np.where(over > 0, _STRAIGHT + 0.5 * (np.sqrt(1 + 4 * over) - 1), moved)

    def kinks(self) -> FloatArray:
        """Where V begins to lag behind."""
        return np.array([_STRAIGHT])

    def lowest(self) -> float:
        return -np.inf

    def _values(self, v: FloatArray) -> FloatArray:
        """u for every k, of shape (k, v): k·a·u − (k·a)²/2 is the likelihood at v."""
        k = self._times[:, None]
        return self._likelihood(v) / (k * self.a) + k * self.a / 2

    def log_density(self, v: FloatArray, omega: FloatArray) -> FloatArray:
        """log of the density of V at v under P: e^ω times that under Q."""
        u = self._values(v)
        normal = -0.5 * u * u - LOG_SQRT_2PI - np.log(self._times)[:, None]
        return logsumexp(self._shares[1][:, None] + normal, axis=0) + omega + np.log(self._bent(v)[1])

    def log_tails(self, low: float, high: float) -> tuple[float, float]:
        """log P[V < low] and log P[V > high]; a k too large to be listed counts as above."""
        stay, move = np.log1p(-self.p), np.log(self.p)
        moved = self._times * self.a
        below, above = (self._values(np.array([end]))[:, 0] for end in (low, high))
        return (
            float(logsumexp(self._shares[1] + np.logaddexp(stay + log_ndtr(below), move + log_ndtr(below - moved)))),
            float(
                np.logaddexp(
                    logsumexp(self._shares[1] + np.logaddexp(stay + log_ndtr(-above), move + log_ndtr(moved - above))),
                    self._shares[2],
                )
            ),
        )

    def reach(self, nats: float) -> tuple[float, float]:
        left = nats + self._shares[1]  # for those k that are likely enough
        k, left = self._times[left > 0], left[left > 0]
        width = float(np.sqrt(2 * nats))
        u = np.maximum(k * self.a + np.sqrt(2 * np.maximum(left + np.log(self.p), 1.0)), np.sqrt(2 * left))
        most = float(np.max(k * u - (k * k - 1) * self.a / 2))
        over = max(most - _STRAIGHT, 0.0)
        return -width, _STRAIGHT + 0.5 * (np.sqrt(1 + 4 * over) - 1) if over else most


def replaced(a: float, rows: int, batch_size: int, replacement: bool) -> SymmetricLoss:
    """The loss of one step where a row is replaced: the symmetric pair above `RevealedLoss`."""
    base = RevealedLoss(a, rows, batch_size, replacement)
    p, shares, _ = base._shares
    (start,) = base.position(np.zeros(1))  # of the loss 0: a/2, which V reaches late where it is bent
    return SymmetricLoss(base, float(start), log_at_zero(p, shares, a))


@dataclass(frozen=True)
class _Batches:
    """What both kinds of drawing share."""

    replacement: ClassVar[bool]

    noise_multiplier: float
    batch_size: int
    rows: int
    steps: int

    def __post_init__(self) -> None:
        check_fields(self, between(1e-100, 1e100), "noise_multiplier")
        check_fields(self, positive_integer, "batch_size", "rows", "steps")
        if not self.replacement and self.batch_size > self.rows:
            raise ValueError(
                f"batch_size must be at most rows = {self.rows} without replacement, got {self.batch_size!r}"
            )

    @property
    def adjacency(self) -> str:
        """Batches of a fixed size tell nothing about rows that are added or removed."""
        return REPLACE_ONE

    @property
    def _a(self) -> float:
        """How many standard deviations of the noise a row that is drawn once moves the sum: the row may turn round."""
        return 2 / self.noise_multiplier

    @cached_property
    def _shares(self) -> tuple[float, FloatArray]:
        return batches.log_shares(self.rows, self.batch_size, self.replacement)

    @property
    def _certain(self) -> float | None:
        """The Gaussian ratio of a step that draws every row equally often; None for any other."""
        p, shares = self._shares
        return shares.size * self._a if p == 1 and np.isneginf(shares[:-1]).all() else None

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        if (a := self._certain) is not None:
            return self.steps * gauss.rdp(alpha, a)
        return self.steps * batches.replaced_rdp(alpha, *self._shares, self._a)


@dataclass(frozen=True)
class _OneStep(_Batches, Mechanism):
    """A single step, from the formula of its profile."""

    with_replacement: bool = False

    @property
    def replacement(self) -> bool:  # type: ignore[override]
        """As for the mechanism of this step."""
        return self.with_replacement

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return batches.log_profile(*self._shares, self._a, epsilon)


@dataclass(frozen=True)
class _ByBatches(_Batches, ByConvolution):
    @property
    def gaussian_ratio(self) -> float | None:
        """Steps that all draw every row equally often are the Gaussian mechanism."""
        a = self._certain
        return None if a is None else a * math.sqrt(self.steps)

    def no_event(self) -> str:
        """Why dp_accounting has no event for these steps, though it has one of this name."""
        return (
            "dp_accounting has no event for batches of a fixed size that its accountant reads as one where a row moves "
            "the sum by twice the norm; use to_pld()"
        )

    def losses(self, direction: str = "remove") -> Steps:
        """The symmetric pair of each step."""
        a = self._certain
        step: PrivacyLoss
        step = GaussianLoss(a) if a is not None else replaced(self._a, self.rows, self.batch_size, self.replacement)
        return ((step, self.steps),)

    def _alone(self) -> Mechanism | None:
        if self.steps > 1 or self._certain is not None:
            return None
        return _OneStep(self.noise_multiplier, self.batch_size, self.rows, 1, self.replacement)


@dataclass(frozen=True)
class SampledWithoutReplacement(_ByBatches):
    """Noisy sums over batches of `batch_size` different rows of `rows`, a fresh batch in every step.

    Adjacency is `REPLACE_ONE`, in which a row can move the sum by twice the clipping norm. One step has δ(log(1 + γ(e^ε
    − 1))) = γ·δ_G(ε; 2/noise multiplier), γ = m/n (Balle, Barthe and Gaboardi 2018), attained by rows that point one
    way before and the other way after. Several steps compose its symmetric pair (docs/theorems.md, T27).

    Parameters
    ----------
    noise_multiplier : float from 1e-100 to 1e100
        Standard deviation of the noise on the sum of a batch, divided by the clipping norm of one row.
    batch_size, rows : int
        m >= 1, at most n; n is a public number: where rows are replaced it does not change.
    steps : int >= 1

    Examples
    --------
    >>> from objpert_core.accounting import DPSGD
    >>> fixed = SampledWithoutReplacement(noise_multiplier=4.0, batch_size=100, rows=1000, steps=50)
    >>> poisson = DPSGD(noise_multiplier=4.0, sample_rate=0.1, steps=50, adjacency="replace one row")
    >>> poisson.epsilon(1e-6) < fixed.epsilon(1e-6)
    True
    """

    replacement: ClassVar[bool] = False


@dataclass(frozen=True)
class SampledWithReplacement(_ByBatches):
    """Noisy sums over batches of `batch_size` independent draws from `rows`: one row may be in a batch many times.

    Adjacency is `REPLACE_ONE`. One step has δ(log(1 + p(e^ε − 1))) ≤ Σ Pr[Bin(m, 1/n) = k]·δ_G(ε; 2k/noise
    multiplier) over k ≥ 1, p = 1 − (1 − 1/n)^m (Balle, Barthe and Gaboardi 2018); several steps compose the symmetric
    pair of that profile (docs/theorems.md, T27). Parameters as in `SampledWithoutReplacement`; m may exceed n.

    >>> round(SampledWithReplacement(noise_multiplier=1.0, batch_size=2, rows=3, steps=1).delta(0.0), 4)
    0.4095
    """

    replacement: ClassVar[bool] = True

    def attained_delta(self, epsilon: float) -> float:
        """Compute a δ that one step has on some data, exactly: a bound from below for any number of steps.

        All other rows have one gradient of full length, and the row that is replaced has the same one after and the
        opposite before. The sums are then a mixture of normal laws, whose likelihood ratio rises, and δ is
        Σ Pr[Bin(m, 1/n) = k]·P[N(2k, s²) > u] − e^ε·P[N(0, s²) > u], at the u where the densities have the ratio e^ε.

        >>> step = SampledWithReplacement(noise_multiplier=1.0, batch_size=2, rows=3, steps=1)
        >>> round(step.attained_delta(0.0), 4), step.attained_delta(0.0) < step.delta(0.0)
        (0.3982, True)
        """
        return batches.attained_delta(*self._shares, self._a, float(epsilon))
