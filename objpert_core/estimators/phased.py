"""A linear classifier by phased empirical risk minimisation in a ball, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from objpert_core.accounting import OutputPerturbation
from objpert_core.accounting.mechanisms.base import REPLACE_ONE
from objpert_core.accounting.population.sizes import Sizes
from objpert_core.estimators import ball
from objpert_core.estimators.base import LinearClassifier
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import constant_of
from objpert_core.estimators.parameters import Advanced
from objpert_core.estimators.recipe import Data, Learned, Objective, Public, Recipe
from objpert_core.estimators.steps_before import rows_cautions
from objpert_core.learning.fit import Seed
from objpert_core.learning.population.phased import phased_release
from objpert_core.learning.solvers import Callback


@documented
class PhasedERMClassifier(LinearClassifier):
    """A linear classifier under (ε, δ)-differential privacy, by phased empirical risk minimisation in a ball.

    Half of the rows are fitted, and noise is added to the model. Half of the other rows are fitted close to this noisy
    model, with less noise; and so on. Each row is in one phase, so ε is paid once. The loss needs bounded gradients and
    nothing else. Where objective perturbation has a proof, `ObjPertSCOClassifier` is more accurate.

    Neighbouring data sets differ in rows that are replaced, so both have the same number of rows.

    Parameters
    ----------
    %(epsilon delta radius)s
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" is rounded at its corner, by its Moreau envelope.
    %(classes fit_intercept_or_not)s
    public_rows : int or None, default=None
        The number of rows by which phases and noise are chosen; rows beyond this number are not used. None takes the
        number of rows in `X`, **treated as public**. Replacing a row does not change this number.
    %(rows_per_person on_error random_state advanced)s

    Other Parameters
    ----------------
    %(hinge_width solver ball_intercept_scaling row_norm)s

    Attributes
    ----------
    %(fitted_classifier)s
    privacy_ : PhasedCertificate
        What was promised and how. `release` gives a copy of the model that may be published, with its public part.
    n_iter_ : int
        The iterations of all solvers. Depends on the data, outside the guarantee: do not publish.
    %(fitted_features)s

    Notes
    -----
    After Feldman, Koren and Talwar (2020); docs/theorems.md, T24 and T30.
    %(weights)s

    Examples
    --------
    >>> from objpert_core.theory.population_risk import LogisticOnSphere
    >>> X, y = LogisticOnSphere(3).sample(5000, seed=0)
    >>> model = PhasedERMClassifier(epsilon=2.0, delta=1e-8, radius=4.0, classes=[-1, 1], random_state=0).fit(X, y)
    >>> model.privacy_.verify(), model.score(X, y) > 0.7
    (True, True)
    """

    CONSTRAINTS: ClassVar = ball.CONSTRAINTS
    ADVANCED: ClassVar = {
        "hinge_width": 0.5,
        "solver": "newton",
        "intercept_scaling": 0.3,
        "row_norm": "normalize",
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, loss: str = "logistic", *,
        classes: Any = None, fit_intercept: bool = False, public_rows: int | None = None, rows_per_person: int = 1,
        on_error: str = "raise", random_state: Seed = None, advanced: Advanced = None, **old_names: Any,
    ) -> None:  # fmt: skip
        self.take(locals())

    def recipe(self, public: Public) -> Recipe:
        s, name = self.settings, type(self).__name__
        loss = ball.chosen_loss(s)
        fit = partial(
            phased_release,
            loss=loss,
            epsilon=s.epsilon,
            delta=s.delta,
            radius=s.radius,
            public_rows=s.public_rows,
            rows_per_person=s.rows_per_person,
            row_norm=s.row_norm,
            intercept_scaling=constant_of(s),
            solver=s.solver,
            on_error=s.on_error,
        )

        def run(data: Data, random_states: Sequence[Seed], callback: Callback | None) -> Iterator[Learned]:
            for state in random_states:
                release = fit(data.X, data.targets, random_state=state, callback=callback)
                steps = len(release.gradient_norms) - release.certificate.phases
                yield Learned(release, {"n_iter_": max(steps, 0)})

        sizes = Sizes(1, 1, s.epsilon, s.delta, rows_per_person=s.rows_per_person)
        mechanism = OutputPerturbation(sizes.noise, 1.0, adjacency=REPLACE_ONE)
        terms = ball.terms_of(s, public, epsilon=s.epsilon, adjacency=REPLACE_ONE)
        objective, cautions = Objective(loss, radius=s.radius), rows_cautions(s, name, True)
        told: dict[str, Any] = {"row_norm": s.row_norm, "reads_rows": True, "cautions": cautions}
        return Recipe("phased empirical risk minimisation", terms, mechanism, public, run, objective, **told)
