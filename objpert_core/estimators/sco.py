"""Linear models by objective perturbation in a ball, for the population risk, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from objpert_core._validation import length, nonnegative, positive
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.population.ball import check_lam, objective_plan
from objpert_core.estimators import ball
from objpert_core.estimators.base import LinearClassifier, LinearRegressor
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import SOLVED, constant_of, slope_is_bounded, solved, solving
from objpert_core.estimators.parameters import Advanced, Applies, Settings
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.steps_before import rows_cautions
from objpert_core.learning.certificates.objective import ObjectivePerturbationCertificate
from objpert_core.learning.fit import Problem, Seed
from objpert_core.learning.objective_perturbation import perturb_and_solve_draws
from objpert_core.learning.problem.losses import LogisticLoss, Loss, SquaredLoss
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback

CONSTRAINTS = {**ball.CONSTRAINTS, "lam": or_none(nonnegative), "sigma_out": or_none(positive)}
ADVANCED = {"strict": True, "sigma_out": None, **SOLVED}


def _claimed(s: Settings) -> None:
    """`ValueError` where what is published claims nothing, as far as no look at the shape of X is needed."""
    check_lam(s.schedule, s.lam, ball.chosen_loss(s).smoothness)
    if s.schedule != "tight":
        ball.sizes_of(s, s.public_rows or 1, 1, 1.0).claimed(s.strict)


TOGETHER = (Applies(_claimed),)


def in_a_ball(model: Any, public: Public, clip: float | None = None) -> Recipe:
    """The recipe of Algorithm 1 in a ball, with noise and regularisation by public numbers alone."""
    s, name = model.settings, type(model).__name__
    loss, norm, tight = ball.chosen_loss(s), row_radius(constant_of(s)), s.schedule == "tight"
    counted = not tight or (s.loss == LogisticLoss.name and s.lam is None)
    rows = (s.public_rows or public.rows) if counted else 1
    steepest = loss.lipschitz * norm if clip is None else min(loss.lipschitz * norm, clip)
    mechanism, envelope = objective_plan(
        s.schedule,
        ball.sizes_of(s, rows, public.columns + s.fit_intercept, steepest),
        smoothness=loss.smoothness * norm**2,
        bound=_least_bound(loss),
        tau=s.tau,
        sigma_out=s.sigma_out,
        lam=s.lam,
        strict=s.strict,
    )
    objective = Objective(loss, mechanism.objective.lam, clip, s.radius, envelope)
    promised = s.epsilon if tight else None
    terms = ball.terms_of(s, public, reads_rows=counted, epsilon=promised, adjacency=mechanism.adjacency)

    def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
        how = solving(s, s.row_norm, callback)
        limits: dict[str, Any] = {"radius": s.radius, "envelope": envelope, "declared_rows": s.public_rows}
        problem = Problem(data.X, data.targets, loss, clip, solving=how, **limits)
        for release in perturb_and_solve_draws(problem, terms, mechanism, random_states):
            yield Learned(release, solved(release))

    told: dict[str, Any] = {"row_norm": s.row_norm, "reads_rows": counted, "cautions": rows_cautions(s, name, counted)}
    return Recipe("objective perturbation in a ball", terms, mechanism, public, run, objective, **told)


def _least_bound(loss: Loss) -> str:
    if isinstance(loss, LogisticLoss):
        return "logistic"
    return "monotone" if loss.monotone else "two-signed"


@documented
class ObjPertSCOClassifier(LinearClassifier):
    """A linear classifier under (ε, δ)-differential privacy, by objective perturbation in a ball.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the losses, minimises over the ball ‖θ‖ ≤ `radius` until it
    is certain to be within `tau`/λ of the minimum, adds N(0, sigma_out²) to every coefficient and releases the sum,
    which is in the ball but for the output noise. σ and λ follow from public numbers alone; nothing is tuned on the
    data. The aim is a population risk close to that of the best model in the ball. The scores of a model that is kept
    small are no log-odds, so there are no probabilities; `ObjPertLogisticRegression` has them.

    Parameters
    ----------
    %(epsilon delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        "tight" takes the least noise that a proof allows: for the logistic loss that of the Gaussian mechanism of
        sensitivity 2R. "bassily2019" is Algorithm 2 as published, for ε ≤ 1 and δ ≤ 1/n², but with the noise that its
        proof needs where rows are replaced; its certificate states what the accountant finds, and where that exceeds
        `epsilon` the fit is refused.
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" has a corner: its Moreau envelope is minimised, which has no corner.
    %(ball_lam classes fit_intercept_or_not ball_public_rows adjacency_in_ball rows_per_person on_error)s
    %(random_state advanced)s

    Other Parameters
    ----------------
    %(hinge_width strict tau sigma_out solver max_iter ball_intercept_scaling row_norm)s

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

    CONSTRAINTS: ClassVar = CONSTRAINTS
    ADVANCED: ClassVar = {"hinge_width": 0.5, **ADVANCED}
    TOGETHER: ClassVar = TOGETHER

    privacy_: ObjectivePerturbationCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, *, schedule: str = "tight",
        loss: str = "logistic", lam: float | None = None, classes: Any = None, fit_intercept: bool = False,
        public_rows: int | None = None, adjacency: str = REPLACE_ONE, rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return in_a_ball(self, public)


@documented
class ObjPertSCORegressor(LinearRegressor):
    """Linear regression under (ε, δ)-differential privacy, by objective perturbation in a ball.

    As `ObjPertSCOClassifier`, for losses of the residual y − x̃ᵀθ, in units of `target_range`. Losses with corners,
    and others of much curvature, are replaced by their Moreau envelopes.

    Parameters
    ----------
    %(epsilon delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        As for `ObjPertSCOClassifier`.
    loss : {"absolute", "pinball", "epsilon-insensitive", "huber", "squared"}, default="absolute"
        The absolute loss finds a median, "pinball" the `quantile`, "squared" a mean; "squared" needs a `clip`.
    clip : float > 0 or None, default=None
        C: no row's gradient gets longer than C, and σ is proportional to C, or to the loss's slope times R where the
        latter is less. None clips nothing.
    %(ball_lam quantile target_range fit_intercept_or_not ball_public_rows adjacency_in_ball rows_per_person)s
    %(on_error random_state advanced)s

    Other Parameters
    ----------------
    %(residual_losses strict tau sigma_out solver max_iter ball_intercept_scaling clipped_rows)s

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

    CONSTRAINTS: ClassVar = {
        **CONSTRAINTS,
        "loss": one_of(*ball.ROBUST, SquaredLoss.name),
        "clip": or_none(length),
    }
    ADVANCED: ClassVar = {**ball.OF_RESIDUALS, **ADVANCED, "row_norm": "clip"}
    TOGETHER: ClassVar = (slope_is_bounded(ball.chosen_loss), *TOGETHER)

    privacy_: ObjectivePerturbationCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, *, schedule: str = "tight",
        loss: str = "absolute", clip: float | None = None, lam: float | None = None, quantile: float = 0.5,
        target_range: Any = None, fit_intercept: bool = False, public_rows: int | None = None,
        adjacency: str = REPLACE_ONE, rows_per_person: int = 1, on_error: str = "raise", random_state: Seed = None,
        advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return in_a_ball(self, public, self.settings.clip)
