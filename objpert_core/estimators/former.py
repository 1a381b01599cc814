"""The ground of the estimators that are no recipes yet: hooks. It goes with the last of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from objpert_core._validation import (
    FloatArray,
    boolean,
    finite,
    in_open_unit,
    length,
    nonnegative,
    positive,
    positive_integer,
    random_state_argument,
)
from objpert_core.accounting.mechanisms.base import ADD_REMOVE, ADJACENCIES
from objpert_core.blocks import Blocks, as_blocks, with_targets
from objpert_core.estimators.cautions import (
    copied,
    rows_read_off,
    warn_of_classes,
    warn_of_columns,
    warn_of_copies,
    warn_of_counts,
    warn_of_ensemble,
    warn_of_pipeline,
    warn_of_refit,
)
from objpert_core.estimators.constraints import (
    Constraint,
    one_of,
    or_none,
    range_argument,
    refuse_habits,
    refuse_weights,
    two_labels,
)
from objpert_core.estimators.frames import as_column, checked_rows, checked_targets, naming_columns
from objpert_core.estimators.released import Released, released
from objpert_core.estimators.scoring import FLOATS, ClassScores, LinearScores, NumberScores
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.fit import FitOptions, Seed, SharedOptions
from objpert_core.learning.output_perturbation import NEIGHBOURS
from objpert_core.learning.problem.rows import ROW_NORMS, by_rows
from objpert_core.learning.release import Refused, Release
from objpert_core.learning.screening import as_numbers, labels_as_targets, without_masks
from objpert_core.learning.solvers import SOLVERS, Callback
from objpert_core.learning.steps.stated import published_by


class LinearModel(LinearScores):
    """A private linear model: a score is a coefficient times a feature, summed, plus the intercept.

    A subclass lists its own parameters' constraints in `CONSTRAINTS` and says in `_release` how it learns. It may also
    say in `_check_together` which parameters do not go together, in `_encoded` what the learner gets for `y`, and in
    `_record` what else a release tells.
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "epsilon": positive,
        "delta": in_open_unit,
        "fit_intercept": boolean,
        "intercept_scaling": length,
        "row_norm": one_of(*ROW_NORMS),
        "random_state": random_state_argument,
        "on_error": one_of(*ON_ERROR),
    }
    shares_work: ClassVar[bool] = False
    """Whether fits that differ by their noise alone share work; see `draws.fit_many`."""

    may_be_dropped = False
    """Whether a search decides later if the model is released: a warning would tell of numbers that nobody paid for."""

    __metadata_request__fit: ClassVar[dict[str, str]] = {"callback": UNUSED}  # scikit-learn's protocol

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Answer a parameter of scikit-learn's models that this model does not have in a sentence of its own."""
        refuse_habits(cls, parameters)
        return super().__new__(cls)

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        fit_intercept: bool,
        intercept_scaling: float,
        row_norm: str,
        random_state: Seed,
        on_error: str,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.row_norm = row_norm
        self.random_state = random_state
        self.on_error = on_error

    def having(self, parameters: Mapping[str, Any]) -> Self:
        """An unfitted model with these parameters."""
        return type(self)(**self.get_params(deep=False) | dict(parameters))

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()
        copied(self, copy)
        return copy

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as every estimator does; warn once where an ensemble sets the seed of the noise."""
        super().set_params(**params)
        warn_of_ensemble(self, params)
        return self

    # Fitting

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None, **others: Any) -> Self:
        """Fit the private model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n, d)
            Finite numbers. CSR is used as it is; other sparse formats are converted to it. Frames of pandas and polars
            are read by columns. `predict` compares the columns' names, and the index is ignored.
            `ObjPertLogisticRegression`, `ObjPertSVC`, `ObjPertRegressor` and `OutputPerturbationLogisticRegression`
            also take `objpert_core.blocks.Blocks` and Dask's arrays and frames: these are walked a block at a time and
            need not fit into memory.
        y : array-like or series, shape (n,)
            A classifier takes two labels, or as many as its `classes` may have; a regressor finite numbers. Left out
            where `X` is `Blocks`.
        callback : callable, optional
            ``callback(iteration, gradient_norm)`` after every solver iteration. An exception raised in it stops the
            fit, leaves the estimator unfitted and is passed on. The callback's arguments depend on the data.
        **others
            `sample_weight`, array-like of shape (n,), for `ObjPertLogisticRegression`, `ObjPertSVC` and
            `ObjPertRegressor`: numbers from 0 to 1, **each a function of its own row alone** (divide by a public
            maximum). Weights that look at other rows, such as those of boosting, are outside of every promise. With
            Dask's collections the weights are a Dask collection, too; `Blocks` bring their own weights. Other
            estimators raise a `TypeError`.

        Raises
        ------
        ConvergenceError
            Before the fit, if `tau` is less than rounding might leave for so many rows and columns; in the fit, if the
            solver does not reach `tau`. Nothing is released, and the estimator is left unfitted. The promise does not
            cover a refusal that goes by the rows in `X`; it goes by `public_rows` where that is declared.
        ReleaseRefusedError
            If the mechanism spends its budget and refuses to release anything; only some mechanisms may.
        ValueError
            For a parameter out of range, NaN or inf in `X` or `y`, no rows, lengths that differ, or labels outside of
            `classes`. With ``on_error="release"`` only for parameters, for the number of columns and for lengths that
            differ; for rows that are walked, also where a block cannot be read or has labels of another type than
            `classes`.
        """
        return self.fit_beside((), X, y, callback, **self._fit_options(others))

    def _fit_options(self, others: Mapping[str, Any]) -> dict[str, Any]:
        """What `fit` was told besides, as options for `_release`; a `TypeError` for anything that it does not take."""
        refuse_weights(self, others)
        return {}

    def fit_beside(self, others: Sequence[Self], X: Any, y: Any, callback: Any = None, **options: Any) -> Self:
        """Fit this model and `others` that differ from it by `random_state` alone; every public `fit` ends here.

        Every parameter is checked before any data are touched. A failure leaves all models unfitted, so that no older
        model looks like the result of the failed fit.
        """
        # Where floating-point errors are set to warn or to raise, one would tell of the row that it came from.
        with np.errstate(all="ignore") if self._releases else nullcontext():
            models = [self, *others]
            for model in models:
                model.forget()
                model.check_parameters()
                model._check_together(**options)
                warn_of_copies(model)
            warn_of_pipeline(self)
            if self._reads_rows():
                rows_read_off(type(self).__name__).warn(self)
            try:
                if (blocks := as_blocks(X, y, options.get("sample_weight"))) is not None:
                    X = self._walked(blocks, **options)
                    targets = X.sample[1].targets[..., :0]
                else:
                    if getattr(self, "classes", ()) is None:
                        warn_of_classes(self)
                    given = X
                    X, y = self._judged_row_by_row(X, y) if self._releases else self._validated(X, y)
                    self._warn_of_rows(given, X)
                    for model in models:
                        warn_of_refit(model, X, y)
                    targets = self._encoded(y)
                with naming_columns(self):
                    if others:
                        states = [model.random_state for model in models]
                        released = self._draws(X, targets, states, callback, **options)
                    else:
                        released = [self._release(X, targets, callback, **options)]
                learned = {name: value for name, value in vars(self).items() if name.endswith("_")}
                for model, release in zip(models, released, strict=True):
                    for name, value in learned.items():
                        setattr(model, name, copy(value))  # no model holds another's arrays
                    model._record(release.required())
                    if not model.may_be_dropped:
                        model.warn_of_release()
            except BaseException:
                for model in models:
                    model.forget()
                raise
            return self

    def _walked(self, blocks: Blocks, **options: Any) -> Any:
        """What a learner gets of rows that are walked; the others refuse them."""
        raise ValueError(f"X must be rows in memory for {type(self).__name__}, got {type(blocks).__name__}")

    def _check_walked(self, **options: Any) -> None:
        """Refuse what needs rows in memory: each class its own parameters."""

    def _validated(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
        return validate_data(
            self,
            by_rows(X) if sp.issparse(X) else checked_rows(X),
            checked_targets(y),
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=False,
            y_numeric=is_regressor(self),
            reset=reset,
        )

    @property
    def _releases(self) -> bool:
        return self.on_error == "release"

    def _judged_row_by_row(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Any, np.ndarray]:
        """`X` and `y` without any check that one row could fail: NaN stands for what is no number."""
        if y is None:
            raise ValueError("y must be given, got None")
        X = validate_data(
            self,
            as_numbers(by_rows(X) if sp.issparse(X) else checked_rows(X, entries=False)),
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=0,
            reset=reset,
        )
        y = without_masks(as_column(y))
        if isinstance(getattr(y, "dtype", None), np.dtype):
            y = np.asarray(y)  # scikit-learn's refusal of complex numbers would print them
            y = column_or_1d(as_numbers(y) if y.dtype.kind == "c" else y, warn=True)
        else:  # each entry keeps its own type, whatever the others are
            labels = list(y)
            y = np.empty(len(labels), dtype=object)
            y[:] = labels
        check_consistent_length(X, y)
        return X, as_numbers(y) if is_regressor(self) else y

    def forget(self) -> None:
        """Unfit: drop everything that a fit has set."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    @classmethod
    def constraints(cls) -> dict[str, Constraint]:
        """The constraint of each parameter, by name: `CONSTRAINTS` of this class and of its bases."""
        tables = (vars(parent).get("CONSTRAINTS", {}) for parent in reversed(cls.__mro__))
        return {name: constraint for table in tables for name, constraint in table.items()}

    def check_parameters(self) -> None:
        """`ValueError` for the first parameter that is out of range."""
        for name, constraint in self.constraints().items():
            constraint(name, getattr(self, name))

    def _check_together(self, **options: Any) -> None:
        """`ValueError` for parameters, or options of `fit`, that contradict each other; each is in range by itself."""

    def warn_of_release(self) -> None:
        """Warn of what can be read off the released numbers, at no cost in privacy."""

    def _reads_rows(self) -> bool:
        return False

    def _warn_of_rows(self, given: Any, X: Any) -> None:
        """Warn of what the shape, the container and the types of X, as given and as validated, say about the fit."""
        warn_of_columns(self, given, X.shape[1])
        warn_of_counts(self, given)

    def _encoded(self, y: np.ndarray) -> FloatArray:
        raise NotImplementedError(f"{type(self).__name__} must say what it makes of y")

    def _release(self, X: Any, targets: FloatArray, callback: Any, **options: Any) -> Release[Any] | Refused[Any]:
        """The private parameters of validated rows and what publishing them costs, or a refusal."""
        raise NotImplementedError(f"{type(self).__name__} must say how it learns")

    def _draws(
        self, X: Any, targets: FloatArray, random_states: Sequence[Seed], callback: Any, **options: Any
    ) -> Sequence[Release[Any] | Refused[Any]]:
        """`_release` for each of several random states at once, for a model that `shares_work`."""
        raise NotImplementedError(f"{type(self).__name__} shares no work between its fits")

    def _record(self, release: Release[Any]) -> None:
        self.privacy_ = release.certificate
        theta, features, constant = release.theta, self.n_features_in_, self.privacy_.intercept_scaling
        self._record_coefficients(
            theta[..., :features],
            constant * theta[..., features:].ravel() if constant else np.zeros(np.atleast_2d(theta).shape[0]),
        )
        self.privacy_ = self.privacy_.about(self.coef_, self.intercept_, published_by(self))

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        """Set `coef_` and `intercept_`, given in units of the score; shapes (d,) and (1,), or (K, d) and (K,)."""
        raise NotImplementedError(f"{type(self).__name__} must say what its coefficients look like")

    @property
    def _constant(self) -> float:
        """The constant s appended to every row; 0.0 without an intercept."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    # Publishing

    def release(self, *, feature_names: bool = True) -> Released:
        """A copy that is safe to publish: it predicts as this model does, and holds only what the promise covers.

        Parameters
        ----------
        feature_names : bool, default=True
            Keep `feature_names_in_` of a model that was fitted on a frame, so that `predict` refuses exchanged columns.
            False is for names that came from the data, which the promise does not cover.

        Returns
        -------
        Released
            With `coef_` and `intercept_`; where the model has them `classes_`, `margin_`, `center_`, `scale_`,
            `feature_ranges_`, `target_range_`, `hessian_`, `outer_` and `feature_names_in_`; `n_features_in_`, and the
            public part of the certificate as `privacy_`. No trace, no number of iterations, no candidates, no
            parameters.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before a successful `fit`. A `PrivacyBudgetWarning` says that the noise came from a seed: whoever knows the
            seed can subtract the noise from the published numbers.
        """
        check_is_fitted(self)
        if self.privacy_.reproducible:
            warnings.warn(
                f"This {type(self).__name__} was fitted with random_state: whoever knows or guesses the seed can "
                "subtract the noise. Publish a model that was fitted with random_state=None.",
                PrivacyBudgetWarning,
                stacklevel=2,
            )
        return released(self, feature_names=feature_names)


class SolvedModel(LinearModel):
    """A linear model that a solver finds: it stops at the gradient norm `tau`."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "tau": positive,
        "solver": one_of(*SOLVERS),
        "max_iter": positive_integer,
    }

    def __init__(self, *, tau: float, solver: str, max_iter: int, **shared: Any) -> None:
        super().__init__(**shared)
        self.tau = tau
        self.solver = solver
        self.max_iter = max_iter

    def _solving(self, callback: Callback | None) -> FitOptions:
        return {**self._sharing(callback), "random_state": self.random_state}

    def _sharing(self, callback: Callback | None) -> SharedOptions:
        return {
            "row_norm": self.row_norm,
            "intercept_scaling": self._constant,
            "solver": self.solver,
            "max_iter": self.max_iter,
            "on_error": self.on_error,
            "callback": callback,
        }

    def _record(self, release: Release[Any]) -> None:
        super()._record(release)
        self.n_iter_ = release.certificate.n_iter
        self.gradient_norms_ = np.array(release.gradient_norms)


