"""Adaptive composition: what several releases about the same rows cost together.

A composition of mechanisms whose privacy losses are known (`Mechanism.losses`) is accounted for by the convolution of
those losses, with bounds on both sides (`_plan`, `_discretise`, `_convolution`); the Rényi curves, which add up, are
the way out where a grid cannot be fine enough and for mechanisms that have only a Rényi curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from objpert_core._validation import (
    FloatArray,
    delta_array,
    epsilon_array,
    like_input,
    positive,
    positive_integer,
)
from objpert_core.accounting._convolution import Tail
from objpert_core.accounting._discretise import TooFineError
from objpert_core.accounting._plan import Plan, cheapest_tilt, plan, tails
from objpert_core.accounting._search import smallest_epsilon
from objpert_core.accounting.conversion import ViaRDP
from objpert_core.accounting.mechanisms import Gaussian, Mechanism
from objpert_core.accounting.privacy_loss import GaussianLoss, Steps

RELATIVE_WIDTH = 2e-4  # of ε: what the grid aims at
_NATS = (40.0, 200.0, 1000.0)  # log 1/δ that plans are made for
_GAP = 8.0  # nats that the Rényi bound on δ may be too large by, when a grid is planned from it
_LEAST_GAP = 0.002  # between the bounds on log δ: not worth another grid
_MOST_TAILS = 16  # grids for one curve
_NO_USE = math.log(0.01)  # share of an answer that is error which a finer grid will not remove
# of the loss's spread: where ε is smaller, widths are relative to this; for ε at δ and for δ at ε
_LEAST_SHARE = {"epsilon": 0.005, "delta": 0.3}
_REFINEMENTS = 3
_MARGIN = 0.01  # of log δ, far above the error of the coarse quadrature behind a plan
_NUDGE, _NUDGES = 1e-6, 30  # relative steps upwards, doubling
_ROUGH = 64.0  # times the width, to see which direction decides
_CLOSED_FORM_ERROR = 1e-8  # relative; what the tests hold closed forms and quadratures to, with room


class ByConvolution(Mechanism):
    """A mechanism that is answered from the sum of its privacy losses; subclasses say which (`losses`)."""

    def _sides(self) -> tuple[Steps, ...] | None:
        """The losses to add up, for each direction of the adjacency that matters; None if some are not known."""
        both = [self.losses(direction) for direction in ("remove", "add")]
        if any(side is None for side in both):
            return None
        sides = [_merged(side) for side in both if side is not None]
        return (sides[0],) if sides[0] == sides[1] else tuple(sides)

    def _alone(self) -> Mechanism | None:
        """The one mechanism this is, if it has a closed form or a quadrature of its own."""
        return None

    # --- δ at ε ------------------------------------------------------------------------------------------------

    def _log_delta_bounds(self, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
        """log of (lower, upper) bounds on δ for a 1-d array of ε."""
        if (alone := self._alone()) is not None:
            value = alone._log_delta(epsilon)
            return value - _CLOSED_FORM_ERROR * (1 - value), value
        sides = self._sides()
        rest = ViaRDP(self)
        if sides is None:
            return np.full(epsilon.shape, -np.inf), rest._log_delta(epsilon)
        with np.errstate(all="ignore"):  # what overflows is not finite, and is replaced
            low, high = _side_log_delta(sides[0], epsilon, relative_width)
            for side in sides[1:]:
                matters = np.flatnonzero(~(_chernoff(side, epsilon, float(high.min())) < low))
                lower, upper = _side_log_delta(side, epsilon[matters], relative_width)
                low[matters] = np.fmax(low[matters], lower)
                high[matters] = np.maximum(high[matters], upper)
        order = np.argsort(epsilon)  # δ falls in ε
        high[order] = np.minimum.accumulate(high[order])
        low[order] = np.maximum.accumulate(low[order][::-1])[::-1]
        loose = ~(high - low < 0.1 + 0.01 * np.abs(high))  # no grid, or beyond what doubles resolve
        if loose.any():
            high[loose] = np.fmin(high[loose], rest._log_delta(epsilon[loose]))
        return np.minimum(low, high), high

    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        return self._log_delta_bounds(epsilon, RELATIVE_WIDTH)[1]

    def delta_bounds(self, epsilon: Any, relative_width: float = RELATIVE_WIDTH) -> tuple[Any, Any]:
        """(lower, upper) bounds on δ at ε: both sides of the error of the numerical convolution.

        Parameters
        ----------
        epsilon : float or array of floats >= 0, finite
        relative_width : float > 0
            The certified width in ε, relative to ε, that the grid aims at.

        Returns
        -------
        two floats, or two arrays of the shape of `epsilon`
            The upper one is `delta(epsilon)`. The lower is a bound on the profile that the losses define, not on what
            an attacker could do; 0.0 for mechanisms that have only a Rényi curve.

        Raises
        ------
        ValueError
            If an argument is out of range.
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
            value = alone._epsilon(log_delta)
            return value * (1 - _CLOSED_FORM_ERROR), value
        sides = self._sides()
        rest = ViaRDP(self)
        if sides is None:
            return np.zeros(log_delta.shape), rest._epsilon(log_delta)
        low, high = np.zeros(log_delta.shape), np.zeros(log_delta.shape)
        for i, target in enumerate(log_delta):
            with np.errstate(all="ignore"):
                low[i], high[i] = _epsilon_of_sides(sides, float(target), relative_width)
            made = _plan_or_none(sides[0], _nats_for(float(target)))
            by_renyi = 0.0 if made is None else float(made.epsilon_chernoff(log_delta[i : i + 1])[1][0])
            reached = math.isfinite(high[i]) and high[i] - low[i] <= 2 * relative_width * high[i]
            if not (reached and high[i] < by_renyi):
                high[i] = min(high[i], float(rest._epsilon(log_delta[i : i + 1])[0]))
        return np.minimum(low, high), high

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        epsilon = self._epsilon_interval(log_delta, RELATIVE_WIDTH)[1]
        step = np.full(epsilon.shape, _NUDGE)
        for _ in range(_NUDGES):  # ε and δ come from different grids; the promise is that δ(ε(δ)) is not above δ
            finite = np.where(np.isfinite(epsilon), epsilon, 0.0)
            high = np.isfinite(epsilon) & (self._log_delta(finite) > log_delta)
            if not high.any():
                break
            epsilon = np.where(high, np.maximum(epsilon * (1 + step), epsilon + 1e-300), epsilon)
            step = np.where(high, 2 * step, step)
        return epsilon

    def epsilon_bounds(self, delta: Any, relative_width: float = RELATIVE_WIDTH) -> tuple[Any, Any]:
        """(lower, upper) bounds on ε at δ: both sides of the error of the numerical convolution.

        Parameters
        ----------
        delta : float or array of floats strictly between 0 and 1
        relative_width : float > 0
            (upper − lower)/upper that the grid aims at.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        target = delta_array(delta)
        width = positive("relative_width", relative_width)
        low, high = self._epsilon_interval(np.log(target.ravel()), width)
        return like_input(delta, low.reshape(target.shape)), like_input(delta, high.reshape(target.shape))


def _merged(steps: Steps) -> Steps:
    """Equal losses counted together, and all Gaussians as one: their squared ratios add up."""
    counts: dict[Any, int] = {}
    square = 0.0
    for loss, count in steps:
        if isinstance(loss, GaussianLoss):
            square += count * loss.a**2
        else:
            counts[loss] = counts.get(loss, 0) + count
    gaussian = ((GaussianLoss(math.sqrt(square)), 1),) if square > 0 else ()
    return (*counts.items(), *gaussian)


def _closed_form(steps: Steps) -> Mechanism | None:
    if len(steps) == 1 and isinstance(steps[0][0], GaussianLoss):
        return Gaussian(1 / steps[0][0].a)
    return None


def _width(made: Plan, epsilon: float, relative_width: float, wanted_for: str) -> float:
    """The absolute width to aim at; rounded, so that neighbouring requests share a grid."""
    wanted = relative_width * max(epsilon, _LEAST_SHARE[wanted_for] * made.spread)
    return float(2.0 ** math.floor(math.log2(wanted)))


def _side_log_delta(steps: Steps, epsilon: FloatArray, relative_width: float) -> tuple[FloatArray, FloatArray]:
    """log of (lower, upper) for one direction; (−inf, 0) where no grid is fine enough."""
    low, high = np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
    if (exact := _closed_form(steps)) is not None:
        value = exact._log_delta(epsilon)
        return value - _CLOSED_FORM_ERROR * (1 - value), value
    todo = np.arange(epsilon.size)
    left = _MOST_TAILS
    for nats in _NATS:
        if not todo.size or (made := _plan_or_none(steps, nats)) is None:
            break  # a plan for far smaller δ costs the most
        best, chernoff = made.log_delta_chernoff(epsilon[todo])
        here = (chernoff > 5 - nats) | (nats == _NATS[-1])
        now, tilts, least = todo[here], best[here], 10 * np.floor(chernoff[here] / 10) - _GAP
        todo = todo[~here]
        while now.size and left:
            middle = np.argsort(epsilon[now])[now.size // 2]
            width = _width(made, float(epsilon[now[middle]]), relative_width, "delta")
            for _ in range(min(_REFINEMENTS, left)):
                left -= 1
                pair = _tails_or_none(steps, nats, int(tilts[middle]), width, float(least[middle]))
                if pair is None:
                    return low, high
                upper, lower = pair
                low[now] = np.fmax(low[now], lower.log_delta(epsilon[now]))
                high[now] = np.fmin(high[now], upper.log_delta(epsilon[now]))
                # a width w in ε is θ·w in log δ, or the grid does not resolve what matters here
                good = high[now] - low[now] <= np.maximum(4 * width * made.thetas[tilts], _LEAST_GAP)
                if good[middle] or upper.log_error_share(epsilon[now[middle : middle + 1]])[0] > _NO_USE:
                    break
                width /= 8
            good |= (tilts == made.thetas.size - 1) & (tilts == tilts[middle])  # no tilt does better
            good[middle] = True
            now, tilts, least = now[~good], tilts[~good], least[~good]
    return low, high


def _nats_for(log_delta: float) -> float:
    return next((nats for nats in _NATS if -log_delta <= nats - 5), _NATS[-1])


def _chernoff(steps: Steps, epsilon: FloatArray, log_delta: float) -> FloatArray:
    """log of the Rényi bound on δ for one direction, with room for what coarse points for `log_delta` leave out."""
    made = _plan_or_none(steps, nats := _nats_for(log_delta))
    if made is None:
        return np.zeros(epsilon.shape)
    return np.logaddexp(made.log_delta_chernoff(epsilon)[1] + _MARGIN, -nats)


def _epsilon_of_sides(sides: tuple[Steps, ...], log_delta: float, relative_width: float) -> tuple[float, float]:
    """(lower, upper) bounds on ε, the larger of the directions."""
    low, high = _side_epsilon(sides[0], log_delta, relative_width)
    for side in sides[1:]:  # most often the first direction decides, and the Rényi curve or a coarse grid can tell
        if low > 0 and _chernoff(side, np.array([low]), log_delta)[0] <= log_delta:
            continue
        if low > 0 and _side_epsilon(side, log_delta, _ROUGH * relative_width, refinements=1)[1] <= low:
            continue
        lower, upper = _side_epsilon(side, log_delta, relative_width)
        low, high = max(low, lower), max(high, upper)
    return low, high


def _side_epsilon(
    steps: Steps, log_delta: float, relative_width: float, refinements: int = _REFINEMENTS
) -> tuple[float, float]:
    """(lower, upper) bounds on ε for one direction; (0, inf) where no grid is fine enough."""
    target = np.array([log_delta])
    if (exact := _closed_form(steps)) is not None:
        value = float(exact._epsilon(target)[0])
        return value * (1 - _CLOSED_FORM_ERROR), value
    nats = _nats_for(log_delta)
    made = _plan_or_none(steps, nats)
    low, high = 0.0, math.inf
    if made is None:
        return low, high
    best, chernoff = made.epsilon_chernoff(target)
    if not math.isfinite(chernoff[0]):
        return low, high
    if chernoff[0] < made.spread:  # perhaps δ(0) is below the target already
        at_zero = np.zeros(1)
        tilt, width = int(made.log_delta_chernoff(at_zero)[0][0]), _width(made, 0.0, relative_width, "delta")
        pair = _tails_or_none(steps, nats, tilt, width, log_delta)
        if pair is not None and pair[0].log_delta(at_zero)[0] <= log_delta:
            return 0.0, 0.0
    width, step = _width(made, float(chernoff[0]), relative_width, "epsilon"), math.inf
    tilt = cheapest_tilt(made, int(best[0]), float(chernoff[0]), log_delta, width)
    for _ in range(refinements):
        pair = _tails_or_none(steps, nats, tilt, width, log_delta)
        if pair is None or pair[0].step > 0.9 * step:  # the finest grid there is
            break
        upper, lower = pair
        step = upper.step
        high = min(high, float(smallest_epsilon(upper.log_delta, target)[0]))
        if not math.isfinite(high):
            break
        low = max(low, _largest_below(lower, target, high))
        wanted, reached = _width(made, high, relative_width, "epsilon"), high - low
        hopeless = bool(lower.log_error_share(np.array([high]))[0] > _NO_USE)
        if reached <= 2 * wanted or wanted == 0 or hopeless:
            break
        width = 2.0 ** math.floor(math.log2(width * min(0.5, max(width / reached, 1e-3))))
    return low, high


def _plan_or_none(steps: Steps, nats: float) -> Plan | None:
    try:
        return plan(steps, nats)
    except TooFineError:
        return None


def _tails_or_none(steps: Steps, nats: float, tilt: int, width: float, log_delta: float) -> tuple[Tail, Tail] | None:
    for coarser in (1.0, 8.0, 64.0, 512.0):
        try:
            return tails(steps, nats, tilt, coarser * width, log_delta)
        except TooFineError:
            continue
    return None


def _largest_below(lower: Tail, target: FloatArray, high: float) -> float:
    """The largest ε <= high that the search finds to have a lower bound on δ above the target; 0.0 if none is.

    The lower bound is not monotone: far below the tilt's centre the error outweighs what is left of the tail.
    """
    starts = high * (1 - 2.0 ** -np.arange(20, -1, -0.5))
    above = lower.log_delta(starts) > target
    if not above.any():
        return 0.0
    start = float(starts[above].max())
    return float(smallest_epsilon(lower.log_delta, target, start)[0]) * (1 - 1e-14)


@dataclass(frozen=True)
class Composition(ByConvolution):
    """Several mechanisms, each run a number of times on the same rows; made by `compose` and `repeat`.

    Parameters
    ----------
    parts : tuple of (mechanism, count)

    Examples
    --------
    >>> from objpert_core.accounting import DPSGD, Gaussian
    >>> budget = compose(DPSGD(1.0, 0.01, 100), repeat(Gaussian(30.0), 3))
    >>> [count for _, count in budget.parts]
    [1, 3]
    """

    parts: tuple[tuple[Mechanism, int], ...]

    def losses(self, direction: str = "remove") -> Steps | None:
        """The privacy losses of all parts; None if one of them is not known."""
        steps: Steps = ()
        for mechanism, count in self.parts:
            own = mechanism.losses(direction)
            if own is None:
                return None
            steps += tuple((loss, k * count) for loss, k in own)
        return steps

    def _alone(self) -> Mechanism | None:
        (first, count), *others = self.parts
        if others or count > 1:
            return None
        return first._alone() if isinstance(first, ByConvolution) else first

    def _rdp(self, alpha: FloatArray) -> FloatArray:
        return np.sum([count * part._rdp(alpha) for part, count in self.parts], axis=0)

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing: the first part that proves nothing; None where it proves something."""
        reasons = (part.explain() for part, _ in self.parts)
        return next((reason for reason in reasons if reason), None) or super().explain(epsilon)


