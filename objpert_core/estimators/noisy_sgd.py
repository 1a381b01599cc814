"""Linear models by noisy gradient descent in a ball, for the population risk, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from objpert_core._validation import FloatArray, positive
from objpert_core.accounting.population.published import DRAWINGS
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.estimators.ball import MarginInBall, ResidualInBall, Scheduled
from objpert_core.estimators.constraints import Constraint, one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import Seed
from objpert_core.learning.population.certificate import NoisySGDCertificate
from objpert_core.learning.population.noisy_sgd import descend_and_certify
from objpert_core.learning.population.schedules import (
    DescentPlan,
    published_plan,
    tight_plan,
)
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.release import Release


class NoisyDescent(Scheduled):
    """A linear model by noisy gradient descent in a ball."""

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"sampling": or_none(one_of(*DRAWINGS)), "step_scale": positive}

    privacy_: NoisySGDCertificate

    def __init__(self, *, sampling: str | None, step_scale: float, **shared: Any) -> None:
        super().__init__(**shared)
        self.sampling = sampling
        self.step_scale = step_scale

    def _check_together(self, **options: Any) -> None:
        super()._check_together(**options)
        if self.schedule == "bassily2019" and self.step_scale != 1.0:
            raise ValueError(f"step_scale must be 1.0 for schedule='bassily2019', got {self.step_scale!r}")

    def plan(self, n_rows: int, dimension: int) -> DescentPlan:
        """The descent's settings for the public number of rows and of parameters (intercept included).

        `ValueError` as in `fit`, also for a published schedule that does not apply.

        >>> plan = NoisySGDClassifier(epsilon=0.5, delta=1e-8, radius=4.0).plan(10_000, 10)
        >>> plan.steps, round(plan.row_gradients)
        (259, 36711)
        """
        loss, rows_norm = self._chosen_loss(), row_radius(self._constant)
        slope, smoothness = loss.lipschitz * rows_norm, loss.smoothness * rows_norm**2
        sizes = Sizes(n_rows, dimension, self.epsilon, self.delta, float(self.radius), slope)
        if self.schedule == "bassily2019":
            sampling = self.sampling or "with replacement"
            return published_plan(sizes, smoothness=smoothness, sampling=sampling, strict=self.strict)
        sampling, scale = self.sampling or "poisson", float(self.step_scale)
        return tight_plan(sizes, smoothness=smoothness, sampling=sampling, step_scale=scale)

    def _release(self, X: Any, targets: FloatArray, callback: Any, **options: Any) -> Release[NoisySGDCertificate]:
        declared = self.public_rows is not None
        rows = int(self.public_rows) if self.public_rows is not None else X.shape[0]
        plan = self.plan(max(rows, 1), X.shape[1] + bool(self.fit_intercept))
        self.n_iter_ = plan.steps
        return descend_and_certify(
            X,
            targets,
            self._chosen_loss(),
            plan,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            row_norm=self.row_norm,
            intercept_scaling=self._constant,
            random_state=self.random_state,
            rows_declared=declared,
            on_error=self.on_error,
            callback=callback,
        )


@documented
class NoisySGDClassifier(MarginInBall, NoisyDescent):
    """A linear classifier under (ε, δ)-differential privacy, by noisy gradient descent in a ball.

    In every step rows are drawn, the gradients of their losses are summed, Gaussian noise is added to the sum, the
    model moves against it and is projected onto the ball; the mean of the places visited is released. Steps and noise
    follow from public numbers alone; nothing is tuned on the data.

    %(replaced)s

    Parameters
    ----------
    %(epsilon_replaced delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        "tight" is noisy gradient descent with the least noise that the accountant finds enough. "bassily2019" is
        Algorithm 1 as published, for ε ≤ 1 and δ ≤ 1/n²; its certificate states what the accountant finds, and where
        that exceeds `epsilon` the fit is refused.
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" has a corner: the descent is on its Moreau envelope, which has no corner.
    %(descent)s
    %(no_intercept row_norm random_state)s
    %(hinge_width)s
    %(classes public_rows_of_batches on_error_of_steps)s

    Attributes
    ----------
    %(fitted_classifier fitted_descent fitted_features)s

    Notes
    -----
    Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 1; docs/theorems.md, T24 for the risk that
    privacy costs, and T29 for the privacy itself. For the logistic loss the scores are log-odds. `ObjPertSCOClassifier`
    is more accurate as a rule.
    %(weights)s

    Examples
    --------
    >>> from objpert_core.theory.population_risk import LogisticOnSphere
    >>> X, y = LogisticOnSphere(3).sample(2000, seed=0)
    >>> model = NoisySGDClassifier(epsilon=1.0, delta=1e-7, radius=4.0, classes=[-1, 1], random_state=0).fit(X, y)
    >>> model.privacy_.sampling, model.privacy_.verify(), model.score(X, y) > 0.7
    ('poisson', True, True)
    """

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, schedule: str = "tight",
        loss: str = "logistic", sampling: str | None = None, step_scale: float = 1.0, fit_intercept: bool = False,
        intercept_scaling: float = 0.3, row_norm: str = "normalize", random_state: Seed = None, *,
        hinge_width: float = 0.5, strict: bool = True, classes: Any = None, public_rows: int | None = None,
        on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, radius=radius, schedule=schedule, loss=loss, sampling=sampling,
            step_scale=step_scale, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, strict=strict, classes=classes, public_rows=public_rows, on_error=on_error,
            hinge_width=hinge_width,
        )  # fmt: skip


@documented
class NoisySGDRegressor(ResidualInBall, NoisyDescent):
    """Robust linear regression under (ε, δ)-differential privacy, by noisy gradient descent in a ball.

    As `NoisySGDClassifier`, for losses of the residual (y − target_offset)/target_scale − x̃ᵀθ whose slope is bounded.
    Losses with corners are replaced by their Moreau envelopes.

    %(replaced)s

    Parameters
    ----------
    %(epsilon_replaced delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        As for `NoisySGDClassifier`.
    loss : {"absolute", "pinball", "epsilon-insensitive", "huber"}, default="absolute"
        The absolute loss finds a median, "pinball" the `quantile`, the others something between median and mean.
    %(descent)s
    %(no_intercept)s
    row_norm : {"clip", "normalize"}, default="clip"
        "clip" shrinks rows longer than 1 to norm 1, here and in `predict`; "normalize" gives every row norm 1.
    %(random_state scaled_targets)s
    %(residual_losses)s
    %(public_rows_of_batches on_error_of_steps)s

    Attributes
    ----------
    %(fitted_regressor fitted_descent fitted_features)s

    Notes
    -----
    Bassily, Feldman, Talwar and Thakurta (2019), Algorithm 1 and Section 4; docs/theorems.md, T24 and T25.
    %(weights)s

    Examples
    --------
    >>> from objpert_core.theory.population_risk import AbsoluteWithLaplace
    >>> X, y = AbsoluteWithLaplace(3).sample(5000, seed=0)
    >>> model = NoisySGDRegressor(epsilon=1.0, delta=1e-8, radius=2.0, random_state=0).fit(X, y)
    >>> model.privacy_.loss, round(model.privacy_.envelope, 1), model.privacy_.verify()
    ('absolute', 20.0, True)
    """

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, schedule: str = "tight",
        loss: str = "absolute", sampling: str | None = None, step_scale: float = 1.0, fit_intercept: bool = False,
        intercept_scaling: float = 0.3, row_norm: str = "clip", random_state: Seed = None, *,
        target_offset: float = 0.0, target_scale: float = 1.0, quantile: float = 0.5, insensitive_width: float = 0.1,
        huber_threshold: float = 1.0, strict: bool = True, public_rows: int | None = None, on_error: str = "raise",
        target_range: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, radius=radius, schedule=schedule, loss=loss, sampling=sampling,
            step_scale=step_scale, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, strict=strict, public_rows=public_rows, on_error=on_error,
            target_offset=target_offset, target_scale=target_scale, target_range=target_range, quantile=quantile,
            insensitive_width=insensitive_width, huber_threshold=huber_threshold,
        )  # fmt: skip
