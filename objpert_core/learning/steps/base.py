"""A kind of step: it asks for noisy sums, never sees an exact one, and makes an outcome of released and public numbers.

Noise is drawn before a sum is asked for: whether a sum can be had does not decide what is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps.base import Step
from objpert_core.learning.noise import NoiseSource, with_noise
from objpert_core.learning.problem.rows import Rows

S = TypeVar("S", bound=Step)
O = TypeVar("O", bound="Outcome")  # noqa: E741


class Some:
    """Some rows as a step sees them, and their targets, shape (n,), or (K, n) where there are several classes."""

    def __init__(self, X: Any, targets: FloatArray, row_norm: str = "normalize", constant: float = 0.0) -> None:
        self._X, self.targets, self._how = X, targets, (row_norm, constant)
        self._rows = X if isinstance(X, Rows) else None

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows before their norms are enforced, shape (n, d)."""
        return self.rows.matrix if isinstance(self._X, Rows) else self._X

    @property
    def rows(self) -> Rows:
        """The rows with norms enforced; made where they are asked for."""
        if self._rows is None:
            self._rows = Rows(self._X, *self._how)
        return self._rows


SumOf = Callable[[Some], IntArray]
"""What a statistic adds up, one array of whole numbers for some rows. One that is hashable is summed once for several
draws; it is sent to where rows are, so it has to pickle."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A sum over rows of whole numbers that each row decides by itself, and its noise.

    `of` gives the m numbers of some rows, in units of `spacing`, and `noise` pairs (σ, count) for consecutive ones.
    """

    of: SumOf
    noise: tuple[tuple[float, int], ...]
    spacing: float = 1.0


class Outcome(ABC):
    """What comes of a step: what is published, and what it does to each row by itself; it pickles."""

    changes_rows: ClassVar[bool] = False
    """Whether `apply` makes other rows of rows."""
    norm_after: ClassVar[str | None] = None
    """How the norms of these other rows are enforced; None for the fit's own way."""

    @property
    def features(self) -> int | None:
        """How many columns these other rows have; None for as many as before."""
        return None

    @abstractmethod
    def published(self) -> dict[str, Any]:
        """What is published, by the name of a model's attribute."""

    def apply(self, X: Any) -> Any:
        """What is made of rows, shape (n, d)."""
        return X

    def unclipped(self) -> Outcome:
        """What is declared of rows, for a fit that must not shorten them."""
        return self

    def seen(self, rows: Rows, row_norm: str) -> Rows:
        """As `apply`, for rows in memory, with norms enforced."""
        return Rows(self.apply(rows.matrix), row_norm, rows.constant)

    def weights(self, targets: FloatArray) -> FloatArray | None:
        """What the loss of each row is multiplied by, above 0 and at most 1; None for nothing."""
        return None


@dataclass(frozen=True, eq=False)
class PublicRows:
    """What everybody may know of the rows, and what was released of them already.

    `public_rows` is the number that rules go by, None where none is public, and `classes` that of the classes.
    `unclipped` says that ranges must not shorten rows. `outcomes` are declared or released, the last ones last, and
    `theta` is released, if the step comes after the fit.
    """

    public_rows: int | None
    columns: int
    sparse: bool = False
    classes: int = 2
    row_norm: str = "normalize"
    constant: float = 0.0
    unclipped: bool = False
    outcomes: tuple[Outcome, ...] = ()
    theta: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows that rules go by; `ValueError` where no certificate would say that it is public."""
        if self.public_rows is None:
            raise ValueError("reads_rows must be True for a step that goes by the number of rows, got False")
        return self.public_rows

    def known(self, kind: type[O]) -> O | None:
        """The last outcome of a kind."""
        return next((one for one in reversed(self.outcomes) if isinstance(one, kind)), None)

    def knowing(self, outcome: Outcome) -> PublicRows:
        """The same, and an outcome more."""
        return replace(self, outcomes=(*self.outcomes, outcome))


def other_steps(certificate: Any) -> tuple[Step, ...]:
    """The steps that have no fields of their own in a certificate."""
    found = getattr(certificate, "steps", ())
    return found if isinstance(found, tuple) else ()  # of gradient descent, a number


Published = Mapping[str, FloatArray | None]
"""What was released beside coefficients, by the names of a model's attributes."""