def _part(mechanism: Any, count: int) -> tuple[tuple[Mechanism, int], ...]:
    if not isinstance(mechanism, Mechanism):
        raise ValueError(f"mechanism must be one of this package's mechanisms, got {mechanism!r}")
    if isinstance(mechanism, Composition):
        return tuple((part, k * count) for part, k in mechanism.parts)
    if mechanism.losses("remove") is None:
        mechanism._rdp(np.array([2.0]))  # raises NotImplementedError, with the reason, where there is no curve either
    return ((mechanism, count),)


def compose(*mechanisms: Mechanism) -> Composition:
    """One release of each mechanism on the same rows, each chosen, if one likes, after seeing the ones before.

    Parameters
    ----------
    mechanisms : at least one Mechanism
        Their noise levels must be fixed beforehand; what they are applied to may depend on earlier releases.

    Raises
    ------
    ValueError
        If there is none, or one is not a mechanism.
    NotImplementedError
        If a bound can be neither composed by its privacy loss nor by its Rényi curve ("kifer2012").

    Notes
    -----
    Zhu, Dong and Wang (2022), Theorem 10 (dominating pairs compose); Redberg et al. (2023), Theorem D.2 and (D.11).

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
    """k releases of one mechanism on the same rows; see `compose`.

    Parameters
    ----------
    mechanism : Mechanism
    k : int >= 1

    Raises
    ------
    ValueError
        If k is not a whole number >= 1, or `mechanism` is not a mechanism.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> abs(repeat(Gaussian(10.0), 4).epsilon(1e-6) / Gaussian(5.0).epsilon(1e-6) - 1) < 1e-9
    True
    """
    return Composition(_part(mechanism, positive_integer("k", k)))
