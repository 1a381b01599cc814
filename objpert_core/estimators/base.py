"""What the estimators share: validation, scores, and the warning about fits that nobody pays for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from objpert_core._validation import boolean, choice, positive, positive_integer, random_state_argument
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.certificate import PrivacyCertificate
from objpert_core.learning.objective_perturbation import Release
from objpert_core.learning.problem.losses import FloatArray, LogisticLoss
from objpert_core.learning.problem.rows import ROW_NORMS, Rows
from objpert_core.learning.solvers import SOLVERS

FLOATS = [np.float64, np.float32]


class WarnsOfCopies(BaseEstimator):
    """Warns when a second copy of one estimator is fitted, as searches and cross-validation do.

    They fit clones. Every clone carries its number among its parent's clones, also into another process, and
    every clone after the first warns when it is fitted. Fitting one object, however often, or one clone of it
    (as `Pipeline` or a calibrator may) does not warn. In worker processes (``n_jobs > 1``) the warning goes to
    their standard error; a search's last fit, with ``refit=True``, warns in the caller's process.
    """

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()
        self._copies_made = getattr(self, "_copies_made", 0) + 1
        copy._copy_number = self._copies_made
        return copy

    def warn_of_copies(self) -> None:
        """Warn if this is not the first copy of one estimator that is fitted."""
        if getattr(self, "_copy_number", 1) > 1:
            warnings.warn(
                f"Several copies of one {type(self).__name__} are being fitted (a search or cross-validation?). "
                "Every fit spends its own (epsilon, delta), and on overlapping data they add up: privacy_ of one "
                "model covers neither the other fits nor the choice among them.",
                PrivacyBudgetWarning,
                stacklevel=3,
            )


class LinearModel(WarnsOfCopies):
    """A private linear model: a score is a coefficient times a feature, summed, plus the intercept.

    Subclasses have the parameters `fit_intercept`, `intercept_scaling` and `row_norm` and set, in `fit`, `coef_`,
    `intercept_` and `privacy_`.
    """

    coef_: FloatArray
    intercept_: FloatArray
    privacy_: PrivacyCertificate

    def forget(self) -> None:
        """Unfit, so that a fit that fails does not leave an older model that looks like its result."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def validated_constant(self) -> float:
        """The constant s appended to every row; 0.0 without an intercept."""
        scaling = positive("intercept_scaling", self.intercept_scaling)
        return scaling if boolean("fit_intercept", self.fit_intercept) else 0.0

    def check_solving(self) -> None:
        """Errors for parameters out of range that every model which solves an objective has."""
        for name, allowed in (("solver", tuple(SOLVERS)), ("row_norm", ROW_NORMS)):
            choice(name, getattr(self, name), allowed)
        positive_integer("max_iter", self.max_iter)
        positive("tau", self.tau)
        random_state_argument("random_state", self.random_state)

    def record_solving(self, release: Release[Any]) -> None:
        """The attributes that say what solving took and what the release costs."""
        self.n_iter_ = release.certificate.n_iter
        self.gradient_norms_ = np.array(release.gradient_norms)
        self.privacy_ = release.certificate

    def validated_rows(self, X: Any) -> Any:
        """`X` as the fitted model takes it: float64 or float32, dense or CSR."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, reset=False)

    def scores(self, X: Any) -> FloatArray:
        """x̃ᵀθ of every row, shape (n,)."""
        return Rows(self.validated_rows(X), self.privacy_.row_norm).margins(self.coef_.ravel()) + self.intercept_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(ClassifierMixin, LinearModel):
    """Two classes; the sign of the score decides. Subclasses have the parameter `classes` too."""

    classes_: np.ndarray

    def validated_classes(self) -> np.ndarray | None:
        """The two labels that were named, sorted; None where they are to be taken from `y`."""
        if self.classes is None:
            return None
        classes = np.unique(np.asarray(self.classes))
        if len(classes) != 2:
            raise ValueError(f"classes must be None or two different labels, got {self.classes!r}")
        return classes

    def record_classifier(self, classes: np.ndarray, theta: FloatArray, constant: float) -> None:
        """The classes, and θ as coefficients and, with a constant, an intercept."""
        features = len(theta) - (constant > 0)
        self.classes_ = classes
        self.coef_ = theta[:features].reshape(1, -1)
        self.intercept_ = constant * theta[-1:] if constant else np.zeros(1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, positive for ``classes_[1]``; the rows of `X` are normalised or clipped as in `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
            For logistic regression without a margin the log-odds of ``classes_[1]``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before a successful `fit`.
        ValueError
            If `X` has another number of features than in `fit`, or holds NaN or inf.
        """
        return self.scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """The likelier label of every row, shape (n,); arguments and errors as in `decision_function`."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int)]


class ProbabilisticClassifier(LinearClassifier):
    """A linear classifier trained by the logistic loss, with or without a margin."""

    margin_: float

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of ``classes_``, shape (n, 2); arguments and errors as in `decision_function`.

        They are those for which the score has the least expected loss (`LogisticLoss.log_odds`).
        """
        odds = self._log_odds(X)
        return np.column_stack([expit(-odds), expit(odds)])

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of `predict_proba` that stay finite, shape (n, 2)."""
        odds = self._log_odds(X)
        return np.column_stack([log_expit(-odds), log_expit(odds)])

    def _log_odds(self, X: Any) -> FloatArray:
        scores = self.decision_function(X)  # which refuses where nothing is fitted
        return LogisticLoss(self.margin_).log_odds(scores)


def encode(y: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, FloatArray]:
    """The sorted classes, and every label as −1.0 or +1.0; `ValueError` unless there are two classes."""
    check_classification_targets(y)
    seen = np.unique(y)
    if classes is not None:
        if len(strangers := np.setdiff1d(seen, classes)):
            raise ValueError(f"y must hold only labels in classes={classes.tolist()!r}, got {strangers.tolist()[0]!r}")
    elif len(seen) == 1:
        raise ValueError(
            f"y must hold two classes, got one class: {seen.tolist()[0]!r}; name both with classes= to fit all the same"
        )
    elif len(seen) > 2:
        shown = ", ".join(repr(label) for label in seen[:5].tolist()) + (", ..." if len(seen) > 5 else "")
        raise ValueError(
            f"Only binary classification is supported. y must hold two classes, got {len(seen)} classes: {shown}"
        )
    classes = seen if classes is None else classes
    return classes, np.where(y == classes[1], 1.0, -1.0)
