"""Linear models by noisy gradient descent in a ball, for the population risk, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from objpert_core._validation import positive
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.population.published import DRAWINGS
from objpert_core.estimators import ball
from objpert_core.estimators.base import LinearClassifier, LinearRegressor
from objpert_core.estimators.constraints import one_of, or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Advanced, Settings, Together
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.steps_before import rows_cautions
from objpert_core.learning.fit import Seed
from objpert_core.learning.population.certificate import NoisySGDCertificate
from objpert_core.learning.population.noisy_sgd import accounted_epsilon, descend_and_certify
from objpert_core.learning.population.schedules import DescentPlan, published_plan, tight_plan
from objpert_core.learning.problem.rows import row_radius
from objpert_core.learning.solvers import Callback

CONSTRAINTS = {**ball.CONSTRAINTS, "sampling": or_none(one_of(*DRAWINGS)), "step_scale": positive}
ADVANCED = {"sampling": None, "step_scale": 1.0, "strict": True, "intercept_scaling": 0.3, "row_norm": "normalize"}
TOGETHER = (
    Together(
        "step_scale",
        lambda s: s.schedule == "tight" or s.step_scale == 1.0,
        "be 1.0",
        "for schedule='bassily2019'",
    ),
)


def descent_plan(s: Settings, rows: int, dimension: int) -> DescentPlan:
    """Steps and noise for these public numbers of rows and of parameters, the intercept's included."""
    loss, norm = ball.chosen_loss(s), row_radius(constant_of(s))
    sizes, smoothness = ball.sizes_of(s, rows, dimension, loss.lipschitz * norm), loss.smoothness * norm**2
    if s.schedule == "bassily2019":
        sampling = s.sampling or "with replacement"
        return published_plan(sizes, smoothness=smoothness, sampling=sampling, strict=s.strict)
    return tight_plan(sizes, smoothness=smoothness, sampling=s.sampling or "poisson", step_scale=s.step_scale)


def by_noisy_descent(model: Any, public: Public) -> Recipe:
    """The recipe of noisy gradient descent in a ball."""
    s, name = model.settings, type(model).__name__
    loss, rows = ball.chosen_loss(s), max(s.public_rows or public.rows, 1)
    plan = descent_plan(s, rows, public.columns + s.fit_intercept)
    fit = partial(
        descend_and_certify,
        loss=loss,
        plan=plan,
        epsilon=s.epsilon,
        delta=s.delta,
        row_norm=s.row_norm,
        intercept_scaling=constant_of(s),
        rows_declared=s.public_rows is not None,
        on_error=s.on_error,
    )

    def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
        for state in random_states:
            release = fit(data.X, data.targets, random_state=state, callback=callback)
            yield Learned(release, {"n_iter_": plan.steps})

    terms = ball.terms_of(s, public, epsilon=accounted_epsilon(plan, s.epsilon, s.delta), adjacency=s.adjacency)
    objective, cautions = Objective(loss, radius=s.radius, envelope=plan.envelope), rows_cautions(s, name, True)
    told: dict[str, Any] = {"row_norm": s.row_norm, "reads_rows": True, "cautions": cautions}
    return Recipe(f"noisy gradient descent, {plan.steps} steps", terms, plan.mechanism, public, run, objective, **told)


@documented
class NoisySGDClassifier(LinearClassifier):
    """A linear classifier under (ε, δ)-differential privacy, by noisy gradient descent in a ball.

    In every step rows are drawn, the gradients of their losses are summed, Gaussian noise is added to the sum, the
    model moves against it and is projected onto the ball; the mean of the places visited is released. Steps and noise
    follow from public numbers alone; nothing is tuned on the data.

    Parameters
    ----------
    %(epsilon delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        "tight" is noisy gradient descent with the least noise that the accountant finds enough. "bassily2019" is
        Algorithm 1 as published, for ε ≤ 1 and δ ≤ 1/n²; its certificate states what the accountant finds, and where
        that exceeds `epsilon` the fit is refused.
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" has a corner: the descent is on its Moreau envelope, which has no corner.
    %(classes fit_intercept_or_not public_rows_of_batches adjacency_of_batches)s
    %(rows_per_person on_error_of_steps random_state advanced)s

    Other Parameters
    ----------------
    %(descent strict hinge_width ball_intercept_scaling row_norm)s

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

    CONSTRAINTS: ClassVar = CONSTRAINTS
    ADVANCED: ClassVar = {"hinge_width": 0.5, **ADVANCED}
    TOGETHER: ClassVar = TOGETHER

    privacy_: NoisySGDCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, *, schedule: str = "tight",
        loss: str = "logistic", classes: Any = None, fit_intercept: bool = False, public_rows: int | None = None,
        adjacency: str = REPLACE_ONE, rows_per_person: int = 1, on_error: str = "raise", random_state: Seed = None,
        advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return by_noisy_descent(self, public)


@documented
class NoisySGDRegressor(LinearRegressor):
    """Robust linear regression under (ε, δ)-differential privacy, by noisy gradient descent in a ball.

    As `NoisySGDClassifier`, for losses of the residual y − x̃ᵀθ, in units of `target_range`, whose slope is bounded.
    Losses with corners are replaced by their Moreau envelopes.

    Parameters
    ----------
    %(epsilon delta radius)s
    schedule : {"tight", "bassily2019"}, default="tight"
        As for `NoisySGDClassifier`.
    loss : {"absolute", "pinball", "epsilon-insensitive", "huber"}, default="absolute"
        The absolute loss finds a median, "pinball" the `quantile`, the others something between median and mean.
    %(quantile target_range fit_intercept_or_not public_rows_of_batches adjacency_of_batches)s
    %(rows_per_person on_error_of_steps random_state advanced)s

    Other Parameters
    ----------------
    %(descent strict residual_losses ball_intercept_scaling clipped_rows)s

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

    CONSTRAINTS: ClassVar = {**CONSTRAINTS, "loss": one_of(*ball.ROBUST)}
    ADVANCED: ClassVar = {**ball.OF_RESIDUALS, **ADVANCED, "row_norm": "clip"}
    TOGETHER: ClassVar = TOGETHER

    privacy_: NoisySGDCertificate

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, *, schedule: str = "tight",
        loss: str = "absolute", quantile: float = 0.5, target_range: Any = None, fit_intercept: bool = False,
        public_rows: int | None = None, adjacency: str = REPLACE_ONE, rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        return by_noisy_descent(self, public)
