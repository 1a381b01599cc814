"""The certificates of releases behind a private test, and of the best of several runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from objpert_core import accounting
from objpert_core.accounting import Mechanism, PrivateSelection, ProposeTestRelease
from objpert_core.accounting.numerics.rounding import promised
from objpert_core.accounting.ptr.mechanism import COVERS
from objpert_core.learning.certificates.as_given import AsGivenCertificate
from objpert_core.learning.certificates.field_rules import (
    COUNT,
    FINITE,
    NONNEGATIVE,
    ONE,
    PROBABILITY,
    TEXT,
    TRUTH,
    Rule,
    fact,
    one_of,
    or_nothing,
)
from objpert_core.learning.geometric import tail_point
from objpert_core.learning.ptr.private_tests import UpperBound

TESTS = ("distance", "upper bound", "own")
"""What stood in front of the release: `DistanceTest`, `UpperBound` (in a `BoundTest` or by itself), or another."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ProposeTestReleaseCertificate(AsGivenCertificate, mechanisms=("ProposeTestRelease",)):
    """The certificate of `propose_test_release` and `release_under_bound`; common fields: `PrivacyCertificate`.

    (ε, δ) is what the whole costs, ⊥ included. **Taken on trust** is what only the supplier of mechanism and test can
    know: the value of ε(X), the bound on how far neighbours move the test's distance or statistic, (ε̂, δ̂) and δ' of a
    test of the supplier's own, and that the fallback keeps its (ε, δ) on all data.

    Attributes
    ----------
    release_epsilon, release_delta : float
        (ε, δ) of what was let through: the test is whether ε(X) <= ε, at this δ.
    test_epsilon, test_delta : float
        (ε̂, δ̂) of the test, or of the released bound.
    failure : float
        δ': the probability that the test passes an X that it should stop, or that the bound is no bound.
    covers : {"both", "added"}
        Which neighbours ε(X) is about.
    shifted, uniform : bool
        Whether δ' also bounds the failure on neighbours of such an X; whether a released bound chose the parameter.
    test : {"distance", "upper bound", "own"}
    sensitivity, shift : float or None
        How far neighbours move the statistic of an upper bound, and by how much the noisy statistic was moved up.
    threshold : float or None
        The test's threshold.
    fallback_delta : float or None
        δ of what runs where the test does not pass; None where nothing runs.
    certified, caveat : bool, str or None
        False, and why, where the numbers are those of a printed theorem that is not valid. It does not verify then.
    """

    delta: float = fact(PROBABILITY)
    release_epsilon: float = fact(NONNEGATIVE)
    release_delta: float = fact(PROBABILITY)
    test_epsilon: float = fact(NONNEGATIVE)
    test_delta: float = fact(PROBABILITY)
    failure: float = fact(PROBABILITY)
    covers: str = fact(one_of(*COVERS))
    shifted: bool = fact(TRUTH)
    uniform: bool = fact(TRUTH)
    test: str = fact(one_of(*TESTS))
    sensitivity: float | None = fact(or_nothing(NONNEGATIVE), default=None)
    shift: float | None = fact(or_nothing(NONNEGATIVE), default=None)
    threshold: float | None = fact(or_nothing(FINITE), default=None)
    fallback_delta: float | None = fact(or_nothing(PROBABILITY), default=None)
    certified: bool = fact(TRUTH, default=True)
    caveat: str | None = fact(or_nothing(TEXT), default=None)

    @classmethod
    def numbers(cls, mechanism: ProposeTestRelease) -> dict[str, Any]:
        """Name the split, and the cost of the whole."""
        epsilon, delta = mechanism.guarantee
        return {name: getattr(mechanism, name) for name in _SPLIT} | {"epsilon": epsilon, "delta": delta}

    def rebuild(self) -> ProposeTestRelease:
        """See `PrivacyCertificate.rebuild`; the split alone decides."""
        own = {name.removeprefix("release_"): getattr(self, name) for name in _SPLIT}
        return ProposeTestRelease(**own, fallback_delta=self.fallback_delta or 0.0, adjacency=self.mechanism_adjacency)

    def holds(self) -> bool:
        """Say whether the test, as described, fails as seldom as stated, and the numbers are not merely printed."""
        if not self.certified or self.rows_per_person > 1:
            return False
        if self.test == "distance":
            return not self.uniform and self.threshold == tail_point(self.test_epsilon, self.failure) + self.shifted
        if self.test == "upper bound":
            return self.shift == self._bound().shift and (self.threshold is None) is self.uniform
        return True

    def _bound(self) -> UpperBound:
        """The bound that would be released; its statistic plays no part here."""
        sensitivity = np.nan if self.sensitivity is None else self.sensitivity
        return UpperBound(float, sensitivity, self.test_epsilon, self.failure, self.test_delta, self.shifted)

    def _contradiction(self) -> str | None:
        if self.certified is (self.caveat is not None):
            return f"caveat must be a text where certified is False, and only there, got {self.caveat!r}"
        if self.uniform and self.fallback_delta is not None:
            return f"fallback_delta must be None behind a released bound, got {self.fallback_delta!r}"
        of_bound = self.test == "upper bound"
        if any((stated is not None) is not of_bound for stated in (self.sensitivity, self.shift)):
            return "sensitivity and shift must be numbers for an upper bound, and only there"
        return super()._contradiction()

    def _lines(self) -> list[str]:
        neighbours = "every neighbour" if self.covers == "both" else "added rows only"
        behind = "nothing: ⊥" if self.fallback_delta is None else "a mechanism that is private enough on all data"
        if self.test == "upper bound":
            kind = f"upper bound, sensitivity {self.sensitivity:.6g}, moved up by {self.shift:.6g}"
        else:
            kind = "of a distance" if self.test == "distance" else "supplied with the mechanism"
        at = "" if self.threshold is None else f", threshold {self.threshold:.6g}"
        caveat = [] if self.caveat is None else [f"  NOT PROVED {self.caveat}"]
        return [
            *caveat,
            f"  released   ({promised(self.release_epsilon)}, {promised(self.release_delta)}); covers {neighbours}",
            f"  {'bound ' if self.uniform else 'test  '}     ({promised(self.test_epsilon)}, "
            f"{promised(self.test_delta)}), fails with probability {promised(self.failure)}"
            f"{', next to X as well' if self.shifted else ''}: {kind}{at}",
            *([] if self.uniform else [f"  otherwise  {behind}"]),
            "  on trust   ε(X), the sensitivities, a supplied test and the fallback are as their supplier says",
        ]


