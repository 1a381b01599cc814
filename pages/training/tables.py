"""The training page's numbers: the table under the chart, the CSV and the Python that gives the same."""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import pandas as pd

from objpert_core._literals import call
from objpert_core.accounting import Mechanism
from objpert_core.estimators import PrivacyCertificate
from objpert_core.experiments.compare import TEST_SHARE, Comparison, Settings
from objpert_core.experiments.learners import (
    COMPARABLE,
    COVERS_ALL,
    HONEST,
    NON_PRIVATE,
    TIGHT,
    reference_parameters,
)
from objpert_core.experiments.live import DataFacts
from pages.training.words import LABELS, UNCOVERED, accountant, between, majority
from ui import sentences
from ui.snippets import Verbatim, filled
from ui.words import FEWEST, accuracy, ends, given, interval, signed, times

CERTIFICATE = {
    "sigma": "σ",
    "lam": "λ",
    "tau": "τ",
    "sigma_out": "σ_out",
    "sensitivity": "sensitivity",
    "center_noise": "σ of the centre",
    "scale_noise": "σ of the scales",
    "fits": "fits, one for each class",
    "rest_weight": "weight of other classes’ rows",
    "noise_multiplier": "noise multiplier",
    "sample_rate": "sample rate",
    "steps": "steps",
    "mean_runs": "mean runs μ",
    "loss": "loss",
    "clip": "gradients clipped at",
    "radius": "row norm R",
    "public_rows": "rows, public",
}
"""What a row of the table is called, by the certificate's attribute."""
_MANY = {"fits": 1, "rest_weight": 1.0}  # of several classes, and what they are for two
ALONE = "ε of a fit alone"
COVERS, BY, APART = "the promise covers", "accounted by", "minus the main method, points"
ROWS: tuple[str, ...] = ("test accuracy", "95 % interval", APART, "σ", "λ", "AUC", "noise draws")
ROWS += (*list(CERTIFICATE.values())[2:], "learning rates chosen", "runs K of a draw", COVERS, BY)
CSV: tuple[str, ...] = ("bound", "accountant", "sigma", "lam", "tau", "sigma_out", "intercept_scaling", "lipschitz")
CSV += ("loss", "clip", "sensitivity", "noise_multiplier", "sample_rate", "steps", "tuning", "mean_runs")
CSV += ("score_noise", "center_noise", "scale_noise", "fits", "rest_weight", "public_rows")


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a quantity and one column a method, which fits a telephone; the first column's heading is the data."""
    columns = {label: _column(comparison, method) for method, label in LABELS.items() if comparison.of(method)}
    columns[f"always “{majority(comparison)}”"] = {"test accuracy": accuracy(comparison.baseline), "AUC": "0.5000"}
    rows = [row for row in ROWS if any(values.get(row, "–") != "–" for values in columns.values())]
    if not any(comparison.of(method) for method in UNCOVERED):
        rows = [row for row in rows if row != COVERS]
    return [
        {comparison.data.label: row, **{label: values.get(row, "–") for label, values in columns.items()}}
        for row in rows
    ]


def _column(comparison: Comparison, method: str) -> Mapping[str, str]:
    """What is known about one method that has been fitted at least once."""
    share, area, fits = given(comparison.accuracy(method)), comparison.auc(method), comparison.of(method)
    shared = {"test accuracy": accuracy(share.mean), APART: _apart(comparison, method)}
    shared |= {"AUC": f"{area.mean:.4f}"} if area is not None else {}
    privacy = fits[0].privacy
    if privacy is None:
        lam = sentences.number(1 / reference_parameters(1)["C"], 4)
        return shared | {"95 % interval": "no noise", "σ": "0", "λ": lam, "σ_out": "0"}
    shown = {CERTIFICATE[name]: _cell(name, privacy) for name in _shown(method)}
    if rates := [fit.learning_rate for fit in fits if fit.learning_rate is not None]:
        shown["learning rates chosen"] = times(rates)
    if method == HONEST:
        counts = sorted({fit.runs for fit in fits})
        shown["runs K of a draw"] = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    shown |= {COVERS: UNCOVERED.get(method, COVERS_ALL), BY: accountant(comparison.settings, method, privacy)}
    scores = comparison.evaluation(method)
    ends = interval(share) if scores is None else between(scores.accuracy())
    return shared | {"95 % interval": ends, "noise draws": str(share.count)} | shown


