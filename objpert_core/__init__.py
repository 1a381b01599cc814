"""Objective perturbation: privacy accounting, private linear learners and the data to try them on.

`objpert_core.accounting` knows privacy mathematics only (numpy, scipy); `objpert_core.learning` and
`objpert_core.estimators` touch data; `objpert_core.datasets` loads it. Nothing here imports the app. An
argument outside of the range that its docstring gives raises a `ValueError`, before anything is computed.
"""

from objpert_core.exceptions import ConvergenceError, DataUnavailableError, PrivacyBudgetWarning

__version__ = "0.1.0"

__all__ = ["ConvergenceError", "DataUnavailableError", "PrivacyBudgetWarning", "__version__"]
