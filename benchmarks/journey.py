"""The journey of a stranger: from a table as people have it, by the command, to a model that others check and use.

    python -m benchmarks.journey [--epsilon 1] [--draws 3] [--only wine ages]
    python -m benchmarks.journey --write data/results/journey.csv
    python -m benchmarks.journey --install         # from a fresh environment to the app, timed: into docs/command.md

For each table a CSV file is written; then `objpert fit`, `objpert verify` and `objpert predict` run on it, draw by draw
of the noise. A command that ends with another code than 0 is a place where one stops. Texts have no file: they take the
road of the guide "A private text classifier". Ranges that a stranger would not know are learned privately. The model
without privacy and DP-SGD (at its defaults, one run) get the ranges that somebody may declare, which helps them.
Minutes are those of the whole road, the slowest draw. Adult needs its files (OBJPERT_DATA_DIR or the cache).
An installation fetches every package: pip keeps no cache.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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

from benchmarks.shared import commit, markdown, put_between
from benchmarks.streamlit_client import free_port, wait_until_healthy
from objpert_core import datasets
from objpert_core._provenance import write_study
from objpert_core.cli import main as objpert
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
    schema: datasets.TableSchema
    known: frozenset[str]
    metric: str = ACCURACY
    options: tuple[str, ...] = ()

    @property
    def private(self) -> datasets.TableSchema:
        """The schema that the stranger types."""
        columns: dict[str, Any] = dict(self.schema.columns)
        for name, column in columns.items():
            if isinstance(column, datasets.Number) and name not in self.known:
                columns[name] = replace(column, low="private", high="private")  # type: ignore[arg-type]
        return datasets.TableSchema(columns, self.schema.target)


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
    schema = datasets.TableSchema(
        {
            "age": datasets.Number(18, 95),
            "pay": datasets.Money(0, 10_000, 2_000, True, sign="€", thousands=","),
            "joined": datasets.Date("01.01.2015", "31.12.2024", format="%d.%m.%Y"),
            "discount": datasets.Percent(0, 100, 20),
            "visits": datasets.Number(0, 20),
            "place": datasets.Categories(["north", "south", "east", "west"]),
        },
        datasets.TwoValues("complains", negative="no", positive="yes"),
    )
    options = ("--class-weight", "balanced")
    return Journey("messy CSV, 2 % positive", *_split(frame), schema, frozenset({"discount"}), AUC, options)


def ages() -> Journey:
    """One raw column."""
    age = np.random.default_rng(0).integers(18, 91, 20_000)
    frame = pd.DataFrame({"age": age, "older": np.where(age > 50, "yes", "no")})
    schema = datasets.TableSchema(
        {"age": datasets.Number(18, 90)}, datasets.TwoValues("older", negative="no", positive="yes")
    )
    return Journey("ages", *_split(frame), schema, frozenset())


def _bunch(name: str, bunch: Any, ranges: dict[str, tuple[float, float]] | None, known: bool = False) -> Journey:
    frame = bunch.data.copy()
    frame["what"] = [str(bunch.target_names[label]) for label in bunch.target]
    ends = ranges or {one: (bunch.data[one].min(), bunch.data[one].max()) for one in bunch.data}
    columns = {one: datasets.Number(low, high) for one, (low, high) in ends.items()}
    values = [str(one) for one in bunch.target_names]
    target = datasets.TwoValues("what", *values) if len(values) == 2 else datasets.SeveralValues("what", values)
    return Journey(name, *_split(frame), datasets.TableSchema(columns, target), frozenset(columns if known else ()))


def diabetes() -> Journey:
    """A number is predicted."""
    bunch = load_diabetes(as_frame=True, scaled=False)
    frame = bunch.data.assign(progression=bunch.target)
    columns = {one: datasets.Number(bunch.data[one].min(), bunch.data[one].max()) for one in bunch.data}
    target = datasets.NumericTarget("progression", low=25, high=346)
    return Journey("diabetes, raw", *_split(frame), datasets.TableSchema(columns, target), frozenset(), EXPLAINED)


def adult() -> Journey:
    """The census as its files have it, rows with gaps included."""
    folder = datasets.data_folder()
    folder = folder / "adult" if (folder / "adult").is_dir() else folder
    read: dict[str, Any] = {"names": [*COLUMNS, "income"], "skipinitialspace": True, "keep_default_na": False}
    train = pd.read_csv(folder / "adult.data", **read)
    new = pd.read_csv(folder / "adult.test", skiprows=1, **read)
    new["income"] = new["income"].str.rstrip(".")
    columns: dict[str, Any] = {
        name: datasets.Number(0, MAXIMA[name])
        if name in MAXIMA
        else datasets.Categories(CATEGORIES[name], missing_indicator=True)
        for name in COLUMNS
    }
    target = datasets.TwoValues("income", *CLASSES)
    return Journey("Adult, raw", train, new, datasets.TableSchema(columns, target), frozenset())


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
    if isinstance(target, datasets.NumericTarget):
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


Draw = tuple[float | None, float, list[str]]
"""What a released model is worth, the seconds of its road, and where one stopped."""


def travelled(journey: Journey, epsilon: float, seed: int, folder: Path) -> Draw:
    """The road of one draw of the noise, by the command."""
    journey.train.to_csv(folder / "people.csv", index=False)
    journey.new.to_csv(folder / "new.csv", index=False)
    (folder / "schema.json").write_text(journey.private.to_json(), encoding="utf-8")
    people, new, schema, out, predicted = (
        str(folder / name) for name in ("people.csv", "new.csv", "schema.json", "release", "predicted.csv")
    )
    fit = ["fit", people, "--schema", schema, "--epsilon", f"{epsilon:g}", "--public-rows", str(len(journey.train))]
    fit += ["--seed", str(seed), "--out", out, *journey.options]
    predict = ["predict", out, new, "--out", predicted, *["--scores"] * (journey.metric == AUC)]
    stops, start = [], time.perf_counter()
    for command in (fit, ["verify", out], predict):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            if objpert(command) != 0:
                stops.append(f"{command[0]}: {said.getvalue().strip().splitlines()[-1]}")
    seconds = time.perf_counter() - start
    if not Path(predicted).is_file():
        return None, seconds, stops
    target = journey.schema.target.column
    truth = journey.new[target]
    table = pd.read_csv(predicted, dtype={target: truth.dtype})
    if journey.metric == AUC:
        return judged(AUC, truth.eq("yes"), None, table["score"]), seconds, stops
    return judged(journey.metric, truth, table[target], None), seconds, stops


def of_text(epsilon: float, draws: int) -> dict[str, Any]:
    """Sparse text, by the guide."""
    texts, labels = datasets.library_pieces()
    X = HashingVectorizer(n_features=TEXT_COLUMNS, alternate_sign=False).transform(texts)
    train, new = slice(6_400), slice(6_400, None)
    plain = LogisticRegression(C=100, max_iter=500).fit(X[train], labels[train])
    shared: dict[str, Any] = {"classes": [0, 1], "public_rows": 6_400}
    noisy = DPSGDLogisticRegression(epsilon, DELTA, **shared, random_state=0).fit(X[train], labels[train])

    def drawn(seed: int) -> Draw:
        start = time.perf_counter()
        model = ObjPertLogisticRegression(epsilon, DELTA, **shared, random_state=seed).fit(X[train], labels[train])
        published = model.release()
        stops = [] if published.privacy_.verify(published) else ["verify"]
        return judged(ACCURACY, labels[new], published.predict(X[new]), None), time.perf_counter() - start, stops

    both = (100 * plain.score(X[new], labels[new]), 100 * noisy.score(X[new], labels[new]))
    return _row("sparse text, 20,000 columns", 6_400, ACCURACY, both, [drawn(seed) for seed in range(draws)])


def _row(name: str, rows: int, metric: str, both: tuple[float, float | None], drawn: list[Draw]) -> dict[str, Any]:
    digits, (plain, noisy) = 1 if metric == ACCURACY else 3, both
    found = [value for value, _, _ in drawn if value is not None]
    return {
        "table": name,
        "rows": rows,
        "metric": metric,
        "no privacy": f"{plain:.{digits}f}",
        "DP-SGD": "–" if noisy is None else f"{noisy:.{digits}f}",
        "ours": f"{np.mean(found):.{digits}f}" if found else "–",
        "minutes": f"{max(0.01, *(seconds / 60 for _, seconds, _ in drawn)):.2f}",
        "stops": "; ".join(dict.fromkeys(stop for _, _, stops in drawn for stop in stops)) or "none",
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
            drawn = []
            for seed in range(draws):
                with tempfile.TemporaryDirectory() as folder:
                    drawn.append(travelled(journey, epsilon, seed, Path(folder)))
            row = _row(journey.name, len(journey.train), journey.metric, rivals(journey, epsilon), drawn)
        print(row, file=sys.stderr, flush=True)
        yield row


ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    "accounting --sigma 10 --lam 5 --delta 1e-5",
    "fit people.csv --target older --two-values older=no:yes --number age:18:90 --epsilon 1 --public-rows 20000 "
    "--out release",
    "verify release",
)


def installed(folder: Path) -> Iterator[tuple[str, float]]:
    """From nothing to a certificate and the app, as a new user goes: each step and its seconds."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PIP_CONSTRAINT"}}

    def timed(*words: str | Path) -> float:
        began = time.perf_counter()
        subprocess.run([*map(str, words)], cwd=folder, check=True, stdout=subprocess.DEVNULL, env=environment)
        return time.perf_counter() - began

    timed(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    pd.concat([ages().train, ages().new]).to_csv(folder / "people.csv", index=False)
    pip, command = [folder / "venv/bin/pip", "install", "-q", "--no-cache-dir"], folder / "venv/bin/objpert"
    yield "`python3 -m venv venv`", timed(sys.executable, "-m", "venv", "venv")
    yield f"`venv/bin/pip install ./{wheel.name}`", timed(*pip, wheel)
    for words in COMMANDS:
        yield f"`objpert {words}`", timed(command, *words.split())
    yield f'`venv/bin/pip install "./{wheel.name}[app]"`', timed(*pip, f"{wheel}[app]")
    began, port, quiet = time.perf_counter(), free_port(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    app = subprocess.Popen([command, "app", "--port", str(port), "--no-browser"], cwd=folder, env=environment, **quiet)
    try:
        wait_until_healthy(f"127.0.0.1:{port}", app)
        yield "`objpert`, until the app answers", time.perf_counter() - began
    finally:
        app.terminate()


def installation() -> str:
    """The steps with their times, and where and when they were taken."""
    rows, load, total = [], os.getloadavg()[0], 0.0
    with tempfile.TemporaryDirectory() as name:
        for step, seconds in installed(Path(name)):
            total += seconds
            rows.append([step, f"{seconds:.1f}", f"{int(total // 60)}:{total % 60:02.0f}"])
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, load before"
    made = f"{datetime.now(UTC):%Y-%m-%d}, commit {commit()}, {machine} {load:.1f}."
    table = markdown(["step", "seconds", "since the start"], rows)
    return f"{table}\n\n`python -m benchmarks.journey --install`: {made}"


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*TABLES, TEXT], default=[*TABLES, TEXT])
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--install", action="store_true", help="time an installation instead: docs/command.md")
    asked = parser.parse_args()
    if asked.install:
        put_between(ROOT / "docs" / "command.md", ("<!-- first steps -->", "<!-- /first steps -->"), installation())
        return
    warnings.simplefilter("ignore")
    rows = measured(asked.only, asked.epsilon, asked.draws)
    command = f"python -m benchmarks.journey --epsilon {asked.epsilon:g} --draws {asked.draws}"
    seeds = f"rows 0, noise 0-{asked.draws - 1}"
    write_study(asked.write or sys.stdout, rows, command, seeds)


if __name__ == "__main__":
    main()
