"""What every mechanism is: a frozen description that answers `.delta(epsilon)`, `.epsilon(delta)` and `.rdp(alpha)`."""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from objpert_core._validation import (
    FloatArray,
    alpha_array,
    choice,
    delta_array,
    epsilon_array,
    like_input,
    positive,
    positive_integer,
)
from objpert_core.accounting.convolution.distribution import DiscretePLD, distribution
from objpert_core.accounting.convolution.sums import merged
from objpert_core.accounting.laws.base import Steps
from objpert_core.accounting.laws.discrete import DiscreteLoss
from objpert_core.accounting.mechanisms.event_forms import EventMaker
from objpert_core.accounting.mechanisms.perturbation import NormalSource, Perturbation
from objpert_core.accounting.numerics import chain
from objpert_core.accounting.numerics.search import smallest_epsilon
from objpert_core.accounting.numerics.tail import log_tail_of_profile
from objpert_core.accounting.numerics.tradeoff import false_negative_rates, odds_of

ADD_REMOVE = "add/remove one row"
"""Neighbours differ by one row more or less: `adjacency` of most mechanisms."""
REPLACE_ONE = "replace one row"
"""Neighbours have equally many rows and differ in one."""
ADJACENCIES = (ADD_REMOVE, REPLACE_ONE)
DIRECTIONS = ("remove", "add")  # of an adjacency: the two orders of a pair of neighbours
_FINER, _WIDEST, _DENSITY = 4.0, 1e-3, 6  # of what is exported: ε to a relative 1e-6


