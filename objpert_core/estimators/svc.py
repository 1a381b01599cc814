"""Linear support vector machines by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import positive
from objpert_core.estimators.base import FLOATS, LinearClassifier, encode
from objpert_core.estimators.clipped import ClippedLinearModel
from objpert_core.learning.problem.losses import HuberisedHingeLoss, Loss, SquaredHingeLoss
from objpert_core.learning.solvers import Callback


class ObjPertSVC(LinearClassifier, ClippedLinearModel):
    """A linear support vector machine under (ε, δ)-differential privacy, by objective perturbation.

    The hinge has a corner, which no such proof covers; its squared and its rounded form have none. Their gradients
    are clipped to norm `clip` in closed form, bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² are added to the sum, it is minimised
    until the gradient's norm is at most `tau`, and N(0, sigma_out²) is added to every coefficient. Scores are not
    log-odds, so there are no probabilities; for these take `ObjPertLogisticRegression`.

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit, under adding or removing one row.
    delta : float, default=1e-5
        δ strictly between 0 and 1; choose it well below 1/n.
    loss : {"squared-hinge", "huberised-hinge"}, default="squared-hinge"
        max(0, 1 − m)²/2 of the margin m (half of scikit-learn's), or the hinge with its corner rounded.
    clip : float > 0 or None, default=1.0
        C: no row's gradient gets longer than this, and σ is proportional to it (for "huberised-hinge" to the smaller
        of C and R). None, for "huberised-hinge" only, clips nothing.
    bound : {"monotone", "two-signed", "glm", "non-glm"}, default="monotone"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" does not cover a hinge;
        "non-glm" needs ``accountant="rdp"``.
    noise_ratio : float >= 1 or None, default=None
        σ as a multiple of the Gaussian mechanism's; more noise allows less regularisation. None takes the
        bound's recommended value.
    tau : float, default=1e-6
        Gradient norm the solver must reach.
    sigma_out : float or None, default=None
        Standard deviation of the output noise; None takes one that costs next to nothing.
    solver : str, default="newton"
        A key of `objpert_core.learning.SOLVERS`. The choice does not touch privacy.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=0.3
        The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). The rows'
        norm becomes √(1 + s²); a large s penalises the intercept less.
    row_norm : {"normalize", "clip"}, default="normalize"
        Every row's features are divided by their norm, or only if it exceeds 1; the same happens in `predict`.
        A zero row stays zero and gets the intercept only.
    random_state : None, int, RandomState or Generator, default=None
        None takes the noise from the operating system. Anything else is for teaching and tests: the fit can be
        repeated and the certificate says ``reproducible=True``, because whoever knows the seed can subtract the
        noise. Fits with one seed on different data share their noise, and comparing them reveals the data.
    hinge_width : float > 0, default=0.5
        h: "huberised-hinge" is rounded over |1 − m| ≤ h. A wider corner has less curvature, 1/(2h), and needs a
        smaller λ.
    accountant : {"profile", "rdp"}, default="profile"
        Calibrate by the bound's privacy profile, or only through its Rényi curve.
    classes : array-like of two labels or None, default=None
        The labels that can occur, so that they need not be learned from the data. None takes the two seen in
        `y`; that set is then revealed outside the accounting.
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
    Redberg, Koskela and Wang (2023), Algorithm 1, Theorems 4.1, E.2 and E.3, with the bound for losses whose slope has
    one sign (README). The rounded hinge is that of Chaudhuri, Monteleoni and Sarwate (2011). `fit` takes no sample
    weights: a weight would change how much one person can move the model. Searching over parameters fits many models;
    each spends its own budget, and a `PrivacyBudgetWarning` says so.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ObjPertSVC(epsilon=1.0, delta=1e-5, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.bound, model.privacy_.loss
    ((1, 30), 'monotone', 'squared-hinge')
    """

    LOSSES = (SquaredHingeLoss.name, HuberisedHingeLoss.name)
    BOUNDS = ("monotone", "two-signed", "glm", "non-glm")
    __metadata_request__fit = {"callback": UNUSED}  # noqa: RUF012 - scikit-learn's protocol

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        loss: str = "squared-hinge",
        clip: float | None = 1.0,
        bound: str = "monotone",
        noise_ratio: float | None = None,
        tau: float = 1e-6,
        sigma_out: float | None = None,
        solver: str = "newton",
        fit_intercept: bool = True,
        intercept_scaling: float = 0.3,
        row_norm: str = "normalize",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        hinge_width: float = 0.5,
        accountant: str = "profile",
        classes: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.loss = loss
        self.clip = clip
        self.bound = bound
        self.noise_ratio = noise_ratio
        self.tau = tau
        self.sigma_out = sigma_out
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.row_norm = row_norm
        self.random_state = random_state
        self.hinge_width = hinge_width
        self.accountant = accountant
        self.classes = classes
        self.max_iter = max_iter

    def chosen_loss(self) -> Loss:
        """The squared or the rounded hinge."""
        width = positive("hinge_width", self.hinge_width)
        return SquaredHingeLoss() if self.loss == SquaredHingeLoss.name else HuberisedHingeLoss(width)

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
        loss = self.validate_parameters()
        self.warn_of_copies()

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False)
        classes, targets = encode(y, classes)
        theta = self.release(X, targets, loss, callback)
        self.classes_ = classes
        self.coef_ = theta[: X.shape[1]].reshape(1, -1)
        self.intercept_ = theta[-1:] if len(theta) > X.shape[1] else np.zeros(1)
        return self
