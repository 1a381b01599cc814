"""The journey of a stranger: from a table as people have it, by the command, to a model that others check and use.

    python -m benchmarks.journey [--epsilon 1] [--draws 3] [--only wine ages]
    python -m benchmarks.journey --write data/results/journey.csv

For each table a CSV file is written; then `objpert fit`, `objpert verify` and `objpert predict` run on it, draw by draw
of the noise. A command that ends with another code than 0 is a place where one stops. Texts have no file: they take the
road of the guide "A private text classifier". Ranges that a stranger would not know are learned privately. The model
without privacy and DP-SGD (at its defaults, one run) get the ranges that somebody may declare, which helps them.
Minutes are those of the whole road, the slowest draw. Adult needs its files (OBJPERT_DATA_DIR or the cache).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from objpert_core import datasets
from objpert_core._provenance import write_study
from objpert_core.cli import main as objpert
from objpert_core.datasets import (
    Categories,
    Date,
    Money,
    Number,
    NumericTarget,
    Percent,
    SeveralValues,
    TableSchema,
    TwoValues,
    library_pieces,
)
from objpert_core.datasets.adult_codebook import CATEGORIES, CLASSES, COLUMNS, MAXIMA
from objpert_core.datasets.small import BREAST_CANCER_RANGES
from objpert_core.estimators import DPSGDLogisticRegression, ObjPertLogisticRegression

DELTA = 1e-5
TEXT_COLUMNS = 20_000
ACCURACY, AUC, EXPLAINED = "accuracy, %", "AUC", "R²"


@dataclass(frozen=True)
class Journey:
    """A table as a stranger has it: rows to learn from and new ones, what is public, and how a model is judged.

    `schema` has ranges that somebody may declare; the stranger knows those of `known` columns alone.
    """

    name: str
    train: pd.DataFrame
    new: pd.DataFrame
    schema: TableSchema
    known: frozenset[str]
    metric: str = ACCURACY
    options: tuple[str, ...] = ()

    @property
    def private(self) -> TableSchema:
        """The schema that the stranger types."""
        columns: dict[str, Any] = dict(self.schema.columns)
        for name, column in columns.items():
            if isinstance(column, Number) and name not in self.known:
                columns[name] = replace(column, low="private", high="private")  # type: ignore[arg-type]
        return TableSchema(columns, self.schema.target)


def _split(frame: pd.DataFrame, share: float = 0.7) -> tuple[pd.DataFrame, pd.DataFrame]:
    frame = frame.sample(frac=1, random_state=0)
    return frame[: int(share * len(frame))], frame[int(share * len(frame)) :]


def messy() -> Journey:
    """An export of a shop: dates, per cent, euros, gaps, names of customers, and 2 % who complain."""
    rng = np.random.default_rng(0)
    n = 30_000
    age, pay, visits = rng.normal(48, 16, n).clip(18, 95), rng.lognormal(7.5, 0.6, n), rng.poisson(4, n)
    discount, days = rng.beta(1, 4, n) * 100, rng.integers(0, 3650, n)
    place = rng.choice(["north", "south", "east", "west"], n)
    score = 0.9 * visits - 0.0009 * pay + 0.05 * discount + (place == "north") - 0.0004 * days + rng.logistic(0, 0.7, n)
    complains = score > np.quantile(score, 0.98)
    gap = rng.random((n, 2)) < [0.1, 0.05]
    joined = pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")
    frame = pd.DataFrame(
        {
            "customer": [f"customer {number}" for number in range(n)],
            "age": [f"{one:.0f}" for one in age],
            "pay": np.where(gap[:, 0], "", [f"€ {one:,.2f}" for one in pay]),
            "joined": joined.strftime("%d.%m.%Y"),
            "discount": np.where(gap[:, 1], "n/a", [f"{one:.1f} %" for one in discount]),
            "visits": visits,
            "place": place,
            "complains": np.where(complains, "yes", "no"),
        }
    )
    schema = TableSchema(
        {
            "age": Number(18, 95),
            "pay": Money(0, 10_000, 2_000, True, sign="€", thousands=","),
            "joined": Date("01.01.2015", "31.12.2024", format="%d.%m.%Y"),
            "discount": Percent(0, 100, 20),
            "visits": Number(0, 20),
            "place": Categories(["north", "south", "east", "west"]),
        },
        TwoValues("complains", negative="no", positive="yes"),
    )
    options = ("--class-weight", "balanced")
    return Journey("messy CSV, 2 % positive", *_split(frame), schema, frozenset({"discount"}), AUC, options)


def ages() -> Journey:
    """One raw column."""
    age = np.random.default_rng(0).integers(18, 91, 20_000)
    frame = pd.DataFrame({"age": age, "older": np.where(age > 50, "yes", "no")})
    schema = TableSchema({"age": Number(18, 90)}, TwoValues("older", negative="no", positive="yes"))
    return Journey("ages", *_split(frame), schema, frozenset())


def _bunch(name: str, bunch: Any, ranges: dict[str, tuple[float, float]] | None, known: bool = False) -> Journey:
    frame = bunch.data.copy()
    frame["what"] = [str(bunch.target_names[label]) for label in bunch.target]
    ends = ranges or {one: (bunch.data[one].min(), bunch.data[one].max()) for one in bunch.data}
    columns = {one: Number(low, high) for one, (low, high) in ends.items()}
    values = [str(one) for one in bunch.target_names]
    target = TwoValues("what", *values) if len(values) == 2 else SeveralValues("what", values)
    return Journey(name, *_split(frame), TableSchema(columns, target), frozenset(columns if known else ()))


def diabetes() -> Journey:
    """A number is predicted."""
    bunch = load_diabetes(as_frame=True, scaled=False)
    frame = bunch.data.assign(progression=bunch.target)
    columns = {one: Number(bunch.data[one].min(), bunch.data[one].max()) for one in bunch.data}
    target = NumericTarget("progression", low=25, high=346)
    return Journey("diabetes, raw", *_split(frame), TableSchema(columns, target), frozenset(), EXPLAINED)


def adult() -> Journey:
    """The census as its files have it, rows with gaps included."""
    folder = datasets.data_folder()
    folder = folder / "adult" if (folder / "adult").is_dir() else folder
    read: dict[str, Any] = {"names": [*COLUMNS, "income"], "skipinitialspace": True, "keep_default_na": False}
    train = pd.read_csv(folder / "adult.data", **read)
    new = pd.read_csv(folder / "adult.test", skiprows=1, **read)
    new["income"] = new["income"].str.rstrip(".")
    columns: dict[str, Any] = {
        name: Number(0, MAXIMA[name]) if name in MAXIMA else Categories(CATEGORIES[name], missing_indicator=True)
        for name in COLUMNS
    }
    target = TwoValues("income", *CLASSES)
    return Journey("Adult, raw", train, new, TableSchema(columns, target), frozenset())


TABLES: dict[str, Callable[[], Journey]] = {
    "messy": messy,
    "ages": ages,
    "breast-cancer": lambda: _bunch("breast cancer, raw", load_breast_cancer(as_frame=True), BREAST_CANCER_RANGES),
    "wine": lambda: _bunch("wine, raw", load_wine(as_frame=True), None),
    "wine-known": lambda: _bunch("wine, ranges known", load_wine(as_frame=True), None, True),
    "digits": lambda: _bunch(
        "digits",
        load_digits(as_frame=True),
        {f"pixel_{row}_{place}": (0, 16) for row in range(8) for place in range(8)},
        True,
    ),
    "diabetes": diabetes,
    "adult": adult,
}
TEXT = "text"


def judged(metric: str, truth: Any, predicted: Any, scores: Any) -> float:
    """A model's number: per cent right, the area under the curve, or the share of the variance."""
    if metric == AUC:
        return float(roc_auc_score(truth, scores))
    if metric == EXPLAINED:
        return float(r2_score(truth, predicted))
    return 100 * float(np.mean(np.asarray(predicted) == np.asarray(truth)))