class Taken(ABC, Generic[S]):
    """One kind of step, without state: certificates ask it for fields, contradictions, words and plausibility.

    ``class Mine(Taken[Own], takes=Own)``. Steps without flat `fields` stand in the certificate's field `steps`. A
    model's attributes in `fingerprinted` are covered by its fingerprint, at this `place`."""

    KINDS: ClassVar[dict[type[Step], type[Taken[Any]]]] = {}
    """Every kind, by what it takes, in the order in which steps are taken."""

    takes: ClassVar[type[Step]]
    fields: ClassVar[Mapping[str, str]] = {}
    fingerprinted: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[int] = 9
    reads_rows: ClassVar[bool] = True
    """Whether what comes of the step goes by the public number of rows."""

    def __init_subclass__(cls, *, takes: type[Step], **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.takes = takes
        Taken.KINDS[takes] = cls

    def released(self, step: S, public: PublicRows) -> Generator[Statistic, FloatArray, Outcome]:
        """Yield statistics, get for each the sum with noise, shape (m,), and return what comes of them."""
        raise NotImplementedError(f"{type(self).__name__} must say what it releases")

    def refused(self, step: S, problem: Any, facts: Mapping[str, Any]) -> str | None:
        """Why the step cannot be taken beside the fit of a `Problem`, whose certificate would have these facts, as a
        sentence; None where it can."""
        return None

    def stated(self, step: S) -> dict[str, Any]:
        """The certificate's fields about a step."""
        flat = {there: getattr(step, here) for here, there in self.fields.items()}
        return flat or {"steps": (step,)}

    def step_of(self, certificate: Any) -> S | None:
        """The step that a certificate states."""
        made: Any = None
        if self.fields:
            values = {here: getattr(certificate, there, None) for here, there in self.fields.items()}
            made = None if set(values.values()) == {None} else self.takes(**values)
        else:
            made = next((step for step in other_steps(certificate) if type(step) is self.takes), None)
        return made

    def contradiction(self, certificate: Any) -> str | None:
        """What contradicts among a certificate's fields about the step, as a clause."""
        return None

    def lines(self, certificate: Any) -> list[str]:
        """The lines of a certificate's `repr` about the step."""
        if (step := self.step_of(certificate)) is None:
            return []
        facts = ", ".join(f"{name} {value}" for name, value in asdict(step).items())
        return [f"  step       {step.name}, {facts}: part of the promise"]

    def by_rows(self, certificate: Any) -> list[str]:
        """What was chosen by the public number of rows, in words."""
        step = self.step_of(certificate) if self.reads_rows else None
        return [] if step is None else [step.name]

    def covered(self, certificate: Any) -> list[str]:
        """What was published of it, in words that go on from "the coefficients"."""
        step = self.step_of(certificate) if self.fingerprinted else None
        return [] if step is None else [f"what the step {step.name} has released, with noise"]

    def plausible(self, certificate: Any, published: Published, features: int) -> bool:
        """Whether a model of so many features may have these numbers by the certificate; all are there, or None."""
        there = self.step_of(certificate) is not None
        return all((published[name] is not None) is there for name in self.fingerprinted)


def kinds() -> list[Taken[Any]]:
    """All kinds, in the order in which steps are taken."""
    return [kind() for kind in Taken.KINDS.values()]


def kind_of(step: Step) -> Taken[Any]:
    """The kind that takes a step; `ValueError` if there is none."""
    if type(step) not in Taken.KINDS:
        raise ValueError(f"steps must be of a kind that some Taken takes, got {step!r}")
    return Taken.KINDS[type(step)]()


class Summed(Protocol):
    """Rows, of which sums can be had."""

    def sum(self, of: SumOf, /) -> IntArray:
        """The sum over all rows of what `of` makes of some."""


def take(step: Step, rows: Summed, source: NoiseSource, public: PublicRows) -> Outcome:
    """Release what a step asks for; the only place where the noise of a step meets a sum."""
    asked, noisy = kind_of(step).released(step, public), None
    while True:
        try:
            statistic = asked.send(noisy)  # type: ignore[arg-type]
        except StopIteration as done:
            return done.value
        noise = [source.rounded_normal(sigma / statistic.spacing, count) for sigma, count in statistic.noise]
        exact = rows.sum(statistic.of)
        noisy = np.asarray(with_noise(exact, np.concatenate(noise)) * statistic.spacing, dtype=np.float64)
