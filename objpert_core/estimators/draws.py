"""Several fits of one estimator that differ by their noise alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from objpert_core._validation import random_state_argument
from objpert_core.estimators.base import LinearModel, Seed
from objpert_core.exceptions import ConvergenceError
from objpert_core.learning.solvers import Callback

Model = TypeVar("Model", bound=Any)


def fit_many(
    estimator: Model, X: Any, y: Any, random_states: Sequence[Seed], *, callback: Callback | None = None
) -> list[Model]:
    """Fit copies of an estimator, one for each random state, as `fit` would one by one.

    Copies that differ by their noise alone share their work where they can, which is several times faster. Each draw is
    a release of its own: every one spends its own (ε, δ), and they add up (docs/theorems.md, T44). Equal seeds give
    equal noise.

    Parameters
    ----------
    estimator : private estimator
        One of this package. The estimator is not changed; its own `random_state` is ignored.
    X, y
        As for its `fit`.
    random_states : sequence of None, int, RandomState or Generator
        One for each draw; None takes the operating system's randomness.
    callback : callable, optional
        As for `fit`. Where draws are solved together, the callback gets the longest of their gradients.

    Returns
    -------
    Each is what `fit` gives with that random state, as exactly as `tau` asks for, with as good a certificate.

    Raises
    ------
    ConvergenceError
        If a draw does not reach `tau`; the error names its random state. Nothing is released, not the other draws
        either. The failure of a draw depends on the data; no certificate covers it.
    ValueError
        For `random_states` that are no such sequence, and as in `fit`.

    Examples
    --------
    >>> from objpert_core.estimators import ObjPertLogisticRegression
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> one = ObjPertLogisticRegression(epsilon=1.0, classes=[0, 1], lam=0.0)
    >>> draws = fit_many(one, X, y, [0])
    >>> [(model.random_state, model.coef_.shape, model.privacy_.verify()) for model in draws]
    [(0, (1, 30), True)]
    """
    if not isinstance(estimator, LinearModel):
        raise ValueError(f"estimator must be a private estimator of objpert_core.estimators, got {estimator!r}")
    states = _checked(random_states)
    models = [clone(estimator).set_params(random_state=state) for state in states]
    if models:
        fit_each(models, X, y, callback)
    return models


def fit_each(models: Sequence[Any], X: Any, y: Any, callback: Callback | None = None) -> None:
    """Fit estimators, any that differ by `random_state` alone, to the same data; the rest is as for `fit_many`."""
    first, *others = models
    if first.shares_work and not _repeated(model.random_state for model in models):
        first.fit_beside(others, X, y, callback)
        return
    told = {} if callback is None else {"callback": callback}
    try:
        for model in models:
            model.fit(X, y, **told)
    except BaseException as error:
        for fitted in models:
            fitted.forget()
        if isinstance(error, ConvergenceError):
            raise ConvergenceError(f"with random_state={model.random_state!r}: {error}") from error
        raise


def _checked(random_states: Any) -> list[Seed]:
    if isinstance(random_states, (str, bytes)) or not isinstance(random_states, (Sequence, np.ndarray)):
        raise ValueError(f"random_states must be a sequence with one entry for each draw, got {random_states!r}")
    states = random_states.tolist() if isinstance(random_states, np.ndarray) else list(random_states)
    for place, state in enumerate(states):
        random_state_argument(f"random_states[{place}]", state)
    return states


def _repeated(states: Iterable[Seed]) -> bool:
    """Whether two draws take their noise from one generator, in turns that only fits one by one keep."""
    generators = [id(state) for state in states if isinstance(state, (np.random.RandomState, np.random.Generator))]
    return len(set(generators)) < len(generators)
