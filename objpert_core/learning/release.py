"""What a private fit returns: a model with its certificate, or a refusal that cost as much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NoReturn, TypeVar

from objpert_core._validation import FloatArray
from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.steps.base import Outcome

Certificate = TypeVar("Certificate", bound=PrivacyCertificate)
Value = TypeVar("Value")

NOTHING_RELEASED = "nothing was released: the private test of the data did not pass"
"""What a refusal says that says no more: it may be published, as the refusal may."""


class _Outcome:
    """An outcome has no truth value: as False, a refusal would pass for an error, though it has spent its budget."""

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is neither true nor false: ask .released")


@dataclass(frozen=True)
class Release(_Outcome, Generic[Certificate]):
    """A private fit that released a model.

    Attributes
    ----------
    theta : ndarray, shape (D,), or (K, D) for K fits under one certificate
        The private parameters, which may be published. An intercept, the last, still has to be multiplied by
        `intercept_scaling`.
    certificate : PrivacyCertificate
        What publishing `theta` and all of `published` costs.
    gradient_norms : tuple of float
        The solver's trace. Depends on the data: outside the guarantee.
    outcomes : tuple of Outcome
        What came of the steps before and after the fit, and declared ranges of the columns.

    """

    theta: FloatArray
    certificate: Certificate
    gradient_norms: tuple[float, ...]
    outcomes: tuple[Outcome, ...] = ()

    @property
    def published(self) -> dict[str, Any]:
        """What is published beside θ, by the name of a model's attribute."""
        return {name: value for one in self.outcomes for name, value in one.published().items()}

    @property
    def released(self) -> Literal[True]:
        """True: there is a model."""
        return True

    def required(self) -> Release[Certificate]:
        """Return this release; a refusal raises here."""
        return self


@dataclass(frozen=True)
class Released(_Outcome, Generic[Value, Certificate]):
    """A release behind a private test, or with a parameter that was chosen by a private look at the data.

    Attributes
    ----------
    value : object
        What was released, and may be published.
    certificate : PrivacyCertificate
        What publishing `value` costs, all of `published` included.
    published : mapping
        What else it covers, by name: a released bound and the parameter chosen by it, the winning candidate and its
        score, or whether a fallback has answered.
    """

    value: Value
    certificate: Certificate
    published: Mapping[str, Any] = field(default_factory=dict)

    @property
    def released(self) -> Literal[True]:
        """True: there is a value."""
        return True

    def required(self) -> Released[Value, Certificate]:
        """Return this release; a refusal raises here."""
        return self


@dataclass(frozen=True)
class Refused(_Outcome, Generic[Certificate]):
    """⊥, a private fit that released no model. The refusal is itself a private answer, and was paid for.

    Attributes
    ----------
    certificate : PrivacyCertificate
        What the refusal cost: as much as a release.
    reason : str
        Why there is no model, as one sentence, which may say only what the certificate covers.

    Examples
    --------
    >>> Refused(None, "the noisy test said no").required()
    Traceback (most recent call last):
        ...
    objpert_core.exceptions.ReleaseRefusedError: the noisy test said no
    """

    certificate: Certificate
    reason: str = NOTHING_RELEASED

    @property
    def released(self) -> Literal[False]:
        """False: there is no model."""
        return False

    def required(self) -> NoReturn:
        """Raise ReleaseRefusedError with the reason; its `certificate` says what was spent."""
        raise ReleaseRefusedError(self.reason, self.certificate)
