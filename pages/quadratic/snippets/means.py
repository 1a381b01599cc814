from objpert_core.experiments.quadratic import stored

found = stored.load(EXPERIMENT)
means = {method: found.interval(**{COLUMN: AT}, method=method).mean for method in METHODS}
print(means)
