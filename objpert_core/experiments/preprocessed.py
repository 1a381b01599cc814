"""What stands between a learner of the registry and its fit: the public number of rows, and rows centred and scaled.

DP-SGD gains from centring and scaling as Algorithm 1 does. To be fair, DP-SGD gets both: centre and scales are released
with the noise that the default learner would spend on them, and DP-SGD has the rest of ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from objpert_core._validation import FloatArray
from objpert_core.accounting import Standardisation
from objpert_core.accounting.steps.standardisation import AS_THEY_ARE
from objpert_core.estimators.recipe import Recipe
from objpert_core.experiments.learners import CENTRED, LEARNERS, MAPPED, TIGHT, Learner, declared
from objpert_core.learning.noise import noise_source
from objpert_core.learning.row_sources import take_alone
from objpert_core.learning.steps.standardisation import RowMap


@dataclass(frozen=True, eq=False)
class Prepared:
    """An estimator, unfitted or fitted since, and the rows that it is fitted to and judged by: the data's, or those
    after the private map `row_map`, whose noise is `plan`.
    """

    model: Any
    X_train: FloatArray
    X_test: FloatArray
    plan: Standardisation = AS_THEY_ARE
    row_map: RowMap | None = None

    @property
    def map(self) -> RowMap | None:
        """The map between the data's rows and the fitted model: the one before it, or its own."""
        own = RowMap(getattr(self.model, "center_", None), getattr(self.model, "scale_", None))
        return self.row_map or (None if own.center is None and own.scale is None else own)


def prepared(
    learner: Learner, model: Any, X_train: FloatArray, X_test: FloatArray, public_rows: int | None = None
) -> Prepared:
    """Prepare a private learner's estimator, made with the whole ε, and its rows of norm one as the registry says.

    Rules go by `public_rows`, or by the number of training rows, which then is a published one.

    >>> from objpert_core.datasets import load
    >>> from objpert_core.experiments.learners import LEARNERS
    >>> data, rival = load("synthetic-l"), LEARNERS["dpsgd-standardised"]
    >>> ready = prepared(rival, rival.make(epsilon=1.0, random_state=0), data.X_train, data.X_test)
    >>> ready.model.epsilon < 1.0, ready.X_train.shape
    (True, (8000, 20))
    """
    rows, columns = public_rows or X_train.shape[0], X_train.shape[1]
    declared(model, rows)
    if not learner.standardised:
        return Prepared(model, X_train, X_test)
    planned = of_ours(model, rows, columns)
    plan = planned.standardisation
    if learner.standardised == CENTRED:
        return Prepared(model.set_params(standardize=replace(plan, scale_noise=None)), X_train, X_test)
    assert learner.standardised == MAPPED
    if plan == AS_THEY_ARE:
        return Prepared(model, X_train, X_test)
    row_map = take_alone(plan, X_train, noise_source(_seed_of_the_map(model.random_state)))
    model.set_params(epsilon=planned.epsilon)
    return Prepared(model, row_map.apply(X_train), row_map.apply(X_test), plan, row_map)


def of_ours(model: Any, rows: int, columns: int) -> Recipe:
    """What the default learner plans at a model's ε, δ and constant, on so many rows of so many columns."""
    advanced = {name: getattr(model, name) for name in ("intercept_scaling", "row_norm")}
    return LEARNERS[TIGHT].make(epsilon=model.epsilon, delta=model.delta, advanced=advanced).planned(rows, columns)


def _seed_of_the_map(seed: int | None) -> int | None:
    """A seed that the estimator's own noise does not come from; None takes the operating system's randomness."""
    return None if seed is None else int(np.random.SeedSequence(seed).spawn(1)[0].generate_state(1)[0])


def slopes(ready: Prepared) -> FloatArray:
    """The coefficients of a fitted model as slopes of its score in the data's columns: (1, d), or (K, d) with K > 2.

    A model on mapped rows a∘(u − μ̂) has the slopes a∘θ, divided by the rows' mean norm over the test rows.
    """
    coef = np.array(ready.model.coef_, dtype=np.float64)
    row_map = ready.map
    if row_map is None:
        return coef
    return coef * (1.0 if row_map.scale is None else row_map.scale) / _mean_norm(ready, row_map)


def _mean_norm(ready: Prepared, row_map: RowMap) -> float:
    mapped = [ready.X_test] if ready.row_map is not None else (part.matrix for part in row_map.parts(ready.X_test))
    return float(np.concatenate([np.linalg.norm(rows, axis=1) for rows in mapped]).mean()) or 1.0


def noise_of(ready: Prepared) -> Mapping[str, float | None]:
    """What the map of a fitted model says in a row of results: its two noises and a number for the rule."""
    own = getattr(ready.model, "privacy_", None) if ready.row_map is None else ready.plan
    noises = {name: getattr(own, name, None) for name in ("center_noise", "scale_noise")}
    return noises | {"map_rule": map_rule() if any(noises.values()) else None}


@lru_cache(maxsize=1)
def map_rule() -> float:
    """A number that changes with the rule by which a `Standardisation` makes centre and scales of its noisy sums.

    Rows of results with another number were made by another rule and cannot be made again.
    """
    rows = np.cos(np.arange(40.0).reshape(8, 5) ** 2) + 1.0
    found = take_alone(Standardisation(0.5, 0.5), rows, noise_source(0))
    parts = [part for part in (found.center, found.scale) if part is not None]
    return float(f"{sum(float(part.sum()) for part in parts):.10g}")
