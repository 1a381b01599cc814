# %% publishable
import numpy as np

from objpert_core.datasets import load
from objpert_core.estimators import KIND
from objpert_core.evaluation import evaluate, split_by_coin, together

data = load(DATA, split_seed=SPLIT_SEED)
rows, labels = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
X, X_test, y, y_test = split_by_coin(rows, labels, test_share=TEST_SHARE, random_state=SPLIT_SEED)

model = MODEL.fit(X, y)
scores = evaluate(model, X_test, y_test, EPSILON, DELTA, random_state=SEED + 1)
print(scores.accuracy())
print(together(model.privacy_, scores).epsilon)

# A model and scores to release take coins and noise from the operating system: leave random_state out everywhere.
