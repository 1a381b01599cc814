"""Logistic regression by objective perturbation, as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from objpert_core._validation import nonnegative
from objpert_core.accounting import (
    IntervalNoise,
    Standardisation,
    balanced_rest,
    recommended_interval_noise,
    recommended_lam,
    recommended_margin,
)
from objpert_core.accounting.mechanisms.base import ADD_REMOVE
from objpert_core.accounting.objective.bounds import BOUND_REGISTRY
from objpert_core.accounting.steps.class_counts import recommended_counts
from objpert_core.accounting.terms import Terms
from objpert_core.estimators import objective
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.constraints import or_none, several_labels
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import by_objective_perturbation, composes, constant_of
from objpert_core.estimators.parameters import Advanced, Settings, Together
from objpert_core.estimators.recipe import Objective, Public, Recipe
from objpert_core.estimators.steps_before import AUTO, asks_for_map, by_rule_for, reads_rows, row_plan, terms_of
from objpert_core.estimators.weights import BALANCED
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import row_radius

SANDWICH = "sandwich"


def switch(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is True, False or "sandwich"."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == SANDWICH):
        return value
    raise ValueError(f"{name} must be True, False or {SANDWICH!r}, got {value!r}")


def _beside_intervals(name: str, holds: Any, must: str) -> Together:
    return Together(name, lambda s: not s.intervals or holds(s), f"be {must}", "where intervals={intervals!r}")


BESIDE_INTERVALS = (
    _beside_intervals("margin", lambda s: not s.margin, "None or 0"),
    _beside_intervals("class_weight", lambda s: s.class_weight is None, "None"),
    _beside_intervals("classes", lambda s: s.classes is None or len(s.classes) == 2, "None or two labels"),
)


def _can_be_composed(s: Settings) -> bool:
    return BOUND_REGISTRY[s.bound].has_losses or BOUND_REGISTRY[s.bound].has_rdp


@documented
class ObjPertLogisticRegression(LinearClassifier):
    """Logistic regression under (ε, δ)-differential privacy, by objective perturbation.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the logistic losses, minimises until the gradient's
    norm is at most `tau`, adds N(0, sigma_out²) to every coefficient and releases the sum. σ and λ are calibrated
    to (epsilon, delta) before the data are looked at; there is nothing to tune on the data.

    Parameters
    ----------
    %(epsilon delta)s
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
    %(fit_intercept)s
    classes : array-like of two labels or more, or None, default=None
        The labels that can occur, so that they need not be learned from the data; a label without rows is fine.
        None takes the labels seen in `y`; the set of labels is then revealed outside the accounting. For K > 2
        labels there are K fits, one for each class against all others, under one (ε, δ).
    %(on_error random_state adjacency rows_per_person standardize feature_ranges)s
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
    %(advanced)s

    Other Parameters
    ----------------
    bound : {"logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm"}, default="logistic"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" needs the least noise.
        ("non-glm" needs ``accountant="rdp"``.)
    %(steps noise_ratio accountant tau sigma_out solver max_iter intercept_scaling row_norm)s

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

    CONSTRAINTS: ClassVar = {
        **objective.CONSTRAINTS,
        "bound": objective.bounds_covering(LogisticLoss(), first="logistic"),
        "classes": several_labels,
        "lam": or_none(nonnegative),
        "margin": or_none(nonnegative),
        "intervals": switch,
    }
    ADVANCED: ClassVar = {"bound": "logistic", **objective.ADVANCED}
    TOGETHER: ClassVar = (
        *objective.TOGETHER,
        *BESIDE_INTERVALS,
        _beside_intervals("standardize", lambda s: not asks_for_map(s), f"{AUTO!r} or False"),
        _beside_intervals(
            "row_norm", lambda s: s.feature_ranges is None or s.row_norm == "clip", "'clip' beside feature_ranges"
        ),
        _beside_intervals("bound", _can_be_composed, "one with a privacy loss or a Rényi curve, to be composed,"),
    )
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    has_probabilities = shares_work = walks = weighs = True
    most_classes = math.inf

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, lam: float | None = None, margin: float | None = None,
        classes: Any = None, class_weight: Any = None, feature_ranges: Any = None, standardize: Any = AUTO,
        intervals: Any = False, fit_intercept: bool = True, public_rows: int | None = None,
        adjacency: str = "add/remove one row", rows_per_person: int = 1, on_error: str = "raise",
        random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    @classmethod
    def published(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """The recipe of the paper's experiments; any parameter can be given and then replaces the recipe's.

        Redberg, Koskela and Wang (2023), Section 5: the "glm" bound through its Rényi curve, σ = 1.3 σ_Gauss, τ = 0.01,
        σ_out = 0.15 and a constant feature 1.
        """
        recipe = {
            "bound": "glm",
            "noise_ratio": 1.3,
            "accountant": "rdp",
            "tau": 0.01,
            "sigma_out": 0.15,
            "intercept_scaling": 1.0,
        }
        advanced = recipe | (parameters.pop("advanced", None) or {})
        return cls(epsilon=epsilon, delta=delta, advanced=advanced, **parameters)

    @classmethod
    def kifer2012(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """Objective perturbation as first proved: Kifer, Smith and Thakurta (2012); any parameter can be given.

        σ and λ by their theorem (Theorem 2.8 of Redberg et al. 2023), which holds for the exact minimiser; the output
        noise that covers the solver's distance to it is paid for by composition (`accounting.ApproximateMinima`).
        """
        advanced = {"bound": "kifer2012"} | (parameters.pop("advanced", None) or {})
        return cls(epsilon=epsilon, delta=delta, **({"lam": 0.0} | parameters), advanced=advanced)

    def recipe(self, public: Public) -> Recipe:
        s, name = self.settings, type(self).__name__
        by_rules = s.lam is None and s.noise_ratio is None and not s.intervals
        may_compose = by_rules and composes(s)
        counted = by_rules or bool(s.intervals) or reads_rows(s, may_compose)
        rows = row_plan(s, public, by_rule=may_compose, name=name)
        counts = by_rule_for(s, recommended_counts) if s.class_weight == BALANCED else None
        curvature = interval_noise(s, public) if s.intervals else None
        terms = terms_of(
            s,
            public,
            counts,
            *rows.steps,
            curvature,
            reads_rows=counted,
            accountant=s.accountant,
            fits=public.fits,
            rest_weight=rest_weight(s, public.fits),
        )
        lam, margin = s.lam or 0.0, s.margin or 0.0
        if by_rules:
            lam, recommended = lam_and_margin(s, public.columns + s.fit_intercept, terms)
            margin = recommended if s.margin is None else margin
        minimised = Objective(LogisticLoss(margin), lam)
        return by_objective_perturbation(self, public, rows, terms, minimised, counted=counted)


def interval_noise(s: Settings, public: Public) -> IntervalNoise:
    """The noise of the curvature that follows the fit."""
    if public.fits > 1:
        raise ValueError(f"classes must be two labels where intervals={s.intervals!r}, got {public.fits}")
    numbers = s.public_rows or public.rows, public.columns + s.fit_intercept
    return by_rule_for(s, recommended_interval_noise, *numbers, sandwich=isinstance(s.intervals, str))


def rest_weight(s: Settings, fits: int) -> float:
    """How long a row of other classes is in the fit of one class: shorter, where it is one row that comes or goes."""
    alone = s.adjacency == ADD_REMOVE and s.rows_per_person == 1
    return balanced_rest(fits) if alone and fits > 1 else 1.0


def left_for_a_row(s: Settings, terms: Terms) -> float:
    """What the steps leave of ε, as if for one row: k rows of one person need about the noise of an ε less by k."""
    return terms.left / (s.rows_per_person * (1 if s.adjacency == ADD_REMOVE else 2))


def lam_and_margin(s: Settings, dimension: int, terms: Terms) -> tuple[float, float]:
    """λ and the margin by rules, for what the steps leave of ε."""
    assert terms.public_rows is not None
    numbers = left_for_a_row(s, terms), s.delta, terms.public_rows, dimension, row_radius(constant_of(s))
    standardised = terms.step(Standardisation) is not None
    return recommended_lam(*numbers), recommended_margin(*numbers, standardised=standardised)
