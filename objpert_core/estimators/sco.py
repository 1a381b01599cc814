"""Linear models by objective perturbation in a ball, for the population risk, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from objpert_core._validation import FloatArray, length, nonnegative, positive
from objpert_core.accounting.population.ball import ObjectivePlan, check_lam, objective_plan
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.estimators.ball import ROBUST, MarginInBall, ResidualInBall, Scheduled
from objpert_core.estimators.constraints import Constraint, check_slope, one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import Seed, SolvedModel
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.objective_perturbation import described, perturb_and_solve_draws
from objpert_core.learning.problem.losses import LogisticLoss, Loss, SquaredLoss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.release import Release


class ObjectiveInBall(Scheduled, SolvedModel):
    """A linear model by objective perturbation in a ball."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"lam": or_none(nonnegative), "sigma_out": or_none(positive)}

    privacy_: ObjectivePerturbationCertificate

    def __init__(self, *, lam: float | None, sigma_out: float | None, **shared: Any) -> None:
        super().__init__(**shared)
        self.lam = lam
        self.sigma_out = sigma_out

    def _threshold(self) -> float | None:
        return None

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        loss = self._chosen_loss()
        check_slope(loss, self._threshold())
        check_lam(self.schedule, self.lam, loss.smoothness)
        if self.schedule != "tight":  # what needs no look at the shape of X
            Sizes(self.public_rows or 1, 1, self.epsilon, self.delta).claimed(self.strict)

    @property
    def _goes_by_rows(self) -> bool:
        return self.schedule != "tight" or (self.loss == LogisticLoss.name and self.lam is None)

    def _reads_rows(self) -> bool:
        return self._goes_by_rows and super()._reads_rows()

    def plan(self, n_rows: int, dimension: int) -> ObjectivePlan:
        """Noise, regularisation and smoothing for the public number of rows and of parameters (intercept included).

        `ValueError` as in `fit`, also for a published schedule that does not apply.
        """
        loss, longest, clip = self._chosen_loss(), row_radius(self._constant), self._threshold()
        gradient = loss.lipschitz * longest
        slope, rows = gradient if clip is None else min(gradient, clip), n_rows if self._goes_by_rows else 1
        return objective_plan(
            self.schedule,
            Sizes(rows, dimension, self.epsilon, self.delta, self.radius, slope),
            smoothness=loss.smoothness * longest**2,
            bound=_least_bound(loss),
            tau=float(self.tau),
            sigma_out=self.sigma_out,
            lam=self.lam,
            strict=self.strict,
        )

    def _release(
        self, X: Any, targets: FloatArray, callback: Any, **options: Any
    ) -> Release[ObjectivePerturbationCertificate]:
        rows = len(targets) if self.public_rows is None else int(self.public_rows)
        mechanism, envelope = self.plan(max(rows, 1), X.shape[1] + bool(self.fit_intercept))
        problem, terms = described(
            X,
            targets,
            mechanism,
            delta=self.delta,
            loss=self._chosen_loss(),
            clip=self._threshold(),
            epsilon=self.epsilon if self.schedule == "tight" else None,
            public_rows=rows if self._goes_by_rows else None,
            rows_declared=self.public_rows is not None,
            radius=self.radius,
            envelope=envelope,
            **self._sharing(callback),
        )
        problem = replace(problem, declared_rows=self.public_rows)
        (release,) = perturb_and_solve_draws(problem, terms, mechanism, [self.random_state])
        return release


def _least_bound(loss: Loss) -> str:
    if isinstance(loss, LogisticLoss):
        return "logistic"
    return "monotone" if loss.monotone else "two-signed"