_SPLIT = (
    "release_epsilon",
    "release_delta",
    "test_epsilon",
    "test_delta",
    "failure",
    "covers",
    "shifted",
    "uniform",
)


@dataclass(frozen=True, kw_only=True, repr=False)
class BestOfCertificate(AsGivenCertificate, algorithm="best of runs", mechanisms=("PrivateSelection",)):
    """The certificate of `best_of`; common fields: `PrivacyCertificate`.

    **Taken on trust**: that one run, whichever the candidate, is as private as `base` says, and that the score looks at
    nothing private but the run's answer.

    Attributes
    ----------
    base, arguments : str, tuple
        The mechanism of one run, by its name in `objpert_core.accounting`, and what it was made with.
    mean_runs, eta : float, float or None
        E[K]; K is geometric for 1.0, Poisson for None.
    candidates : int
        How many there were to draw from.
    """

    base: str = fact(TEXT)
    arguments: tuple[Any, ...] = fact(
        Rule("a tuple of numbers and texts", lambda value: type(value) is tuple and _all_plain(value))
    )
    mean_runs: float = fact(NONNEGATIVE)
    eta: float | None = fact(or_nothing(ONE))
    candidates: int = fact(COUNT)

    @classmethod
    def numbers(cls, mechanism: PrivateSelection) -> dict[str, Any]:
        """Name one run's mechanism and the law of K."""
        return {
            "base": type(mechanism.base).__name__,
            "arguments": plain_arguments(mechanism.base),
            "mean_runs": mechanism.mean_runs,
            "eta": mechanism.eta,
        }

    def rebuild(self) -> PrivateSelection:
        return PrivateSelection(_made(self.base, self.arguments), self.mean_runs, self.eta)

    def holds(self) -> bool:
        """Say whether the run's numbers are written as the run's mechanism would write them."""
        return plain_arguments(self.rebuild().base) == self.arguments and self.rows_per_person == 1

    def _lines(self) -> list[str]:
        law = "geometric" if self.eta is not None else "Poisson"
        return [
            f"  run        {_made(self.base, self.arguments)!r}",
            f"  choice     the best of K runs, K {law} with mean {self.mean_runs:.6g}, each with one of "
            f"{self.candidates} candidates drawn at random",
            "  on trust   each run is as its supplier says; the score is computed from public rows",
        ]


def plain_arguments(mechanism: Mechanism) -> tuple[Any, ...]:
    """What a mechanism of `objpert_core.accounting` was made with, numbers and texts; otherwise `ValueError`."""
    arguments = tuple(getattr(mechanism, item.name) for item in fields(mechanism))  # type: ignore[arg-type]
    if getattr(accounting, type(mechanism).__name__, None) is not type(mechanism) or not _all_plain(arguments):
        raise ValueError(f"base must be a mechanism that is made of numbers, for a certificate, got {mechanism!r}")
    return arguments


def _all_plain(values: tuple[Any, ...]) -> bool:
    return all(value is None or type(value) in (bool, int, float, str) for value in values)


def _made(name: str, arguments: tuple[Any, ...]) -> Mechanism:
    kind = getattr(accounting, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
        raise ValueError(f"base must be the name of a mechanism, got {name!r}")
    names = [item.name.removeprefix("release_").removeprefix("promised_") for item in fields(kind)]  # type: ignore[arg-type]
    return kind(**dict(zip(names, arguments, strict=True)))
