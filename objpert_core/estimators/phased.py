"""A linear classifier by phased empirical risk minimisation in a ball, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from objpert_core._validation import FloatArray
from objpert_core.estimators.ball import MarginInBall
from objpert_core.estimators.constraints import one_of
from objpert_core.estimators.documented import documented
from objpert_core.estimators.former import Seed
from objpert_core.learning.population.phased import PhasedCertificate, phased_release
from objpert_core.learning.release import Release
from objpert_core.learning.solvers import SOLVERS


@documented
class PhasedERMClassifier(MarginInBall):
    """A linear classifier under (ε, δ)-differential privacy, by phased empirical risk minimisation in a ball.

    Half of the rows are fitted, and noise is added to the model. Half of the other rows are fitted close to this noisy
    model, with less noise; and so on. Each row is in one phase, so ε is paid once. The loss needs bounded gradients and
    nothing else. Where objective perturbation has a proof, `ObjPertSCOClassifier` is more accurate.

    %(replaced)s

    Parameters
    ----------
    %(epsilon_replaced delta radius)s
    loss : {"logistic", "hinge", "huberised-hinge"}, default="logistic"
        "hinge" is rounded at its corner, by its Moreau envelope.
    %(solver no_intercept row_norm random_state)s
    %(hinge_width)s
    %(classes)s
    public_rows : int or None, default=None
        The number of rows by which phases and noise are chosen; rows beyond this number are not used. None takes the
        number of rows in `X`, **treated as public**. Replacing a row does not change this number.
    %(on_error)s

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

    CONSTRAINTS = {"solver": one_of(*SOLVERS)}  # noqa: RUF012 - a table that nobody changes

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, radius: float = 1.0, loss: str = "logistic",
        solver: str = "newton", fit_intercept: bool = False, intercept_scaling: float = 0.3,
        row_norm: str = "normalize", random_state: Seed = None, *, hinge_width: float = 0.5, classes: Any = None,
        public_rows: int | None = None, on_error: str = "raise",
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling,
            row_norm=row_norm, random_state=random_state, classes=classes, on_error=on_error, radius=radius, loss=loss,
            hinge_width=hinge_width, public_rows=public_rows,
        )  # fmt: skip
        self.solver = solver

    def _release(self, X: Any, targets: FloatArray, callback: Any, **options: Any) -> Release[PhasedCertificate]:
        release = phased_release(
            X,
            targets,
            self._chosen_loss(),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            radius=float(self.radius),
            public_rows=self.public_rows,
            row_norm=self.row_norm,
            intercept_scaling=self._constant,
            solver=self.solver,
            random_state=self.random_state,
            on_error=self.on_error,
            callback=callback,
        )
        self.n_iter_ = max(len(release.gradient_norms) - release.certificate.phases, 0)
        return release