@documented
class ObjPertSCOClassifier(MarginInBall, ObjectiveInBall):
    """A linear classifier under (ε, δ)-differential privacy, by objective perturbation in a ball.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the losses, minimises over the ball ‖θ‖ ≤ `radius` until it
    is certain to be within `tau`/λ of the minimum, adds N(0, sigma_out²) to every coefficient and releases the sum,
    which is in the ball but for the output noise. σ and λ follow from public numbers alone; nothing is tuned on the
    data. The aim is a population risk close to that of the best model in the ball. The scores of a model that is kept
    small are no log-odds, so there are no probabilities; `ObjPertLogisticRegression` has them.

    %(replaced)s

    Parameters
    ----------
    %(epsilon_replaced delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        "tight" takes the least noise that a proof allows: for the logistic loss that of the Gaussian mechanism of
        sensitivity 2R. "bassily2019" is Algorithm 2 as published, for ε ≤ 1 and δ ≤ 1/n², but with the noise that its
        proof needs where rows are replaced; its certificate states what the accountant finds, and where that exceeds
        `epsilon` the fit is refused.
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" has a corner: its Moreau envelope is minimised, which has no corner.
    %(tau sigma_out solver no_intercept row_norm random_state objective_in_ball)s
    %(hinge_width)s
    %(classes max_iter on_error)s

    Attributes
    ----------
    %(fitted_classifier fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 2; docs/theorems.md, T17, T25 and T26 for its privacy, T24
    for what it costs in risk. With "svrg" the logistic loss takes about n log n gradients of single rows.
    %(weights)s

    Examples
    --------
    >>> from objpert_core.theory.population_risk import LogisticOnSphere
    >>> X, y = LogisticOnSphere(3).sample(2000, seed=0)
    >>> model = ObjPertSCOClassifier(epsilon=1.0, delta=1e-7, radius=4.0, classes=[-1, 1], random_state=0).fit(X, y)
    >>> model.privacy_.adjacency, model.privacy_.ball_radius, model.score(X, y) > 0.7
    ('data sets of the same size m = 2000, known to all, that differ in one row', 4.0, True)
    """

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, schedule: str = "tight",
        loss: str = "logistic", tau: float = 1e-6, sigma_out: float | None = None, solver: str = "newton",
        fit_intercept: bool = False, intercept_scaling: float = 0.3, row_norm: str = "normalize",
        random_state: Seed = None, *, lam: float | None = None, hinge_width: float = 0.5, strict: bool = True,
        public_rows: int | None = None, classes: Any = None, max_iter: int = 1000, on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, radius=radius, schedule=schedule, loss=loss, tau=tau, sigma_out=sigma_out,
            solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, lam=lam, strict=strict, public_rows=public_rows, classes=classes,
            max_iter=max_iter, on_error=on_error, hinge_width=hinge_width,
        )  # fmt: skip


@documented
class ObjPertSCORegressor(ResidualInBall, ObjectiveInBall):
    """Linear regression under (ε, δ)-differential privacy, by objective perturbation in a ball.

    As `ObjPertSCOClassifier`, for losses of the residual (y − target_offset)/target_scale − x̃ᵀθ. Losses with corners,
    and others of much curvature, are replaced by their Moreau envelopes.

    %(replaced)s

    Parameters
    ----------
    %(epsilon_replaced delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        As for `ObjPertSCOClassifier`.
    loss : {"absolute", "pinball", "epsilon-insensitive", "huber", "squared"}, default="absolute"
        The absolute loss finds a median, "pinball" the `quantile`, "squared" a mean; "squared" needs a `clip`.
    clip : float > 0 or None, default=None
        C: no row's gradient gets longer than C, and σ is proportional to C, or to the loss's slope times R where the
        latter is less. None clips nothing.
    %(tau sigma_out solver no_intercept)s
    row_norm : {"clip", "normalize"}, default="clip"
        "clip" shrinks rows longer than 1 to norm 1, here and in `predict`; "normalize" gives every row norm 1.
    %(random_state scaled_targets objective_in_ball)s
    %(residual_losses)s
    %(max_iter on_error)s

    Attributes
    ----------
    %(fitted_regressor fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 2; docs/theorems.md, T17, T25 and T26.
    %(weights)s

    Examples
    --------
    >>> from objpert_core.theory.population_risk import AbsoluteWithLaplace
    >>> X, y = AbsoluteWithLaplace(3).sample(5000, seed=0)
    >>> model = ObjPertSCORegressor(epsilon=1.0, delta=1e-8, radius=2.0, random_state=0).fit(X, y)
    >>> model.privacy_.bound, model.privacy_.loss, round(model.privacy_.envelope, 2)
    ('two-signed', 'absolute', 0.82)
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "loss": one_of(*ROBUST, SquaredLoss.name),
        "clip": or_none(length),
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, schedule: str = "tight",
        loss: str = "absolute", clip: float | None = None, tau: float = 1e-6, sigma_out: float | None = None,
        solver: str = "newton", fit_intercept: bool = False, intercept_scaling: float = 0.3, row_norm: str = "clip",
        random_state: Seed = None, *, target_offset: float = 0.0, target_scale: float = 1.0, lam: float | None = None,
        quantile: float = 0.5, insensitive_width: float = 0.1, huber_threshold: float = 1.0, strict: bool = True,
        public_rows: int | None = None, max_iter: int = 1000, on_error: str = "raise", target_range: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, radius=radius, schedule=schedule, loss=loss, tau=tau, sigma_out=sigma_out,
            solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, target_offset=target_offset, target_scale=target_scale, lam=lam, strict=strict,
            public_rows=public_rows, max_iter=max_iter, on_error=on_error, quantile=quantile,
            insensitive_width=insensitive_width, huber_threshold=huber_threshold, target_range=target_range,
        )  # fmt: skip
        self.clip = clip

    def _threshold(self) -> float | None:
        return None if self.clip is None else float(self.clip)