def rivals(journey: Journey, epsilon: float) -> tuple[float, float | None]:
    """The model without privacy, and DP-SGD where it learns such a target."""
    target = journey.schema.target
    X, new = (journey.schema.encode(frame.astype(str)) for frame in (journey.train, journey.new))
    y, truth = (frame[target.column] for frame in (journey.train, journey.new))
    if isinstance(target, NumericTarget):
        return judged(EXPLAINED, truth, Ridge(1e-6).fit(X, y).predict(new), None), None
    labels = y.map(target.values.index).to_numpy()
    right = truth.map(target.values.index).to_numpy()
    weight = "balanced" if journey.options else None
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5_000, class_weight=weight)).fit(X, labels)
    scores = plain.decision_function(new)
    first = judged(journey.metric, right, plain.predict(new), scores)
    if len(target.values) > 2:
        return first, None
    noisy = DPSGDLogisticRegression(epsilon, DELTA, classes=[0, 1], public_rows=len(X), random_state=0).fit(X, labels)
    return first, judged(journey.metric, right, noisy.predict(new), noisy.decision_function(new))


def travelled(journey: Journey, epsilon: float, draws: int, folder: Path) -> tuple[list[float], float, list[str]]:
    """What the released models are worth, minutes of the slowest road, and the commands that ended badly."""
    journey.train.to_csv(folder / "people.csv", index=False)
    journey.new.to_csv(folder / "new.csv", index=False)
    (folder / "schema.json").write_text(journey.private.to_json(), encoding="utf-8")
    found, minutes, stops = [], 0.0, []
    truth = journey.new[journey.schema.target.column]
    for seed in range(draws):
        start = time.perf_counter()
        out = str(folder / f"release{seed}")
        fit = ["fit", str(folder / "people.csv"), "--schema", str(folder / "schema.json"), "--epsilon", f"{epsilon:g}"]
        fit += ["--public-rows", str(len(journey.train)), "--seed", str(seed), "--out", out, *journey.options]
        predicted = str(folder / f"predicted{seed}.csv")
        predict = ["predict", out, str(folder / "new.csv"), "--out", predicted, *["--scores"] * (journey.metric == AUC)]
        for command in (fit, ["verify", out], predict):
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = objpert(command)
            if code != 0:
                stops.append(f"{command[0]}: {said.getvalue().strip().splitlines()[-1]}")
        minutes = max(minutes, (time.perf_counter() - start) / 60)
        if Path(predicted).is_file():
            table = pd.read_csv(predicted, dtype={journey.schema.target.column: truth.dtype})
            scores = table["score"] if journey.metric == AUC else None
            own = truth.eq("yes") if journey.metric == AUC else truth
            found.append(judged(journey.metric, own, table[journey.schema.target.column], scores))
    return found, minutes, stops


