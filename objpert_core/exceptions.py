"""Errors that are not a caller's bad argument (those are `ValueError`)."""


class ConvergenceError(RuntimeError):
    """The solver did not reach the gradient norm that the privacy proof needs, so nothing was released."""


class DataUnavailableError(OSError):
    """A data set's files are neither on disk nor to be fetched; the message names the folder to put them in."""


class PrivacyBudgetWarning(UserWarning):
    """Several copies of one private estimator are being fitted: every fit spends its own (ε, δ)."""
