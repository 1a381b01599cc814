from objpert_core.estimators import ObjPertLogisticRegression
from objpert_core.evaluation import evaluate, split_by_coin, together

DRAWN

X_train, X_test, y_train, y_test = split_by_coin(X, y, test_share=SHARE, random_state=SEED)
model = ObjPertLogisticRegression(
    epsilon=EPSILON,
    delta=DELTA,
    row_norm="clip",
    intercept_scaling=CONSTANT,
    classes=[0, 1],
    public_rows=round(len(y) * (1 - SHARE)),
    random_state=SEED,
).fit(X_train, y_train)
scores = evaluate(model, X_test, y_test, EPSILON, DELTA, random_state=SEED + 1)
print(scores.to_markdown())
print(together(model.privacy_, scores).epsilon)
