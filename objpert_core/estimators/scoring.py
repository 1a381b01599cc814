"""The abilities of a fitted linear model without the data it was fitted to: to score rows, and to predict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from copy import copy
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
from scipy.special import expit, log_expit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from objpert_core._validation import FloatArray
from objpert_core.blocks import as_blocks, with_targets
from objpert_core.estimators.exported import Link, as_pipeline
from objpert_core.estimators.frames import checked_rows, naming_columns
from objpert_core.estimators.shapes import Shapes, made_monotone, pieces_of
from objpert_core.estimators.summaries import Scaler, Summary
from objpert_core.estimators.tables import KnownTable
from objpert_core.learning.certificates.base import PrivacyCertificate
from objpert_core.learning.problem.derived import RestWeighted
from objpert_core.learning.problem.rows import Rows, TableRows, each_row_by_itself, is_each_by_itself
from objpert_core.learning.steps.ranges import Ranges
from objpert_core.learning.steps.standardisation import RowMap

Model = TypeVar("Model")
FLOATS = [np.float64, np.float32]


def _has_pieces(model: LinearScores) -> bool:
    return getattr(model, "reads_tables", False) or model.pieces_ is not None


class LinearScores(BaseEstimator):
    """A score is a coefficient times a feature of the row, its norm enforced, summed, plus the intercept."""

    has_probabilities: ClassVar[bool] = False
    """Whether it is a classifier that the logistic loss trains."""

    coef_: FloatArray
    intercept_: Any
    center_: FloatArray | None = None
    scale_: FloatArray | None = None
    feature_ranges_: FloatArray | None = None
    hessian_: FloatArray | None = None
    outer_: FloatArray | None = None
    pieces_: FloatArray | None = None
    columns_: KnownTable | None = None
    privacy_: PrivacyCertificate

    def validated_rows(self, X: Any) -> Any:
        """`X` as the fitted model takes it: float64 or float32, dense or CSR."""
        check_is_fitted(self)
        if self.columns_ is not None:
            return TableRows(self.columns_.numbers(X))
        return validate_data(
            self, checked_rows(X), accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, reset=False
        )

    def scores(self, X: Any) -> FloatArray:
        """x̃ᵀθ of every row; the rows of `X` are cut to ranges, normalised or clipped, centred and scaled as in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, `Blocks` or Dask collection, shape (n, d)
            A frame's columns must have the names, in the order, that they had in `fit`.

        Returns
        -------
        ndarray, shape (n,)
            For K > 2 classes of shape (n, K), a column for each.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            Before a successful `fit`; if `X` has another number of features than in `fit`, or holds NaN or inf.
        """
        if (blocks := as_blocks(X)) is not None:
            parts = blocks.each(partial(_scores_of_block, without_seed(self), is_each_by_itself()))
            return np.concatenate([part for part in parts if part is not None])
        with naming_columns(self):
            whole = _parts(self, X)  # which refuses where nothing is fitted
            weights = self.coef_ if self.coef_.ndim == 2 and len(self.coef_) > 1 else self.coef_.ravel()
            return np.concatenate([part.margins(weights).T for part in whole]) + self.intercept_

    @property
    def shapes_(self) -> pd.DataFrame:
        """What an additive model does: a row for each piece of each column; see `ObjPertAdditiveClassifier`."""
        return Shapes.of(self).table(self)

    @available_if(_has_pieces)
    def explain(self, X: Any) -> pd.DataFrame:
        """Each row's score as a sum: the intercept, and a term for each column.

        Parameters
        ----------
        X : data frame or array-like, shape (n, C)
            As in `predict`.

        Returns
        -------
        pandas.DataFrame
            A row for each row of `X`; the columns are the intercept and the table's columns. For more than two classes
            there are such columns for each class.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As `scores`.
        """
        return Shapes.of(self).explained(self.validated_rows(X), self.intercept_)

    @available_if(_has_pieces)
    def monotone(self, columns: Mapping[str, str] | None = None, /, **more: str) -> Self:
        """Make effects rise or fall along columns, by what was released alone: the certificate holds as before.

        Effects become the nearest ones that are monotone, by the noisy shares; missing values keep theirs. Of
        categories the order of the list counts.

        Parameters
        ----------
        columns : mapping, optional
            "up" or "down", by the column's name; so are further keyword arguments: ``model.monotone(education="up")``.

        Returns
        -------
        The model itself, whose certificate names the new coefficients.

        Raises
        ------
        ValueError
            For a column that the model has not, and for another word than "up" and "down".
        """
        made_monotone(self, {**(columns or {}), **more})
        return self

    def to_sklearn(self, *, probabilities: bool = True) -> Pipeline:
        """The same model made of scikit-learn's own parts: the rule for the rows, then a linear model.

        Its `predict`, `predict_proba` and `decision_function` are those of this model but for rounding. It has no
        `decision_function` where this model's log-odds are not its scores: with a margin above 0, or with classes whose
        other rows count as shorter. Plain skl2onnx converts the pipeline, ``to_onnx(pipeline, rows)``, for rows in
        single precision; in double precision it refuses clipped rows.
        The pipeline may score rows that this model refuses, and leave rows shorter than 1e-14 as short as they are.
        Where the model centres rows, the pipeline takes no sparse ones. Before a successful `fit` a `NotFittedError` is
        raised.

        That of an additive model takes finite numbers, dates as days, and categories as texts that are written as they
        were listed; so make texts of numbers that were declared as `Categories`. A missing number is NaN. A missing
        text is NaN, None, or a word for it in small or capital letters, and for ONNX an empty text; scikit-learn does
        not know `pandas.NA` of a text, which counts as a category that was not listed. In single precision a number
        that differs from an end of an interval by less than its last digit may fall on the other side.

        Parameters
        ----------
        probabilities : bool, default=True
            False leaves out probabilities whose log-odds are not the scores, for the sake of the scores.

        Returns
        -------
        sklearn.pipeline.Pipeline
            Its last step is a `LogisticRegression` where this model's log-odds are its scores, and otherwise a
            `VotingClassifier` of them; for more than two classes a `OneVsRestClassifier` of either; for a model without
            probabilities an `SGDClassifier`; for a regressor a `LinearRegression`, after a step that cuts where
            `target_range_` is known. The pipeline carries the columns' names, no certificate and no intervals.
        """
        check_is_fitted(self)
        margin = getattr(self, "margin_", None)
        link = None if margin is None else Link(float(margin), _length_of_rest(self))
        if link is not None and not (probabilities or link.is_identity):
            link = None
        return as_pipeline(self, link)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _has_log_odds(model: ClassScores) -> bool:
    return model.has_probabilities


class ClassScores(ClassifierMixin, LinearScores):
    """Two classes, of which the sign of the score decides; or more, each with a score, of which the largest decides.

    Models that were trained by the logistic loss, with or without a margin, also give probabilities and, fitted with
    intervals, standard errors of their coefficients.
    """

    classes_: np.ndarray
    margin_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, positive for ``classes_[1]``; for logistic regression without a margin they are log-odds.

        With more than two classes a column for each class, against the others. Arguments, shape and errors are
        as in `scores`.
        """
        return self.scores(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of right labels, as scikit-learn's classifiers have it; `y` is left out where `X` is `Blocks`."""
        return float(super().score(*with_targets(X, y), sample_weight))

    def predict(self, X: Any) -> np.ndarray:
        """The likelier label of every row, shape (n,); arguments and errors as in `scores`."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_log_odds)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of ``classes_``, shape (n, 2) or (n, K); arguments and errors as in `scores`.

        A score stands for the probability at which it has the least expected loss (`LogisticLoss.log_odds`). With more
        than two classes each class has a probability against the others, divided by the sum of these probabilities.
        """
        odds = _log_odds(self, X)
        if odds.ndim == 2:
            return np.exp(_shares(odds))
        return np.column_stack([expit(-odds), expit(odds)])

    @available_if(_has_log_odds)
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of `predict_proba` that stay finite, shape (n, 2) or (n, K)."""
        odds = _log_odds(self, X)
        if odds.ndim == 2:
            return _shares(odds)
        return np.column_stack([log_expit(-odds), log_expit(odds)])

    @available_if(_has_log_odds)
    def summary(self, level: float = 0.95, *, together: str = "each", scaler: Scaler | None = None) -> Any:
        """Coefficients with standard errors, z, p-values and intervals, a row for each feature.

        Parameters
        ----------
        level : float strictly between 0 and 1, default=0.95
        together : {"each", "bonferroni", "simultaneous"}, default="each"
            Whether each interval by itself has this level, or all d together: "bonferroni" for d intervals,
            "simultaneous" for every linear combination of coefficients as well (Scheffé's χ²).
        scaler : PublicRangeScaler or TableSchema, optional
            What the rows went through before the fit: coefficients are then in the columns' own units, as they are
            with `feature_ranges`. A schema also names the features.

        Returns
        -------
        pandas.DataFrame
            Index: the features' names, or x0, x1, …; columns coef, std err, z, P>|z|, [0.025, 0.975]. Where effects
            are strong for the noise, intervals reach farther away from 0 than towards it; ``attrs["caution"]`` is then
            a sentence that says so, and otherwise None.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            Before `fit`; for a model that was fitted without intervals.

        Examples
        --------
        >>> from objpert_core.estimators import ObjPertLogisticRegression
        >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(4000, 2))
        >>> y = np.random.default_rng(1).random(4000) < 1 / (1 + np.exp(-4 * X[:, 0]))
        >>> model = ObjPertLogisticRegression(
        ...     intervals=True, classes=[False, True], public_rows=4000, random_state=0, advanced={"row_norm": "clip"}
        ... )
        >>> table = model.fit(X, y).summary()
        >>> list(table.index), bool(table.loc["x0", "[0.025"] < 4.0 < table.loc["x0", "0.975]"])
        (['x0', 'x1'], True)
        """
        return Summary(self, scaler).table(level, together)

    @available_if(_has_log_odds)
    def conf_int(self, level: float = 0.95, *, together: str = "each", scaler: Scaler | None = None) -> FloatArray:
        """Lower and upper ends, shape (d, 2), without the intercept; arguments and errors as for `summary`."""
        return Summary(self, scaler).ends(level, together)

    @property
    def bse(self) -> FloatArray:
        """Standard errors of the coefficients, shape (d,), in units of the rows as the model takes them."""
        return _summary(self).errors

    @property
    def pvalues(self) -> FloatArray:
        """Two-sided p-values of the coefficients, shape (d,), each by itself."""
        return _summary(self).pvalues


class NumberScores(RegressorMixin, LinearScores):
    """A number: the score, cut to the public range of the targets where the model has one."""

    target_range_: FloatArray | None = None

    def predict(self, X: Any) -> FloatArray:
        """The expected target of every row, in units of the targets given to `fit`, and within `target_range_`.

        Arguments, shape and errors are as in `scores`, which cuts nothing.
        """
        scores = self.scores(X)
        return scores if self.target_range_ is None else scores.clip(*self.target_range_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², as scikit-learn's regressors have it; `y` is left out where `X` is `Blocks`."""
        return float(super().score(*with_targets(X, y), sample_weight))


def without_seed(model: Model) -> Model:
    """A copy that may be sent to where rows are: whoever knows a seed knows the noise."""
    other = copy(model)
    if hasattr(other, "random_state"):
        other.random_state = None
    return other


def _parts(model: LinearScores, X: Any) -> Iterable[Rows]:
    """`X` validated, cut to ranges, centred and scaled where the model does so, and with norms enforced."""
    rows = model.validated_rows(X)
    if model.pieces_ is not None:
        return [pieces_of(model).whole(rows)]
    if model.feature_ranges_ is not None:
        rows = Ranges(*model.feature_ranges_).apply(Rows(rows, model.privacy_.row_norm).matrix)  # Rows refuses NaN
    if model.center_ is None and model.scale_ is None:
        return [Rows(rows, model.privacy_.row_norm)]
    return RowMap(model.center_, model.scale_, model.privacy_.row_norm).parts(rows)


def _scores_of_block(model: LinearScores, alone: bool, _place: int, X: Any, *_beside: Any) -> FloatArray | None:
    with each_row_by_itself() if alone else nullcontext():  # which does not travel to a worker
        return model.scores(X) if X.shape[0] else None


def _summary(model: ClassScores) -> Summary:
    """Of a model with standard errors; `AttributeError` for others, since scikit-learn's `dir` asks each property."""
    check_is_fitted(model)
    if not model.has_probabilities or model.pieces_ is not None or model.hessian_ is None:
        name = type(model).__name__
        raise AttributeError(f"{name} has no standard errors: intervals must be True in the fit of a linear model")
    return Summary(model)


def _log_odds(model: ClassScores, X: Any) -> FloatArray:
    scores = model.decision_function(X)  # which refuses where nothing is fitted
    return RestWeighted(model.margin_, _length_of_rest(model)).log_odds(scores)


def _length_of_rest(model: LinearScores) -> float:
    """The length of rows of other classes in the fit of one; see `learning.problem.one_vs_rest_loss`."""
    return getattr(model.privacy_, "rest_weight", 1.0)


def _shares(odds: FloatArray) -> FloatArray:
    """Logarithms of the probabilities with these log-odds, divided by the sum of each row."""
    each = log_expit(odds)
    return each - logsumexp(each, axis=1, keepdims=True)
