# %% curve
FITTED

shapes = model.shapes_
print(shapes[shapes["column"] == COLUMN].to_string())

# %% fitted
from objpert_core.datasets import load_raw
from objpert_core.estimators import ObjPertAdditiveClassifier

people = load_raw(DATA)
names = NAMES
model = ObjPertAdditiveClassifier(
    epsilon=EPSILON,
    delta=DELTA,
    columns={name: people.columns[name] for name in names},
    classes=[0, 1],
    public_rows=len(people.labels),
    random_state=SEED,
    advanced={"margin": 0.0},  # so that effects are log-odds
).fit(people.frame[names], people.labels)

# %% person
FITTED

person = people.frame[names][:1].assign(**PERSON)
terms = model.explain(person)
print(terms.T)
