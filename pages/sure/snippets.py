# %% adult
import numpy as np

from objpert_core.datasets import load

data = load(DATA)
people = np.random.default_rng(SEED).permutation(len(data.y_train))[:PEOPLE]
columns = [data.feature_names.index(name) for name in NAMES]
X, y = data.X_train[np.ix_(people, columns)], data.y_train[people]

# %% coefficients
from objpert_core.estimators import ObjPertLogisticRegression

DRAWN

model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    intervals=True,
    classes=[0, 1],
    public_rows=len(y),
    random_state=SEED,
    advanced={"row_norm": "clip", "intercept_scaling": CONSTANT},
)
intervals = model.fit(X, y).conf_int()
print(intervals)

# %% covers
from objpert_core.experiments.intervals import stored

found, case = stored.load("coverage"), {"shape": SHAPE, "n": ROWS, "d": COLUMNS, "epsilon": EPSILON}
covered = {method: found.interval(**case, method=method).mean for method in METHODS}
print(covered)

# %% generated
import numpy as np

from objpert_core.experiments.intervals.shapes import drawn

generator = np.random.default_rng(SEED)
rows, chances, truth = drawn(SHAPE, PEOPLE, COLUMNS, generator)
X, y = rows[:, :-1], (generator.random(PEOPLE) < chances).astype(int)

# %% repeats
from objpert_core.experiments.intervals.coverage import repeated

found = repeated(SHAPE, PEOPLE, COLUMNS, EPSILON, SEED, COUNT)
held = {method: int(((one.low <= 0) & (one.high >= 0))[:, 0].sum()) for method, one in found.items()}
print(held)

# %% scores
from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.evaluation import evaluate, split_by_coin, together

DRAWN

X_train, X_test, y_train, y_test = split_by_coin(X, y, test_share=SHARE, random_state=SEED)
model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    classes=[0, 1],
    public_rows=round(len(y) * (1 - SHARE)),
    random_state=SEED,
    advanced={"row_norm": "clip", "intercept_scaling": CONSTANT},
).fit(X_train, y_train)
scores = evaluate(model, X_test, y_test, EPSILON, DELTA, random_state=SEED + 1)
print(scores.to_markdown())
print(together(model.privacy_, scores).epsilon)
