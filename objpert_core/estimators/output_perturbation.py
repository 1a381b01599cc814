"""Logistic regression by output perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import choice, in_open_unit, positive, positive_integer
from objpert_core.estimators.base import FLOATS, ProbabilisticClassifier, encode
from objpert_core.learning.output_perturbation import (
    ADJACENCIES,
    solve_and_perturb,
)
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.solvers import Callback


class OutputPerturbationLogisticRegression(ProbabilisticClassifier):
    """Logistic regression under (ε, δ)-differential privacy, by output perturbation: fit, then add noise.

    Minimises the sum of the logistic losses plus λ/2 ‖θ‖² until the gradient's norm is at most `tau`, adds
    N(0, σ²) to every coefficient and releases the sum. One row moves the solution by at most (R + 2τ)/λ, and σ is
    calibrated to that. The simplest private learner; objective perturbation is nearly always more accurate.

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit.
    delta : float, default=1e-5
        δ strictly between 0 and 1; choose it well below 1/n.
    lam : float > 0 or None, default=None
        The regularisation λ of the sum of the losses (scikit-learn's 1/C). None takes
        `objpert_core.learning.recommended_output_lam`, a rule in ε, δ, R and the shape of `X`: **the number of rows
        is then treated as public**, and the certificate says so. Choosing λ by looking at fits is not covered.
    tau : float, default=1e-6
        Gradient norm the solver must reach.
    solver : str, default="newton"
        See `objpert_core.learning.solve`. The choice does not touch privacy.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=0.3
        The constant s > 0 appended to every row when an intercept is fitted. The rows' norm becomes √(1 + s²) and the
        noise grows by that factor; a large s penalises the intercept less.
    row_norm : {"normalize", "clip"}, default="normalize"
        Every row's features are divided by their norm, or only if it exceeds 1; the same happens in `predict`.
    random_state : None, int, RandomState or Generator, default=None
        None takes the noise from the operating system; anything else is for teaching and tests and marks the
        certificate ``reproducible=True``.
    adjacency : {"add/remove", "replace"}, default="add/remove"
        Whether neighbouring data sets differ by one row more or less, or by one row replaced by another.
    margin : float >= 0, default=0.0
        The loss is log(1 + e^{k − y·score}) with this k (`objpert_core.learning.LogisticLoss`), which costs no privacy;
        0 is logistic regression itself. `objpert_core.accounting.recommended_margin` has a rule.
    public_rows : int or None, default=None
        The number of rows that this rule goes by; with a number given the promise is that of adding or removing a row,
        without a proviso. None takes the number of rows in `X`, taken to be known to all: the promise then compares
        data sets that differ by a row and are fitted by what the one number gives.
    classes : array-like of two labels or None, default=None
        The labels that can occur. None takes the two seen in `y`; that set is then revealed outside the accounting.
    max_iter : int, default=1000
        Solver iterations at most; `ConvergenceError` if they do not suffice.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_)
        Private. Applies to rows after `row_norm`, not to raw ones.
    intercept_ : ndarray, shape (1,)
        Private; 0.0 without an intercept.
    classes_ : ndarray, shape (2,)
        Sorted labels; the second is the positive one.
    margin_ : float
        k.
    privacy_ : OutputPerturbationCertificate
        What was promised and how; ``privacy_.public()`` may be published with the model.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where `X` had string column names.
    n_iter_ : int
        Depends on the data, outside the guarantee: do not publish.
    gradient_norms_ : ndarray, shape (n_iter_ + 1,)
        The solver's trace. Depends on the data, outside the guarantee: do not publish.

    Notes
    -----
    Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1, with the analytic Gaussian mechanism (Balle and Wang 2018)
    and the sensitivity of a solver that is not exact (proof: `objpert_core.learning.output_perturbation`). `fit` takes
    no sample weights: a weight would change how much one person can move the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OutputPerturbationLogisticRegression(epsilon=1.0, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.mechanism, model.privacy_.verify()
    ((1, 30), 'OutputPerturbation', True)
    """

    __metadata_request__fit = {"callback": UNUSED}  # noqa: RUF012 - scikit-learn's protocol

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        lam: float | None = None,
        tau: float = 1e-6,
        solver: str = "newton",
        fit_intercept: bool = True,
        intercept_scaling: float = 0.3,
        row_norm: str = "normalize",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        adjacency: str = "add/remove",
        margin: float = 0.0,
        public_rows: int | None = None,
        classes: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.lam = lam
        self.tau = tau
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.row_norm = row_norm
        self.random_state = random_state
        self.adjacency = adjacency
        self.margin = margin
        self.public_rows = public_rows
        self.classes = classes
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, *, callback: Callback | None = None) -> Self:
        """Fit the private model.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Finite numbers. CSR is used as it is; other sparse formats are converted to it.
        y : array-like, shape (n,)
            Two labels.
        callback : callable, optional
            ``callback(iteration, gradient_norm)`` after every solver iteration. An exception raised in it stops
            the fit, leaves the estimator unfitted and is passed on. What it is told depends on the data.

        Returns
        -------
        self

        Raises
        ------
        ConvergenceError
            If the solver does not reach `tau`: nothing is released and the estimator is left unfitted.
        ValueError
            For a parameter out of range, NaN or inf in `X`, no rows, lengths that differ, or labels that are not
            two classes.
        """
        self.forget()
        classes = self.validated_classes()
        constant = self.validated_constant()
        self.check_solving()
        loss = LogisticLoss(self.margin)
        choice("adjacency", self.adjacency, ADJACENCIES)
        positive("epsilon", self.epsilon), in_open_unit("delta", self.delta)
        lam = None if self.lam is None else positive("lam", self.lam)
        if self.public_rows is not None:
            positive_integer("public_rows", self.public_rows)
        self.warn_of_copies()

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False)
        classes, targets = encode(y, classes)
        release = solve_and_perturb(
            X,
            targets,
            epsilon=self.epsilon,
            delta=self.delta,
            loss=loss,
            lam=lam,
            public_rows=self.public_rows,
            tau=self.tau,
            adjacency=self.adjacency,
            row_norm=self.row_norm,
            intercept_scaling=constant,
            solver=self.solver,
            max_iter=self.max_iter,
            random_state=self.random_state,
            callback=callback,
        )
        self.margin_ = loss.margin
        self.record_classifier(classes, release.theta, constant)
        self.record_solving(release)
        return self
