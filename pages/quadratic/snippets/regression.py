from objpert_core.experiments.quadratic import stored

found, case = stored.load("regression"), {"n": ROWS, "d": DIMENSION, "epsilon": EPSILON}
means = {method: found.interval(**case, method=method).mean for method in METHODS}
print(means)
