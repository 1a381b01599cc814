from objpert_core.datasets import load
from objpert_core.experiments import results
from objpert_core.experiments.methods import Parameters, fit

stored = results.load(KEY)
parameters = Parameters.from_configuration(stored.configuration)
method, epsilon, trial = METHOD, EPSILON, TRIAL
before = stored.of(method, epsilon)
before = next((run for run in before if run.trial == trial), None)
again = fit(load(DATASET, split_seed=trial), method, epsilon, trial, SEED, parameters)
print(before)
print(again)
