"""Linear support vector machines by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from objpert_core._validation import length
from objpert_core.estimators import objective
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.parameters import Advanced, Settings
from objpert_core.estimators.recipe import Public, Recipe
from objpert_core.learning.fit import Seed
from objpert_core.learning.problem.losses import HuberisedHingeLoss, Loss, SquaredHingeLoss


def chosen_loss(s: Settings) -> Loss:
    """The loss that settings ask for, not yet clipped."""
    return SquaredHingeLoss() if s.loss == SquaredHingeLoss.name else HuberisedHingeLoss(s.hinge_width)


@documented
class ObjPertSVC(LinearClassifier):
    """A linear support vector machine under (ε, δ)-differential privacy, by objective perturbation.

    The hinge has a corner, which no proof of objective perturbation covers; its squared form and its rounded form have
    no corner. Their gradients are clipped to norm `clip`, in closed form. The fit adds bᵀθ with b ~ N(0, σ²I) and λ/2
    ‖θ‖² to the sum of the losses, minimises until the gradient's norm is at most `tau`, and adds N(0, sigma_out²) to
    every coefficient. Scores are not log-odds, so there are no probabilities; `ObjPertLogisticRegression` has them.

    Parameters
    ----------
    %(epsilon delta)s
    loss : {"squared-hinge", "huberised-hinge"}, default="squared-hinge"
        max(0, 1 − m)²/2 of the margin m (half of scikit-learn's), or the hinge with its corner rounded.
    clip : float > 0 or None, default=1.0
        C: no row's gradient gets longer than C, and σ is proportional to C (for "huberised-hinge" to the smaller of C
        and R). None, for "huberised-hinge" only, clips nothing.
    %(classes class_weight feature_ranges standardize_if_told fit_intercept)s
    %(adjacency rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    bound : {"monotone", "two-signed", "glm", "non-glm"}, default="monotone"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" does not cover a hinge;
        "non-glm" needs ``accountant="rdp"``.
    hinge_width : float > 0, default=0.5
        h: "huberised-hinge" is rounded over |1 − m| ≤ h. A wider corner has less curvature, 1/(2h), and needs a
        smaller λ.
    %(steps noise_ratio accountant tau sigma_out solver max_iter intercept_scaling row_norm)s

    Attributes
    ----------
    %(fitted_classifier fitted_map fitted_class_weight fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1, Theorems 4.1, E.2 and E.3, with the bound for losses whose slope has
    one sign (docs/theorems.md, T3). The rounded hinge is that of Chaudhuri, Monteleoni and Sarwate (2011).
    %(own_weights)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> cells = load_breast_cancer()
    >>> model = ObjPertSVC(epsilon=1.0, delta=1e-5, classes=[0, 1], random_state=0)
    >>> spent = model.fit(cells.data, cells.target).privacy_
    >>> model.coef_.shape, spent.bound, spent.loss
    ((1, 30), 'monotone', 'squared-hinge')
    """

    CONSTRAINTS: ClassVar = {
        **objective.CONSTRAINTS,
        "loss": one_of(SquaredHingeLoss.name, HuberisedHingeLoss.name),
        "clip": or_none(length),
        "bound": objective.bounds_covering(SquaredHingeLoss(), HuberisedHingeLoss(), first="monotone", with_rdp=True),
        "hinge_width": length,
    }
    ADVANCED: ClassVar = {"bound": "monotone", "hinge_width": 0.5, **objective.ADVANCED}
    TOGETHER: ClassVar = (*objective.TOGETHER, objective.slope_is_bounded(chosen_loss))
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False}  # routed where that is asked for
    shares_work = walks = weighs = True

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, *, loss: str = "squared-hinge", clip: float | None = 1.0,
        classes: Any = None, class_weight: Any = None, feature_ranges: Any = None, standardize: Any = None,
        fit_intercept: bool = True, public_rows: int | None = None, adjacency: str = "add/remove one row",
        rows_per_person: int = 1, on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None,
        **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return objective.by_clipped_gradients(self, public, chosen_loss(self.settings))
