"""Logistic regression by output perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from objpert_core._validation import FloatArray, positive
from objpert_core.accounting import ADD_REMOVE
from objpert_core.accounting.steps.base import asked
from objpert_core.estimators.base import ProbabilisticClassifier, Seed, SharesWork
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.standardised import AUTO, StandardisesRows
from objpert_core.learning.fit import SharedOptions
from objpert_core.learning.output_perturbation import (
    ADJACENCIES,
    OutputPerturbationCertificate,
    solve_and_perturb_draws,
)
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.release import Release


@documented
class OutputPerturbationLogisticRegression(ProbabilisticClassifier, SharesWork, StandardisesRows):
    """Logistic regression under (ε, δ)-differential privacy, by output perturbation: fit, then add noise.

    Minimises the sum of the logistic losses plus λ/2 ‖θ‖² until the gradient's norm is at most `tau`, adds N(0, σ²) to
    every coefficient and releases the sum. One row moves the solution by at most (R + 2τ)/λ, to which σ is calibrated.
    This is the simplest private learner; objective perturbation is nearly always more accurate.

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit; `adjacency` and `rows_per_person` say which data sets are neighbours.
    %(delta)s
    lam : float > 0 or None, default=None
        The regularisation λ of the sum of the losses (scikit-learn's 1/C). None takes
        `objpert_core.learning.recommended_output_lam`, a rule in ε, δ, R and the shape of `X`: **the number of rows
        is then treated as public**, and the certificate says so. Choosing λ by looking at fits is not covered.
    %(tau solver intercept row_norm random_state)s
    adjacency : {"add/remove one row", "replace one row"}, default="add/remove one row"
        Whether neighbouring data sets differ by one row more or less, or by one row replaced by another. The short
        words "add/remove" and "replace" mean the same.
    %(margin)s
    public_rows : int or None, default=None
        The number of rows by which rules choose λ, and the noise of `standardize` and `feature_ranges`.
        %(declared_rows)s
    %(classes max_iter on_error rows_per_person standardize feature_ranges)s

    Attributes
    ----------
    %(fitted_classifier fitted_map fitted_margin)s
    privacy_ : OutputPerturbationCertificate
        What was promised and how. `release` gives a copy of the model that may be published, with its public part.
    %(fitted_features fitted_trace)s

    Notes
    -----
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with the analytic Gaussian mechanism (Balle and Wang 2018)
    and the sensitivity of a solver that is not exact (proof: `objpert_core.learning.output_perturbation`).
    %(weights)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OutputPerturbationLogisticRegression(epsilon=1.0, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.mechanism, model.privacy_.verify()
    ((1, 30), 'OutputPerturbation', True)
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "lam": or_none(positive),
        "adjacency": one_of(*ADJACENCIES),  # this estimator had short words for it before the others had any
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, lam: float | None = None, tau: float = 1e-6,
        solver: str = "newton", fit_intercept: bool = True, intercept_scaling: float = 0.3,
        row_norm: str = "normalize", random_state: Seed = None, *, adjacency: str = ADD_REMOVE,
        margin: float = 0.0, public_rows: int | None = None, classes: Any = None, max_iter: int = 1000,
        on_error: str = "raise", rows_per_person: int = 1, standardize: Any = AUTO,
        feature_ranges: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, tau=tau, solver=solver, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, row_norm=row_norm, random_state=random_state,
            margin=margin, classes=classes, max_iter=max_iter,
            on_error=on_error, adjacency=adjacency, rows_per_person=rows_per_person, standardize=standardize,
            public_rows=public_rows, feature_ranges=feature_ranges,
        )  # fmt: skip
        self.lam = lam

    @property
    def _left_to_rules(self) -> bool:
        return self.lam is None

    def _draws(
        self, X: Any, targets: FloatArray, random_states: Sequence[Seed], callback: Any, **options: Any
    ) -> list[Release[OutputPerturbationCertificate]]:
        self.margin_ = float(self.margin)
        counted, _ = self._rows_counted(X.shape[0])
        plan = self._row_plan(X.shape[1], getattr(X, "sparse", sp.issparse(X)), counted)
        self._told_of_ranges(plan, counted, X.shape[1])
        return solve_and_perturb_draws(
            X,
            targets,
            random_states,
            epsilon=self.epsilon,
            delta=self.delta,
            loss=LogisticLoss(self.margin_),
            lam=None if self.lam is None else float(self.lam),
            public_rows=self.public_rows,
            reads_rows=self._goes_by_rows,
            tau=self.tau,
            adjacency=self.adjacency,
            rows_per_person=self.rows_per_person,
            steps=asked(plan.noise, plan.standardisation),
            ranges=plan.declared,
            **(self._sharing(callback) | SharedOptions(row_norm=plan.row_norm)),
        )
