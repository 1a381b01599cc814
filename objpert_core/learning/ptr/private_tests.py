"""Private tests of the data: a noisy distance, a noisy upper bound, and the protocol of any other test.

A test costs (ε̂, δ̂), and passes an X on which a mechanism is not private enough with probability δ' at most. How far
neighbours move a distance or a statistic must be true of every data set and cannot be checked here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from scipy.special import ndtri

from objpert_core._validation import boolean, check_fields, finite, in_open_unit, nonnegative, positive
from objpert_core.accounting import calibrate_gaussian
from objpert_core.learning.geometric import decay_of, tail_point, two_sided_geometric
from objpert_core.learning.lattice import FINENESS, power_of_two
from objpert_core.learning.noise import LARGEST_RATIO, NoiseSource

_FARTHEST = 2**61  # lattice points: a statistic beyond is moved there, which brings no two of them farther apart


class PrivateAnswer(Protocol):
    """What a private test and a private bound have in common."""

    @property
    def epsilon(self) -> float:
        """ε̂: the answer is (ε̂, δ̂)-private."""

    @property
    def delta(self) -> float:
        """δ̂: the answer is (ε̂, δ̂)-private."""

    @property
    def failure(self) -> float:
        """δ', the largest probability of an X that passes where the mechanism is not private enough, or of no bound."""

    @property
    def shifted(self) -> bool:
        """Whether `failure` also holds when a row is added to such an X."""


class PrivateTest(PrivateAnswer, Protocol):
    """What `propose_test_release` needs of a test."""

    def passes(self, X: Any, source: NoiseSource) -> bool:
        """Whether the mechanism may answer on X; all randomness from `source`."""


@dataclass(frozen=True)
class DistanceTest:
    """How many rows is X away from a data set on which the mechanism is not private enough? Pass if X is far away.

    Dwork and Lei (2009); Algorithm 1 of Redberg, Zhu and Wang (2023), who pass if D + Lap(1/ε̂) > log(1/δ')/ε̂ (the
    display after their Remark 4.4 says the opposite). Here the noise Z is two-sided geometric, and X passes if D + Z is
    `threshold` or more: the least whole number that keeps δ'.

    Parameters
    ----------
    distance : callable
        D(X), a whole number >= 0 that neighbours move by 1 at most, and 0 on every data set that must not pass. A NaN
        counts as 0.
    epsilon : float > 0
        ε̂.
    failure : float strictly between 0 and 1
        δ'.
    shifted : bool
        Ask for a distance of one row more, so that neighbours of a data set at 0 fail as surely.

    Examples
    --------
    >>> from objpert_core.learning.noise import noise_source
    >>> test = DistanceTest(lambda X: len(X), epsilon=0.5, failure=1e-6)
    >>> test.threshold, test.passes(range(500), noise_source(0)), test.passes([], noise_source(0))
    (27, True, False)
    """

    distance: Callable[[Any], Any]
    epsilon: float
    failure: float
    shifted: bool = False

    def __post_init__(self) -> None:
        check_fields(self, positive, "epsilon")
        check_fields(self, in_open_unit, "failure")
        check_fields(self, boolean, "shifted")

    @property
    def delta(self) -> float:
        """δ̂ = 0."""
        return 0.0

    @property
    def threshold(self) -> int:
        """X passes if D(X) + Z is at least this."""
        return tail_point(self.epsilon, self.failure) + self.shifted

    def passes(self, X: Any, source: NoiseSource) -> bool:
        """Whether D(X) + Z reaches the threshold."""
        return _whole(self.distance(X)) + two_sided_geometric(source, self.epsilon) >= self.threshold

    def facts(self) -> dict[str, Any]:
        """What a certificate says of the test."""
        return {"test": "distance", "threshold": float(self.threshold)}


def _whole(distance: Any) -> int:
    value = _double(distance)
    return 0 if not value > 0 else int(min(value, _FARTHEST))


