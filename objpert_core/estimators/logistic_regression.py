"""Logistic regression by objective perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from objpert_core._validation import FloatArray, nonnegative, positive_integer
from objpert_core.accounting import Standardisation, balanced_rest, recommended_lam, recommended_margin
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.estimators.base import ProbabilisticClassifier, Seed, check_known, refuse_other_type
from objpert_core.estimators.constraints import or_none, several_labels
from objpert_core.estimators.documented import documented
from objpert_core.estimators.intervals import ReleasesCurvature
from objpert_core.estimators.objective import ObjectivePerturbationModel, Plan, Public, bounds_covering
from objpert_core.estimators.standardised import AUTO
from objpert_core.estimators.weights import WeighsClasses
from objpert_core.learning.output_perturbation import NEIGHBOURS
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.release import Release
from objpert_core.learning.screening import labels_as_rows


class Planned(NamedTuple):
    """The choices of rules by public numbers, before any data are looked at: noise of the map, ε left, least λ, margin
    k.
    """

    standardisation: Standardisation
    epsilon: float
    lam: float
    margin: float


@documented
class ObjPertLogisticRegression(WeighsClasses, ProbabilisticClassifier, ReleasesCurvature, ObjectivePerturbationModel):
    """Logistic regression under (ε, δ)-differential privacy, by objective perturbation.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the logistic losses, minimises until the gradient's
    norm is at most `tau`, adds N(0, sigma_out²) to every coefficient and releases the sum. σ and λ are calibrated
    to (epsilon, delta) before the data are looked at; there is nothing to tune on the data.

    Parameters
    ----------
    %(epsilon delta)s
    bound : {"logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm"}, default="logistic"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" needs the least noise.
        ("non-glm" needs ``accountant="rdp"``.)
    %(noise_ratio tau sigma_out solver intercept row_norm random_state accountant)s
    lam : float >= 0 or None, default=None
        A lower limit on the regularisation λ; 0 takes the smallest λ that privacy allows. None takes 0 if a
        `noise_ratio` is given and `objpert_core.accounting.recommended_lam` otherwise: a rule in ε, δ, R and the shape
        of `X`, which regularises more where there are few rows for so much noise. **The number of rows is then treated
        as public**, and the certificate says so. Choosing λ by looking at fits is not covered.
    margin : float >= 0 or None, default=None
        The margin k of the loss log(1 + e^{k − y·score}) (`objpert_core.learning.LogisticLoss`). With a margin, rows
        near the score 0 count for more. A margin costs no worst-case privacy, though ordinary rows come closer to the
        worst case. 0 is logistic regression itself. None takes 0 if a `noise_ratio` or a `lam` is given and otherwise
        `objpert_core.accounting.recommended_margin`, which goes by the same public numbers as the rule for λ and tends
        to 0 as ε grows. `coef_` gives log-odds only where k = 0; `predict_proba` allows for k.
    public_rows : int or None, default=None
        The number of rows by which rules choose λ, tau, margin, and the noise of `standardize`, `feature_ranges` and
        `intervals`.
        %(declared_rows)s
    classes : array-like of two labels or more, or None, default=None
        The labels that can occur, so that they need not be learned from the data; a label without rows is fine.
        None takes the labels seen in `y`; the set of labels is then revealed outside the accounting. For K > 2
        labels there are K fits, one for each class against all others, under one (ε, δ).
    %(max_iter on_error adjacency rows_per_person standardize feature_ranges)s
    %(class_weight)s
    intervals : {False, True, "sandwich"}, default=False
        Whether the fit also releases the curvature at the released θ, so that `summary` and `conf_int` have
        standard errors (docs/theorems.md, T50). (epsilon, delta) pays for this release, too. The errors
        count the sampling of the rows, the noise of the fit and the noise of the curvature. "sandwich" also
        releases the sum of squared gradients; its intervals hold where the model is wrong, too. Intervals need two
        classes, no margin, no private centring and scaling, and no weights of rows or classes. Unless a `lam` is
        given, λ is the smallest that privacy allows. The noise follows **a rule in ε, δ, the public number of rows
        and the number of columns**; a `ValueError` refuses a fit whose curvature would drown in noise. Coefficients
        are about rows after `row_norm`: with "clip" and rows of norm at most 1 these are the columns as they are,
        with "normalize" they are directions. With `feature_ranges`, which then need "clip", coefficients are in the
        columns' own units; ranges are made √d times as wide, so that no row within the ranges is shortened.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_), or (K, n_features_in_) for K > 2 classes
        Private. Applies to rows after `row_norm`, `center_` and `scale_`, not to raw ones.
    intercept_ : ndarray, shape (1,) or (K,)
        Private; 0.0 without an intercept.
    classes_ : ndarray, shape (2,) or (K,)
        Sorted labels; with two, the second is the positive one.
    %(fitted_map fitted_class_weight)s
    hessian_ : ndarray, shape (D, D), or None
        With `intervals`, the noisy curvature Σp(1 − p)x̃x̃ᵀ; private. With an intercept, the last row and column
        are the constant's.
    outer_ : ndarray, shape (D, D), or None
        With ``intervals="sandwich"``, the noisy Σ(p − y)²x̃x̃ᵀ; private.
    %(fitted_margin fitted_certificate fitted_features)s
    n_iter_ : int
        Depends on the data, outside the guarantee: do not publish. For K > 2 classes, the iterations of all fits
        together.
    gradient_norms_ : ndarray, shape (n_iter_ + 1,), or (n_iter_ + K,) for K > 2 classes
        The solver's trace, one fit after the other. Depends on the data, outside the guarantee: do not publish.

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1, with our theorem (bound "logistic"; docs/theorems.md,
    T1).
    %(own_weights)s

    With K > 2 classes a row is in K fits, whose noise is independent. (ε, δ) is that of the composition of the K fits.
    One row can attain this (ε, δ): where λ ≥ 2σ² no accounting of these K fits gives less, and elsewhere only little
    less. A row that is added or removed has one class, and in the fits of the K − 1 others it counts as a row that is
    1/√(K − 1) times as long: all K fits then need √2 times the noise of one fit, not √K times (docs/theorems.md, T46).
    Where a row is replaced, or one person has several, a row counts in full everywhere. Probabilities are those of each
    class against the others, over their sum.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, delta=1e-5, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.privacy_.reproducible
    ((1, 30), 1.0, True)

    Ten classes share one promise:

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ObjPertLogisticRegression(epsilon=4.0, classes=list(range(10)), random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.privacy_.fits, model.privacy_.verify(model)
    ((10, 64), 4.0, 10, True)
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "bound": bounds_covering(LogisticLoss(), first="logistic"),
        "classes": several_labels,
        "lam": or_none(nonnegative),
        "margin": or_none(nonnegative),
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, bound: str = "logistic", noise_ratio: float | None = None,
        tau: float = 1e-6, sigma_out: float | None = None, solver: str = "newton", fit_intercept: bool = True,
        intercept_scaling: float = 0.3, row_norm: str = "normalize", random_state: Seed = None, *,
        accountant: str = "profile", lam: float | None = None, margin: float | None = None,
        public_rows: int | None = None, classes: Any = None, max_iter: int = 1000, on_error: str = "raise",
        adjacency: str = "add/remove one row", rows_per_person: int = 1, standardize: Any = AUTO,
        class_weight: Any = None, feature_ranges: Any = None, intervals: Any = False,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, bound=bound, noise_ratio=noise_ratio, tau=tau, sigma_out=sigma_out,
            solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, accountant=accountant, margin=margin, classes=classes, max_iter=max_iter,
            on_error=on_error, adjacency=adjacency, rows_per_person=rows_per_person, standardize=standardize,
            public_rows=public_rows, feature_ranges=feature_ranges, class_weight=class_weight, intervals=intervals,
        )  # fmt: skip
        self.lam = lam

    @classmethod
    def published(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """The recipe of the paper's experiments; any parameter can be given and then replaces the recipe's.

        Redberg, Koskela and Wang (2023), Section 5: the "glm" bound through its Rényi curve, σ = 1.3 σ_Gauss, τ = 0.01,
        σ_out = 0.15 and a constant feature 1.
        """
        recipe: dict[str, Any] = {
            "bound": "glm",
            "noise_ratio": 1.3,
            "accountant": "rdp",
            "tau": 0.01,
            "sigma_out": 0.15,
            "intercept_scaling": 1.0,
        }
        return cls(epsilon=epsilon, delta=delta, **(recipe | parameters))

    @classmethod
    def kifer2012(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """Objective perturbation as first proved: Kifer, Smith and Thakurta (2012); any parameter can be given.

        σ and λ by their theorem (Theorem 2.8 of Redberg et al. 2023), which holds for the exact minimiser; the output
        noise that covers the solver's distance to it is paid for by composition (`accounting.ApproximateMinima`).
        """
        recipe: dict[str, Any] = {"bound": "kifer2012", "lam": 0.0}
        return cls(epsilon=epsilon, delta=delta, **(recipe | parameters))

    def _encoded(self, y: np.ndarray) -> FloatArray:
        classes = several_labels("classes", self.classes)
        if classes is None:
            check_classification_targets(y)
            classes = np.unique(y)
        if len(classes) <= 2:
            return super()._encoded(y)
        self.classes_ = classes
        if self._releases:
            refuse_other_type(y, classes)
            return labels_as_rows(y, classes)
        check_classification_targets(y)
        check_known(np.unique(y), classes)
        return np.where(y == classes[:, None], 1.0, -1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    @property
    def _left_to_rules(self) -> bool:
        return self.lam is None and self.noise_ratio is None and not self.intervals

    def _plan(self, public: Public) -> Plan:
        lam, margin = self.lam, self.margin
        if self._lam_by_rule:
            assert public.terms.public_rows is not None
            # About the noise of what is left: k rows of one person need about the noise of an ε less by k.
            left, radius = public.epsilon / self._rows_moved, row_radius(self._constant)
            numbers = left, self.delta, public.terms.public_rows, public.dimension, radius
            lam = recommended_lam(*numbers)
            if margin is None:
                margin = recommended_margin(*numbers, standardised=public.terms.step(Standardisation) is not None)
        return Plan(LogisticLoss(margin or 0.0), lam=lam or 0.0)

    def _rest_weight(self, fits: int) -> float:
        alone = NEIGHBOURS[self.adjacency] == ADD_REMOVE and int(self.rows_per_person) == 1
        return balanced_rest(fits) if alone else 1.0

    def planned(self, rows: int, columns: int, *, sparse: bool = False) -> Planned:
        """The rules' choices for data of this shape (a `Planned`); no data are needed.

        Parameters
        ----------
        rows, columns : int >= 1
            Where `public_rows` is given, it takes the place of `rows`.
        sparse : bool, default=False
            Whether the rows are sparse: sparse rows are not centred.

        Examples
        --------
        >>> planned = ObjPertLogisticRegression(epsilon=1.0).planned(30_000, 100)
        >>> 0.9 < planned.epsilon < 1.0, planned.standardisation.scale_noise is not None
        (True, True)
        """
        self.check_parameters()
        self._check_together()
        public = self._public(positive_integer("rows", rows), positive_integer("columns", columns), sparse=sparse)
        plan = self._plan(public)
        return Planned(public.rows.standardisation, public.epsilon, plan.lam, plan.loss.parameter or 0.0)

    def _record(self, release: Release[Any]) -> None:
        super()._record(release)
        self.margin_ = float(release.certificate.loss_parameter or 0.0)
