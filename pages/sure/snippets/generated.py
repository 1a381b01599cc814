import numpy as np

from objpert_core.experiments.intervals.shapes import drawn

generator = np.random.default_rng(SEED)
rows, chances, truth = drawn(SHAPE, PEOPLE, COLUMNS, generator)
X, y = rows[:, :-1], (generator.random(PEOPLE) < chances).astype(int)
