"""Ask the data first: a release behind a private test, and a release by a parameter that a private bound chooses.

Only the answer and what `Released.published` names are released. Not covered by the promise are running times, and
errors that the supplied functions raise on some data and not on others: these functions must answer on every data set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from objpert_core._validation import choice
from objpert_core.accounting import ADD_REMOVE, ProposeTestRelease
from objpert_core.accounting.ptr.mechanism import COVERS
from objpert_core.learning.certificates.as_given import AS_GIVEN
from objpert_core.learning.noise import NoiseSource, noise_source
from objpert_core.learning.ptr.certificate import ProposeTestReleaseCertificate
from objpert_core.learning.ptr.private_tests import PrivateAnswer, PrivateTest
from objpert_core.learning.release import Refused, Released

RandomState = int | np.random.RandomState | np.random.Generator | None
Parameter = TypeVar("Parameter")
Value = TypeVar("Value")


class DataDependent(Protocol):
    """A mechanism that is more private on some data sets than on others.

    Attributes
    ----------
    covers : {"both", "added"}
        Which neighbours `epsilon_at` is about. "both": M(X) is within (ε(X), δ) of M(X') for every neighbour X' of X,
        one way. "added": M(X) and M(X with a row more) are within (ε(X), δ), both ways.
    """

    covers: str

    def epsilon_at(self, X: Any, delta: float) -> float:
        """ε(X) at δ, which depends on the data: do not publish it."""

    def release(self, X: Any, source: NoiseSource) -> Any:
        """M(X), all randomness from `source`. `release` must answer on every data set."""


class WorstCase(Protocol):
    """A mechanism that is (ε, δ)-DP on all data, to answer where a test does not pass."""

    epsilon: float
    delta: float

    def release(self, X: Any, source: NoiseSource) -> Any:
        """The mechanism's answer, all randomness from `source`."""


class PrivateBound(PrivateAnswer, Protocol):
    """A high-probability bound on what a mechanism's privacy depends on, released; see `UpperBound`."""

    def release(self, X: Any, source: NoiseSource) -> Any:
        """The bound, all randomness from `source`."""


def propose_test_release(
    X: Any,
    mechanism: DataDependent,
    test: PrivateTest,
    *,
    epsilon: float,
    delta: float,
    fallback: WorstCase | None = None,
    adjacency: str = ADD_REMOVE,
    caveat: str | None = None,
    random_state: RandomState = None,
) -> Released[Any, ProposeTestReleaseCertificate] | Refused[ProposeTestReleaseCertificate]:
    """Release M(X) if a private test of X passes; otherwise ⊥, or what a mechanism for the worst case answers.

    Redberg, Zhu and Wang (2023), Algorithm 2; docs/theorems.md, T36. What a mechanism or a test says of itself cannot
    be checked.

    Parameters
    ----------
    X : object
        The data, as mechanism and test take them; nothing else looks at the data.
    mechanism : DataDependent
        M.
    test : PrivateTest
        `DistanceTest`, `BoundTest`, or one of your own. An X with ε(X) > ε passes with probability δ' at most.
    epsilon : float >= 0
    delta : float in [0, 1)
        (ε, δ), the mechanism's share: the test is whether `mechanism.epsilon_at(X, delta) <= epsilon`. The test's own
        share comes on top; the certificate states the sum.
    fallback : WorstCase, optional
        Answers instead of ⊥. Its ε may be the mechanism's at most; an (ε, 0)-DP fallback costs nothing more.
    adjacency : {"add/remove one row", "replace one row"}
        Which data sets count as neighbours, to mechanism, test and fallback alike.
    caveat : str, optional
        Why printed numbers are not proved; the certificate then does not verify.
    random_state : None, int, RandomState or Generator
        As for `noise_source`.

    Returns
    -------
    Released or Refused
        "fallback" in `Released.published` says whether the fallback has answered; the promise covers that, too.

    Examples
    --------
    >>> from objpert_core.learning.ptr import DistanceTest
    >>> class Stable:  # answers the winner, which nobody can change in a data set far from a draw
    ...     covers = "both"
    ...     def epsilon_at(self, X, delta): return 0.0 if abs(sum(X)) > 1 else float("inf")
    ...     def release(self, X, source): return sum(X) > 0
    >>> test = DistanceTest(lambda X: max(0, abs(sum(X)) - 1), epsilon=1.0, failure=1e-6)
    >>> found = propose_test_release([1] * 50, Stable(), test, epsilon=0.0, delta=0.0)
    >>> found.value, found.certificate.epsilon, found.certificate.delta
    (True, 1.0, 1e-06)
    >>> propose_test_release([1], Stable(), test, epsilon=0.0, delta=0.0).released
    False
    """
    _needs("mechanism", mechanism, "covers", "epsilon_at", "release")
    _needs("test", test, "epsilon", "delta", "failure", "shifted", "passes")
    accounted = ProposeTestRelease(
        epsilon,
        delta,
        test.epsilon,
        test.delta,
        test.failure,
        choice("mechanism.covers", mechanism.covers, COVERS),
        test.shifted,
        fallback_delta=0.0 if fallback is None else _fallback_delta(fallback, epsilon),
        adjacency=adjacency,
    )
    source = noise_source(random_state)
    certificate = _certificate(accounted, source, test, caveat, None if fallback is None else accounted.fallback_delta)
    if test.passes(X, source):
        return Released(mechanism.release(X, source), certificate, {} if fallback is None else {"fallback": False})
    if fallback is None:
        return Refused(certificate)
    return Released(fallback.release(X, source), certificate, {"fallback": True})


def release_under_bound(
    X: Any,
    bound: PrivateBound,
    choose: Callable[[Any], Parameter | None],
    run: Callable[[Any, Parameter, NoiseSource], Value],
    *,
    epsilon: float,
    delta: float,
    covers: str = "both",
    adjacency: str = ADD_REMOVE,
    caveat: str | None = None,
    random_state: RandomState = None,
) -> Released[Value, ProposeTestReleaseCertificate] | Refused[ProposeTestReleaseCertificate]:
    """Release a bound on what M's privacy depends on, choose M's parameter φ by it, and release M_φ(X).

    Redberg, Zhu and Wang (2023), Algorithm 5; docs/theorems.md, T36. Here δ and δ' add up, as the parameter can be
    wrong at every X.

    Parameters
    ----------
    X : object
        The data; `bound` and `run` look at the data, `choose` does not.
    bound : PrivateBound
        An `UpperBound`, or one of your own.
    choose : callable
        From the released bound to a parameter with which M is (ε, δ)-private at every X that the bound is right for;
        None, where there is no such parameter, answers ⊥.
    run : callable
        ``run(X, parameter, source)`` gives M_φ(X), all randomness from `source`.
    epsilon : float >= 0
    delta : float in [0, 1)
        (ε, δ) of M_φ at X. The bound's own share comes on top.
    covers : {"both", "added"}
        Which neighbours (ε, δ) is about, as for `DataDependent`.
    adjacency, caveat, random_state
        As for `propose_test_release`.

    Returns
    -------
    Released or Refused
        `Released.published` holds the "bound" and the "parameter".

    Examples
    --------
    >>> from objpert_core.learning.ptr import UpperBound
    >>> spread = UpperBound(lambda X: float(max(X)), sensitivity=1.0, epsilon=1.0, failure=1e-6)
    >>> found = release_under_bound([3.0, 1.0], spread, lambda most: most or None,
    ...     lambda X, scale, source: sum(X) + scale * source.standard_normal(1)[0], epsilon=1.0, delta=1e-6)
    >>> found.certificate.epsilon, found.certificate.delta, sorted(found.published)
    (2.0, 2e-06, ['bound', 'parameter'])
    """
    _needs("bound", bound, "epsilon", "delta", "failure", "shifted", "release")
    for name, given in (("choose", choose), ("run", run)):
        if not callable(given):
            raise ValueError(f"{name} must be a function, got {given!r}")
    accounted = ProposeTestRelease(
        epsilon,
        delta,
        bound.epsilon,
        bound.delta,
        bound.failure,
        covers,
        bound.shifted,
        uniform=True,
        adjacency=adjacency,
    )
    source = noise_source(random_state)
    certificate = _certificate(accounted, source, bound, caveat, None)
    released = bound.release(X, source)
    parameter = choose(released)
    if parameter is None:
        return Refused(certificate, "nothing was released: no parameter is private enough under the released bound")
    return Released(run(X, parameter, source), certificate, {"bound": released, "parameter": parameter})


def _needs(name: str, given: Any, *attributes: str) -> None:
    if missing := [one for one in attributes if not hasattr(given, one)]:
        raise ValueError(f"{name} must have {', '.join(attributes)}, got {given!r} without {', '.join(missing)}")


def _fallback_delta(fallback: WorstCase, epsilon: float) -> float:
    """δ of the fallback, whose ε must be no larger than the mechanism's: the proof has room for no more."""
    _needs("fallback", fallback, "epsilon", "delta", "release")
    if not 0 <= fallback.epsilon <= epsilon:
        raise ValueError(f"fallback.epsilon must be from 0 to epsilon = {epsilon!r}, got {fallback.epsilon!r}")
    return fallback.delta


def _certificate(
    accounted: ProposeTestRelease, source: NoiseSource, test: Any, caveat: str | None, fallback_delta: float | None
) -> ProposeTestReleaseCertificate:
    """Every field is fixed before the data are looked at."""
    if caveat is not None and not isinstance(caveat, str):
        raise ValueError(f"caveat must be None or a text, got {caveat!r}")
    facts = test.facts() if hasattr(test, "facts") else {"test": "own"}
    return ProposeTestReleaseCertificate.from_mechanism(
        accounted,
        accountant="profile",
        row_norm=AS_GIVEN,
        intercept_scaling=0.0,
        **source.provenance,
        fallback_delta=fallback_delta,
        certified=caveat is None,
        caveat=caveat,
        **facts,
    )
