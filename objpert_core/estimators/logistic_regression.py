"""Logistic regression by objective perturbation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

from objpert_core._validation import nonnegative, positive_integer
from objpert_core.accounting import recommended_lam, recommended_margin
from objpert_core.estimators.base import ProbabilisticClassifier, Seed
from objpert_core.estimators.constraints import or_none
from objpert_core.estimators.documented import documented
from objpert_core.estimators.objective import ObjectivePerturbationModel, Plan, bounds_covering
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.rows import row_radius


@documented
class ObjPertLogisticRegression(ProbabilisticClassifier, ObjectivePerturbationModel):
    """Logistic regression under (ε, δ)-differential privacy, by objective perturbation.

    Adds bᵀθ with b ~ N(0, σ²I) and λ/2 ‖θ‖² to the sum of the logistic losses, minimises until the gradient's
    norm is at most `tau`, adds N(0, sigma_out²) to every coefficient and releases the sum. σ and λ are calibrated
    to (epsilon, delta) before the data are looked at; there is nothing to tune on the data.

    Parameters
    ----------
    %(epsilon delta)s
    bound : {"logistic", "monotone", "two-signed", "glm", "kifer2012", "non-glm"}, default="logistic"
        The privacy theorem; see `objpert_core.accounting.ObjectivePerturbation`. "logistic" needs the least noise.
        ("non-glm" needs ``accountant="rdp"``.)
    %(noise_ratio tau sigma_out solver intercept row_norm random_state accountant)s
    lam : float >= 0 or None, default=None
        Regularisation λ not to go below; 0 takes the least that privacy allows. None takes 0 if a `noise_ratio` is
        given and `objpert_core.accounting.recommended_lam` otherwise: a rule in ε, δ, R and the shape of `X` that
        regularises more where there are few rows for so much noise. **The number of rows is then treated as public**,
        and the certificate says so. Choosing λ by looking at fits is not covered.
    margin : float >= 0 or None, default=None
        The loss is log(1 + e^{k − y·score}) with this k, which makes rows near the score 0 count for more
        (`objpert_core.learning.LogisticLoss`). It costs no worst-case privacy, though ordinary rows come closer to the
        worst case. 0 is logistic regression itself. None takes 0 if a
        `noise_ratio` or a `lam` is given and otherwise `objpert_core.accounting.recommended_margin`, which goes by the
        same public numbers as the rule for λ and tends to 0 as ε grows. `coef_` are log-odds where k = 0 only;
        `predict_proba` allows for k.
    %(public_rows classes max_iter on_error adjacency rows_per_person)s

    Attributes
    ----------
    %(fitted_classifier fitted_margin fitted_certificate fitted_features fitted_trace)s

    Notes
    -----
    Redberg, Koskela and Wang (2023), Algorithm 1 and Theorem 4.1, with the tight logistic bound (docs/theorems.md, T1).
    %(weights)s

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ObjPertLogisticRegression(epsilon=1.0, delta=1e-5, classes=[0, 1], random_state=0).fit(X, y)
    >>> model.coef_.shape, model.privacy_.epsilon, model.privacy_.reproducible
    ((1, 30), 1.0, True)
    """

    CONSTRAINTS = {  # noqa: RUF012 - a table that nobody changes
        "bound": bounds_covering(LogisticLoss(), first="logistic"),
        "lam": or_none(nonnegative),
        "margin": or_none(nonnegative),
        "public_rows": or_none(positive_integer),
    }

    def __init__(
        self, epsilon: float = 1.0, delta: float = 1e-5, bound: str = "logistic", noise_ratio: float | None = None,
        tau: float = 1e-6, sigma_out: float | None = None, solver: str = "newton", fit_intercept: bool = True,
        intercept_scaling: float = 0.3, row_norm: str = "normalize", random_state: Seed = None, *,
        accountant: str = "profile", lam: float | None = None, margin: float | None = None,
        public_rows: int | None = None, classes: Any = None, max_iter: int = 1000, on_error: str = "raise",
        adjacency: str = "add/remove one row", rows_per_person: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(
            epsilon=epsilon, delta=delta, bound=bound, noise_ratio=noise_ratio, tau=tau, sigma_out=sigma_out,
            solver=solver, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, row_norm=row_norm,
            random_state=random_state, accountant=accountant, margin=margin, classes=classes, max_iter=max_iter,
            on_error=on_error, adjacency=adjacency, rows_per_person=rows_per_person,
        )  # fmt: skip
        self.lam = lam
        self.public_rows = public_rows

    @classmethod
    def published(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """The recipe of the paper's experiments; any parameter can be given and then replaces the recipe's.

        Redberg, Koskela and Wang (2023), Section 5: the "glm" bound through its Rényi curve, σ = 1.3 σ_Gauss,
        τ = 0.01, σ_out = 0.15 and a constant feature 1.

        Examples
        --------
        >>> ObjPertLogisticRegression.published(epsilon=8.0).noise_ratio
        1.3
        """
        recipe: dict[str, Any] = {
            "bound": "glm",
            "noise_ratio": 1.3,
            "accountant": "rdp",
            "tau": 0.01,
            "sigma_out": 0.15,
            "intercept_scaling": 1.0,
        }
        return cls(epsilon=epsilon, delta=delta, **(recipe | parameters))

    @classmethod
    def kifer2012(cls, epsilon: float = 1.0, delta: float = 1e-5, **parameters: Any) -> Self:
        """Objective perturbation as first proved: Kifer, Smith and Thakurta (2012); any parameter can be given.

        σ and λ by their theorem (Theorem 2.8 of Redberg et al. 2023), which holds for the exact minimiser; the output
        noise that covers the solver's distance to it is paid for by composition (`accounting.ApproximateMinima`).

        Examples
        --------
        >>> ObjPertLogisticRegression.kifer2012(epsilon=8.0).bound
        'kifer2012'
        """
        recipe: dict[str, Any] = {"bound": "kifer2012", "lam": 0.0}
        return cls(epsilon=epsilon, delta=delta, **(recipe | parameters))

    def _reads_rows(self) -> bool:
        return self._by_rule and self.public_rows is None

    @property
    def _by_rule(self) -> bool:
        """Whether λ is the rule's, which reads the number of rows."""
        return self.lam is None and self.noise_ratio is None

    def _plan(self, n_rows: int, dimension: int) -> Plan:
        lam, margin, used_rows = self.lam, self.margin, None
        if self._by_rule:
            used_rows = n_rows if self.public_rows is None else self.public_rows
            # About the noise of the promise asked for: k rows of one person need about the noise of an ε less by k.
            public = self.epsilon / self._rows_moved, self.delta, used_rows, dimension, row_radius(self._constant)
            lam = recommended_lam(*public)
            margin = recommended_margin(*public) if margin is None else margin
        loss = LogisticLoss(margin or 0.0)
        self.margin_ = loss.margin
        return Plan(loss, lam=lam or 0.0, public_rows=used_rows, rows_declared=self.public_rows is not None)
