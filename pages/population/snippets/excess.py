from objpert_core.experiments.population import stored

found = stored.load(POPULATION)  # in a checkout; the file names its command, seeds and commit
n, points = found.curve(DIMENSION, EPSILON, METHOD)
means = [point.excess.mean for point in points]
print(dict(zip(n, means)))
