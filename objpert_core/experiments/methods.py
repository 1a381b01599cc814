"""The methods of Figure 2, with every parameter in one place; all get the same rows, row norm and constant feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from objpert_core._validation import check_fields, choice, in_open_unit, positive, positive_integer, some_positive
from objpert_core.accounting import poisson_mean
from objpert_core.datasets import Dataset
from objpert_core.experiments import paper
from objpert_core.experiments.learners import (
    AGAIN,
    EXPLANATION,
    JUDGED,
    LEARNERS,
    LUCKIEST,
    PLAIN,
    TABLE,
    Learner,
    reference,
)
from objpert_core.experiments.measure import measured
from objpert_core.experiments.preprocessed import Prepared, noise_of, of_ours, prepared
from objpert_core.experiments.results import Run
from objpert_core.learning.problem.rows import ROW_NORMS

METHODS: Mapping[str, str] = {one.name: one.explanation for one in LEARNERS.values() if one.figure2 == TABLE}
"""Every method of the table and what it is, in the order of tables and legends."""

EXPLANATIONS: Mapping[str, str] = {one.name: one.explanation for one in LEARNERS.values() if one.figure2 == EXPLANATION}
"""The methods that say what the differences come from. They run only where they are named."""

EVERY: Mapping[str, str] = {**METHODS, **EXPLANATIONS}
"""Both, in the order of tables and legends."""


def grid(lowest: float, highest: float, count: int, digits: int = 6) -> tuple[float, ...]:
    """Learning rates from 10^lowest to 10^highest, evenly spaced in the logarithm and rounded to some digits.

    >>> grid(-8, -1, 3)
    (1e-08, 3.16228e-05, 0.1)
    """
    return tuple(float(f"{rate:.{digits}g}") for rate in np.logspace(lowest, highest, count))


@dataclass(frozen=True)
class Parameters:
    """What all rows of one file share; defaults are the paper's text where the paper says something. `epochs`,
    `optimizer`, `learning_rates`, `batch_size` (all rows if they are fewer) and `mean_runs` are DP-SGD's;
    `large_batch_size` and `fine_learning_rates` those of "dpsgd-dishonest-large"; `noise_ratio`, `tau` and `sigma_out`
    those of "published".
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
    noise_ratio: float = paper.NOISE_RATIO
    tau: float = paper.TAU
    sigma_out: float = paper.SIGMA_OUT

    def __post_init__(self) -> None:
        check_fields(self, in_open_unit, "delta")
        check_fields(self, positive, "intercept_scaling", "mean_runs", "noise_ratio", "tau", "sigma_out")
        check_fields(self, positive_integer, "epochs", "batch_size", "large_batch_size")
        check_fields(self, some_positive, "learning_rates", "fine_learning_rates")
        choice("row_norm", self.row_norm, ROW_NORMS)
        choice("optimizer", self.optimizer, ("adam", "sgd"))

    def as_configuration(self) -> dict[str, Any]:
        """The parameters as a file of results keeps them."""
        return asdict(self)

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Parameters:
        """The inverse of `as_configuration`, also after JSON; `ValueError` if a parameter is unknown or invalid."""
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
    """The unfitted estimator of a private method, one of `EVERY`; `ValueError` for any other name."""
    choice("method", method, tuple(name for name in EVERY if LEARNERS[name].private))
    return LEARNERS[method].make(
        epsilon=epsilon,
        delta=parameters.delta,
        classes=(0, 1),
        random_state=seed,
        **LEARNERS[method].parameters(parameters),
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

    The dishonest methods choose their learning rate by the accuracy on the test rows that they are then judged by. That
    choice is the paper's, for reproduction only, and it makes the strongest possible rival.

    `data` is the split of this trial; without privacy ε is infinite and the noise `seed` None. What a `callback` of a
    private estimator's `fit` raises stops the fit. `ConvergenceError` if a private fit did not reach τ.
    """
    learner = LEARNERS[choice("method", method, tuple(EVERY))]
    watched = {"callback": callback} if learner.private and callback is not None else {}
    training = _Training(data, learner, epsilon, seed, parameters, watched)
    took = measured(lambda: _TRAININGS[learner.training](training))
    fitted, runs = took.result
    model = fitted.model
    return Run(
        dataset=data.name,
        method=method,
        epsilon=epsilon,
        delta=parameters.delta if learner.private else None,
        trial=trial,
        split_seed=data.split_seed,
        seed=seed,
        accuracy=float(model.score(fitted.X_test, data.y_test)),
        seconds=float(f"{took.seconds:.4g}"),
        runs=runs,
        learning_rate=getattr(model, "learning_rate_", None),
        peak_mb=None if took.peak_mb is None else round(took.peak_mb, 1),
        **_noise(fitted),
    )


@dataclass(frozen=True)
class _Training:
    """What a way of training works with."""

    data: Dataset
    learner: Learner
    epsilon: float
    seed: int | None
    parameters: Parameters
    watched: Mapping[str, Any]

    def ready(self, seed: int | None) -> Prepared:
        """The unfitted model with a noise seed, and the rows for its fit."""
        data = self.data
        rows, columns = data.X_train.shape
        if not self.learner.private:
            return Prepared(reference(columns), data.X_train, data.X_test)
        model = estimator(self.learner.name, self.epsilon, self.parameters, seed)
        ready = prepared(self.learner, model, data.X_train, data.X_test)
        if self.learner.margin:
            ready.model.set_params(margin=of_ours(model, rows, columns).margin)
        return ready

    def fitted(self, ready: Prepared, *, judged: bool = False) -> Prepared:
        """`ready`, fitted to the training rows; where it is judged, the test rows choose among its candidates."""
        judges = {"X_val": ready.X_test, "y_val": self.data.y_test} if judged else {}
        ready.model.fit(ready.X_train, self.data.y_train, **judges, **self.watched)
        return ready

    def seeds(self) -> list[int]:
        """As many further noise seeds as "dpsgd-dishonest-pld" has learning rates."""
        return np.random.SeedSequence(self.seed).generate_state(len(self.parameters.learning_rates)).tolist()


def _trained(training: _Training, *, judged: bool = False) -> tuple[Prepared, int]:
    fitted = training.fitted(training.ready(training.seed), judged=judged)
    return fitted, len(getattr(fitted.model, "candidates_", "1"))


def _judged(training: _Training) -> tuple[Prepared, int]:
    return _trained(training, judged=True)


def _luckiest(training: _Training) -> tuple[Prepared, int]:
    draws = [training.fitted(training.ready(seed)) for seed in training.seeds()]
    return max(draws, key=lambda draw: draw.model.score(draw.X_test, training.data.y_test)), len(draws)


def _again(training: _Training) -> tuple[Prepared, int]:
    first, runs = _judged(training)
    chosen = {"learning_rate": first.model.learning_rate_, "learning_rates": None, "tuning": None}
    model = clone(first.model).set_params(**chosen, random_state=training.seeds()[0])
    return training.fitted(replace(first, model=model)), runs + 1


_TRAININGS: Mapping[str, Callable[[_Training], tuple[Prepared, int]]] = {
    PLAIN: _trained,
    JUDGED: _judged,
    LUCKIEST: _luckiest,
    AGAIN: _again,
}
"""Each way of training: the model it ends with, and how many models it trained."""


def _noise(fitted: Prepared) -> dict[str, float | None]:
    """What calibration and rules decide, to ten digits: noise from the certificate, the margin, the map's noise."""
    model = fitted.model
    certificate = getattr(model, "privacy_", None)
    found = {name: getattr(certificate, name, None) for name in ("sigma", "lam", "noise_multiplier")}
    found |= {"margin": getattr(model, "margin_", None), **noise_of(fitted)}
    return {name: None if value is None else float(f"{value:.10g}") for name, value in found.items()}
