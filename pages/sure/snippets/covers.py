from objpert_core.experiments.intervals import stored

found, case = stored.load("coverage"), {"shape": SHAPE, "n": ROWS, "d": COLUMNS, "epsilon": EPSILON}
covered = {method: found.interval(**case, method=method).mean for method in METHODS}
print(covered)
