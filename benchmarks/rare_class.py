"""A class of 2 % on a table such as people bring: what weights find of it, by ε.

    python -m benchmarks.rare_class [--rows 20000] [--draws 10]

Columns have ranges of a thousandth to a hundred thousand, categories and missing entries, all encoded by public rules.
Recall is the share of the rare class that is found; AUC asks for the order of the scores alone. Half of the rows are
for testing, and numbers are means over draws of the noise.
"""

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score

from objpert_core._validation import FloatArray, IntArray
from objpert_core.estimators import ObjPertLogisticRegression, PublicRangeScaler, fit_many

LOW = np.array([18.0, 0.0, 0.0, 0.0, -0.002])
HIGH = np.array([95.0, 150_000.0, 40.0, 3650.0, 0.002])  # age, income, visits, days since joining, a rate
DEPARTMENTS = 6
RARE = 0.02
WEIGHTS = {None: "no weights", "balanced": '`"balanced"`'}


def table(rows: int, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Encoded rows, a missing entry as the middle of its range beside a flag, and labels of which 2 % are 1."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack(
        [
            rng.normal(50, 18, rows),
            rng.lognormal(10.3, 0.7, rows),
            rng.poisson(4, rows),
            rng.exponential(900, rows),
            rng.normal(0, 0.0006, rows),
        ]
    ).clip(LOW, HIGH)
    department = rng.integers(DEPARTMENTS, size=rows)
    scaled = PublicRangeScaler(LOW, HIGH).fit_transform(numbers)
    score = scaled @ [1.2, -2.5, 3.0, -1.0, 1.5] + np.where(department < 2, 0.5, 0.0) + 0.4 * rng.normal(size=rows)
    labels = (score > np.quantile(score, 1 - RARE)).astype(int)
    missing = rng.random(scaled.shape) < [0.0, 0.15, 0.02, 0.05, 0.1]
    return np.hstack([np.where(missing, 0.0, scaled), missing, np.eye(DEPARTMENTS)[department]]), labels


def measured(rows: int, draws: int) -> dict[str, tuple[float, float, float]]:
    """By learner: AUC, per cent of the class that are found, per cent of all that are said to be of it."""
    X, y = table(rows)
    train, test = slice(0, None, 2), slice(1, None, 2)
    fitted: dict[str, list[Any]] = {}
    for epsilon, weight in product((1.0, 8.0), WEIGHTS):
        model = ObjPertLogisticRegression(epsilon, classes=[0, 1], class_weight=weight)
        fitted[f"ε = {epsilon:g}, {WEIGHTS[weight]}"] = fit_many(model, X[train], y[train], range(draws))
    for weight, words in WEIGHTS.items():
        peer = LogisticRegression(class_weight=weight, max_iter=1000).fit(X[train], y[train])
        fitted[f"scikit-learn, no privacy, {words}"] = [peer]
    found = {}
    for name, models in fitted.items():
        said = [model.predict(X[test]) for model in models]
        areas = [roc_auc_score(y[test], model.decision_function(X[test])) for model in models]
        recalls = [recall_score(y[test], one) for one in said]
        found[name] = float(np.mean(areas)), 100 * float(np.mean(recalls)), 100 * float(np.mean(said))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| | AUC | found of the class, % | of all people, said to be of the class, % |\n|---|---|---|---|")
    for name, (area, recall, said) in measured(options.rows, options.draws).items():
        print(f"| {name} | {area:.3f} | {recall:.0f} | {said:.1f} |")


if __name__ == "__main__":
    main()
