"""Yes or no by majority: noisy counts with their privacy at a given gap, and the vote that errs the least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray, in_open_unit, like_input, nonnegative, positive, within
from objpert_core.accounting.mechanisms.base import Mechanism
from objpert_core.accounting.numerics.gaussian import log_1m_exp
from objpert_core.accounting.ptr.mechanism import ApproximateDP

_MOST_GAPS = 2**20  # looked at one by one
_UP = 1 + 2.0**-40


def gap_array(gap: Any) -> FloatArray:
    """Gaps as doubles; `ValueError` unless they are whole numbers."""
    gaps = np.asarray(gap, dtype=np.float64)
    if not (np.isfinite(gaps).all() and (gaps == np.rint(gaps)).all()):
        raise ValueError(f"gap must be a whole number or an array of them, got {gap!r}")
    return gaps


@dataclass(frozen=True, init=False)
class LaplaceVote(Mechanism):
    """The larger of two counts after Laplace noise of scale 1/ε on each; one voter joins or leaves.

    Redberg, Zhu and Wang (2023), Appendix C.1. With t votes more for the winner the vote errs with probability
    p(t) = (2 + εt)·e^{−εt}/4. Its profile is that of the worst gap.

    ε of the noise, from 1e-12 to 300, the inverse of its scale, is kept as `scale_epsilon`: the answer is ε-DP whatever
    the votes are.

    >>> [round(LaplaceVote(10.0).local_epsilon(t, 1e-5), 3) for t in (0, 1, 2, 3)]
    [8.208, 9.318, 9.318, 0.0]
    """

    scale_epsilon: float

    def __init__(self, epsilon: float) -> None:
        object.__setattr__(self, "scale_epsilon", _vote_epsilon(epsilon))

    def __repr__(self) -> str:
        return f"LaplaceVote(epsilon={self.scale_epsilon!r})"

    def error(self, gap: Any) -> Any:
        """How likely the answer is wrong, at a gap or an array of them: the true winner's votes less the loser's."""
        t = gap_array(gap)
        return like_input(gap, np.where(t >= 0, self._tail(np.abs(t)), 1 - self._tail(np.abs(t))))

    def _tail(self, t: FloatArray) -> FloatArray:
        x = self.scale_epsilon * t
        return (2 + x) * np.exp(-x) / 4

    def local_epsilon(self, gap: int, delta: float = 0.0) -> float:
        """ε at δ of the votes with this very gap against those of any neighbour, in both directions; rounded up.

        The number depends on the votes and is no promise by itself. Without δ it **rises** with the gap, towards ε. The
        gap is a whole number, δ at least 0 and below 1.
        """
        t = np.abs(gap_array(gap)).reshape(1)
        slack = _share(delta)
        return float(max(self._pair(t, slack)[0], self._pair(np.maximum(t - 1, 0.0), slack)[0]))

    def epsilon_at(self, gap: int, delta: float = 0.0) -> float:
        """The largest `local_epsilon` of any gap from this one on, which a noisy lower bound on the gap can promise.

        A gap below 0 counts as 0, where the winner is in doubt; `delta` is at least 0 and below 1.

        >>> [round(LaplaceVote(10.0).epsilon_at(t, 1e-5), 3) for t in (0, 2, 3)]
        [9.318, 9.318, 0.0]
        """
        slack, start = _share(delta), max(float(gap_array(gap)), 0.0)
        if not slack:
            return self.scale_epsilon  # its limit
        first = max(start - 1, 0.0)  # a neighbour may have one vote less
        last = self._last_above(slack)
        if first >= last:
            return 0.0
        if last - first > _MOST_GAPS:
            return self.scale_epsilon
        gaps = np.arange(first, last + 2)
        return float(self._pair(gaps, slack).max())

    def _last_above(self, slack: float) -> float:
        """A gap from which on errors are at most δ."""
        low, high = 0.0, 2.0
        while self._tail(np.array([high]))[0] > slack:
            low, high = high, 2 * high
        while high - low > 1:
            middle = math.floor((low + high) / 2)
            low, high = (middle, high) if self._tail(np.array([middle]))[0] > slack else (low, middle)
        return high

    def _pair(self, t: FloatArray, slack: float) -> FloatArray:
        """ε at δ between the gaps t >= 0 and t + 1, both directions; never above ε of the noise."""
        e, x = self.scale_epsilon, self.scale_epsilon * t
        if slack == 0:  # also where the chances themselves are too small for doubles
            return np.minimum((e + np.log1p(-e / (2 + x + e))) * _UP, e)
        near, far = self._tail(t), self._tail(t + 1)
        excess = np.exp(-x) / 4 * (-np.expm1(-e) * (2 + x) - e * math.exp(-e)) - slack  # near − far − δ
        with np.errstate(divide="ignore", invalid="ignore"):  # chances too small for doubles
            loser = np.where(excess > 0, np.log1p(np.maximum(excess, 0.0) / far), 0.0)
            winner = np.where(excess > 0, np.log1p(np.maximum(excess, 0.0) / (1 - near)), 0.0)
        return np.minimum(np.maximum(loser, winner) * _UP, e)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        result = np.full(epsilon.shape, -np.inf)
        for place in np.flatnonzero(epsilon < self.scale_epsilon):
            result[place] = math.log(self._delta_at(float(epsilon[place])))
        return result

    def _delta_at(self, epsilon: float) -> float:
        """p(t) − e^ε'·p(t + 1) is largest where its slope in t is 0, or at 0; whole gaps about there."""
        e, growth = self.scale_epsilon, math.exp(epsilon - self.scale_epsilon)
        # e^{−εt}/4·[(2 + εt)(1 − g) − εg] with g = e^{ε' − ε}: its slope is 0 where 1 + εt = εg/(1 − g)
        top = max((e * growth / -math.expm1(epsilon - e) - 1) / e, 0.0)
        gaps = np.unique(np.maximum(math.floor(top) + np.arange(-1.0, 3.0), 0.0))
        loser = np.exp(-e * gaps) / 4 * ((2 + e * gaps) * -math.expm1(epsilon - e) - e * growth)
        winner = 1 - self._tail(gaps + 1) - math.exp(epsilon) * (1 - self._tail(gaps))
        first = 1 - float(self._tail(np.array([1.0]))[0]) - math.exp(epsilon) / 2
        return min(max(float(loser.max()), float(winner.max()), first, 1e-300) * _UP, 1.0)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        """The curve of any mechanism that is ε-DP."""
        return ApproximateDP(self.scale_epsilon, 0.0)._rdp(alpha)


