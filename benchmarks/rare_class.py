"""A class of 2 % on a table such as people bring: what weights find of it, by ε.

    python -m benchmarks.rare_class [--rows 20000] [--draws 10]

Columns have ranges of a thousandth to a hundred thousand, categories and missing entries, all encoded by public rules.
Recall is the share of the rare class that is found; AUC asks for the order of the scores alone. Half of the rows are
for testing, and numbers are means over draws of the noise.
"""

import argparse
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score

from objpert_core._validation import FloatArray, IntArray
from objpert_core.estimators import ObjPertLogisticRegression, PublicRangeScaler, fit_many

LOW = np.array([18.0, 0.0, 0.0, 0.0, -0.002])
HIGH = np.array([95.0, 150_000.0, 40.0, 3650.0, 0.002])  # age, income, visits, days since joining, a rate
DEPARTMENTS = 6
RARE = 0.02


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = table(options.rows)
    train, test = slice(0, None, 2), slice(1, None, 2)

    def told(name: str, models: list) -> None:
        areas = [roc_auc_score(y[test], model.decision_function(X[test])) for model in models]
        found = [recall_score(y[test], model.predict(X[test])) for model in models]
        said = [model.predict(X[test]).mean() for model in models]
        print(f"| {name} | {np.mean(areas):.3f} | {100 * np.mean(found):.0f} | {100 * np.mean(said):.1f} |")

    print("| | AUC | recall, % | said to be of it, % |\n|---|---|---|---|")
    for epsilon in (1.0, 8.0):
        for weight in (None, "balanced"):
            model = ObjPertLogisticRegression(epsilon, classes=[0, 1], class_weight=weight)
            told(
                f"ours, ε = {epsilon:g}, {'no weights' if weight is None else weight}",
                fit_many(model, X[train], y[train], range(options.draws)),
            )
    for weight in (None, "balanced"):
        model = LogisticRegression(class_weight=weight, max_iter=1000).fit(X[train], y[train])
        told(f"scikit-learn, no privacy, {'no weights' if weight is None else weight}", [model])


if __name__ == "__main__":
    main()
