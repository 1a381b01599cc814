"""What one ε costs on how many rows: the tight private fit and the one without privacy on few, more and many rows.

Draw i deals out one training and one test part and fits both models on the first n rows of the training part, for each
n. Where a generator makes the rows (`GENERATED`), every draw is a fresh sample; elsewhere it is another split, and a
size larger than its training part is left out. Both accuracies look at the test rows: they measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from objpert_core import datasets
from objpert_core._validation import (
    FloatArray,
    IntArray,
    choice,
    in_open_unit,
    integer_up_to,
    nonnegative_integer,
    positive,
    positive_integer,
)
from objpert_core.datasets import adult, adult_synthetic, synthetic
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.learners import reference
from objpert_core.experiments.live import StoppedError, stopper
from objpert_core.experiments.summary import Interval, mean_interval

GENERATED = ("adult-synthetic", "synthetic-l")
"""Data sets whose rows are drawn from a law that is written down, and can therefore have any number of rows."""
SIZES = (500, 1500, 5000, 15_000, 50_000)
MAX_ROWS = 200_000
MAX_DRAWS = 20
TEST_ROWS = 12_500  # of a generated draw


@dataclass(frozen=True)
class Plan:
    """What to measure: draw i deals the rows by `seed + i` and takes its noise from (`seed + i`, n)."""

    dataset: str = "adult-synthetic"
    epsilon: float = 0.1
    delta: float = 1e-5
    sizes: tuple[int, ...] = SIZES
    draws: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        choice("dataset", self.dataset, datasets.names(classes=2))
        positive("epsilon", self.epsilon)
        in_open_unit("delta", self.delta)
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"sizes must be increasing whole numbers, at least one, got {self.sizes!r}")
        for size in self.sizes:
            if positive_integer("sizes", size) > MAX_ROWS:
                raise ValueError(f"sizes must be whole numbers from 1 to {MAX_ROWS}, got {size!r}")
        integer_up_to("draws", self.draws, MAX_DRAWS)
        nonnegative_integer("seed", self.seed)

    def noise_seed(self, draw: int, rows: int) -> int:
        """The seed of the private fit on that many rows of one draw."""
        return int(np.random.SeedSequence([self.seed + draw, rows]).generate_state(1)[0])


@dataclass(frozen=True)
class Fits:
    """Test accuracies of the two models of one draw on n rows, and of always answering the training majority."""

    draw: int
    rows: int
    private: float
    reference: float
    baseline: float


@dataclass(frozen=True)
class LearningCurve:
    """The fits made so far, complete in themselves, never changed; `available` counts a draw's training rows."""

    plan: Plan
    label: str
    available: int | None = None
    fits: tuple[Fits, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were asked for and that the data set has."""
        return tuple(size for size in self.plan.sizes if self.available is None or size <= self.available)

    @property
    def left_out(self) -> tuple[int, ...]:
        """The sizes that were asked for and are larger than the training part."""
        return tuple(size for size in self.plan.sizes if size not in self.sizes)

    @property
    def complete(self) -> bool:
        """Whether every fit that can be made has been."""
        return self.available is not None and len(self.fits) == self.plan.draws * len(self.sizes)

    def of(self, rows: int) -> tuple[Fits, ...]:
        """The fits on that many rows."""
        return tuple(fit for fit in self.fits if fit.rows == rows)

    def private(self, rows: int) -> Interval | None:
        """Mean test accuracy of the private fits on that many rows, with its interval; None before the first."""
        return _mean([fit.private for fit in self.of(rows)])

    def reference(self, rows: int) -> Interval | None:
        """Mean test accuracy without privacy on that many rows, with its interval; None before the first."""
        return _mean([fit.reference for fit in self.of(rows)])

    def cost(self, rows: int) -> Interval | None:
        """Accuracy without privacy minus accuracy with it, paired over the draws; None before one."""
        return _mean([fit.reference - fit.private for fit in self.of(rows)])

    @property
    def baseline(self) -> float | None:
        """Mean test accuracy of the majority class over the draws so far; None before the first."""
        shares = {fit.draw: fit.baseline for fit in self.fits}
        return float(np.mean(list(shares.values()))) if shares else None


def _mean(values: list[float]) -> Interval | None:
    return mean_interval(values) if values else None


def learning_curve(plan: Plan, should_stop: Callable[[], bool] = lambda: False) -> Iterator[LearningCurve]:
    """Fit with and without privacy on each number of rows, draw after draw; the first curve has no fit."""
    curve = LearningCurve(plan, plan.dataset)
    yield curve
    check = stopper(should_stop)
    with suppress(StoppedError):
        for draw in range(plan.draws):
            check()
            label, X, y, X_test, y_test = _rows(plan, draw)
            curve = replace(curve, label=label, available=len(y))
            baseline = float(np.mean(y_test == int(2 * y.sum() > len(y))))
            for size in curve.sizes:
                check()
                private = _private(plan, draw, X[:size], y[:size], check).score(X_test, y_test)
                fits = Fits(draw, size, float(private), _reference(X[:size], y[:size], X_test, y_test), baseline)
                curve = replace(curve, fits=(*curve.fits, fits))
                yield curve
            if not curve.sizes:
                yield curve
                return


def _rows(plan: Plan, draw: int) -> tuple[str, FloatArray, IntArray, FloatArray, IntArray]:
    """Label, X_train, y_train, X_test, y_test of one draw, the training rows in random order."""
    seed = plan.seed + draw
    if plan.dataset not in GENERATED:
        data = datasets.load(plan.dataset, split_seed=seed)
        order = np.random.default_rng(seed).permutation(len(data.y_train))
        return data.label, data.X_train[order], data.y_train[order], data.X_test, data.y_test
    most = max(plan.sizes)
    if plan.dataset == "adult-synthetic":
        records = adult_synthetic.sample(adult_synthetic.released_counts(), seed, most + TEST_ROWS)
        X, y, label = adult.encode(records), records.labels, "adult-synthetic (stand-in for adult)"
    else:
        # Each draw has weights of its own. Directions are all alike to Gaussian rows of equal variances, so the
        # accuracies have the same law for all weights.
        X, y = synthetic.make(plan.dataset, rows=most + TEST_ROWS, seed=seed)
        label = plan.dataset
    return label, X[:most], y[:most], X[most:], y[most:]


def _private(
    plan: Plan, draw: int, X: FloatArray, y: IntArray, check: Callable[..., None]
) -> ObjPertLogisticRegression:
    model = ObjPertLogisticRegression(
        epsilon=plan.epsilon,
        delta=plan.delta,
        classes=(0, 1),
        public_rows=len(y),  # the plan's
        random_state=plan.noise_seed(draw, len(y)),
    )
    return model.fit(X, y, callback=check)


def _reference(X: FloatArray, y: IntArray, X_test: FloatArray, y_test: IntArray) -> float:
    """Test accuracy without privacy; of a few rows that are all of one class, that of answering this class."""
    if len(np.unique(y)) == 1:
        return float(np.mean(y_test == y[0]))
    return float(reference(X.shape[1]).fit(X, y).score(X_test, y_test))
