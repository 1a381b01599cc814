"""Linear regression by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from objpert_core._validation import length
from objpert_core.estimators.base import Seed
from objpert_core.estimators.constraints import one_of
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import ClippedModel, bounds_covering
from objpert_core.estimators.targets import ScaledTargets
from objpert_core.learning.problem.losses import HuberLoss, Loss, SquaredLoss


@documented
class ObjPertRegressor(ScaledTargets, ClippedModel):
    """Ridge or Huber regression under (ε, δ)-differential privacy, by objective perturbation.

    The loss of a row is ℓ((y − target_offset)/target_scale − x̃ᵀθ). Its gradient is clipped to norm `clip`, in closed
    form for a linear model: far from the fit the loss goes on as a straight line. The fit adds bᵀθ with b ~ N(0, σ²I)
    and λ/2 ‖θ‖² to the sum of the losses, minimises until the gradient's norm is at most `tau`, and adds N(0,
    sigma_out²) to every coefficient. Nothing is tuned on the data, the targets' scale included.

    Parameters
    ----------
    %(epsilon delta)s
    loss : {"squared", "huber"}, default="squared"
        "squared" is r²/2 of the scaled residual r; "huber" is r²/2 up to `huber_threshold` and a straight line beyond.
    huber_threshold : float > 0, default=1.0
        Residual beyond which ``loss="huber"`` is straight, in units of `target_scale`. The threshold applies to every
        row alike; `clip` applies to gradients, and so to |r| ‖x̃‖.
    clip : float > 0 or None, default=1.0
        C: no row's gradient gets longer than C, and σ is proportional to C (for "huber" to the smaller of C and
        huber_threshold · R). None, for "huber" only, clips nothing.
    bound : {"glm", "two-signed", "non-glm"}, default="glm"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "two-signed" allows a λ that is
        smaller by R², which pays where rows are many and ε is large. Bounds that need a slope of one sign ("logistic",
        "monotone") do not cover regression. "non-glm" needs ``accountant="rdp"``.
    %(noise_ratio tau)s
    sigma_out : float or None, default=None
        Standard deviation of the output noise, before `target_scale`; None takes one that costs next to nothing.
    %(solver intercept)s
    row_norm : {"clip", "normalize"}, default="clip"
        "clip" shrinks rows longer than 1 to norm 1, here and in `predict`: scale the features with public constants
        so that few rows are longer. "normalize" gives every row norm 1, and what depends on a row's length is lost.
    %(random_state accountant)s
    %(scaled_targets max_iter on_error adjacency rows_per_person standardize_if_told feature_ranges)s

    Attributes
    ----------
    %(fitted_regressor fitted_map fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1, Theorems 4.1, E.2 and E.3.
    %(own_weights)s

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.5, 0.5, size=(5000, 3))
    >>> y = 20 + X @ np.array([8.0, 0.0, -4.0]) + rng.normal(size=5000)
    >>> model = ObjPertRegressor(epsilon=1.0, target_range=(10.0, 30.0), random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.score(X, y) > 0.8, bool(model.predict(9 * X).max() <= 30.0)
    ((3,), 1.0, True, True)
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "loss": one_of(SquaredLoss.name, HuberLoss.name),
        "bound": bounds_covering(SquaredLoss(), HuberLoss(), first="glm", with_rdp=True),
        "huber_threshold": length,
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, loss: str = "squared", clip: float | None = 1.0,
        bound: str = "glm", noise_ratio: float | None = None, tau: float = 1e-6, sigma_out: float | None = None,
        solver: str = "newton", fit_intercept: bool = True, intercept_scaling: float = 0.3, row_norm: str = "clip",
        random_state: Seed = None, *, huber_threshold: float = 1.0, target_offset: float = 0.0,
        target_scale: float = 1.0, accountant: str = "profile", max_iter: int = 1000, on_error: str = "raise",
        adjacency: str = "add/remove one row", rows_per_person: int = 1, standardize: Any = None,
        public_rows: int | None = None, feature_ranges: Any = None, target_range: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, loss=loss, clip=clip, bound=bound, noise_ratio=noise_ratio, tau=tau,
            sigma_out=sigma_out, solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            row_norm=row_norm, random_state=random_state, accountant=accountant, max_iter=max_iter,
            on_error=on_error, adjacency=adjacency, rows_per_person=rows_per_person, target_offset=target_offset,
            target_scale=target_scale, standardize=standardize, public_rows=public_rows, feature_ranges=feature_ranges,
            target_range=target_range,
        )  # fmt: skip
        self.huber_threshold = huber_threshold

    def _chosen_loss(self) -> Loss:
        return SquaredLoss() if self.loss == SquaredLoss.name else HuberLoss(self.huber_threshold)