class SharesWork(SolvedModel):
    """A solved model whose fits share work where they differ by their noise alone: `_draws` says how it learns."""

    shares_work = True

    def _release(self, X: Any, targets: FloatArray, callback: Any, **options: Any) -> Release[Any] | Refused[Any]:
        return self._draws(X, targets, [self.random_state], callback, **options)[0]


class WithNeighbours(LinearModel):
    """A linear model that is told which data sets count as neighbours."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "adjacency": one_of(*ADJACENCIES),
        "rows_per_person": positive_integer,
    }

    def __init__(self, *, adjacency: str, rows_per_person: int, **shared: Any) -> None:
        super().__init__(**shared)
        self.adjacency = adjacency
        self.rows_per_person = rows_per_person

    @property
    def _rows_moved(self) -> int:
        """How many rows' gradients lie between neighbours: for rules of thumb; no promise rests on it."""
        return int(self.rows_per_person) * (1 if NEIGHBOURS[self.adjacency] == ADD_REMOVE else 2)


class LinearClassifier(ClassScores, LinearModel):
    """Two classes; the sign of the score decides."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"classes": two_labels}

    def __init__(self, *, classes: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.classes = classes

    def _encoded(self, y: np.ndarray) -> FloatArray:
        """−1.0 or +1.0 for every label; NaN, which counts as no row, for others with ``on_error="release"``."""
        classes = two_labels("classes", self.classes)
        if self._releases and classes is not None:
            refuse_other_type(y, classes)
            self.classes_ = classes
            return labels_as_targets(y, classes)
        self.classes_, targets = encode(y, classes)
        return targets

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if self._releases and self.classes is None:
            raise ValueError("classes must be the labels that can occur where on_error='release', got None")

    def _check_walked(self, **options: Any) -> None:
        super()._check_walked(**options)
        if self.classes is None:
            raise ValueError("classes must be the labels where X is Blocks, got None")

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        self.coef_, self.intercept_ = np.atleast_2d(coefficients), intercept


class ProbabilisticClassifier(LinearClassifier):
    """A linear classifier trained by the logistic loss, with or without a margin."""

    has_probabilities = True

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"margin": nonnegative}

    def __init__(self, *, margin: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.margin = margin


def encode(y: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, FloatArray]:
    """The sorted classes, and every label as −1.0 or +1.0; `ValueError` unless there are two classes."""
    check_classification_targets(y)
    seen = np.unique(y)
    if classes is not None:
        check_known(seen, classes)
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


def refuse_other_type(y: np.ndarray, classes: np.ndarray) -> None:
    """`ValueError` where labels are numbers by their type, which is public, and classes are texts, or the other way."""
    numbers, texts = "iufb", "US"
    for one, other in ((numbers, texts), (texts, numbers)):
        if y.dtype.kind in one and classes.dtype.kind in other:
            raise ValueError(
                f"classes must be of the type of y, {y.dtype}, where on_error='release', got {classes.tolist()!r}: no "
                "row would count"
            )


def check_known(seen: np.ndarray, classes: np.ndarray) -> None:
    """`ValueError` for a label that is none of `classes`."""
    if len(strangers := np.setdiff1d(seen, classes)):
        raise ValueError(f"y must hold only labels in classes={classes.tolist()!r}, got {strangers.tolist()[0]!r}")


class Regression(NumberScores, LinearModel):
    """A linear model of numbers."""

    def _range(self) -> tuple[float, float] | None:
        """The public range of the targets, which predictions are cut to; None where none is known."""
        raise NotImplementedError(f"{type(self).__name__} must say what range its targets have")

    def _record(self, release: Release[Any]) -> None:
        ends = self._range()
        self.target_range_ = None if ends is None else np.array(ends, dtype=np.float64)
        super()._record(release)

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        self.coef_ = coefficients.copy()
        self.intercept_ = float(intercept[0])

    def _encoded(self, y: np.ndarray) -> FloatArray:
        with np.errstate(over="ignore"):  # of wider floats: a warning would tell of the row
            return y.astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags


class ScaledTargets(Regression):
    """A linear model that is fitted to (y − target_offset)/target_scale."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "target_offset": finite,
        "target_scale": length,
        "target_range": or_none(range_argument),
    }

    def __init__(self, *, target_offset: float, target_scale: float, target_range: Any, **shared: Any) -> None:
        super().__init__(**shared)
        self.target_offset = target_offset
        self.target_scale = target_scale
        self.target_range = target_range

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        for name, default in (("target_offset", 0.0), ("target_scale", 1.0)):
            if self.target_range is not None and (given := getattr(self, name)) != default:
                raise ValueError(f"{name} must be left out where target_range is given, which decides it, got {given}")

    def _range(self) -> tuple[float, float] | None:
        return range_argument("target_range", self.target_range) if self.target_range is not None else None

    @property
    def _units(self) -> tuple[float, float]:
        """The offset and the scale of the targets: the middle of their range and half its width, where it is known."""
        if (ends := self._range()) is None:
            return float(self.target_offset), float(self.target_scale)
        low, high = ends
        return low / 2 + high / 2, high / 2 - low / 2

    def _encoded(self, y: np.ndarray) -> FloatArray:
        """(y − target_offset)/target_scale; an overflow is refused like any other infinity."""
        offset, scale = self._units
        with np.errstate(over="ignore"):
            return (super()._encoded(y) - offset) / scale

    def _record_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        offset, scale = self._units
        self.coef_ = scale * coefficients
        self.intercept_ = offset + float(scale * intercept[0])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², as scikit-learn's regressors have it; `y` is left out where `X` is `Blocks`."""
        return float(super().score(*with_targets(X, y), sample_weight))
