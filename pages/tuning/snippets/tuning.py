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
