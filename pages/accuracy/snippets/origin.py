from objpert_core.experiments import indexed, waterfall

found = waterfall.of_stored(indexed.load(KEY), EPSILON)
for step in found.steps:
    print(step.name, step.accuracy.mean, step.gain)
print("in all", found.total)
