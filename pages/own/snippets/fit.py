from pathlib import Path

from objpert_core.datasets import READERS
from objpert_core.estimators import ESTIMATOR

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
table = read_table(Path("table.csv").read_bytes(), SCHEMA)
target = schema.target
model = MODEL
TRAINED
for name, coefficient in zip(schema.feature_names, COEFFICIENTS):
    print(name, coefficient)
TOLD
