import numpy as np

from objpert_core.experiments.intervals.coverage import Z, repeated

found = repeated(SHAPE, PEOPLE, COLUMNS, EPSILON, SEED, COUNT)
held = {method: int((np.abs(off) <= Z * errors)[:, 0].sum()) for method, (off, errors) in found.items()}
print(held)
