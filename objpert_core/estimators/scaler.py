"""A scaler that private estimators may have before them: it goes by public ranges and learns nothing from the data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from objpert_core._validation import FloatArray
from objpert_core.estimators.exported import ranges_as_pipeline
from objpert_core.estimators.frames import checked_rows
from objpert_core.learning.steps.ranges import Ranges


class PublicRangeScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Clip every feature to its public range and scale that range to [−1, 1].

    scikit-learn's scalers take means, deviations or extremes from the data, and no private estimator after them can
    take back what these numbers reveal. This scaler takes two public numbers for each feature, and one row's result
    depends on that row alone: the promise of the estimator that follows holds as it stands.

    Parameters
    ----------
    low, high : float or array-like of shape (d,), default=0.0 and 1.0
        The range of every feature, low < high. Take it from what is known of such features in general, for example 0
        and 120 for an age in years, and never from these data.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where `X` had string column names.

    Notes
    -----
    NaN stays NaN, and infinity is clipped. The estimator that follows judges rows with NaN: it raises, or leaves them
    out with ``on_error="release"``. An entry that is no number at all, such as a word, is an error here: turn such
    entries into NaN beforehand, by a rule that looks at each entry alone. Sparse matrices are refused, because the
    middle of a range is seldom 0.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> ages_and_hours = np.array([[20.0, 40.0], [60.0, 140.0]])
    >>> PublicRangeScaler(low=0.0, high=[120.0, 80.0]).fit_transform(ages_and_hours).round(6).tolist()
    [[-0.666667, 0.0], [0.0, 1.0]]
    >>> private = make_pipeline(PublicRangeScaler(high=[120.0, 80.0]), ObjPertLogisticRegression(classes=[0, 1]))
    """

    def __init__(self, low: Any = 0.0, high: Any = 1.0) -> None:
        self.low = low
        self.high = high

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the ranges against the number of features; nothing else of `X` is looked at.

        `ValueError` if a range is empty or not finite, or if there is not one range for each feature.
        """
        columns = validate_data(self, checked_rows(X), dtype=np.float64, ensure_all_finite=False).shape[1]
        Ranges.declared(self.low, self.high, columns)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Clip and scale, shape (n, d).

        A data frame after `set_output(transform="pandas")` or "polars". Entries are from −1 to 1, or NaN where `X`
        holds NaN.
        """
        X = validate_data(self, checked_rows(X), dtype=np.float64, ensure_all_finite=False, reset=False)
        return Ranges.declared(self.low, self.high, X.shape[1]).apply(X)

    def to_sklearn(self) -> Pipeline:
        """The same map made of scikit-learn's own parts, to stand before the model's own, which have no scaler.

        `NotFittedError` before `fit`, which counts the features.

        >>> PublicRangeScaler(high=8.0).fit([[0.0, 0.0]]).to_sklearn().transform([[2.0, 9.0]]).tolist()
        [[-0.5, 1.0]]
        """
        check_is_fitted(self, "n_features_in_")
        found = Ranges.declared(self.low, self.high, self.n_features_in_)
        return ranges_as_pipeline(np.array([found.low, found.high]), getattr(self, "feature_names_in_", None))

    def half_widths(self, features: int) -> FloatArray:
        """Half the width of every range, shape (features,); a coefficient divided by its half width is in the column's
        own units.

        >>> PublicRangeScaler(high=[120.0, 80.0]).half_widths(2).tolist()
        [60.0, 40.0]
        """
        return Ranges.declared(self.low, self.high, features).half_widths

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        return tags
