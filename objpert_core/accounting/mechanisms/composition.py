"""Adaptive composition: what several releases about the same rows cost together, by the convolution of their losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from objpert_core._validation import (
    FloatArray,
    delta_array,
    epsilon_array,
    like_input,
    positive,
    positive_integer,
)
from objpert_core.accounting.convolution import sums
from objpert_core.accounting.gaussian.mechanism import GaussianNoise
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.mechanisms.base import (
    Mechanism,
    View,
    a_mechanism,
    common_adjacency,
    with_infinities,
    with_rdp,
)
from objpert_core.accounting.mechanisms.event_forms import EventMaker
from objpert_core.accounting.mechanisms.renyi import ViaRDP
from objpert_core.accounting.numerics.safe_root import nudged_up_each
from objpert_core.accounting.numerics.search import smallest_epsilon

RELATIVE_WIDTH = 2e-4  # of ε: what the grid aims at


def _error_of(mechanism: Mechanism) -> float:
    """How far off a lone mechanism's own δ may be, as `sums.both_sides` has it."""
    return sums.GAUSSIAN_ERROR if isinstance(mechanism, GaussianNoise) else sums.CLOSED_FORM_ERROR


class ByConvolution(Mechanism):
    """A mechanism that is answered from the sum of its privacy losses; subclasses say which (`losses`)."""

    by_convolution: ClassVar[bool] = True

    @property
    def own_profile(self) -> bool:
        """Whether all losses are known; otherwise δ comes from the Rényi curve."""
        return self._sides() is not None

    def _sides(self) -> tuple[Steps, ...] | None:
        """The losses to add up, for each direction of the adjacency that matters; None if some are not known."""
        both = [self.losses(direction) for direction in ("remove", "add")]
        if any(side is None for side in both):
            return None
        sides = [sums.merged(side) for side in both if side is not None]
        return (sides[0],) if sides[0] == sides[1] else tuple(sides)

    def _alone(self) -> Mechanism | None:
        return None

    def _rest(self) -> Mechanism:
        """What answers where no grid is fine enough."""
        return ViaRDP(self)

    # --- δ at ε ------------------------------------------------------------------------------------------------

    def _log_delta_bounds(self, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
        """log of (lower, upper) bounds on δ for a 1-d array of ε."""
        if (alone := self._alone()) is not None:
            return sums.both_sides(with_infinities(alone._log_delta, epsilon), _error_of(alone))
        sides = self._sides()
        rest = self._rest()
        if sides is None:
            return np.full(epsilon.shape, -np.inf), with_infinities(rest._log_delta, epsilon)
        with np.errstate(all="ignore"):  # what overflows is not finite, and is replaced
            low, high = sums.log_delta_bounds(sides[0], epsilon, relative_width)
            for side in sides[1:]:
                matters = np.flatnonzero(~(sums.chernoff_bound(side, epsilon, float(high.min())) < low))
                lower, upper = sums.log_delta_bounds(side, epsilon[matters], relative_width)
                low[matters] = np.fmax(low[matters], lower)
                high[matters] = np.maximum(high[matters], upper)
        order = np.argsort(epsilon)  # δ falls in ε
        high[order] = np.minimum.accumulate(high[order])
        low[order] = np.maximum.accumulate(low[order][::-1])[::-1]
        least = np.maximum(low, -1e300)  # δ may be 0
        loose = ~(high - least < 0.1 + 0.01 * np.abs(high))  # no grid, or beyond what doubles resolve
        if loose.any():
            high[loose] = np.fmin(high[loose], with_infinities(rest._log_delta, epsilon[loose]))
        return np.minimum(low, high), high

    def _log_delta_above(self, epsilon: FloatArray, relative_width: float) -> FloatArray:
        """The upper of `_log_delta_bounds`; for subclasses whose lower bound takes a computation of its own."""
        return self._log_delta_bounds(epsilon, relative_width)[1]

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        alone = self._alone()
        return self._log_delta_above(epsilon, RELATIVE_WIDTH) if alone is None else alone._log_delta(epsilon)

    def delta_bounds(self, epsilon: Any, relative_width: float = RELATIVE_WIDTH) -> tuple[Any, Any]:
        """(lower, upper) bounds on δ at ε, on a grid that aims at bounds on ε this far apart, relative to ε.

        Upper is `delta(epsilon)`, or for a single release δ and its possible error. Lower is a bound on the profile
        that the losses define, not on what an attacker could do; 0.0 for mechanisms that have only a Rényi curve.
        """
        eps = epsilon_array(epsilon)
        width = positive("relative_width", relative_width)
        low, high = self._log_delta_bounds(eps.ravel(), width)
        return (
            like_input(epsilon, np.exp(low).reshape(eps.shape)),
            like_input(epsilon, np.exp(high).reshape(eps.shape)),
        )

    # --- ε at δ ------------------------------------------------------------------------------------------------

    def _epsilon_interval(self, log_delta: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
        if (alone := self._alone()) is not None:
            enough, least = sums.both_sides_of_target(log_delta, _error_of(alone))
            return with_infinities(alone._epsilon, least), with_infinities(alone._epsilon, enough)
        sides = self._sides()
        rest = self._rest()
        if sides is None:
            return np.zeros(log_delta.shape), with_infinities(rest._epsilon, log_delta)
        low, high = np.zeros(log_delta.shape), np.zeros(log_delta.shape)
        for i, target in enumerate(log_delta):
            with np.errstate(all="ignore"):
                low[i], high[i] = sums.epsilon_bounds(sides, float(target), relative_width)
            reached = math.isfinite(high[i]) and high[i] - low[i] <= 2 * relative_width * high[i]
            if not (reached and high[i] < sums.epsilon_by_renyi(sides[0], float(target))):
                high[i] = min(high[i], float(with_infinities(rest._epsilon, log_delta[i : i + 1])[0]))
        return np.minimum(low, high), high

    def _epsilon_above(self, log_delta: FloatArray, relative_width: float) -> FloatArray:
        """The upper end of `_epsilon_interval`; for subclasses whose lower end takes a computation of its own."""
        return self._epsilon_interval(log_delta, relative_width)[1]

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        if (alone := self._alone()) is not None:
            return alone._epsilon(log_delta)
        epsilon = self._epsilon_above(log_delta, RELATIVE_WIDTH)
        # ε and δ come from different grids; the promise is that δ(ε(δ)) is not above δ. From 0 no small step leads on
        if (epsilon == 0).any() and (lost := (epsilon == 0) & (self._log_delta(epsilon) > log_delta)).any():
            epsilon[lost] = smallest_epsilon(self._log_delta, log_delta[lost])
        return nudged_up_each(lambda tried: self._log_delta(tried) > log_delta, epsilon)

    def epsilon_bounds(self, delta: Any, relative_width: float = RELATIVE_WIDTH) -> tuple[Any, Any]:
        """(lower, upper) bounds on ε at δ, aiming at (upper − lower)/upper = `relative_width`; see `delta_bounds`."""
        target = delta_array(delta)
        width = positive("relative_width", relative_width)
        low, high = self._epsilon_interval(np.log(target.ravel()), width)
        return like_input(delta, low.reshape(target.shape)), like_input(delta, high.reshape(target.shape))

    def epsilon_above(self, delta: Any) -> Any:
        """The upper one of `epsilon_bounds`, by itself: for searches, which need no other."""
        target = delta_array(delta)
        high = self._epsilon_above(np.log(target.ravel()), RELATIVE_WIDTH)
        return like_input(delta, high.reshape(target.shape))


@dataclass(frozen=True)
class Composition(ByConvolution):
    """Several mechanisms, each run a number of times on the same rows, `parts` of (mechanism, count); see `compose`."""

    parts: tuple[tuple[Mechanism, int], ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must be at least one mechanism with its count, got none")
        common_adjacency(mechanism for mechanism, _ in self.parts)

    @property
    def adjacency(self) -> str:
        """The adjacency that the parts share."""
        return self.parts[0][0].adjacency

    @property
    def has_rdp(self) -> bool:
        """Whether every part has a Rényi curve."""
        return all(mechanism.has_rdp for mechanism, _ in self.parts)

    def no_rdp(self) -> str:
        """Why `rdp` does not answer: the first part that has no Rényi curve."""
        return next(mechanism.no_rdp() for mechanism, _ in self.parts if not mechanism.has_rdp)

    def losses(self, direction: str = "remove") -> Steps | None:
        """The privacy losses of all parts; None if one of them is not known."""
        steps: Steps = ()
        for mechanism, count in self.parts:
            own = mechanism.losses(direction)
            if own is None:
                return None
            steps += tuple((loss, k * count) for loss, k in own)
        return steps

    @property
    def gaussian_ratio(self) -> float | None:
        """Gaussian mechanisms add up in squares; None unless all parts are Gaussian."""
        ratios = [mechanism.gaussian_ratio for mechanism, _ in self.parts]
        counts = [count for _, count in self.parts]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios):
            return None
        return math.sqrt(sum(k * a**2 for k, a in zip(counts, known, strict=True)))

    @property
    def only_replaced(self) -> bool:
        """Whether a part's event has to be read by an accountant of replaced rows."""
        return any(mechanism.only_replaced for mechanism, _ in self.parts)

    def _dp_event(self, make: EventMaker) -> Any:
        made = [(mechanism._dp_event(make), count) for mechanism, count in self.parts]
        made = [event if count == 1 else make.events.SelfComposedDpEvent(event, count) for event, count in made]
        return made[0] if len(made) == 1 else make.events.ComposedDpEvent(made)

    def _mu(self) -> float:
        return math.sqrt(sum(count * mechanism.mu() ** 2 for mechanism, count in self.parts)) * (1 + 2.0**-50)

    def _rho(self) -> float:
        return sum(count * mechanism.rho() for mechanism, count in self.parts) * (1 + 2.0**-50)

    def _alone(self) -> Mechanism | None:
        (first, count), *others = self.parts
        if others or count > 1:
            return None
        return first._alone()

    def _rest(self) -> Mechanism:
        return super()._rest() if self.has_rdp else _Basic(self)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.sum([count * part._rdp(alpha) for part, count in self.parts], axis=0)

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing: the first part that proves nothing; None where it proves something."""
        reasons = (part.explain() for part, _ in self.parts)
        return next((reason for reason in reasons if reason), None) or super().explain(epsilon)


@dataclass(frozen=True)
class _Basic(View):
    """A composition by adding up ε and δ, each release having the same ε: loose, but it needs no Rényi curve."""

    base: Composition

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        each = epsilon / sum(count for _, count in self.base.parts) * (1 - 2.0**-50)
        terms = [math.log(count) + part._log_delta(each) for part, count in self.base.parts]
        return np.minimum(logsumexp(terms, axis=0), 0.0)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return self.base._rdp(alpha)


def _part(mechanism: Any, count: int) -> tuple[tuple[Mechanism, int], ...]:
    part = a_mechanism("mechanism", mechanism)
    if isinstance(part, Composition):
        return tuple((inner, k * count) for inner, k in part.parts)
    return ((part if part.has_losses else with_rdp(part), count),)


def compose(*mechanisms: Mechanism) -> Composition:
    """One release of each mechanism on the same rows.

    Zhu, Dong and Wang (2022), Theorem 10 (dominating pairs compose); Redberg et al. (2023), Theorem D.2 and (D.11).
    `ValueError` if no mechanism is given, an argument is not one, or mechanisms mean different neighbours
    (`adjacency`); `NotImplementedError` if a bound can be composed neither by its privacy loss nor by its Rényi curve
    ("kifer2012").

    Parameters
    ----------
    mechanisms : at least one Mechanism
        Fixed beforehand, with every number in them (σ, λ, steps, …). What each is applied to (features, labels, the
        question) may depend on earlier releases.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian, ObjectivePerturbation
    >>> both = compose(Gaussian(20.0), ObjectivePerturbation(sigma=10, lam=5))
    >>> 0 <= both.delta(0.5) - both.delta_bounds(0.5)[0] < 1e-6
    True
    """
    if not mechanisms:
        raise ValueError("mechanisms must be at least one mechanism, got none")
    return Composition(tuple(item for mechanism in mechanisms for item in _part(mechanism, 1)))


def repeat(mechanism: Mechanism, k: int) -> Composition:
    """k >= 1 releases of one mechanism on the same rows; errors as in `compose`.

    >>> from objpert_core.accounting import Gaussian
    >>> abs(repeat(Gaussian(10.0), 4).epsilon(1e-6) / Gaussian(5.0).epsilon(1e-6) - 1) < 1e-9
    True
    """
    return Composition(_part(mechanism, positive_integer("k", k)))


@dataclass(frozen=True)
class Parallel(Mechanism):
    """Several mechanisms, each on its own part of the rows; see `parallel`."""

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts must be at least one mechanism, got none")
        common_adjacency(a_mechanism("mechanism", part) for part in self.parts)

    @property
    def adjacency(self) -> str:
        """The adjacency that the parts share."""
        return self.parts[0].adjacency

    @property
    def has_profile(self) -> bool:
        """Whether every part has a profile."""
        return all(part.has_profile for part in self.parts)

    @property
    def has_rdp(self) -> bool:
        """Whether every part has a Rényi curve."""
        return all(part.has_rdp for part in self.parts)

    def no_rdp(self) -> str:
        """Why `rdp` does not answer: the first part that has no Rényi curve."""
        return next(part.no_rdp() for part in self.parts if not part.has_rdp)

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return np.max([part._log_delta(epsilon) for part in self.parts], axis=0)

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return np.max([part._epsilon(log_delta) for part in self.parts], axis=0)

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.max([part._rdp(alpha) for part in self.parts], axis=0)

    def _mu(self) -> float:
        return max(part.mu() for part in self.parts)

    def _rho(self) -> float:
        return max(part.rho() for part in self.parts)

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing: the first part that proves nothing; None where all prove something."""
        reasons = (part.explain(epsilon) for part in self.parts)
        return next((reason for reason in reasons if reason), None)


def parallel(*mechanisms: Mechanism) -> Parallel:
    """One release of each mechanism, each on rows of its own: whoever joins or leaves is in one part only.

    McSherry (2009), Theorem 4, for parts that are fixed beforehand; docs/theorems.md, T49, for parts that coins decide.
    What a mechanism asks of its part may depend on the releases of the parts before it. The mechanisms, one for each
    part, are fixed beforehand; `ValueError` as from `compose`.

    >>> from objpert_core.accounting import Gaussian
    >>> parallel(Gaussian(2.0), Gaussian(3.0)).epsilon(1e-5) == Gaussian(2.0).epsilon(1e-5)
    True
    """
    return Parallel(mechanisms)
