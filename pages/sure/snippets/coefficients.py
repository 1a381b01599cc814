import numpy as np

from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.experiments.intervals.shapes import drawn

generator = np.random.default_rng(SEED)
X, chances, truth = drawn(SHAPE, PEOPLE, COLUMNS, generator)
y = (generator.random(PEOPLE) < chances).astype(int)
model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    intervals=True,
    row_norm="clip",
    intercept_scaling=CONSTANT,
    classes=[0, 1],
    public_rows=PEOPLE,
    random_state=SEED,
)
intervals = model.fit(X[:, :-1], y).conf_int()
print(intervals)
