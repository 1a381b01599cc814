"""What a private fit gives: a model with its certificate, or a refusal that cost as much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, NoReturn, TypeVar

from objpert_core._validation import FloatArray
from objpert_core.exceptions import ReleaseRefusedError
from objpert_core.learning.certificate import PrivacyCertificate

Certificate = TypeVar("Certificate", bound=PrivacyCertificate)


class _Outcome:
    """An outcome has no truth value: a refusal would pass for an error, and it has spent its budget."""

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is neither true nor false: ask .released")


@dataclass(frozen=True)
class Release(_Outcome, Generic[Certificate]):
    """A private fit that released a model.

    Attributes
    ----------
    theta : ndarray, shape (D,)
        The private parameters, output noise added. With an intercept the last one still has to be multiplied by
        `intercept_scaling`. This is what may be published.
    certificate : PrivacyCertificate
        What publishing it costs.
    gradient_norms : tuple of float
        The solver's trace. Depends on the data: outside the guarantee.

    Examples
    --------
    >>> released = Release(np.zeros(2), None, ())
    >>> released.released, released.required() is released
    (True, True)
    """

    theta: FloatArray
    certificate: Certificate
    gradient_norms: tuple[float, ...]

    @property
    def released(self) -> Literal[True]:
        """True: there is a model."""
        return True

    def required(self) -> Release[Certificate]:
        """Return this release; a refusal raises here."""
        return self


@dataclass(frozen=True)
class Refused(_Outcome, Generic[Certificate]):
    """A private fit that released no model. That it refused is itself a private answer, and was paid for.

    Attributes
    ----------
    certificate : PrivacyCertificate
        What the refusal cost: as much as a release.
    reason : str
        Why there is no model, as one sentence. It may say only what the certificate covers.

    Examples
    --------
    >>> refusal = Refused(None, "the noisy test said no")
    >>> refusal.released
    False
    >>> refusal.required()
    Traceback (most recent call last):
        ...
    objpert_core.exceptions.ReleaseRefusedError: the noisy test said no
    """

    certificate: Certificate
    reason: str

    @property
    def released(self) -> Literal[False]:
        """False: there is no model."""
        return False

    def required(self) -> NoReturn:
        """Raise, for callers that need a model.

        Raises
        ------
        ReleaseRefusedError
            Always, with the reason; its `certificate` says what was spent.
        """
        raise ReleaseRefusedError(self.reason, self.certificate)
