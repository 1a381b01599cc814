"""The training page's numbers: the table under the chart, the CSV and the Python that gives the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from objpert_core.experiments.compare import Comparison, Settings, reference_parameters
from objpert_core.experiments.facts import DataFacts
from ui import sentences
from ui.snippets import call
from ui.training_text import LABELS, accuracy, interval, majority


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a quantity and one column a method, which fits a telephone; the first column's heading is the data."""
    columns = {label: _column(comparison, method) for method, label in LABELS.items() if comparison.of(method)}
    columns[f"always “{majority(comparison)}”"] = {"test accuracy": accuracy(comparison.baseline), "AUC": "0.5000"}
    return [
        {comparison.data.label: row, **{label: values.get(row, "–") for label, values in columns.items()}}
        for row in max(columns.values(), key=len)
    ]


def _column(comparison: Comparison, method: str) -> Mapping[str, str]:
    """What is known about one method that has been fitted at least once, the most important first."""
    share, auc, privacy = comparison.accuracy(method), comparison.auc(method), comparison.of(method)[0].privacy
    assert share is not None
    assert auc is not None
    return {
        "test accuracy": accuracy(share.mean),
        "95 % interval": interval(share) if privacy else "no noise",
        "σ": sentences.number(privacy.sigma, 4) if privacy else "0",
        "λ": sentences.number(privacy.lam if privacy else 1 / reference_parameters(1)["C"], 4),
        "AUC": f"{auc.mean:.4f}",
        "noise draws": str(share.count) if privacy else "–",
        "τ": sentences.scientific(privacy.tau) if privacy else "–",
        "σ_out": sentences.scientific(privacy.sigma_out) if privacy else "0",
        "row norm R": sentences.number(privacy.radius, 4) if privacy else "–",
    }


def provenance(data: DataFacts) -> dict[str, Any]:
    """The first columns of every CSV: which rows, with "stand-in for" in the name where they stand in."""
    return {"data_set": data.label, "split_seed": data.split_seed}


def frame(comparison: Comparison) -> pd.DataFrame:
    """Every fit as one row, with all digits, for the CSV."""
    settings, data = comparison.settings, comparison.data
    shared = provenance(data)
    rows: list[dict[str, Any]] = [
        {**shared, "method": "majority class", "accuracy": comparison.baseline, "auc": 0.5},
    ]
    for fit in comparison.fits:
        row = {**shared, "method": fit.method, "accuracy": fit.accuracy, "auc": fit.auc, "seconds": fit.seconds}
        if fit.privacy is not None:
            keys = ("bound", "accountant", "sigma", "lam", "tau", "sigma_out", "intercept_scaling", "lipschitz")
            row |= {"noise_seed": fit.seed, "epsilon": settings.epsilon, "delta": settings.delta}
            row |= {key: getattr(fit.privacy, key) for key in keys}
            row |= {"iterations": len(fit.gradient_norms) - 1}
        rows.append(row)
    return pd.DataFrame(rows)


def snippet(name: str, split_seed: int, settings: Settings, columns: int) -> str:
    """Python that prints the data set and three accuracies; defines ``non_private``, ``published`` and ``tight``."""
    shared = {"epsilon": settings.epsilon, "delta": settings.delta}
    own = {**shared, "bound": settings.bound, "intercept_scaling": settings.intercept_scaling}
    published = call("ObjPertLogisticRegression.published", {**shared, "classes": [0, 1]})[:-1]
    tight = call("ObjPertLogisticRegression", {**own, "classes": [0, 1]})[:-1]
    return f"""from statistics import mean

from sklearn.linear_model import LogisticRegression

from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression

data = {call("load", {"name": name, "split_seed": split_seed})}


def accuracy(model):
    return model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)


non_private = accuracy({call("LogisticRegression", reference_parameters(columns))})
published, tight = [], []
for seed in range({settings.seed}, {settings.seed + settings.repeats}):
    published.append(accuracy({published}, random_state=seed)))
    tight.append(accuracy({tight}, random_state=seed)))
print(data.label)
print(non_private, mean(published), mean(tight))

# A model to release takes its noise from the operating system: leave random_state out.
model = {tight}).fit(data.X_train, data.y_train)
print(model.privacy_.public())
"""
