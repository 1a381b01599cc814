# %% curve
from objpert_core.datasets import load_raw
from objpert_core.estimators import ObjPertAdditiveClassifier

people = load_raw(DATA)
names = COLUMNS
model = ObjPertAdditiveClassifier(
    epsilon=EPSILON,
    delta=DELTA,
    columns={name: people.columns[name] for name in names},
    classes=[0, 1],
    public_rows=len(people.labels),
    random_state=SEED,
).fit(people.frame[names], people.labels)
shapes = model.shapes_
print(shapes[shapes["column"] == COLUMN].to_string())

# %% person
import pandas as pd

from objpert_core.datasets import load_raw
from objpert_core.estimators import ObjPertAdditiveClassifier

people = load_raw(DATA)
names = COLUMNS
model = ObjPertAdditiveClassifier(
    epsilon=EPSILON,
    delta=DELTA,
    columns={name: people.columns[name] for name in names},
    classes=[0, 1],
    public_rows=len(people.labels),
    random_state=SEED,
).fit(people.frame[names], people.labels)
terms = model.explain(pd.DataFrame([PERSON]))
print(terms.T)
