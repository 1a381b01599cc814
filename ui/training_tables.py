"""The training page's numbers: the table under the chart, the CSV and the Python that gives the same."""

from __future__ import annotations

from typing import Any

import pandas as pd

from objpert_core.experiments.compare import Comparison, Settings, reference_parameters
from ui import sentences
from ui.snippets import call
from ui.training_text import LABELS, interval, majority


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a method: how well it does and with which noise."""
    rows = []
    for method, label in LABELS.items():
        accuracy, auc = comparison.accuracy(method), comparison.auc(method)
        if accuracy is None or auc is None:
            continue
        privacy = comparison.of(method)[0].privacy
        rows.append(
            {
                "Method": label,
                "Test accuracy": sentences.percent(accuracy.mean, 2),
                "95 % interval": interval(accuracy) if privacy else "no noise",
                "AUC": f"{auc.mean:.4f}",
                "Draws": str(accuracy.count) if privacy else "–",
                "σ": sentences.number(privacy.sigma, 4) if privacy else "0",
                "λ": sentences.number(privacy.lam if privacy else 1 / reference_parameters(1)["C"], 4),
                "τ": sentences.scientific(privacy.tau) if privacy else "–",
                "σ_out": sentences.scientific(privacy.sigma_out) if privacy else "0",
                "Row norm R": sentences.number(privacy.radius, 4) if privacy else "–",
            }
        )
    rows.append(
        {
            "Method": f"always “{majority(comparison)}”",
            "Test accuracy": sentences.percent(comparison.baseline, 2),
            "95 % interval": "no noise",
            "AUC": "0.5000",
            **dict.fromkeys(("Draws", "σ", "λ", "τ", "σ_out", "Row norm R"), "–"),
        }
    )
    return rows


def frame(comparison: Comparison) -> pd.DataFrame:
    """Every fit as one row, with all digits, for the CSV."""
    settings, data = comparison.settings, comparison.data
    shared = {"data": data.name, "stand_in_for": data.stand_in_for, "split_seed": data.split_seed}
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
    """Python that prints the three accuracies; defines ``non_private``, ``published`` and ``tight``."""
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
print(non_private, mean(published), mean(tight))

# A model to release takes its noise from the operating system: leave random_state out.
model = {tight}).fit(data.X_train, data.y_train)
print(model.privacy_.public())
"""
