from objpert_core.datasets import load
from objpert_core.estimators import ObjPertLogisticRegression, PrivateSearch
from objpert_core.experiments.studies.searches import searched

data = load(DATA)
one = ObjPertLogisticRegression(classes=[0, 1], public_rows=len(data.X_train))
grid = {"standardize": [False, "auto"], "margin": [0.0, 1.0]}
search = PrivateSearch(one, grid, epsilon=EPSILON, delta=DELTA, random_state=SEED)
search.fit(data.X_train, data.y_train)
print(search.privacy_)
print(search.best_params_, search.best_score_, search.score(data.X_test, data.y_test))

found = searched(data, EPSILON, DELTA, SEED)
for candidate in found.candidates:
    print(candidate.setting, candidate.score, candidate.worth, candidate.unpaid)
print(found.fit_epsilon, found.unpaid_epsilon, found.fixed)
