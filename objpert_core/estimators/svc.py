"""Linear support vector machines by objective perturbation with clipped losses, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from objpert_core._validation import length
from objpert_core.estimators.base import Seed
from objpert_core.estimators.constraints import one_of
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import ClippedModel, bounds_covering
from objpert_core.estimators.weights import WeighsClasses
from objpert_core.learning.problem.losses import HuberisedHingeLoss, Loss, SquaredHingeLoss


@documented
class ObjPertSVC(WeighsClasses, ClippedModel):
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
    bound : {"monotone", "two-signed", "glm", "non-glm"}, default="monotone"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" does not cover a hinge;
        "non-glm" needs ``accountant="rdp"``.
    %(noise_ratio tau sigma_out solver intercept row_norm random_state)s
    hinge_width : float > 0, default=0.5
        h: "huberised-hinge" is rounded over |1 − m| ≤ h. A wider corner has less curvature, 1/(2h), and needs a
        smaller λ.
    %(accountant classes max_iter on_error adjacency rows_per_person standardize_if_told feature_ranges)s
    %(class_weight)s

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

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "loss": one_of(SquaredHingeLoss.name, HuberisedHingeLoss.name),
        "bound": bounds_covering(SquaredHingeLoss(), HuberisedHingeLoss(), first="monotone", with_rdp=True),
        "hinge_width": length,
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, loss: str = "squared-hinge", clip: float | None = 1.0,
        bound: str = "monotone", noise_ratio: float | None = None, tau: float = 1e-6, sigma_out: float | None = None,
        solver: str = "newton", fit_intercept: bool = True, intercept_scaling: float = 0.3,
        row_norm: str = "normalize", random_state: Seed = None, *, hinge_width: float = 0.5,
        accountant: str = "profile", classes: Any = None, max_iter: int = 1000, on_error: str = "raise",
        adjacency: str = "add/remove one row", rows_per_person: int = 1, standardize: Any = None,
        public_rows: int | None = None, class_weight: Any = None, feature_ranges: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, loss=loss, clip=clip, bound=bound, noise_ratio=noise_ratio, tau=tau,
            sigma_out=sigma_out, solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            row_norm=row_norm, random_state=random_state, accountant=accountant, classes=classes, max_iter=max_iter,
            on_error=on_error, adjacency=adjacency, rows_per_person=rows_per_person,
            standardize=standardize, public_rows=public_rows, feature_ranges=feature_ranges,
            class_weight=class_weight,
        )  # fmt: skip
        self.hinge_width = hinge_width

    def _chosen_loss(self) -> Loss:
        return SquaredHingeLoss() if self.loss == SquaredHingeLoss.name else HuberisedHingeLoss(self.hinge_width)
