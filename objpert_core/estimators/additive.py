"""Additive models of raw tables by objective perturbation: one curve for each column, which people can read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from objpert_core._validation import boolean, length, nonnegative, within
from objpert_core.accounting import IntervalNoise, recommended_interval_noise
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.steps.base import Step
from objpert_core.accounting.steps.class_counts import recommended_counts
from objpert_core.accounting.steps.pieces import FEWEST_PIECES, MOST_PIECES, pieces_of_a_column, recommended_pieces
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.accounting.terms import Terms
from objpert_core.datasets.tables.columns import Number, typed_value
from objpert_core.estimators import objective
from objpert_core.estimators.base import LinearClassifier, LinearModel, LinearRegressor
from objpert_core.estimators.constraints import one_of, or_none, several_labels
from objpert_core.estimators.documented import documented
from objpert_core.estimators.logistic_regression import BESIDE_INTERVALS, lam_and_margin, left_for_a_row, rest_weight
from objpert_core.estimators.objective import by_objective_perturbation
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.recipe import Objective, Public, Recipe
from objpert_core.estimators.steps_before import RowPlan, by_rule_for, terms_of
from objpert_core.estimators.tables import Declared, KnownTable
from objpert_core.estimators.weights import BALANCED, class_weights
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import LogisticLoss, SquaredLoss
from objpert_core.learning.steps.pieces import Column, TableColumns

_WITH_BANDS = 16  # pieces a column of numbers has at most where there are intervals
_ROOM = 3  # times the parameters that there are: of so many the curvature's noise must not drown them
_LEAST_LAM = 0.3  # times the noise of a Gaussian mechanism: a piece that few rows are on has an effect of about 1 then


def known_columns(name: str, value: Any) -> Any:
    """`value`; `ValueError` unless it is None or a mapping of columns to what is public of them."""
    given = value.values() if isinstance(value, Mapping) else [] if value is None else [None]
    if all(isinstance(one, Declared) for one in given):
        return value
    raise ValueError(f"{name} must be None or a dict of columns and Number, Categories or Date, got {value!r}")


def words(name: str, value: Any) -> tuple[str, ...]:
    """`value` as a tuple; `ValueError` unless it is a sequence of texts."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"{name} must be a list of texts, got {value!r}")
    return tuple(typed_value(name, word) for word in value)


def _pieces(name: str, value: Any) -> float:
    return within(name, value, FEWEST_PIECES, MOST_PIECES)


OPTIONS: Mapping[str, Any] = {name: value for name, value in objective.ADVANCED.items() if name != "row_norm"}
CONSTRAINTS: Mapping[str, Any] = {
    **{name: objective.CONSTRAINTS[name] for name in ("noise_ratio", "sigma_out", "accountant", "steps")},
    "columns": known_columns,
    "missing_words": words,
    "pieces": or_none(_pieces),
}


def kinds_of(model: LinearModel, public: Public) -> tuple[Column, ...]:
    """What is public of each column: of a table that was given to `fit`, or by the parameter `columns` alone."""
    known = getattr(model, "columns_", None)
    if known is None:
        declared = tuple((model.settings.columns or {}).values())
        if len(declared) > public.columns:
            raise ValueError(f"columns must name at most {public.columns} columns, got {len(declared)}")
        known = KnownTable(None, (*declared, *[Number(math.nan, math.nan)] * (public.columns - len(declared))))
    return known.kinds


def ratio_of(s: Settings, terms: Terms) -> float:
    """The sensitivity-to-noise ratio μ of a Gaussian mechanism with what the steps leave of ε."""
    return 1 / calibrate_gaussian(left_for_a_row(s, terms), s.delta).sigma


def with_curvature(s: Settings, table: TableColumns, public: Public) -> tuple[TableColumns, IntervalNoise]:
    """A table with fewer pieces, so that the noise of its curvature is small, and this noise; `ValueError` where it
    drowns the curvature of the fewest pieces.
    """

    def noise(parameters: int) -> IntervalNoise:
        return by_rule_for(s, recommended_interval_noise, s.public_rows or public.rows, parameters)

    while s.pieces is None and table.pieces > FEWEST_PIECES:
        try:
            noise(_ROOM * (table.features + 1))
            break
        except ValueError:
            table = replace(table, pieces=max(table.pieces - 1, FEWEST_PIECES))
    return table, noise(table.features + 1)


