"""Linear regression by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from objpert_core._validation import length
from objpert_core.estimators import objective
from objpert_core.estimators.base import LinearRegressor
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.recipe import Public, Recipe
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import HuberLoss, Loss, SquaredLoss


def chosen_loss(s: Settings) -> Loss:
    """The loss that settings ask for, not yet clipped."""
    return SquaredLoss() if s.loss == SquaredLoss.name else HuberLoss(s.huber_threshold)


@documented
class ObjPertRegressor(LinearRegressor):
    """Ridge or Huber regression under (ε, δ)-differential privacy, by objective perturbation.

    The loss of a row is ℓ(y − x̃ᵀθ), y in units of `target_range`. Its gradient is clipped to norm `clip`, in closed
    form for a linear model: far from the fit the loss goes on as a straight line. The fit adds bᵀθ with b ~ N(0, σ²I)
    and λ/2 ‖θ‖² to the sum of the losses, minimises until the gradient's norm is at most `tau`, and adds N(0,
    sigma_out²) to every coefficient. Nothing is tuned on the data, the targets' scale included.

    Parameters
    ----------
    %(epsilon delta target_range)s
    loss : {"squared", "huber"}, default="squared"
        "squared" is r²/2 of the scaled residual r; "huber" is r²/2 up to `huber_threshold` and a straight line beyond.
    clip : float > 0 or None, default=1.0
        C: no row's gradient gets longer than C, and σ is proportional to C (for "huber" to the smaller of C and
        huber_threshold · R). None, for "huber" only, clips nothing.
    %(feature_ranges standardize_if_told fit_intercept adjacency rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    bound : {"glm", "two-signed", "non-glm"}, default="glm"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "two-signed" allows a λ that is
        smaller by R², which pays where rows are many and ε is large. Bounds that need a slope of one sign ("logistic",
        "monotone") do not cover regression. "non-glm" needs ``accountant="rdp"``.
    huber_threshold : float > 0, default=1.0
        Residual beyond which ``loss="huber"`` is straight, in units of half the range of the targets. The threshold
        applies to every row alike; `clip` applies to gradients, and so to |r| ‖x̃‖.
    sigma_out : float or None, default=None
        Standard deviation of the output noise, in these units; None takes one that costs next to nothing.
    %(steps noise_ratio accountant tau solver max_iter intercept_scaling)s
    row_norm : {"clip", "normalize"}, default="clip"
        "clip" shrinks rows longer than 1 to norm 1, here and in `predict`: scale the features with public constants
        so that few rows are longer. "normalize" gives every row norm 1, and what depends on a row's length is lost.

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

    CONSTRAINTS: ClassVar = {
        **objective.CONSTRAINTS,
        "loss": one_of(SquaredLoss.name, HuberLoss.name),
        "clip": or_none(length),
        "bound": objective.bounds_covering(SquaredLoss(), HuberLoss(), first="glm", with_rdp=True),
        "huber_threshold": length,
    }
    ADVANCED: ClassVar = {"bound": "glm", "huber_threshold": 1.0, **objective.ADVANCED, "row_norm": "clip"}
    TOGETHER: ClassVar = (*objective.TOGETHER, objective.slope_is_bounded(chosen_loss))
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    shares_work = walks = weighs = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, target_range: Any = None, loss: str = "squared",
        clip: float | None = 1.0, feature_ranges: Any = None, standardize: Any = None, fit_intercept: bool = True,
        public_rows: int | None = None, adjacency: str = "add/remove one row", rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return objective.by_clipped_gradients(self, public, chosen_loss(self.settings))
