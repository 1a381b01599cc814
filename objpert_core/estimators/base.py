"""The ground of all estimators: parameters, one `fit` that reads from top to bottom, and what may be published."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from objpert_core._validation import (
    FloatArray,
    boolean,
    in_open_unit,
    length,
    nonnegative,
    positive,
    positive_integer,
    random_state_argument,
)
from objpert_core.accounting.mechanisms.base import ADJACENCIES
from objpert_core.blocks import as_blocks
from objpert_core.estimators.cautions import (
    copied,
    warn_of_classes,
    warn_of_columns,
    warn_of_copies,
    warn_of_counts,
    warn_of_ensemble,
    warn_of_one_answer,
    warn_of_pipeline,
    warn_of_refit,
)
from objpert_core.estimators.constraints import (
    Constraint,
    one_of,
    or_none,
    range_argument,
    refuse_weights,
    several_labels,
)
from objpert_core.estimators.frames import naming_columns
from objpert_core.estimators.given import rows_and_targets, silently, walked
from objpert_core.estimators.parameters import (
    PREFIX,
    Advanced,
    Applies,
    Option,
    Settings,
    Together,
    settings_of,
    signature_of,
    take,
    with_old_names,
)
from objpert_core.estimators.recipe import Data, Learned, Public, Recipe
from objpert_core.estimators.released import Released, released
from objpert_core.estimators.scoring import ClassScores, LinearScores, NumberScores
from objpert_core.estimators.weights import only_answer, weights_of_rows
from objpert_core.exceptions import PrivacyBudgetWarning
from objpert_core.learning.certificates.base import ON_ERROR
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.rows import ROW_NORMS
from objpert_core.learning.screening import labels_as_rows, labels_as_targets
from objpert_core.learning.solvers import SOLVERS, Callback
from objpert_core.learning.steps.stated import fingerprinted, published_by


class LinearModel(LinearScores):
    """A private linear model: a score is a coefficient times a feature, summed, plus the intercept.

    A subclass says in `recipe` what a fit does. Its constructor ends with ``advanced=None, **old_names`` and hands all
    that it got to `take`; `ADVANCED` lists further options and their defaults. `CONSTRAINTS` says what each parameter
    and option may be, and `TOGETHER` what some have to be beside others.
    """

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "epsilon": positive,
        "delta": in_open_unit,
        "fit_intercept": boolean,
        "intercept_scaling": length,
        "row_norm": one_of(*ROW_NORMS),
        "random_state": random_state_argument,
        "on_error": one_of(*ON_ERROR),
        "public_rows": or_none(positive_integer),
        "adjacency": one_of(*ADJACENCIES),
        "rows_per_person": positive_integer,
        "tau": positive,
        "solver": one_of(*SOLVERS),
        "max_iter": positive_integer,
    }
    ADVANCED: ClassVar[Mapping[str, Any]] = {}
    TOGETHER: ClassVar[tuple[Together | Applies, ...]] = ()
    shares_work: ClassVar[bool] = False
    """Whether fits that differ by their noise alone share work; see `draws.fit_many`."""
    walks: ClassVar[bool] = False
    """Whether rows may be walked a block at a time."""
    weighs: ClassVar[bool] = False
    """Whether `fit` takes each row's own weight."""
    reads_tables: ClassVar[bool] = False
    """Whether rows are those of a raw table, of which the parameter `columns` says what is public."""

    may_be_dropped = False
    """Whether a search decides later if the model is released: a warning would tell of numbers that nobody paid for."""

    __metadata_request__fit: ClassVar[dict[str, str]] = {"callback": UNUSED}  # scikit-learn's protocol

    epsilon: float
    delta: float
    fit_intercept: bool
    random_state: Seed
    on_error: str
    advanced: Advanced
    __signature__: ClassVar[inspect.Signature]

    # Parameters

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in vars(cls).get("ADVANCED", ()):
            setattr(cls, name, Option(name))
        cls.__signature__ = signature_of(cls)

    def take(self, given: Mapping[str, Any]) -> None:
        """Keep a constructor's `locals()`; see `parameters.take`."""
        take(self, given)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, as every estimator does; options by `advanced`, or one by one as ``advanced__tau=1e-8``.

        Warns once where an ensemble sets the seed of the noise.
        """
        old = {name: parameters.pop(name) for name in list(parameters) if name in self.ADVANCED}
        single = {
            name.removeprefix(PREFIX): parameters.pop(name) for name in list(parameters) if name.startswith(PREFIX)
        }
        super().set_params(**parameters)
        with_old_names(self, old)
        if single:
            self.advanced = {**(self.advanced or {}), **single}
        warn_of_ensemble(self, parameters)
        return self

    def having(self, parameters: Mapping[str, Any]) -> Self:
        """An unfitted model with these parameters, advanced options among them: no clone, so that it warns of none."""
        options = {name.removeprefix(PREFIX): value for name, value in parameters.items()}
        advanced = {name: options.pop(name) for name in list(options) if name in self.ADVANCED}
        given = self.get_params(deep=False) | options
        given["advanced"] = {**(given["advanced"] or {}), **advanced} or None
        return type(self)(**given)

    @property
    def settings(self) -> Settings:
        """All parameters and advanced options, checked; `ValueError` for the first that is not as it has to be."""
        tables = [vars(parent) for parent in reversed(type(self).__mro__)]
        constraints = {name: rule for table in tables for name, rule in table.get("CONSTRAINTS", {}).items()}
        return settings_of(self, constraints, [rule for table in tables for rule in table.get("TOGETHER", ())])

    def __sklearn_clone__(self) -> Any:
        copy = super().__sklearn_clone__()
        copied(self, copy)
        return copy

    # What a fit does

    def recipe(self, public: Public) -> Recipe:
        """What a fit to data of these public numbers does, spends and releases."""
        raise NotImplementedError(f"{type(self).__name__} must say what its fit does")

    def encoded(self, y: np.ndarray) -> FloatArray:
        """What a fit learns for `y`, which may set attributes that end with an underscore."""
        raise NotImplementedError(f"{type(self).__name__} must say what it makes of y")

    def planned(self, rows: int, columns: int, *, sparse: bool = False) -> Recipe:
        """What a fit to data of this shape will do, spend and release; no data are needed.

        Parameters
        ----------
        rows, columns : int >= 1
            Where `public_rows` is given, rules go by that number and not by `rows`.
        sparse : bool, default=False
            Whether the rows are sparse: sparse rows are not centred.

        Returns
        -------
        Recipe
            `print` says it in words. `standardisation`, `epsilon` (what is left for the fit), `lam` (the least λ) and
            `margin` are the rules' choices, `mechanism` the noise.

        Examples
        --------
        >>> from objpert_core.estimators import ObjPertLogisticRegression
        >>> planned = ObjPertLogisticRegression(epsilon=1.0).planned(30_000, 100)
        >>> 0.9 < planned.epsilon < 1.0, planned.standardisation.scale_noise is not None
        (True, True)
        """
        known_rows = getattr(self.settings, "public_rows", None)  # settings are checked first
        classes = len(known) if (known := getattr(self, "classes", None)) is not None else 2
        rows, columns = positive_integer("rows", rows), positive_integer("columns", columns)
        return self.recipe(Public(known_rows or rows, columns, sparse=sparse, classes=classes))

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
        refuse_weights(self, others)
        return self.fit_beside((), X, y, callback, sample_weight=others.get("sample_weight"))

    def fit_beside(
        self,
        others: Sequence[Self],
        X: Any,
        y: Any,
        callback: Any = None,
        *,
        sample_weight: Any = None,
        judges: Any = None,
    ) -> Self:
        """Fit this model and `others` that differ from it by `random_state` alone; every public `fit` ends here.

        Every parameter is checked before any data are touched. A failure leaves all models unfitted, so that no older
        model looks like the result of the failed fit. `judges` are public rows and labels that choose among models.
        """
        models = [self, *others]
        with silently(self):
            for model in models:
                model.forget()
                _ = model.settings
                warn_of_copies(model)
            warn_of_pipeline(self)
            try:
                if (blocks := as_blocks(X, y, sample_weight)) is not None:
                    rows = walked(self, blocks)
                    data = Data(rows, rows.sample[1].targets[..., :0], None, judges)
                else:
                    if is_classifier(self) and getattr(self, "classes", None) is None:
                        warn_of_classes(self)
                    rows, y = rows_and_targets(self, X, y)
                    warn_of_columns(self, X, rows.shape[1])
                    warn_of_counts(self, X)
                    for model in models:
                        warn_of_refit(model, rows.matrix if self.reads_tables else rows, y)
                    targets = self.encoded(y)
                    data = Data(rows, targets, weights_of_rows(self, targets, sample_weight), judges)
                with naming_columns(self):
                    recipe = self.recipe(Public.of(data))
                    for caution in recipe.cautions:
                        caution.warn(self)
                    learned = recipe.learn(data, [model.random_state for model in models], callback)
                of_data = {name: value for name, value in vars(self).items() if name.endswith("_")}
                for model, one in zip(models, learned, strict=True):
                    model.keep(one, of_data)
                    if not model.may_be_dropped:
                        model.warn_of_release()
            except BaseException:
                for model in models:
                    model.forget()
                raise
            return self

    def forget(self) -> None:
        """Unfit: drop everything that a fit has set."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def keep(self, learned: Learned, of_data: Mapping[str, Any]) -> None:
        """Become the fitted model of an outcome; `of_data` is what the shape of the rows and the labels have set."""
        release = learned.release.required()
        published = {name: release.published[name] for name in fingerprinted() if name in release.published}
        for name, value in {**of_data, **published, **learned.also}.items():
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)
        theta = release.theta
        if constant := release.certificate.intercept_scaling:
            self.keep_coefficients(theta[..., :-1], constant * theta[..., -1:].ravel())
        else:
            self.keep_coefficients(theta, np.zeros(np.atleast_2d(theta).shape[0]))
        self.privacy_ = release.certificate.about(self.coef_, self.intercept_, published_by(self))

    def keep_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        """Set `coef_` and `intercept_`, given in units of the score; shapes (d,) and (1,), or (K, d) and (K,)."""
        raise NotImplementedError(f"{type(self).__name__} must say what its coefficients look like")

    # Publishing

    def warn_of_release(self) -> None:
        """Warn of what can be read off the released numbers, at no cost in privacy."""
        if getattr(self, "class_weight", ()) is None and (place := only_answer(self)) is not None:
            warn_of_one_answer(self, self.classes_.tolist()[place])

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


