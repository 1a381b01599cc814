"""A scaler that private estimators may have before them: it goes by public ranges and learns nothing from the data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from objpert_core._validation import FloatArray
from objpert_core.estimators.frames import checked_rows


class PublicRangeScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Clip every feature to its public range and scale that range to [−1, 1].

    scikit-learn's scalers take means, deviations or extremes from the data, and no private estimator after them can
    take that back. This one takes two public numbers for each feature. One row's result depends on that row alone, so
    that neighbouring data sets stay neighbours, and the promise of what comes after holds as it stands.

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
    NaN stays NaN, and infinity is clipped: what comes next judges such rows, by itself or with ``on_error="release"``.
    An entry that is no number at all, such as a word, raises here, whatever comes next: have such entries made NaN by a
    rule for each alone. Sparse matrices are refused, as the middle of a range is seldom 0.

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

        `ValueError` if a range is empty or not finite, or there is not one for each feature.
        """
        self._ranges(validate_data(self, checked_rows(X), dtype=np.float64, ensure_all_finite=False).shape[1])
        return self

    def transform(self, X: Any) -> FloatArray:
        """Clip and scale, shape (n, d).

        Parameters
        ----------
        X : array-like or data frame, shape (n, d)

        Returns
        -------
        ndarray, shape (n, d)
            From −1 to 1, or NaN where `X` holds NaN. A data frame after `set_output(transform="pandas")` or "polars".

        Raises
        ------
        ValueError
            As in `fit`, or if `X` has another number of features than there.
        """
        X = validate_data(self, checked_rows(X), dtype=np.float64, ensure_all_finite=False, reset=False)
        low, high = self._ranges(X.shape[1])
        # Halves first: a range may be as wide as the doubles go.
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        return np.clip((np.clip(X, low, high) - middle) / half, -1.0, 1.0)

    def half_widths(self, features: int) -> FloatArray:
        """Half the width of every range, shape (features,): by what a coefficient is divided in a column's own units.

        >>> PublicRangeScaler(high=[120.0, 80.0]).half_widths(2).tolist()
        [60.0, 40.0]
        """
        low, high = self._ranges(features)
        return high / 2 - low / 2

    def _ranges(self, features: int) -> tuple[FloatArray, FloatArray]:
        bounds = []
        for name in ("low", "high"):
            value = np.asarray(getattr(self, name))
            if value.dtype.kind not in "iuf" or not np.isfinite(value).all():
                raise ValueError(f"{name} must be finite numbers, got {getattr(self, name)!r}")
            if value.shape not in ((), (features,)):
                raise ValueError(f"{name} must be a number or one for each of {features} features, got {value.shape}")
            bounds.append(np.broadcast_to(value.astype(np.float64), (features,)))
        if (empty := ~(bounds[0] / 2 < bounds[1] / 2)).any():  # of no other range is half a number above 0
            column = int(np.argmax(empty))
            raise ValueError(
                f"low must be below high, got {bounds[0][column]} and {bounds[1][column]} (column {column})"
            )
        return bounds[0], bounds[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        return tags