def _vote_epsilon(epsilon: float) -> float:
    return within("epsilon", positive("epsilon", epsilon), 1e-12, 300.0)


def _share(delta: float) -> float:
    slack = nonnegative("delta", delta)
    if slack >= 1:
        raise ValueError(f"delta must be a number >= 0 and below 1, got {delta!r}")
    return slack


@dataclass(frozen=True, init=False)
class OptimalVote(Mechanism):
    """The (ε, δ)-DP vote between two that errs the least, at every gap at once; one voter joins or leaves.

    docs/theorems.md, T41: with e(0) = ½ and e(t + 1) = max(0, e^{−ε}(e(t) − δ)) as the chance to err at a gap of t, the
    vote keeps (ε, δ), and no vote that treats both sides alike errs less. From t = log(1 + (e^ε − 1)/(2δ))/ε on it
    never errs.

    ε, from 1e-12 to 300, and 0 < δ < 1 are kept as `target_epsilon` and `target_delta`.

    >>> vote = OptimalVote(0.1, 1e-5)
    >>> vote.error(0), vote.error(86), bool(vote.error(85) > 0), vote.delta(0.1) <= 1e-5 * (1 + 1e-9)
    (0.5, 0.0, True, True)
    """

    target_epsilon: float
    target_delta: float

    def __init__(self, epsilon: float, delta: float) -> None:
        object.__setattr__(self, "target_epsilon", _vote_epsilon(epsilon))
        object.__setattr__(self, "target_delta", in_open_unit("delta", delta))

    def __repr__(self) -> str:
        return f"OptimalVote(epsilon={self.target_epsilon!r}, delta={self.target_delta!r})"

    @cached_property
    def _log_floor(self) -> float:
        """log of f = δ/(e^ε − 1): e(t) + f falls by e^ε a vote."""
        e = self.target_epsilon
        return math.log(self.target_delta) - (e + math.log(-math.expm1(-e)))

    @cached_property
    def _end(self) -> float:
        """The real t at which e(t) = f·(e^{ε(end − t)} − 1) is 0."""
        return float(np.logaddexp(0.0, -math.log(2) - self._log_floor)) / self.target_epsilon

    @property
    def sure_from(self) -> int:
        """The least gap at which the vote never errs."""
        return math.ceil(self._end * (1 - 1e-15))

    def error(self, gap: Any) -> Any:
        """How likely the answer is wrong, at a gap or an array of them, as for `LaplaceVote.error`."""
        t = gap_array(gap)
        size = np.abs(t)
        left = np.where(size >= self.sure_from, 0.0, self._tail(size))
        return like_input(gap, np.where(t >= 0, left, 1 - left))

    def _tail(self, t: FloatArray) -> FloatArray:
        left = np.maximum(self.target_epsilon * (self._end - t), 0.0)
        with np.errstate(divide="ignore"):
            found = np.exp(self._log_floor + left + log_1m_exp(-left))
        return np.where(t == 0, 0.5, np.minimum(found, 0.5))

    @property
    def has_rdp(self) -> bool:
        """False: at some gap one answer becomes impossible."""
        return False

    def no_rdp(self) -> str:
        return "OptimalVote has no Rényi curve: where it stops to err, one answer becomes impossible"

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.full(alpha.shape, np.inf)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """The first step, from even odds, loses the most up to ε; beyond, one of the last two steps does."""
        steps = np.maximum(self.sure_from - np.array([self.sure_from, 2, 1]), 0)
        near, far = self.error(steps), self.error(steps + 1)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            lost = near - np.where(far > 0, np.exp(epsilon)[:, None] * far, 0.0)
            # up to ε the first step is −½·(e^{ε' − ε} − 1) + δ·e^{ε' − ε}, without a difference of like numbers
            short = np.minimum(epsilon - self.target_epsilon, 0.0)
            first = -np.expm1(short) / 2 + self.target_delta * np.exp(short)
        if self.sure_from > 1:
            lost[:, 0] = np.where(epsilon <= self.target_epsilon, first, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(np.minimum(np.maximum(lost.max(axis=1), 0.0) * _UP, 1.0))
