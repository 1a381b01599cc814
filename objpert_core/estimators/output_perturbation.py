"""Logistic regression by output perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from objpert_core._validation import positive
from objpert_core.accounting import ADD_REMOVE
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import NORMALISED, OF_ROWS, SOLVED, constant_of, solved, solving
from objpert_core.estimators.parameters import Advanced
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.steps_before import AUTO, reads_rows, row_plan, rows_cautions, terms_of
from objpert_core.learning.fit import Problem, Seed
from objpert_core.learning.output_perturbation import ADJACENCIES, calibrated, solve_and_perturb_draws
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback


@documented
class OutputPerturbationLogisticRegression(LinearClassifier):
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
    adjacency : {"add/remove one row", "replace one row"}, default="add/remove one row"
        Whether neighbouring data sets differ by one row more or less, or by one row replaced by another. The short
        words "add/remove" and "replace" mean the same.
    %(margin)s
    public_rows : int or None, default=None
        The number of rows by which rules choose λ, and the noise of `standardize` and `feature_ranges`.
        %(declared_rows)s
    %(classes feature_ranges standardize fit_intercept rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    %(steps tau solver max_iter intercept_scaling row_norm)s

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

    CONSTRAINTS: ClassVar = {
        **OF_ROWS,
        "lam": or_none(positive),
        "adjacency": one_of(*ADJACENCIES),  # this estimator had short words for it before the others had any
    }
    ADVANCED: ClassVar = {"steps": (), **SOLVED}
    TOGETHER: ClassVar = (NORMALISED,)
    has_probabilities = shares_work = walks = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, lam: float | None = None, margin: float = 0.0,
        classes: Any = None, feature_ranges: Any = None, standardize: Any = AUTO, fit_intercept: bool = True,
        public_rows: int | None = None, adjacency: str = ADD_REMOVE, rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        s, name, by_rules = self.settings, type(self).__name__, self.lam is None
        counted = by_rules or reads_rows(s, by_rules)
        rows = row_plan(s, public, by_rule=by_rules, name=name)
        terms = terms_of(s, public, *rows.steps, reads_rows=counted)
        mechanism, lam = calibrated(terms, row_radius(constant_of(s)), s.tau, s.lam)
        objective = Objective(LogisticLoss(s.margin), lam)

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> list[Learned]:
            how = solving(s, rows.row_norm, callback)
            rows_known = {"declared": rows.declared, "declared_rows": s.public_rows}
            problem = Problem(data.X, data.targets, objective.loss, solving=how, **rows_known)
            releases = solve_and_perturb_draws(problem, terms, mechanism, lam, s.tau, random_states)
            return [Learned(one, {**solved(one), "margin_": s.margin}) for one in releases]

        cautions = (*rows_cautions(s, name, counted), *rows.cautions)
        return Recipe(
            "output perturbation",
            terms,
            mechanism,
            public,
            run,
            objective,
            rows.row_norm,
            rows.told,
            reads_rows=counted,
            released=rows.released,
            cautions=cautions,
        )
