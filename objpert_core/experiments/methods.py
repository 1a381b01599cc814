"""The methods of Figure 2, with every parameter in one place.

All of them get the same rows, the same row norm and the same constant feature. DP-SGD clips where the logistic
gradient ends anyway, at the norm of a row with its constant, so that its clipping changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from objpert_core import estimators
from objpert_core._validation import choice, in_open_unit, positive, positive_integer
from objpert_core.accounting import poisson_mean, recommended_margin
from objpert_core.datasets import Dataset
from objpert_core.experiments.compare import reference_parameters
from objpert_core.experiments.learners import DISHONEST as DISHONEST_PLD
from objpert_core.experiments.learners import HONEST, KIFER, NON_PRIVATE, OUTPUT, PUBLISHED, TIGHT
from objpert_core.experiments.measure import measured
from objpert_core.experiments.results import Run
from objpert_core.learning.problem.rows import ROW_NORMS, row_radius

DISHONEST_RDP, DISHONEST_LARGE = "dpsgd-dishonest-rdp", "dpsgd-dishonest-large"
TIGHT_DISHONEST, DPSGD_AGAIN = "tight-dishonest", "dpsgd-again"
TIGHT_LOGISTIC, DPSGD_MARGIN = "tight-no-margin", "dpsgd-margin"
DISHONEST = (DISHONEST_RDP, DISHONEST_PLD, DISHONEST_LARGE)

METHODS: Mapping[str, str] = {
    NON_PRIVATE: "scikit-learn, no privacy",
    DISHONEST_RDP: "DP-SGD, learning rate chosen by test accuracy, not paid for; Rényi accounting, as in the paper",
    DISHONEST_PLD: "the same, accounted for by privacy loss distributions",
    DISHONEST_LARGE: "the same with large batches and a fine grid",
    HONEST: "DP-SGD whose tuning is paid for, chosen on held-out training rows",
    PUBLISHED: "objective perturbation as published (Algorithm 1)",
    TIGHT: "objective perturbation with the tight logistic bound (Algorithm 1)",
    OUTPUT: "output perturbation",
    KIFER: "objective perturbation with the bound of Kifer et al. (2012)",
}
"""Every method and what it is, in the order of tables and legends."""

EXPLANATIONS: Mapping[str, str] = {
    TIGHT_DISHONEST: "the best by test accuracy of as many noise draws of tight as DP-SGD has learning rates",
    DPSGD_AGAIN: "one more run of dpsgd-dishonest-pld's DP-SGD with the learning rate it chose and fresh noise",
    TIGHT_LOGISTIC: "tight with the logistic loss itself, without a margin",
    DPSGD_MARGIN: "dpsgd-dishonest-large with the margin that tight has",
}
"""What the differences come from. At small ε dishonest DP-SGD does well because every candidate has its own noise, and
the luckiest is chosen: the first does the same with Algorithm 1, the second takes that luck, but not the learning rate,
away from DP-SGD. The third takes the margin away from Algorithm 1, the fourth gives it to DP-SGD."""

EVERY: Mapping[str, str] = {**METHODS, **EXPLANATIONS}
"""Both, in the order of tables and legends."""


def grid(lowest: float, highest: float, count: int) -> tuple[float, ...]:
    """Learning rates from 10^lowest to 10^highest, evenly spaced in the logarithm, to six digits.

    >>> grid(-8, -1, 3)
    (1e-08, 3.16228e-05, 0.1)
    """
    return tuple(float(f"{rate:.6g}") for rate in np.logspace(lowest, highest, count))


@dataclass(frozen=True)
class Parameters:
    """What all rows of one file share. The defaults are the paper's text where the paper says something.

    Attributes:
        delta: δ of every private method.
        intercept_scaling: the constant feature of every private method; the paper's is 1.
        row_norm: what every method does to the rows.
        epochs, optimizer: of DP-SGD.
        batch_size: expected batch of DP-SGD; all rows in every step if they are fewer.
        learning_rates: DP-SGD's candidates.
        mean_runs: honest DP-SGD trains K ~ Poisson(mean_runs) candidates; more than 10 with probability 0.9.
        large_batch_size, fine_learning_rates: the same two for "dpsgd-dishonest-large".
        noise_ratio, tau, sigma_out: of "published".

    Raises:
        ValueError: one of them is out of range.
    """

    delta: float = 1e-5
    intercept_scaling: float = 0.3
    row_norm: str = "normalize"
    epochs: int = 60
    optimizer: str = "adam"
    batch_size: int = 256
    learning_rates: tuple[float, ...] = grid(-8, -1, 10)
    mean_runs: float = field(default_factory=lambda: float(f"{poisson_mean(10, 0.9):.6g}"))
    large_batch_size: int = 4096
    fine_learning_rates: tuple[float, ...] = grid(-4, 0, 25)
    noise_ratio: float = 1.3
    tau: float = 0.01
    sigma_out: float = 0.15

    def __post_init__(self) -> None:
        in_open_unit("delta", self.delta)
        for name in ("intercept_scaling", "mean_runs", "noise_ratio", "tau", "sigma_out"):
            positive(name, getattr(self, name))
        for name in ("epochs", "batch_size", "large_batch_size"):
            positive_integer(name, getattr(self, name))
        choice("row_norm", self.row_norm, ROW_NORMS)
        choice("optimizer", self.optimizer, ("adam", "sgd"))
        for name in ("learning_rates", "fine_learning_rates"):
            if not getattr(self, name):
                raise ValueError(f"{name} must hold at least one learning rate, got none")
            for learning_rate in getattr(self, name):
                positive(name, learning_rate)

    def as_configuration(self) -> dict[str, Any]:
        """The parameters as a file of results keeps them."""
        return asdict(self)

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Parameters:
        """The inverse of `as_configuration`, also after a trip through JSON.

        Raises:
            ValueError: a parameter is unknown or out of range.

        >>> Parameters.from_configuration({"epochs": 30, "learning_rates": [0.1]}).learning_rates
        (0.1,)
        """
        unknown = sorted(set(configuration) - {parameter.name for parameter in fields(cls)})
        if unknown:
            raise ValueError(f"configuration must hold parameters that this version knows, got {unknown[0]!r}")
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in configuration.items()
        }
        return cls(**given)


PRESETS: Mapping[str, Parameters] = {
    "paper": Parameters(),
    # Where the defaults of the authors' released scripts differ from the paper's text.
    "scripts": replace(Parameters(), tau=0.0005, learning_rates=grid(-5, -1, 10), batch_size=4096),
}


def estimator(method: str, epsilon: float, parameters: Parameters, seed: int | None) -> Any:
    """The unfitted estimator of a private method.

    Args:
        method: one of `EVERY`, not "non-private". Of an explanation, one of the fits it is made of.
        epsilon: ε > 0.
        parameters: all the rest.
        seed: noise seed.

    Raises:
        ValueError: no private method has this name.
    """
    choice("method", method, tuple(name for name in EVERY if name != NON_PRIVATE))
    shared: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": parameters.delta,
        "intercept_scaling": parameters.intercept_scaling,
        "row_norm": parameters.row_norm,
        "classes": (0, 1),
        "random_state": seed,
    }
    if method in (TIGHT, TIGHT_DISHONEST):
        return estimators.ObjPertLogisticRegression(**shared)
    if method == TIGHT_LOGISTIC:
        return estimators.ObjPertLogisticRegression(**shared, margin=0.0)
    if method == PUBLISHED:
        recipe = {"noise_ratio": parameters.noise_ratio, "tau": parameters.tau, "sigma_out": parameters.sigma_out}
        return estimators.ObjPertLogisticRegression.published(**shared, **recipe)
    if method == KIFER:
        return estimators.ObjPertLogisticRegression.kifer2012(**shared)
    if method == OUTPUT:
        return estimators.OutputPerturbationLogisticRegression(**shared)
    large = method in (DISHONEST_LARGE, DPSGD_MARGIN)
    return estimators.DPSGDLogisticRegression(
        **shared,
        epochs=parameters.epochs,
        optimizer=parameters.optimizer,
        batch_size=parameters.large_batch_size if large else parameters.batch_size,
        learning_rates=parameters.fine_learning_rates if large else parameters.learning_rates,
        accountant="rdp" if method == DISHONEST_RDP else "pld",
        **({"mean_runs": parameters.mean_runs} if method == HONEST else {"tuning": "dishonest"}),
    )


def fit(
    data: Dataset,
    method: str,
    epsilon: float,
    trial: int,
    seed: int | None,
    parameters: Parameters,
    *,
    callback: Callable[..., object] | None = None,
) -> Run:
    """Fit one method once, or tune it once, and measure it.

    The dishonest methods choose their learning rate by the accuracy on the test rows that they are then judged by: the
    paper's choice, for reproduction only, and the strongest rival there can be.

    Args:
        data: the split of this trial.
        method: one of `EVERY`.
        epsilon: ε > 0; infinite for "non-private".
        trial: number of the repetition.
        seed: noise seed; None for "non-private".
        parameters: all the rest.
        callback: given to a private estimator's `fit`; what it raises stops the fit.

    Raises:
        ConvergenceError: a private fit did not reach the gradient norm its proof needs.
        ValueError: an argument is out of range.
    """
    choice("method", method, tuple(EVERY))
    took = measured(lambda: _trained(data, method, epsilon, seed, parameters, callback))
    model = took.result
    return Run(
        dataset=data.name,
        method=method,
        epsilon=epsilon,
        delta=None if method == NON_PRIVATE else parameters.delta,
        trial=trial,
        split_seed=data.split_seed,
        seed=seed,
        accuracy=float(model.score(data.X_test, data.y_test)),
        seconds=float(f"{took.seconds:.4g}"),
        runs=_runs(model, method, parameters),
        learning_rate=getattr(model, "learning_rate_", None),
        **_noise(model),
        peak_mb=None if took.peak_mb is None else round(took.peak_mb, 1),
    )


def _trained(
    data: Dataset,
    method: str,
    epsilon: float,
    seed: int | None,
    parameters: Parameters,
    callback: Callable[..., object] | None,
) -> Any:
    rows, labels = data.X_train, data.y_train
    if method == NON_PRIVATE:
        return LogisticRegression(**reference_parameters(rows.shape[1])).fit(rows, labels)
    watched = {} if callback is None else {"callback": callback}
    model = estimator(method, epsilon, parameters, seed)
    if method == DPSGD_MARGIN:
        dimension, radius = rows.shape[1] + 1, row_radius(parameters.intercept_scaling)
        model.set_params(margin=recommended_margin(epsilon, parameters.delta, rows.shape[0], dimension, radius))
    if method in (*DISHONEST, DPSGD_MARGIN):
        return model.fit(rows, labels, X_val=data.X_test, y_val=data.y_test, **watched)
    if method not in (TIGHT_DISHONEST, DPSGD_AGAIN):
        return model.fit(rows, labels, **watched)
    seeds = np.random.SeedSequence(seed).generate_state(len(parameters.learning_rates)).tolist()
    if method == TIGHT_DISHONEST:
        draws = [estimator(method, epsilon, parameters, each).fit(rows, labels, **watched) for each in seeds]
        return max(draws, key=lambda draw: draw.score(data.X_test, data.y_test))
    model.fit(rows, labels, X_val=data.X_test, y_val=data.y_test, **watched)
    again = {"learning_rate": model.learning_rate_, "learning_rates": None, "tuning": None, "random_state": seeds[0]}
    return model.set_params(**again).fit(rows, labels, **watched)


def _runs(model: Any, method: str, parameters: Parameters) -> int:
    """How many models were trained."""
    if method == TIGHT_DISHONEST:
        return len(parameters.learning_rates)
    if method == DPSGD_AGAIN:
        return len(parameters.learning_rates) + 1
    return len(getattr(model, "candidates_", "1"))


def _noise(model: Any) -> dict[str, float | None]:
    """The noise that the certificate declares, to ten digits."""
    certificate = getattr(model, "privacy_", None)
    found = {name: getattr(certificate, name, None) for name in ("sigma", "lam", "noise_multiplier")}
    return {name: None if value is None else float(f"{value:.10g}") for name, value in found.items()}