def by_pieces(
    model: LinearModel,
    public: Public,
    minimised: Callable[[Terms, int], Objective],
    *steps: Step | None,
    intervals: bool = False,
    **fits: Any,
) -> Recipe:
    """The recipe of an additive model: pieces by noisy counts, then Algorithm 1 on rows that are on a piece of each
    column. `minimised` says what of the terms and the number of parameters; `steps` come before pieces. With
    `intervals` the curvature is released, too, and pieces are as few as it bears.
    """
    s, kinds = model.settings, kinds_of(model, public)
    noise = by_rule_for(s, recommended_pieces, **TableColumns(kinds, FEWEST_PIECES).counted)
    table, curvature = TableColumns(kinds, s.pieces or (_WITH_BANDS if intervals else MOST_PIECES)), None
    if intervals:
        table, curvature = with_curvature(s, table, public)
    terms = terms_of(s, public, *steps, noise, curvature, reads_rows=True, accountant=s.accountant, **fits)
    assert terms.public_rows is not None
    if s.pieces is None:
        by_rule = pieces_of_a_column(terms.public_rows, public.columns, ratio_of(s, terms))
        table = TableColumns(kinds, min(by_rule, table.pieces))
    rows = RowPlan(table, noise, AS_THEY_ARE, "clip")
    return by_objective_perturbation(model, public, rows, terms, minimised(terms, table.features + 1), counted=True)


@documented
class ObjPertAdditiveClassifier(LinearClassifier):
    """Additive logistic regression on a raw table under (ε, δ)-differential privacy, by objective perturbation.

    A score is a sum of effects, one a column: of the interval in which a number lies, of a category, or of the fact
    that the value is missing. Intervals come from two noisy counts of the rows (docs/theorems.md, T55), and effects
    from one fit by Algorithm 1 of Redberg, Koskela and Wang (2023). Both share (epsilon, delta). There is nothing to
    encode, to fill in, to scale or to tune: a row is on one piece of each column, and pieces are centred and scaled by
    the counts. `shapes_` and `explain` say what the model does.

    Parameters
    ----------
    %(epsilon delta)s
    %(table_columns)s
    classes : array-like of two labels or more, or None, default=None
        The labels that can occur, as in `ObjPertLogisticRegression`.
    %(class_weight)s
    intervals : bool, default=False
        Whether the fit also releases the curvature at the released coefficients (docs/theorems.md, T50), so that
        `shapes_` has the ends of an interval of 95 % for each effect, `low` and `high`. (epsilon, delta) pays for it,
        and pieces are as few as the curvature bears. For two classes, without margin, and without weights.
    %(public_rows_of_tables adjacency rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    lam : float >= 0 or None, default=None
        A lower limit on λ; None takes `objpert_core.accounting.recommended_lam`.
    margin : float >= 0 or None, default=None
        As in `ObjPertLogisticRegression`.
    bound : {"logistic", "monotone", "two-signed", "glm"}, default="logistic"
        The privacy theorem.
    %(steps noise_ratio accountant tau sigma_out solver max_iter intercept_scaling)s

    Attributes
    ----------
    %(fitted_pieces)s
    coef_ : ndarray, shape (1, D), or (K, D) for K > 2 classes
        Private coefficients of the pieces' coordinates; `shapes_` has what they mean.
    intercept_ : ndarray, shape (1,) or (K,)
        Private; the score of a row whose effects are all 0.
    classes_ : ndarray, shape (2,) or (K,)
        Sorted labels; with two, the second is the positive one.
    %(fitted_class_weight fitted_margin fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    docs/theorems.md, T1, T54 and T55; several classes as in T46.
    %(own_weights)s

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from objpert_core.datasets import Categories
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 90, 20_000), "town": rng.choice(["A", "B"], 20_000)})
    >>> likes = rng.random(20_000) < np.where((table.age > 30) & (table.age < 60), 0.9, 0.2)
    >>> model = ObjPertAdditiveClassifier(
    ...     epsilon=1.0, columns={"town": Categories(["A", "B"])}, classes=[False, True], random_state=0
    ... ).fit(table, likes)
    >>> model.score(table, likes) > 0.8, list(model.shapes_.columns)
    (True, ['column', 'piece', 'from', 'to', 'effect', 'share'])
    """

    CONSTRAINTS: ClassVar = {
        **CONSTRAINTS,
        "classes": several_labels,
        "class_weight": class_weights,
        "intervals": boolean,
        "lam": or_none(nonnegative),
        "margin": or_none(nonnegative),
        "bound": one_of("logistic", "monotone", "two-signed", "glm"),
    }
    ADVANCED: ClassVar = {"lam": None, "margin": None, "bound": "logistic", **OPTIONS}
    TOGETHER: ClassVar = BESIDE_INTERVALS
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    has_probabilities = shares_work = walks = weighs = reads_tables = True
    most_classes = math.inf

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, columns: Any = None, missing_words: Any = (),
        pieces: float | None = None, classes: Any = None, class_weight: Any = None, intervals: bool = False,
        public_rows: int | None = None, adjacency: str = "add/remove one row", rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        """See `LinearModel.recipe`."""
        s = self.settings
        counts = by_rule_for(s, recommended_counts) if s.class_weight == BALANCED else None

        def minimised(terms: Terms, dimension: int) -> Objective:
            lam, margin = (0.0, 0.0) if s.intervals else lam_and_margin(s, dimension, terms)
            lam = max(lam, _LEAST_LAM / ratio_of(s, terms))
            return Objective(LogisticLoss(margin if s.margin is None else s.margin), lam if s.lam is None else s.lam)

        fits = {"fits": public.fits, "rest_weight": rest_weight(s, public.fits)}
        return by_pieces(self, public, minimised, counts, intervals=s.intervals, **fits)


