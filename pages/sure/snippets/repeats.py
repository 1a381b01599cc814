from objpert_core.experiments.intervals.coverage import repeated

found = repeated(SHAPE, PEOPLE, COLUMNS, EPSILON, SEED, COUNT)
held = {method: int(((one.low <= 0) & (one.high >= 0))[:, 0].sum()) for method, one in found.items()}
print(held)