def of_text(epsilon: float, draws: int) -> dict[str, Any]:
    """Sparse text, by the guide."""
    texts, labels = library_pieces()
    X = HashingVectorizer(n_features=TEXT_COLUMNS, alternate_sign=False).transform(texts)
    train, new = slice(6_400), slice(6_400, None)
    plain = LogisticRegression(C=100, max_iter=500).fit(X[train], labels[train])
    shared: dict[str, Any] = {"classes": [0, 1], "public_rows": 6_400}
    noisy = DPSGDLogisticRegression(epsilon, DELTA, **shared, random_state=0).fit(X[train], labels[train])
    found, minutes, stops = [], 0.0, []
    for seed in range(draws):
        start = time.perf_counter()
        model = ObjPertLogisticRegression(epsilon, DELTA, **shared, random_state=seed).fit(X[train], labels[train])
        published = model.release()
        if not published.privacy_.verify(published):
            stops.append("verify")
        found.append(judged(ACCURACY, labels[new], published.predict(X[new]), None))
        minutes = max(minutes, (time.perf_counter() - start) / 60)
    both = (100 * plain.score(X[new], labels[new]), 100 * noisy.score(X[new], labels[new]))
    return _row("sparse text, 20,000 columns", 6_400, ACCURACY, both, found, minutes, stops)


def _row(
    name: str,
    rows: int,
    metric: str,
    both: tuple[float, float | None],
    found: list[float],
    minutes: float,
    stops: list[str],
) -> dict[str, Any]:
    digits = 1 if metric == ACCURACY else 3
    plain, noisy = both
    return {
        "table": name,
        "rows": rows,
        "metric": metric,
        "no privacy": f"{plain:.{digits}f}",
        "DP-SGD": "–" if noisy is None else f"{noisy:.{digits}f}",
        "ours": f"{np.mean(found):.{digits}f}" if found else "–",
        "minutes": f"{max(minutes, 0.01):.2f}",
        "stops": "; ".join(dict.fromkeys(stops)) or "none",
    }


def measured(names: list[str], epsilon: float, draws: int) -> Iterator[dict[str, Any]]:
    """A row for each table; one whose files are missing says so."""
    for name in names:
        if name == TEXT:
            row = of_text(epsilon, draws)
        elif name == "adult" and not datasets.available(name):
            print("adult: left out, its files are not on disk (OBJPERT_DATA_DIR)", file=sys.stderr)
            continue
        else:
            journey = TABLES[name]()
            with tempfile.TemporaryDirectory() as folder:
                found = travelled(journey, epsilon, draws, Path(folder))
            row = _row(journey.name, len(journey.train), journey.metric, rivals(journey, epsilon), *found)
        print(row, file=sys.stderr, flush=True)
        yield row


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*TABLES, TEXT], default=[*TABLES, TEXT])
    parser.add_argument("--write", type=Path, metavar="FILE")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = measured(asked.only, asked.epsilon, asked.draws)
    command = f"python -m benchmarks.journey --epsilon {asked.epsilon:g} --draws {asked.draws}"
    seeds = f"rows 0, noise 0-{asked.draws - 1}"
    write_study(asked.write or sys.stdout, rows, command, seeds)


if __name__ == "__main__":
    main()