def with_infinities(curve: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """curve(at), where numbers that are too large for a double, or logarithms of 0, are meant to be infinite."""
    with np.errstate(over="ignore", divide="ignore"):
        return curve(at)


class Mechanism(ABC):
    """What every mechanism answers; subclasses supply the logarithm of the profile and the Rényi curve.

    Scalars in, float out; arrays in, arrays out. Parameters and arguments out of the range that is stated raise a
    `ValueError`.
    """

    perturbs_objective: ClassVar[bool] = False
    """Whether `perturbation` draws what is added to an objective."""
    by_convolution: ClassVar[bool] = False
    """Whether δ and ε come from a numerical convolution of privacy losses."""

    # --- what it can answer ------------------------------------------------------------------------------------

    @property
    def adjacency(self) -> str:
        """Which data sets count as neighbours, `ADD_REMOVE` or `REPLACE_ONE`; a field where there is a choice."""
        return ADD_REMOVE

    @property
    def has_profile(self) -> bool:
        """Whether `delta` and `epsilon` answer; otherwise they raise `NotImplementedError`."""
        return True

    @property
    def has_rdp(self) -> bool:
        """Whether `rdp` answers; otherwise it raises `NotImplementedError`."""
        return True

    @property
    def has_losses(self) -> bool:
        """Whether `losses` is known, so that `pld` answers and a composition need not go through Rényi curves."""
        return self.losses("remove") is not None

    @property
    def own_profile(self) -> bool:
        """Whether δ comes from more than the Rényi curve."""
        return self.has_profile

    @property
    def quick_profile(self) -> bool:
        """Whether δ at thousands of ε costs next to nothing: a formula, rather than a convolution or an integral."""
        return not self.by_convolution

    @property
    def lower_bound(self) -> Mechanism | None:
        """The Gaussian mechanism that no bound on this one can be below; None where none is known."""
        return None

    @property
    def gaussian_ratio(self) -> float | None:
        """The a = sensitivity/σ of a Gaussian mechanism whose pair is tight for this bound at every real ε; or None."""
        return None

    def no_profile(self) -> str:
        """Why `delta` does not answer, as one sentence."""
        return f"{type(self).__name__} has no privacy profile; use via_rdp(mechanism)"

    def no_rdp(self) -> str:
        """Why `rdp` does not answer, as one sentence."""
        return f"{type(self).__name__} has no Rényi curve"

    def no_losses(self) -> str:
        """Why `losses` is None, as one sentence."""
        return self.explain() or f"{type(self).__name__} is known by its Rényi curve only; use delta, epsilon or rdp"

    # --- what subclasses supply --------------------------------------------------------------------------------

    def _alone(self) -> Mechanism | None:
        """This mechanism or its only part, if a formula or a quadrature answers; None where losses are convolved."""
        return self

    @abstractmethod
    def _log_delta(self, epsilon: FloatArray) -> FloatArray:
        """log δ for a 1-d array of ε >= 0; 0.0 where the bound proves nothing."""

    @abstractmethod
    def _rdp(self, alpha: FloatArray) -> FloatArray:
        """Rényi divergence for a 1-d array of α >= 1; inf where the bound proves nothing."""

    def _epsilon(self, log_delta: FloatArray) -> FloatArray:
        return smallest_epsilon(self._log_delta, log_delta)

    def _log_tail(self, epsilon: FloatArray) -> FloatArray:
        """log of a bound on Pr[privacy loss > ε] for a 1-d array of ε >= 0: what the profile alone implies."""
        return log_tail_of_profile(self._log_delta, epsilon)

    def _mu(self) -> float:
        return math.inf if self.gaussian_ratio is None else self.gaussian_ratio

    def _rho(self) -> float:
        return math.inf

    def losses(self, direction: str = "remove") -> Steps | None:
        """The independent privacy losses that add up to this mechanism's, with counts; None where there are none."""
        return None

    # --- what it answers ---------------------------------------------------------------------------------------

    def delta(self, epsilon: Any) -> Any:
        """Privacy profile: the smallest δ this bound proves at a finite ε >= 0, in [0, 1].

        1.0 where the bound proves nothing, 0.0 below the smallest double.
        """
        eps = epsilon_array(epsilon)
        return like_input(epsilon, np.exp(with_infinities(self._log_delta, eps.ravel())).reshape(eps.shape))

    def log_delta(self, epsilon: Any) -> Any:
        """Natural logarithm of `delta(epsilon)`, which does not underflow where a closed form is known."""
        eps = epsilon_array(epsilon)
        return like_input(epsilon, with_infinities(self._log_delta, eps.ravel()).reshape(eps.shape))

    def epsilon(self, delta: Any) -> Any:
        """Inverse of the privacy profile at 0 < δ < 1, rounded up: `delta(epsilon(d)) <= d` holds in floating point.

        0.0 where δ >= delta(0), `math.inf` where the bound proves nothing.
        """
        target = delta_array(delta)
        log_target = np.log(target.ravel())
        log_target -= 4e-16 * (1 - log_target)  # what log and exp may round, so that delta(epsilon(d)) <= d
        return like_input(delta, with_infinities(self._epsilon, log_target).reshape(target.shape))

    def rdp(self, alpha: Any) -> Any:
        """Rényi curve: a bound on the Rényi divergence of finite order α >= 1, both directions of the adjacency.

        At 1 the Kullback–Leibler divergence; `math.inf` where the bound proves nothing.
        """
        orders = alpha_array(alpha)
        return like_input(alpha, with_infinities(self._rdp, orders.ravel()).reshape(orders.shape))

    def tradeoff(self, false_positive_rate: Any) -> Any:
        """Trade-off function: the smallest false negative rate of an attacker with that false positive rate.

        The attacker decides from the release whether a row was in the data: a false positive accuses a row that was
        not, a false negative misses one that was. At a false positive rate x, perfect privacy has 1 − x, and no privacy
        0. The function holds for both directions of the adjacency, so it is its own inverse (Dong, Roth and Su 2022,
        Propositions 6 and 12, over every real ε). Rates, a float or an array, lie in [0, 1]; the result is rounded
        down, 0.0 where the bound proves nothing.

        >>> from objpert_core.accounting import Gaussian
        >>> round(Gaussian(sigma=1.0).tradeoff(0.05), 6)  # Φ(Φ⁻¹(0.95) − 1)
        0.740489
        """
        return false_negative_rates(self._log_delta, false_positive_rate)

    def tail(self, epsilon: Any) -> Any:
        """Upper bound on Pr[privacy loss > ε]: how often a release may move somebody's odds by more than e^ε.

        δ(ε) is smaller: there a loss counts by 1 − e^{ε − loss} only. δ is slack: any event may exceed its limit
        e^ε·Pr[…] by δ; δ is not the probability that the limit fails. ε is that of `delta`; the result is rounded up,
        1.0 where the bound proves nothing.

        docs/theorems.md, T22. Exact for the Gaussian mechanism and for objective perturbation under the bounds whose
        proof compares losses point by point. Any other mechanism answers with the least bound that its profile implies,
        min over ε' < ε of δ(ε')/(1 − e^{ε' − ε}), which also holds for whatever is computed from the release.

        >>> from objpert_core.accounting import Gaussian
        >>> round(Gaussian(sigma=1.0).tail(1.0), 6)  # Φ(1/2 − 1), where δ(1) = 0.127
        0.308538
        """
        eps = epsilon_array(epsilon)
        log_tail = self._log_tail(eps.ravel())
        with np.errstate(under="ignore"):
            rounded = np.nextafter(np.exp(log_tail * (1 - 2.0**-51)), 2.0)  # up, exp's own rounding included
        return like_input(epsilon, np.minimum(rounded, 1.0).reshape(eps.shape))

    def mu(self) -> float:
        """Gaussian differential privacy: a μ such that telling neighbours apart is no easier than N(μ, 1) from N(0, 1).

        Exact, and the smallest possible, for the Gaussian mechanism, for the logistic bound at λ >= 2σ², where it is
        R/σ, and for DP-SGD under add/remove, where sampling does not help: √steps/noise multiplier. For other bounds
        with a privacy loss law the smallest μ that the bound proves, rounded up. Compositions add μ², several rows of
        one person add μ. `math.inf` where no μ is known. Dong, Roth and Su (2022); docs/theorems.md, T20, for why
        finitely many ε are enough.

        >>> from objpert_core.accounting import ObjectivePerturbation
        >>> ObjectivePerturbation(sigma=5, lam=50).mu()
        0.2
        """
        return _mu_of(self)

    def rho(self) -> float:
        """Zero-concentrated differential privacy: a ρ with Rényi divergence at most ρ·α at every order α > 1.

        Exact for the Gaussian mechanism, a²/2, for the logistic bound at λ >= 2σ² and for DP-SGD under add/remove.
        Elsewhere the smaller of μ²/2 and, where it is known, the largest rdp(α)/α; rounded up. `math.inf` where no ρ is
        known. Bun and Steinke (2016); μ-GDP is μ²/2-zCDP, as Rényi divergences do not grow under post-processing.

        >>> from objpert_core.accounting import Gaussian
        >>> Gaussian(sigma=2.0).rho()
        0.125
        """
        return min(0.5 * self.mu() ** 2, self._rho())

    def odds(self, delta: Any) -> Any:
        """e^{ε(δ)}: by which factor a release moves somebody's odds on a row, in all but `tail(ε)` of releases.

        Rounded up; the argument is that of `epsilon`. `math.inf` where the bound proves nothing, or e^ε overflows.

        >>> from objpert_core.accounting import ObjectivePerturbation
        >>> round(ObjectivePerturbation(sigma=5, lam=20).odds(1e-5), 4)
        2.0658
        """
        return like_input(delta, odds_of(np.asarray(self.epsilon(delta))))

    def pld(self, interval: float | None = None, direction: str = "remove", pessimistic: bool = True) -> DiscretePLD:
        """Discretised privacy loss distribution of this bound.

        `ValueError` if `interval` is so small that millions of losses would be needed; `NotImplementedError`, which
        says why, if the bound has no privacy loss distribution.

        Parameters
        ----------
        interval : float > 0, optional
            Distance of neighbouring losses, in nats; by default a thousandth of the loss's standard deviation, or
            what some 100,000 losses allow.
        direction : {"remove", "add"}
            Direction of the adjacency: whether the row is removed or added. The two may differ, as for DP-SGD.
        pessimistic : bool
            Whether the profile of the distribution is an upper or a lower bound on the profile of this bound.

        Examples
        --------
        >>> from objpert_core.accounting import Gaussian
        >>> pld = Gaussian(2.0).pld(interval=0.01)
        >>> 0 <= pld.delta(0.5) - Gaussian(2.0).delta(0.5) < 1e-5
        True
        """
        steps = self.losses(choice("direction", direction, DIRECTIONS))
        if steps is None:
            raise NotImplementedError(self.no_losses())
        return distribution(steps, interval, direction, pessimistic)

    def to_dp_event(self, adjacency: str | None = None, *, cover: bool = False) -> Any:
        """The event of Google's dp_accounting that describes this mechanism; its accountants then take over.

        A Gaussian event wherever the mechanism is as private as a Gaussian one at every ε (`gaussian_ratio`), the
        logistic bound at λ >= 2σ² included. `NotImplementedError`, which says why, if dp_accounting has no event for
        the mechanism; `ValueError` if `adjacency` has another name, or is not that of a mechanism about rows that are
        added or removed; `ImportError` without dp_accounting.

        Parameters
        ----------
        adjacency : str, optional
            The neighbouring relation of the accountant that reads the event. `ADD_REMOVE` unless given: the numbers
            are then those of this mechanism, whatever its own adjacency. `REPLACE_ONE`, for mechanisms about replaced
            rows, is for `PLDAccountant`, and the only one for DP-SGD and what is composed with it;
            `from_dp_event(event, "replace one row")` gives the same mechanism back. Where rows are replaced,
            `RdpAccountant` takes Gaussian noise for twice what it is.
        cover : bool, default=False
            Write what has no event as Gaussian noise that covers it (`mu`): an upper bound, and often a loose one.

        Examples
        --------
        >>> from objpert_core.accounting import ObjectivePerturbation
        >>> ObjectivePerturbation(sigma=5, lam=50).to_dp_event()  # doctest: +SKIP
        GaussianDpEvent(noise_multiplier=5.0)
        """
        return self.event(_dp_accounting("dp_event"), adjacency, cover=cover)

    def event(self, events: Any, adjacency: str | None = None, *, cover: bool = False) -> Any:
        """Make what `to_dp_event` does with other `events`: a module or `PlainEvents`, as `write_dp_events` needs."""
        where = adjacency
        if where is None:
            where = REPLACE_ONE if self.only_replaced else ADD_REMOVE
        if choice("adjacency", where, ADJACENCIES) == REPLACE_ONE and self.adjacency != REPLACE_ONE:
            raise ValueError(f"adjacency must be {ADD_REMOVE!r} for this mechanism, got {where!r}: see replace_one")
        if where == ADD_REMOVE and self.only_replaced:
            raise NotImplementedError(f"dp_accounting has an event for this mechanism with {REPLACE_ONE!r} only")
        return self._dp_event(EventMaker(events, where == REPLACE_ONE, cover))

    @property
    def only_replaced(self) -> bool:
        """Whether the mechanism's event has to be read by an accountant of replaced rows."""
        return False

    def no_event(self) -> str:
        """Why dp_accounting has no event for the mechanism, as one sentence."""
        return (
            f"dp_accounting has no event for {type(self).__name__}, whose privacy is not that of Gaussian noise; "
            "use to_pld(), which its accountants compose"
        )

    def _dp_event(self, make: EventMaker) -> Any:
        if self.gaussian_ratio is not None:
            return make.gaussian(self.gaussian_ratio)
        if not make.cover:
            raise NotImplementedError(self.no_event())
        if not self.mu() < math.inf:
            raise NotImplementedError(f"{self.no_event()}. No Gaussian noise is known to cover it")
        return make.gaussian(self.mu())

    def to_pld(self, interval: float | None = None) -> Any:
        """The pessimistic privacy loss distribution of this bound for Google's dp_accounting, in both directions.

        δ is too large by some 1e-12. A bound with a profile only gives the symmetric pair of the profile. dp_accounting
        composes distributions of one `interval` only; arguments and errors as in `pld`. `NotImplementedError` if the
        bound has neither a privacy loss nor a profile; `ImportError` without dp_accounting.
        """
        _dp_accounting("dp_event")  # before anything is computed
        sides = [self.losses(direction) for direction in DIRECTIONS]
        if any(side is None for side in sides):
            if not self.has_profile or self.explain() is not None:
                raise NotImplementedError(self.no_losses())
            pair = DiscreteLoss(*chain.atoms(*chain.polygon(self._log_delta, _DENSITY)))
            sides = [((pair, 1),), ((pair, 1),)]
        both = [(merged(side), direction) for side, direction in zip(sides, DIRECTIONS, strict=True) if side]
        if interval is None:
            step = min(distribution(both[0][0]).interval / _FINER, _WIDEST)
        else:
            step = positive("interval", interval)
        made = [distribution(side, step, direction) for side, direction in both]
        pmf = _dp_accounting("pld.pld_pmf").DensePLDPmf
        pmfs = [pmf(step, *one.on_grid(step), True) for one in made]
        whole = _dp_accounting("pld.privacy_loss_distribution").PrivacyLossDistribution
        return whole(pmfs[0]) if sides[0] == sides[1] else whole(*pmfs)

    def explain(self, epsilon: float | None = None) -> str | None:
        """Why the bound proves nothing (at `epsilon`, if given), as one sentence; None where it proves something."""
        if epsilon is not None and self.has_profile and self.delta(epsilon) >= 1.0:
            return f"At ε = {epsilon:g} this bound says nothing yet; it starts at a larger ε."
        return None

    def perturbation(self, source: NormalSource, dimension: int) -> Perturbation:
        """Draw what this mechanism adds to an objective of `dimension` >= 1 parameters, by normal draws of `source`.

        `NotImplementedError` if the mechanism does not perturb an objective (`perturbs_objective` is False).
        """
        raise NotImplementedError(f"{type(self).__name__} does not perturb an objective")


def _dp_accounting(module: str) -> Any:
    try:
        return importlib.import_module(f"dp_accounting.{module}")
    except ImportError as error:
        needed = "this needs Google's dp_accounting, which is not installed: pip install dp-accounting"
        raise ImportError(needed) from error


@lru_cache(maxsize=4096)
def _mu_of(mechanism: Mechanism) -> float:
    return mechanism._mu()


class Wrapper(Mechanism):
    """A mechanism that says something about another one, `base`, for the same neighbours."""

    base: Mechanism

    @property
    def adjacency(self) -> str:
        """The base's."""
        return self.base.adjacency

    @property
    def has_rdp(self) -> bool:
        return self.base.has_rdp

    def no_rdp(self) -> str:
        return self.base.no_rdp()

    def explain(self, epsilon: float | None = None) -> str | None:
        return self.base.explain() or super().explain(epsilon)


class View(Wrapper):
    """The mechanism `base` itself, looked at in another way: what is proved of `base` holds for it."""

    def _mu(self) -> float:
        return self.base.mu()

    def _rho(self) -> float:
        return self.base.rho()

    @property
    def only_replaced(self) -> bool:
        return self.base.only_replaced

    def _dp_event(self, make: EventMaker) -> Any:
        return self.base._dp_event(make)


def check_adjacency(mechanism: Mechanism) -> None:
    """`ValueError` unless the mechanism's `adjacency` is one of `ADJACENCIES`."""
    choice("adjacency", mechanism.adjacency, ADJACENCIES)


def moved_by(adjacency: str, rows_per_person: int = 1, replaced: float = math.sqrt(2.0)) -> float:
    """How far one person's rows move a sum to which each adds 1 at most, and one that is replaced `replaced`."""
    alone = choice("adjacency", adjacency, ADJACENCIES) == ADD_REMOVE
    return positive_integer("rows_per_person", rows_per_person) * (1.0 if alone else replaced)


def common_adjacency(mechanisms: Iterable[Mechanism]) -> str:
    """The adjacency that all mechanisms share; `ValueError` where they differ: their losses do not add up."""
    found = list(dict.fromkeys(mechanism.adjacency for mechanism in mechanisms))
    if len(found) > 1:
        raise ValueError(f"mechanisms must share one adjacency to be composed, got {' and '.join(map(repr, found))}")
    return found[0]


def a_mechanism(name: str, value: Any) -> Mechanism:
    """`value`; `ValueError` unless it is a mechanism."""
    if not isinstance(value, Mechanism):
        raise ValueError(f"{name} must be one of this package's mechanisms, got {value!r}")
    return value


def with_rdp(mechanism: Mechanism) -> Mechanism:
    """`mechanism`; `NotImplementedError`, with the reason, unless it has a Rényi curve."""
    if not mechanism.has_rdp:
        raise NotImplementedError(mechanism.no_rdp())
    return mechanism
