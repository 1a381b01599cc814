"""Python to take away: the same fit to the file, and the released model on new rows. Tests execute both."""

from __future__ import annotations

from objpert_core._literals import call
from objpert_core.datasets import Dialect, NumericTarget
from pages.own.jobs import Ask

FIT_NOTE = (
    "These lines read `table.csv`, your file, by `schema.json` from this page, and fit. Each run is a release of its "
    "own and counts like a press of Fit."
)
EXAMPLE_NOTE = "These lines fit to `table.csv` by `schema.json`, both from this page, and print the coefficients."
USE_NOTE = "These lines use the released model on new rows: `model.json`, `schema.json` and a file of rows."


def fit(ask: Ask) -> str:
    """The fit that was asked for; defines ``schema``, ``table`` and ``model``."""
    arguments = {"epsilon": ask.epsilon, "delta": ask.delta}
    chosen = {"public_rows": ask.rows, "random_state": ask.seed}
    arguments |= {name: value for name, value in chosen.items() if value is not None}
    if isinstance(ask.schema.target, NumericTarget):
        estimator, known = "ObjPertRegressor", "target_offset=target.offset, target_scale=target.scale"
    else:
        estimator, known = "ObjPertLogisticRegression", "classes=target.classes"
    made = call(estimator, arguments)[:-1] + f", {known})"
    said = {name: value for name in ("delimiter", "decimal", "encoding") if (value := getattr(ask.dialect, name))}
    said |= {"thousands": ask.dialect.thousands} if ask.dialect.thousands else {}
    dialect = f", {call('Dialect', said)}" if ask.dialect != Dialect() else ""
    names = "Dialect, TableSchema, read_table" if dialect else "TableSchema, read_table"
    return f"""from pathlib import Path

from objpert_core.datasets import {names}
from objpert_core.estimators import {estimator}

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
table = read_table(Path("table.csv").read_bytes(), schema{dialect})
target = schema.target
model = {made}
model.fit(table.X, table.y)
for name, coefficient in zip(schema.feature_names, model.coef_.ravel()):
    print(name, coefficient)
print(model.privacy_.public())
"""


def use(ask: Ask) -> str:
    """The released model on new rows; defines ``rows`` and ``predicted``."""
    if isinstance(ask.schema.target, NumericTarget):
        classes, predicted = "", "scores"
    else:
        classes = ", classes=np.array([0, 1])"
        predicted = 'np.array(model["labels"])[scores]'
    return f"""import json
from pathlib import Path

import numpy as np
import pandas as pd

from objpert_core.datasets import TableSchema
from objpert_core.estimators.exported import as_pipeline

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
model = json.loads(Path("model.json").read_text(encoding="utf-8"))
maps = {{name: np.array(model[name]) for name in ("center", "scale") if model[name] is not None}}
pipeline = as_pipeline(np.array(model["coef"]), model["intercept"], model["row_norm"]{classes}, **maps)

rows = pd.read_csv("new_rows.csv", dtype=str, keep_default_na=False)
scores = pipeline.predict(schema.encode(rows))
predicted = {predicted}
print(predicted)
"""
