"""Linear regression by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from objpert_core._validation import finite, positive
from objpert_core.estimators.base import FLOATS
from objpert_core.estimators.clipped import ClippedLinearModel
from objpert_core.learning.problem.losses import FloatArray, HuberLoss, Loss, SquaredLoss
from objpert_core.learning.solvers import Callback


class ObjPertRegressor(RegressorMixin, ClippedLinearModel):
    """Ridge or Huber regression under (ε, δ)-differential privacy, by objective perturbation.

    The loss of a row is ℓ((y − target_offset)/target_scale − x̃ᵀθ). Its gradient is clipped to norm `clip`, which for
    a linear model has a closed form: far from the fit the loss goes on as a straight line. Then bᵀθ with
    b ~ N(0, σ²I) and λ/2 ‖θ‖² are added to the sum, it is minimised until the gradient's norm is at most `tau`, and
    N(0, sigma_out²) is added to every coefficient. Nothing is tuned on the data, the targets' scale included.

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0 of one fit, under adding or removing one row.
    delta : float, default=1e-5
        δ strictly between 0 and 1; choose it well below 1/n.
    loss : {"squared", "huber"}, default="squared"
        r²/2 of the scaled residual r, or that up to `huber_threshold` and a straight line beyond.
    huber_threshold : float > 0, default=1.0
        Residual beyond which ``loss="huber"`` is straight, in units of `target_scale`. It applies to every row alike;
        `clip` applies to gradients, so to |r| ‖x̃‖.
    clip : float > 0 or None, default=1.0
        C: no row's gradient gets longer than this, and σ is proportional to it (for "huber" to the smaller of C and
        huber_threshold · R). None, for "huber" only, clips nothing.
    bound : {"glm", "two-signed", "non-glm"}, default="glm"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "two-signed" allows a λ that is less
        by R², which pays where rows are many and ε is large. Bounds that need a slope of one sign
        ("logistic", "monotone") do not cover regression. "non-glm" needs ``accountant="rdp"``.
    noise_ratio : float >= 1 or None, default=None
        σ as a multiple of the Gaussian mechanism's; more noise allows less regularisation. None takes the
        bound's recommended value.
    tau : float, default=1e-6
        Gradient norm the solver must reach.
    sigma_out : float or None, default=None
        Standard deviation of the output noise, before `target_scale`; None takes one that costs next to nothing.
    solver : str, default="newton"
        A key of `objpert_core.learning.SOLVERS`. The choice does not touch privacy.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=0.3
        The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). The rows'
        norm becomes R ≤ √(1 + s²); a large s penalises the intercept less.
    row_norm : {"clip", "normalize"}, default="clip"
        "clip" shrinks rows longer than 1 to norm 1, here and in `predict`: scale the features with public constants
        so that few rows are longer. "normalize" gives every row norm 1, and a regression on lengths is then lost.
    random_state : None, int, RandomState or Generator, default=None
        None takes the noise from the operating system. Anything else is for teaching and tests: the fit can be
        repeated and the certificate says ``reproducible=True``, because whoever knows the seed can subtract the
        noise. Fits with one seed on different data share their noise, and comparing them reveals the data.
    accountant : {"profile", "rdp"}, default="profile"
        Calibrate by the bound's privacy profile, or only through its Rényi curve.
    target_offset : float, default=0.0
    target_scale : float > 0, default=1.0
        Public constants: what is fitted is (y − target_offset)/target_scale, best of size about 1. Take them from what
        is known of the targets in general, for example the middle and half the width of their possible range. Means
        and standard deviations of these very `y` would reveal them outside the accounting.
    max_iter : int, default=1000
        Solver iterations at most; `ConvergenceError` if they do not suffice.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features_in_,)
        Private, in units of y. Applies to rows after `row_norm`, not to raw ones.
    intercept_ : float
        Private; without an intercept it is `target_offset`.
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
    Redberg, Koskela and Wang (2023), Algorithm 1, Theorems 4.1, E.2 and E.3. `fit` takes no sample weights: a weight
    would change how much one person can move the model. Searching over parameters fits many models; each spends its
    own budget, and a `PrivacyBudgetWarning` says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.5, 0.5, size=(5000, 3))
    >>> y = 20 + X @ np.array([8.0, 0.0, -4.0]) + rng.normal(size=5000)
    >>> model = ObjPertRegressor(epsilon=1.0, target_offset=20.0, target_scale=10.0, random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.score(X, y) > 0.8
    ((3,), 1.0, True)
    """

    intercept_: Any  # a number, as scikit-learn's regressors have it
    LOSSES = (SquaredLoss.name, HuberLoss.name)
    BOUNDS = ("glm", "two-signed", "non-glm")
    __metadata_request__fit = {"callback": UNUSED}  # noqa: RUF012 - scikit-learn's protocol

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        loss: str = "squared",
        clip: float | None = 1.0,
        bound: str = "glm",
        noise_ratio: float | None = None,
        tau: float = 1e-6,
        sigma_out: float | None = None,
        solver: str = "newton",
        fit_intercept: bool = True,
        intercept_scaling: float = 0.3,
        row_norm: str = "clip",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        *,
        huber_threshold: float = 1.0,
        target_offset: float = 0.0,
        target_scale: float = 1.0,
        accountant: str = "profile",
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
        self.huber_threshold = huber_threshold
        self.target_offset = target_offset
        self.target_scale = target_scale
        self.accountant = accountant
        self.max_iter = max_iter

    def chosen_loss(self) -> Loss:
        """The squared or Huber's loss, of the scaled residual."""
        threshold = positive("huber_threshold", self.huber_threshold)
        return SquaredLoss() if self.loss == SquaredLoss.name else HuberLoss(threshold)

    def fit(self, X: Any, y: Any, *, callback: Callback | None = None) -> Self:
        """Fit the private model.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Finite numbers. CSR is used as it is; other sparse formats are converted to it.
        y : array-like, shape (n,)
            Finite numbers.
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
            For a parameter out of range, NaN or inf in `X` or `y`, no rows, or lengths that differ.
        """
        self.forget()
        loss = self.validate_parameters()
        offset, scale = finite("target_offset", self.target_offset), positive("target_scale", self.target_scale)
        self.warn_of_copies()

        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, y_numeric=True, multi_output=False
        )
        with np.errstate(over="ignore"):  # what overflows is refused like any other infinity
            targets = (y.astype(np.float64) - offset) / scale
        theta = scale * self.release(X, targets, loss, callback)
        self.coef_ = theta[: X.shape[1]]
        self.intercept_ = offset + float(theta[-1]) if len(theta) > X.shape[1] else offset
        return self

    def predict(self, X: Any) -> FloatArray:
        """The expected target of every row; the rows of `X` are clipped or normalised as in `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
            In units of the targets given to `fit`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before a successful `fit`.
        ValueError
            If `X` has another number of features than in `fit`, or holds NaN or inf.
        """
        return self.scores(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on the 200 rows scikit-learn tries: privacy hides any 200 rows
        return tags
