from objpert_core.estimators import ObjPertLogisticRegression

DRAWN

model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    intervals=True,
    row_norm="clip",
    intercept_scaling=CONSTANT,
    classes=[0, 1],
    public_rows=len(y),
    random_state=SEED,
)
intervals = model.fit(X, y).conf_int()
print(intervals)
