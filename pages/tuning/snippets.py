# %% searched
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

# %% trained
from objpert_core.datasets import load
from objpert_core.experiments.studies.tuning_runs import Settings, tuning_runs

*_, last = tuning_runs(load(name=DATA, split_seed=SPLIT_SEED), Settings(CHANGED))
for way in WAYS:
    print(way, last.mean(way).mean)
print("K:", [len(draw.runs) for draw in last.draws], " epsilon of the unpaid noise, choice paid:", last.true_epsilon)

# %% tuning
import numpy as np

import objpert_core.accounting as acc

settings, more, delta, eta = SETTINGS, MORE, DELTA, ETA
one_run = ONE_RUN
table = acc.tabulated(one_run)  # the same curves looked up: valid, quick, and at most 0.1 % above

# K so that Pr[K > settings] = more; eta=None is Poisson
selection = acc.PrivateSelection(table, acc.mean_runs(settings, more, eta), eta)
geometric_mean = acc.mean_runs(settings, more, eta=1)
ways = {
    "free": one_run.epsilon(delta),
    "composed": COMPOSED.epsilon(delta),
    "liu_talwar": acc.liu_talwar_epsilon(table, delta, geometric_mean),
    "selection": selection.epsilon(delta),
}
for way, epsilon in ways.items():
    print(way, epsilon)
pmf = selection.pmf(np.arange(2 * settings + 1))
print("mean of K:", selection.mean_runs, " Pr[K = 0]:", pmf[0])
