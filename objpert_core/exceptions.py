"""Errors that are not a caller's bad argument (those are `ValueError`)."""


class ConvergenceError(RuntimeError):
    """The solver did not reach the gradient norm that the privacy proof needs, or rounding might have kept it from that
    norm, so nothing was released. The promise does not cover the error (docs/theorems.md, T23).
    """


class ReleaseRefusedError(RuntimeError):
    """A private fit spent its budget and released nothing, as its mechanism may.

    The `certificate` says what was spent; the promise covers the `reason`, one sentence, itself.
    """

    def __init__(self, reason: str, certificate: object) -> None:
        super().__init__(reason)
        self.certificate = certificate

    def __reduce__(self) -> tuple[type, tuple[str, object]]:
        """Pickled with its certificate: what was spent is known in another process, too."""
        return type(self), (str(self), self.certificate)


class DataUnavailableError(OSError):
    """A data set's files are neither on disk nor to be fetched; the message names the folder to put them in."""


class PrivacyBudgetWarning(UserWarning):
    """A budget may be spent without being counted: copies of a private estimator are fitted, or one is fitted again."""


class UncoveredDataWarning(PrivacyBudgetWarning):
    """Labels, the number of rows, or what a scaler learns is read off the data, which the promise does not cover."""


class PrivacyBudgetExceededError(ValueError):
    """A `PrivacyFilter` refused a release that would exceed its budget; nothing was spent."""
