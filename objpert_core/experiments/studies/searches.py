"""A private search seen from inside: every setting's score and worth, beside the same settings tried unpaid.

The runs are those of `PrivateSearch` with the same seed. Unpaid, every setting is fitted with the whole ε, and only one
of them is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.model_selection import ParameterGrid

from objpert_core.accounting import compose
from objpert_core.datasets import Dataset
from objpert_core.estimators import ObjPertLogisticRegression, PrivateSearch
from objpert_core.estimators.search_plan import COINS, Plan, seed
from objpert_core.evaluation import Estimate, split_by_coin
from objpert_core.learning.sampling import Streams

GRID: Mapping[str, Sequence[Any]] = {"standardize": [False, "auto"], "margin": [0.0, 1.0]}


@dataclass(frozen=True)
class Candidate:
    """A setting: its noisy score, the share of new rows that its model gets right, and that of an unpaid fit."""

    setting: Mapping[str, Any]
    score: Estimate
    worth: float
    unpaid: float


@dataclass(frozen=True)
class Search:
    """All settings of a search. A fit gets `fit_epsilon`, and unpaid fits spend `unpaid_epsilon` together; `fixed` is
    the share right of one fit to all rows with the whole ε, by the estimator's own setting.
    """

    candidates: tuple[Candidate, ...]
    fit_epsilon: float
    unpaid_epsilon: float
    fixed: float

    @property
    def best(self) -> Candidate:
        """The one with the highest noisy score: what is released."""
        return max(self.candidates, key=lambda one: one.score.value)


def searched(data: Dataset, epsilon: float, delta: float, random_state: int) -> Search:
    """Search over `GRID` on the training rows of a data set, and look at every setting."""
    rows, labels = data.X_train, list(range(len(data.classes)))
    own = ObjPertLogisticRegression(classes=labels, public_rows=len(rows))
    search = PrivateSearch(own, GRID, epsilon, delta, random_state=random_state)
    streams = Streams(random_state)
    parts = split_by_coin(rows, data.y_train, search.test_share, None, seed(streams, COINS))
    settings = list(ParameterGrid(dict(GRID)))
    plan = Plan(search, settings, data.y_train, parts[0])
    unpaid = [plan.made(place, epsilon, random_state).fit(parts[0], parts[2]) for place in range(len(settings))]
    fixed = ObjPertLogisticRegression(
        epsilon, delta, classes=labels, public_rows=len(rows), random_state=random_state
    ).fit(rows, data.y_train)

    def worth(model: Any) -> float:
        return float(model.score(data.X_test, data.y_test))

    found = tuple(
        Candidate(settings[run.place], run.found.accuracy(), worth(run.model), worth(unpaid[run.place]))
        for run in plan.trials(streams, *parts)
    )
    spent = compose(*(one.privacy_.accounted(one.privacy_.rebuild()) for one in unpaid))
    return Search(found, plan.calibrated[0], float(spent.epsilon(delta)), worth(fixed))
