"""A search over settings whose fits, scores and choice are all inside one promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_regressor
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import FloatArray, in_open_unit, positive, random_state_argument
from objpert_core.estimators.base import LinearModel
from objpert_core.estimators.parameters import PREFIX
from objpert_core.estimators.search_plan import COINS, Plan, seed
from objpert_core.evaluation import Estimate, split_by_coin
from objpert_core.learning import PrivacyCertificate, SearchCertificate
from objpert_core.learning.certificates.base import OPERATING_SYSTEM, SEARCH
from objpert_core.learning.certificates.parts import as_part
from objpert_core.learning.certificates.searched import search_mechanism
from objpert_core.learning.sampling import Streams, best_among

_OWN = ("epsilon", "delta", "random_state", "classes", "public_rows", "adjacency", "rows_per_person", "on_error")
"""Parameters that are the same for all settings."""
_SCORES: Mapping[str, Callable[[Any], Estimate]] = {
    "accuracy": lambda found: found.accuracy(),
    "balanced_accuracy": lambda found: found.balanced_accuracy(),
    "auc": lambda found: found.auc(),
    "neg_mean_absolute_error": lambda found: _negative(found.mean_absolute_error()),
    "neg_root_mean_squared_error": lambda found: _negative(found.root_mean_squared_error()),
}


def _negative(error: Estimate) -> Estimate:
    return Estimate(-error.value, -error.high, -error.low)


def _offers(name: str) -> Callable[[Any], bool]:
    return lambda search: hasattr(getattr(search, "best_estimator_", search.estimator), name)


class PrivateSearch(MetaEstimatorMixin, BaseEstimator):
    """Try several settings of a private estimator, keep the best, and pay for all of it in one (ε, δ).

    Coins put test rows aside, whose noisy counts score each setting (`evaluate`; docs/theorems.md, T49). Either every
    setting is tried, and all fits and scores are composed; or a random number of runs is made, each with a setting
    drawn at random, and the best run is released (docs/theorems.md, T11). The search takes the way that leaves each fit
    the larger ε, by public numbers alone.

    Where several settings are as good, or ε is small, one fit with the whole budget and sensible settings is better:
    a search over m settings leaves each fit less than 1/√m of ε, 64 % with two settings and 21 % with ten.

    Parameters
    ----------
    estimator : private classifier or regressor
        One of this package, with ``on_error="raise"``. Its `epsilon`, `delta` and `random_state` are ignored. Its
        `public_rows`, declared for all rows, is multiplied by ``1 - test_share``; None means that the number of
        training rows is read off the data.
    param_grid : dict or list of dict
        As for `sklearn.model_selection.GridSearchCV`: the values to try for each parameter. A grid may not name
        `epsilon`, `delta`, `random_state`, `classes`, `public_rows`, `adjacency`, `rows_per_person` or `on_error`.
    epsilon, delta : float
        The promise for everything: fits, scores, choice.
    test_share : float strictly between 0 and 1
        The probability that a row is put aside.
    scoring : str, optional
        "accuracy", "balanced_accuracy", "auc" (two classes), "neg_mean_absolute_error", "neg_root_mean_squared_error".
        None: accuracy, or the mean absolute error of a regression.
    largest_error : float > 0, optional
        For a regression, see `evaluate`.
    random_state : None, int, numpy RandomState or Generator
        None takes all randomness from the operating system. A seed is for teaching and tests.

    Attributes
    ----------
    best_estimator_ : fitted estimator
        Its `privacy_` is the search's.
    best_params_ : dict
    best_index_ : int
        The place of `best_params_` in ``ParameterGrid(param_grid)``.
    best_score_ : float
        The winner's noisy score. The best of several scores is too high on average. For an honest score, `evaluate` the
        model on other rows.
    privacy_ : SearchCertificate
        One certificate for everything above.
    classes_, n_features_in_, feature_names_in_
        Those of `best_estimator_`, where it has them.

    Examples
    --------
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> X = np.linspace([-1.0, 1.0], [1.0, 1.0], 4000)
    >>> y = (X[:, 0] > 0).astype(int)
    >>> one = ObjPertLogisticRegression(classes=[0, 1], public_rows=4000)
    >>> search = PrivateSearch(one, {"margin": [0.0, 1.0], "standardize": [False]}, random_state=0).fit(X, y)
    >>> search.privacy_.epsilon, sorted(search.best_params_), search.score(X, y) > 0.9
    (1.0, ['margin', 'standardize'], True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        test_share: float = 0.3,
        *,
        scoring: str | None = None,
        largest_error: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.test_share = test_share
        self.scoring = scoring
        self.largest_error = largest_error
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search, and keep the best setting's model.

        `groups`, array-like of shape (n,), says whose row it is: needed where the estimator's `rows_per_person` is
        above 1.

            Whose row it is. Needed where the estimator's `rows_per_person` is above 1.

        Raises
        ------
        ConvergenceError, RuntimeError
            If a fit fails, or no run was drawn, which has probability e^(−E[K]), at most 1e-5 from five settings on.
            Nothing is released.
        """
        settings, score = self._checked(groups)
        streams = Streams(self.random_state)
        parts = split_by_coin(X, y, self.test_share, groups, seed(streams, COINS))
        plan = Plan(self, settings, y, parts[0])
        epsilon, mean_runs, certificates = plan.calibrated
        runs = ((one, score(one.found).value) for one in plan.trials(streams, *parts))
        best = best_among(runs, lambda one: one[1])
        if best is None:
            raise RuntimeError("no run was drawn, and nothing was released; the budget is spent")
        self.best_score_, ((self.best_index_, self.best_estimator_, _), _) = best
        self.best_params_ = settings[self.best_index_]
        self._record(plan, certificates, plan.score_noise(epsilon), mean_runs, streams)
        self.best_estimator_.may_be_dropped = False
        self.best_estimator_.warn_of_release()
        return self

    def _record(
        self,
        plan: Plan,
        certificates: list[PrivacyCertificate],
        noise: float,
        mean_runs: float | None,
        streams: Streams,
    ) -> None:
        own = plan.words(self.best_estimator_.privacy_.public())
        rows = next((rows for one in certificates if (rows := getattr(one, "public_rows", None)) is not None), None)
        self.privacy_ = SearchCertificate.from_mechanism(
            search_mechanism(certificates, noise, mean_runs),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            accountant="profile",
            row_norm=own.row_norm,
            intercept_scaling=own.intercept_scaling,
            noise_source=OPERATING_SYSTEM if not streams.reproducible else streams.origin,
            reproducible=streams.reproducible,
            on_error=own.on_error,
            lattice=own.lattice,
            coefficients_sha256=own.coefficients_sha256,
            public_rows=rows,
            rows_declared=None if rows is None else plan.declared,
            rows_per_person=plan.rows_per_person,
            settings=tuple(as_part(one, SEARCH) for one in certificates),
            fit=as_part(own, SEARCH),
            score_noise=noise,
            mean_runs=mean_runs,
        )
        self.best_estimator_.privacy_ = self.privacy_
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def _checked(self, groups: Any) -> tuple[list[dict[str, Any]], Callable[[Any], Estimate]]:
        """The settings and the score; `ValueError` before the data are touched."""
        if not isinstance(self.estimator, LinearModel):
            raise ValueError(
                f"estimator must be a private estimator of objpert_core.estimators, got {type(self.estimator).__name__}"
            )
        positive("epsilon", self.epsilon)
        in_open_unit("delta", self.delta)
        in_open_unit("test_share", self.test_share)
        random_state_argument("random_state", self.random_state)
        try:
            settings = list(ParameterGrid(self.param_grid))
        except (TypeError, ValueError) as problem:
            raise ValueError(f"param_grid must map parameters to lists of values: {problem}") from None
        known = {*self.estimator.get_params(deep=False), *getattr(self.estimator, "ADVANCED", ())}
        for name in {name.removeprefix(PREFIX) for setting in settings for name in setting}:
            if name in _OWN or name not in known:
                raise ValueError(
                    f"param_grid must name parameters of {type(self.estimator).__name__} other than "
                    f"{', '.join(_OWN)}, got {name!r}"
                )
        if self.estimator.on_error != "raise":
            raise ValueError(
                "on_error must be 'raise' for the estimator of a search, whose scores cannot leave rows out, got "
                f"{self.estimator.on_error!r}"
            )
        if getattr(self.estimator, "rows_per_person", 1) != 1 and groups is None:
            raise ValueError("groups must say whose each row is where rows_per_person is above 1, got None")
        regression = is_regressor(self.estimator)
        offered = [name for name in _SCORES if name.startswith("neg_") is regression]
        name = self.scoring or ("neg_mean_absolute_error" if regression else "accuracy")
        if name not in offered:
            raise ValueError(f"scoring must be None or one of {', '.join(map(repr, offered))}, got {self.scoring!r}")
        if regression:
            positive("largest_error", self.largest_error)
        elif self.largest_error is not None:
            raise ValueError(f"largest_error must be None for a classifier, got {self.largest_error!r}")
        return settings, _SCORES[name]

    # Using the best model

    @available_if(_offers("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """As `best_estimator_` predicts."""
        return np.asarray(self._best().predict(X))

    @available_if(_offers("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """As `best_estimator_` gives them."""
        return np.asarray(self._best().predict_proba(X))

    @available_if(_offers("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """As `best_estimator_` gives it."""
        return np.asarray(self._best().decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """The accuracy of `best_estimator_`, or R², on these rows; this score is not private."""
        return float(self._best().score(X, y))

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
            own.estimator_type,
            own.classifier_tags,
            own.regressor_tags,
        )
        tags.input_tags = own.input_tags
        return tags
