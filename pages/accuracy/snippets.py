# %% again
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

# %% figure
from objpert_core.experiments import results, tables

stored = results.load(KEY)
points = [point for point in tables.summary(stored) if point.epsilon in (EPSILON, float("inf"))]
for point in points:
    print(point.method, point.accuracy, point.seconds.median)

claims = {claim.epsilon: claim for claim in tables.claims(stored)}
print(claims.get(EPSILON))
print(tables.verdict(claims.values()))

# %% origin
from objpert_core.experiments import indexed, waterfall

found = waterfall.of_stored(indexed.load(KEY), EPSILON)
for step in found.steps:
    print(step.name, step.accuracy.mean, step.gain)
print("in all", found.total)

# %% rows
from objpert_core.experiments.studies.subsampling import Plan, learning_curve

*_, curve = learning_curve(Plan(ARGUMENTS))
for rows in curve.sizes:
    cost = curve.cost(rows)
    print(rows, curve.private(rows).mean, curve.reference(rows).mean, COST)
