import json
from pathlib import Path

import numpy as np
import pandas as pd

from objpert_core.datasets import TableSchema
from objpert_core.estimators.exported import as_pipeline

schema = TableSchema.from_json(Path("schema.json").read_text(encoding="utf-8"))
model = json.loads(Path("model.json").read_text(encoding="utf-8"))
maps = {name: np.array(model[name]) for name in ("center", "scale") if model[name] is not None}
pipeline = as_pipeline(np.array(model["coef"]), model["intercept"], ROW_NORM, **maps)

rows = pd.read_csv("new_rows.csv", dtype=str, keep_default_na=False)
scores = pipeline.predict(schema.encode(rows))
predicted = PREDICTED
print(predicted)
