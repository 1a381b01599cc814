# %% fit
from pathlib import Path

from objpert_core.datasets import READERS
from objpert_core.estimators import ESTIMATOR

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
table = read_table(Path("table.csv").read_bytes(), SCHEMA)
target = schema.target
model = MODEL
TRAINED
PRINTED
TOLD

# %% use
from pathlib import Path

import pandas as pd

from objpert_core.datasets import TableSchema
from objpert_core.estimators.own_table import read_model

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
model = read_model(Path("model.json").read_text(encoding="utf-8"))

rows = pd.read_csv("new_rows.csv", dtype=str, keep_default_na=False)
predicted = model.predict(model.encoding(schema).encode(rows))
print(predicted)