@documented
class ObjPertAdditiveRegressor(LinearRegressor):
    """Additive least squares on a raw table under (ε, δ)-differential privacy, by objective perturbation.

    As `ObjPertAdditiveClassifier`, for a number. The loss of a row is that of `ObjPertRegressor`: its gradient is
    clipped to norm `clip`, in closed form.

    Parameters
    ----------
    %(epsilon delta target_range)s
    %(table_columns)s
    clip : float > 0, default=0.5
        C: no row's gradient gets longer than C.
    %(public_rows_of_tables adjacency rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    bound : {"two-signed", "glm"}, default="two-signed"
        The privacy theorem.
    %(steps noise_ratio accountant tau sigma_out solver max_iter intercept_scaling)s

    Attributes
    ----------
    %(fitted_pieces)s
    coef_ : ndarray, shape (D,)
        Private coefficients of the pieces' coordinates; `shapes_` has what they mean.
    intercept_ : float
        Private; the answer for a row whose effects are all 0.
    target_range_ : ndarray, shape (2,), or None
        `target_range`; predictions are cut to it.
    %(fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    docs/theorems.md, T4, T54 and T55.
    %(own_weights)s

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(20_000, 2))
    >>> y = np.sin(X[:, 0]) + rng.normal(scale=0.1, size=20_000)
    >>> model = ObjPertAdditiveRegressor(epsilon=1.0, target_range=(-2.0, 2.0), random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    CONSTRAINTS: ClassVar = {**CONSTRAINTS, "clip": length, "bound": one_of("two-signed", "glm")}
    ADVANCED: ClassVar = {"bound": "two-signed", **OPTIONS}
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    shares_work = walks = weighs = reads_tables = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, target_range: Any = None, columns: Any = None,
        missing_words: Any = (), pieces: float | None = None, clip: float = 0.5, public_rows: int | None = None,
        adjacency: str = "add/remove one row", rows_per_person: int = 1, on_error: str = "raise",
        random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        """See `LinearModel.recipe`."""
        return by_pieces(self, public, lambda *_: Objective(SquaredLoss(), clip=self.settings.clip))