def _apart(comparison: Comparison, method: str) -> str:
    """The paired difference to the main method with its interval: '−0.35 (−0.50 to −0.20)'."""
    main = comparison.settings.main
    gap = comparison.difference(method, main) if main is not None and method != main else None
    if gap is None:
        return "–"
    return f"{signed(gap.mean)} ({ends(gap)})" if gap.count >= FEWEST else signed(gap.mean)


def certificates(comparison: Comparison, before: Comparison | None) -> list[dict[str, str]]:
    """The main private method's certificate, one quantity a row, beside that of the setting before."""
    main = comparison.settings.main
    if main is None or not comparison.of(main):
        return []
    columns = {"now": comparison} | ({"before": before} if before is not None and before.of(main) else {})
    names = {"epsilon": "ε", "delta": "δ"}
    names |= {name: CERTIFICATE[name] for name in _shown(main)}
    rows = [
        {LABELS[main]: label}
        | {head: _cell(name, given(column.of(main)[0].privacy)) for head, column in columns.items()}
        for name, label in names.items()
    ]
    alone = {head: _alone(given(column.of(main)[0].privacy)) for head, column in columns.items()}
    rows.insert(2, {LABELS[main]: ALONE, **alone})
    return [row for row in rows if row["now"] != "–"]


def _shown(method: str) -> list[str]:
    """The attributes of a method's certificate that tables show."""
    return [name for name in CERTIFICATE if name in _MANY or name in COMPARABLE[method].certificate]


def _alone(privacy: PrivacyCertificate) -> str:
    """The ε of one fit without what was released before and beside it; – where that is nothing."""
    parts = [getattr(privacy, name, None) for name in ("center_noise", "scale_noise")]
    if not any(parts) and getattr(privacy, "fits", 1) == 1:
        return "–"
    return sentences.epsilon(_epsilon(privacy.rebuild(), privacy.delta))


@lru_cache(maxsize=256)
def _epsilon(mechanism: Mechanism, delta: float) -> float:
    return float(mechanism.epsilon(delta))


def _cell(name: str, privacy: PrivacyCertificate) -> str:
    """One of a certificate's values; – where it has none."""
    value = getattr(privacy, name, None)
    if value is None or value == _MANY.get(name):
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return sentences.scientific(value) if name in ("delta", "tau", "sigma_out") else sentences.number(value, 4)


def provenance(data: DataFacts) -> dict[str, Any]:
    """The first columns of every CSV: which rows, with "stand-in for" in the name where they stand in."""
    return {"data_set": data.label, "split_seed": data.split_seed}


def frame(comparison: Comparison) -> pd.DataFrame:
    """Every fit as one row, with all digits, for the CSV."""
    settings, data = comparison.settings, comparison.data
    shared = provenance(data)
    rows: list[dict[str, Any]] = [shared | {"method": "majority class", "accuracy": comparison.baseline, "auc": 0.5}]
    for fit in comparison.fits:
        row = {**shared, "method": fit.method, "accuracy": fit.accuracy, "auc": fit.auc, "seconds": fit.seconds}
        if fit.evaluation is not None:
            row |= {f"accuracy_{end}": getattr(fit.evaluation.accuracy(), end) for end in ("low", "high")}
        if fit.privacy is not None:
            row |= {"noise_seed": fit.seed, "epsilon": settings.epsilon, "delta": settings.delta}
            row |= {key: value for key in CSV if (value := getattr(fit.privacy, key, None)) not in (None, ())}
            if fit.gradient_norms:
                row |= {"iterations": len(fit.gradient_norms) - 1}
            else:
                row |= {"runs": fit.runs, "learning_rate": fit.learning_rate}
        rows.append(row)
    return pd.DataFrame(rows)


def reproducible(comparison: Comparison) -> Settings | None:
    """Settings whose every fit has been made, for the snippet: fewer methods or draws where a run was stopped."""
    fitted = tuple(method for method in comparison.settings.methods if comparison.of(method))
    draws = [len(comparison.of(method)) for method in fitted if method != NON_PRIVATE]
    if not draws:
        return None
    return replace(comparison.settings, methods=fitted, repeats=min(draws))