def _double(value: Any) -> float:
    """A number as a double; a whole number beyond all doubles is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True)
class UpperBound:
    """A statistic of the data, released with noise that leaves it below the truth with probability δ' at most.

    s is rounded up to a lattice, so that the noise is exact (docs/theorems.md, T14). A NaN counts as infinite.

    Parameters
    ----------
    statistic : callable
        s(X), a number.
    sensitivity : float from 1e-100 to 1e100
        How far neighbours move s at most, s as computed.
    epsilon : float > 0
    delta : float in [0, 1)
        (ε̂, δ̂) of the release. δ̂ = 0 takes two-sided geometric noise, the Laplace noise of a lattice; otherwise
        Gaussian; `ValueError` where that is too wide for a lattice.
    failure : float strictly between 0 and 1
        δ': the bound is below s(X) with this probability at most.
    shifted : bool
        Move the bound up by the sensitivity as well, so that δ' also covers neighbours of X.

    Examples
    --------
    >>> from objpert_core.learning.noise import noise_source
    >>> bound = UpperBound(lambda X: float(max(X)), sensitivity=1.0, epsilon=2.0, failure=1e-3)
    >>> round(bound.shift, 2)  # log(1/(2·10⁻³))/2
    3.11
    >>> bound.release([1.0, 5.0], noise_source(0)) > 5
    True
    """

    statistic: Callable[[Any], Any]
    sensitivity: float
    epsilon: float
    failure: float
    delta: float = 0.0
    shifted: bool = False

    def __post_init__(self) -> None:
        check_fields(self, positive, "sensitivity", "epsilon")
        check_fields(self, in_open_unit, "failure")
        check_fields(self, boolean, "shifted")
        check_fields(self, nonnegative, "delta")
        if not 1e-100 <= self.sensitivity <= 1e100:
            raise ValueError(f"sensitivity must be a number from 1e-100 to 1e100, got {self.sensitivity!r}")
        if self.delta and self._sigma > LARGEST_RATIO:
            raise ValueError(f"epsilon must ask for less noise, or delta be 0, got {self.epsilon!r}")
        _ = self._margin

    @property
    def spacing(self) -> float:
        """The lattice's, a power of two."""
        return power_of_two(self.sensitivity) / FINENESS

    @property
    def _steps(self) -> int:
        """The sensitivity in lattice points; rounding up moves no two values farther apart."""
        return math.ceil(self.sensitivity / self.spacing)

    @property
    def _decay(self) -> float:
        return decay_of(self.epsilon, self._steps)

    @cached_property
    def _sigma(self) -> float:
        """Standard deviation of Gaussian noise, in lattice points."""
        return calibrate_gaussian(self.epsilon, self.delta, sensitivity=float(self._steps)).sigma

    @cached_property
    def _margin(self) -> int:
        """By how many lattice points the noisy statistic is moved up."""
        if self.delta:
            quantile = max(-float(ndtri(self.failure)), 0.0)
            margin = math.ceil(quantile * self._sigma * (1 + 2.0**-40))
        else:
            margin = tail_point(self._decay, self.failure) - 1
        return margin + (self._steps if self.shifted else 0)

    @property
    def shift(self) -> float:
        """By how much the noisy statistic is moved up."""
        return self._margin * self.spacing

    def release(self, X: Any, source: NoiseSource) -> float:
        """The noisy upper bound: a multiple of the lattice's spacing, or `math.inf`."""
        value = _double(self.statistic(X))
        points = _FARTHEST if math.isnan(value) else max(-_FARTHEST, min(value / self.spacing, _FARTHEST))
        if value > 0:
            points = max(points, math.ulp(0.0))  # where the quotient is too small for a double
        noise = (
            int(source.rounded_normal(self._sigma, 1)[0]) if self.delta else two_sided_geometric(source, self._decay)
        )
        released = math.ceil(points) + noise + self._margin
        if released >= _FARTHEST:
            return math.inf
        near = float(released)
        return (near if near >= released else math.nextafter(near, math.inf)) * self.spacing

    def facts(self) -> dict[str, Any]:
        """What a certificate says of the bound."""
        return {"test": "upper bound", "sensitivity": self.sensitivity, "shift": self.shift}


@dataclass(frozen=True)
class BoundTest:
    """Pass if a noisy upper bound on a statistic is small enough (Redberg, Zhu and Wang 2023, Theorem 4.7).

    The statistic has to be above `threshold` on every data set that must not pass: a mechanism's ε(X), or what ε(X)
    grows with, as ``lambda X: mechanism.epsilon_at(X, delta)``. ValueError if `bound` is not an `UpperBound`, or the
    threshold is not a finite number.

    >>> from objpert_core.learning.noise import noise_source
    >>> spread = UpperBound(lambda X: float(len(X)), sensitivity=1.0, epsilon=1.0, failure=1e-6)
    >>> BoundTest(spread, threshold=100.0).passes(range(20), noise_source(0))
    True
    """

    bound: UpperBound
    threshold: float

    def __post_init__(self) -> None:
        if not isinstance(self.bound, UpperBound):
            raise ValueError(f"bound must be an UpperBound, got {self.bound!r}")
        check_fields(self, finite, "threshold")

    @property
    def epsilon(self) -> float:
        """ε̂ of the bound."""
        return self.bound.epsilon

    @property
    def delta(self) -> float:
        """δ̂ of the bound."""
        return self.bound.delta

    @property
    def failure(self) -> float:
        """δ' of the bound."""
        return self.bound.failure

    @property
    def shifted(self) -> bool:
        """Whether the bound is shifted."""
        return self.bound.shifted

    def passes(self, X: Any, source: NoiseSource) -> bool:
        """Whether the bound is at most the threshold."""
        return self.bound.release(X, source) <= self.threshold

    def facts(self) -> dict[str, Any]:
        """What a certificate says of the test."""
        return {**self.bound.facts(), "threshold": self.threshold}
