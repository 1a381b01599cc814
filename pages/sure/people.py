"""Generated people of the page "How sure is a model?", and what was released about them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from scipy.stats import rankdata

from objpert_core import datasets
from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import IntervalNoise
from objpert_core.datasets import Dataset
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.evaluation import evaluate, split_by_coin, together
from objpert_core.evaluation.classes import BINS, TwoClasses, bins_of
from objpert_core.experiments.intervals.coverage import Found, by_likelihood, forgetting
from objpert_core.experiments.intervals.shapes import CONSTANT, drawn
from objpert_core.learning.steps.curvature import curvature_noise
from pages.sure.controls import ADULT, SEED, SHAPES
from ui.snippets import Verbatim, filled
from ui.view import View

Z = 1.959963984540054
OF_ADULT = {
    "sex=Male": "male",
    "marital-status=Married-civ-spouse": "married",
    "occupation=Exec-managerial": "manager",
    "occupation=Prof-specialty": "professional",
    "education=Bachelors": "bachelor",
    "education=HS-grad": "high school",
    "workclass=Private": "private firm",
    "occupation=Craft-repair": "craft",
    "occupation=Sales": "sales",
    "education=Some-college": "college",
}
"""Columns of Adult that are looked at, and what they are called in a picture."""


class Sample(NamedTuple):
    """Rows of norm at most 1 without the constant, labels 0 and 1, and the true coefficients, where they are known."""

    rows: FloatArray
    labels: IntArray
    truth: FloatArray | None


def adult() -> Dataset:
    """Adult, or what stands in for it."""
    return datasets.load(datasets.default_name())


def sample(shape: str, n: int, d: int, seed: int) -> Sample:
    """People of a shape, drawn anew; of Adult n of its people, or all, with d columns."""
    if shape == ADULT:
        data = adult()
        chosen = np.random.default_rng(seed).permutation(len(data.y_train))[:n]
        columns = np.array([data.feature_names.index(name) for name in tuple(OF_ADULT)[:d]])
        return Sample(data.X_train[np.ix_(chosen, columns)], data.y_train[chosen], None)
    generator = np.random.default_rng(seed)
    X, chances, theta = drawn(shape, n, d, generator)
    return Sample(X[:, :-1], (generator.random(n) < chances).astype(int), theta[:-1])


@lru_cache(maxsize=64)
def found(
    epsilon: float, delta: float, shape: str, n: int, d: int, seed: int
) -> tuple[FloatArray | None, dict[str, Found], str]:
    """The true coefficients, where known; without privacy, private, and private with errors that forget the noise; and
    the summary's caution, or nothing.
    """
    people = sample(shape, n, d, seed)
    n = len(people.labels)
    model = ObjPertLogisticRegression(
        epsilon, delta, intervals=True, classes=[0, 1], public_rows=n,
        random_state=seed, advanced={"row_norm": "clip", "intercept_scaling": CONSTANT},
    ).fit(people.rows, people.labels)  # fmt: skip
    summary = model.summary()
    told: Any = model.privacy_
    deviation, _ = curvature_noise(told.terms.step(IntervalNoise), told.radius)
    assert deviation is not None
    assert model.hessian_ is not None
    released = np.append(model.coef_.ravel(), model.intercept_ / CONSTANT)[None]
    naive = forgetting(released, model.hessian_[None], deviation)
    public = by_likelihood(np.column_stack([people.rows, np.full(n, CONSTANT)]), people.labels)
    methods = {
        "public": Found(*(part[:d] for part in public)),
        "interval": Found(summary["coef"].to_numpy(), *model.conf_int().T),
        "naive": Found(*(part[0, :d] for part in naive)),
    }
    return people.truth, methods, summary.attrs["caution"] or ""


class Scored(NamedTuple):
    """A private evaluation, the ε of fit and evaluation together, and what test rows say without noise."""

    noisy: TwoClasses
    epsilon: float
    scores: FloatArray
    labels: IntArray

    @property
    def accuracy(self) -> float:
        """The share of test rows that is predicted right."""
        return float(np.mean((self.scores > 0) == self.labels))

    @property
    def half_width(self) -> float:
        """Of an interval of 95 % for the accuracy that does not have to cover noise."""
        return float(Z * np.sqrt(self.accuracy * (1 - self.accuracy) / max(len(self.labels), 1)))

    @property
    def counts(self) -> IntArray:
        """The exact counts, a row for each class and a column for each bin of the score."""
        cells = self.labels * BINS + bins_of(self.scores)
        return np.bincount(cells, minlength=2 * BINS).reshape(2, BINS)

    @property
    def auc(self) -> float:
        """The exact area under the ROC curve."""
        positive = self.labels == 1
        many, few = int(positive.sum()), int((~positive).sum())
        wins = rankdata(self.scores)[positive].sum() - many * (many + 1) / 2
        return float(wins / max(many * few, 1))


def columns_of(shape: str) -> int:
    """Columns of the people whose scores are looked at."""
    return len(OF_ADULT) if shape == ADULT else 5


@lru_cache(maxsize=64)
def scored(epsilon: float, delta: float, shape: str, n: int, share: float, seed: int) -> Scored:
    """Train on one part of the people and evaluate on the other, each person by a coin."""
    people = sample(shape, n, columns_of(shape), seed)
    n = len(people.labels)
    X, X_test, y, y_test = split_by_coin(people.rows, people.labels, share, random_state=seed)
    model = ObjPertLogisticRegression(
        epsilon, delta, classes=[0, 1], public_rows=round(n * (1 - share)),
        random_state=seed, advanced={"row_norm": "clip", "intercept_scaling": CONSTANT},
    ).fit(X, y)  # fmt: skip
    noisy = evaluate(model, X_test, y_test, epsilon, delta, random_state=seed + 1)
    both = together(model.privacy_, noisy)
    return Scored(noisy, both.epsilon, logit(model.predict_proba(X_test)[:, 1]), y_test)


class OfPeople(View):
    """A picture of people: others can be drawn, and the snippet draws the same people."""

    people: int
    shape: str
    redrawn = SEED

    @property
    def whose(self) -> str:
        """The people, for a sentence: "10,000 generated people, even columns"."""
        if self.shape == ADULT:
            data = adult()
            return f"{min(self.people, len(data.y_train)):,} people of {data.label}"
        return f"{self.people:,} generated people, {SHAPES[self.shape]}"

    def blanks(self) -> Mapping[str, Any]:
        own = {"columns": columns_of(self.shape), **super().blanks()}
        if self.shape == ADULT:
            own |= {"data": adult().name, "names": list(OF_ADULT)[: own["columns"]]}
        drawn = filled("sure", "adult" if self.shape == ADULT else "generated", own)
        return {**own, "constant": CONSTANT, "drawn": Verbatim(drawn.strip())}