def snippet(data: DataFacts, settings: Settings) -> str:
    """Python that prints the data set and every method's accuracy; defines a variable named after each method."""
    names = {method: method.replace("-", "_") for method in settings.methods}
    calls = {method: _call(method, settings, data) for method in names if method != NON_PRIVATE}
    mapped = [method for method in calls if COMPARABLE[method].standardised]
    kinds = sorted({COMPARABLE[method].estimator.partition(".")[0] for method in calls})
    imports = ["from objpert_core.datasets import load"]
    imports += [f"from objpert_core.estimators import {', '.join(kinds)}"] if kinds else []
    imports += ["from objpert_core.experiments.learners import LEARNERS"] if mapped else []
    imports += ["from objpert_core.experiments.preprocessed import prepared"] if mapped else []
    lines = ["from statistics import mean\n"] if calls else []
    if NON_PRIVATE in names:
        lines.append("from sklearn.linear_model import LogisticRegression\n")
    lines += [*imports, "", f"data = {call('load', {'name': data.name, 'split_seed': data.split_seed})}", "", ""]
    lines += ["def accuracy(model):"]
    lines += ["    return model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test)", "", ""]
    if mapped:
        lines += [
            "def standardised(name, model):  # on rows that went through the private map, with the ε that is left"
        ]
        lines += ["    ready = prepared(LEARNERS[name], model, data.X_train, data.X_test)"]
        lines += ["    return ready.model.fit(ready.X_train, data.y_train).score(ready.X_test, data.y_test)", "", ""]
    if NON_PRIVATE in names:
        lines.append(f"non_private = accuracy({call('LogisticRegression', reference_parameters(data.columns))})")
    if calls:
        lines.append(f"{', '.join(names[method] for method in calls)} = {', '.join('[]' for _ in calls)}")
        lines.append(f"for seed in range({settings.seed}, {settings.seed + settings.repeats}):")
        judged = {method: f"standardised({method!r}, " if method in mapped else "accuracy(" for method in calls}
        lines += [f"    {names[m]}.append({judged[m]}{text}, random_state=seed)))" for m, text in calls.items()]
    means = [name if method == NON_PRIVATE else f"mean({name})" for method, name in names.items()]
    lines += ["print(data.label)", f"print({', '.join(means)})"]
    if settings.main is not None and settings.main not in mapped:
        lines += ["", "# A model to release takes its noise from the operating system: leave random_state out."]
        lines += [f"model = {calls[settings.main]}).fit(data.X_train, data.y_train)", "print(model.privacy_.public())"]
    return "\n".join(lines) + "\n"


def printed_method(settings: Settings) -> str:
    """The method of `publishable_snippet`: the main one, or the first that covers all it does."""
    plain = [method for method in settings.private if method not in UNCOVERED]
    return TIGHT if TIGHT in plain or not plain else plain[0]


def publishable_snippet(data: DataFacts, settings: Settings) -> str:
    """Python that prints the accuracy of `printed_method` as it may be published; defines ``scores``."""
    method = printed_method(settings)
    model = _call(method, settings, data, "4 * len(labels) // 5")
    blanks = {
        "kind": Verbatim(COMPARABLE[method].estimator.partition(".")[0]),
        "model": Verbatim(f"{model}, random_state={settings.seed})"),
        "data": data.name,
        "test_share": TEST_SHARE,
        "split_seed": data.split_seed,
        "epsilon": settings.epsilon,
        "delta": settings.delta,
        "seed": settings.seed,
    }
    return filled("training", "publishable", blanks)


def chain_snippet(data: DataFacts, settings: Settings) -> str:
    """Python that prints what each step changes; defines ``found``."""
    asked = {field.name: getattr(settings, field.name) for field in fields(settings)}
    asked = {name: value for name, value in asked.items() if value != getattr(Settings(), name) and name != "methods"}
    arguments = "".join(f"{name}={value!r}, " for name, value in asked.items())
    return f"""from objpert_core.datasets import load
from objpert_core.experiments import waterfall
from objpert_core.experiments.compare import Settings, compare

settings = Settings({arguments}methods=tuple(waterfall.CHAIN))
*_, last = compare(load({data.name!r}, split_seed={data.split_seed!r}), settings)
found = waterfall.of_comparison(last)
for step in found.steps:
    print(step.name, step.accuracy.mean, step.gain)
print("in all", found.total)
"""


def _call(method: str, settings: Settings, data: DataFacts, declared: str = "len(data.y_train)") -> str:
    """An estimator with its parameters, without the closing bracket; how many rows a data set has is public."""
    learner = COMPARABLE[method]
    parameters = {name: value for name, value in settings.parameters(method).items() if name != "classes"}
    plain = learner.make()
    rows = f", public_rows={declared}" if "public_rows" in plain.get_params() else ""
    advanced = {name: parameters.pop(name) for name in getattr(plain, "ADVANCED", ()) if name in parameters}
    given = parameters | {"classes": list(range(len(data.classes)))} | ({"advanced": advanced} if advanced else {})
    return call(learner.estimator, given)[:-1] + rows