class LinearClassifier(ClassScores, LinearModel):
    """Two classes, of which the sign of the score decides; or more, where `most_classes` says so."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "classes": partial(several_labels, most=2),
        "margin": nonnegative,
    }
    TOGETHER: ClassVar[tuple[Together | Applies, ...]] = (
        Together(
            "classes",
            lambda s: s.classes is not None or s.on_error != "release",
            "be the labels that can occur",
            "where on_error='release'",
        ),
    )
    most_classes: ClassVar[float] = 2

    classes: Any

    def encoded(self, y: np.ndarray) -> FloatArray:
        """−1.0 or +1.0 for every label, a row of them for each of more than two classes; sets `classes_`.

        NaN, which counts as no row, for a label that is no class with ``on_error="release"``.
        """
        known = several_labels("classes", self.classes, self.most_classes)
        if known is None or self.on_error != "release":
            self.classes_, targets = encode(y, known, self.most_classes)
            return targets
        refuse_other_type(y, known)
        self.classes_ = known
        return labels_as_rows(y, known) if len(known) > 2 else labels_as_targets(y, known)

    def keep_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        """Set `coef_`, a row for each score, and `intercept_`."""
        self.coef_, self.intercept_ = np.atleast_2d(coefficients), intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.most_classes > 2
        tags.classifier_tags.poor_score = self.weighs  # on the 50 weighted rows scikit-learn tries: privacy hides them
        return tags


class LinearRegressor(NumberScores, LinearModel):
    """A number. What is learned is in units of `target_range`, whose middle is 0 and whose ends are ±1."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"target_range": or_none(range_argument)}
    clips_targets: ClassVar[bool] = False
    """Whether targets are cut to their range, −1 to 1 where none is given, and learned in their own units."""

    target_range: Any

    @property
    def known_range(self) -> tuple[float, float] | None:
        """The public range of the targets, to which predictions are cut."""
        if self.target_range is None:
            return (-1.0, 1.0) if self.clips_targets else None
        return range_argument("target_range", self.target_range)

    @property
    def largest_target(self) -> float:
        """Half the width of the targets' range: no target is further from its middle."""
        low, high = self.known_range or (-1.0, 1.0)
        return high / 2 - low / 2

    @property
    def units(self) -> tuple[float, float]:
        """What counts as 0 in the fit, and what as 1: the middle of the targets' range, and half its width."""
        if (ends := self.known_range) is None:
            return 0.0, 1.0
        return ends[0] / 2 + ends[1] / 2, 1.0 if self.clips_targets else self.largest_target

    def encoded(self, y: np.ndarray) -> FloatArray:
        """The targets in `units`; an overflow is refused like any other infinity."""
        middle, half = self.units
        with np.errstate(over="ignore"):  # also of wider floats: a warning would tell of the row
            return (y.astype(np.float64) - middle) / half

    def keep_coefficients(self, coefficients: FloatArray, intercept: FloatArray) -> None:
        """Set `coef_`, `intercept_` and `target_range_`, all in units of the targets as they were given."""
        middle, half = self.units
        self.coef_, self.intercept_ = half * coefficients, middle + float(half * intercept[0])
        ends = self.known_range
        self.target_range_ = None if ends is None else np.array(ends, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags


def encode(y: np.ndarray, classes: np.ndarray | None, most: float = 2) -> tuple[np.ndarray, FloatArray]:
    """The sorted classes, and every label as −1.0 or +1.0, in a row for each class where there are more than two.

    `ValueError` for one class, or for more than `most`.
    """
    if classes is None:
        check_classification_targets(y)  # of which declared labels need none: it warns, and refuses, by what occurs
    seen = np.unique(y)
    if classes is not None:
        check_known(seen, classes)
    elif len(seen) == 1:
        raise ValueError(
            f"y must hold two classes, got one class: {seen.tolist()[0]!r}; name both with classes= to fit all the same"
        )
    elif len(seen) > most:
        shown = ", ".join(repr(label) for label in seen[:5].tolist()) + (", ..." if len(seen) > 5 else "")
        raise ValueError(
            f"Only binary classification is supported. y must hold two classes, got {len(seen)} classes: {shown}"
        )
    classes = seen if classes is None else classes
    if len(classes) > 2:
        return classes, np.where(y == classes[:, None], 1.0, -1.0)
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
