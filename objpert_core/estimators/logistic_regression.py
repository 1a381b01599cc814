"""Logistic regression by objective perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import nonnegative, positive_integer
from objpert_core.accounting import calibrate_objective_perturbation, recommended_lam, recommended_margin
from objpert_core.estimators.base import FLOATS, ProbabilisticClassifier, encode
from objpert_core.learning.objective_perturbation import perturb_and_solve
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback


class ObjPertLogisticRegression(ProbabilisticClassifier):
    """Logistic regression under (ε, δ)-differential privacy, by objective perturbation.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the logistic losses, minimises until the gradient's
    norm is at most `tau`, adds N(0, sigma_out²) to every coefficient and releases the sum. σ and λ are calibrated
    to (epsilon, delta) before the data are looked at; there is nothing to tune on the data.

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit, under adding or removing one row.
    delta : float, default=1e-5
        δ strictly between 0 and 1; choose it well below 1/n.
    bound : {"logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm"}, default="logistic"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" needs the least noise.
        ("non-glm" needs ``accountant="rdp"``.)
    noise_ratio : float >= 1 or None, default=None
        σ as a multiple of the Gaussian mechanism's; more noise allows less regularisation. None takes the bound's
        `objpert_core.accounting.default_noise_ratio`, or less where `lam` makes up for it.
    tau : float, default=1e-6
        Gradient norm the solver must reach.
    sigma_out : float or None, default=None
        Standard deviation of the output noise; None takes one that costs next to nothing.
    solver : {"newton", "newton-cholesky", "newton-cg", "lbfgs", "gradient-descent", "accelerated", "sag", "svrg"}
        "newton" by default; see `objpert_core.learning.solve`. The choice does not touch privacy.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=0.3
        The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). The rows'
        norm becomes √(1 + s²) and the noise grows by that factor; a large s penalises the intercept less.
    row_norm : {"normalize", "clip"}, default="normalize"
        Every row's features are divided by their norm, or only if it exceeds 1; the same happens in `predict`.
        A zero row stays zero and gets the intercept only.
    random_state : None, int, RandomState or Generator, default=None
        None takes the noise from the operating system. Anything else is for teaching and tests: the fit can be
        repeated and the certificate says ``reproducible=True``, because whoever knows the seed can subtract the
        noise. Fits with one seed on different data share their noise, and comparing them reveals the data.
    accountant : {"profile", "rdp"}, default="profile"
        Calibrate by the bound's privacy profile, or only through its Rényi curve.
    lam : float >= 0 or None, default=None
        Regularisation λ not to go below; 0 takes the least that privacy allows. None takes 0 if a `noise_ratio` is
        given and `objpert_core.accounting.recommended_lam` otherwise: a rule in ε, δ, R and the shape of `X` that
        regularises more where there are few rows for so much noise. **The number of rows is then treated as public**,
        and the certificate says so. Choosing λ by looking at fits is not covered.
    margin : float >= 0 or None, default=None
        The loss is log(1 + e^{k − y·score}) with this k, which costs no privacy and makes rows near the score 0 count
        for more (`objpert_core.learning.LogisticLoss`); 0 is logistic regression itself. None takes 0 if a
        `noise_ratio` or a `lam` is given and otherwise `objpert_core.accounting.recommended_margin`, which goes by the
        same public numbers as the rule for λ and tends to 0 as ε grows. `coef_` are log-odds where k = 0 only;
        `predict_proba` allows for k.
    public_rows : int or None, default=None
        The number of rows that these rules go by; with a number given the promise is that of adding or removing a row,
        without a proviso. None takes the number of rows in `X`, taken to be known to all: the promise then compares
        data sets that differ by a row and are fitted by what the one number gives.
    classes : array-like of two labels or None, default=None
        The labels that can occur, so that they need not be learned from the data. None takes the two seen in
        `y`; that set is then revealed outside the accounting.
    max_iter : int, default=1000
        Solver iterations at most, counted as `objpert_core.learning.solve` says; `ConvergenceError` if they do not
        suffice.

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
    privacy_ : ObjectivePerturbationCertificate
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
    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1, with the tight logistic bound (README, theorem).
    `fit` takes no sample weights: a weight would change how much one person can move the model. Searching over
    parameters fits many models; each spends its own budget, and a `PrivacyBudgetWarning` says so.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, delta=1e-5, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.privacy_.reproducible
    ((1, 30), 1.0, True)
    """

    __metadata_request__fit = {"callback": UNUSED}  # noqa: RUF012 - scikit-learn's protocol

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        bound: str = "logistic",
        noise_ratio: float | None = None,
        tau: float = 1e-6,
        sigma_out: float | None = None,
        solver: str = "newton",
        fit_intercept: bool = True,
        intercept_scaling: float = 0.3,
        row_norm: str = "normalize",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        accountant: str = "profile",
        lam: float | None = None,
        margin: float | None = None,
        public_rows: int | None = None,
        classes: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bound = bound
        self.noise_ratio = noise_ratio
        self.tau = tau
        self.sigma_out = sigma_out
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.row_norm = row_norm
        self.random_state = random_state
        self.accountant = accountant
        self.lam = lam
        self.margin = margin
        self.public_rows = public_rows
        self.classes = classes
        self.max_iter = max_iter

    @classmethod
    def published(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """The recipe of the paper's experiments; any parameter can be given and then replaces the recipe's.

        Redberg, Koskela and Wang (2023), Section 5: the "glm" bound through its Rényi curve, σ = 1.3 σ_Gauss,
        τ = 0.01, σ_out = 0.15 and a constant feature 1.

        Examples
        --------
        >>> ObjPertLogisticRegression.published(epsilon=8.0).noise_ratio
        1.3
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

        Examples
        --------
        >>> ObjPertLogisticRegression.kifer2012(epsilon=8.0).bound
        'kifer2012'
        """
        recipe: dict[str, Any] = {"bound": "kifer2012", "lam": 0.0}
        return cls(epsilon=epsilon, delta=delta, **(recipe | parameters))

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
        if self.lam is not None:
            nonnegative("lam", self.lam)
        if self.margin is not None:
            nonnegative("margin", self.margin)
        if self.public_rows is not None:
            positive_integer("public_rows", self.public_rows)
        self.warn_of_copies()

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False)
        classes, targets = encode(y, classes)
        radius, dimension = row_radius(constant), X.shape[1] + self.fit_intercept
        lam, margin, used_rows = self.lam, self.margin, None
        if lam is None and self.noise_ratio is None:
            used_rows = len(targets) if self.public_rows is None else self.public_rows
            public = self.epsilon, self.delta, used_rows, dimension, radius
            lam = recommended_lam(*public)
            margin = recommended_margin(*public) if margin is None else margin
        loss = LogisticLoss(margin or 0.0)
        mechanism = calibrate_objective_perturbation(
            self.epsilon,
            self.delta,
            lipschitz=radius,
            bound=self.bound,
            noise_ratio=self.noise_ratio,
            tau=self.tau,
            sigma_out=self.sigma_out,
            accountant=self.accountant,
            dimension=dimension if self.bound == "non-glm" else None,
            lam=lam or 0.0,
        )
        release = perturb_and_solve(
            X,
            targets,
            mechanism,  # type: ignore[arg-type]  # with tau the calibration gives an ApproximateMinima
            delta=self.delta,
            loss=loss,
            epsilon=self.epsilon,
            accountant=self.accountant,
            public_rows=used_rows,
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
